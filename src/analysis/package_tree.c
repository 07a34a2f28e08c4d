/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package_tree.c - see package_tree.h.
 *
 * The classes are sorted by package and name.  Each class closes the packages that it is not in,
 * opens those that it is in, and is added to all of them.  The lengths of names bound time and
 * memory.
 */
#include "analysis/package_tree.h"

#include "analysis/histogram.h"
#include "base/arena.h"
#include "base/big.h"

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

/* The last row then; NULL and ERR_NOMEM. */
static struct package_row *add_row(
    struct growing *g, const char *name, size_t label, uint32_t class, struct err *err)
{
	struct package_row *row =
	    name ? BIG_PUSH(g->out->rows, g->out->n, g->cap_rows, err) : NULL;
	if (row)
		*row = (struct package_row){.name = name,
		    .label = (uint32_t)label,
		    .depth = (uint32_t)g->n_open,
		    .class = class};
	return row;
}

/* Does the open package with this name hold one of that name? */
static bool holds(const char *outer, const char *name, size_t n)
{
	size_t length = strlen(outer);
	return length <= n && !memcmp(outer, name, length) && (length == n || name[length] == '.');
}

static int enter(struct growing *g, const char *package, size_t n, struct err *err)
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
		const char *name = arena_try_strndup(&g->out->arena, package, end, err);
		uint32_t *open = NULL;
		if (add_row(g, name, begin, HEAP_NONE, err))
			open = BIG_PUSH(g->open, g->n_open, g->cap_open, err);
		if (!open)
			return ERR_NOMEM;
		*open = g->out->n - 1;
		known = end;
	}
	return 0;
}

static int add_class(
    struct growing *g, const struct heap *h, const struct named *c, struct err *err)
{
	const struct heap_class *class = &h->classes[c->class];
	int code = enter(g, c->package, c->n, err);
	if (code)
		return code;
	bool prefixed = c->package == c->name;
	struct package_row *row = add_row(g, class->name, prefixed ? c->n + 1 : 0, c->class, err);
	if (!row)
		return ERR_NOMEM;
	struct amount objects = class_objects_by_name(h, class), shallow = class_shallow_by_name(h, class);
	row->n_classes = heap_counted(h, 1);
	row->objects = class_objects(h, class);
	row->shallow = class_shallow(h, class);
	for (size_t i = 0; i < g->n_open; i++) {
		struct package_row *package = &g->out->rows[g->open[i]];
		package->n_classes = amount_add(package->n_classes, heap_counted(h, 1));
		package->objects = amount_add(package->objects, objects);
		package->shallow = amount_add(package->shallow, shallow);
	}
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
	struct named *names = big_alloc((uint64_t)h->n_classes + 1, sizeof *names, err);
	struct growing g = {.out = out};
	int code = 0;
	*out = (struct package_tree){.rows = NULL};
	if (!names)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		names[c] = (struct named){.class = c, .name = h->classes[c].name};
		names[c].package = package_of(&h->classes[c], &names[c].n);
	}
	qsort(names, h->n_classes, sizeof *names, by_package);
	for (uint32_t i = 0; !code && i < h->n_classes; i++)
		code = add_class(&g, h, &names[i], err);
	if (!code)
		code = join_rows(out, err);
	big_free(g.open);
	big_free(names);
	if (code)
		package_tree_release(out);
	return code;
}

void package_tree_release(struct package_tree *t)
{
	big_free(t->rows);
	arena_release(&t->arena);
	*t = (struct package_tree){.rows = NULL};
}
