/* SPDX-License-Identifier: GPL-3.0-or-later */
/* class_tree.c - see class_tree.h.  Superclass chains have no loops: the heap sees to that. */
#include "analysis/class_tree.h"

#include "algorithms/sort.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

struct growing {
	const struct heap *h;
	struct class_tree_row *sums; /* by class */
	uint32_t *by_parent;         /* classes sorted by superclass, then largest first */
	uint32_t *next;              /* by class + 1 (0: no superclass): its next child in by_parent */
};

/* Each chain is walked up to the first class whose depth is known, then down again. */
static void find_depths(struct growing *g)
{
	const struct heap *h = g->h;
	for (uint32_t c = 0; c < h->n_classes; c++)
		g->sums[c].depth = UINT32_MAX;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		uint32_t up = c, steps = 0;
		for (; up != HEAP_NONE && g->sums[up].depth == UINT32_MAX; up = h->classes[up].superclass)
			steps++;
		uint32_t depth = (up == HEAP_NONE ? 0 : g->sums[up].depth + 1) + steps;
		for (uint32_t at = c; at != up; at = h->classes[at].superclass)
			g->sums[at].depth = --depth;
	}
}

static int deepest_first(const void *x, const void *y, void *context)
{
	const struct growing *g = context;
	uint32_t a = g->sums[*(const uint32_t *)x].depth, b = g->sums[*(const uint32_t *)y].depth;
	return (a < b) - (a > b);
}

static void sum_up(struct growing *g)
{
	const struct heap *h = g->h;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		g->by_parent[c] = c;
		g->sums[c].class = c;
		g->sums[c].n_subclasses = heap_counted(h, 0);
		g->sums[c].n_objects = class_objects(h, &h->classes[c]);
		g->sums[c].shallow = class_shallow(h, &h->classes[c]);
	}
	sort_array_with(g->by_parent, h->n_classes, sizeof *g->by_parent, deepest_first, g);
	for (uint32_t i = 0; i < h->n_classes; i++) {
		const struct class_tree_row *row = &g->sums[g->by_parent[i]];
		uint32_t super = h->classes[row->class].superclass;
		if (super == HEAP_NONE)
			continue;
		struct class_tree_row *above = &g->sums[super];
		above->n_subclasses.n += row->n_subclasses.n + 1;
		above->n_objects = amount_add(above->n_objects, row->n_objects);
		above->shallow = amount_add(above->shallow, row->shallow);
	}
}

static uint32_t parent_key(const struct heap *h, uint32_t class)
{
	uint32_t super = h->classes[class].superclass;
	return super == HEAP_NONE ? 0 : super + 1;
}

static int siblings_together(const void *x, const void *y, void *context)
{
	const struct growing *g = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint32_t p = parent_key(g->h, a), q = parent_key(g->h, b);
	if (p != q)
		return p < q ? -1 : 1;
	if (g->sums[a].shallow.n != g->sums[b].shallow.n)
		return g->sums[a].shallow.n > g->sums[b].shallow.n ? -1 : 1;
	return heap_class_order(g->h->classes, a, b);
}

/* Down to the next child, else up: a walk without a stack, as every class knows its superclass. */
static void list_rows(struct growing *g, struct class_tree *out)
{
	const struct heap *h = g->h;
	uint32_t at = HEAP_NONE; /* above all classes without a superclass */
	while (out->n < h->n_classes) {
		uint32_t key = at == HEAP_NONE ? 0 : at + 1;
		uint32_t i = g->next[key];
		if (i < h->n_classes && parent_key(h, g->by_parent[i]) == key) {
			g->next[key]++;
			at = g->by_parent[i];
			out->rows[out->n++] = g->sums[at];
		} else {
			at = h->classes[at].superclass;
		}
	}
}

static void arrange(struct growing *g, struct class_tree *out)
{
	const struct heap *h = g->h;
	find_depths(g);
	sum_up(g);
	sort_array_with(g->by_parent, h->n_classes, sizeof *g->by_parent, siblings_together, g);
	for (size_t key = 0; key <= h->n_classes; key++)
		g->next[key] = h->n_classes;
	for (uint32_t i = h->n_classes; i-- > 0;)
		g->next[parent_key(h, g->by_parent[i])] = i;
	list_rows(g, out);
}

int class_tree_make(struct class_tree *out, const struct heap *h, struct err *err)
{
	uint64_t n = (uint64_t)h->n_classes + 1;
	struct growing g = {
		.h = h,
		.sums = big_alloc(n, sizeof *g.sums, err),
		.by_parent = big_alloc(n, sizeof *g.by_parent, err),
		.next = big_alloc(n, sizeof *g.next, err),
	};
	*out = (struct class_tree){ .rows = big_alloc(n, sizeof *out->rows, err) };
	int code = g.sums && g.by_parent && g.next && out->rows ? 0 : ERR_NOMEM;
	if (!code)
		arrange(&g, out);
	else
		class_tree_release(out);
	big_free(g.sums);
	big_free(g.by_parent);
	big_free(g.next);
	return code;
}

void class_tree_release(struct class_tree *t)
{
	big_free(t->rows);
	*t = (struct class_tree){ .rows = NULL };
}

enum { BELOW_UNKNOWN, BELOW_NO, BELOW_YES };

/* Up to a class of which it is known, or to the top, and down again: each class is asked about once.  Superclasses of
 * a forged dump may go in a circle, which ends where it began: at one that is being asked about. */
static void ask_up(const struct heap *h, unsigned char *below, uint32_t class)
{
	uint32_t up = class;
	while (up != HEAP_NONE && below[up] == BELOW_UNKNOWN) {
		below[up] = BELOW_NO;
		up = h->classes[up].superclass;
	}
	if (up == HEAP_NONE || below[up] != BELOW_YES)
		return;
	for (uint32_t c = class; c != up; c = h->classes[c].superclass)
		below[c] = BELOW_YES;
}

int class_tree_add_below(const struct heap *h, uint32_t **classes, size_t *n, struct err *err)
{
	unsigned char *below = big_alloc(h->n_classes, sizeof *below, err);
	uint32_t *all = below ? big_alloc(h->n_classes, sizeof *all, err) : NULL;
	if (!all) {
		big_free(below);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < *n; i++)
		below[(*classes)[i]] = BELOW_YES;
	*n = 0;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		ask_up(h, below, c);
		if (below[c] == BELOW_YES)
			all[(*n)++] = c;
	}
	big_free(below);
	big_free(*classes);
	*classes = all;
	return 0;
}
