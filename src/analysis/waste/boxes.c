/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * boxes.c - numbers in objects of their own.
 *
 * A primitive takes the place of the reference to its box, so what would be saved is the box, less what a primitive
 * is wider than a reference, at each place that refers to it.
 */
#include "analysis/waste/work.h"

#include "base/sort.h"

#include <string.h>

/* Bytes of the primitive in a box: its class has one field. */
static unsigned primitive_of(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = &h->classes[class];
	return c->n_fields == 1 ? values_size_of(h, c->fields[0].type) : 0;
}

enum { CACHES_MOST = 8, CACHE_NAME_MOST = 64 };

/* Is the array an Integer[], and the box an Integer? */
static bool is_of_boxes(const struct heap *h, uint32_t array, uint32_t box)
{
	const char *name = heap_class_of(h, array)->name, *element = heap_class_of(h, box)->name;
	size_t n = strnlen(element, CACHE_NAME_MOST);
	return !strncmp(name, element, n) && !strcmp(name + n, "[]");
}

/* An array that the library's classes keep for the values in common use (IntegerCache). */
static bool is_cache(const struct waste_work *w, uint32_t array, uint32_t box)
{
	const struct heap *h = w->heap;
	static const char lang[] = "java.lang.", end[] = "Cache";
	uint64_t at = adjacency_start(&h->in, array), n = adjacency_degree(&h->in, array);
	for (uint64_t i = 0; i < n && i < CACHES_MOST; i++) {
		uint32_t holder = h->in.target[at + i], class = heap_class_mirrored(h, holder);
		if (waste_role(w, holder) == ROLE_OBJECT_ARRAY && !adjacency_degree(&h->in, holder) &&
		    is_of_boxes(h, array, box))
			return true; /* of the VM's archive, which no class took over yet */
		const char *name = class == HEAP_NONE ? "" : h->classes[class].name;
		size_t length = strnlen(name, CACHE_NAME_MOST);
		if (length < CACHE_NAME_MOST && !strncmp(name, lang, sizeof lang - 1) && length > sizeof end &&
		    !strcmp(name + length - sizeof end + 1, end))
			return true;
	}
	return false;
}

/* TRUE and FALSE, and what the caches hold, is there anyway. */
static bool is_kept(const struct waste_work *w, uint32_t id)
{
	const struct heap *h = w->heap;
	uint64_t at = adjacency_start(&h->in, id), n = adjacency_degree(&h->in, id);
	for (uint64_t i = 0; i < n && i < CACHES_MOST; i++) {
		uint32_t holder = h->in.target[at + i], class = heap_class_mirrored(h, holder);
		if (class != HEAP_NONE ? w->role[class] == ROLE_BOX : waste_role(w, holder) == ROLE_OBJECT_ARRAY &&
		        is_cache(w, holder, id))
			return true;
	}
	return false;
}

static int look(struct waste_stretch *s, uint32_t id, struct err *err)
{
	const struct waste_work *w = s->work;
	const struct heap *h = w->heap;
	if (is_kept(w, id))
		return 0;
	uint64_t n = adjacency_degree(&h->in, id), bytes = heap_shallow(h, id);
	unsigned primitive = primitive_of(h, h->class_of[id]), reference = waste_reference(h);
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
	int code = waste_look(w, 1U << ROLE_BOX, look, NULL, err);
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
