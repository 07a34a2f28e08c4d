/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed_maps.c - entries of maps of Go before 1.24; see typed_contents.h.
 *
 * Such a map is a hash<K,V>: an array of 2^B buckets, each with eight places and a
 * chain of overflow buckets.  The tophash of a place says whether it is taken (from 5 on).  While a
 * map grows, the entries that were not moved yet are in oldbuckets.  A place there whose entry was
 * moved says so in its tophash, so looking at all places of both arrays finds each entry once.
 */
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"
#include "heap/typed/typed.h"
#include "heap/typed/typed_contents.h"

enum {
	PLACES = 8,           /* of a bucket */
	LEAST_TAKEN = 5,      /* tophash of a place that is */
	SAME_SIZE_GROW = 8,   /* flag of a map: it grows into as many buckets */
	MOST_CHAIN = 1 << 16, /* a longer one is a circle */
	MOST_LOG = 40,        /* of a number of buckets */
};

static const struct types *types_of(const struct heap *h)
{
	return h->dump->types;
}

/* The element type of an array field of a bucket; of a key or value that is too large to stand in the
 * bucket that of the pointer to it. */
static uint32_t type_in_bucket(const struct types *t, uint32_t bucket, const char *field)
{
	uint32_t f = types_field(t, bucket, field);
	const struct type *of = f == TYPE_NONE ? NULL : &t->type[t->field[f].type];
	if (!of || of->kind != TYPE_ARRAY)
		return TYPE_NONE;
	/* arrays of what has no size have no count here */
	return of->count >= PLACES || !t->type[of->element].size ? of->element : TYPE_NONE;
}

int map_open(struct typed_contents *c, const struct typed *v, const struct type *owner, struct err *err)
{
	const struct types *t = types_of(c->heap);
	struct typed buckets;
	uint64_t log = typed_field_number(v, "B");
	c->map = true;
	c->size = typed_field_number(v, "count");
	c->how = CONTENTS_BUCKETS;
	if (!typed_field(v, "buckets", &buckets) || typed_type(&buckets)->kind != TYPE_POINTER ||
	    log > MOST_LOG)
		return err_set(err, ERR_NOT_FOUND, "%.200s has an unknown layout", owner->name);
	c->bucket_type = typed_type(&buckets)->element;
	if (c->bucket_type != TYPE_NONE) {
		c->key_type = type_in_bucket(t, c->bucket_type, "keys");
		c->value_type = type_in_bucket(t, c->bucket_type, "values");
		if (c->value_type == TYPE_NONE)
			c->value_type = type_in_bucket(t, c->bucket_type, "elems");
	}
	if (c->bucket_type == TYPE_NONE || t->type[c->bucket_type].size < PLACES ||
	    c->key_type == TYPE_NONE || c->value_type == TYPE_NONE)
		return err_set(err, ERR_NOT_FOUND, "unknown bucket types of %.200s",
		    owner->name);
	contents_settle(c, owner);
	c->first = typed_word(&buckets, 0);
	c->buckets = c->first ? UINT64_C(1) << log : 0;
	c->old_first = typed_field_number(v, "oldbuckets");
	if (c->old_first)
		c->old_buckets = typed_field_number(v, "flags") & SAME_SIZE_GROW || !log
		    ? UINT64_C(1) << log : UINT64_C(1) << (log - 1);
	return 0;
}

/* The next bucket of the array, or of the old one. */
static bool next_bucket(struct typed_contents *c)
{
	uint64_t to = 0;
	struct typed overflow;
	if (c->bucket.bytes && typed_field(&c->bucket, "overflow", &overflow))
		to = typed_word(&overflow, 0);
	if (to) {
		c->chain++;
	} else if (c->next < c->buckets + c->old_buckets) {
		bool old = c->next >= c->buckets;
		uint64_t i = old ? c->next - c->buckets : c->next;
		c->next++;
		c->chain = 0;
		if (!contents_element(c, old ? &c->old_row : &c->row, i, old ? c->old_first : c->first,
		        c->bucket_type, &c->bucket))
			c->broken = true;
		c->slot = 0;
		return !c->broken;
	} else {
		return false;
	}
	c->slot = 0;
	/* the first that overflow stand in the same object, behind the others */
	bool beside = c->row.bytes && to >= c->first &&
	    typed_part(&c->row, to - c->first, c->bucket_type, &c->bucket);
	if (c->chain <= MOST_CHAIN && (beside || typed_at(c->heap, to, c->bucket_type, &c->bucket)))
		return true;
	c->broken = true;
	return false;
}

static bool place_of(const struct typed_contents *c, const char *field, uint32_t type, struct typed *out)
{
	const struct types *t = types_of(c->heap);
	struct typed all;
	return typed_field(&c->bucket, field, &all) &&
	    typed_part(&all, c->slot * t->type[type].size, type, out);
}

bool map_next(struct typed_contents *c)
{
	for (;;) {
		if (!c->bucket.bytes || c->slot == PLACES) {
			if (!next_bucket(c))
				return false;
		}
		uint64_t tophash = typed_number(&c->bucket, c->slot, 1);
		bool taken = tophash >= LEAST_TAKEN && place_of(c, "keys", c->key_type, &c->key) &&
		    (place_of(c, "values", c->value_type, &c->value) ||
		        place_of(c, "elems", c->value_type, &c->value));
		c->slot++;
		if (!taken)
			continue;
		if (c->found > c->size) { /* one more may be on its way in */
			c->broken = true;
			return false;
		}
		contents_take(c);
		return true;
	}
}
