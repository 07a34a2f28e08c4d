/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reachable.c - breadth-first walk from the roots with a queue of ids; linear, no recursion.
 * Any thread.
 */
#include "analysis/reachable.h"

#include "algorithms/pack.h"
#include "analysis/maybe_live.h"
#include "base/amount.h"
#include "base/progress.h"
#include "dump/facts.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/index_file/index_file.h"
#include "heap/references.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <string.h>

#define CANCEL_EVERY (1u << 12) /* objects, whose references are many */
enum { AHEAD = 16, SIZES = 1024 }; /* objects on their way into the cache; sizes that are asked for at once */

struct walk {
	const struct heap *heap;
	const struct weak_references *left_out; /* of the model */
	const uint8_t *kind;    /* by class: enum weak_kind; only while staged */
	bool staged;            /* of what is left out kinds up to this stage count */
	enum weak_kind stage;
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
	struct implied_reference implied[HEAP_IMPLIED];
	const uint32_t *classes;
	uint64_t end = adjacency_start(&h->out, id + 1);
	uint32_t weak = w->left_out && bits_get(&w->left_out->holders, id) ? weak_referent(w->left_out, id) : HEAP_NONE;
	if (w->staged && weak != HEAP_NONE && w->kind[heap_class_index(h, id)] <= w->stage)
		weak = HEAP_NONE;
	for (uint64_t i = adjacency_start(&h->out, id); i < end; i++)
		if (h->out.target[i] != weak)
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

/* What those that come soon need is asked for: when an object is half way there, its offsets have arrived. */
static inline void look_ahead(const struct walk *w)
{
	const struct heap *h = w->heap;
	if (w->tail - w->head <= AHEAD)
		return;
	__builtin_prefetch(&h->out.offset[w->queue[w->head + AHEAD]]);
	heap_prefetch_class_index(h, w->queue[w->head + AHEAD]);
	__builtin_prefetch(&h->out.target[adjacency_start(&h->out, w->queue[w->head + AHEAD / 2])]);
}

/* From what waits in the queue. */
static int walk_on(struct walk *w, struct progress *progress, struct err *err)
{
	while (w->head < w->tail) {
		look_ahead(w);
		visit_references(w, w->queue[w->head++]);
		if (w->head % CANCEL_EVERY == 0 && !progress_add(progress, CANCEL_EVERY))
			return err_cancelled(err);
	}
	return 0;
}

static int walk_all(struct walk *w, struct progress *progress, struct err *err)
{
	for (size_t i = 0; i < w->heap->n_roots; i++) {
		if (progress_stops(progress, i))
			return err_cancelled(err);
		visit(w, w->heap->roots[i].object);
	}
	return walk_on(w, progress, err);
}

/* What is reachable, counted; n_unknown: objects of unknown size among it.  And what is weakly. */
struct reached {
	uint64_t n, bytes, n_unknown;
	uint64_t weakly_n, weakly_bytes, weakly_unknown;
	unsigned doubts, weakly_doubts, others_doubts; /* enum size_doubt of both, and of what is not reachable */
};

static void tell(struct reachable *out, const struct heap *h, const struct reached *r)
{
	enum reason reason = maybe_live_reason(h, &out->objects);
	enum certainty maybe = r->n < h->n_objects && reason != REASON_NONE ? INFERRED : EXACT;
	out->n = amount_weaken(heap_reached(h, r->n), maybe, reason);
	out->shallow = heap_sized(h, amount_weaken(heap_reached(h, r->bytes), maybe, reason), r->doubts,
	    r->n_unknown);
	out->unreachable_n = amount_weaken(heap_held(h, h->n_objects - r->n), maybe, reason);
	out->unreachable_shallow = heap_sized(h, amount_weaken(heap_held(h, h->shallow - r->bytes), maybe, reason),
	    r->others_doubts, h->n_unknown_size - r->n_unknown);
	out->weakly_n = amount_weaken(heap_held(h, r->weakly_n), maybe, reason);
	out->weakly_unknown = r->weakly_unknown;
	out->weakly_doubts = r->weakly_doubts;
	out->weakly_shallow = heap_sized(h, amount_weaken(heap_held(h, r->weakly_bytes), maybe, reason),
	    r->weakly_doubts, r->weakly_unknown);
}

/* False: stopped. */
static bool weigh(const struct reachable *out, const struct heap *h, struct reached *r, struct progress *progress)
{
	uint64_t sizes[SIZES];
	for (uint32_t id = 0; id < h->n_objects; id++) {
		if (progress_stops(progress, id))
			return false;
		if (id % SIZES == 0)
			heap_sizes(h, id, h->n_objects - id < SIZES ? h->n_objects - id : SIZES, sizes);
		if (!bits_get(&out->objects, id)) {
			r->others_doubts |= heap_size_doubts(h, id);
			continue;
		}
		r->doubts |= heap_size_doubts(h, id);
		r->n++;
		if (sizes[id % SIZES] == SIZE_UNKNOWN)
			r->n_unknown++;
		else
			r->bytes += sizes[id % SIZES];
	}
	return true;
}

/* With the references that were left out: what these add.  w has walked all from the roots, and seen it. */
static int reach_weakly(struct walk *w, struct reached *r, struct progress *progress, struct err *err)
{
	const struct weak_references *weak = w->left_out;
	uint32_t first = w->tail;
	struct bits all, *strongly = w->seen;
	int code = bits_init(&all, w->heap->n_objects, err);
	if (code)
		return code;
	memcpy(all.word, strongly->word, bits_words(&all) * sizeof *all.word);
	w->seen = &all;
	w->left_out = NULL;
	for (size_t i = 0; i < weak->n && !progress_stops(progress, i); i++)
		if (bits_get(&weak->holders, weak->reference[i].holder) && bits_get(strongly, weak->reference[i].holder))
			visit(w, weak->reference[i].referent);
	code = progress_check(progress, err);
	if (!code)
		code = walk_on(w, progress, err);
	for (uint32_t i = first; !code && i < w->tail; i++) {
		uint64_t size = heap_shallow(w->heap, w->queue[i]);
		r->weakly_bytes += size;
		r->weakly_doubts |= heap_size_doubts(w->heap, w->queue[i]);
		r->weakly_unknown += !size && !heap_size_known(w->heap, w->queue[i]);
		if (progress_stops(progress, i))
			code = err_cancelled(err);
	}
	r->weakly_n = w->tail - first;
	w->seen = strongly;
	bits_release(&all);
	return code;
}

/* --- in an index ---------------------------------------------------------------------------------- */

static const char chunk[] = "reachable", sums[] = "reachable_sums";

static void pack_reached(struct pack *p, struct reached *r, const struct heap *h)
{
	pack_number(p, &r->n, h->n_objects);
	pack_number(p, &r->bytes, h->shallow);
	pack_number(p, &r->n_unknown, h->n_unknown_size);
	pack_number(p, &r->weakly_n, h->n_objects);
	pack_number(p, &r->weakly_bytes, h->shallow);
	pack_number(p, &r->weakly_unknown, h->n_unknown_size);
	PACK(p, r->doubts, SIZE_DOUBTS);
	PACK(p, r->weakly_doubts, SIZE_DOUBTS);
	PACK(p, r->others_doubts, SIZE_DOUBTS);
}

int reachable_write(const struct reachable *r, const struct heap *h, struct chunks_writer *w, struct err *err)
{
	struct reached reached = { .weakly_n = r->weakly_n.n, .weakly_bytes = r->weakly_shallow.n,
		.weakly_unknown = r->weakly_unknown, .weakly_doubts = r->weakly_doubts };
	struct pack p = { .reading = false };
	if (!weigh(r, h, &reached, progress_own()))
		return err_cancelled(err);
	pack_reached(&p, &reached, h);
	int code = pack_written(&p, err);
	if (!code)
		code = chunks_add(w, sums, p.out, p.n, err);
	pack_release(&p);
	return code ? code : chunks_add(w, chunk, r->objects.word, ((uint64_t)h->n_objects + 63) / 64 * 8, err);
}

static bool bits_hold(const struct bits *b, uint64_t n)
{
	uint64_t ones = 0, words = (b->n + 63) / 64;
	for (uint64_t w = 0; w < words; w++)
		ones += bits_ones(b->word[w]);
	return ones == n && !(b->n % 64 && b->word[words - 1] >> b->n % 64);
}

/* 1: there are none, or they do not hold, and are found anew. */
static int take_saved(struct reachable *out, const struct model *m, struct err *err)
{
	const struct heap *h = m->heap;
	const struct chunks *c = index_file_chunks(h);
	const void *bytes = NULL, *numbers = NULL;
	uint64_t n = 0, n_numbers = 0;
	struct reached reached = { .n = 0 };
	struct pack p;
	if (!c || !model_is_default(m) || chunks_bytes(c, chunk) != ((uint64_t)h->n_objects + 63) / 64 * 8)
		return 1;
	int code = chunks_take(c, chunk, &bytes, &n, err);
	if (!code)
		code = chunks_take(c, sums, &numbers, &n_numbers, err);
	if (!code) {
		const struct chunk_look looks[] = {
			{ .name = chunk, .bytes = bytes }, { .name = sums, .bytes = numbers } };
		code = chunks_check(c, looks, 2, err);
	}
	out->objects = (struct bits){ .n = h->n_objects };
	memcpy(&out->objects.word, &bytes, sizeof bytes); /* read only, as all that was found is */
	if (!code && pack_open(&p, numbers, n_numbers, NULL, 0)) {
		pack_reached(&p, &reached, h);
		code = pack_ends(&p) && bits_hold(&out->objects, reached.n) ? 0 : 1;
	}
	big_free(numbers);
	if (code) {
		bits_release(&out->objects);
		if (code == ERR_NOMEM || code == ERR_CANCELLED)
			return code;
		index_file_left_out(h, "the reachable objects", code == 1 ? NULL : err);
		return 1;
	}
	tell(out, h, &reached);
	return 0;
}

int reachable_from_roots(
    struct reachable *out, const struct model *model, struct progress *progress, struct err *err)
{
	const struct heap *heap = model->heap;
	struct walk w = {.heap = heap, .left_out = model->left_out, .seen = &out->objects};
	struct reached reached = { .n = 0 };
	int code;

	*out = (struct reachable){.n = amount_exact(0)};
	progress_phase(progress, PHASE_FOLLOW_REFERENCES, heap->n_objects);
	if ((code = take_saved(out, model, err)) != 1)
		return code;
	if ((code = bits_init(&out->objects, heap->n_objects, err)))
		return code;
	w.queue = big_alloc(heap->n_objects, sizeof *w.queue, err);
	code = w.queue ? walk_all(&w, progress, err) : ERR_NOMEM;
	if (!code && w.left_out)
		code = reach_weakly(&w, &reached, progress, err);
	if (code)
		goto out;
	big_free(w.queue);
	w.queue = NULL;
	if (!weigh(out, heap, &reached, progress))
		code = err_cancelled(err);
	else
		tell(out, heap, &reached);
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

/* --- by kinds of references ----------------------------------------------------------------------- */

/* Those that are reached by now, and were not before. */
static int note_stage(uint8_t *by, uint8_t stage, const struct reference_objects *o, const struct walk *w,
    struct progress *progress, struct err *err)
{
	for (size_t i = 0; i < o->n; i++) {
		if (progress_stops(progress, i))
			return err_cancelled(err);
		if (by[i] == REACHED_BY_NONE && o->at[i].referent < w->heap->n_objects && bits_get(w->seen, o->at[i].referent))
			by[i] = stage;
	}
	return 0;
}

/* A holder that is reached later leads on by itself (visit_references). */
static int walk_stage(struct walk *w, enum weak_kind stage, const struct reference_objects *o,
    struct progress *progress, struct err *err)
{
	w->staged = true;
	w->stage = stage;
	for (size_t i = 0; i < o->n; i++) {
		if (progress_stops(progress, i))
			return err_cancelled(err);
		if (o->at[i].kind == stage && o->at[i].referent < w->heap->n_objects && bits_get(w->seen, o->at[i].holder))
			visit(w, o->at[i].referent);
	}
	return walk_on(w, progress, err);
}

int reachable_by_kinds(uint8_t *by, struct bits *strongly, const struct heap *h, const struct reference_objects *o,
    struct progress *progress, struct err *err)
{
	struct bits seen;
	struct walk w = {.heap = h, .left_out = h->soft_and_weak, .seen = &seen};
	progress_phase(progress, PHASE_FOLLOW_REFERENCES, h->n_objects);
	memset(by, REACHED_BY_NONE, o->n);
	*strongly = (struct bits){.word = NULL};
	int code = bits_init(&seen, h->n_objects, err);
	if (code)
		return code;
	uint8_t *kind = weak_kinds(h, err);
	w.kind = kind;
	w.queue = kind ? big_alloc(h->n_objects, sizeof *w.queue, err) : NULL;
	code = w.queue ? walk_all(&w, progress, err) : ERR_NOMEM;
	if (!code)
		code = note_stage(by, REACHED_STRONGLY, o, &w, progress, err);
	if (!code && !(code = bits_init(strongly, h->n_objects, err)))
		memcpy(strongly->word, seen.word, bits_words(&seen) * sizeof *seen.word);
	for (unsigned stage = 0; stage < WEAK_KINDS && !code; stage++) {
		code = walk_stage(&w, stage, o, progress, err);
		if (!code)
			code = note_stage(by, (uint8_t)stage, o, &w, progress, err);
	}
	big_free(w.queue);
	big_free(kind);
	bits_release(&seen);
	if (code)
		bits_release(strongly);
	return code;
}
