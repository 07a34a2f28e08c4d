/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed_contents.c - what slices, arrays, maps and channels contain; see typed.h.
 *
 * A Go map (before 1.24) is a hash<K,V>: an array of 2^B buckets, each with eight places and a
 * chain of overflow buckets.  The tophash of a place says whether it is taken (from 5 on).  While a
 * map grows, the entries that were not moved yet are in oldbuckets.  A place there whose entry was
 * moved says so in its tophash, so looking at all places of both arrays finds each entry once.
 *
 * A channel is an hchan<T> with a ring of elements.
 */
#include "heap/typed.h"

#include <string.h>

enum {
	PLACES = 8,           /* of a bucket */
	LEAST_TAKEN = 5,      /* tophash of a place that is */
	SAME_SIZE_GROW = 8,   /* flag of a map: it grows into as many buckets */
	MOST_CHAIN = 1 << 16, /* a longer one is a circle */
	MOST_LOG = 40,        /* of a number of buckets */
	HOPS = 3,             /* a pointer to a pointer to a map */
};

static const struct types *types_of(const struct heap *h)
{
	return h->dump->types;
}

/* The map or channel type whose memory this struct is, or NULL.  Looks through all types, but only
 * for structs that have what such memory has. */
static const struct type *owner_of_layout(const struct heap *h, uint32_t layout)
{
	const struct types *t = types_of(h);
	if (types_field(t, layout, "buckets") == TYPE_NONE && types_field(t, layout, "dataqsiz") == TYPE_NONE)
		return NULL;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct type *of = &t->type[i];
		if ((of->kind == TYPE_MAP || of->kind == TYPE_CHAN) && of->layout == layout)
			return of;
	}
	return NULL;
}

static int is_none(const struct typed *v, struct err *err)
{
	const struct type *t = typed_type(v);
	return err_set(err, ERR_NOT_FOUND, "%.200s is no slice, array, map or channel",
	    t ? t->name : "what has no type");
}

static int open_row(struct typed_contents *c, uint32_t type, uint64_t first, uint64_t n, uint64_t room)
{
	c->how = CONTENTS_ROW;
	c->value_type = type;
	c->first = first;
	c->size = n;
	c->capacity = room;
	return 0;
}

static int open_channel(
    struct typed_contents *c, const struct typed *v, const struct type *owner, struct err *err)
{
	if (owner->element == TYPE_NONE)
		return is_none(v, err);
	uint64_t room = typed_field_number(v, "dataqsiz"), n = typed_field_number(v, "qcount");
	open_row(c, owner->element, typed_field_number(v, "buf"), n < room ? n : room, room);
	c->begin = typed_field_number(v, "recvx");
	return 0;
}

/* The element type of an array field of a bucket; of a key or value that is too large to stand in the
 * bucket the pointer to it. */
static uint32_t type_in_bucket(const struct types *t, uint32_t bucket, const char *field)
{
	uint32_t f = types_field(t, bucket, field);
	const struct type *of = f == TYPE_NONE ? NULL : &t->type[t->field[f].type];
	if (!of || of->kind != TYPE_ARRAY)
		return TYPE_NONE;
	/* arrays of what has no size have no count here */
	return of->count >= PLACES || !t->type[of->element].size ? of->element : TYPE_NONE;
}

static int open_map(
    struct typed_contents *c, const struct typed *v, const struct type *owner, struct err *err)
{
	const struct types *t = types_of(c->heap);
	struct typed buckets;
	uint64_t log = typed_field_number(v, "B");
	c->map = true;
	c->size = typed_field_number(v, "count");
	c->how = CONTENTS_BUCKETS;
	if (!typed_field(v, "buckets", &buckets) || typed_type(&buckets)->kind != TYPE_POINTER ||
	    log > MOST_LOG)
		return err_set(err, ERR_NOT_FOUND, "%.200s is laid out in a way that is not known here", owner->name);
	c->bucket_type = typed_type(&buckets)->element;
	if (c->bucket_type != TYPE_NONE) {
		c->key_type = type_in_bucket(t, c->bucket_type, "keys");
		c->value_type = type_in_bucket(t, c->bucket_type, "values");
		if (c->value_type == TYPE_NONE)
			c->value_type = type_in_bucket(t, c->bucket_type, "elems");
	}
	if (c->bucket_type == TYPE_NONE || t->type[c->bucket_type].size < PLACES ||
	    c->key_type == TYPE_NONE || c->value_type == TYPE_NONE)
		return err_set(err, ERR_NOT_FOUND, "the types of %.200s's buckets are not known",
		    owner->name);
	c->first = typed_word(&buckets, 0);
	c->buckets = c->first ? UINT64_C(1) << log : 0;
	c->old_first = typed_field_number(v, "oldbuckets");
	if (c->old_first)
		c->old_buckets = typed_field_number(v, "flags") & SAME_SIZE_GROW || !log
		    ? UINT64_C(1) << log : UINT64_C(1) << (log - 1);
	return 0;
}

/* The memory of a map or channel, by its type or that of who points to it. */
static int open_layout(
    struct typed_contents *c, const struct typed *v, const struct type *owner, struct err *err)
{
	return owner->kind == TYPE_CHAN ? open_channel(c, v, owner, err) : open_map(c, v, owner, err);
}

int typed_contents_open(struct typed_contents *c, const struct typed *value, struct err *err)
{
	const struct heap *h = value->heap;
	struct typed v = *value, next;
	*c = (struct typed_contents){ .heap = h };
	for (unsigned hops = 0; hops <= HOPS; hops++, v = next) {
		const struct type *t = typed_type(&v);
		const struct type *owner = t && t->kind == TYPE_STRUCT ? owner_of_layout(h, v.type) : NULL;
		uint64_t to = typed_word(&v, 0);
		if (owner)
			return open_layout(c, &v, owner, err);
		switch (t ? t->kind : TYPE_UNKNOWN) {
		case TYPE_SLICE:
			return open_row(c, t->element, to, typed_word(&v, 1), typed_word(&v, 2));
		case TYPE_ARRAY:
			return open_row(c, t->element, v.address, t->count, 0);
		case TYPE_MAP:
		case TYPE_CHAN:
			c->map = t->kind == TYPE_MAP;
			if (!to)
				return open_row(c, t->element, 0, 0, 0);
			if (t->layout == TYPE_NONE || !typed_at(h, to, t->layout, &next))
				return err_set(err, ERR_NOT_FOUND, "the memory of this %.200s is not in the dump", t->name);
			return open_layout(c, &next, t, err);
		case TYPE_POINTER:
			if (t->element != TYPE_NONE && typed_at(h, to, t->element, &next))
				continue;
			return is_none(value, err);
		default:
			return is_none(value, err);
		}
	}
	return is_none(value, err);
}

int typed_contents_of_object(
    struct typed_contents *c, const struct heap *h, uint32_t id, struct err *err)
{
	struct typed_object o;
	*c = (struct typed_contents){ .heap = h };
	if (!typed_open(&o, h, id))
		return err_set(err, ERR_NOT_FOUND, "the bytes of this object cannot be read");
	if (!o.array || o.value.type == TYPE_NONE)
		return typed_contents_open(c, &o.value, err);
	return open_row(c, o.value.type, o.value.address, o.count, 0);
}

/* --- one after another -------------------------------------------------------------------------- */

/* The i-th of a row that begins at an address.  The row's memory is looked up once: the dump finds an
 * object's end by reading all that the record says of it. */
static bool element_at(const struct typed_contents *c, struct typed *row, uint64_t i, uint64_t first,
    uint32_t type, struct typed *out)
{
	uint64_t offset, address;
	if (__builtin_mul_overflow(i, types_of(c->heap)->type[type].size, &offset) ||
	    __builtin_add_overflow(offset, first, &address))
		return false;
	if (!row->bytes && !typed_at(c->heap, first, TYPE_NONE, row))
		*row = (struct typed){ .heap = NULL };
	return row->bytes ? typed_part(row, offset, type, out) :
	                    typed_at(c->heap, address, type, out);
}

static bool next_in_row(struct typed_contents *c)
{
	const struct types *t = types_of(c->heap);
	if (c->found >= c->size)
		return false;
	uint64_t i = c->found, width = t->type[c->value_type].size;
	if (!width) { /* a number of them is all there is */
		c->value = (struct typed){ c->heap, c->value_type, (const uint8_t *)"", 0, c->first };
		return c->found++ < TYPED_MOST_EMPTY;
	}
	if (c->capacity && c->begin < c->capacity)
		i = (c->begin + i) % c->capacity;
	if (!element_at(c, &c->row, i, c->first, c->value_type, &c->value)) {
		c->broken = true;
		return false;
	}
	c->value.size = width;
	c->found++;
	return true;
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
		if (!element_at(c, old ? &c->old_row : &c->row, i, old ? c->old_first : c->first,
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

static bool next_in_buckets(struct typed_contents *c)
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
		c->found++;
		return true;
	}
}

bool typed_contents_next(struct typed_contents *c)
{
	if (c->broken)
		return false;
	return c->how == CONTENTS_ROW ? next_in_row(c) : next_in_buckets(c);
}
