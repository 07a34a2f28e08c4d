/* SPDX-License-Identifier: GPL-3.0-or-later */
/* histo_heaps.c - histo -by heap: rows that are heaps of Android. */
#include "command/browse/histo_heaps.h"

#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "result/result.h"

#include <stdlib.h>

enum { H_HEAP, H_CLASSES, H_OBJECTS, H_SHALLOW, H_RETAINED };

static const struct column heaps_columns[] = {
    [H_HEAP] = {.id = COL_HEAP_NAME},
    [H_CLASSES] = {.id = COL_CLASSES},
    [H_OBJECTS] = {.id = COL_OBJECTS, .total = true},
    [H_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [H_RETAINED] = {.id = COL_RETAINED, .hidden = true},
};
const struct shape histo_heaps_shape = {.form = "-by heap", SHAPE_COLUMNS(heaps_columns)};

struct heaps {
	struct heap_sum *sums;   /* by the number of the heap */
	uint32_t *classes;       /* the same: classes with objects in it */
	unsigned row[SPACES_MOST + 1];
	size_t n;
	struct bits only;        /* the objects counted; word NULL: all */
	struct retained_sum *retained; /* by the number; NULL: not summed yet */
};

static void heaps_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct heaps *x = r->data;
	const struct heap *h = r->heap;
	unsigned space = x->row[row];
	const struct heap_sum *sum = &x->sums[space];
	(void)scratch;
	switch (column) {
	case H_HEAP:
		*out = cell_text(h->spaces[space]);
		break;
	case H_CLASSES:
		*out = cell_count(heap_counted(h, x->classes[space]));
		break;
	case H_OBJECTS:
		*out = cell_count(heap_counted(h, sum->objects));
		break;
	case H_SHALLOW:
		*out = cell_bytes(heap_sized(h, heap_counted(h, sum->shallow), sum->doubts, sum->n_unknown));
		break;
	case H_RETAINED:
		*out = !x->retained ? cell_unknown(REASON_NOT_FOUND_YET) :
		    command_retained_members(r->opened, &x->retained[space]);
		break;
	}
}

static void heaps_target(const struct result *r, size_t row, struct target *out)
{
	(void)r, (void)row;
	*out = (struct target){.kind = TARGET_GROUP};
}

static bool counts(const struct heaps *x, uint32_t id)
{
	return !x->only.word || bits_get(&x->only, id);
}

static int heaps_members(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct heaps *x = r->data;
	bool wanted[SPACES_MOST + 1] = {false};
	struct bits_walk walk = bits_walk(rows);
	(void)err;
	for (uint64_t row; bits_next(&walk, &row);)
		wanted[x->row[row]] = true;
	for (uint32_t id = 0; id < r->heap->n_objects && !progress_own_stops(id); id++)
		if (wanted[r->heap->space_of[id]] && counts(x, id))
			bits_set(to, id);
	return 0;
}

static void heaps_release(void *data)
{
	struct heaps *x = data;
	big_free(x->sums);
	big_free(x->classes);
	big_free(x->retained);
	bits_release(&x->only);
	free(x);
}

/* Of the whole graph: what the objects of a heap keep alive may lie in another one. */
static int sum_retained(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct heaps *x = r->data;
	const struct heap *h = r->heap;
	uint32_t *group;
	int code = retained_groups(&group, known, progress, err);
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_stops(progress, id); id++)
		if (counts(x, id))
			group[id] = h->space_of[id];
	struct retained_sum *sums = code ? NULL : big_alloc(h->n_spaces, sizeof *sums, err);
	if (!code)
		code = sums ? retained_by_objects(known, group, h->n_spaces, sums, progress, err) : ERR_NOMEM;
	big_free(group);
	big_free(code ? sums : x->retained);
	if (!code)
		x->retained = sums;
	return code;
}

static const struct result_ops heaps_ops = {
    .cell = heaps_cell, .target = heaps_target, .release = heaps_release, .members = heaps_members};

static void add(struct heap_sum *sum, const struct heap *h, uint32_t id)
{
	sum->objects++;
	sum->shallow += heap_shallow(h, id);
	sum->n_unknown += !heap_size_known(h, id);
	sum->doubts |= heap_size_doubts(h, id);
}

void heap_sums(const struct heap *h, struct heap_sum *sums)
{
	for (unsigned i = 0; i < h->n_spaces; i++)
		sums[i] = (struct heap_sum){.objects = 0};
	for (uint32_t id = 0; h->n_spaces && id < h->n_objects && !progress_own_stops(id); id++)
		add(&sums[h->space_of[id]], h, id);
}

/* Mark what the scope counts, if that is not all. */
static int choose(struct heaps *x, const struct heap *h, const struct histogram_scope *scope, struct err *err)
{
	size_t n = scope->n_objects;
	if (!scope->objects && !scope->classes)
		return 0;
	uint32_t *own = scope->objects ? NULL : objects_of_classes(h, scope->classes, scope->n_classes, &n, err);
	const uint32_t *ids = own ? own : scope->objects;
	int code = ids ? bits_init(&x->only, h->n_objects, err) : ERR_NOMEM;
	for (size_t i = 0; !code && i < n; i++)
		bits_set(&x->only, ids[i]);
	big_free(own);
	return code;
}

static int count(struct heaps *x, const struct heap *h, struct progress *progress, struct err *err)
{
	struct bits seen; /* a bit for each class and heap */
	int code = bits_init(&seen, (uint64_t)h->n_classes * h->n_spaces, err);
	x->sums = code ? NULL : big_alloc(h->n_spaces, sizeof *x->sums, err);
	x->classes = x->sums ? big_alloc(h->n_spaces, sizeof *x->classes, err) : NULL;
	for (uint32_t id = 0; x->classes && id < h->n_objects; id++) {
		uint64_t pair = (uint64_t)h->class_of[id] * h->n_spaces + h->space_of[id];
		if (progress_stops(progress, id)) {
			code = err_cancelled(err);
			break;
		}
		if (!counts(x, id))
			continue;
		add(&x->sums[h->space_of[id]], h, id);
		x->classes[h->space_of[id]] += !bits_get(&seen, pair);
		bits_set(&seen, pair);
	}
	bits_release(&seen);
	return code || x->classes ? code : ERR_NOMEM;
}

int histo_by_heap(struct session *s, const struct histogram_scope *scope, const char *title, struct result **out,
    struct err *err)
{
	const struct heap *h = session_heap(s);
	unsigned any;
	int code = h->n_spaces ? 0 : value_heap(s, SPACE_DEFAULT, &any, err); /* which says why there are none */
	if (code)
		return code;
	struct heaps *x = xcalloc(1, sizeof *x);
	code = choose(x, h, scope, err);
	if (!code)
		code = count(x, h, session_progress(s), err);
	if (code) {
		heaps_release(x);
		return code;
	}
	for (unsigned i = 0; i < h->n_spaces; i++)
		if (x->sums[i].objects)
			x->row[x->n++] = i;
	*out = result_new(title, s->dump, &histo_heaps_shape, &heaps_ops, x, x->n);
	(*out)->later = sum_retained;
	return 0;
}
