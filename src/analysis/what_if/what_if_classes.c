/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_classes.c - what is freed with all instances of a class, for many classes in one walk.
 *
 * Each class asked about has a bit.  An object has the bits of those classes without whose instances the roots still
 * reach it: what is handed to it, but for the bit of its own class.  The walk hands the roots all bits, and what an
 * object has on to all that it references; an object that gets bits that it did not have waits to hand them on.
 *
 * Where few instances count, most objects have all bits.  So what dies with all of them together is found first, and
 * bits are handed on only in there, from those instances that something else holds.
 */
#include "analysis/what_if/what_if.h"

#include "base/assert.h"
#include "base/progress.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <string.h>

enum { REPORT_EVERY = 1 << 13 };

struct classes_walk {
	const struct model *model;
	const struct heap *heap; /* the model's */
	uint64_t *own;           /* by class: its bit; 0: nobody asks about it */
	const struct bits *only; /* by object: the instances that count; NULL: all */
	const struct what_if_loss *loss; /* what dies with all of them: others have all bits; NULL: it is not known */
	const struct bits *held; /* by object: which of those that count something else holds; with loss */
	uint64_t *has;           /* by object */
	struct bits waits;       /* by object: it is in the queue */
	uint32_t *queue;         /* a ring of ids: room for all that may get bits */
	uint32_t room, head, waiting;
	uint64_t effort;         /* steps left */
};

static inline void hand(struct classes_walk *w, uint32_t id, uint64_t bits)
{
	if (w->loss && !bits_get(&w->loss->dead, id))
		return;
	uint64_t own = w->own[heap_class_index(w->heap, id)];
	if (own && w->only && !bits_get(w->only, id))
		own = 0;
	bits &= ~own & ~w->has[id];
	if (!bits)
		return;
	w->has[id] |= bits;
	if (bits_get(&w->waits, id))
		return;
	uint32_t n = w->room, at = n - w->head > w->waiting ? w->head + w->waiting : w->waiting - (n - w->head);
	bits_set(&w->waits, id);
	w->queue[at] = id;
	w->waiting++;
}

static void hand_implied(struct classes_walk *w, uint32_t id)
{
	const struct heap *h = w->heap;
	const struct heap_class *c = heap_class_of(h, id);
	uint64_t bits = w->has[id];
	if (c->object != HEAP_NONE)
		hand(w, c->object, bits);
	if (heap_class_index(h, id) == h->java_lang_class) {
		struct implied_reference implied[HEAP_IMPLIED];
		for (unsigned k = heap_implied(h, id, implied); k-- > 0;)
			hand(w, implied[k].target, bits);
	}
	if (c->makes_loaders || id == h->boot_loader) {
		const uint32_t *loaded;
		for (uint32_t k = heap_loaded_classes(h, id, &loaded); k-- > 0;)
			if (h->classes[loaded[k]].object != HEAP_NONE)
				hand(w, h->classes[loaded[k]].object, bits);
	}
}

static int hand_on(struct classes_walk *w, struct progress *progress, struct err *err)
{
	const struct heap *h = w->heap;
	const struct weak_references *left_out = w->model->left_out;
	while (w->waiting) {
		uint32_t id = w->queue[w->head];
		w->head = w->head + 1 == w->room ? 0 : w->head + 1;
		w->waiting--;
		bits_unset(&w->waits, id);
		uint64_t end = adjacency_start(&h->out, id + 1);
		uint32_t weak = left_out && bits_get(&left_out->holders, id) ? weak_referent(left_out, id) : HEAP_NONE;
		for (uint64_t k = adjacency_start(&h->out, id); k < end; k++)
			if (h->out.target[k] != weak)
				hand(w, h->out.target[k], w->has[id]);
		hand_implied(w, id);
		if (--w->effort % REPORT_EVERY == 0 && (!w->effort || !progress_add(progress, REPORT_EVERY)))
			return err_cancelled(err);
	}
	return 0;
}

/* What a thread's stack holds has what the thread has, which may get more while that is handed on. */
static int walk(struct classes_walk *w, struct progress *progress, struct err *err)
{
	const struct heap *h = w->heap;
	struct bits_walk held = {.b = NULL};
	uint64_t id;
	if (w->loss)
		held = bits_walk(w->held);
	while (w->loss && bits_next(&held, &id))
		hand(w, (uint32_t)id, UINT64_MAX);
	for (size_t i = 0; !w->loss && i < h->n_roots; i++)
		if (dominators_stack_owner(h, &h->roots[i]) == HEAP_NONE)
			hand(w, h->roots[i].object, UINT64_MAX);
	int code = hand_on(w, progress, err);
	for (bool again = true; again && !code;) {
		for (size_t i = 0; i < h->n_roots; i++) {
			if (progress_stops(progress, i))
				return err_cancelled(err);
			uint32_t owner = dominators_stack_owner(h, &h->roots[i]);
			if (owner != HEAP_NONE)
				hand(w, h->roots[i].object, w->has[owner]);
		}
		again = w->waiting > 0;
		code = hand_on(w, progress, err);
	}
	return code;
}

static int sum(const struct classes_walk *w, const struct retained *r, struct what_if_class *out, unsigned n,
    struct progress *progress, struct err *err)
{
	uint64_t asked = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
	for (uint32_t id = 0; id < w->heap->n_objects; id++) {
		if (progress_stops(progress, id))
			return err_cancelled(err);
		if (w->loss ? !bits_get(&w->loss->dead, id) : r->dominators.immediate[id] == NOT_REACHABLE)
			continue;
		for (uint64_t gone = ~w->has[id] & asked; gone; gone &= gone - 1) {
			struct what_if_class *c = &out[__builtin_ctzll(gone)];
			c->bytes += heap_shallow(w->heap, id);
			c->doubts |= heap_size_doubts(w->heap, id);
		}
	}
	return 0;
}

static int find(struct classes_walk *w, struct what_if_class *out, unsigned n, const struct retained *r,
    struct progress *progress, struct err *err)
{
	const struct heap *h = w->heap;
	w->own = big_alloc(h->n_classes, sizeof *w->own, err);
	w->has = big_alloc(h->n_objects, sizeof *w->has, err);
	w->queue = big_alloc(w->room, sizeof *w->queue, err);
	int code = w->own && w->has && w->queue ? bits_init(&w->waits, h->n_objects, err) : ERR_NOMEM;
	for (unsigned i = 0; !code && i < n; i++) {
		out[i].bytes = out[i].doubts = 0;
		w->own[out[i].class] = UINT64_C(1) << i;
	}
	if (!code)
		code = walk(w, progress, err);
	if (!code)
		code = sum(w, r, out, n, progress, err);
	big_free(w->own);
	big_free(w->has);
	big_free(w->queue);
	bits_release(&w->waits);
	return code;
}

int what_if_classes(struct what_if_class *out, unsigned n, const struct retained *r, uint64_t effort,
    struct progress *progress, struct err *err)
{
	struct classes_walk w = {.model = &r->model, .heap = r->heap, .room = r->heap->n_objects, .effort = effort};
	progress_phase(progress, PHASE_WALK_WHAT_IS_LEFT, r->heap->n_objects);
	return find(&w, out, n, r, progress, err);
}

int what_if_some_of_classes(struct what_if_class *out, unsigned n, const uint32_t *ids, size_t n_ids,
    const struct retained *r, struct progress *progress, struct err *err)
{
	struct what_if_loss loss;
	struct bits only, held;
	struct classes_walk w = {.model = &r->model, .heap = r->heap, .only = &only, .loss = &loss, .held = &held,
	    .effort = UINT64_MAX};
	cairn_assert(n > 0);
	int code = what_if_find_held(&loss, &held, &r->model, ids, n_ids, progress, err);
	if (code)
		return code;
	out[0].bytes = loss.bytes.n;
	out[0].doubts = loss.doubts;
	w.room = (uint32_t)bits_ones_of(&loss.dead);
	if (n > 1) {
		progress_phase(progress, PHASE_WALK_WHAT_IS_LEFT, w.room);
		code = bits_init(&only, r->heap->n_objects, err);
		for (size_t i = 0; !code && i < n_ids && !progress_stops(progress, i); i++)
			bits_set(&only, ids[i]);
		if (!code)
			code = find(&w, out, n, r, progress, err);
		bits_release(&only);
	}
	bits_release(&held);
	what_if_loss_release(&loss);
	return code;
}
