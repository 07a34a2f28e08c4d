/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_locate.c - find the bytes of one object by its offset, and where the next object stands. */
#include "dump/hprof/hprof_dump.h"

#include "base/bisect.h"

#include <inttypes.h>

/* *near: the number of the segment, and before a guess. */
static const struct hprof_segment *segment_at(const struct hprof *h, uint64_t offset, uint32_t *near)
{
	uint32_t at = *near;
	if (at >= h->n_segments || h->segments[at].begin > offset || h->segments[at].end <= offset)
		BISECT(at, h->n_segments, h->segments[at].end <= offset);
	*near = at;
	return at < h->n_segments && h->segments[at].begin <= offset ? &h->segments[at] : NULL;
}

static bool is_object(unsigned tag)
{
	return tag == SUB_INSTANCE || tag == SUB_OBJECT_ARRAY || tag == SUB_PRIMITIVE_ARRAY ||
	    tag == SUB_ARRAY_WITHOUT_DATA;
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
		if (at < s->end)
			size = hprof_sub_size(h, bytes + at, s->end - at, &why);
		if (size == 0 || size == UINT64_MAX) {
			if (++s == end)
				return is_long ? note_gap((struct hprof *)h, from, 0) : 0;
			at = s->begin;
			continue;
		}
		if (is_object(bytes[at]) && hprof_id(bytes + at + 1, h->id_size))
			return is_long ? note_gap((struct hprof *)h, from, at) : at;
		at += size;
	}
}

int hprof_locate(const struct dump *dump, uint64_t offset, struct object_view *out,
    struct err *err)
{
	const struct hprof *h = (const struct hprof *)dump;
	uint32_t near = out->near;
	const struct hprof_segment *s = segment_at(h, offset, &near);
	const uint8_t *p = dump->source->bytes + offset;
	unsigned ids = h->id_size;
	const char *why;
	uint64_t size = s && is_object(*p) ? hprof_sub_size(h, p, s->end - offset, &why) : 0;

	if (size == 0 || size == UINT64_MAX)
		return err_at(err, ERR_FORMAT, offset, "no object record at byte %" PRIu64, offset);
	*out = (struct object_view){ .address = hprof_id(p + 1, ids), .near = near };
	uint32_t n = load_be32(p + 1 + ids + 4);
	if (*p == SUB_INSTANCE) {
		out->kind = OBJECT_INSTANCE;
		out->class_address = hprof_id(p + 1 + ids + 4, ids);
		out->bytes = p + 1 + 2 * ids + 8;
	} else if (*p == SUB_OBJECT_ARRAY) {
		out->kind = OBJECT_ARRAY;
		out->class_address = hprof_id(p + 1 + ids + 8, ids);
		out->length = n;
		out->bytes = p + 1 + 2 * ids + 8;
	} else {
		out->kind = PRIMITIVE_ARRAY;
		out->element = (enum value_type)p[1 + ids + 8];
		out->length = n;
		out->bytes = p + 1 + ids + 9;
	}
	out->n_bytes = size - (uint64_t)(out->bytes - p);
	out->next = next_object(h, s, offset + size);
	return 0;
}
