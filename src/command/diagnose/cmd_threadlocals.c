/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_threadlocals.c - threadlocals: the values that threads keep in their ThreadLocals.
 */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "analysis/thread_locals.h"
#include "base/amount.h"
#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { L_THREAD, L_KEY, L_CLASS, L_ADDRESS, L_SHALLOW, L_RETAINED, L_LOADER, L_LOADER_CLASS, L_FIELD, L_ID };
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
    [L_ID] = {.id = COL_ID},
};
static const struct shape locals_shape = {.named_by = COL_CLASS, .apart = true, .columns = locals_columns,
    .n_columns = L_ID};
static const struct shape with_ids_shape = {SHAPE_COLUMNS(locals_columns)}; /* several threads may have one name */

static const struct column grouped_columns[] = {{.id = COL_KEY}, {.id = COL_CLASS}, {.id = COL_THREADS},
    {.id = COL_OBJECTS, .total = true}, {.id = COL_SHALLOW, .total = true}, {.id = COL_RETAINED, .hidden = true}};
static const struct shape grouped_shape = {.form = "-by class", .named_by = COL_CLASS, .apart = true,
    SHAPE_COLUMNS(grouped_columns)};

static const struct view_column grouped_view_columns[] = {{VIEW_KEY, COL_KEY}, {VIEW_KEY, COL_CLASS},
    {VIEW_DISTINCT, COL_ID}, {VIEW_OBJECTS}, {VIEW_SUM, COL_SHALLOW}, {VIEW_RETAINED}};
static const struct view grouped_view = {"threadlocals by class", &grouped_shape, VIEW_OF(grouped_view_columns)};

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
	const struct thread_locals *l = r->data;
	const struct heap *h = r->heap;
	const struct thread_local_value *v = &l->at[row];
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
	case L_ID: *out = cell_plain(v->thread); break;
	default: *out = cell_text(v->field);
	}
}

static void locals_target(const struct result *r, size_t row, struct target *out)
{
	const struct thread_locals *l = r->data;
	*out = (struct target){.kind = TARGET_OBJECT, .id = row_object(&l->at[row])};
}

static void locals_release(void *data)
{
	struct thread_locals *l = data;
	thread_locals_release(l);
	free(l);
}

static const struct result_ops locals_ops = {
    .cell = locals_cell, .target = locals_target, .release = locals_release};

/* --- the command ---------------------------------------------------------------------------------- */

static int by_id(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

static int add_notes(struct result *r, const struct thread_locals *t, struct err *err)
{
	uint64_t stale = 0, own = 0, loaders = 0;
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
	result_add_number_note(r, stale, "is stale: its ThreadLocal was collected; it stays until the thread ends or "
	    "happens to clean up its map", "are stale: their ThreadLocals were collected; they stay until the thread "
	    "ends or happens to clean up its map");
	if (own) {
		struct text words = TEXT_INIT;
		text_add_count(&words, own);
		text_add(&words, own == 1 ? " holds " : " hold ");
		text_add_count(&words, loaders);
		result_notef(r, "%s application class loader%s all %s classes", words.s, loaders == 1 ? " with" : "s with",
		    loaders == 1 ? "its" : "their");
		text_release(&words);
	}
	result_add_number_note(r, t->n_shared, "table of values belongs to several threads; it is listed once",
	    "tables of values belong to several threads; each is listed once");
	if (t->n_broken) {
		struct text words = TEXT_INIT;
		text_add_count(&words, t->n_broken);
		text_add(&words, t->n_broken == 1 ? " map or entry with an unknown layout is left out"
		                                  : " maps or entries with an unknown layout are left out");
		result_warn(r, words.s);
		text_release(&words);
	}
	if (!t->n) {
		result_add_note(r, "no thread has a value in a ThreadLocal");
		result_mark(r, RESULT_NONE_ANSWERS, true);
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
	struct thread_locals *l = xcalloc(1, sizeof *l);
	code = thread_locals_find(l, session_heap(s), session_progress(s), err);
	if (code) {
		locals_release(l);
		return code;
	}
	*out = result_new("threadlocals", s->dump, grouped ? &with_ids_shape : &locals_shape, &locals_ops, l, l->n);
	result_mark(*out, RESULT_OF_VALUES, true);
	code = add_notes(*out, l, err);
	if (!code && grouped)
		code = result_view(out, &grouped_view, err);
	if (!code && grouped)
		code = command_order(s, *out, COL_OBJECTS, err);
	command_show_retained(*out);
	return code;
}

static const struct option_spec locals_options[] = {
    {DASH_BY, OPT_CHOICE, "class", "group by class of ThreadLocal and value"},
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
