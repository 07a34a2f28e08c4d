/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phd_large.c - the records of a PHD dump that are not small; their fields are read with a cursor. */
#include "dump/phd/phd_walk.h"

#include "memory/big.h"

#include <inttypes.h>

enum record_tag {
	TAG_END = 3,
	TAG_LONG_OBJECT = 4,
	TAG_OLD_OBJECT_ARRAY = 5,
	TAG_CLASS = 6,
	TAG_LONG_PRIMITIVE_ARRAY = 7,
	TAG_OBJECT_ARRAY = 8,
};

static __attribute__((cold, noinline)) int unknown_tag(struct walk *w, unsigned tag)
{
	uint64_t at = offset_of(w, w->p);

	return err_at(w->err, ERR_FORMAT, at, "unknown record tag 0x%02x at byte %" PRIu64, tag, at);
}

/* Does a hash stand here?  *hash gets it. */
static bool take_hash(const struct walk *w, struct cursor *c, bool flagged, uint32_t *hash)
{
	const uint8_t *p = w->phd->all_hashed ? cursor_take(c, 2) : NULL;

	*hash = p ? hash_of_16(p) : flagged && !w->phd->all_hashed ? cursor_u32(c) : 0;
	return flagged || w->phd->all_hashed;
}

/* A count of references; Java counts with a sign. */
static uint32_t cursor_count(struct walk *w, struct cursor *c)
{
	int32_t count = (int32_t)cursor_u32(c);

	if (count >= 0)
		return (uint32_t)count;
	w->sink->warn(w->sink, offset_of(w, w->p), "%" PRId32 " references, read as none", count);
	return 0;
}

static uint64_t reference_at(const struct walk *w, const uint8_t *p, unsigned code, uint64_t address)
{
	struct cursor c = cursor_make(p, w->end);

	return relative(w->phd, address, cursor_signed(&c, code));
}

/* How objects, object arrays and classes begin. */
struct head {
	unsigned flags;
	unsigned code;    /* references take 1 << code bytes */
	uint64_t address;
};

/* Reads a record's head; *c then stands behind it. */
static struct head begin(const struct walk *w, struct cursor *c)
{
	*c = cursor_make(w->p + 1, w->end);
	unsigned flags = cursor_u8(c);
	return (struct head){ flags, flags >> 4 & 3,
		relative(w->phd, w->prev, cursor_signed(c, flags >> 6)) };
}

static int long_object(struct walk *w)
{
	const struct phd *phd = w->phd;
	struct cursor c;
	struct head head = begin(w, &c);
	uint64_t class = cursor_unsigned(&c, phd->word_code);
	uint32_t hash;
	bool hashed = take_hash(w, &c, head.flags & 0x02, &hash);
	uint32_t n = cursor_count(w, &c);
	const uint8_t *refs = cursor_take(&c, (uint64_t)n << head.code);
	if (c.short_of)
		return phd_cut_short(w, "a long object");

	struct object_record r = {
		.address = head.address,
		.class_handle = handle_of(w, w->instances, CLASS_AT, class),
		.kind = OBJECT_INSTANCE,
		.size = SIZE_UNKNOWN,
		.length = LENGTH_UNKNOWN,
		.hash = hash,
		.hashed = hashed,
	};
	remember_class(w, class, r.class_handle);
	w->refs = refs;
	int result = announce(w, &r, n, head.code,
	    n && phd->class_first && reference_at(w, refs, head.code, head.address) == class);
	w->p = c.p;
	return result;
}

/*
 * J9 of Java 5 (version 4) names the leaf class and puts the array class in front of the elements:
 * give its handle and pass over it.
 */
static uint32_t old_array_class(struct walk *w, uint32_t *n, unsigned code, uint64_t address,
    int32_t *length)
{
	uint64_t array_class = reference_at(w, w->refs, code, address);

	w->refs += (size_t)1 << code;
	*n -= 1;
	if (*length > 0)
		*length -= 1;
	return handle_of(w, w->instances, CLASS_AT, array_class);
}

static int object_array(struct walk *w, bool old)
{
	const struct phd *phd = w->phd;
	struct cursor c;
	struct head head = begin(w, &c);
	uint64_t class = cursor_unsigned(&c, phd->word_code);
	uint32_t hash;
	bool hashed = take_hash(w, &c, head.flags & 0x02, &hash);
	uint32_t n = cursor_count(w, &c);
	const uint8_t *refs = cursor_take(&c, (uint64_t)n << head.code);
	int32_t length = old ? (int32_t)n : (int32_t)cursor_u32(&c);
	uint64_t size = phd->has_size ? footprint(cursor_u32(&c)) : SIZE_UNKNOWN;
	if (c.short_of)
		return phd_cut_short(w, old ? "an old object array" : "an object array");

	if (length < 0 || (uint32_t)length < n) {
		w->sink->warn(w->sink, offset_of(w, w->p),
		    "array of %" PRId32 " element%s with %" PRIu32 " reference%s", length, length == 1 ? "" : "s", n,
		    n == 1 ? "" : "s");
		length = (int32_t)n;
	}
	w->refs = refs;
	bool is_class = n && phd->j9 && reference_at(w, refs, head.code, head.address) == class;
	uint32_t handle;
	if (phd->version == 4 && phd->j9 && n && !is_class)
		handle = old_array_class(w, &n, head.code, head.address, &length);
	else
		handle = handle_of(w, w->arrays, w->array_naming, class);
	struct object_record r = {
		.address = head.address,
		.class_handle = handle,
		.kind = OBJECT_ARRAY,
		.size = size,
		.length = (uint64_t)length,
		.hash = hash,
		.hashed = hashed,
	};
	int result = announce(w, &r, n, head.code, is_class && phd->array_class_first);
	w->p = c.p;
	return result;
}

static int long_primitive_array(struct walk *w)
{
	const struct phd *phd = w->phd;
	struct cursor c = cursor_make(w->p + 1, w->end);
	unsigned flags = cursor_u8(&c), code = flags & 0x10 ? phd->word_code : 0;
	struct object_record r = {.address = relative(phd, w->prev, cursor_signed(&c, code))};
	r.length = cursor_unsigned(&c, code);
	r.hashed = take_hash(w, &c, flags & 0x02, &r.hash);
	r.size = phd->has_size ? footprint(cursor_u32(&c)) : SIZE_UNKNOWN;
	if (c.short_of)
		return phd_cut_short(w, "a long primitive array");
	int result = phd_primitive_array(w, &r, flags >> 5);
	w->p = c.p;
	return result;
}

/* Announce a class with all its references at once; usually they fit into the batch. */
static int announce_class(struct walk *w, struct class_record *r, uint32_t n, unsigned code)
{
	uint64_t *targets = w->batch;

	if (n > PHD_BATCH) {
		targets = big_alloc(n, sizeof *targets, w->err);
		if (!targets)
			return ERR_NOMEM;
	}
	phd_decode(w, w->refs, n, code, r->address, targets);
	r->n_references = n;
	r->references = targets;
	int result = w->sink->class_record(w->sink, r);
	if (targets != w->batch)
		big_free(targets);
	w->prev = r->address;
	return result;
}

static int class_record(struct walk *w)
{
	const struct phd *phd = w->phd;
	struct cursor c;
	struct head head = begin(w, &c);
	int32_t instance_size = (int32_t)cursor_u32(&c);
	uint32_t hash;
	bool hashed = take_hash(w, &c, head.flags & 0x08, &hash);
	uint64_t superclass = cursor_unsigned(&c, phd->word_code);
	uint16_t name_size = cursor_u16(&c);
	const uint8_t *name = cursor_take(&c, name_size);
	uint32_t n = cursor_count(w, &c);
	w->refs = cursor_take(&c, (uint64_t)n << head.code);
	if (c.short_of)
		return phd_cut_short(w, "a class");

	struct class_record r = {
		.address = head.address,
		.superclass = superclass,
		.name = name,
		.name_size = name_size,
		.instance_size = (uint64_t)instance_size,
		.object_size = SIZE_UNKNOWN,
		.hash = hash,
		.hashed = hashed,
	};
	if (name_size && name[0] == '[') {
		r.instance_size = SIZE_UNKNOWN; /* of array classes it is a pointer, not a size */
	} else if (instance_size < 0) {
		w->sink->warn(w->sink, offset_of(w, w->p), "class with instance size %" PRId32,
		    instance_size);
		r.instance_size = SIZE_UNKNOWN;
	}
	int result = announce_class(w, &r, n, head.code);
	w->p = c.p;
	return result;
}

static int end_of_body(struct walk *w)
{
	uint64_t left = (uint64_t)(w->end - w->p) - 1;

	if (left)
		w->sink->warn(w->sink, offset_of(w, w->p) + 1,
		    "%" PRIu64 " byte%s after the end of the dump %s ignored", left, left == 1 ? "" : "s",
		    left == 1 ? "is" : "are");
	w->p = w->end;
	w->ended = true;
	return 0;
}

int phd_large_record(struct walk *w)
{
	switch (*w->p) {
	case TAG_END:
		return end_of_body(w);
	case TAG_LONG_OBJECT:
		return long_object(w);
	case TAG_OLD_OBJECT_ARRAY:
		return object_array(w, true);
	case TAG_CLASS:
		return class_record(w);
	case TAG_LONG_PRIMITIVE_ARRAY:
		return long_primitive_array(w);
	case TAG_OBJECT_ARRAY:
		return object_array(w, false);
	default:
		return unknown_tag(w, *w->p);
	}
}
