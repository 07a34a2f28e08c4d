/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * adjacency.c - references as offsets and targets, and their transposition.
 *
 * An offset has 32 bits and is relative to a 64-bit base that 65,536 objects share.  So a heap with
 * more than 2^32 references takes no more bytes per object than one with fewer.
 */
#include "heap/build/build.h"

#include "algorithms/bisect.h"
#include "algorithms/parallel.h"
#include "base/assert.h"
#include "base/memory_limit.h"
#include "memory/big.h"
#include "memory/readahead.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_SHIFT = 16, SOURCES_AT_ONCE = 1 << 16, READ_AT_ONCE = 1 << 16 };
enum { WINDOW_PART = 2, LEAST_WINDOW = 1 << 20 }; /* of the limit, what tasks write at once; bytes */

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

/* One more than there are objects: behind the last stands the end of its list. */
static uint64_t block_end(uint32_t n_objects, uint64_t block)
{
	uint64_t end = (block + 1) << BLOCK_SHIFT;
	return end <= n_objects ? end : (uint64_t)n_objects + 1;
}

static size_t first_long(const struct accumulation *x, uint64_t id)
{
	size_t at;
	BISECT(at, x->n_long_degrees, x->long_degrees[at].id < id);
	return at;
}

static uint64_t place_degrees(const struct accumulation *x, uint64_t id, uint64_t end)
{
	size_t next_long = first_long(x, id);
	uint32_t *offset = x->a->offset;
	uint64_t sum = 0, end_objects = end < x->n_objects ? end : x->n_objects;
	for (; id < end_objects; id++) {
		uint32_t n = x->degrees[id];
		offset[id] = (uint32_t)sum;
		sum += __builtin_expect(n < DEGREE_LONG, 1) ? n : x->long_degrees[next_long++].degree;
	}
	if (id < end)
		offset[id] = (uint32_t)sum;
	return sum;
}

/* The same of degrees that stand in the offsets. */
static uint64_t turn_offsets(const struct accumulation *x, uint64_t id, uint64_t end)
{
	uint32_t *offset = x->a->offset;
	uint64_t sum = 0;
	for (; id < end; id++) {
		sum += offset[id];
		offset[id] = (uint32_t)sum;
	}
	return sum;
}

/* Within a block, whose base follows from the sums of those before it. */
static int place_block(void *context, unsigned block, struct err *err)
{
	const struct accumulation *x = context;
	uint64_t id = (uint64_t)block << BLOCK_SHIFT, end = block_end(x->n_objects, block);
	readahead_all(x->a->offset, id, end - id, sizeof *x->a->offset);
	uint64_t sum = x->degrees ? place_degrees(x, id, end) : turn_offsets(x, id, end);
	x->sums[block] = sum;
	return sum <= UINT32_MAX ? 0 : err_set(err, ERR_UNSUPPORTED,
	    "too many references: 65,536 neighbouring objects hold more than 4,294,967,295");
}

/* Turn degrees into starts (those in the offsets: each into the start of the object behind it). */
static int accumulate(struct accumulation *x, struct err *err)
{
	uint64_t sum = 0;
	unsigned n = (unsigned)n_blocks(x->n_objects);
	x->sums = big_alloc(n, sizeof *x->sums, err);
	int code = x->sums ? parallel_run(0, n, place_block, x, err) : ERR_NOMEM;
	for (unsigned block = 0; block < n && code == 0; block++) {
		x->a->base[block] = sum;
		sum += x->sums[block];
	}
	big_free(x->sums);
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

static bool has_holes(const uint32_t *target, uint64_t n)
{
	bool any = false;
	for (uint64_t k = 0; k < n && !any; k++)
		any = target[k] == HEAP_NONE;
	return any;
}

/* Move a block's targets from `from` to `to`, which is not behind it, without the holes; returns where they end. */
static uint64_t close_holes(struct adjacency *a, uint64_t id, uint64_t end_id, uint64_t from, uint64_t end, uint64_t to)
{
	uint64_t old_base = from, new_base = to;
	for (; id < end_id; id++) {
		uint64_t stop = id + 1 < end_id ? old_base + a->offset[id + 1] : end;
		cairn_assert(from <= stop && stop <= end);
		a->offset[id] = (uint32_t)(to - new_base);
		for (; from < stop; from++)
			if (a->target[from] != HEAP_NONE)
				a->target[to++] = a->target[from];
	}
	return to;
}

/* Mostly few blocks have holes; the others move as they are. */
void adjacency_compact(struct adjacency *a, uint32_t n_objects)
{
	uint64_t to = 0, n = n_blocks(n_objects);
	for (uint64_t block = 0; block < n; block++) {
		uint64_t from = a->base[block], end = block + 1 < n ? a->base[block + 1] : a->n;
		cairn_assert(to <= from && from <= end && end <= a->n);
		a->base[block] = to;
		if (from == end) /* there may be no targets at all */
			continue;
		if (has_holes(a->target + from, end - from)) {
			to = close_holes(a, block << BLOCK_SHIFT, block_end(n_objects, block), from, end, to);
			continue;
		}
		if (to < from)
			memmove(a->target + to, a->target + from, (end - from) * sizeof *a->target);
		to += end - from;
	}
	a->target = big_fit(a->target, to, sizeof *a->target);
	a->n = to;
}

/*
 * Each task owns a range of targets: it counts, and later places, the references into its range and
 * reads past the others.  No two tasks write near each other, and the result does not depend on how
 * many there are.  Where an array lives in the file, a task reads it piece by piece and writes its
 * range there when that is complete, so nobody jumps through the file: without it `top` of a large dump in a small
 * control group takes more than twice as long (doc/performance.md).
 */
struct transposition {
	const struct adjacency *out;
	struct adjacency *in;
	uint32_t n_objects;
	unsigned n_ranges;
	struct progress *progress;
};

/* Of whole blocks, so that the places of its references are known. */
static uint32_t range_begin(const struct transposition *t, unsigned range)
{
	uint64_t id = n_blocks(t->n_objects) * range / t->n_ranges << BLOCK_SHIFT;
	return id < t->n_objects ? (uint32_t)id : t->n_objects;
}

static bool is_away(const void *array)
{
	return array && big_owner(array) == BIG_SPILLED;
}

/* So many that what the tasks write at once is in memory. */
static unsigned ranges_for(const struct adjacency *in)
{
	uint64_t window = memory_limit_bytes() / WINDOW_PART / parallel_threads();
	uint64_t bytes = is_away(in->offset) ? big_bytes(in->offset) : 0;
	bytes += is_away(in->target) ? big_bytes(in->target) : 0;
	uint64_t ranges = bytes / (window < LEAST_WINDOW ? LEAST_WINDOW : window) + 1;
	return ranges < parallel_threads() ? parallel_threads() : (unsigned)ranges;
}

/* Part of an array to be written: where it stands, or memory for it.  To be closed. */
static uint32_t *open_window(uint32_t *array, uint64_t first, uint64_t n, struct err *err)
{
	return is_away(array) ? big_alloc_held(n, sizeof *array, err) : array + first;
}

static void close_window(uint32_t *window, uint32_t *array, uint64_t first, uint64_t n)
{
	if (!is_away(array) || !window)
		return;
	big_write(array, first * sizeof *array, window, n * sizeof *array);
	big_free(window);
}

static int count_range(void *context, unsigned range, struct err *err)
{
	struct transposition *t = context;
	uint32_t low = range_begin(t, range), size = range_begin(t, range + 1) - low, *room = NULL;
	uint32_t *degree = open_window(t->in->offset, low, size, err);
	int code = degree && (room = big_alloc_held(READ_AT_ONCE, sizeof *room, err)) ? 0 : ERR_NOMEM;
	for (uint64_t k = 0; k < t->out->n && code == 0; k += READ_AT_ONCE) {
		uint64_t n = t->out->n - k < READ_AT_ONCE ? t->out->n - k : READ_AT_ONCE;
		const uint32_t *target = big_look(t->out->target, k * sizeof *target, n * sizeof *target, room);
		for (uint64_t i = 0; i < n; i++) {
			uint32_t at = target[i] - low;
			if (at < size)
				degree[at]++;
		}
		if (!progress_add(t->progress, n / t->n_ranges))
			code = err_cancelled(err);
	}
	big_free(room);
	close_window(degree, t->in->offset, low, size);
	return code;
}

/* What a task places references with. */
struct placing_range {
	uint32_t low, size;
	uint32_t *offset, *target; /* of its objects; of their referrers */
	uint64_t first, n;         /* places of these */
	uint32_t *offsets, *targets; /* room for pieces of what is read */
};

static int open_range(struct placing_range *r, const struct transposition *t, unsigned range, struct err *err)
{
	struct adjacency *in = t->in;
	uint32_t end = range_begin(t, range + 1);
	r->low = range_begin(t, range);
	r->size = end - r->low;
	r->first = in->base[r->low >> BLOCK_SHIFT];
	r->n = (end < t->n_objects ? in->base[end >> BLOCK_SHIFT] : in->n) - r->first;
	r->offset = open_window(in->offset, r->low, r->size, err);
	r->target = r->offset ? open_window(in->target, r->first, r->n, err) : NULL;
	r->offsets = r->target ? big_alloc_held(SOURCES_AT_ONCE + 1, sizeof *r->offsets, err) : NULL;
	r->targets = r->offsets ? big_alloc_held(READ_AT_ONCE, sizeof *r->targets, err) : NULL;
	if (!r->targets)
		return ERR_NOMEM;
	if (is_away(in->offset))
		big_read(r->offset, in->offset, r->low * sizeof *r->offset, r->size * sizeof *r->offset);
	return 0;
}

static void close_range(struct placing_range *r, struct adjacency *in)
{
	close_window(r->offset, in->offset, r->low, r->size);
	close_window(r->target, in->target, r->first, r->n);
	big_free(r->offsets);
	big_free(r->targets);
}

/* Sources from the last to the first, each list from its end to its start: lists come out sorted,
 * and the ends stored in the offsets have become the starts. */
static void place_sources(struct placing_range *r, const struct transposition *t, uint64_t begin, uint64_t end)
{
	const struct adjacency *out = t->out;
	const uint32_t *offset = big_look(out->offset, begin * sizeof *offset, (end - begin + 1) * sizeof *offset,
	    r->offsets), *target = NULL;
	uint64_t k = out->base[end >> BLOCK_SHIFT] + offset[end - begin], at = k;
	for (uint64_t source = end; source-- > begin;) {
		uint64_t start = out->base[source >> BLOCK_SHIFT] + offset[source - begin];
		cairn_assert(start <= k);
		for (; k > start; k--) {
			if (k == at) {
				uint64_t n = at < READ_AT_ONCE ? at : READ_AT_ONCE;
				at -= n;
				target = big_look(out->target, at * sizeof *target, n * sizeof *target, r->targets);
			}
			uint32_t id = target[k - 1 - at] - r->low;
			if (id >= r->size)
				continue;
			cairn_assert(r->offset[id] > 0);
			uint64_t place = t->in->base[(r->low + id) >> BLOCK_SHIFT] + --r->offset[id] - r->first;
			cairn_assert(place < r->n);
			r->target[place] = (uint32_t)source;
		}
	}
}

static int place_range(void *context, unsigned range, struct err *err)
{
	struct transposition *t = context;
	struct placing_range r = { .low = 0 };
	int code = open_range(&r, t, range, err);
	for (uint64_t end = t->n_objects, begin; end > 0 && code == 0; end = begin) {
		begin = (end - 1) & ~(uint64_t)(SOURCES_AT_ONCE - 1);
		place_sources(&r, t, begin, end);
		if (!progress_add(t->progress, t->out->n * (end - begin) / t->n_objects / t->n_ranges))
			code = err_cancelled(err);
	}
	close_range(&r, t->in);
	return code;
}

int adjacency_transpose(const struct adjacency *out, struct adjacency *in, uint32_t n_objects,
    struct progress *progress, struct err *err)
{
	struct transposition t = { .out = out, .in = in, .n_objects = n_objects, .progress = progress };
	progress_phase(progress, PHASE_TURN_REFERENCES, 2 * out->n);
	int code = init(in, n_objects, err);
	if (code == 0) {
		t.n_ranges = ranges_for(in);
		code = parallel_run(0, t.n_ranges, count_range, &t, err);
	}
	if (code == 0)
		code = accumulate(&(struct accumulation){ .a = in, .n_objects = n_objects }, err);
	if (code == 0) {
		t.n_ranges = ranges_for(in);
		code = parallel_run(0, t.n_ranges, place_range, &t, err);
	}
	return code;
}
