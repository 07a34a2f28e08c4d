/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_threadlocals.c - threadlocals: the values that threads keep in their ThreadLocals.
 */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "analysis/thread_locals.h"
#include "base/mem.h"
#include "memory/big.h"
#include "result/objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { L_THREAD, L_KEY, L_CLASS, L_ADDRESS, L_SHALLOW, L_RETAINED, L_LOADER, L_LOADER_CLASS, L_FIELD };
static const struct column locals_columns[] = {
    [L_THREAD] = {.id = COL_THREAD},
    [L_KEY] = {.id = COL_KEY, .room = COLUMN_LATE},
    [L_CLASS] = {.id = COL_CLASS},
    [L_ADDRESS] = {.id = COL_ADDRESS, .room = COLUMN_EARLY},
    [L_SHALLOW] = {.id = COL_SHALLOW, .room = COLUMN_EARLY},
    [L_RETAINED] = {.id = COL_RETAINED, .hidden = true},
    [L_LOADER] = {.id = COL_LOADER},
    [L_LOADER_CLASS] = {.id = COL_LOADER_CLASS},
    [L_FIELD] = {.id = COL_FIELD, .hidden = true},
};
static const struct shape locals_shape = {.named_by = COL_CLASS, .apart = true, SHAPE_COLUMNS(locals_columns)};

enum { G_KEY, G_CLASS, G_THREADS, G_OBJECTS, G_SHALLOW, G_RETAINED };
static const struct column grouped_columns[] = {
    [G_KEY] = {.id = COL_KEY},
    [G_CLASS] = {.id = COL_CLASS},
    [G_THREADS] = {.id = COL_THREADS},
    [G_OBJECTS] = {.id = COL_OBJECTS, .total = true},
    [G_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [G_RETAINED] = {.id = COL_RETAINED, .hidden = true},
};
static const struct shape grouped_shape = {.form = "-by class", .named_by = COL_CLASS, .apart = true,
    SHAPE_COLUMNS(grouped_columns)};

/* Values of one class below ThreadLocals of one class, or stale ones. */
struct group {
	uint64_t first, end; /* of found.at */
	uint64_t threads, objects;
	struct amount shallow;
	struct retained_sum retained;
};

struct local_rows {
	struct thread_locals found;
	struct group *group; /* with -by class; else NULL */
	uint64_t n;
	bool summed;
};

static const char *key_name(const struct heap *h, const struct thread_local_value *v)
{
	return v->key == HEAP_NONE ? "stale" : heap_class_of(h, v->key)->name;
}

/* The object that a row is: the value, or its entry where that is null. */
static uint32_t row_object(const struct thread_local_value *v)
{
	return v->value == HEAP_NONE ? v->entry : v->value;
}

/* --- each value ----------------------------------------------------------------------------------- */

static struct cell thread_cell(const struct heap *h, uint32_t id, struct text *scratch)
{
	uint32_t thread = heap_thread_of(h, id);
	if (thread != HEAP_NONE && h->threads[thread].name && *h->threads[thread].name)
		return cell_text(h->threads[thread].name);
	struct cell name = object_value_cell(h, id, scratch);
	if (name.type == CELL_TEXT && name.text && *name.text)
		return name;
	text_clear(scratch);
	text_addf(scratch, "0x%" PRIx64, heap_address(h, id));
	return cell_text(scratch->s);
}

static void locals_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct local_rows *l = r->data;
	const struct heap *h = r->heap;
	const struct thread_local_value *v = &l->found.at[row];
	bool null = v->value == HEAP_NONE;
	switch (column) {
	case L_THREAD: *out = thread_cell(h, v->thread, scratch); break;
	case L_KEY: *out = cell_text(key_name(h, v)); break;
	case L_CLASS: *out = null ? cell_text("null") : cell_text(heap_class_of(h, v->value)->name); break;
	case L_ADDRESS: *out = null ? cell_blank() : cell_object_address(h, v->value); break;
	case L_SHALLOW: *out = null ? cell_blank() : cell_bytes(heap_size(h, v->value)); break;
	case L_RETAINED: *out = null ? cell_blank() : object_retained_cell(r->opened, v->value); break;
	case L_LOADER: *out = v->loader == HEAP_NONE ? cell_blank() : cell_object_address(h, v->loader); break;
	case L_LOADER_CLASS:
		*out = v->loader == HEAP_NONE ? cell_blank() : cell_text(heap_class_of(h, v->loader)->name);
		break;
	default: *out = cell_text(v->field);
	}
}

static void locals_target(const struct result *r, size_t row, struct target *out)
{
	const struct local_rows *l = r->data;
	*out = (struct target){.kind = TARGET_OBJECT, .id = row_object(&l->found.at[row])};
}

static void locals_release(void *data)
{
	struct local_rows *l = data;
	thread_locals_release(&l->found);
	big_free(l->group);
	free(l);
}

static const struct result_ops locals_ops = {
    .cell = locals_cell, .target = locals_target, .release = locals_release};

/* --- by class ------------------------------------------------------------------------------------- */

static int by_class_of(const struct heap *h, uint32_t a, uint32_t b)
{
	if (a == HEAP_NONE || b == HEAP_NONE)
		return (b == HEAP_NONE) - (a == HEAP_NONE);
	return heap_class_order(h->classes, h->class_of[a], h->class_of[b]);
}

static int same_group(const struct heap *h, const struct thread_local_value *a, const struct thread_local_value *b)
{
	int order = by_class_of(h, a->key, b->key);
	return order ? order : by_class_of(h, a->value, b->value);
}

static int by_group(const void *x, const void *y, void *heap)
{
	const struct thread_local_value *a = x, *b = y;
	int order = same_group(heap, a, b);
	if (!order)
		order = (row_object(a) > row_object(b)) - (row_object(a) < row_object(b));
	return order ? order : (a->thread > b->thread) - (a->thread < b->thread);
}

static int by_id(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* Different threads of a group, in room for as many as it has values. */
static int count_threads(const struct local_rows *l, struct group *g, uint32_t *room, struct err *err)
{
	uint64_t n = g->end - g->first;
	for (uint64_t i = 0; i < n && !progress_own_stops(i); i++)
		room[i] = l->found.at[g->first + i].thread;
	int code = sort(room, n, sizeof *room, by_id, err);
	for (uint64_t i = 0; !code && i < n && !progress_own_stops(i); i++)
		g->threads += !i || room[i] != room[i - 1];
	return code;
}

static int make_groups(struct local_rows *l, const struct heap *h, struct err *err)
{
	struct thread_local_value *at = l->found.at;
	uint64_t cap = 0;
	uint32_t *room = big_alloc(l->found.n, sizeof *room, err);
	int code = room ? sort_with(at, l->found.n, sizeof *at, by_group, (void *)(uintptr_t)h, err) : ERR_NOMEM;
	for (uint64_t i = 0; !code && i < l->found.n && !progress_own_stops(i); i++) {
		bool begins = !i || same_group(h, &at[i - 1], &at[i]);
		struct group *g = begins ? BIG_PUSH(l->group, l->n, cap, err) : &l->group[l->n - 1];
		if (!g) {
			code = ERR_NOMEM;
			break;
		}
		if (begins)
			*g = (struct group){.first = i};
		g->end = i + 1;
		if (!begins && row_object(&at[i - 1]) == row_object(&at[i]))
			continue;
		g->objects++;
		if (at[i].value != HEAP_NONE)
			g->shallow = amount_add(g->shallow, heap_size(h, at[i].value));
	}
	for (uint64_t i = 0; !code && i < l->n; i++)
		code = count_threads(l, &l->group[i], room, err);
	big_free(room);
	return code ? code : progress_check(progress_own(), err);
}

static void grouped_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct local_rows *l = r->data;
	const struct heap *h = r->heap;
	const struct group *g = &l->group[row];
	const struct thread_local_value *v = &l->found.at[g->first];
	(void)scratch;
	switch (column) {
	case G_KEY: *out = cell_text(key_name(h, v)); break;
	case G_CLASS: *out = cell_text(v->value == HEAP_NONE ? "null" : heap_class_of(h, v->value)->name); break;
	case G_THREADS: *out = cell_count(heap_counted(h, g->threads)); break;
	case G_OBJECTS: *out = cell_count(heap_counted(h, g->objects)); break;
	case G_SHALLOW: *out = cell_bytes(amount_as_sure(g->shallow, heap_counted(h, 0))); break;
	default:
		*out = v->value == HEAP_NONE ? cell_blank() : !result_known(r) ? cell_unknown(REASON_NOT_FOUND_YET)
		    : g->retained.topmost ? command_retained_sum(r->opened, &g->retained)
		                          : cell_bytes(retained_of_nothing_reached(result_known(r)));
	}
}

static void grouped_target(const struct result *r, size_t row, struct target *out)
{
	const struct local_rows *l = r->data;
	const struct group *g = &l->group[row];
	const struct thread_local_value *v = &l->found.at[g->first];
	if (g->objects == 1)
		*out = (struct target){.kind = TARGET_OBJECT, .id = row_object(v)};
	else if (v->value == HEAP_NONE)
		*out = (struct target){.kind = TARGET_GROUP};
	else
		*out = (struct target){.kind = TARGET_CLASS, .id = r->heap->class_of[v->value], .part = true};
}

static int grouped_members(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct local_rows *l = r->data;
	(void)err;
	for (uint64_t row = 0; row < l->n; row++)
		for (uint64_t i = l->group[row].first; bits_get(rows, row) && i < l->group[row].end; i++)
			bits_set(to, row_object(&l->found.at[i]));
	return 0;
}

static const struct result_ops grouped_ops = {
    .cell = grouped_cell, .target = grouped_target, .release = locals_release, .members = grouped_members};

/* result_later.  A value may be in several groups: each then has less than all it retains. */
static int sum_groups(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct local_rows *l = r->data;
	uint32_t *group;
	int code = retained_groups(&group, known, progress, err);
	struct retained_sum *sums = code ? NULL : big_alloc(l->n, sizeof *sums, err);
	if (!code && !sums)
		code = ERR_NOMEM;
	for (uint32_t row = 0; !code && row < l->n; row++) {
		for (uint64_t i = l->group[row].first; i < l->group[row].end && !progress_stops(progress, i); i++) {
			uint32_t id = l->found.at[i].value;
			if (id != HEAP_NONE && group[id] == HEAP_NONE)
				group[id] = row;
		}
	}
	if (!code)
		code = progress_check(progress, err);
	if (!code)
		code = retained_by_objects(known, group, (uint32_t)l->n, sums, progress, err);
	for (uint32_t row = 0; !code && row < l->n; row++) {
		l->group[row].retained = sums[row];
		for (uint64_t i = l->group[row].first; i < l->group[row].end && !progress_stops(progress, i); i++)
			l->group[row].retained.joint |= l->found.at[i].value != HEAP_NONE &&
			    group[l->found.at[i].value] != row;
	}
	big_free(group);
	big_free(sums);
	return code;
}

/* --- the command ---------------------------------------------------------------------------------- */

static int add_notes(struct result *r, const struct thread_locals *t, struct err *err)
{
	uint64_t stale = 0, own = 0, loaders = 0;
	struct text words = TEXT_INIT;
	uint32_t *loader = big_alloc(t->n, sizeof *loader, err);
	if (!loader)
		return ERR_NOMEM;
	for (uint64_t i = 0; i < t->n && !progress_own_stops(i); i++) {
		stale += t->at[i].key == HEAP_NONE;
		if (t->at[i].own_loader)
			loader[own++] = t->at[i].loader;
	}
	int code = sort(loader, own, sizeof *loader, by_id, err);
	for (uint64_t i = 0; !code && i < own && !progress_own_stops(i); i++)
		loaders += !i || loader[i] != loader[i - 1];
	big_free(loader);
	if (stale) {
		text_add_count(&words, stale);
		text_add(&words, stale == 1 ? " is stale: its ThreadLocal was collected; it stays until the thread ends or "
		    "happens to clean up its map" : " are stale: their ThreadLocals were collected; they stay until the "
		    "thread ends or happens to clean up its map");
		result_add_note(r, words.s);
	}
	text_clear(&words);
	if (own) {
		text_add_count(&words, own);
		text_add(&words, own == 1 ? " holds " : " hold ");
		text_add_count(&words, loaders);
		text_add(&words, loaders == 1 ? " application class loader with all its classes"
		                              : " application class loaders with all their classes");
		result_add_note(r, words.s);
	}
	text_clear(&words);
	if (t->n_shared) {
		text_add_count(&words, t->n_shared);
		text_add(&words, t->n_shared == 1 ? " table of values belongs to several threads; it is listed once" :
		    " tables of values belong to several threads; each is listed once");
		result_add_note(r, words.s);
	}
	text_clear(&words);
	if (t->n_broken) {
		text_add_count(&words, t->n_broken);
		text_add(&words, t->n_broken == 1 ? " map or entry with an unknown layout is left out"
		                                  : " maps or entries with an unknown layout are left out");
		result_warn(r, words.s);
	}
	text_release(&words);
	if (!t->n) {
		result_add_note(r, "no thread has a value in a ThreadLocal");
		r->says_none = true;
	}
	return code;
}

static int told(const struct heap *h, struct err *err)
{
	if (values_held(h) && h->facts.values == DECLARED_FIELDS)
		return 0;
	return values_held(h) ? err_set(err, ERR_UNSUPPORTED, "%s has no ThreadLocals (only Java has them)", h->facts.title)
	                      : heap_holds_no_values(h, err);
}

static int run_locals(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	bool grouped = call_has(call, DASH_BY);
	int code = command_retained(s, call, err);
	if (code)
		return code;
	struct local_rows *l = xcalloc(1, sizeof *l);
	code = thread_locals_find(&l->found, session_heap(s), session_progress(s), err);
	if (!code && grouped)
		code = make_groups(l, session_heap(s), err);
	if (code) {
		locals_release(l);
		return code;
	}
	struct result *r = grouped
	    ? result_new("threadlocals by class", s->dump, &grouped_shape, &grouped_ops, l, l->n)
	    : result_new("threadlocals", s->dump, &locals_shape, &locals_ops, l, l->found.n);
	if (grouped)
		r->later = sum_groups;
	r->of_values = true;
	code = add_notes(r, &l->found, err);
	command_show_retained(r);
	if (!code)
		code = command_sort(s, r, call, grouped ? "objects" : "thread", !grouped, err);
	if (code)
		result_free(r);
	else
		*out = r;
	return code;
}

static const struct option_spec locals_options[] = {
    {DASH_BY, OPT_CHOICE, "class", "group by class of ThreadLocal and value"},
    {DASH_SORT, OPT_COLUMN, "COL", "order by a column (default thread address)"},
    {DASH_R, OPT_FLAG, NULL, "reverse order"},
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_threadlocals = {
    .name = "threadlocals",
    .options = locals_options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_COUNTS_VALUES,
    .group = "problems",
    .summary = "list ThreadLocal values by thread, with their class loaders",
    .shapes = SHAPES(&locals_shape, &grouped_shape),
    .description = "One row per value of a ThreadLocal, of platform, carrier and virtual threads, also inheritable "
	"ones. field is the map of the thread with the value. Local variables of methods are in bt.\n"
	"key\tclass of the ThreadLocal; stale if that was collected: a leak in thread pools, because the value stays "
	"until the thread ends or happens to clean up its map\n"
	"class\tclass of the value\n"
	"loader\tapplication class loader that the value keeps with all its classes, often from an old deployment: the "
	"loader of its class, else a loader that it refers to directly or by an object\n"
	"-by class sums over threads.",
    .examples = {{"threadlocals", ON_SHOP, "which threads keep ThreadLocal values?"},
	{"threadlocals -by class -retained", ON_SHOP, "which classes of values retain most?"},
	{"threadlocals -sort -shallow", ON_SHOP, "the largest values first"}},
    .key = "",
    .told = told,
    .run = run_locals,
};
