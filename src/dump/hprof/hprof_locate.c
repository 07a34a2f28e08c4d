/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_locate.c - find the bytes of one object by its offset, and where the next object stands. */
#include "dump/hprof/hprof_dump.h"

#include "algorithms/bisect.h"
#include "dump/source/source.h"

#include <inttypes.h>

/* The segment that holds this byte, or else ends there.  *near: its number, and before a guess. */
static const struct hprof_segment *segment_at(const struct hprof *h, uint64_t offset, uint32_t *near)
{
	uint32_t at = *near;
	if (at >= h->n_segments || h->segments[at].begin > offset || h->segments[at].end <= offset)
		BISECT(at, h->n_segments, h->segments[at].end < offset);
	*near = at;
	return at < h->n_segments && h->segments[at].begin <= offset ? &h->segments[at] : NULL;
}

/*
 * Bytes of the record at p if it is one that hprof_read announces as an object, of which `left` bytes are
 * there; else 0.  What was an object when the dump was opened may be none now: the file can change.
 */
static inline __attribute__((always_inline)) uint64_t object_size(
    const uint8_t *p, uint64_t left, const unsigned ids)
{
	const uint64_t head = 1 + 2 * ids + 8, head_of_primitive = 1 + ids + 9;
	uint64_t size;

	if (left < head_of_primitive)
		return 0;
	if (*p == SUB_INSTANCE) {
		if (left < head)
			return 0;
		size = head + load_be32(p + head - 4);
	} else if (*p == SUB_OBJECT_ARRAY) {
		size = head + (uint64_t)load_be32(p + 1 + ids + 4) * ids;
	} else if (*p == SUB_PRIMITIVE_ARRAY || *p == SUB_ARRAY_WITHOUT_DATA) {
		unsigned type = p[1 + ids + 8], element = hprof_type_size(type, ids);
		if (!element || type < VALUE_BOOLEAN)
			return 0;
		size = head_of_primitive;
		if (*p == SUB_PRIMITIVE_ARRAY)
			size += (uint64_t)load_be32(p + 1 + ids + 4) * element;
	} else {
		return 0;
	}
	return size <= left && hprof_id(p + 1, ids) ? size : 0;
}

/* Pass over object records that stand one behind the other, at most *steps, which counts down; returns
 * what stands behind them, which may be anything. */
static inline __attribute__((always_inline)) uint64_t pass_objects(
    const uint8_t *bytes, uint64_t at, uint64_t end, uint32_t *steps, const unsigned ids)
{
	while (*steps) {
		uint64_t size = object_size(bytes + at, end - at, ids);
		if (!size)
			break;
		at += size;
		--*steps;
	}
	return at;
}

static uint64_t object_size_of(const struct hprof *h, const uint8_t *p, uint64_t left)
{
	return h->id_size == 8 ? object_size(p, left, 8) : object_size(p, left, 4);
}

/* Records and segments; bytes. */
enum { SHORT_GAP = 64, SHORT_GAP_BYTES = 4096 };

/* Where a long gap between objects ends that begins at `at`; IDMAP_NONE: it was not passed yet. */
static uint64_t known_gap(struct hprof *h, uint64_t at)
{
	pthread_mutex_lock(&h->lock);
	uint64_t end = idmap_get(&h->gaps, at);
	pthread_mutex_unlock(&h->lock);
	return end;
}

/* Without memory the gap is passed again the next time. */
static uint64_t note_gap(struct hprof *h, uint64_t at, uint64_t end)
{
	pthread_mutex_lock(&h->lock);
	int code = idmap_put(&h->gaps, at, end, NULL);
	pthread_mutex_unlock(&h->lock);
	(void)code;
	return end;
}

/*
 * The next record at or behind `at` that hprof_read announces as an object; 0: none.  Long stretches
 * of other records (roots, classes) are remembered: many objects may be asked for that lie just
 * behind one.
 */
static uint64_t next_object(const struct hprof *h, const struct hprof_segment *s, uint64_t at)
{
	const uint8_t *bytes = h->dump.source->bytes;
	const struct hprof_segment *end = h->segments + h->n_segments;
	const uint64_t from = at;
	unsigned passed = 0;
	bool is_long = false;

	for (;; passed++) {
		uint64_t size = 0;
		const char *why;
		if (!is_long && (passed > SHORT_GAP || at - from > SHORT_GAP_BYTES)) {
			uint64_t known = known_gap((struct hprof *)h, from);
			if (known != IDMAP_NONE)
				return known;
			is_long = true;
		}
		if (at < s->end && object_size_of(h, bytes + at, s->end - at))
			return is_long ? note_gap((struct hprof *)h, from, at) : at;
		if (at < s->end)
			size = hprof_sub_size(h, bytes + at, s->end - at, &why);
		if (size == 0 || size == UINT64_MAX) {
			if (++s == end)
				return is_long ? note_gap((struct hprof *)h, from, 0) : 0;
			at = s->begin;
			continue;
		}
		at += size;
	}
}

/*
 * From the first object at or behind *at, so many objects on: *at becomes its offset.  Returns the bytes of
 * its record; 0: there is none.
 */
static uint64_t find_object(const struct hprof *h, uint64_t *at, uint32_t steps, uint32_t *near)
{
	const uint8_t *bytes = h->dump.source->bytes;

	for (;;) {
		const struct hprof_segment *s = segment_at(h, *at, near);
		if (!s)
			return 0;
		uint64_t from = *at;
		*at = h->id_size == 8 ? pass_objects(bytes, from, s->end, &steps, 8)
		                      : pass_objects(bytes, from, s->end, &steps, 4);
		uint64_t size = *at < s->end ? object_size_of(h, bytes + *at, s->end - *at) : 0;
		if (size && !steps)
			return size;
		if (!size && !(*at = next_object(h, s, *at)))
			return 0;
	}
}

int hprof_locate(const struct dump *dump, uint64_t offset, uint32_t steps, struct object_view *out,
    struct err *err)
{
	const struct hprof *h = (const struct hprof *)dump;
	uint32_t near = out->near;
	unsigned ids = h->id_size;
	uint64_t at = offset, size = find_object(h, &at, steps, &near);

	if (!size)
		return err_at(err, ERR_FORMAT, offset, "no object record at byte %" PRIu64, offset);
	const uint8_t *p = dump->source->bytes + at;
	*out = (struct object_view){ .address = hprof_id(p + 1, ids), .near = near, .next = at + size };
	uint32_t n = load_be32(p + 1 + ids + 4);
	if (*p == SUB_INSTANCE) {
		out->kind = OBJECT_INSTANCE;
		out->class_address = hprof_class_object(h, hprof_id(p + 1 + ids + 4, ids));
		out->bytes = p + 1 + 2 * ids + 8;
	} else if (*p == SUB_OBJECT_ARRAY) {
		out->kind = OBJECT_ARRAY;
		out->class_address = hprof_class_object(h, hprof_id(p + 1 + ids + 8, ids));
		out->length = n;
		out->bytes = p + 1 + 2 * ids + 8;
	} else {
		out->kind = PRIMITIVE_ARRAY;
		out->element = (enum value_type)p[1 + ids + 8];
		out->length = n;
		out->bytes = p + 1 + ids + 9;
	}
	uint64_t head = (uint64_t)(out->bytes - p); /* of another kind if the file changed just now */
	out->n_bytes = size > head ? size - head : 0;
	return 0;
}
