/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_sites.c - sites: the stacks that allocated what is in the dump.
 */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "base/amount.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "dump/reader.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/library.h"
#include "heap/sites.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

static const struct column sites_columns[] = {
    {.id = COL_SITE},
    {.id = COL_OBJECTS, .total = true},
    {.id = COL_SHALLOW, .total = true},
    {.id = COL_RETAINED, .hidden = true},
    {.id = COL_OBJECT_SIZE, .hidden = true},
    {.id = COL_ALLOCS, .hidden = true},
    {.id = COL_FREES, .hidden = true},
    {.id = COL_STACK},
};
static const struct shape sites_shape = {SHAPE_COLUMNS(sites_columns)};

/* The sites of each row. */
struct site_rows {
	uint32_t *row; /* of each site, or UINT32_MAX */
	uint32_t n;    /* rows */
};

static int sites_members(const struct result *r, void *data, const struct bits *rows, struct bits *to,
    struct err *err)
{
	const struct site_rows *s = data;
	const struct heap_sites *sites = r->heap->sites;
	(void)err;
	for (size_t i = 0; i < sites->n_samples; i++) {
		uint32_t row = s->row[sites->sample[i].site];
		if (row != UINT32_MAX && bits_get(rows, row))
			bits_set(to, sites->sample[i].object);
	}
	return 0;
}

static void sites_release(void *data)
{
	struct site_rows *s = data;
	big_free(s->row);
	free(s);
}

/* A function of Go's runtime or of the JDK, in whose place that which called it says more. */
static bool is_library(const char *frame)
{
	return library_go_runtime(frame) || !library_programs_name(true, frame);
}

/* The frame that says most: the first that is not of a library. */
static const char *own_frame(const struct heap_site *site)
{
	for (uint32_t i = 0; i < site->n_frames; i++) {
		if (!is_library(site->frames[i]))
			return site->frames[i];
	}
	return site->n_frames ? site->frames[0] : "no stack";
}

/* Bytes of "main.visit" in "main.visit gocart/main.go:131", and in Java of what stands before "(Cart.java:17)". */
static size_t function_length(const char *frame)
{
	size_t n = strlen(frame);
	const char *place = n && frame[n - 1] == ')' ? strrchr(frame, '(') : NULL;
	if (*frame == '<') /* nobody knows */
		return n;
	return place ? (size_t)(place - frame) : strcspn(frame, " ");
}

/* A number that a dump may not tell, and sums of such. */
static struct amount told_count(uint64_t n)
{
	return n == SITE_UNKNOWN ? amount_unknown(REASON_SILENT) : amount_exact(n);
}

static int by_function(const void *x, const void *y, void *data)
{
	const struct heap_site *site = data;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const char *f = own_frame(&site[a]), *g = own_frame(&site[b]);
	size_t n = function_length(f), m = function_length(g);
	int order = strncmp(f, g, n > m ? n : m);
	return order ? order : (a > b) - (a < b);
}

static bool same_function(const struct heap_site *a, const struct heap_site *b)
{
	const char *f = own_frame(a), *g = own_frame(b);
	size_t n = function_length(f), m = function_length(g);
	return n == m && !strncmp(f, g, n);
}

/* What the sampled objects of each row's sites retain, each for itself where none holds another. */
static void sum_retained(const struct opened *o, const uint32_t *row, struct retained_sum *sums)
{
	const struct heap *h = o->heap;
	const struct retained *known = opened_retained(o);
	uint64_t rounds = 0;
	for (size_t i = 0; known && i < h->sites->n_samples; i++) {
		const struct site_sample *s = &h->sites->sample[i];
		uint32_t wanted = row[s->site];
		bool inside = false;
		for (uint32_t id = known->dominators.immediate[s->object]; !inside &&
		     id != DOMINATED_BY_ROOTS && id != NOT_REACHABLE; id = known->dominators.immediate[id]) {
			if (progress_own_stops(rounds++))
				return;
			const struct heap_site *above = heap_site_of(h, id);
			inside = above && row[above - h->sites->site] == wanted;
		}
		inside |= known->dominators.immediate[s->object] == NOT_REACHABLE;
		if (!inside)
			retained_sum_add(known, &sums[wanted], s->object);
	}
}

/* One row for n sites, which have a function in common or are one. */
static void add_row(struct result *r, const uint32_t *sites, size_t n, const struct retained_sum *retained)
{
	const struct heap_site *all = r->heap->sites->site, *first = &all[sites[0]];
	const char *frame = own_frame(first);
	struct heap_site sum = {.n_frames = 0};
	struct text name = TEXT_INIT, stack = TEXT_INIT;
	for (size_t i = 0; i < n; i++) {
		const struct heap_site *s = &all[sites[i]];
		sum.n_objects += s->n_objects;
		sum.shallow += s->shallow;
		sum.allocs = s->allocs == SITE_UNKNOWN ? SITE_UNKNOWN : sum.allocs + s->allocs;
		sum.frees = s->frees == SITE_UNKNOWN ? SITE_UNKNOWN : sum.frees + s->frees;
	}
	struct amount objects = heap_counted(r->heap, sum.n_objects);
	struct amount shallow = heap_sized_any(r->heap, heap_counted(r->heap, sum.shallow), r->heap->n_unknown_size);
	if (!sum.n_objects) { /* what the agent counted, in a file without a heap */
		objects = amount_exact(sum.allocs - sum.frees);
		shallow = amount_unknown(REASON_SILENT);
	}
	text_add_n(&name, frame, n > 1 ? function_length(frame) : strlen(frame));
	for (uint32_t i = 0; n == 1 && i < first->n_frames; i++)
		text_addf(&stack, "%s%.*s", i ? " < " : "", (int)function_length(first->frames[i]), first->frames[i]);
	if (n > 1)
		text_addf(&stack, "%zu stacks", n);
	result_add_row(r, (struct cell[]){cell_text(name.s), cell_count(objects), cell_bytes(shallow),
	    command_retained_members(r->opened, amount_exact(sum.n_objects), retained),
	    n > 1 || first->object_size == SITE_UNKNOWN ? cell_blank() : cell_bytes(amount_exact(first->object_size)),
	    cell_count(told_count(sum.allocs)), cell_count(told_count(sum.frees)), cell_text(stack.s)},
	    &(struct target){.kind = TARGET_GROUP});
	text_release(&name);
	text_release(&stack);
}

static int add_rows(struct result *r, struct site_rows *rows, bool functions, struct err *err)
{
	struct heap_sites *s = r->heap->sites;
	uint32_t *order = big_alloc(s->n, sizeof *order, err);
	struct retained_sum *retained = order ? big_alloc(s->n, sizeof *retained, err) : NULL;
	size_t n = 0;
	if (!retained || !rows->row) {
		big_free(order);
		big_free(retained);
		return ERR_NOMEM;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		rows->row[i] = UINT32_MAX;
		if (s->site[i].n_objects || (!r->heap->n_objects && s->site[i].allocs != SITE_UNKNOWN &&
		    s->site[i].frees <= s->site[i].allocs))
			order[n++] = i;
	}
	if (functions)
		sort_array_with(order, n, sizeof *order, by_function, s->site);
	for (size_t i = 0; i < n; i++) {
		bool same = functions && i && same_function(&s->site[order[i - 1]], &s->site[order[i]]);
		rows->n += !same;
		rows->row[order[i]] = rows->n - 1;
	}
	sum_retained(r->opened, rows->row, retained);
	for (size_t i = 0, end; i < n; i = end) {
		uint32_t row = rows->row[order[i]];
		for (end = i; end < n && rows->row[order[end]] == row; end++)
			;
		add_row(r, order + i, end - i, &retained[row]);
	}
	big_free(order);
	big_free(retained);
	return 0;
}

static int told(const struct heap *h, struct err *err)
{
	if (h->sites)
		return 0;
	if (h->facts.no_sites)
		return err_set(err, ERR_UNSUPPORTED, "%s", h->facts.no_sites);
	if (!h->dump || !h->dump->reader->sites)
		return err_set(err, ERR_UNSUPPORTED, "%s does not record allocation sites", h->facts.title);
	return err_set(err, ERR_UNSUPPORTED, "no allocation samples: the program does not use runtime.MemProfile, "
	    "or sets runtime.MemProfileRate to 0");
}

static int run_sites(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	int code = command_retained(s, call, err);
	if (code)
		return code;
	struct site_rows *rows = xcalloc(1, sizeof *rows);
	struct text note = TEXT_INIT;
	rows->row = big_alloc(h->sites->n, sizeof *rows->row, err);
	struct result *r = *out = result_new_rows("allocation sites", s->dump, &sites_shape);
	code = add_rows(r, rows, call_choice(call, DASH_BY, 0) == 1, err);
	result_rows_members(r, sites_members, sites_release, rows);
	command_show_retained(r);
	if (!h->n_objects) {
		result_show_column(r, COL_ALLOCS, true);
		result_show_column(r, COL_FREES, true);
		text_add(&note, "the dump has no heap; objects are the counts of its writer");
	} else {
		text_add_count(&note, h->sites->n_samples);
		text_add(&note, " of ");
		text_add_count(&note, h->n_objects);
		text_add(&note, h->facts.values == TYPED_MEMORY || h->facts.no_class_objects ? " objects were sampled" :
		    " objects have an allocation stack");
	}
	if (h->sites->n_lost) {
		text_add(&note, "; ");
		text_add_count(&note, h->sites->n_lost);
		text_add(&note, h->sites->n_lost == 1 ? " more sample names an object or a stack that is not in the dump" :
		    " more samples name an object or a stack that is not in the dump");
	}
	result_add_note_text(r, &note);
	return code ? code : command_order(s, r, COL_SHALLOW, err);
}

const struct command cmd_sites = {
    .name = "sites",
    .options = OPTIONS({DASH_BY, OPT_CHOICE, "stack|function", "group by stack (default) or allocating function"},
	{DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"}),
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "browse",
    .summary = "list the stacks that allocated objects, by bytes",
    .shapes = SHAPES(&sites_shape),
    .description = "One row per stack, the allocating function first. objects and shallow count the sampled objects "
	"in the dump; allocs and frees are the counts of the program or agent. Go dumps have samples if the program "
	"uses runtime.MemProfile (net/http/pprof does); runtime.MemProfileRate is the rate. HPROF dumps have stacks "
	"if their writer recorded them: the old agent with heap=dump, or Android with allocation tracking; HotSpot "
	"does not. -by function groups by the first function outside of the Go runtime and the JDK.",
    .examples = {{"sites", ON_GO, "which stacks allocated most bytes?"},
	{"sites -by function", ON_GO, "which functions allocated most bytes?"},
	{"sites -sort objects | head 5", ON_GO, "the stacks with most objects"}},
    .told = told,
    .run = run_sites,
};
