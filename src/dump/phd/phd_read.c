/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phd_read.c - read the records of a PHD dump and tell a sink: the walk over a part, and small
 * records.
 *
 * Speed: nearly all records are short or medium objects and short primitive arrays, at most 69
 * bytes long.  Their fields are loaded as 8 bytes and shifted to their width, without a branch per
 * width; near the end of the dump such a record is looked at in a padded copy.  Other records go
 * through a cursor (phd_large.c).  The survey passes over references by arithmetic and decodes at most
 * the first.
 *
 * Any number of threads, each with its own walk.
 */
#include "dump/phd/phd_walk.h"

#include "base/mem.h"
#include "base/progress.h"
#include "dump/source/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t phd_part_bytes = PART_BYTES;

/* Bytes that the fields and the first reference of a small record may span. */
enum { MARGIN = 40 };

int phd_cut_short(struct walk *w, const char *kind)
{
	const struct source *source = w->phd->dump.source;
	uint64_t at = offset_of(w, w->p);

	return err_at(w->err, ERR_TRUNCATED, at, "truncated in %s record at byte %" PRIu64 "%s%s", kind, at,
	    source->truncated ? ": " : "", source->truncated ? source->remark : "");
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

/* --- references -------------------------------------------------------------------------------- */

void phd_decode(const struct walk *w, const uint8_t *p, uint64_t n, unsigned code,
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

int phd_deliver(struct walk *w, const uint8_t *p, uint64_t n, unsigned code, uint64_t address)
{
	while (n) {
		uint64_t now = n < PHD_BATCH ? n : PHD_BATCH;
		phd_decode(w, p, now, code, address, w->batch);
		int result = w->sink->references(w->sink, w->batch, (size_t)now);
		if (result < 0)
			return result;
		p += now << code;
		n -= now;
	}
	return 0;
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
		return phd_cut_short(w, medium ? "a medium object" : "a short object");
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
	if (phd->all_hashed) {
		r.hash = hash_of_16(q + head - 2);
		r.hashed = true;
	}
	bool class_first = phd->class_first && n &&
	    relative(phd, r.address, top_signed(load_be64(q + head), code)) == class;
	w->refs = w->p + head;
	int result = announce(w, &r, n, code, class_first);
	w->p += size;
	return result;
}

static const unsigned element_code[8] = { 0, 1, 2, 3, 0, 1, 2, 3 };

static __attribute__((cold, noinline)) uint64_t impossible_length(struct walk *w, uint64_t length)
{
	w->sink->warn(w->sink, offset_of(w, w->p),
	    "invalid array length %" PRId64, (int64_t)length);
	return LENGTH_UNKNOWN;
}

/* Does the size leave room for more elements than any header explains? */
static inline bool refutes(uint64_t size, uint64_t length, unsigned code)
{
	return size != SIZE_UNKNOWN && size > 32 + ((length << code) + 7) / 8 * 8;
}

/*
 * jdmpview writes the width of the length (0 … 3) where the length belongs: then the length follows from the size.
 * Padding makes it up to 7 bytes too long (facts.lengths_from_sizes).
 */
static uint64_t length_of_size(struct walk *w, uint64_t address, uint64_t size, unsigned code)
{
	/* compressed references put the heap below 64 GiB and leave 8 bytes of header */
	uint64_t header = w->phd->word_code == 3 && address >> 36 ? 16 : 8;
	return size == SIZE_UNKNOWN ? LENGTH_UNKNOWN : size < header ? 0 : (size - header) >> code;
}

int phd_primitive_array(struct walk *w, struct object_record *r, unsigned type)
{
	if (r->length > INT32_MAX)
		r->length = impossible_length(w, r->length);
	r->class_handle = primitive_handle(w, type);
	r->kind = PRIMITIVE_ARRAY;
	return announce(w, r, 0, 0, false);
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
		return phd_cut_short(w, "a short primitive array");
	uint64_t address = relative(phd, w->prev, top_signed(load_be64(q + 1), code));
	uint64_t length = top_unsigned(load_be64(q + 1 + width), code);
	uint64_t size = phd->has_size ? footprint(load_be32(q + head)) : SIZE_UNKNOWN;
	struct object_record r = {
		.address = address,
		.size = size,
		.length = phd->lengths_wrong ? length_of_size(w, address, size, element_code[type]) : length,
	};
	if (__builtin_expect(w->look != NULL, 0)) {
		w->look->n_lengths += length > 3;
		w->look->n_refuted += length <= 3 && refutes(size, length, element_code[type]);
	}
	if (phd->all_hashed) {
		r.hash = hash_of_16(q + head - 2);
		r.hashed = true;
	}
	int result = phd_primitive_array(w, &r, type);
	w->p += record;
	return result;
}

/* --- the walk ---------------------------------------------------------------------------------- */

static void load_state(struct walk *w, const struct part *part)
{
	for (unsigned i = 0; i < 4; i++)
		w->cache[i] = part->state[i];
	w->next = part->state[4] & 3;
	w->filled = part->state[4] >> 8 & 0xF;
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
	here.state[4] = w->next | w->filled << 8;
	here.state[5] = w->prev;
	return w->sink->part_begins(w->sink, &here);
}

static void say_of_header(struct walk *w)
{
	const struct phd *phd = w->phd;
	uint32_t unknown = phd->flags & ~(uint32_t)(PHD_64_BIT | PHD_ALL_HASHED | PHD_J9);

	if (phd->has_totals) {
		w->sink->stated(w->sink, "records", STATED_THINGS, phd->total_objects);
		w->sink->stated(w->sink, "references", STATED_THINGS, phd->total_references);
	}
	if (unknown)
		w->sink->warn(w->sink, 24, "unknown header flags 0x%" PRIx32 " are ignored", unknown);
	if (phd->lengths_wrong)
		w->sink->warn(w->sink, phd->body, "jdmpview wrote wrong lengths of primitive arrays; cairn "
		    "computes them from sizes");
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
			result = phd_large_record(w);
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
	    "the file shrank or was unreadable while cairn read it: nothing from byte %" PRIu64 " on is correct",
	    lost);
}

static struct walk *walk_new(const struct phd *phd, struct sink *sink, const struct part *part, struct err *err)
{
	const struct source *source = phd->dump.source;
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
	return w;
}

int phd_read(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	const struct phd *phd = (const struct phd *)dump;
	const struct source *source = dump->source;
	struct walk *w = walk_new(phd, sink, part, err);

	if (part->begin == phd->body)
		say_of_header(w);
	int result = walk_records(w, part);
	sink->reached = offset_of(w, w->p);
	result = blame_the_file(w, result);
	if (result == 0 && w->p == w->end && !w->ended)
		result = err_at(err, ERR_TRUNCATED, source->size,
		    "truncated after the last record (no end mark) at byte %" PRIu64,
		    source->size);
	free(w);
	return result;
}

/* --- how the dump was written -------------------------------------------------------------------- */

/* So many instances have their class first, and none may contradict; no more records are looked at; so many instances
 * are needed. */
enum { LOOK_INSTANCES = 4096, LOOK_RECORDS = 1 << 18, LOOK_LEAST = 4 };

void phd_note(struct walk *w, enum object_kind kind, bool class_first)
{
	struct phd_evidence *e = w->look;

	e->instances += kind == OBJECT_INSTANCE;
	e->odd_instances += kind == OBJECT_INSTANCE && !class_first;
	e->arrays += kind == OBJECT_ARRAY;
	e->odd_arrays += kind == OBJECT_ARRAY && !class_first;
}

static uint32_t look_handle(struct sink *sink, enum class_naming how, uint64_t address, const uint8_t *name,
    size_t name_size)
{
	(void)sink, (void)how, (void)address, (void)name, (void)name_size;
	return 0;
}

struct look_sink {
	struct sink sink; /* first: the reader's view of us */
	struct phd_evidence evidence;
};

/* Any code below 0 ends the walk. */
static int look_on(struct sink *sink)
{
	struct phd_evidence *e = &((struct look_sink *)sink)->evidence;
	bool class_settled = e->odd_instances || e->instances >= LOOK_INSTANCES;
	bool done = (class_settled && (e->n_lengths || e->n_refuted)) || ++e->n_records >= LOOK_RECORDS ||
	    progress_own_stops(e->n_records);

	return done ? ERR_CANCELLED : 0;
}

static int look_object(struct sink *sink, const struct object_record *r)
{
	(void)r;
	return look_on(sink);
}

static int look_class(struct sink *sink, const struct class_record *r)
{
	(void)r;
	return look_on(sink);
}

static int look_cut(struct sink *sink, const struct part *here)
{
	(void)sink, (void)here;
	return 0;
}

__attribute__((format(printf, 3, 4))) static void look_warn(struct sink *sink, uint64_t offset, const char *format, ...)
{
	(void)sink, (void)offset, (void)format; /* the survey says it */
}

void phd_look(struct phd *phd)
{
	struct look_sink s = { .sink = { .class_handle = look_handle, .object = look_object, .class_record = look_class,
		.part_begins = look_cut, .warn = look_warn } };
	struct part all = { .begin = phd->body, .end = phd->dump.source->size };
	struct err damage = ERR_INIT;
	struct phd as_if = *phd; /* it came first: then each record shows whether it does */

	as_if.class_first = as_if.array_class_first = phd->j9;
	struct walk *w = walk_new(&as_if, &s.sink, &all, &damage);
	w->look = &s.evidence;
	(void)!walk_records(w, &all);
	free(w);
	phd->class_first = s.evidence.instances >= LOOK_LEAST && !s.evidence.odd_instances;
	phd->array_class_first = phd->class_first && !s.evidence.odd_arrays;
	phd->lengths_wrong = s.evidence.n_refuted && !s.evidence.n_lengths;
	phd->dump.facts.lengths_from_sizes = phd->lengths_wrong;
}
