/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators_partition.c - who references junctions, where memory does not hold what would tell.
 *
 * To look up a junction's referrers and their numbers is to jump through three arrays in the order of the
 * walk.  Where these live in the file, each jump is a wait for the disk.  But the walk meets every
 * reference of the objects that it numbers: it notes (id of the junction, number of the referrer) in
 * buckets by ids.  When all numbers are known, each bucket is read with the few numbers that it needs, and
 * partitioned anew by the junction's number; so when the algorithm comes to a stretch of numbers, all that
 * references it lies in one bucket.
 */
#include "analysis/dominators/dominance.h"

#include "base/assert.h"
#include "base/memory_limit.h"
#include "memory/big.h"

#include <string.h>

enum { LEAST_SHIFT = 16, MOST_PILES = 256, WINDOW_PART = 8, READ_AT_ONCE = 1 << 16, STRETCH = 1 << 17 };

/* Ids, or numbers, of a bucket. */
static unsigned shift_of(const struct dominance *d)
{
	unsigned shift = LEAST_SHIFT;
	while (d->size >> shift >= MOST_PILES)
		shift++;
	return shift;
}

/* Where lists told what is closed, that is still to be noted. */
static void note_referrers(struct dominance *d)
{
	const struct adjacency *in = &d->h->in;
	for (uint32_t begin = 0, end; in->offset && begin < d->h->n_objects; begin = end) {
		end = begin + (d->h->n_objects - begin < STRETCH ? d->h->n_objects - begin : STRETCH);
		uint64_t first = adjacency_start(in, begin);
		readahead_all(d->number, begin, end - begin, sizeof *d->number);
		readahead_all(in->offset, begin, end - begin + 1, sizeof *in->offset);
		readahead_all(in->target, first, adjacency_start(in, end) - first, sizeof *in->target);
		for (uint32_t id = begin; id < end && !progress_stops(d->progress, id); id++)
			if (bits_get(&d->closed, id))
				d->number[id] = in->target[adjacency_start(in, id)] + 1;
	}
}

int partition_init(struct dominance *d, struct err *err)
{
	note_referrers(d);
	d->partition = big_alloc(1, sizeof *d->partition, err);
	if (!d->partition)
		return ERR_NOMEM;
	d->partition->shift = shift_of(d);
	uint64_t limit = memory_limit_bytes(), most = limit ? limit / WINDOW_PART / sizeof *d->number : d->size;
	uint64_t window = most >> d->partition->shift;
	d->partition->window = (window ? window : 1) << d->partition->shift;
	d->partition->parent = big_alloc(d->room, sizeof *d->partition->parent, err);
	return d->partition->parent ? buckets_init(&d->partition->buckets, 2 * partition_buckets(d), err) : ERR_NOMEM;
}

static void release_stretch(struct partition *t)
{
	big_free(t->end);
	big_free(t->least);
	big_free(t->holder);
	t->end = NULL;
	t->least = t->holder = NULL;
}

void partition_release(struct dominance *d)
{
	if (!d->partition)
		return;
	release_stretch(d->partition);
	big_free(d->partition->parent);
	buckets_release(&d->partition->buckets);
	big_free(d->partition);
	d->partition = NULL;
}

static size_t bucket_of(const struct dominance *d, uint32_t number)
{
	return partition_buckets(d) + (number >> d->partition->shift);
}

/* The numbers of the ids from begin on; closed ones keep what they have.  room: for some objects. */
static int number_window(struct dominance *d, uint64_t begin, uint32_t *number, uint32_t *room, struct err *err)
{
	uint64_t left = d->size - begin, n_ids = left < d->partition->window ? left : d->partition->window;
	big_read(number, d->number, begin * sizeof *number, n_ids * sizeof *number);
	for (uint64_t i = 0; i < n_ids; i++)
		if (!bits_get(&d->closed, begin + i))
			number[i] = 0;
	for (uint64_t first = 0; first <= d->n; first += READ_AT_ONCE) {
		uint32_t n = d->n - first < READ_AT_ONCE ? (uint32_t)(d->n - first + 1) : READ_AT_ONCE;
		const uint32_t *object = big_look(d->object, first * sizeof *object, n * sizeof *object, room);
		for (uint32_t i = !first; i < n; i++)
			if (object[i] - begin < d->partition->window)
				number[object[i] - begin] = (uint32_t)first + i;
		if (progress_cancelled(d->progress))
			return err_cancelled(err);
	}
	big_write(d->number, begin * sizeof *number, number, n_ids * sizeof *number);
	return 0;
}

/* number: of the bucket's ids. */
static int partition_bucket(struct dominance *d, size_t bucket, const uint32_t *number, struct err *err)
{
	struct buckets *p = &d->partition->buckets;
	const uint64_t *note;
	uint32_t at = BUCKETS_FIRST, n;
	int code = 0;
	while ((note = buckets_next(p, bucket, &at, &n))) {
		for (uint32_t i = 0; i < n && code == 0; i++) {
			uint32_t w = number[(note[i] >> 32) - ((uint64_t)bucket << d->partition->shift)];
			cairn_assert(w && bits_get(&d->at, w));
			code = buckets_add(p, bucket_of(d, w), (uint64_t)w << 32 | (uint32_t)note[i], err);
		}
		if (code)
			return code;
		if (progress_cancelled(d->progress))
			return err_cancelled(err);
	}
	buckets_clear(p, bucket);
	return 0;
}

/* Only so many numbers are jumped through at once as memory holds. */
int partition_by_number(struct dominance *d, struct err *err)
{
	uint32_t *number = big_alloc_held(d->partition->window, sizeof *number, err);
	uint32_t *room = number ? big_alloc_held(READ_AT_ONCE, sizeof *room, err) : NULL;
	int code = room ? 0 : ERR_NOMEM;
	size_t bucket = 0, n = partition_buckets(d);
	for (uint64_t begin = 0; begin < d->size && code == 0; begin += d->partition->window) {
		code = number_window(d, begin, number, room, err);
		for (; bucket < n && bucket << d->partition->shift < begin + d->partition->window && code == 0; bucket++)
			code = partition_bucket(d, bucket, number + ((bucket << d->partition->shift) - begin), err);
	}
	big_free(room);
	big_free(number);
	return code;
}

/* Referrers with smaller numbers are done with: the least of them is kept.  The others are counted. */
static int count_holders(struct dominance *d, size_t bucket, struct err *err)
{
	struct partition *t = d->partition;
	const uint64_t *note;
	uint32_t at = BUCKETS_FIRST, n;
	while ((note = buckets_next(&t->buckets, bucket, &at, &n))) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t w = (uint32_t)(note[i] >> 32), k = (uint32_t)note[i];
			if (k > w)
				t->end[w - t->begin]++;
			else if (k < t->least[w - t->begin])
				t->least[w - t->begin] = k;
		}
		if (progress_cancelled(d->progress))
			return err_cancelled(err);
	}
	return 0;
}

static int place_holders(struct dominance *d, size_t bucket, struct err *err)
{
	struct partition *t = d->partition;
	const uint64_t *note;
	uint32_t at = BUCKETS_FIRST, n;
	while ((note = buckets_next(&t->buckets, bucket, &at, &n))) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t w = (uint32_t)(note[i] >> 32), k = (uint32_t)note[i];
			if (k > w)
				t->holder[--t->end[w - t->begin + 1]] = k;
		}
		if (progress_cancelled(d->progress))
			return err_cancelled(err);
	}
	return 0;
}

int partition_take(struct dominance *d, uint32_t w, struct err *err)
{
	struct partition *t = d->partition;
	size_t bucket = bucket_of(d, w);
	uint32_t room = UINT32_C(1) << t->shift;
	if (t->end && w >= t->begin)
		return 0;
	release_stretch(t);
	t->begin = w >> t->shift << t->shift;
	t->end = big_alloc((uint64_t)room + 2, sizeof *t->end, err);
	t->least = big_alloc(room, sizeof *t->least, err);
	if (!t->end || !t->least)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < room; i++)
		t->least[i] = t->begin + i;
	int code = count_holders(d, bucket, err);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < room; i++) {
		sum += t->end[i];
		t->end[i] = sum;
	}
	if (code)
		return code;
	/* filled from the ends down to the beginnings, which are the ends of those before */
	memmove(t->end + 1, t->end, (uint64_t)room * sizeof *t->end);
	t->holder = big_alloc(sum, sizeof *t->holder, err);
	code = t->holder ? place_holders(d, bucket, err) : ERR_NOMEM;
	t->end[0] = 0;
	t->end[room + 1] = sum;
	buckets_clear(&t->buckets, bucket);
	return code;
}
