/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fillers.c - what the collector puts into the gaps of HotSpot's heap.
 *
 * From JDK 19 on the gaps that a collection leaves hold arrays of jdk.internal.vm.FillerElement, as the VM's
 * own histogram calls them (collectedHeap.cpp, fill_with_array); its dumper writes them as int[].  Nothing
 * references them, so here they become objects of a class "<filler>".  An int[] that nothing references may
 * also be
 * - the lock of a class that is not initialised, an int[0].  Where the dump leaves class objects out (those
 *   of archived classes: references to them dangle), their locks are there.  Most archives have a class
 *   object in front of its lock, so that there is room for one; where they have not, an int[0] stays what
 *   it is.
 * - garbage of the program, where the dump holds any.  Arrays of other numbers that nothing references show that:
 *   nothing but the program makes them.  Then an int[] and a filler look the same: both hold zeros and lie anywhere.
 * So where some of these stay int[], numbers of int[] are marked: the VM may count fewer.
 */
#include "heap/build/build.h"

#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/value.h"
#include "memory/big.h"

enum { LEAST_CLASS_OBJECT = 64 }; /* bytes; they take 96 at least */

static bool is_unreferenced(const struct heap *h, uint32_t id)
{
	return adjacency_start(&h->in, id) == adjacency_start(&h->in, id + 1) && !heap_is_root(h, id);
}

static bool has_garbage(struct build *b)
{
	const struct heap *h = b->heap;
	uint32_t ints = values_class_named(h, "int[]");
	for (uint32_t id = 0; id < h->n_objects && !build_stops(b, id); id++)
		if (heap_class_of(h, id)->kind == CLASS_PRIMITIVE_ARRAY && heap_class_index(h, id) != ints &&
		    is_unreferenced(h, id))
			return true;
	return false;
}

/* What the arrays that nothing references can be taken for. */
struct telling {
	uint32_t ints;  /* the class int[] */
	uint32_t first; /* that is a filler; n_objects: there are none */
	bool mixed;     /* some that stay int[] may be fillers, too */
	bool garbage;   /* any may be the program's */
	bool locks;     /* those of length 0 may be locks, wherever they lie */
};

static bool has_room_before(const struct heap *h, uint32_t id)
{
	return id == 0 ||
	    heap_address(h, id) - heap_address(h, id - 1) - heap_shallow(h, id - 1) >= LEAST_CLASS_OBJECT;
}

static bool is_filler(const struct heap *h, const struct telling *t, uint32_t id)
{
	if (t->garbage || heap_class_index(h, id) != t->ints || !is_unreferenced(h, id))
		return false;
	return heap_length(h, id) || (!t->locks && !has_room_before(h, id));
}

static void look(struct build *b, struct telling *t)
{
	const struct heap *h = b->heap;
	uint64_t n_behind_room = 0;
	uint32_t first = h->n_objects;
	for (uint32_t id = 0; id < h->n_objects && !build_stops(b, id); id++) {
		if (heap_class_index(h, id) != t->ints || !is_unreferenced(h, id))
			continue;
		if (first == h->n_objects)
			first = id;
		n_behind_room += heap_length(h, id) == 0 && has_room_before(h, id);
	}
	t->locks = n_behind_room < h->n_dangling - h->n_dangling / 4;
	t->garbage = first < h->n_objects && has_garbage(b);
	t->first = h->n_objects;
	for (uint32_t id = first; id < h->n_objects && !build_stops(b, id); id++) {
		if (heap_class_index(h, id) != t->ints || !is_unreferenced(h, id))
			continue;
		if (!is_filler(h, t, id))
			t->mixed = true;
		else if (t->first == h->n_objects)
			t->first = id;
	}
}

static uint32_t add_class(struct build *b, uint32_t ints)
{
	struct heap *h = b->heap;
	if (build_class_room(h, (uint64_t)h->n_classes + 1, &b->lost) < 0)
		return HEAP_NONE;
	struct heap_class *c = BIG_PUSH(h->classes, h->n_classes, b->cap_classes, &b->lost);
	if (!c)
		return HEAP_NONE;
	*c = h->classes[ints];
	c->name = "<filler>";
	c->address = 0;
	c->object = HEAP_NONE;
	c->defined = false;
	c->n_objects = c->n_unknown = 0;
	c->shallow = 0;
	return h->n_classes - 1;
}

static void move(struct heap *h, uint32_t id, uint32_t to)
{
	struct heap_class *old = &h->classes[heap_class_index(h, id)], *new = &h->classes[to];
	uint64_t size = heap_shallow(h, id);
	old->objects_inferred = new->objects_inferred = h->fillers_told = true;
	old->n_objects--;
	old->shallow -= size;
	new->n_objects++;
	new->shallow += size;
	heap_set_class_index(h, id, to);
}

static int move_all(struct build *b, const struct telling *t, struct err *err)
{
	struct heap *h = b->heap;
	if (t->mixed)
		h->classes[t->ints].objects_inferred = h->fillers_told = h->fillers_mixed = true;
	if (t->first == h->n_objects)
		return 0;
	uint32_t filler = add_class(b, t->ints);
	for (uint32_t id = t->first; filler != HEAP_NONE && id < h->n_objects && !build_stops(b, id); id++)
		if (is_filler(h, t, id))
			move(h, id, filler);
	int code = build_check(b, err);
	return code ? code : heap_order_names(h, err);
}

bool fillers_wanted(const struct heap *h)
{
	return values_class_named(h, "int[]") != HEAP_NONE && h->facts.size_rule == SIZES_FROM_FIELDS && !h->incomplete &&
	    (values_class_named(h, "jdk.internal.vm.FillerElement[]") != HEAP_NONE ||
	    values_class_named(h, "jdk.internal.vm.FillerObject") != HEAP_NONE);
}

int fillers_find(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	struct telling t = { .ints = values_class_named(h, "int[]") };
	if (!fillers_wanted(h))
		return 0;
	look(b, &t);
	int code = build_check(b, err);
	if (code || (t.first == h->n_objects && !t.mixed))
		return code;
	bool shown = build_hide(b);
	code = move_all(b, &t, err);
	if (code == 0 && shown)
		build_show(b);
	return code;
}
