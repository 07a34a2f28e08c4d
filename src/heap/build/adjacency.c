/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * adjacency.c - references as offsets and targets, and their transposition.
 *
 * An offset has 32 bits and is relative to a 64-bit base that 65,536 objects share.  So a heap with
 * more than 2^32 references takes no more bytes per object than one with fewer.
 */
#include "heap/build/build.h"

#include "base/assert.h"
#include "base/big.h"
#include "base/bisect.h"
#include "base/near.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_SHIFT = 16 };

static uint64_t n_blocks(uint32_t n_objects)
{
	return ((uint64_t)n_objects >> BLOCK_SHIFT) + 1;
}

static int init(struct adjacency *a, uint32_t n_objects, struct err *err)
{
	a->offset = big_alloc((uint64_t)n_objects + 1, sizeof *a->offset, err);
	a->base = big_alloc(n_blocks(n_objects), sizeof *a->base, err);
	return a->offset && a->base ? 0 : ERR_NOMEM;
}

void adjacency_release(struct adjacency *a)
{
	big_free(a->offset);
	big_free(a->base);
	big_free(a->target);
	*a = (struct adjacency){ .target = NULL };
}

/* Degrees that become starts, a block of objects at a time. */
struct accumulation {
	struct adjacency *a;
	uint32_t n_objects;
	const uint8_t *degrees; /* NULL: they stand in the offsets, and each becomes the start of the object behind it */
	const struct long_degree *long_degrees;
	size_t n_long_degrees;
	uint64_t *sums; /* of each block */
};

static inline uint32_t degree(const struct accumulation *x, uint64_t id, size_t *at_long)
{
	if (id == x->n_objects)
		return 0;
	if (!x->degrees)
		return x->a->offset[id];
	return x->degrees[id] < DEGREE_LONG ? x->degrees[id] : x->long_degrees[(*at_long)++].degree;
}

static size_t first_long(const struct accumulation *x, uint64_t id)
{
	size_t at;
	BISECT(at, x->n_long_degrees, x->long_degrees[at].id < id);
	return at;
}

/* One more than there are objects: behind the last stands the end of its list. */
static uint64_t block_end(const struct accumulation *x, unsigned block)
{
	uint64_t end = ((uint64_t)block + 1) << BLOCK_SHIFT;
	return end <= x->n_objects ? end : (uint64_t)x->n_objects + 1;
}

static int sum_block(void *context, unsigned block, struct err *err)
{
	const struct accumulation *x = context;
	uint64_t sum = 0, id = (uint64_t)block << BLOCK_SHIFT, end = block_end(x, block);
	size_t at_long = first_long(x, id);
	for (; id < end; id++)
		sum += degree(x, id, &at_long);
	x->sums[block] = sum;
	return sum <= UINT32_MAX ? 0 : err_set(err, ERR_UNSUPPORTED,
	    "65,536 neighbouring objects hold more than 4,294,967,295 references");
}

static int place_block(void *context, unsigned block, struct err *err)
{
	const struct accumulation *x = context;
	uint64_t id = (uint64_t)block << BLOCK_SHIFT, end = block_end(x, block);
	size_t at_long = first_long(x, id);
	uint32_t sum = 0;
	(void)err;
	for (; id < end; id++) {
		uint32_t n = degree(x, id, &at_long);
		x->a->offset[id] = x->degrees ? sum : sum + n;
		sum += n;
	}
	return 0;
}

/* Turn degrees into starts (those in the offsets: each into the start of the object behind it). */
static int accumulate(struct accumulation *x, struct err *err)
{
	uint64_t sum = 0;
	unsigned n = (unsigned)n_blocks(x->n_objects);
	x->sums = big_alloc(n, sizeof *x->sums, err);
	int code = x->sums ? parallel_run(0, n, sum_block, x, err) : ERR_NOMEM;
	for (unsigned block = 0; block < n && code == 0; block++) {
		x->a->base[block] = sum;
		sum += x->sums[block];
	}
	big_free(x->sums);
	if (code == 0)
		code = parallel_run(0, n, place_block, x, err);
	if (code < 0)
		return code;
	x->a->target = big_alloc(sum, sizeof *x->a->target, err);
	x->a->n = x->a->target ? sum : 0;
	return x->a->target ? 0 : ERR_NOMEM;
}

int adjacency_from_degrees(struct adjacency *a, uint32_t n_objects, const uint8_t *degrees,
    const struct long_degree *long_degrees, size_t n_long_degrees, struct err *err)
{
	struct accumulation x = { a, n_objects, degrees, long_degrees, n_long_degrees, NULL };
	int code = init(a, n_objects, err);
	return code < 0 ? code : accumulate(&x, err);
}

void adjacency_compact(struct adjacency *a, uint32_t n_objects)
{
	uint64_t from = 0, to = 0, old_base = 0;
	for (uint64_t i = 0; i <= n_objects; i++) {
		if ((i & ((1u << BLOCK_SHIFT) - 1)) == 0) {
			old_base = a->base[i >> BLOCK_SHIFT];
			a->base[i >> BLOCK_SHIFT] = to;
		}
		a->offset[i] = (uint32_t)(to - a->base[i >> BLOCK_SHIFT]);
		if (i == n_objects)
			break;
		uint64_t next = i + 1;
		bool next_block = (next & ((1u << BLOCK_SHIFT) - 1)) == 0;
		uint64_t end = (next_block ? a->base[next >> BLOCK_SHIFT] : old_base) + a->offset[next];
		cairn_assert(from <= end && end <= a->n);
		for (; from < end; from++)
			if (a->target[from] != HEAP_NONE)
				a->target[to++] = a->target[from];
	}
	a->target = big_fit(a->target, to, sizeof *a->target);
	a->n = to;
}

/*
 * Each task owns a range of targets: it counts, and later places, the references into its range and
 * reads past the others.  No two tasks write near each other, and the result does not depend on how
 * many there are.
 */
struct transposition {
	const struct adjacency *out;
	struct adjacency *in;
	uint32_t n_objects;
	unsigned n_ranges;
	struct progress *progress;
};

/* Where a task looks next (base/near.h). */
struct looks {
	struct near out_offset, out_target, in_offset, in_target;
};

/* *out: NULL where all is in memory. */
static int look_around(const struct transposition *t, struct looks **out, struct err *err)
{
	struct looks *l = *out = big_alloc(1, sizeof *l, err);
	if (!l)
		return ERR_NOMEM;
	bool any = near_init(&l->out_offset, t->out->offset, sizeof *t->out->offset, false);
	any |= near_init(&l->out_target, t->out->target, sizeof *t->out->target, false);
	any |= near_init(&l->in_offset, t->in->offset, sizeof *t->in->offset, true);
	any |= near_init(&l->in_target, t->in->target, sizeof *t->in->target, true);
	if (!any) {
		big_free(l);
		*out = NULL;
	}
	return 0;
}

static uint32_t range_begin(const struct transposition *t, unsigned range)
{
	return (uint32_t)((uint64_t)t->n_objects * range / t->n_ranges);
}

static int count_range(void *context, unsigned range, struct err *err)
{
	struct transposition *t = context;
	uint32_t low = range_begin(t, range), size = range_begin(t, range + 1) - low;
	uint32_t *degree = t->in->offset + low;
	struct looks *look;
	int code = look_around(t, &look, err);
	for (uint64_t block = 0; block < t->out->n && code == 0; block += 1 << 20) {
		uint64_t end = block + (1 << 20) < t->out->n ? block + (1 << 20) : t->out->n;
		for (uint64_t k = block; k < end; k++) {
			if (look)
				near_look(&look->out_target, k);
			uint32_t at = t->out->target[k] - low;
			if (at >= size)
				continue;
			if (look)
				near_look(&look->in_offset, low + at);
			degree[at]++;
		}
		if (!progress_add(t->progress, (end - block) / t->n_ranges))
			code = err_cancelled(err);
	}
	big_free(look);
	return code;
}

/* Sources from the last to the first, each list from its end to its start: lists come out sorted,
 * and the ends stored in the offsets have become the starts. */
static int place_range(void *context, unsigned range, struct err *err)
{
	struct transposition *t = context;
	uint32_t low = range_begin(t, range), size = range_begin(t, range + 1) - low;
	struct adjacency *in = t->in;
	struct looks *look;
	int code = look_around(t, &look, err);
	uint64_t k = t->out->n, told = k;
	for (uint32_t source = t->n_objects; source-- > 0 && code == 0;) {
		if (look)
			near_look(&look->out_offset, source);
		cairn_assert(adjacency_start(t->out, source) <= k);
		for (uint64_t start = adjacency_start(t->out, source); k > start; k--) {
			if (look)
				near_look(&look->out_target, k - 1);
			uint32_t target = t->out->target[k - 1];
			if (target - low >= size)
				continue;
			if (look)
				near_look(&look->in_offset, target);
			cairn_assert(in->offset[target] > 0 && adjacency_start(in, target) <= in->n);
			uint64_t place = in->base[target >> BLOCK_SHIFT] + --in->offset[target];
			if (look)
				near_look(&look->in_target, place);
			in->target[place] = source;
		}
		if (source % PROGRESS_ROUNDS == 0) {
			if (!progress_add(t->progress, (told - k) / t->n_ranges))
				code = err_cancelled(err);
			told = k;
		}
	}
	big_free(look);
	return code;
}

int adjacency_transpose(const struct adjacency *out, struct adjacency *in, uint32_t n_objects,
    struct progress *progress, struct err *err)
{
	struct transposition t = {
		.out = out,
		.in = in,
		.n_objects = n_objects,
		.n_ranges = parallel_threads(),
		.progress = progress,
	};
	progress_phase(progress, PHASE_TURN_REFERENCES, 2 * out->n);
	int code = init(in, n_objects, err);
	if (code == 0)
		code = parallel_run(0, t.n_ranges, count_range, &t, err);
	if (code == 0)
		code = accumulate(&(struct accumulation){ .a = in, .n_objects = n_objects }, err);
	if (code == 0)
		code = parallel_run(0, t.n_ranges, place_range, &t, err);
	void *arrays[] = { out->offset, out->target, in->offset, in->target };
	for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++)
		near_over(arrays[i]);
	return code;
}
