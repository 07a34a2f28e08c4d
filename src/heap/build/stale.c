/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stale.c - objects that are garbage for certain, in dumps that record no GC roots.
 *
 * A VM that does not compact before it dumps writes dead objects too.  The collector may have reused what such
 * an object refers to, so its reference leads into the middle of a newer object.  A live object has no such
 * reference.  So an object that has one is garbage, and so is every object from which references lead to it.
 *
 * The fill notes the first kind (one bit per object, any thread); stale_spread adds the second.
 */
#include "heap/build/build.h"

#include "algorithms/bisect.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"

int stale_prepare(struct build *b, struct err *err)
{
	if (b->heap->facts.roots_recorded)
		return 0;
	b->stale = big_alloc(((uint64_t)b->heap->n_objects + 63) / 64, sizeof *b->stale, err);
	return b->stale ? 0 : ERR_NOMEM;
}

void stale_note(struct build *b, uint64_t place, uint64_t target)
{
	const struct heap *h = b->heap;
	uint64_t start;
	if (heap_covering(h, target, &start) == HEAP_NONE)
		return;
	uint32_t id;
	BISECT(id, h->n_objects, adjacency_start(&h->out, id + 1) <= place);
	if (heap_class_mirrored(h, id) == HEAP_NONE)
		__atomic_fetch_or(&b->stale[id >> 6], UINT64_C(1) << (id & 63), __ATOMIC_RELAXED);
}

static bool any_bit(const uint64_t *bits, uint32_t n)
{
	for (uint64_t i = 0; i < ((uint64_t)n + 63) / 64; i++)
		if (bits[i])
			return true;
	return false;
}

/* Mark what leads to a marked object; stack has room for all objects. */
static void spread_back(struct build *b, uint32_t *stack)
{
	const struct heap *h = b->heap;
	size_t n = 0;
	for (uint32_t id = 0; id < h->n_objects && !build_stops(b, id); id++)
		if (stale_is(b, id))
			stack[n++] = id;
	while (n && !build_stops(b, n)) {
		uint32_t id = stack[--n];
		uint64_t end = adjacency_start(&h->in, id + 1);
		for (uint64_t k = adjacency_start(&h->in, id); k < end; k++) {
			uint32_t from = h->in.target[k];
			if (stale_is(b, from))
				continue;
			b->stale[from >> 6] |= UINT64_C(1) << (from & 63);
			stack[n++] = from;
		}
	}
}

static void drop(struct build *b)
{
	big_free(b->stale);
	b->stale = NULL;
}

int stale_spread(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	if (!b->stale || h->damaged || !any_bit(b->stale, h->n_objects)) { /* damage makes such references, too */
		drop(b);
		return 0;
	}
	uint32_t *stack = big_alloc(h->n_objects, sizeof *stack, err);
	if (!stack)
		return ERR_NOMEM;
	spread_back(b, stack);
	big_free(stack);
	for (size_t i = 0; b->stale && i < h->n_roots; i++)
		if (stale_is(b, h->roots[i].object)) /* alive: so such references prove nothing in this dump */
			drop(b);
	return 0;
}
