/* SPDX-License-Identifier: GPL-3.0-or-later */
/* histo_groups.c - histo -by path and -by heap: rows whose objects are of several classes. */
#include "command/browse/histo_groups.h"

#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

static const struct column paths_columns[] = {
    {.id = COL_PATH},
    {.id = COL_CLASS},
    {.id = COL_OBJECTS, .total = true},
    {.id = COL_SHALLOW, .total = true},
    {.id = COL_RETAINED},
};
const struct shape histo_paths_shape = {.form = "-by path", SHAPE_COLUMNS(paths_columns)};

static const struct column heaps_columns[] = {
    {.id = COL_HEAP_NAME},
    {.id = COL_CLASSES},
    {.id = COL_OBJECTS, .total = true},
    {.id = COL_SHALLOW, .total = true},
    {.id = COL_RETAINED, .hidden = true},
};
const struct shape histo_heaps_shape = {.form = "-by heap", SHAPE_COLUMNS(heaps_columns)};

struct groups {
	const struct path_keys *keys; /* the opened dump's; NULL: groups are heaps */
	const uint32_t *of;           /* by object: its group; PATH_KEY_NONE: it is not counted */
	uint32_t *own;                /* the same, if it is not the keys' */
	uint32_t n;
	struct path_key_sum *sums;    /* by group */
	uint32_t *classes;            /* of heaps: classes with objects there */
	uint32_t *row;                /* the group of each row */
	bool retained;                /* the sums have it */
};

static void groups_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct groups *g = r->data;
	const struct heap *h = r->heap;
	uint32_t group = g->row[row];
	const struct path_key_sum *sum = &g->sums[group];
	const struct path_key *key = g->keys ? &g->keys->list[group] : NULL;
	struct amount (*counted)(const struct heap *h, uint64_t n) = g->keys ? heap_reached : heap_counted;
	switch (r->shape->columns[column].id) {
	case COL_PATH:
		text_clear(scratch);
		path_key_add(g->keys, group, scratch);
		*out = cell_text(scratch->s);
		break;
	case COL_CLASS:
		*out = key->class == HEAP_NONE ? cell_none() : cell_text(key->start == START_CLASS ? "java.lang.Class" :
		    h->classes[key->class].name);
		break;
	case COL_HEAP_NAME:
		*out = cell_text(h->spaces[group]);
		break;
	case COL_CLASSES:
		*out = cell_count(heap_counted(h, g->classes[group]));
		break;
	case COL_OBJECTS:
		*out = cell_count(counted(h, sum->n_objects));
		break;
	case COL_SHALLOW:
		*out = cell_bytes(heap_sized(h, counted(h, sum->shallow), sum->doubts, sum->n_unknown));
		break;
	default:
		*out = g->retained ? command_retained_members(r->opened, counted(h, sum->n_objects), &sum->retained) :
		    cell_unknown(REASON_NOT_FOUND_YET);
	}
}

static int groups_members(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct groups *g = r->data;
	struct bits wanted;
	if (bits_init(&wanted, g->n, err))
		return ERR_NOMEM;
	struct bits_walk walk = bits_walk(rows);
	for (uint64_t row; bits_next(&walk, &row);)
		bits_set(&wanted, g->row[row]);
	for (uint32_t id = 0; id < r->heap->n_objects && !progress_own_stops(id); id++)
		if (g->of[id] != PATH_KEY_NONE && bits_get(&wanted, g->of[id]))
			bits_set(to, id);
	bits_release(&wanted);
	return 0;
}

static void groups_release(void *data)
{
	struct groups *g = data;
	big_free(g->own);
	big_free(g->sums);
	big_free(g->classes);
	big_free(g->row);
	free(g);
}

static const struct result_ops groups_ops = {
    .cell = groups_cell, .target = result_target_group, .release = groups_release, .members = groups_members};

/* result_later.  Of the whole graph: what the objects of a heap keep alive may lie in another one. */
static int sum_retained(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct groups *g = r->data;
	struct path_key_sum *sums = big_alloc(g->n, sizeof *sums, err);
	int code = sums ? path_key_sums(known, g->of, g->n, sums, progress, err) : ERR_NOMEM;
	big_free(code ? sums : g->sums);
	if (!code) {
		g->sums = sums;
		g->retained = true;
	}
	return code;
}

static int find_groups(struct groups *g, const struct heap *h, const struct histogram_scope *scope, struct err *err)
{
	size_t n = scope->objects ? scope->n_objects : h->n_objects;
	g->of = g->keys ? g->keys->of : NULL;
	if (g->of && !scope->objects)
		return 0;
	g->of = g->own = big_alloc(h->n_objects, sizeof *g->own, err);
	if (!g->own)
		return ERR_NOMEM;
	if (n < h->n_objects)
		memset(g->own, 0xFF, h->n_objects * sizeof *g->own);
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		uint32_t id = scope->objects ? scope->objects[i] : (uint32_t)i;
		g->own[id] = g->keys ? g->keys->of[id] : h->space_of[id];
	}
	return 0;
}

static int count_classes(struct groups *g, const struct heap *h, struct err *err)
{
	struct bits seen; /* a bit for each class and group */
	int code = bits_init(&seen, (uint64_t)h->n_classes * g->n, err);
	g->classes = code ? NULL : big_alloc(g->n, sizeof *g->classes, err);
	for (uint32_t id = 0; g->classes && id < h->n_objects && !progress_own_stops(id); id++) {
		uint64_t pair = (uint64_t)heap_class_index(h, id) * g->n + g->of[id];
		if (g->of[id] == PATH_KEY_NONE || bits_get(&seen, pair))
			continue;
		g->classes[g->of[id]]++;
		bits_set(&seen, pair);
	}
	bits_release(&seen);
	return g->classes ? 0 : ERR_NOMEM;
}

int histo_by_groups(struct session *s, bool by_path, const struct histogram_scope *scope, const char *title,
    struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	unsigned any;
	int code = by_path ? session_find(s, FIND_PATH_KEYS, err) : h->n_spaces ? 0 :
	    value_heap(s, SPACE_DEFAULT, &any, err); /* which says why there are none */
	if (code)
		return code;
	struct groups *g = xcalloc(1, sizeof *g);
	struct result *r = *out = result_new(
	    title, s->dump, by_path ? &histo_paths_shape : &histo_heaps_shape, &groups_ops, g, 0);
	g->keys = by_path ? opened_path_keys(s->dump) : NULL;
	g->n = by_path ? g->keys->n : h->n_spaces;
	g->retained = by_path;
	r->later = by_path ? NULL : sum_retained;
	code = find_groups(g, h, scope, err);
	g->sums = code ? NULL : big_alloc(g->n, sizeof *g->sums, err);
	g->row = g->sums ? big_alloc(g->n, sizeof *g->row, err) : NULL;
	if (!g->row)
		return code ? code : ERR_NOMEM;
	code = by_path ? path_key_sums(g->keys->retained, g->of, g->n, g->sums, session_progress(s), err) :
	    path_key_counts(h, g->of, g->n, g->sums, session_progress(s), err);
	if (!code && !by_path)
		code = count_classes(g, h, err);
	for (uint32_t i = 0; !code && i < g->n; i++)
		if (g->sums[i].n_objects)
			g->row[r->n_source++] = i;
	r->n_rows = r->n_source;
	return code;
}
