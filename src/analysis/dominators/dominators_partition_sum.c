/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators_partition_sum.c - retained sizes, where memory does not hold what they are added up in.
 *
 * By ids, an object and its dominator lie anywhere.  By numbers, the dominator comes before the object, and mostly
 * near.  So sizes are partitioned into buckets by number, which are added up one after another, the last first:
 * what belongs to an object further up is put on the bucket of that one.  Sums are partitioned back into buckets
 * by id, and likewise the dominators of what has a number.  Closed objects have no number: first what they have is
 * partitioned to what holds them, by id. Each step partitions from one half of the buckets into the other.
 *
 * A note has a place within its bucket in the lowest bits, an amount above them, and in the highest bit whether that
 * amount is the upper part of a large one.  Notes of one place add up.
 */
#include "analysis/dominators/dominance.h"

#include "base/assert.h"
#include "memory/big.h"

#include <string.h>

enum { STRETCH = 1 << 17 };

static uint64_t bucket_size(const struct dominance *d)
{
	return UINT64_C(1) << d->partition->shift;
}

static uint64_t bucket_begin(const struct dominance *d, size_t bucket)
{
	return bucket * bucket_size(d);
}

/* Behind the last id of a bucket. */
static uint64_t bucket_end(const struct dominance *d, size_t bucket)
{
	uint64_t end = bucket_begin(d, bucket) + bucket_size(d);
	return end < d->h->n_objects ? end : d->h->n_objects;
}

/* Bits of an amount in one note. */
static unsigned amount_bits(const struct dominance *d)
{
	return 63 - d->partition->shift;
}

static uint64_t place_of(const struct dominance *d, uint64_t note)
{
	return note & (bucket_size(d) - 1);
}

static uint64_t amount_of(const struct dominance *d, uint64_t note)
{
	uint64_t part = note << 1 >> 1 >> d->partition->shift;
	return note >> 63 ? part << amount_bits(d) : part;
}

/* at: an id or a number. */
static inline int note(struct dominance *d, unsigned half, uint32_t at, uint64_t amount, struct err *err)
{
	unsigned shift = d->partition->shift, bits = amount_bits(d);
	uint64_t place = place_of(d, at), low = amount & ((UINT64_C(1) << bits) - 1), high = amount >> bits;
	size_t bucket = half * partition_buckets(d) + (at >> shift);
	int code = buckets_add(&d->partition->buckets, bucket, low << shift | place, err);
	if (code == 0 && high)
		code = buckets_add(&d->partition->buckets, bucket, UINT64_C(1) << 63 | high << shift | place, err);
	return code;
}

/* All that a bucket has is added to what is there, by place; then it is empty. */
static void take_bucket(struct dominance *d, unsigned half, size_t bucket, uint64_t *sum)
{
	const uint64_t *notes;
	uint32_t at = BUCKETS_FIRST, n;
	bucket += half * partition_buckets(d);
	while ((notes = buckets_next(&d->partition->buckets, bucket, &at, &n)))
		for (uint32_t i = 0; i < n; i++)
			sum[place_of(d, notes[i])] += amount_of(d, notes[i]);
	buckets_clear(&d->partition->buckets, bucket);
}

/* Of these ids all that is looked at in the order of ids. */
static void ask_ids(const struct dominance *d, uint64_t begin, uint64_t end)
{
	const struct heap *h = d->h;
	readahead_all(h->class_low, begin, end - begin, sizeof *h->class_low);
	readahead_all(h->class_high, begin, end - begin, sizeof *h->class_high);
	readahead_all(d->number, begin, end - begin, sizeof *d->number);
}

/* The only one that references this closed object. */
static uint32_t above_closed(const struct dominance *d, uint32_t id)
{
	return d->number[id] - 1;
}

/* What leads nowhere, to what references it. */
static int partition_leaves(struct dominance *d, struct err *err)
{
	int code = 0;
	for (uint32_t id = 0; id < d->h->n_objects && code == 0; id++) {
		if (id % STRETCH == 0)
			ask_ids(d, id, d->h->n_objects - id < STRETCH ? d->h->n_objects : id + STRETCH);
		if (bits_get(&d->leaf, id))
			code = note(d, 0, above_closed(d, id), heap_shallow(d->h, id), err);
		if (progress_stops(d->progress, id))
			code = err_cancelled(err);
	}
	return code;
}

/* Other closed objects with their leaves, likewise, and to themselves; those that hang below nothing are seen no
 * more.  What has a number keeps what was partitioned to it. */
static int partition_closed(struct dominance *d, size_t bucket, uint64_t *room, struct err *err)
{
	uint64_t begin = bucket_begin(d, bucket), end = bucket_end(d, bucket);
	int code = 0;
	memset(room, 0, bucket_size(d) * sizeof *room);
	take_bucket(d, 0, bucket, room);
	ask_ids(d, begin, end);
	for (uint64_t at = begin; at < end && code == 0; at++) {
		uint32_t id = (uint32_t)at;
		uint64_t amount = room[at - begin];
		if (bits_get(&d->closed, id) && !bits_get(&d->leaf, id)) {
			amount += heap_shallow(d->h, id);
			if (bits_get(&d->seen, above_closed(d, id)))
				code = note(d, 1, above_closed(d, id), amount, err);
			else
				bits_unset(&d->seen, id);
		}
		if (amount && code == 0)
			code = note(d, 1, id, amount, err);
		if (progress_stops(d->progress, at))
			code = err_cancelled(err);
	}
	return code;
}

/* What has a number, with what was partitioned to it, into buckets by number; for all others this is what they retain.
 * Of closed objects, which are named thereby, the referrer becomes the dominator. */
static int partition_sizes(struct dominance *d, size_t bucket, struct dominators *out, uint64_t *room, struct err *err)
{
	uint64_t begin = bucket_begin(d, bucket), end = bucket_end(d, bucket);
	int code = 0;
	memset(room, 0, bucket_size(d) * sizeof *room);
	take_bucket(d, 1, bucket, room);
	ask_ids(d, begin, end);
	for (uint64_t at = begin; at < end && code == 0; at++) {
		uint32_t id = (uint32_t)at, k = bits_get(&d->closed, id) ? 0 : d->number[id];
		uint64_t size = heap_shallow(d->h, id), *sum = &room[at - begin];
		bool leaf = bits_get(&d->leaf, id);
		if (!bits_get(&d->seen, leaf ? above_closed(d, id) : id)) {
			d->number[id] = NOT_REACHABLE;
			*sum = 0;
			continue;
		}
		out->shallow_reachable += size;
		out->n_reachable++;
		if (k)
			code = note(d, 0, k, *sum + size, err);
		*sum = k ? 0 : leaf ? size : *sum;
		if (!k)
			d->number[id] = above_closed(d, id);
		if (progress_stops(d->progress, at))
			code = err_cancelled(err);
	}
	narrow_write(&out->retained, begin, end - begin, room);
	return code;
}

/* The sums of one bucket of numbers, in which everything from above is, into buckets by id. */
static int add_up(struct dominance *d, size_t bucket, uint64_t *sum, uint32_t *junction, struct err *err)
{
	uint64_t begin = bucket_begin(d, bucket), last = begin + bucket_size(d) - 1;
	int code = 0;
	readahead_all(d->partition->parent, begin, bucket_size(d), sizeof *d->partition->parent);
	readahead_all(d->object, begin, bucket_size(d), sizeof *d->object);
	memset(sum, 0, bucket_size(d) * sizeof *sum);
	take_bucket(d, 0, bucket, sum);
	for (uint64_t k = last < d->n ? last : d->n; k >= begin && k > 0 && code == 0; k--) {
		bool joins = bits_get(&d->at, k);
		uint32_t dominator = joins ? d->junction[--*junction].semi : d->partition->parent[k];
		cairn_assert(dominator < k);
		if (dominator >= begin)
			sum[dominator - begin] += sum[k - begin];
		else if (dominator)
			code = note(d, 0, dominator, sum[k - begin], err);
		if (code == 0)
			code = note(d, 1, d->object[k], sum[k - begin], err);
		if (progress_stops(d->progress, k))
			code = err_cancelled(err);
	}
	return code;
}

static void give_sums(struct dominance *d, size_t bucket, struct narrow *retained, uint64_t *room)
{
	uint64_t begin = bucket_begin(d, bucket), n = bucket_end(d, bucket) - begin;
	narrow_read(retained, begin, n, room);
	take_bucket(d, 1, bucket, room);
	narrow_write(retained, begin, n, room);
}

/* What has a number, with its dominator into the bucket of its id, where that one's id is at hand: mostly it is.  Else
 * into the bucket of the dominator's number. */
static int partition_numbered(struct dominance *d, size_t bucket, uint32_t *junction, struct err *err)
{
	uint64_t begin = bucket_begin(d, bucket), end = begin + bucket_size(d) - 1;
	int code = 0;
	readahead_all(d->partition->parent, begin, bucket_size(d), sizeof *d->partition->parent);
	readahead_all(d->object, begin, bucket_size(d), sizeof *d->object);
	for (uint64_t k = begin ? begin : 1; k <= d->n && k <= end && code == 0; k++) {
		uint32_t dominator = bits_get(&d->at, k) ? d->junction[(*junction)++].semi : d->partition->parent[k];
		cairn_assert(dominator < k);
		if (dominator && dominator < begin)
			code = note(d, 0, dominator, d->object[k], err);
		else
			code = note(d, 1, d->object[k], dominator ? d->object[dominator] : DOMINATED_BY_ROOTS, err);
		if (progress_stops(d->progress, k))
			code = err_cancelled(err);
	}
	return code;
}

/* From there, with the ids of those dominators, into buckets by id. */
static int partition_names(struct dominance *d, size_t bucket, struct err *err)
{
	const uint32_t *object = d->object + bucket_begin(d, bucket);
	const uint64_t *notes;
	uint32_t at = BUCKETS_FIRST, n;
	int code = 0;
	readahead_all(d->object, bucket_begin(d, bucket), bucket_size(d), sizeof *object);
	while (code == 0 && (notes = buckets_next(&d->partition->buckets, bucket, &at, &n)))
		for (uint32_t i = 0; i < n && code == 0; i++) {
			code = note(d, 1, (uint32_t)amount_of(d, notes[i]), object[place_of(d, notes[i])], err);
		}
	buckets_clear(&d->partition->buckets, bucket);
	return code;
}

static void give_names(struct dominance *d, size_t bucket)
{
	uint32_t *number = d->number + bucket_begin(d, bucket);
	const uint64_t *notes;
	uint32_t at = BUCKETS_FIRST, n;
	readahead_all(d->number, bucket_begin(d, bucket), bucket_size(d), sizeof *number);
	while ((notes = buckets_next(&d->partition->buckets, partition_buckets(d) + bucket, &at, &n)))
		for (uint32_t i = 0; i < n; i++)
			number[place_of(d, notes[i])] = (uint32_t)amount_of(d, notes[i]);
	buckets_clear(&d->partition->buckets, partition_buckets(d) + bucket);
}

static int sum_all(struct dominance *d, struct dominators *out, uint64_t *room, struct err *err)
{
	size_t n = (size_t)((d->h->n_objects + bucket_size(d) - 1) >> d->partition->shift); /* with ids in them */
	uint32_t junction = d->m;
	int code = partition_leaves(d, err);
	for (size_t bucket = 0; bucket < n && code == 0; bucket++)
		code = partition_closed(d, bucket, room, err);
	for (size_t bucket = 0; bucket < n && code == 0; bucket++)
		code = partition_sizes(d, bucket, out, room, err);
	for (size_t bucket = partition_buckets(d); bucket-- > 0 && code == 0;)
		code = add_up(d, bucket, room, &junction, err);
	for (size_t bucket = 0; bucket < n && code == 0 && !progress_cancelled(d->progress); bucket++)
		give_sums(d, bucket, &out->retained, room);
	return code ? code : progress_check(d->progress, err);
}

static int name_all(struct dominance *d, struct err *err)
{
	uint32_t junction = 0;
	int code = 0;
	for (size_t bucket = 0; bucket < partition_buckets(d) && code == 0; bucket++)
		code = partition_numbered(d, bucket, &junction, err);
	for (size_t bucket = 0; bucket < partition_buckets(d) && code == 0; bucket++)
		code = partition_names(d, bucket, err);
	for (size_t bucket = 0; bucket < partition_buckets(d) && code == 0 && !progress_cancelled(d->progress); bucket++)
		give_names(d, bucket);
	return code ? code : progress_check(d->progress, err);
}

/* The places are done with: they may be in memory, which the file's pages need now. */
int partition_sum(struct dominance *d, struct dominators *out, struct err *err)
{
	big_free(d->place);
	d->place = NULL;
	uint64_t *room = big_alloc_held(bucket_size(d), sizeof *room, err);
	int code = room ? narrow_init(&out->retained, d->h->n_objects, d->h->shallow, NULL, err) : ERR_NOMEM;
	if (code == 0)
		code = sum_all(d, out, room, err);
	big_free(room);
	if (code == 0)
		code = name_all(d, err);
	out->immediate = d->number;
	d->number = NULL;
	return code;
}
