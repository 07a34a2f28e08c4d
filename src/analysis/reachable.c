/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reachable.c - breadth-first walk from the roots with a queue of ids; linear, no recursion.
 * Any thread.
 */
#include "analysis/reachable.h"

#include "analysis/unrecorded.h"
#include "base/big.h"
#include "heap/weak.h"

#define CANCEL_EVERY (1u << 12) /* objects, whose references are many */

struct walk {
	const struct heap *heap;
	const struct weak_references *left_out; /* of the model */
	struct bits *seen;
	uint32_t *queue;
	uint32_t head, tail;
};

static void visit(struct walk *w, uint32_t id)
{
	if (bits_get(w->seen, id))
		return;
	bits_set(w->seen, id);
	w->queue[w->tail++] = id;
}

static void visit_references(struct walk *w, uint32_t id)
{
	const struct heap *h = w->heap;
	struct implied_reference implied[3];
	const uint32_t *classes;
	uint64_t end = adjacency_start(&h->out, id + 1);
	for (uint64_t i = adjacency_start(&h->out, id); i < end; i++)
		if (!weak_is(w->left_out, id, h->out.target[i]))
			visit(w, h->out.target[i]);
	unsigned n = heap_implied(h, id, implied);
	for (unsigned i = 0; i < n; i++)
		visit(w, implied[i].target);
	uint32_t n_classes = heap_loaded_classes(h, id, &classes);
	for (uint32_t i = 0; i < n_classes; i++) {
		if (h->classes[classes[i]].object != HEAP_NONE)
			visit(w, h->classes[classes[i]].object);
	}
}

static int walk_all(struct walk *w, struct progress *progress, struct err *err)
{
	for (size_t i = 0; i < w->heap->n_roots; i++) {
		if (progress_stops(progress, i))
			return err_cancelled(err);
		visit(w, w->heap->roots[i].object);
	}
	while (w->head < w->tail) {
		visit_references(w, w->queue[w->head++]);
		if (w->head % CANCEL_EVERY == 0 && !progress_add(progress, CANCEL_EVERY))
			return err_cancelled(err);
	}
	return 0;
}

/* False: stopped. */
static bool weigh(struct reachable *out, const struct heap *h, uint32_t n, struct progress *progress)
{
	uint64_t bytes = 0, n_unknown = 0;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		if (progress_stops(progress, id))
			return false;
		if (!bits_get(&out->objects, id))
			continue;
		bytes += heap_shallow(h, id);
		n_unknown += h->n_unknown_size && !heap_size_known(h, id);
	}
	out->n = heap_reached(h, n);
	out->shallow = heap_sized(h, heap_reached(h, bytes), n_unknown);
	enum reason reason = unrecorded_reason(h, &out->objects);
	enum certainty maybe = n < h->n_objects && reason != REASON_NONE ? INFERRED : EXACT;
	out->unreachable_n = amount_weaken(heap_held(h, h->n_objects - n), maybe, reason);
	out->unreachable_shallow = heap_sized(h, amount_weaken(heap_held(h, h->shallow - bytes), maybe, reason),
	    h->n_unknown_size - n_unknown);
	return true;
}

int reachable_from_roots(
    struct reachable *out, const struct model *model, struct progress *progress, struct err *err)
{
	const struct heap *heap = model->heap;
	struct walk w = {.heap = heap, .left_out = model->left_out, .seen = &out->objects};
	int code;

	*out = (struct reachable){.n = amount_exact(0)};
	progress_phase(progress, PHASE_FOLLOW_REFERENCES, heap->n_objects);
	if ((code = bits_init(&out->objects, heap->n_objects, err)))
		return code;
	w.queue = big_alloc(heap->n_objects, sizeof *w.queue, err);
	code = w.queue ? walk_all(&w, progress, err) : ERR_NOMEM;
	if (code)
		goto out;
	big_free(w.queue);
	w.queue = NULL;
	if (!weigh(out, heap, w.tail, progress))
		code = err_cancelled(err);
out:
	big_free(w.queue);
	if (code)
		reachable_release(out);
	return code;
}

void reachable_release(struct reachable *r)
{
	bits_release(&r->objects);
}
