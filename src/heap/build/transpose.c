/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * transpose.c - incoming references out of the outgoing ones.
 *
 * The offsets of 16 bits are all the memory that it takes: they count the referrers of each object, and then they say
 * where the next referrer goes.  A count that overflows is noted in a list.
 */
#include "heap/build/build.h"

#include "algorithms/parallel.h"
#include "base/assert.h"
#include "base/memory_limit.h"
#include "memory/big.h"

#include <pthread.h>

enum { SOURCES_AT_ONCE = 1 << 16, READ_AT_ONCE = 1 << 16 };
enum { WINDOW_PART = 2, LEAST_WINDOW = 1 << 20 }; /* of the limit, what tasks write at once; bytes */

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
	uint64_t *first;            /* by range: the place of its first reference; one more for the end */
	struct progress *progress;
	pthread_mutex_t lock;       /* of what follows */
	struct more_degree *more;   /* an entry for each time that a count overflowed */
	size_t n_more, cap_more;
};

/* Of whole blocks, so that the places of its references are known. */
static uint32_t range_begin(const struct transposition *t, unsigned range)
{
	uint64_t id = adjacency_blocks(t->n_objects) * range / t->n_ranges << ADJACENCY_SHIFT;
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

/* Part of an array to be written: the array, or memory that has the same indices.  To be closed. */
static void *open_window(void *array, uint64_t first, uint64_t n, size_t size, struct err *err)
{
	if (!is_away(array))
		return array;
	char *part = big_alloc_held(n, size, err);
	return part ? (void *)((uintptr_t)part - first * size) : NULL;
}

static void close_window(void *window, void *array, uint64_t first, uint64_t n, size_t size)
{
	if (!is_away(array) || !window)
		return;
	const void *part = (const void *)((uintptr_t)window + first * size);
	big_write(array, first * size, part, n * size);
	big_free(part);
}

static int note_overflow(struct transposition *t, uint32_t id, struct err *err)
{
	pthread_mutex_lock(&t->lock);
	int code = BIG_ADD(t->more, t->n_more, t->cap_more, err, (struct more_degree){ id, UINT16_MAX + 1 });
	pthread_mutex_unlock(&t->lock);
	return code;
}

/* Count targets from number i on, until a count overflows: the number of that target, or n. */
static __attribute__((noinline)) uint64_t count_targets(uint16_t *degree, uint32_t low, uint32_t size,
    const uint32_t *target, uint64_t i, uint64_t n)
{
	for (; i < n; i++) {
		uint32_t at = target[i] - low;
		if (at < size && __builtin_expect(!++degree[at], 0))
			break;
	}
	return i;
}

static int count_range(void *context, unsigned range, struct err *err)
{
	struct transposition *t = context;
	uint32_t low = range_begin(t, range), size = range_begin(t, range + 1) - low, *room = NULL;
	uint16_t *window = open_window(t->in->offset, low, size, sizeof *window, err);
	int code = window && (room = big_alloc_held(READ_AT_ONCE, sizeof *room, err)) ? 0 : ERR_NOMEM;
	for (uint64_t k = 0; k < t->out->n && code == 0; k += READ_AT_ONCE) {
		uint64_t n = t->out->n - k < READ_AT_ONCE ? t->out->n - k : READ_AT_ONCE;
		const uint32_t *target = big_look(t->out->target, k * sizeof *target, n * sizeof *target, room);
		uint64_t i = 0;
		while (!code && (i = count_targets(window + low, low, size, target, i, n)) < n)
			code = note_overflow(t, target[i++], err);
		if (!code && !progress_add(t->progress, n / t->n_ranges))
			code = err_cancelled(err);
	}
	big_free(room);
	close_window(window, t->in->offset, low, size, sizeof *window);
	return code;
}

/* What a task places references with. */
struct placing_range {
	uint32_t low, size;
	uint16_t *offset;            /* windows */
	uint32_t *target;
	const uint64_t *base;
	uint64_t *wide;
	uint64_t first, n;           /* places of the references */
	uint16_t *offsets;           /* room for pieces of what is read */
	uint32_t *targets;
};

static int open_range(struct placing_range *r, const struct transposition *t, unsigned range, struct err *err)
{
	struct adjacency *in = t->in;
	uint32_t end = range_begin(t, range + 1);
	r->low = range_begin(t, range);
	r->size = end - r->low;
	r->first = t->first[range];
	r->n = t->first[range + 1] - r->first;
	r->base = in->base;
	r->wide = in->wide;
	r->offset = open_window(in->offset, r->low, r->size, sizeof *r->offset, err);
	if (!r->offset)
		return ERR_NOMEM;
	r->target = open_window(in->target, r->first, r->n, sizeof *r->target, err);
	r->offsets = r->target ? big_alloc_held(SOURCES_AT_ONCE + 1, sizeof *r->offsets, err) : NULL;
	r->targets = r->offsets ? big_alloc_held(READ_AT_ONCE, sizeof *r->targets, err) : NULL;
	if (!r->targets)
		return ERR_NOMEM;
	if (is_away(in->offset))
		big_read(r->offset + r->low, in->offset, r->low * sizeof *r->offset, r->size * sizeof *r->offset);
	return 0;
}

static void close_range(struct placing_range *r, struct adjacency *in)
{
	close_window(r->offset, in->offset, r->low, r->size, sizeof *r->offset);
	close_window(r->target, in->target, r->first, r->n, sizeof *r->target);
	big_free(r->offsets);
	big_free(r->targets);
}

/* After the place where the next referrer of an object goes, from the end of its list to the start. */
static inline uint64_t next_end(const struct placing_range *r, uint32_t id)
{
	uint64_t end = r->base[id >> ADJACENCY_SHIFT] + r->offset[id];
	if (__builtin_expect(end & ADJACENCY_WIDE, 0)) {
		end = r->wide[end ^ ADJACENCY_WIDE]--;
	} else {
		cairn_assert(r->offset[id] > 0);
		r->offset[id]--;
	}
	cairn_assert(end - 1 - r->first < r->n);
	return end;
}

/* A source's references, the last one first. */
static inline void place_targets(const struct placing_range *r, const uint32_t *target, uint64_t n, uint32_t source)
{
	while (n-- > 0) {
		uint32_t id = target[n];
		if (id - r->low < r->size)
			r->target[next_end(r, id) - 1] = source;
	}
}

/* Sources from the last to the first, each list from its end to its start: lists come out sorted,
 * and the ends stored in the offsets have become the starts. */
static void place_sources(const struct placing_range *range, const struct transposition *t, uint64_t begin,
    uint64_t end)
{
	const struct placing_range r = *range; /* in registers */
	const struct adjacency *out = t->out;
	const uint32_t *target = NULL;
	const uint16_t *offset = big_look(out->offset, begin * sizeof *offset, (end - begin + 1) * sizeof *offset,
	    r.offsets);
	uint64_t k = adjacency_resolve(out, out->base[end >> ADJACENCY_SHIFT] + offset[end - begin]), at = k;
	for (uint64_t source = end; source-- > begin;) {
		uint64_t start = adjacency_resolve(out,
		    out->base[source >> ADJACENCY_SHIFT] + offset[source - begin]);
		cairn_assert(start <= k);
		while (k > start) {
			if (k == at) {
				uint64_t n = at < READ_AT_ONCE ? at : READ_AT_ONCE;
				at -= n;
				target = big_look(out->target, at * sizeof *target, n * sizeof *target, r.targets);
			}
			uint64_t stop = start > at ? start : at;
			place_targets(&r, target + (stop - at), k - stop, (uint32_t)source);
			k = stop;
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

static int count(struct transposition *t, struct err *err)
{
	struct adjacency *in = t->in;
	t->n_ranges = ranges_for(in);
	int code = parallel_run(0, t->n_ranges, count_range, t, err);
	if (!code)
		code = more_degrees_sort(t->more, t->n_more, err);
	struct degrees d = { in->offset, sizeof *in->offset, t->more, t->n_more };
	return code ? code : adjacency_place(in, t->n_objects, &d, err);
}

/* Each start is still that of the next object. */
static int place(struct transposition *t, struct err *err)
{
	struct adjacency *in = t->in;
	in->target = big_alloc(in->n, sizeof *in->target, err);
	t->n_ranges = ranges_for(in);
	t->first = in->target ? big_alloc(t->n_ranges + 1, sizeof *t->first, err) : NULL;
	if (!t->first)
		return ERR_NOMEM;
	for (unsigned i = 0; i < t->n_ranges; i++)
		t->first[i] = range_begin(t, i) ? adjacency_start(in, range_begin(t, i) - 1) : 0;
	t->first[t->n_ranges] = in->n;
	return parallel_run(0, t->n_ranges, place_range, t, err);
}

int adjacency_transpose(const struct adjacency *out, struct adjacency *in, uint32_t n_objects,
    struct progress *progress, struct err *err)
{
	struct transposition t = { .out = out, .in = in, .n_objects = n_objects, .progress = progress,
		.lock = PTHREAD_MUTEX_INITIALIZER };
	progress_phase(progress, PHASE_TURN_REFERENCES, 2 * out->n);
	int code = adjacency_init(in, n_objects, err);
	if (!code)
		code = count(&t, err);
	if (!code)
		code = place(&t, err);
	big_free(t.more);
	big_free(t.first);
	return code;
}
