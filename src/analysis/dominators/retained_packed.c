/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * retained_packed.c - dominators in a packed index, both ways; see retained_saving.h.
 *
 * Most objects have one referrer, and that dominates them: so the file has a 0 for each object whose dominator follows
 * from its referrers, and how far away it is for the others.  Retained sizes are summed anew.
 */
#include "analysis/dominators/retained_saving.h"

#include "algorithms/chunks.h"
#include "algorithms/parallel.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "memory/big.h"

enum { TAKEN_AT_ONCE = 1 << 16 /* objects */ };
enum { AS_GUESSED, BY_ROOTS, NOT_REACHED, OTHERS /* and more: distances */ };

static const char chunk[] = "dominator";

/* The dominator of an object, as far as its referrers tell. */
static uint32_t guess(const struct heap *h, uint32_t id)
{
	uint64_t from = adjacency_start(&h->in, id), to = adjacency_start(&h->in, id + 1);
	if (from == to)
		return NOT_REACHABLE;
	return h->in.target[from] == h->in.target[to - 1] ? h->in.target[from] : DOMINATED_BY_ROOTS;
}

static uint32_t encode(const struct heap *h, uint32_t id, uint32_t above)
{
	uint32_t step = above - id;
	if (above == guess(h, id))
		return AS_GUESSED;
	if (above >= NOT_REACHABLE)
		return above == NOT_REACHABLE ? NOT_REACHED : BY_ROOTS;
	return (step << 1 ^ (uint32_t)-(step >> 31)) + OTHERS;
}

static uint32_t decode(const struct heap *h, uint32_t id, uint32_t code)
{
	uint32_t distance = code - OTHERS;
	if (code < OTHERS)
		return code == AS_GUESSED ? guess(h, id) : code == BY_ROOTS ? DOMINATED_BY_ROOTS : NOT_REACHABLE;
	return id + (distance >> 1 ^ -(distance & 1));
}

int retained_pack(const struct retained *r, struct chunks_writer *w, struct err *err)
{
	uint32_t n = r->dominators.n_objects;
	if (n > INT32_MAX - OTHERS) /* else distances have 32 bits */
		return err_set(err, ERR_UNSUPPORTED, "too many objects for a packed index");
	uint32_t *codes = big_alloc(n, sizeof *codes, err);
	if (!codes)
		return ERR_NOMEM;
	for (uint32_t id = 0; id < n && !progress_own_stops(id); id++)
		codes[id] = encode(r->heap, id, r->dominators.immediate[id]);
	int code = progress_check(progress_own(), err);
	if (!code)
		code = chunks_add_numbers(w, chunk, codes, n, sizeof *codes, false, err);
	big_free(codes);
	return code;
}

struct summing {
	const struct heap *heap;
	uint32_t n;
	uint32_t *above;    /* codes at first */
	struct narrow retained;
	uint32_t *below;    /* how many objects below each are not yet summed */
};

static int damaged(struct err *err)
{
	return err_set(err, ERR_FORMAT, "its dominators are damaged");
}

/* Dominators, and the objects' own sizes. */
static int take_part(void *summing, unsigned part, struct err *err)
{
	struct summing *s = summing;
	uint64_t begin = (uint64_t)part * TAKEN_AT_ONCE, end = begin + TAKEN_AT_ONCE;
	for (uint64_t at = begin; at < end && at < s->n; at++) {
		uint32_t id = (uint32_t)at, above = decode(s->heap, id, s->above[id]);
		if (above >= s->n && above < NOT_REACHABLE)
			return damaged(err);
		s->above[id] = above;
		narrow_set(&s->retained, id, above == NOT_REACHABLE ? 0 : heap_shallow(s->heap, id));
	}
	return progress_cancelled(progress_own()) ? err_cancelled(err) : 0;
}

/* From the leaves upwards: an object is added to the one above it when all below it were.  In a circle none ever is. */
static int sum(struct summing *s, uint32_t *n_reachable, struct err *err)
{
	struct progress *work = progress_own();
	uint32_t n_summed = 0;
	*n_reachable = 0;
	for (uint32_t id = 0; id < s->n; id++) {
		uint32_t above = s->above[id];
		if (progress_stops(work, id))
			return err_cancelled(err);
		*n_reachable += above != NOT_REACHABLE;
		if (above < NOT_REACHABLE)
			s->below[above]++;
	}
	for (uint32_t id = 0; id < s->n; id++) {
		if (progress_stops(work, id))
			return err_cancelled(err);
		if (s->below[id] || s->above[id] == NOT_REACHABLE)
			continue;
		for (uint32_t at = id;;) {
			uint32_t above = s->above[at];
			n_summed++;
			s->below[at] = UINT32_MAX; /* its id may come later, and it is no leaf */
			if (above == NOT_REACHABLE) /* and yet something that is reachable hangs below it */
				return damaged(err);
			if (above == DOMINATED_BY_ROOTS)
				break;
			narrow_add(&s->retained, above, narrow_get(&s->retained, at));
			if (--s->below[above])
				break;
			at = above;
		}
	}
	return n_summed == *n_reachable ? 0 : damaged(err);
}

int retained_unpack(struct dominators *out, const struct model *m, struct err *err)
{
	struct summing s = { .heap = m->heap, .n = m->heap->n_objects };
	const struct chunks *c = index_file_chunks(m->heap);
	const void *codes = NULL;
	uint64_t bytes = chunks_bytes(c, chunk);
	int code = bytes == s.n * sizeof *s.above ? chunks_take(c, chunk, &codes, &bytes, err) : damaged(err);
	s.above = (uint32_t *)(uintptr_t)codes; /* our own, as all that was packed */
	if (!code) {
		code = narrow_init(&s.retained, s.n, s.heap->shallow, NULL, err);
		s.below = !code ? big_alloc(s.n, sizeof *s.below, err) : NULL;
		code = s.below ? parallel_run(0, s.n / TAKEN_AT_ONCE + 1, take_part, &s, err) : ERR_NOMEM;
	}
	if (!code)
		code = sum(&s, &out->n_reachable, err);
	big_free(s.below);
	if (code) {
		big_free(s.above);
		narrow_release(&s.retained);
		return code;
	}
	out->immediate = s.above;
	out->retained = s.retained;
	return 0;
}
