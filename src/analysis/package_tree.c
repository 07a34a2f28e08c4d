/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package_tree.c - see package_tree.h.
 *
 * The classes are sorted by package and name.  Each class closes the packages that it is not in,
 * opens those that it is in, and is added to all of them.  The lengths of names bound time and
 * memory.
 */
#include "analysis/package_tree.h"

#include "algorithms/sort.h"
#include "analysis/packages.h"
#include "base/amount.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

struct placed {
	const struct package *package;
	uint32_t name_rank, class;
};

static int by_package(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;
	if (a->package->rank != b->package->rank)
		return a->package->rank < b->package->rank ? -1 : 1;
	if (a->name_rank != b->name_rank)
		return a->name_rank < b->name_rank ? -1 : 1;
	return (a->class > b->class) - (a->class < b->class);
}

/* Packages that are open while rows are made. */
struct growing {
	struct package_tree *out;
	size_t cap_rows;
	uint32_t *open; /* rows, the outermost first */
	size_t n_open, cap_open;
};

/* The last row then; NULL and ERR_NOMEM. */
static struct package_row *add_row(struct growing *g, const char *name, size_t n, size_t label,
    uint32_t class, struct err *err)
{
	struct package_row *row = BIG_PUSH(g->out->rows, g->out->n, g->cap_rows, err);
	if (row)
		*row = (struct package_row){.name = name,
		    .n = n,
		    .label = (uint32_t)label,
		    .depth = (uint32_t)g->n_open,
		    .class = class};
	return row;
}

static struct package_row *innermost(const struct growing *g)
{
	return g->n_open ? &g->out->rows[g->open[g->n_open - 1]] : NULL;
}

static void add_amounts(struct package_row *to, const struct amount *classes,
    const struct amount *objects, const struct amount *shallow)
{
	to->n_classes = amount_add(to->n_classes, *classes);
	to->objects = amount_add(to->objects, *objects);
	to->shallow = amount_add(to->shallow, *shallow);
}

/* What is in a package is in the one around it. */
static void leave(struct growing *g)
{
	const struct package_row *left = innermost(g);
	g->n_open--;
	struct package_row *outer = innermost(g);
	if (outer)
		add_amounts(outer, &left->n_classes, &left->objects, &left->shallow);
}

/* How many of the open packages, the outermost first, hold one of that name?  All have the beginning of
 * the innermost one's name. */
static size_t holding(const struct growing *g, const struct package *p)
{
	const struct package_row *inner = innermost(g);
	size_t same = 0, n = 0;
	while (inner && same < inner->n && same < p->n && inner->name[same] == p->name[same])
		same++;
	for (; n < g->n_open; n++) {
		size_t length = g->out->rows[g->open[n]].n;
		if (length > same || (length < p->n && p->name[length] != '.'))
			break;
	}
	return n;
}

static int enter(struct growing *g, const struct package *p, struct err *err)
{
	for (size_t n = holding(g, p); g->n_open > n;)
		leave(g);
	size_t known = g->n_open ? innermost(g)->n : 0;
	while (known < p->n) {
		size_t begin = known + (known > 0), end = begin;
		while (end < p->n && p->name[end] != '.')
			end++;
		if (end == begin) /* an empty part: it stays with the next one */
			end = p->n;
		uint32_t *open = NULL;
		if (add_row(g, p->name, end, begin, HEAP_NONE, err))
			open = BIG_PUSH(g->open, g->n_open, g->cap_open, err);
		if (!open)
			return ERR_NOMEM;
		*open = g->out->n - 1;
		known = end;
	}
	return 0;
}

/* A class goes into the innermost open package. */
static int add_class(struct growing *g, const struct heap *h, const struct placed *c, struct err *err)
{
	const struct heap_class *class = &h->classes[c->class];
	bool prefixed = c->package->name == class->name;
	size_t label = prefixed ? c->package->n + 1 : 0;
	struct package_row *row = add_row(g, class->name, 0, label, c->class, err);
	if (!row)
		return ERR_NOMEM;
	struct amount objects = class_objects_by_name(h, class), shallow = class_shallow_by_name(h, class);
	row->n_classes = heap_counted(h, !heap_class_is_filler(class));
	row->objects = class_objects(h, class);
	row->shallow = class_shallow(h, class);
	if (g->n_open)
		add_amounts(innermost(g), &row->n_classes, &objects, &shallow);
	return 0;
}

/* Is row i a package whose only content is the package in the row behind it? */
static bool holds_one(const struct package_tree *t, uint32_t i)
{
	return t->rows[i].class == HEAP_NONE && i + 1 < t->n && t->rows[i + 1].class == HEAP_NONE &&
	       t->rows[i + 1].depth == t->rows[i].depth + 1 &&
	       t->rows[i + 1].n_classes.n == t->rows[i].n_classes.n;
}

/* One row for packages of packages of one package. */
static int join_rows(struct package_tree *t, struct err *err)
{
	uint32_t kept = 0, label = 0;
	bool joined = false;
	uint32_t *depth = big_alloc((uint64_t)t->n + 2, sizeof *depth, err); /* new ones, by old depth */
	if (!depth)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < t->n; i++) {
		struct package_row row = t->rows[i];
		uint32_t old = row.depth;
		row.depth = depth[old];
		if (joined)
			row.label = label;
		joined = holds_one(t, i);
		label = row.label;
		depth[old + 1] = row.depth + !joined;
		if (!joined)
			t->rows[kept++] = row;
	}
	t->n = kept;
	big_free(depth);
	return 0;
}

int package_tree_make(struct package_tree *out, const struct heap *h, struct err *err)
{
	struct packages packages = {.n = 0};
	struct placed *placed = big_alloc((uint64_t)h->n_classes + 1, sizeof *placed, err);
	struct growing g = {.out = out};
	*out = (struct package_tree){.rows = NULL};
	int code = placed ? packages_make(&packages, h, err) : ERR_NOMEM;
	for (uint32_t c = 0; !code && c < h->n_classes; c++)
		placed[c] = (struct placed){packages_of(&packages, c), h->classes[c].name_rank, c};
	if (!code)
		sort_array(placed, h->n_classes, sizeof *placed, by_package);
	for (uint32_t i = 0; !code && i < h->n_classes; i++) {
		if (!i || placed[i].package->rank != placed[i - 1].package->rank)
			code = enter(&g, placed[i].package, err);
		if (!code)
			code = add_class(&g, h, &placed[i], err);
	}
	while (!code && g.n_open)
		leave(&g);
	if (!code)
		code = join_rows(out, err);
	big_free(g.open);
	big_free(placed);
	packages_release(&packages);
	if (code)
		package_tree_release(out);
	return code;
}

void package_tree_release(struct package_tree *t)
{
	big_free(t->rows);
	*t = (struct package_tree){.rows = NULL};
}
