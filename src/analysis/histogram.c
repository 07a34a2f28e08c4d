/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * histogram.c - objects and bytes per class, and the same summed by what classes have in common.
 *
 * The heap has counted its classes already; only a histogram of chosen objects walks objects.
 * Any thread.
 */
#include "analysis/histogram.h"

#include "algorithms/bits.h"
#include "algorithms/sort.h"
#include "analysis/packages.h"
#include "analysis/search.h"
#include "base/progress.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* Objects and bytes of every class within the scope. */
struct tally {
	uint64_t objects, shallow, unknown;
	bool in_scope;
};

static int tally_classes(struct tally **out, const struct heap *h,
    const struct histogram_scope *scope, struct err *err)
{
	struct tally *t = big_alloc(h->n_classes, sizeof *t, err);
	if (!t)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes; c++)
		t[c].in_scope = !scope->classes;
	for (size_t i = 0; i < scope->n_classes; i++)
		t[scope->classes[i]].in_scope = true;
	if (scope->objects) {
		for (size_t i = 0; i < scope->n_objects; i++) {
			if (progress_own_stops(i)) {
				big_free(t);
				return err_cancelled(err);
			}
			uint32_t c = heap_class_index(h, scope->objects[i]);
			t[c].objects++;
			t[c].shallow += heap_shallow(h, scope->objects[i]);
			t[c].unknown += h->n_unknown_size && !heap_size_known(h, scope->objects[i]);
		}
	} else {
		for (uint32_t c = 0; c < h->n_classes; c++) {
			t[c].objects = h->classes[c].n_objects;
			t[c].shallow = h->classes[c].shallow;
			t[c].unknown = h->classes[c].n_unknown;
		}
	}
	*out = t;
	return 0;
}

/* by_name: the row that it becomes a part of has all classes of its name. */
static struct histogram_row row_of_class(const struct heap *h, uint32_t c, const struct tally *t,
    const struct histogram_scope *scope, bool by_name)
{
	struct amount objects = scope->chosen ? scope->chosen(h, t->objects) : heap_counted(h, t->objects);
	if (!scope->reached || t->objects < h->classes[c].n_objects)
		objects = amount_as_sure(objects, scope->unreachable);
	struct amount shallow = objects;
	shallow.n = t->shallow;
	shallow = class_sized(h, &h->classes[c], shallow, t->unknown);
	if (h->classes[c].name_shared && !by_name) {
		objects = amount_weaken(objects, INFERRED, REASON_NAMES_SHARED);
		shallow = amount_weaken(shallow, INFERRED, REASON_NAMES_SHARED);
	}
	if (h->classes[c].objects_inferred) {
		objects = amount_weaken(objects, INFERRED, REASON_FILLERS);
		shallow = amount_weaken(shallow, INFERRED, REASON_FILLERS);
	}
	if (t->unknown && t->unknown == t->objects)
		shallow = amount_unknown(REASON_SIZES_UNKNOWN);
	return (struct histogram_row){
	    .name = h->classes[c].name,
	    .class = c,
	    .loader = h->classes[c].loader,
	    .loader_lost = h->classes[c].loader_lost,
	    .n_classes = !heap_class_is_filler(&h->classes[c]),
	    .objects = objects,
	    .shallow = shallow,
	};
}

/* What the row is summed under: fields that do not belong to the group are emptied. */
static void generalise(const struct heap *h, enum histogram_by by, const struct packages *packages,
    struct histogram_row *row)
{
	const struct heap_class *c = &h->classes[row->class], *named = NULL;
	switch (by) {
	case BY_CLASS:
		return;
	case BY_PACKAGE:
		row->order = packages_of(packages, row->class)->rank;
		row->class = row->loader = HEAP_NONE;
		row->loader_lost = false;
		return;
	case BY_LOADER:
		named = c->loader == HEAP_NONE ? NULL : heap_class_of(h, c->loader);
		row->class = HEAP_NONE;
		break;
	case BY_SUPERCLASS:
		row->class = c->superclass;
		named = c->superclass == HEAP_NONE ? NULL : &h->classes[c->superclass];
		row->loader = HEAP_NONE;
		row->loader_lost = false;
		break;
	}
	row->name = by == BY_LOADER ? heap_loader_class_name(h, c->loader, c->loader_lost) : named ? named->name : NULL;
	row->order = named ? named->name_rank + 1 : 0;
}

static int by_group(const void *a, const void *b)
{
	const struct histogram_row *x = a, *y = b;
	int order = (x->order > y->order) - (x->order < y->order);
	if (!order)
		order = (x->loader > y->loader) - (x->loader < y->loader);
	if (!order)
		order = x->loader_lost - y->loader_lost;
	return order ? order : (x->class > y->class) - (x->class < y->class);
}

static int merge_groups(struct histogram *out, struct err *err)
{
	size_t n = 0;
	int code = sort(out->rows, out->n, sizeof *out->rows, by_group, err);
	for (size_t i = 0; i < out->n && !progress_own_stops(i); i++) {
		struct histogram_row *row = &out->rows[i];
		if (n && !by_group(&out->rows[n - 1], row)) {
			out->rows[n - 1].n_classes += row->n_classes;
			out->rows[n - 1].objects = amount_add(out->rows[n - 1].objects, row->objects);
			out->rows[n - 1].shallow = amount_add(out->rows[n - 1].shallow, row->shallow);
		} else {
			out->rows[n++] = *row;
		}
	}
	out->n = n;
	return code;
}

/* Rows by package get their names when they are few: one for each. */
static int name_packages(struct histogram *out, const struct packages *p, struct err *err)
{
	uint32_t *with = big_alloc(p->n, sizeof *with, err); /* by rank: 1 + a package that has it */
	if (!with)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < p->n; i++)
		with[p->list[i].rank] = i + 1;
	for (size_t i = 0; i < out->n && !progress_own_stops(4 * i); i++) {
		const struct package *package = &p->list[with[out->rows[i].order] - 1];
		out->rows[i].name = arena_try_strndup(&out->arena, package->name, package->n, err);
		if (!out->rows[i].name)
			break;
	}
	big_free(with);
	if (progress_cancelled(progress_own()))
		return err_cancelled(err);
	return out->n && !out->rows[out->n - 1].name ? ERR_NOMEM : 0;
}

int histogram_make(struct histogram *out, const struct heap *heap, enum histogram_by by,
    const struct histogram_scope *scope, struct err *err)
{
	struct tally *t = NULL;
	size_t cap = 0;
	*out = (struct histogram){.arena = ARENA_INIT};
	struct packages packages = {.n = 0};
	int code = tally_classes(&t, heap, scope, err);
	if (!code && by == BY_PACKAGE)
		code = packages_make(&packages, heap, err);
	for (uint32_t c = 0; !code && c < heap->n_classes && !progress_own_stops(4 * c); c++) {
		if (!t[c].in_scope || (!t[c].objects && !scope->empty))
			continue;
		struct histogram_row row = row_of_class(heap, c, &t[c], scope, by == BY_PACKAGE);
		generalise(heap, by, &packages, &row);
		struct histogram_row *to = BIG_PUSH(out->rows, out->n, cap, err);
		if (to)
			*to = row;
		else
			code = ERR_NOMEM;
	}
	big_free(t);
	if (!code && by != BY_CLASS && out->n)
		code = merge_groups(out, err);
	if (!code && by == BY_PACKAGE)
		code = name_packages(out, &packages, err);
	packages_release(&packages);
	if (code)
		histogram_release(out);
	return code;
}

static int group_classes(struct histogram *h, const struct heap *heap, enum histogram_by by,
    const struct histogram_scope *scope, const struct bits *chosen, uint32_t *group,
    struct err *err)
{
	uint32_t next = 0;
	struct packages packages = {.n = 0};
	if (by == BY_PACKAGE && packages_make(&packages, heap, err))
		return ERR_NOMEM;
	for (uint32_t c = 0; c < heap->n_classes && !progress_own_stops(8 * c); c++) {
		group[c] = HEAP_NONE;
		if (scope->classes && !bits_get(chosen, c))
			continue;
		if (by == BY_CLASS) { /* rows in class order, some left out */
			if (next < h->n && h->rows[next].class == c)
				group[c] = next++;
			continue;
		}
		struct histogram_row key = {.class = c, .loader = heap->classes[c].loader,
		    .loader_lost = heap->classes[c].loader_lost};
		generalise(heap, by, &packages, &key);
		const struct histogram_row *row =
		    find_sorted(&key, h->rows, h->n, sizeof *h->rows, by_group);
		if (row)
			group[c] = (uint32_t)(row - h->rows);
	}
	packages_release(&packages);
	return 0;
}

uint32_t *histogram_groups(struct histogram *h, const struct heap *heap, enum histogram_by by,
    const struct histogram_scope *scope, struct err *err)
{
	struct bits chosen;
	if (bits_init(&chosen, heap->n_classes, err))
		return NULL;
	for (size_t i = 0; i < scope->n_classes; i++)
		bits_set(&chosen, scope->classes[i]);
	uint32_t *group = big_alloc((uint64_t)heap->n_classes + 1, sizeof *group, err);
	if (group && group_classes(h, heap, by, scope, &chosen, group, err)) {
		big_free(group);
		group = NULL;
	}
	bits_release(&chosen);
	return group;
}

int histogram_members(const struct heap *heap, const uint32_t *group, const struct bits *rows,
    const struct bits *only, struct bits *to, struct err *err)
{
	struct bits classes;
	int code = bits_init(&classes, heap->n_classes, err);
	for (uint32_t c = 0; !code && c < heap->n_classes; c++) {
		if (group[c] != HEAP_NONE && bits_get(rows, group[c]))
			bits_set(&classes, c);
	}
	if (!code)
		objects_mark(heap, &classes, only, to);
	bits_release(&classes);
	return code;
}

void histogram_release(struct histogram *h)
{
	big_free(h->rows);
	arena_release(&h->arena);
	*h = (struct histogram){.arena = ARENA_INIT};
}
