/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * references.c - see references.h.
 *
 * A walk over everything that an object leads to: objects to visit wait on a stack.  An object taken from it passes
 * through a short queue before it is visited; meanwhile the processor fetches the memory that the visit needs.
 * Without that the walk would spend most of its time waiting for memory.
 */
#include "heap/references.h"

#include "algorithms/bits.h"
#include "base/assert.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "heap/weak.h"

bool model_is_default(const struct model *m)
{
	return m->left_out == (m->heap->asked.mat_sizes ? NULL : m->heap->weak);
}

_Static_assert(HEAP_IMPLIED == 3 + HEAP_ARRAYS_KEPT, "its class, or superclass, loader and arrays");

unsigned heap_implied(const struct heap *h, uint32_t id, struct implied_reference out[HEAP_IMPLIED])
{
	unsigned n = 0;
	const struct heap_class *c = heap_class_of(h, id);
	if (c->object != HEAP_NONE)
		out[n++] = (struct implied_reference){ c->object, "<class>" };
	uint32_t mirrored = heap_class_index(h, id) == h->java_lang_class ? heap_class_mirrored(h, id) : HEAP_NONE;
	if (mirrored == HEAP_NONE)
		return n;
	const struct heap_class *m = &h->classes[mirrored];
	if (m->superclass != HEAP_NONE && h->classes[m->superclass].object != HEAP_NONE)
		out[n++] = (struct implied_reference){ h->classes[m->superclass].object, "<super>" };
	if (m->loader != HEAP_NONE)
		out[n++] = (struct implied_reference){ m->loader, "<loader>" };
	for (uint32_t k = m->keeps; k && n < HEAP_IMPLIED; k = h->classes[k - 1].next_kept)
		out[n++] = (struct implied_reference){ h->classes[k - 1].object, "<array>" };
	return n;
}

/* --- walks ------------------------------------------------------------------------------------- */

enum { AHEAD = 16, REPORT_EVERY = 1 << 14 }; /* AHEAD objects on their way into the cache */

struct asking {
	uint64_t n;    /* how often the filter was asked */
	bool over;     /* stopped: nothing passes any more */
};

struct reach {
	const struct heap *heap;
	uint64_t *seen;
	uint32_t *stack;
	uint32_t n; /* on the stack */
	const struct reach_filter *filter; /* NULL: everything is followed */
	struct asking *asking; /* apart: the walk keeps the rest in registers */
	uint32_t from; /* the object whose references are visited, if the filter asks about them */
};

/* Does the filter let the walk on to this one? */
static bool passes(const struct reach *r, uint32_t id)
{
	const struct reach_filter *f = r->filter;
	/* some ask much about each reference, and an object may have all of them */
	if (r->asking->over || (r->asking->over = progress_stops(f->progress, 16 * r->asking->n++)))
		return false;
	if (!bits_get(f->barred, id) &&
	    (r->from == HEAP_NONE || f->follows(f->context, r->from, id)))
		return true;
	bits_set(f->met, id);
	return false;
}

/* Mark a target and put it aside unless it was seen. */
static inline void visit(struct reach *r, uint32_t id)
{
	uint64_t bit = UINT64_C(1) << (id & 63);
	cairn_assert(id < r->heap->n_objects);
	if (r->seen[id >> 6] & bit)
		return;
	if (r->filter && !passes(r, id))
		return;
	r->seen[id >> 6] |= bit;
	cairn_assert(r->n < r->heap->n_objects);
	r->stack[r->n++] = id;
}

static void visit_implied(struct reach *r, uint32_t id)
{
	const struct heap *h = r->heap;
	const struct heap_class *c = heap_class_of(h, id);
	if (c->object != HEAP_NONE)
		visit(r, c->object);
	if (heap_class_index(h, id) == h->java_lang_class) {
		struct implied_reference implied[HEAP_IMPLIED];
		for (unsigned k = heap_implied(h, id, implied); k-- > 0;)
			visit(r, implied[k].target);
	}
	if (c->makes_loaders || id == h->boot_loader) { /* a cheap look before the real one */
		const uint32_t *loaded;
		for (uint32_t k = heap_loaded_classes(h, id, &loaded); k-- > 0;)
			if (h->classes[loaded[k]].object != HEAP_NONE)
				visit(r, h->classes[loaded[k]].object);
	}
}

uint32_t heap_reach(const struct model *m, uint32_t start, uint64_t *seen, uint32_t *stack)
{
	return heap_reach_without(m, start, seen, stack, NULL);
}

uint32_t heap_reach_without(const struct model *m, uint32_t start, uint64_t *seen, uint32_t *stack,
    const struct reach_filter *filter)
{
	const struct heap *h = m->heap;
	const struct weak_references *left_out = m->left_out;
	struct asking asking = { .n = 0 };
	struct reach r = {
		.heap = h, .seen = seen, .stack = stack, .filter = filter, .asking = &asking, .from = HEAP_NONE };
	uint32_t queue[AHEAD], head = 0, waiting = 0, n_seen = 0;
	struct progress *work = filter ? filter->progress : progress_own();
	visit(&r, start);
	while (r.n || waiting) {
		while (r.n && waiting < AHEAD) {
			uint32_t id = stack[--r.n];
			__builtin_prefetch(&h->out.offset[id]);
			heap_prefetch_class_index(h, id);
			queue[(head + waiting++) % AHEAD] = id;
			/* Half way through the queue the offsets have arrived: ask for the targets. */
			if (waiting > AHEAD / 2)
				__builtin_prefetch(&h->out.target[adjacency_start(&h->out,
				    queue[(head + waiting - AHEAD / 2) % AHEAD])]);
		}
		uint32_t id = queue[head];
		head = (head + 1) % AHEAD;
		waiting--;
		if (++n_seen % REPORT_EVERY == 0 && !progress_add(work, REPORT_EVERY))
			break;
		r.from = filter && bits_get(filter->asked, id) ? id : HEAP_NONE;
		uint64_t end = adjacency_start(&h->out, id + 1);
		uint32_t weak = left_out && bits_get(&left_out->holders, id) ? weak_referent(left_out, id)
		                                                             : HEAP_NONE;
		for (uint64_t k = adjacency_start(&h->out, id); k < end; k++)
			if (h->out.target[k] != weak)
				visit(&r, h->out.target[k]);
		visit_implied(&r, id);
	}
	return n_seen;
}
