/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_collections.c - collections: lists, maps, sets and queues by class, by holder, by fill ratio or each.
 */
#include "command/commands.h"

#include "algorithms/bits.h"
#include "analysis/collections.h"
#include "analysis/describe/describe.h"
#include "analysis/paths/paths.h"
#include "base/text.h"
#include "command/diagnose/held_groups.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "result/result.h"

#include <inttypes.h>

enum { BY_CLASS, BY_HOLDER };

#define AMOUNTS {.id = COL_OBJECTS, .total = true}, {.id = COL_SIZE, .total = true}, \
    {.id = COL_CAPACITY, .total = true}
#define RETAINED {.id = COL_RETAINED, .hidden = true}
static const struct column by_class[] = {{.id = COL_CLASS}, AMOUNTS, {.id = COL_FILL},
    {.id = COL_EMPTY, .total = true}, RETAINED};
static const struct column by_holder[] = {{.id = COL_HOLDER}, {.id = COL_CLASS}, AMOUNTS, {.id = COL_FILL},
    {.id = COL_EMPTY, .total = true}, RETAINED};
static const struct column by_fill[] = {{.id = COL_FILL_WORDS}, AMOUNTS, RETAINED};
static const struct column each[] = {{.id = COL_ADDRESS}, {.id = COL_CLASS}, {.id = COL_SIZE, .total = true},
    {.id = COL_CAPACITY, .total = true}, {.id = COL_FILL}, {.id = COL_HOLDER}, RETAINED};
static const struct shape class_shape = {.form = "-by class", SHAPE_COLUMNS(by_class)};
static const struct shape holder_shape = {.form = "-by holder", SHAPE_COLUMNS(by_holder)};
static const struct shape fill_shape = {.form = "-fill", SHAPE_COLUMNS(by_fill)};
static const struct shape each_shape = {.form = "-each", SHAPE_COLUMNS(each)};

static const struct option_spec options[] = {
    {DASH_BY, OPT_CHOICE, "class|holder", "group by (default class)"},
    {DASH_FILL, OPT_FLAG, NULL, "group by fill ratio"},
    {DASH_EACH, OPT_FLAG, NULL, "a row per collection, with what holds it"},
    {DASH_MIN, OPT_COUNT, "N", "only collections of at least N elements"},
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

/* What held_groups sums: FILLING are places in use, UNSIZED those whose size is not known. */
enum { SIZE, CAPACITY, EMPTY, FILLING, UNSIZED };

struct groups {
	struct collections all;
	struct held_groups in;  /* their kind is the degree of fill; a row each */
	bool by_holder, fill, each;
	uint64_t min;     /* elements */
	uint64_t unsized; /* left out for min: their size is unknown */
};

static int group_all(struct groups *g, struct result *r, struct err *err)
{
	const struct heap *h = r->heap;
	int code = held_groups_init(&g->in, h, err);
	g->in.apart = g->each;
	for (size_t i = 0; !code && i < g->all.n; i++) {
		const struct collection_found *f = &g->all.found[i];
		struct held_group *to = held_groups_put(&g->in, i, g->fill ? degree_of(f) : 0,
		    g->fill ? HEAP_NONE : heap_class_index(h, f->id),
		    g->by_holder || g->each ? f->id : HEAP_NONE, err);
		if (!to)
			return ERR_NOMEM;
		to->sum[SIZE] += f->size;
		to->sum[CAPACITY] += f->capacity;
		to->sum[FILLING] += f->taken;
		to->sum[EMPTY] += f->sized && !f->size;
		to->sum[UNSIZED] += !f->sized;
		result_add_member(r, (size_t)(to - g->in.group), f->id);
		code = progress_own_stops(i) ? err_cancelled(err) : 0;
	}
	return code;
}

/* --- rows --------------------------------------------------------------------------------------- */

/* A sum over those whose size is known; without any it is unknown. */
static struct amount summed(const struct heap *h, const struct held_group *g, uint64_t n)
{
	if (g->sum[UNSIZED] == g->n)
		return amount_unknown(REASON_SILENT);
	return g->sum[UNSIZED] ? amount_weaken(heap_counted(h, n), LOWER_BOUND, REASON_SILENT) : heap_counted(h, n);
}

static struct cell fill_of(const struct held_group *g, struct amount size, struct amount capacity)
{
	return capacity.certainty != UNKNOWN && !capacity.n ? cell_blank() :
	    cell_percent(amount_as_sure(amount_exact(g->sum[FILLING]), size), capacity);
}

static void add_row(struct result *r, const struct groups *all, const struct held_group *g)
{
	const struct heap *h = r->heap;
	uint32_t first = all->all.found[g->first].id;
	struct text holder = TEXT_INIT;
	struct cell cells[8];
	unsigned at = 0;
	struct amount size = summed(h, g, g->sum[SIZE]);
	struct amount capacity = all->all.sizes_told ? heap_counted(h, g->sum[CAPACITY]) :
	    amount_unknown(REASON_SILENT);
	if (all->each && g->holder.class == HEAP_NONE)
		path_root_words(h, first, &holder);
	if ((all->by_holder || all->each) && !holder.len)
		field_holder_add(&all->in.holders, &g->holder, first, &holder);
	if (all->each)
		cells[at++] = cell_address(heap_address(h, first));
	else if (all->by_holder)
		cells[at++] = cell_text(holder.s);
	cells[at++] = cell_text(all->fill ? degrees[g->kind] : h->classes[g->class].name);
	if (!all->each)
		cells[at++] = cell_count(heap_counted(h, g->n));
	cells[at++] = cell_count(size);
	cells[at++] = cell_count(capacity);
	if (!all->fill) {
		cells[at++] = fill_of(g, size, capacity);
		cells[at++] = all->each ? cell_text(holder.s) : cell_count(summed(h, g, g->sum[EMPTY]));
	}
	cells[at] = cell_blank(); /* when looked at */
	bool one = g->n == 1;
	result_add_row(r, cells, &(struct target){.kind = one ? TARGET_OBJECT : all->fill ? TARGET_GROUP : TARGET_CLASS,
	    .id = one ? first : g->class, .part = !one && !all->fill});
	text_release(&holder);
}

/* What is wrong with the user's own layouts: their collections may be missing. */
static void add_blamed(struct result *r)
{
	size_t n;
	const char *first = layouts_blamed(&n);
	if (!first)
		return;
	struct text more = TEXT_INIT;
	text_add_count(&more, n - 1);
	result_notef(r, n > 1 ? "%s, and %s more line%s" : "%s", first, more.s, n == 2 ? "" : "s");
	text_release(&more);
}

static void add_notes(struct result *r, const struct groups *g)
{
	add_blamed(r);
	result_add_number_note(r, g->all.lying,
	    "is left out: its size is impossible, or its fields do not match its layout",
	    "are left out: their sizes are impossible, or their fields do not match their layouts");
	result_add_number_note(r, g->all.damaged, "is counted in part: its nodes form a cycle or are damaged",
	    "are counted in part: their nodes form cycles or are damaged");
	if (!g->all.sizes_told)
		result_notef(r, "%s holds no values: collections are found by class, and their sizes are unknown",
		    r->heap->facts.title);
	result_add_number_note(r, g->unsized, "is left out: its size is unknown", "are left out: their sizes are unknown");
	if (!g->all.n && !g->min) {
		result_add_note(r, "no known collections");
		result_mark(r, RESULT_NONE_ANSWERS, true);
	} else if (!g->all.n) {
		result_notef(r, "no collection has %" PRIu64 " element%s or more", g->min, g->min == 1 ? "" : "s");
	}
}

static void leave_out_small(struct groups *g)
{
	size_t n = 0;
	for (size_t i = 0; i < g->all.n && !progress_own_stops(i); i++) {
		g->unsized += !g->all.found[i].sized;
		if (g->all.found[i].sized && g->all.found[i].size >= g->min)
			g->all.found[n++] = g->all.found[i];
	}
	g->all.n = n;
}

static int find_all(struct session *s, const struct call *call, struct groups *g, struct result *r, struct err *err)
{
	struct bits only = {.word = NULL};
	int code = call->argument[0].given ? bits_init(&only, r->heap->n_objects, err) : 0;
	for (size_t i = 0; !code && i < call->argument[0].n_ids && !progress_own_stops(i); i++)
		bits_set(&only, call->argument[0].ids[i]);
	if (!code)
		code = collections_find(&g->all, r->heap, only.word ? &only : NULL, session_progress(s), err);
	bits_release(&only);
	if (!code && g->min)
		leave_out_small(g);
	return code ? code : group_all(g, r, err);
}

static int run_collections(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	bool fill = call_has(call, DASH_FILL), by = call_has(call, DASH_BY), one = call_has(call, DASH_EACH);
	if (one && (fill || by))
		return err_set(err, ERR_USAGE, "-each and %s exclude each other (use one of them)", fill ? "-fill" : "-by");
	int code = command_retained(s, call, err);
	if (code)
		return code;
	struct groups g = {.fill = fill, .each = one, .min = call_number(call, DASH_MIN, 0),
	    .by_holder = !fill && call_choice(call, DASH_BY, BY_CLASS) == BY_HOLDER};
	struct text title = TEXT_INIT;
	text_addf(&title, call->argument[0].given ? "collections of %s" : "collections", call->argument[0].word);
	struct result *r = *out = result_new_rows(title.s, s->dump, one ? &each_shape : fill ? &fill_shape :
	    g.by_holder ? &holder_shape : &class_shape);
	text_release(&title);
	code = find_all(s, call, &g, r, err);
	for (size_t i = 0; !code && i < g.in.n && !progress_own_stops(i); i++)
		add_row(r, &g, &g.in.group[i]);
	if (!code)
		add_notes(r, &g);
	collections_release(&g.all);
	held_groups_release(&g.in);
	result_sum_members(r);
	command_show_retained(r);
	return code ? code : command_order(s, r, one ? COL_SIZE : COL_OBJECTS, err);
}

const struct command cmd_collections = {
    .name = "collections",
    .arguments = {{ARG_SET, "SET", true}},
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_COUNTS_VALUES,
    .group = "problems",
    .summary = "list collections by class, by field, by fill ratio or each",
    .shapes = SHAPES(&class_shape, &holder_shape, &fill_shape, &each_shape),
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
	{"collections -fill", ON_SHOP, "how many are empty or nearly empty"},
	{"collections -min 100 -each", ON_SHOP, "each large one, with what holds it"}, {"collections", ON_GO}},
    .key = "",
    .run = run_collections,
};
