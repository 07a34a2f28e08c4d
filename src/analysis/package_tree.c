/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package_tree.c - see package_tree.h.
 *
 * Classes sorted by package and name; each one closes the packages that it is not in, opens those
 * that it is in, and adds itself to all of them.  Lengths of names bound everything.
 */
#include "analysis/package_tree.h"

#include "analysis/histogram.h"
#include "base/arena.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct named {
	const char *package;
	size_t n;
	uint32_t class;
	const char *name;
};

/* The dot before all else, so that what is in a package follows it at once. */
static int compare_packages(const struct named *a, const struct named *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		int x = a->package[i] == '.' ? 0 : (unsigned char)a->package[i];
		int y = b->package[i] == '.' ? 0 : (unsigned char)b->package[i];
		if (x != y)
			return x - y;
	}
	return (a->n > b->n) - (a->n < b->n);
}

static int by_package(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int order = compare_packages(a, b);
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : (a->class > b->class) - (a->class < b->class);
}

/* Packages that are open while rows are made. */
struct growing {
	struct package_tree *out;
	size_t cap_rows;
	uint32_t *open; /* rows, the outermost first */
	size_t n_open, cap_open;
};

static uint32_t add_row(struct growing *g, const char *name, size_t label, uint32_t class)
{
	size_t n = g->out->n;
	VEC_PUSH(g->out->rows, n, g->cap_rows) = (struct package_row){.name = name,
	    .label = (uint32_t)label,
	    .depth = (uint32_t)g->n_open,
	    .class = class};
	return g->out->n++;
}

/* Does the open package with this name hold one of that name? */
static bool holds(const char *outer, const char *name, size_t n)
{
	size_t length = strlen(outer);
	return length <= n && !memcmp(outer, name, length) && (length == n || name[length] == '.');
}

static void enter(struct growing *g, const char *package, size_t n)
{
	while (g->n_open && !holds(g->out->rows[g->open[g->n_open - 1]].name, package, n))
		g->n_open--;
	size_t known = g->n_open ? strlen(g->out->rows[g->open[g->n_open - 1]].name) : 0;
	while (known < n) {
		size_t begin = known + (known > 0), end = begin;
		while (end < n && package[end] != '.')
			end++;
		if (end == begin) /* an empty part: it stays with the next one */
			end = n;
		uint32_t row =
		    add_row(g, arena_strndup(&g->out->arena, package, end), begin, HEAP_NONE);
		VEC_PUSH(g->open, g->n_open, g->cap_open) = row;
		known = end;
	}
}

static void add_class(struct growing *g, const struct heap *h, const struct named *c)
{
	const struct heap_class *class = &h->classes[c->class];
	enter(g, c->package, c->n);
	bool prefixed = c->package == c->name;
	uint32_t row = add_row(g, class->name, prefixed ? c->n + 1 : 0, c->class);
	struct amount objects = class_objects_by_name(h, class), shallow = class_shallow_by_name(h, class);
	g->out->rows[row].n_classes = heap_counted(h, 1);
	g->out->rows[row].objects = class_objects(h, class);
	g->out->rows[row].shallow = class_shallow(h, class);
	for (size_t i = 0; i < g->n_open; i++) {
		struct package_row *package = &g->out->rows[g->open[i]];
		package->n_classes = amount_add(package->n_classes, heap_counted(h, 1));
		package->objects = amount_add(package->objects, objects);
		package->shallow = amount_add(package->shallow, shallow);
	}
}

/* Is row i a package whose only content is the package in the row behind it? */
static bool holds_one(const struct package_tree *t, uint32_t i)
{
	return t->rows[i].class == HEAP_NONE && i + 1 < t->n && t->rows[i + 1].class == HEAP_NONE &&
	       t->rows[i + 1].depth == t->rows[i].depth + 1 &&
	       t->rows[i + 1].n_classes.n == t->rows[i].n_classes.n;
}

/* One row for packages of packages of one package. */
static void join_rows(struct package_tree *t)
{
	uint32_t kept = 0, label = 0;
	bool joined = false;
	uint32_t *depth = xcalloc((size_t)t->n + 2, sizeof *depth); /* new ones, by old depth */
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
	free(depth);
}

void package_tree_make(struct package_tree *out, const struct heap *h)
{
	struct named *names = xcalloc((size_t)h->n_classes + 1, sizeof *names);
	struct growing g = {.out = out};
	*out = (struct package_tree){.rows = NULL};
	for (uint32_t c = 0; c < h->n_classes; c++) {
		names[c] = (struct named){.class = c, .name = h->classes[c].name};
		names[c].package = package_of(&h->classes[c], &names[c].n);
	}
	qsort(names, h->n_classes, sizeof *names, by_package);
	for (uint32_t i = 0; i < h->n_classes; i++)
		add_class(&g, h, &names[i]);
	join_rows(out);
	free(g.open);
	free(names);
}

void package_tree_release(struct package_tree *t)
{
	free(t->rows);
	arena_release(&t->arena);
	*t = (struct package_tree){.rows = NULL};
}
