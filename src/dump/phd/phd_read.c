/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phd_read.c - the records of a PHD dump, told to a sink.
 *
 * A record's address is relative to the record before it, its references are relative to its own,
 * and short object records name their class by one of four cache slots.  That state is all that a
 * part needs to begin in the middle.
 *
 * Speed: nearly all records are short or medium objects and short primitive arrays, at most 69
 * bytes long.  Their fields are loaded as 8 bytes and shifted to their width, without a branch per
 * width; near the end of the dump such a record is looked at in a padded copy.  Other records go
 * through a cursor.  The survey passes over references by arithmetic and decodes at most the first.
 *
 * Any number of threads, each with its own walk.
 */
#include "dump/phd/phd_dump.h"

#include "base/big.h"
#include "base/mem.h"
#include "dump/cursor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t phd_part_bytes = PART_BYTES;

#define BATCH 4096    /* references delivered at once */
#define KNOWN_BITS 9
#define MARGIN 40     /* bytes that the fields and the first reference of a small record may span */

/* Worth a copy at each call: 10 % of the time of both passes. */
#define HOT static inline __attribute__((always_inline))

enum record_tag {
	TAG_END = 3,
	TAG_LONG_OBJECT = 4,
	TAG_OLD_OBJECT_ARRAY = 5,
	TAG_CLASS = 6,
	TAG_LONG_PRIMITIVE_ARRAY = 7,
	TAG_OBJECT_ARRAY = 8,
};

/* Said once in a dump; a bit of part.state. */
enum said { SAID_JDMPVIEW = 1 };

/* A class handle met before. */
struct known {
	uint64_t address;
	uint32_t handle;
	bool valid;
};

struct walk {
	const struct phd *phd;
	struct sink *sink;
	struct err *err;
	const uint8_t *first, *end; /* of the whole source */
	const uint8_t *p;           /* the record being read */
	const uint8_t *refs;        /* its references, once they are known to be there */
	bool fill;
	bool ended;                 /* the end tag was there */

	uint64_t prev;
	uint64_t cache[4];
	uint32_t cache_handle[4];
	unsigned next, filled, said;

	uint32_t primitive_handle[8];
	unsigned primitive_known; /* one bit each */
	enum class_naming array_naming;
	struct known instances[1u << KNOWN_BITS], arrays[1u << KNOWN_BITS];
	uint64_t batch[BATCH];
};

/* --- small things ------------------------------------------------------------------------------ */

static uint64_t offset_of(const struct walk *w, const uint8_t *p)
{
	return (uint64_t)(p - w->first);
}

static __attribute__((cold, noinline)) int cut_short(struct walk *w, const char *kind)
{
	const struct source *source = w->phd->dump.source;
	uint64_t at = offset_of(w, w->p);

	return err_at(w->err, ERR_TRUNCATED, at, "cut in %s record at byte %" PRIu64 "%s%s", kind, at,
	    source->cut ? ": " : "", source->cut ? source->cut_reason : "");
}

static __attribute__((cold, noinline)) int unknown_tag(struct walk *w, unsigned tag)
{
	uint64_t at = offset_of(w, w->p);

	return err_at(w->err, ERR_FORMAT, at, "unknown record tag 0x%02x at byte %" PRIu64, tag, at);
}

/* The low 1 << code bytes of what stands in the first bytes of v. */
static inline int64_t top_signed(uint64_t v, unsigned code)
{
	return (int64_t)v >> (64 - (8u << code));
}

static inline uint64_t top_unsigned(uint64_t v, unsigned code)
{
	return v >> (64 - (8u << code));
}

/* Shifted as unsigned: bits that leave a gap at the top are garbage, not undefined behaviour. */
static inline uint64_t relative(const struct phd *phd, uint64_t from, int64_t gap)
{
	return (from + ((uint64_t)gap << phd->shift)) & phd->mask;
}

HOT uint32_t handle_of(struct walk *w, struct known *table, enum class_naming how,
    uint64_t address)
{
	struct known *k = &table[address * UINT64_C(0x9E3779B97F4A7C15) >> (64 - KNOWN_BITS)];

	if (!k->valid || k->address != address) {
		k->address = address;
		k->handle = w->sink->class_handle(w->sink, how, address, NULL, 0);
		k->valid = true;
	}
	return k->handle;
}

static uint32_t primitive_handle(struct walk *w, unsigned type)
{
	static const uint8_t name[8][2] = { "[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J" };

	if (!(w->primitive_known >> type & 1)) {
		w->primitive_handle[type] =
		    w->sink->class_handle(w->sink, CLASS_NAMED, 0, name[type], sizeof name[type]);
		w->primitive_known |= 1u << type;
	}
	return w->primitive_handle[type];
}

static void remember_class(struct walk *w, uint64_t class, uint32_t handle)
{
	w->cache[w->next] = class;
	w->cache_handle[w->next] = handle;
	w->filled |= 1u << w->next;
	w->next = (w->next + 1) & 3;
}

/* --- references -------------------------------------------------------------------------------- */

/* n references of 1 << code bytes at p, all of them inside the dump. */
static void decode(const struct walk *w, const uint8_t *p, uint64_t n, unsigned code,
    uint64_t address, uint64_t *out)
{
	const struct phd *phd = w->phd;

	if (n <= 8 && w->end - p >= 8 * 9) { /* few: one loop for all widths mispredicts less */
		for (uint64_t i = 0; i < n; i++)
			out[i] = relative(phd, address, top_signed(load_be64(p + (i << code)), code));
		return;
	}
	switch (code) {
	case 0:
		for (uint64_t i = 0; i < n; i++)
			out[i] = relative(phd, address, (int8_t)p[i]);
		break;
	case 1:
		for (uint64_t i = 0; i < n; i++)
			out[i] = relative(phd, address, (int16_t)load_be16(p + 2 * i));
		break;
	case 2:
		for (uint64_t i = 0; i < n; i++)
			out[i] = relative(phd, address, (int32_t)load_be32(p + 4 * i));
		break;
	default:
		for (uint64_t i = 0; i < n; i++)
			out[i] = relative(phd, address, (int64_t)load_be64(p + 8 * i));
	}
}

/* Deliver n references at p in batches. */
static int deliver(struct walk *w, const uint8_t *p, uint64_t n, unsigned code, uint64_t address)
{
	while (n) {
		uint64_t now = n < BATCH ? n : BATCH;
		decode(w, p, now, code, address, w->batch);
		int result = w->sink->references(w->sink, w->batch, (size_t)now);
		if (result < 0)
			return result;
		p += now << code;
		n -= now;
	}
	return 0;
}

/*
 * Announce an object whose n references of 1 << code bytes stand at w->refs.  Some J9 releases wrote
 * an object's class as its first reference (class_first): that one goes.
 */
HOT int announce(struct walk *w, struct object_record *r, uint64_t n, unsigned code,
    bool class_first)
{
	const uint8_t *refs = w->refs;

	if (class_first) {
		n--;
		refs += (size_t)1 << code;
	}
	r->n_references = n;
	int result = w->sink->object(w->sink, r);
	if (result < 0)
		return result;
	w->prev = r->address;
	return w->fill && n ? deliver(w, refs, n, code, r->address) : 0;
}

/* --- small records ----------------------------------------------------------------------------- */

/* q: the record's bytes, MARGIN of them readable, of which `left` belong to the dump. */
HOT int small_object(struct walk *w, const uint8_t *q, size_t left, bool medium)
{
	const struct phd *phd = w->phd;
	unsigned tag = q[0];
	unsigned slot = tag >> 5 & 3;
	unsigned n = medium ? tag >> 3 & 7 : tag >> 3 & 3;
	unsigned gap_code = tag >> 2 & 1, code = tag & 3;
	size_t at = 2 + gap_code;
	uint64_t class;
	uint32_t handle;

	size_t head = at + (medium ? (size_t)1 << phd->word_code : 0) + (phd->all_hashed ? 2 : 0);
	size_t size = head + ((size_t)n << code);
	if (size > left)
		return cut_short(w, medium ? "a medium object" : "a short object");
	if (medium) {
		class = top_unsigned(load_be64(q + at), phd->word_code);
		handle = handle_of(w, w->instances, CLASS_AT, class);
		remember_class(w, class, handle);
	} else {
		if (!(w->filled >> slot & 1)) {
			w->sink->warn(w->sink, offset_of(w, w->p),
			    "short object record before its class was named");
			handle = w->cache_handle[slot] = handle_of(w, w->instances, CLASS_AT, 0);
		}
		class = w->cache[slot];
		handle = w->cache_handle[slot];
	}
	struct object_record r = {
		.address = relative(phd, w->prev, top_signed(load_be64(q + 1), gap_code)),
		.class_handle = handle,
		.kind = OBJECT_INSTANCE,
		.size = SIZE_UNKNOWN,
		.length = LENGTH_UNKNOWN,
	};
	bool class_first = n && phd->j9 &&
	    relative(phd, r.address, top_signed(load_be64(q + head), code)) == class;
	w->refs = w->p + head;
	int result = announce(w, &r, n, code, class_first);
	w->p += size;
	return result;
}

static const unsigned element_code[8] = { 0, 1, 2, 3, 0, 1, 2, 3 };

/* Footprint of an array in bytes; the field holds a quarter of it, and 0 where it was not known. */
static uint64_t footprint(uint32_t field)
{
	return field ? (uint64_t)field * 4 : SIZE_UNKNOWN;
}

static __attribute__((cold, noinline)) uint64_t impossible_length(struct walk *w, uint64_t length)
{
	w->sink->warn(w->sink, offset_of(w, w->p),
	    "array length %" PRId64 " is none that Java can make", (int64_t)length);
	return LENGTH_UNKNOWN;
}

/*
 * jdmpview writes the width of the length (0 … 3) where the length belongs.  Even a length of 3
 * then disagrees with the footprint by more than any header explains: take the length from that.
 */
static inline uint64_t mended_length(struct walk *w, uint64_t address, uint64_t length,
    uint64_t size, unsigned code)
{
	if (length > 3 || size == SIZE_UNKNOWN || size <= 32 + ((length << code) + 7) / 8 * 8)
		return length;
	if (!(w->said & SAID_JDMPVIEW))
		w->sink->warn(w->sink, offset_of(w, w->p),
		    "lengths of primitive arrays are wrong, as jdmpview writes them; where sizes show it, "
		    "lengths are worked out from sizes");
	w->said |= SAID_JDMPVIEW;
	/* compressed references put the heap below 64 GiB and leave 8 bytes of header */
	uint64_t header = w->phd->word_code == 3 && address >> 36 ? 16 : 8;
	return (size - header) >> code;
}

static int primitive_array(struct walk *w, uint64_t address, unsigned type, uint64_t length,
    uint64_t size)
{
	if (length > INT32_MAX)
		length = impossible_length(w, length);
	struct object_record r = {
		.address = address,
		.class_handle = primitive_handle(w, type),
		.kind = PRIMITIVE_ARRAY,
		.size = size,
		.length = length,
	};
	return announce(w, &r, 0, 0, false);
}

HOT int short_primitive_array(struct walk *w, const uint8_t *q, size_t left)
{
	const struct phd *phd = w->phd;
	unsigned type = q[0] >> 2 & 7, code = q[0] & 3;

	if (code == 3 && phd->narrow_code3)
		code = 2;
	size_t width = (size_t)1 << code;
	size_t head = 1 + 2 * width + (phd->all_hashed ? 2 : 0);
	size_t record = head + (phd->has_size ? 4 : 0);
	if (record > left)
		return cut_short(w, "a short primitive array");
	uint64_t address = relative(phd, w->prev, top_signed(load_be64(q + 1), code));
	uint64_t length = top_unsigned(load_be64(q + 1 + width), code);
	uint64_t size = phd->has_size ? footprint(load_be32(q + head)) : SIZE_UNKNOWN;
	length = mended_length(w, address, length, size, element_code[type]);
	int result = primitive_array(w, address, type, length, size);
	w->p += record;
	return result;
}

/* --- large records ----------------------------------------------------------------------------- */

static void skip_hash(const struct walk *w, struct cursor *c, bool flagged)
{
	if (w->phd->all_hashed)
		cursor_take(c, 2);
	else if (flagged)
		cursor_take(c, 4);
}

/* A count of references; Java counts with a sign. */
static uint32_t cursor_count(struct walk *w, struct cursor *c)
{
	int32_t count = (int32_t)cursor_u32(c);

	if (count >= 0)
		return (uint32_t)count;
	w->sink->warn(w->sink, offset_of(w, w->p), "%" PRId32 " references, taken as none", count);
	return 0;
}

static uint64_t reference_at(const struct walk *w, const uint8_t *p, unsigned code, uint64_t address)
{
	struct cursor c = cursor_make(p, w->end);

	return relative(w->phd, address, cursor_signed(&c, code));
}

static int long_object(struct walk *w)
{
	const struct phd *phd = w->phd;
	struct cursor c = cursor_make(w->p + 1, w->end);
	unsigned flags = cursor_u8(&c), code = flags >> 4 & 3;
	uint64_t address = relative(phd, w->prev, cursor_signed(&c, flags >> 6));
	uint64_t class = cursor_unsigned(&c, phd->word_code);
	skip_hash(w, &c, flags & 0x02);
	uint32_t n = cursor_count(w, &c);
	const uint8_t *refs = cursor_take(&c, (uint64_t)n << code);
	if (c.short_of)
		return cut_short(w, "a long object");

	struct object_record r = {
		.address = address,
		.class_handle = handle_of(w, w->instances, CLASS_AT, class),
		.kind = OBJECT_INSTANCE,
		.size = SIZE_UNKNOWN,
		.length = LENGTH_UNKNOWN,
	};
	remember_class(w, class, r.class_handle);
	w->refs = refs;
	int result = announce(w, &r, n, code,
	    n && phd->j9 && reference_at(w, refs, code, address) == class);
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
	struct cursor c = cursor_make(w->p + 1, w->end);
	unsigned flags = cursor_u8(&c), code = flags >> 4 & 3;
	uint64_t address = relative(phd, w->prev, cursor_signed(&c, flags >> 6));
	uint64_t class = cursor_unsigned(&c, phd->word_code);
	skip_hash(w, &c, flags & 0x02);
	uint32_t n = cursor_count(w, &c);
	const uint8_t *refs = cursor_take(&c, (uint64_t)n << code);
	int32_t length = old ? (int32_t)n : (int32_t)cursor_u32(&c);
	uint64_t size = phd->has_size ? footprint(cursor_u32(&c)) : SIZE_UNKNOWN;
	if (c.short_of)
		return cut_short(w, old ? "an old object array" : "an object array");

	if (length < 0 || (uint32_t)length < n) {
		w->sink->warn(w->sink, offset_of(w, w->p),
		    "array of %" PRId32 " elements with %" PRIu32 " references", length, n);
		length = (int32_t)n;
	}
	w->refs = refs;
	bool class_first = n && phd->j9 && reference_at(w, refs, code, address) == class;
	uint32_t handle;
	if (phd->version == 4 && phd->j9 && n && !class_first)
		handle = old_array_class(w, &n, code, address, &length);
	else
		handle = handle_of(w, w->arrays, w->array_naming, class);
	struct object_record r = {
		.address = address,
		.class_handle = handle,
		.kind = OBJECT_ARRAY,
		.size = size,
		.length = (uint64_t)length,
	};
	int result = announce(w, &r, n, code, class_first);
	w->p = c.p;
	return result;
}

static int long_primitive_array(struct walk *w)
{
	const struct phd *phd = w->phd;
	struct cursor c = cursor_make(w->p + 1, w->end);
	unsigned flags = cursor_u8(&c), code = flags & 0x10 ? phd->word_code : 0;
	uint64_t address = relative(phd, w->prev, cursor_signed(&c, code));
	uint64_t length = cursor_unsigned(&c, code);
	skip_hash(w, &c, flags & 0x02);
	uint64_t size = phd->has_size ? footprint(cursor_u32(&c)) : SIZE_UNKNOWN;
	if (c.short_of)
		return cut_short(w, "a long primitive array");
	int result = primitive_array(w, address, flags >> 5, length, size);
	w->p = c.p;
	return result;
}

/* Announce a class with all its references at once; usually they fit into the batch. */
static int announce_class(struct walk *w, struct class_record *r, uint32_t n, unsigned code)
{
	uint64_t *targets = w->batch;

	if (n > BATCH) {
		targets = big_alloc(n, sizeof *targets, w->err);
		if (!targets)
			return ERR_NOMEM;
	}
	decode(w, w->refs, n, code, r->address, targets);
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
	struct cursor c = cursor_make(w->p + 1, w->end);
	unsigned flags = cursor_u8(&c), code = flags >> 4 & 3;
	uint64_t address = relative(phd, w->prev, cursor_signed(&c, flags >> 6));
	int32_t instance_size = (int32_t)cursor_u32(&c);
	skip_hash(w, &c, flags & 0x08);
	uint64_t superclass = cursor_unsigned(&c, phd->word_code);
	uint16_t name_size = cursor_u16(&c);
	const uint8_t *name = cursor_take(&c, name_size);
	uint32_t n = cursor_count(w, &c);
	w->refs = cursor_take(&c, (uint64_t)n << code);
	if (c.short_of)
		return cut_short(w, "a class");

	struct class_record r = {
		.address = address,
		.superclass = superclass,
		.name = name,
		.name_size = name_size,
		.instance_size = (uint64_t)instance_size,
		.object_size = SIZE_UNKNOWN,
	};
	if (name_size && name[0] == '[') {
		r.instance_size = SIZE_UNKNOWN; /* of array classes it is a pointer, not a size */
	} else if (instance_size < 0) {
		w->sink->warn(w->sink, offset_of(w, w->p), "class with instance size %" PRId32,
		    instance_size);
		r.instance_size = SIZE_UNKNOWN;
	}
	int result = announce_class(w, &r, n, code);
	w->p = c.p;
	return result;
}

static int end_of_body(struct walk *w)
{
	uint64_t left = (uint64_t)(w->end - w->p) - 1;

	if (left)
		w->sink->warn(w->sink, offset_of(w, w->p) + 1,
		    "%" PRIu64 " bytes after the end of the dump are ignored", left);
	w->p = w->end;
	w->ended = true;
	return 0;
}

static int other_record(struct walk *w)
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

/* --- the walk ---------------------------------------------------------------------------------- */

static void load_state(struct walk *w, const struct part *part)
{
	for (unsigned i = 0; i < 4; i++)
		w->cache[i] = part->state[i];
	w->next = part->state[4] & 3;
	w->filled = part->state[4] >> 8 & 0xF;
	w->said = part->state[4] >> 16 & 0xFF;
	w->prev = part->state[5];
	for (unsigned i = 0; i < 4; i++)
		if (w->filled >> i & 1)
			w->cache_handle[i] = handle_of(w, w->instances, CLASS_AT, w->cache[i]);
}

static int say_cut(struct walk *w, uint64_t end)
{
	struct part here = { .begin = offset_of(w, w->p), .end = end };

	for (unsigned i = 0; i < 4; i++)
		here.state[i] = w->cache[i];
	here.state[4] = w->next | w->filled << 8 | w->said << 16;
	here.state[5] = w->prev;
	return w->sink->cut(w->sink, &here);
}

static void say_of_header(struct walk *w)
{
	const struct phd *phd = w->phd;
	uint32_t unknown = phd->flags & ~(uint32_t)(PHD_64_BIT | PHD_ALL_HASHED | PHD_J9);

	if (phd->has_totals) {
		w->sink->stated(w->sink, "records", phd->total_objects);
		w->sink->stated(w->sink, "references", phd->total_references);
	}
	if (unknown)
		w->sink->warn(w->sink, 24, "unknown header flags 0x%" PRIx32 " are ignored", unknown);
	if (!phd->body_marked)
		w->sink->warn(w->sink, phd->body, "no start mark between header and records");
}

static int walk_records(struct walk *w, const struct part *part)
{
	const uint8_t *stop = part->end < offset_of(w, w->end) ? w->first + part->end : w->end;
	uint64_t cut_at = part->begin + phd_part_bytes;
	uint8_t padded[MARGIN];

	while (w->p < stop) {
		int result;
		if (offset_of(w, w->p) >= cut_at) {
			result = say_cut(w, part->end);
			if (result < 0)
				return result;
			cut_at = offset_of(w, w->p) + phd_part_bytes;
		}
		const uint8_t *q = w->p;
		size_t left = (size_t)(w->end - q);
		if (left < MARGIN) {
			memset(padded, 0, sizeof padded);
			q = memcpy(padded, q, left);
		}
		if (*q & 0x80)
			result = small_object(w, q, left, false);
		else if (*q & 0x40)
			result = small_object(w, q, left, true);
		else if (*q & 0x20)
			result = short_primitive_array(w, q, left);
		else
			result = other_record(w);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Pages lost while we read are zeros: what looks like damage then has another reason. */
static int blame_the_file(struct walk *w, int result)
{
	uint64_t lost, at = offset_of(w, w->p);

	if (result != 0 && result != ERR_FORMAT && result != ERR_TRUNCATED)
		return result;
	if (!source_damage(w->phd->dump.source, &lost) || lost > at || (lost == at && !result))
		return result;
	return err_at(w->err, ERR_TRUNCATED, lost,
	    "the file shrank or failed while it was read: nothing from byte %" PRIu64 " on is true",
	    lost);
}

int phd_read(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	const struct phd *phd = (const struct phd *)dump;
	const struct source *source = dump->source;
	struct walk *w = xcalloc(1, sizeof *w);

	w->phd = phd;
	w->sink = sink;
	w->err = err;
	w->first = source->bytes;
	w->end = source->bytes + source->size;
	w->p = source->bytes + part->begin;
	w->fill = sink->wants_references;
	w->array_naming = CLASS_COMPONENT_OR_SELF;
	if (phd->version >= 6 || (phd->version == 4 && phd->j9))
		w->array_naming = CLASS_ARRAY_OF;
	load_state(w, part);
	if (part->begin == phd->body)
		say_of_header(w);
	int result = walk_records(w, part);
	result = blame_the_file(w, result);
	if (result == 0 && w->p == w->end && !w->ended)
		result = err_at(err, ERR_TRUNCATED, source->size,
		    "cut behind the last record (no end mark) at byte %" PRIu64,
		    source->size);
	free(w);
	return result;
}
