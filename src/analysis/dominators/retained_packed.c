/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * retained_packed.c - dominators in a packed index, both ways; see retained_saving.h.
 *
 * Most objects have one referrer, and that dominates them: so what stands in the file is which objects have another
 * dominator, and how far away it is.  Retained sizes are summed anew.
 */
#include "analysis/dominators/retained_saving.h"

#include "algorithms/chunks.h"
#include "algorithms/parallel.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "memory/big.h"

#include <stdatomic.h>
#include <string.h>

enum { OBJECTS = 1 << 18, WIDTH = 5 /* bytes of a distance */, SUMMED_AT_ONCE = 1 << 16 };
enum { BY_ROOTS, NOT_REACHED, OTHERS }; /* in place of distances */

static const char chunk[] = "dominator";

static unsigned parts_of(uint32_t n, uint32_t each)
{
	return (unsigned)(((uint64_t)n + each - 1) / each);
}

static uint32_t end_of(unsigned part, uint32_t each, uint32_t n)
{
	uint64_t end = ((uint64_t)part + 1) * each;
	return end < n ? (uint32_t)end : n;
}

/* The dominator of an object, as far as its referrers tell. */
static uint32_t guess(const struct heap *h, uint32_t id)
{
	uint64_t from = adjacency_start(&h->in, id), to = adjacency_start(&h->in, id + 1);
	if (from == to)
		return NOT_REACHABLE;
	return h->in.target[from] == h->in.target[to - 1] ? h->in.target[from] : DOMINATED_BY_ROOTS;
}

static uint64_t encode(uint32_t id, uint32_t above)
{
	if (above >= NOT_REACHABLE)
		return above == NOT_REACHABLE ? NOT_REACHED : BY_ROOTS;
	uint32_t step = above - id;
	return (uint64_t)(step << 1 ^ (uint32_t)-(step >> 31)) + OTHERS;
}

static uint32_t decode(uint32_t id, uint64_t code)
{
	if (code < OTHERS)
		return code == NOT_REACHED ? NOT_REACHABLE : DOMINATED_BY_ROOTS;
	uint32_t distance = (uint32_t)(code - OTHERS);
	return id + (distance >> 1 ^ -(distance & 1));
}

/* --- writing ------------------------------------------------------------------------------------ */

static int make_block(void *retained, unsigned block, void **bytes, uint64_t *n, struct err *err)
{
	const struct retained *r = retained;
	const uint32_t *immediate = r->dominators.immediate;
	uint32_t begin = block * (uint32_t)OBJECTS, end = end_of(block, OBJECTS, r->dominators.n_objects);
	uint64_t marks = (end - begin + 7) / 8, others = 0, k = 0;
	for (uint32_t id = begin; id < end && !progress_own_stops(id); id++)
		others += guess(r->heap, id) != immediate[id];
	*n = marks + WIDTH * others;
	uint8_t *mark = *bytes = big_alloc(*n, 1, err), *plane = mark + marks;
	if (!mark)
		return ERR_NOMEM;
	for (uint32_t id = begin; id < end && k < others && !progress_own_stops(id); id++) {
		if (guess(r->heap, id) == immediate[id])
			continue;
		mark[(id - begin) / 8] |= (uint8_t)(1 << (id & 7));
		uint64_t code = encode(id, immediate[id]);
		for (unsigned i = 0; i < WIDTH; i++)
			plane[i * others + k] = (uint8_t)(code >> 8 * i);
		k++;
	}
	return progress_check(progress_own(), err);
}

int retained_pack(const struct retained *r, struct chunks_writer *w, struct err *err)
{
	return chunks_add_blocks(w, chunk, parts_of(r->dominators.n_objects, OBJECTS), make_block,
	    (struct retained *)(uintptr_t)r, err);
}

/* --- reading ------------------------------------------------------------------------------------ */

struct summing {
	const struct heap *heap;
	uint32_t n;
	uint32_t *above;
	uint64_t *retained;
	uint32_t *below; /* how many objects below each are not yet summed */
};

static int damaged(struct err *err)
{
	return err_set(err, ERR_FORMAT, "its dominators are damaged");
}

static int use_block(void *summing, unsigned block, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct summing *s = summing;
	uint32_t begin = block * (uint32_t)OBJECTS, end = end_of(block, OBJECTS, s->n);
	uint64_t marks = (end - begin + 7) / 8, others = n < marks ? 0 : (n - marks) / WIDTH, k = 0;
	const uint8_t *plane = bytes + marks;
	if (n != marks + WIDTH * others)
		return damaged(err);
	for (uint32_t id = begin; id < end; id++) {
		if (progress_own_stops(id))
			return err_cancelled(err);
		if (!(bytes[(id - begin) / 8] >> (id & 7) & 1)) {
			s->above[id] = guess(s->heap, id);
			continue;
		}
		if (k == others)
			return damaged(err);
		uint64_t code = 0;
		for (unsigned i = 0; i < WIDTH; i++)
			code |= (uint64_t)plane[i * others + k] << 8 * i;
		k++;
		s->above[id] = decode(id, code);
		if (s->above[id] >= s->n && s->above[id] < NOT_REACHABLE)
			return damaged(err);
	}
	return k == others ? 0 : damaged(err);
}

static int own_sizes(void *summing, unsigned part, struct err *err)
{
	struct summing *s = summing;
	(void)err;
	for (uint32_t id = part * (uint32_t)SUMMED_AT_ONCE; id < end_of(part, SUMMED_AT_ONCE, s->n); id++)
		s->retained[id] = s->above[id] == NOT_REACHABLE ? 0 : heap_shallow(s->heap, id);
	return 0;
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
			s->retained[above] += s->retained[at];
			if (--s->below[above])
				break;
			at = above;
		}
	}
	return n_summed == *n_reachable ? 0 : damaged(err);
}

int retained_unpack(struct dominators *out, const struct model *m, struct err *err)
{
	const struct heap *h = m->heap;
	struct summing s = { .heap = h, .n = h->n_objects };
	s.above = big_alloc(s.n, sizeof *s.above, err);
	s.retained = s.above ? big_alloc(s.n, sizeof *s.retained, err) : NULL;
	s.below = s.retained ? big_alloc(s.n, sizeof *s.below, err) : NULL;
	int code = s.below ? 0 : ERR_NOMEM;
	if (!code)
		code = chunks_use_blocks(index_file_chunks(h), chunk, parts_of(s.n, OBJECTS), use_block, &s, err);
	if (!code)
		code = parallel_run(0, parts_of(s.n, SUMMED_AT_ONCE), own_sizes, &s, err);
	if (!code)
		code = sum(&s, &out->n_reachable, err);
	big_free(s.below);
	if (code) {
		big_free(s.above);
		big_free(s.retained);
		return code;
	}
	out->immediate = s.above;
	out->retained = s.retained;
	return 0;
}
