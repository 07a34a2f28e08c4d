/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_collections.c - collections: lists, maps, sets and queues by class, by what holds them, and by how full they are.
 */
#include "command/commands.h"

#include "algorithms/bits.h"
#include "analysis/collections.h"
#include "analysis/describe/describe.h"
#include "base/amount.h"
#include "base/mem.h"
#include "command/diagnose/held_groups.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "result/result.h"

#include <stdlib.h>

enum { BY_CLASS, BY_HOLDER };

#define AMOUNTS {.id = COL_OBJECTS, .total = true}, {.id = COL_SIZE, .total = true}, \
    {.id = COL_CAPACITY, .total = true}
#define RETAINED {.id = COL_RETAINED, .hidden = true}
static const struct column by_class[] = {{.id = COL_CLASS}, AMOUNTS, {.id = COL_FILL},
    {.id = COL_EMPTY, .total = true}, RETAINED};
static const struct column by_holder[] = {{.id = COL_HOLDER}, {.id = COL_CLASS}, AMOUNTS, {.id = COL_FILL},
    {.id = COL_EMPTY, .total = true}, RETAINED};
static const struct column by_fill[] = {{.id = COL_FILL_WORDS}, AMOUNTS, RETAINED};
static const struct shape class_shape = {.form = "-by class", SHAPE_COLUMNS(by_class)};
static const struct shape holder_shape = {.form = "-by holder", SHAPE_COLUMNS(by_holder)};
static const struct shape fill_shape = {.form = "-fill", SHAPE_COLUMNS(by_fill)};

static const struct option_spec options[] = {
    {DASH_BY, OPT_CHOICE, "class|holder", "group by (default class)"},
    {DASH_FILL, OPT_FLAG, NULL, "group by fill ratio"},
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

/* How full a collection is; the order of rows. */
enum degree { NO_PLACES, NOTHING_IN_PLACES, ONE, UP_TO_25, UP_TO_50, UP_TO_75, UP_TO_100, OVER_100, PLACES_NOT_TOLD,
    SIZE_NOT_TOLD, DEGREES };
static const char *const degrees[DEGREES] = {
    [NO_PLACES] = "empty, no capacity", [NOTHING_IN_PLACES] = "empty, with capacity", [ONE] = "1 element",
    [UP_TO_25] = "at most 25 %", [UP_TO_50] = "at most 50 %", [UP_TO_75] = "at most 75 %",
    [UP_TO_100] = "at most 100 %",
    [OVER_100] = "over 100 %", [PLACES_NOT_TOLD] = "no capacity", [SIZE_NOT_TOLD] = "size unknown"};

static enum degree degree_of(const struct collection_found *f)
{
	if (!f->sized)
		return SIZE_NOT_TOLD;
	if (!f->size)
		return f->capacity ? NOTHING_IN_PLACES : NO_PLACES;
	if (f->size == 1)
		return ONE;
	if (!f->capacity)
		return PLACES_NOT_TOLD;
	double share = (double)f->taken / (double)f->capacity;
	if (share > 1)
		return OVER_100;
	return share > 0.75 ? UP_TO_100 : share > 0.5 ? UP_TO_75 : share > 0.25 ? UP_TO_50 : UP_TO_25;
}

/* --- groups ------------------------------------------------------------------------------------- */

struct sums {
	uint64_t size, capacity, empty;
	uint64_t filling;         /* places in use */
	uint64_t unsized;         /* of them: their size is not known */
};

struct groups {
	struct collections all;
	struct held_groups in;  /* their kind is the degree of fill */
	bool by_holder, fill;
	struct sums *sums;      /* by group */
	size_t n_sums, cap_sums;
	struct retained_sum *retained; /* by group; NULL: not found yet */
};

static void release(void *data)
{
	struct groups *g = data;
	collections_release(&g->all);
	held_groups_release(&g->in);
	big_free(g->sums);
	big_free(g->retained);
	free(g);
}

static uint32_t object_of(const void *data, size_t i)
{
	return ((const struct groups *)data)->all.found[i].id;
}

static int members(const struct result *r, void *data, const struct bits *rows, struct bits *to, struct err *err)
{
	(void)r;
	return held_groups_members(&((const struct groups *)data)->in, rows, object_of, data, to, err);
}

static int add_one(struct groups *g, const struct heap *h, size_t i, struct err *err)
{
	const struct collection_found *f = &g->all.found[i];
	int code = held_groups_put(&g->in, i, g->fill ? degree_of(f) : 0, g->fill ? HEAP_NONE : h->class_of[f->id],
	    g->by_holder ? f->id : HEAP_NONE, err);
	if (code)
		return code;
	if (g->n_sums < g->in.n) {
		struct sums *added = BIG_PUSH(g->sums, g->n_sums, g->cap_sums, err);
		if (!added)
			return ERR_NOMEM;
		*added = (struct sums){.size = 0};
	}
	struct sums *to = &g->sums[g->in.of[i]];
	to->size += f->size;
	to->capacity += f->capacity;
	to->filling += f->taken;
	to->empty += f->sized && !f->size;
	to->unsized += !f->sized;
	return 0;
}

static int group_all(struct groups *g, const struct heap *h, struct err *err)
{
	int code = held_groups_init(&g->in, h, g->all.n, err);
	for (size_t i = 0; !code && i < g->all.n; i++)
		code = progress_own_stops(i) ? err_cancelled(err) : add_one(g, h, i, err);
	return code;
}

/* --- what they retain --------------------------------------------------------------------------- */

static int sum_retained(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct groups *g = result_rows_data(r);
	uint32_t *of;
	int code = retained_groups(&of, known, progress, err);
	struct retained_sum *sums = code ? NULL : big_alloc(g->in.n, sizeof *sums, err);
	if (!code && !sums)
		code = ERR_NOMEM;
	for (size_t i = 0; !code && i < g->all.n; i++)
		of[g->all.found[i].id] = g->in.of[i];
	if (!code)
		code = retained_by_objects(known, of, g->in.n, sums, progress, err);
	big_free(of);
	if (code) {
		big_free(sums);
		return code;
	}
	big_free(g->retained);
	g->retained = sums;
	return 0;
}

static struct cell retained_cell(const struct result *r, void *data, size_t row)
{
	const struct groups *g = data;
	return result_known(r) && g->retained ? command_retained_members(r->opened, &g->retained[row]) :
	    cell_unknown(REASON_NOT_FOUND_YET);
}

/* --- rows --------------------------------------------------------------------------------------- */

/* A sum over those whose size is known; without any it is unknown. */
static struct amount summed(const struct heap *h, const struct sums *g, uint64_t objects, uint64_t n)
{
	if (g->unsized == objects)
		return amount_unknown(REASON_SILENT);
	return g->unsized ? amount_weaken(heap_counted(h, n), LOWER_BOUND, REASON_SILENT) : heap_counted(h, n);
}

static void add_row(struct result *r, const struct groups *all, uint32_t number)
{
	const struct heap *h = r->heap;
	const struct held_group *g = &all->in.group[number];
	const struct sums *of = &all->sums[number];
	uint32_t first = all->all.found[g->first].id;
	struct text holder = TEXT_INIT;
	struct cell cells[8];
	unsigned at = 0;
	struct amount size = summed(h, of, g->n, of->size), empty = summed(h, of, g->n, of->empty);
	struct amount capacity = all->all.sizes_told ? heap_counted(h, of->capacity) : amount_unknown(REASON_SILENT);
	if (all->by_holder) {
		field_holder_add(&all->in.holders, &g->holder, first, &holder);
		cells[at++] = cell_text(holder.s);
	}
	cells[at++] = cell_text(all->fill ? degrees[g->kind] : h->classes[g->class].name);
	cells[at++] = cell_count(heap_counted(h, g->n));
	cells[at++] = size.certainty == UNKNOWN ? cell_unknown(size.reason) : cell_count(size);
	cells[at++] = capacity.certainty == UNKNOWN ? cell_unknown(capacity.reason) : cell_count(capacity);
	if (!all->fill) {
		cells[at++] = capacity.certainty == UNKNOWN ? cell_unknown(capacity.reason) : !of->capacity ? cell_blank() :
		    cell_percent(amount_as_sure(amount_exact(of->filling), size), capacity);
		cells[at++] = empty.certainty == UNKNOWN ? cell_unknown(empty.reason) : cell_count(empty);
	}
	cells[at] = cell_blank(); /* when looked at */
	bool one = g->n == 1;
	result_add_row(r, cells, &(struct target){.kind = one ? TARGET_OBJECT : all->fill ? TARGET_GROUP : TARGET_CLASS,
	    .id = one ? first : g->class, .part = !one && !all->fill});
	text_release(&holder);
}

static void add_note(struct result *r, uint64_t n, const char *one, const char *many)
{
	struct text note = TEXT_INIT;
	if (!n)
		return;
	text_add_count(&note, n);
	text_addf(&note, " %s", n == 1 ? one : many);
	result_add_note(r, note.s);
	text_release(&note);
}

/* What is wrong with the user's own layouts: their collections may be missing. */
static void add_blamed(struct result *r)
{
	size_t n;
	const char *first = layouts_blamed(&n);
	struct text note = TEXT_INIT;
	if (!first)
		return;
	text_add(&note, first);
	if (n > 1) {
		text_add(&note, ", and ");
		text_add_count(&note, n - 1);
		text_addf(&note, " more line%s", n == 2 ? "" : "s");
	}
	result_add_note(r, note.s);
	text_release(&note);
}

static void add_notes(struct result *r, const struct groups *g)
{
	add_blamed(r);
	add_note(r, g->all.lying, "is left out: its size is impossible, or its fields do not match its layout",
	    "are left out: their sizes are impossible, or their fields do not match their layouts");
	add_note(r, g->all.damaged, "is counted in part: its nodes form a cycle or are damaged",
	    "are counted in part: their nodes form cycles or are damaged");
	if (!g->all.sizes_told) {
		struct text note = TEXT_INIT;
		text_addf(&note, "%s holds no values: collections are found by class, and their sizes are unknown",
		    r->heap->facts.title);
		result_add_note(r, note.s);
		text_release(&note);
	}
	if (!g->all.n) {
		result_add_note(r, "no known collections");
		result_mark(r, RESULT_NONE_ANSWERS, true);
	}
}

static int find_all(struct session *s, const struct call *call, struct groups *g, struct err *err)
{
	struct bits only = {.word = NULL};
	const struct heap *h = session_heap(s);
	int code = call->argument[0].given ? bits_init(&only, h->n_objects, err) : 0;
	for (size_t i = 0; !code && i < call->argument[0].n_ids && !progress_own_stops(i); i++)
		bits_set(&only, call->argument[0].ids[i]);
	if (!code)
		code = collections_find(&g->all, h, only.word ? &only : NULL, session_progress(s), err);
	bits_release(&only);
	return code ? code : group_all(g, h, err);
}

static int run_collections(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	int code = command_retained(s, call, err);
	if (code)
		return code;
	struct groups *g = xcalloc(1, sizeof *g);
	g->fill = call_has(call, DASH_FILL);
	g->by_holder = !g->fill && call_choice(call, DASH_BY, BY_CLASS) == BY_HOLDER;
	const struct shape *shape = g->fill ? &fill_shape : g->by_holder ? &holder_shape : &class_shape;
	struct text title = TEXT_INIT;
	text_add(&title, "collections");
	if (call->argument[0].given)
		text_addf(&title, " of %s", call->argument[0].word);
	struct result *r = result_new_rows(title.s, s->dump, shape);
	text_release(&title);
	result_rows_members(r, members, release, g);
	result_rows_late(r, COL_RETAINED, retained_cell);
	r->later = sum_retained;
	code = find_all(s, call, g, err);
	for (uint32_t i = 0; !code && i < g->in.n; i++)
		if (progress_own_stops(i))
			code = err_cancelled(err);
		else
			add_row(r, g, i);
	if (!code)
		add_notes(r, g);
	command_show_retained(r);
	if (!code)
		code = command_order(s, r, COL_OBJECTS, err);
	if (code)
		result_free(r);
	else
		*out = r;
	return code;
}

const struct command cmd_collections = {
    .name = "collections",
    .arguments = {{ARG_SET, "SET", true}},
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_COUNTS_VALUES,
    .group = "problems",
    .summary = "list collections by class, by field or by fill ratio",
    .shapes = SHAPES(&class_shape, &holder_shape, &fill_shape),
    .description = "Lists, maps, sets and queues of the JDK and of common libraries, and Go's maps, channels and "
	"arrays of slices. Only the outermost counts: the map of a HashSet is a part of the set. "
	"~/.config/cairn/layouts describes your own collection classes (doc/layouts.md).\n"
	"size\telements, together\n"
	"capacity\tslots, or buckets of a hash table\n"
	"fill\tused part of the capacity; of a multimap, a bag or a table by its keys\n"
	"empty\tcollections without elements\n"
	"Libraries: Guava, Caffeine, Scala, Kotlin, Android, fastutil, Trove, HPPC, Eclipse and Commons Collections, "
	"Vavr, Netty, JCTools, Spring, Hibernate, Jackson and Gson.",
    .examples = {{"collections", ON_SHOP, "how many there are, and how full"},
	{"collections -by holder | head 5", ON_SHOP, "which fields hold most of them"},
	{"collections -fill", ON_SHOP, "how many are empty or nearly empty"}, {"collections", ON_GO}},
    .key = "",
    .run = run_collections,
};
