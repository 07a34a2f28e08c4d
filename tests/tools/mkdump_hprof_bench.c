/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mkdump_hprof_bench.c - see mkdump_hprof_bench.h.  Segments of a megabyte, as HotSpot writes them. */
#include "mkdump_hprof_bench.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 1 << 20, NAMES = 0x7f00, INT_FIELDS = 1000, MOST_FIELDS = 64 };

static const unsigned tag_of[ELEMENTS] = { 4, 5, 6, 7, 8, 9, 10, 11 };

static void head(struct out *o, unsigned tag, uint64_t length)
{
	out_byte(o, tag);
	out_be(o, 0, 4);
	out_be(o, length, 4);
}

static void name(struct out *o, uint64_t id, const char *text)
{
	head(o, 0x01, 8 + strlen(text));
	out_be(o, NAMES + id, 8);
	out_text(o, text);
}

static void put(struct hprof_stream *s, uint64_t value, unsigned bytes)
{
	for (unsigned i = bytes; i-- > 0;)
		s->segment[s->used++] = (unsigned char)(value >> 8 * i);
}

static void flush(struct hprof_stream *s)
{
	if (s->used) {
		head(s->out, 0x1C, s->used);
		out_bytes(s->out, s->segment, s->used);
	}
	s->used = 0;
}

/* Room for one more sub-record. */
static void room(struct hprof_stream *s, size_t bytes)
{
	if (s->used + bytes > SEGMENT)
		flush(s);
}

/* The fields are named alike in all classes: r0, r1 …, i0, i1 … */
void stream_begin(struct hprof_stream *s, struct out *out)
{
	*s = (struct hprof_stream){ .out = out, .segment = get_memory(2 * SEGMENT, 1) };
	out_bytes(out, "JAVA PROFILE 1.0.2", 19);
	out_be(out, 8, 4);
	out_be(out, UINT64_C(1700000000000), 8);
	for (unsigned i = 0; i < MOST_FIELDS; i++) {
		char text[8] = { 'r', (char)('0' + i / 10), (char)('0' + i % 10) };
		name(out, i, text);
		text[0] = 'i';
		name(out, INT_FIELDS + i, text);
	}
	head(out, 0x05, 12); /* a stack without frames */
	out_be(out, 1, 4);
	out_be(out, 0, 8);
}

void stream_class(struct hprof_stream *s, uint64_t address, uint64_t super, uint64_t loader, const char *text,
    unsigned references, unsigned ints)
{
	uint64_t id = 2 * INT_FIELDS + s->n_classes++;
	name(s->out, id, text);
	head(s->out, 0x02, 24);
	out_be(s->out, s->n_classes, 4);
	out_be(s->out, address, 8);
	out_be(s->out, 1, 4);
	out_be(s->out, NAMES + id, 8);
	if (references > MOST_FIELDS || ints > MOST_FIELDS)
		die("too many fields: %s", text);
	size_t before = s->used;
	put(s, 0x20, 1);
	put(s, address, 8);
	put(s, 1, 4);
	put(s, super, 8);
	put(s, loader, 8);
	for (int i = 0; i < 4; i++)
		put(s, 0, 8);
	put(s, 8 * references + 4 * ints, 4);
	put(s, 0, 2); /* no constants, no static fields */
	put(s, 0, 2);
	put(s, references + ints, 2);
	for (unsigned i = 0; i < references; i++) {
		put(s, NAMES + i, 8);
		put(s, 2, 1);
	}
	for (unsigned i = 0; i < ints; i++) {
		put(s, NAMES + INT_FIELDS + i, 8);
		put(s, 10, 1);
	}
	s->classes = more_memory(s->classes, s->n_class_bytes + s->used - before, 1);
	memcpy(s->classes + s->n_class_bytes, s->segment + before, s->used - before);
	s->n_class_bytes += s->used - before;
	s->used = before;
}

void stream_classes_end(struct hprof_stream *s)
{
	head(s->out, 0x1C, s->n_class_bytes);
	out_bytes(s->out, s->classes, s->n_class_bytes);
	free(s->classes);
}

void stream_instance(struct hprof_stream *s, uint64_t address, uint64_t class, const uint64_t *references, uint32_t n,
    unsigned n_fields, unsigned ints)
{
	room(s, 25 + 8 * n_fields + 4 * ints);
	put(s, 0x21, 1);
	put(s, address, 8);
	put(s, 1, 4);
	put(s, class, 8);
	put(s, 8 * n_fields + 4 * ints, 4);
	for (unsigned i = 0; i < n_fields; i++)
		put(s, i < n ? references[i] : 0, 8);
	for (unsigned i = 0; i < ints; i++)
		put(s, mix(address + i) >> 40, 4);
}

void stream_array(struct hprof_stream *s, uint64_t address, uint64_t class, const uint64_t *references, uint32_t n,
    uint32_t length)
{
	room(s, 25 + 8 * (size_t)length);
	put(s, 0x22, 1);
	put(s, address, 8);
	put(s, 1, 4);
	put(s, length, 4);
	put(s, class, 8);
	for (uint32_t i = 0; i < length; i++)
		put(s, i < n ? references[i] : 0, 8);
}

void stream_primitives(struct hprof_stream *s, uint64_t address, enum element element, uint32_t length)
{
	room(s, 18 + (size_t)length * element_size[element]);
	put(s, 0x23, 1);
	put(s, address, 8);
	put(s, 1, 4);
	put(s, length, 4);
	put(s, tag_of[element], 1);
	for (uint32_t i = 0; i < length; i++)
		put(s, 'a' + (address / 8 + i) % 26, element_size[element]);
}

void stream_root(struct hprof_stream *s, unsigned tag, uint64_t address)
{
	room(s, 17);
	put(s, tag, 1);
	put(s, address, 8);
	if (tag == 0x08) { /* a thread: its serial, that of its stack */
		put(s, ++s->n_threads, 4);
		put(s, 1, 4);
	}
}

void stream_end(struct hprof_stream *s)
{
	flush(s);
	head(s->out, 0x2C, 0);
	free(s->segment);
}
