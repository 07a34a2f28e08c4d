/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * root_names.c - roots summed by what holds them: a global variable, a thread, or the kind of root.
 */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "base/amount.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <string.h>

static const struct column names_columns[] = {{.id = COL_NAME}, {.id = COL_KIND}, {.id = COL_ROOTS, .total = true},
    {.id = COL_OBJECTS}, {.id = COL_SHALLOW}, {.id = COL_RETAINED}};
const struct shape root_names_shape = {
    .form = "-by name|variable", SHAPE_COLUMNS(names_columns)};

struct named_root {
	const char *name;
	const struct heap_root *root;
};

static bool is_global(const struct heap_root *root)
{
	return root->kind == ROOT_DATA || root->kind == ROOT_BSS;
}

/* Of "example.org/shop.cache.entries[3]" the variable: "example.org/shop.cache". */
static void cut_to_variable(struct text *name)
{
	char *last = strrchr(name->s, '/'), *at = strchr(last ? last : name->s, '.');
	size_t n = at ? strcspn(at + 1, ".[+") : SIZE_MAX;
	if (at && at[1 + n])
		at[1 + n] = 0;
}

/* The variable, else the thread, else the kind; NULL and *err. */
static const char *name_of_root(const struct heap *h, const struct heap_root *root, struct text *scratch,
    struct arena *names, struct err *err)
{
	text_clear(scratch);
	if (!is_global(root) || !heap_symbol(h, root->slot, scratch))
		return root->thread != HEAP_NONE && h->threads[root->thread].name ?
		    h->threads[root->thread].name : root_kind_name(root->kind);
	cut_to_variable(scratch);
	return arena_try_strndup(names, scratch->s, scratch->len, err);
}

/* Name those of n roots that are asked for; *kept tells how many. */
static int name_roots(const struct heap *h, const size_t *roots, size_t n, bool globals,
    struct named_root *named, size_t *kept, struct arena *names, struct err *err)
{
	struct text scratch = TEXT_INIT;
	int code = 0;
	for (size_t i = 0; !code && i < n; i++) {
		const struct heap_root *root = &h->roots[roots[i]];
		if (globals && !is_global(root))
			continue;
		named[*kept] = (struct named_root){name_of_root(h, root, &scratch, names, err), root};
		code = named[*kept].name ? 0 : ERR_NOMEM;
		*kept += !code;
	}
	text_release(&scratch);
	return code;
}

/* By name, then object. */
static int by_name_of_root(const void *x, const void *y)
{
	const struct named_root *a = x, *b = y;
	int order = strcmp(a->name, b->name);
	if (order)
		return order;
	return (a->root->object > b->root->object) - (a->root->object < b->root->object);
}

static void add_named_roots(struct result *r, const struct named_root *root, size_t n)
{
	struct amount words = heap_counted(r->heap, n), objects = heap_counted(r->heap, 0), shallow = objects;
	bool one_kind = true;
	for (size_t i = 0; i < n; i++) {
		result_add_member(r, r->n_source, root[i].root->object);
		one_kind &= root[i].root->kind == root->root->kind;
		words = amount_weaken(words, root[i].root->certainty, REASON_ROOTS);
		if (i && root[i].root->object == root[i - 1].root->object)
			continue;
		objects.n++;
		shallow = amount_add(shallow, heap_size(r->heap, root[i].root->object));
	}
	struct target one = {.kind = TARGET_OBJECT, .id = root->root->object};
	struct target several = {.kind = TARGET_GROUP};
	result_add_row(r, (struct cell[]){cell_text(root->name),
	    cell_text(one_kind ? root_kind_name(root->root->kind) : "Thread"), cell_count(words),
	    cell_count(amount_as_sure(objects, words)), cell_bytes(amount_as_sure(shallow, words)),
	    cell_blank()}, /* when looked at */
	    objects.n == 1 ? &one : &several);
}

int command_roots_by_name(struct result **out, const struct opened *o, const size_t *roots, size_t n,
    bool globals, struct err *err)
{
	struct named_root *named = big_alloc(n, sizeof *named, err);
	struct arena names = ARENA_INIT;
	size_t kept = 0;
	int code = named ? name_roots(o->heap, roots, n, globals, named, &kept, &names, err) : ERR_NOMEM;
	struct result *r = *out = result_new_rows(globals ? "globals" : "roots by name", o, &root_names_shape);
	sort_array(named, kept, sizeof *named, by_name_of_root);
	for (size_t i = 0, same; i < kept; i += same) {
		for (same = 1; i + same < kept && !strcmp(named[i].name, named[i + same].name); same++)
			;
		add_named_roots(r, named + i, same);
	}
	result_sum_members(r);
	arena_release(&names);
	big_free(named);
	return code;
}
