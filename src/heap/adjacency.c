/* SPDX-License-Identifier: GPL-3.0-or-later */
/* adjacency.c - see adjacency.h. */
#include "heap/adjacency.h"

#include "algorithms/bisect.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "base/assert.h"
#include "heap/ids.h"
#include "memory/big.h"
#include "memory/readahead.h"

#include <string.h>

enum { TASK_SHIFT = 16, TASK_BLOCKS = 1 << (TASK_SHIFT - ADJACENCY_SHIFT) }; /* objects and blocks of a task */

int adjacency_init(struct adjacency *a, uint32_t n_objects, struct err *err)
{
	a->offset = big_alloc((uint64_t)n_objects + 1, sizeof *a->offset, err);
	a->base = a->offset ? big_alloc_held(adjacency_blocks(n_objects), sizeof *a->base, err) : NULL;
	return a->base ? 0 : ERR_NOMEM;
}

void adjacency_release(struct adjacency *a)
{
	big_free(a->offset);
	big_free(a->base);
	big_free(a->wide);
	big_free(a->target);
	*a = (struct adjacency){ .target = NULL };
}

/* --- starts by degrees --------------------------------------------------------------------------- */

static int by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct more_degree *)x)->id, b = ((const struct more_degree *)y)->id;
	return (a > b) - (a < b);
}

int more_degrees_sort(struct more_degree *more, size_t n, struct err *err)
{
	return sort(more, n, sizeof *more, by_id, err);
}

struct placing_starts {
	struct adjacency *a;
	uint32_t n_objects;
	const struct degrees *degrees;
};

/* Where a block ends; after the last object is the end of its list. */
static uint64_t block_end(uint32_t n_objects, uint64_t block)
{
	uint64_t end = (block + 1) << ADJACENCY_SHIFT;
	return end <= n_objects ? end : (uint64_t)n_objects + 1;
}

static inline uint32_t number_at(const struct degrees *d, unsigned width, uint64_t id)
{
	return width == 1 ? ((const uint8_t *)d->each)[id] : width == 2 ? ((const uint16_t *)d->each)[id] :
	    ((const uint32_t *)d->each)[id];
}

/* The place in `more` from an id on, and the id there. */
struct more_cursor {
	size_t at;
	uint64_t id;
};

static struct more_cursor more_at(const struct degrees *d, size_t at)
{
	return (struct more_cursor){ at, at < d->n_more ? d->more[at].id : UINT64_MAX };
}

static struct more_cursor more_from(const struct degrees *d, uint64_t id)
{
	size_t at;
	BISECT(at, d->n_more, d->more[at].id < id);
	return more_at(d, at);
}

static __attribute__((noinline)) uint64_t more_of(const struct degrees *d, struct more_cursor *c)
{
	uint64_t id = c->id, sum = 0;
	for (; c->id == id; *c = more_at(d, c->at + 1))
		sum += d->more[c->at].degree;
	return sum;
}

static inline void put_offset(uint16_t *offset, unsigned width, uint64_t *sum, uint64_t degree)
{
	*offset = (uint16_t)(width == 2 ? *sum + degree : *sum);
	*sum += degree;
}

/* Offsets in a block as if it were not wide; its sum. */
static inline __attribute__((always_inline)) uint64_t place_block(const struct placing_starts *x, unsigned width,
    uint64_t id, uint64_t end, struct more_cursor *more)
{
	const struct degrees *d = x->degrees;
	uint16_t *offset = x->a->offset;
	uint64_t sum = 0, end_objects = end < x->n_objects ? end : x->n_objects;
	while (id < end_objects) {
		uint64_t stop = more->id < end_objects ? more->id : end_objects;
		for (; id < stop; id++)
			put_offset(&offset[id], width, &sum, number_at(d, width, id));
		if (id < end_objects) {
			put_offset(&offset[id], width, &sum, number_at(d, width, id) + more_of(d, more));
			id++;
		}
	}
	if (id < end)
		offset[id] = (uint16_t)sum;
	return sum;
}

/* Sums of blocks become their bases once all are known. */
static inline __attribute__((always_inline)) void place_blocks(const struct placing_starts *x, unsigned width,
    uint64_t block, uint64_t end)
{
	struct more_cursor more = more_from(x->degrees, block << ADJACENCY_SHIFT);
	for (; block < end; block++)
		x->a->base[block] = place_block(x, width, block << ADJACENCY_SHIFT, block_end(x->n_objects, block), &more);
}

static int place_task(void *context, unsigned task, struct err *err)
{
	const struct placing_starts *x = context;
	uint64_t n = adjacency_blocks(x->n_objects), block = (uint64_t)task * TASK_BLOCKS, end = block + TASK_BLOCKS;
	(void)err;
	end = end < n ? end : n;
	uint64_t first = block << ADJACENCY_SHIFT;
	readahead_all(x->a->offset, first, block_end(x->n_objects, end - 1) - first, sizeof *x->a->offset);
	if (x->degrees->width == 1)
		place_blocks(x, 1, block, end);
	else if (x->degrees->width == 2)
		place_blocks(x, 2, block, end);
	else
		place_blocks(x, 4, block, end);
	return 0;
}

/* A wide block, whose offsets have lost bits above the sixteenth: to recover numbers that were there in their place
 * the differences will do. */
static void place_wide(const struct placing_starts *x, uint64_t block, uint64_t start, uint64_t *wide)
{
	const struct degrees *d = x->degrees;
	uint16_t *offset = x->a->offset, last = 0;
	uint64_t first = block << ADJACENCY_SHIFT, end = block_end(x->n_objects, block);
	struct more_cursor more = more_from(d, first);
	for (uint64_t id = first; id < end; id++) {
		uint16_t in_place = (uint16_t)(offset[id] - last);
		uint64_t n = d->width == 2 ? in_place : id < x->n_objects ? number_at(d, d->width, id) : 0;
		last = offset[id];
		n += id == more.id ? more_of(d, &more) : 0;
		wide[id - first] = d->width == 2 ? start + n : start;
		start += n;
		offset[id] = (uint16_t)(id - first);
	}
}

int adjacency_place(struct adjacency *a, uint32_t n_objects, const struct degrees *d, struct err *err)
{
	struct placing_starts x = { a, n_objects, d };
	uint64_t n = adjacency_blocks(n_objects), n_wide = 0, sum = 0;
	int code = parallel_run(0, (unsigned)((n + TASK_BLOCKS - 1) / TASK_BLOCKS), place_task, &x, err);
	for (uint64_t block = 0; block < n && !code; block++)
		n_wide += a->base[block] > UINT16_MAX;
	if (!code)
		a->wide = big_alloc(n_wide * ADJACENCY_BLOCK, sizeof *a->wide, err);
	if (!a->wide)
		return code ? code : ERR_NOMEM;
	n_wide = 0;
	for (uint64_t block = 0; block < n; block++) {
		uint64_t more = a->base[block];
		a->base[block] = sum;
		if (more > UINT16_MAX) {
			a->base[block] = ADJACENCY_WIDE | n_wide;
			place_wide(&x, block, sum, a->wide + n_wide);
			n_wide += ADJACENCY_BLOCK;
		}
		sum += more;
	}
	a->n = sum;
	return 0;
}

/* --- holes --------------------------------------------------------------------------------------- */

static bool has_holes(const uint32_t *target, uint64_t n)
{
	bool any = false;
	for (uint64_t k = 0; k < n && !any; k++)
		any = target[k] == HEAP_NONE;
	return any;
}

/* The starts of a block move back. */
static void move_block(struct adjacency *a, uint64_t block, uint64_t by)
{
	uint64_t base = a->base[block];
	if (!(base & ADJACENCY_WIDE))
		a->base[block] -= by;
	for (unsigned i = 0; base & ADJACENCY_WIDE && i < ADJACENCY_BLOCK; i++)
		a->wide[(base ^ ADJACENCY_WIDE) + i] -= by;
}

/* Move a block's targets from `from` to `to`, which is not behind it, without the holes; returns where they end. */
static uint64_t close_holes(struct adjacency *a, uint64_t id, uint64_t end_id, uint64_t from, uint64_t end,
    uint64_t to)
{
	uint64_t *base = &a->base[id >> ADJACENCY_SHIFT], new_base = to;
	uint64_t *wide = *base & ADJACENCY_WIDE ? &a->wide[*base ^ ADJACENCY_WIDE] : NULL;
	for (; id < end_id; id++) {
		uint64_t stop = id + 1 < end_id ? adjacency_start(a, (uint32_t)id + 1) : end;
		cairn_assert(from <= stop && stop <= end);
		if (wide)
			wide[id % ADJACENCY_BLOCK] = to;
		else
			a->offset[id] = (uint16_t)(to - new_base);
		for (; from < stop; from++)
			if (a->target[from] != HEAP_NONE)
				a->target[to++] = a->target[from];
	}
	if (!wide)
		*base = new_base;
	return to;
}

/* Mostly few blocks have holes; the others move as they are. */
void adjacency_compact(struct adjacency *a, uint32_t n_objects)
{
	uint64_t from = 0, to = 0, n = adjacency_blocks(n_objects);
	for (uint64_t block = 0; block < n; block++) {
		uint64_t id = block << ADJACENCY_SHIFT, end_id = block_end(n_objects, block);
		uint64_t end = block + 1 < n ? adjacency_start(a, (uint32_t)end_id) : a->n;
		cairn_assert(to <= from && from <= end && end <= a->n);
		if (has_holes(a->target + from, end - from)) {
			to = close_holes(a, id, end_id, from, end, to);
		} else {
			if (to < from)
				memmove(a->target + to, a->target + from, (end - from) * sizeof *a->target);
			move_block(a, block, from - to);
			to += end - from;
		}
		from = end;
	}
	a->target = big_fit(a->target, to, sizeof *a->target);
	a->n = to;
}
