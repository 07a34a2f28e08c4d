/* SPDX-License-Identifier: GPL-3.0-or-later */
/* histo_paths.c - histo -by path: rows that are objects reached on the same way. */
#include "command/browse/histo_paths.h"

#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

enum { P_PATH, P_CLASS, P_OBJECTS, P_SHALLOW, P_RETAINED };

static const struct column paths_columns[] = {
    [P_PATH] = {.id = COL_PATH},
    [P_CLASS] = {.id = COL_CLASS},
    [P_OBJECTS] = {.id = COL_OBJECTS, .total = true},
    [P_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [P_RETAINED] = {.id = COL_RETAINED},
};
const struct shape histo_paths_shape = {.form = "-by path", SHAPE_COLUMNS(paths_columns)};

struct paths {
	const struct path_keys *signatures; /* the opened dump's */
	struct path_key_sum *sums;
	uint32_t *row;    /* the signature of each row */
	struct bits only; /* the objects counted; word NULL: all */
};

static struct amount objects_of(const struct result *r, size_t row)
{
	const struct paths *p = r->data;
	return heap_reached(r->heap, p->sums[p->row[row]].n_objects);
}

static void paths_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct paths *p = r->data;
	const struct path_key *s = &p->signatures->list[p->row[row]];
	const struct path_key_sum *sum = &p->sums[p->row[row]];
	switch (column) {
	case P_PATH:
		text_clear(scratch);
		path_key_add(p->signatures, p->row[row], scratch);
		*out = cell_text(scratch->s);
		break;
	case P_CLASS:
		*out = s->class == HEAP_NONE ? cell_none() : cell_text(s->start == START_CLASS ? "java.lang.Class" :
		    r->heap->classes[s->class].name);
		break;
	case P_OBJECTS:
		*out = cell_count(objects_of(r, row));
		break;
	case P_SHALLOW:
		*out = cell_bytes(heap_sized(r->heap, heap_reached(r->heap, sum->shallow), sum->doubts, sum->n_unknown));
		break;
	case P_RETAINED:
		*out = command_retained_sum(r->opened, &sum->retained);
		break;
	}
}

static void paths_target(const struct result *r, size_t row, struct target *out)
{
	(void)r, (void)row;
	*out = (struct target){.kind = TARGET_GROUP};
}

static int paths_members(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct paths *p = r->data;
	struct bits wanted;
	if (bits_init(&wanted, p->signatures->n, err))
		return ERR_NOMEM;
	struct bits_walk walk = bits_walk(rows);
	for (uint64_t row; bits_next(&walk, &row);)
		bits_set(&wanted, p->row[row]);
	for (uint32_t id = 0; id < r->heap->n_objects && !progress_own_stops(id); id++) {
		uint32_t of = p->signatures->of[id];
		if (of != PATH_KEY_NONE && bits_get(&wanted, of) && (!p->only.word || bits_get(&p->only, id)))
			bits_set(to, id);
	}
	bits_release(&wanted);
	return 0;
}

static void paths_release(void *data)
{
	struct paths *p = data;
	big_free(p->sums);
	big_free(p->row);
	bits_release(&p->only);
	free(p);
}

static const struct result_ops paths_ops = {
    .cell = paths_cell, .target = paths_target, .release = paths_release, .members = paths_members};

static int sum(void *context, struct progress *progress, struct err *err)
{
	struct paths *p = context;
	p->sums = big_alloc(p->signatures->n, sizeof *p->sums, err);
	return p->sums ? path_keys_sum(p->signatures, p->only.word ? &p->only : NULL, p->sums, progress, err) :
	    ERR_NOMEM;
}

/* The signatures that have objects; returns how many. */
static size_t list_rows(struct paths *p, struct err *err)
{
	size_t n = 0;
	p->row = big_alloc(p->signatures->n, sizeof *p->row, err);
	for (uint32_t i = 0; p->row && i < p->signatures->n; i++)
		if (p->sums[i].n_objects)
			p->row[n++] = i;
	return n;
}

/* Mark what the scope counts. */
static int choose(struct paths *p, const struct heap *h, const struct histogram_scope *scope, struct err *err)
{
	struct bits classes;
	if (bits_init(&p->only, h->n_objects, err))
		return ERR_NOMEM;
	for (size_t i = 0; i < scope->n_objects && !progress_own_stops(i); i++)
		bits_set(&p->only, scope->objects[i]);
	if (scope->objects || bits_init(&classes, h->n_classes, err))
		return scope->objects ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < scope->n_classes; i++)
		bits_set(&classes, scope->classes[i]);
	for (uint32_t id = 0; id < h->n_objects && !progress_own_stops(id); id++)
		if (bits_get(&classes, h->class_of[id]))
			bits_set(&p->only, id);
	bits_release(&classes);
	return 0;
}

int histo_by_path(struct session *s, const struct histogram_scope *scope, const char *title, struct result **out,
    struct err *err)
{
	const struct heap *h = session_heap(s);
	struct paths *p = xcalloc(1, sizeof *p);
	size_t n = 0;
	int code = session_find(s, FIND_PATH_KEYS, err);
	p->signatures = opened_path_keys(s->dump);
	if (!code && (scope->objects || scope->classes))
		code = choose(p, h, scope, err);
	if (!code)
		code = session_work(s, sum, p, err);
	if (!code)
		n = list_rows(p, err);
	if (!code && !p->row)
		code = ERR_NOMEM;
	if (code) {
		paths_release(p);
		return code;
	}
	*out = result_new(title, s->dump, &histo_paths_shape, &paths_ops, p, n);
	return 0;
}
