/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * boxes.c - numbers in objects of their own.
 *
 * A primitive takes the place of the reference to its box, so what would be saved is the box, less what a primitive
 * is wider than a reference, at each place that refers to it.
 */
#include "analysis/waste/work.h"

#include "algorithms/bits.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <string.h>

/* Bytes of the primitive in a box: its class has one field. */
static unsigned primitive_of(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = &h->classes[class];
	return c->n_fields == 1 ? values_size_of(h, c->fields[0].type) : 0;
}

/* --- boxes of the library's caches --------------------------------------------------------------- */

enum { CACHE_NAME_MOST = 64 };

/* Boxes that are there anyway. */
struct kept_boxes {
	uint32_t *id; /* ascending, some of them twice; big memory */
	size_t n, cap;
};

/* java.lang.Integer$IntegerCache */
static bool is_cache_class(const struct heap_class *c)
{
	static const char lang[] = "java.lang.", end[] = "Cache";
	size_t n = strnlen(c->name, CACHE_NAME_MOST);
	return n < CACHE_NAME_MOST && n >= sizeof lang + sizeof end - 2 && !strncmp(c->name, lang, sizeof lang - 1) &&
	    !strcmp(c->name + n - sizeof end + 1, end);
}

/* An array that the library's classes keep for the values in common use: of a box's class itself (Android), of its
 * cache, or of the VM's archive, which no class took over yet. */
static bool is_cache(const struct waste_work *w, uint32_t array)
{
	const struct heap *h = w->heap;
	uint64_t at = adjacency_start(&h->in, array), end = at + adjacency_degree(&h->in, array);
	for (; at < end; at++) {
		uint32_t holder = h->in.target[at], class = heap_class_mirrored(h, holder);
		if (class != HEAP_NONE ? w->role[class] == ROLE_BOX || is_cache_class(&h->classes[class]) :
		    waste_role(w, holder) == ROLE_OBJECT_ARRAY && !adjacency_degree(&h->in, holder))
			return true;
	}
	return false;
}

static int keep_held(struct kept_boxes *k, const struct waste_work *w, uint32_t holder, struct err *err)
{
	const struct heap *h = w->heap;
	uint64_t at = adjacency_start(&h->out, holder), end = at + adjacency_degree(&h->out, holder);
	for (; at < end; at++) {
		if (progress_own_stops(at))
			return err_cancelled(err);
		if (waste_role(w, h->out.target[at]) != ROLE_BOX)
			continue;
		if (BIG_ADD(k->id, k->n, k->cap, err, h->out.target[at]))
			return ERR_NOMEM;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Boolean.TRUE and FALSE, and what the caches hold.  A cache is asked what it holds: of a box in common use there are
 * more holders than can be looked at. */
static int find_kept(struct kept_boxes *k, const struct waste_work *w, struct err *err)
{
	const struct heap *h = w->heap;
	struct bits arrays;
	int code = bits_init(&arrays, h->n_classes, err);
	for (uint32_t c = 0; !code && c < h->n_classes; c++) {
		if (progress_own_stops(c))
			code = err_cancelled(err);
		else if (w->role[c] == ROLE_BOX && h->classes[c].object != HEAP_NONE)
			code = keep_held(k, w, h->classes[c].object, err);
		uint32_t component = h->classes[c].component;
		if (!code && component != HEAP_NONE && w->role[component] == ROLE_BOX)
			bits_set(&arrays, c); /* Integer[] */
	}
	for (uint32_t id = 0; !code && id < h->n_objects; id++) {
		if (progress_own_stops(id))
			code = err_cancelled(err);
		else if (bits_get(&arrays, heap_class_index(h, id)) && is_cache(w, id))
			code = keep_held(k, w, id, err);
	}
	bits_release(&arrays);
	return code ? code : sort(k->id, k->n, sizeof *k->id, by_number, err);
}

static bool is_kept(const struct kept_boxes *k, uint32_t id)
{
	return find_sorted(&id, k->id, k->n, sizeof id, by_number) != NULL;
}

/* ------------------------------------------------------------------------------------------------ */

static int look(struct waste_stretch *s, uint32_t id, struct err *err)
{
	const struct waste_work *w = s->work;
	const struct heap *h = w->heap;
	if (is_kept(s->context, id))
		return 0;
	uint64_t n = adjacency_degree(&h->in, id), bytes = heap_shallow(h, id);
	unsigned primitive = primitive_of(h, heap_class_index(h, id)), reference = waste_reference(h);
	uint64_t more = primitive > reference ? (n ? n : 1) * (primitive - reference) : 0;
	uint64_t saved = more < bytes ? bytes - more : 0;
	uint32_t collection = n ? w->owner[h->in.target[adjacency_start(&h->in, id)]] : HEAP_NONE;
	if (collection == HEAP_NONE)
		return waste_add(s, WASTE_BOXES, id, bytes, saved, err);
	return waste_add(s, WASTE_BOXED, collection, bytes, saved, err);
}

static int by_id(const void *x, const void *y)
{
	const struct waste_item *a = x, *b = y;
	return (a->id > b->id) - (a->id < b->id);
}

int waste_of_boxes(struct waste_work *w, struct err *err)
{
	struct kept_boxes kept = {.n = 0};
	int code = find_kept(&kept, w, err);
	if (!code)
		code = waste_look(w, 1U << ROLE_BOX, look, &kept, err);
	big_free(kept.id);
	struct waste_items *boxed = &w->found[WASTE_BOXED];
	size_t n = 0;
	if (!code)
		code = sort(boxed->item, boxed->n, sizeof *boxed->item, by_id, err);
	for (size_t i = 0; !code && i < boxed->n; i++) {
		const struct waste_item one = boxed->item[i];
		if (n && boxed->item[n - 1].id == one.id) {
			boxed->item[n - 1].shallow += one.shallow;
			boxed->item[n - 1].wasted += one.wasted;
		} else {
			boxed->item[n++] = one;
		}
	}
	boxed->n = code ? boxed->n : n;
	return code;
}
