/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_core_objects.c - announces the objects of a core to a sink, and finds one again.
 *
 * Objects come span by span, in the order of the file.  The offset of an object is that of its bytes.
 */
#include "dump/go/go_core.h"

#include "algorithms/bisect.h"
#include "base/mem.h"
#include "dump/go/go_shape.h"
#include "dump/reader.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BUFFERED = 512 };

struct reading {
	const struct go *go;
	const struct gocore *image;
	struct sink *sink;
	struct err *err;
	const uint8_t *bytes; /* of the source */
	struct go_shapes shapes;
	struct text text;
	bool survey;
	/* classes of objects that nothing short describes: a hash of their pointers, and the handle + 1 */
	struct { uint64_t hash; uint32_t handle_plus_1; } class[256];
	uint64_t targets[BUFFERED];
};

static void pointers_of(const struct gocore *image, const struct gocore_span *s, uint32_t i, struct go_pointers *out)
{
	out->list = NULL;
	gocore_pointers_of(image, s, i, 0, &out->words);
}

/* --- one object -------------------------------------------------------------------------------------- */

static uint32_t class_of(struct reading *r, uint64_t size, const struct go_pointers *p)
{
	text_clear(&r->text);
	go_shape_name(r->go, size, p, &r->text);
	return r->sink->class_handle(r->sink, CLASS_SHOWN, 0, (const uint8_t *)r->text.s, r->text.len);
}

/* Of an object that has no pattern. */
static uint32_t class_by_hash(struct reading *r, uint64_t size, const struct go_pointers *pointers)
{
	struct go_pointers p = *pointers;
	uint64_t kind, offset, hash = hash_number(size);

	while (go_pointers_next(&p, &kind, &offset))
		hash = hash_step(hash, offset);
	unsigned at = hash % (sizeof r->class / sizeof *r->class);
	if (!r->class[at].handle_plus_1 || r->class[at].hash != hash) {
		r->class[at].hash = hash;
		r->class[at].handle_plus_1 = class_of(r, size, pointers) + 1;
	}
	return r->class[at].handle_plus_1 - 1;
}

/* Count the pointers that are not nil, and deliver them, or only count. */
static int many_pointers(struct reading *r, const uint8_t *contents, struct go_pointers p, bool deliver, uint64_t *n)
{
	uint64_t kind, offset;
	size_t waiting = 0;
	int code = 0;

	*n = 0;
	while (code == 0 && go_pointers_next(&p, &kind, &offset)) {
		uint64_t target = load_le64(contents + offset);
		if (!target)
			continue;
		++*n;
		if (!deliver)
			continue;
		r->targets[waiting++] = target;
		if (waiting == BUFFERED) {
			code = r->sink->references(r->sink, r->targets, waiting);
			waiting = 0;
		}
	}
	return code == 0 && waiting ? r->sink->references(r->sink, r->targets, waiting) : code;
}

/* With many pointers, or with such as no pattern tells. */
static int long_object(struct reading *r, struct object_record *record, const uint8_t *contents,
    const struct go_pointers *p)
{
	int code = many_pointers(r, contents, *p, false, &record->n_references);

	if (code == 0)
		code = r->sink->object(r->sink, record);
	return code < 0 || r->survey ? code : many_pointers(r, contents, *p, true, &record->n_references);
}

static int object(struct reading *r, const struct gocore_span *s, uint32_t i)
{
	uint64_t offset = gocore_offset(s, i), pattern;
	const uint8_t *contents = r->bytes + offset;
	struct go_pointers p;
	struct object_record record = {
		.address = s->start + i * s->size, .kind = OBJECT_INSTANCE, .size = s->size, .length = LENGTH_UNKNOWN,
		.offset = offset, .contents = offset,
	};

	if (!gocore_pattern(r->image, s, i, &pattern)) {
		pointers_of(r->image, s, i, &p);
		record.class_handle = r->survey ? class_by_hash(r, s->size, &p) : 0;
		return long_object(r, &record, contents, &p);
	}
	struct go_shape *shape = go_shape_recent(&r->shapes, s->size, s->by, pattern);
	if (!shape) {
		pointers_of(r->image, s, i, &p);
		shape = go_shape_by_pattern(&r->shapes, s->size, s->by, pattern, &p);
		if (!shape)
			return ERR_NOMEM;
		if (r->survey && shape->handle == UINT32_MAX)
			shape->handle = class_of(r, s->size, &p);
	}
	record.class_handle = r->survey ? shape->handle : 0;
	if (shape->first == GO_NOT_LISTED) {
		pointers_of(r->image, s, i, &p);
		return long_object(r, &record, contents, &p);
	}
	const uint32_t *offsets = r->shapes.offsets + shape->first;
	size_t n = 0;
	for (uint64_t k = 0; k < shape->n_slots; k++) {
		r->targets[n] = load_le64(contents + offsets[k]);
		n += r->targets[n] != 0;
	}
	record.n_references = n;
	int code = r->sink->object(r->sink, &record);
	return code < 0 || r->survey || !n ? code : r->sink->references(r->sink, r->targets, n);
}

/* --- parts ------------------------------------------------------------------------------------------------ */

/* The first span that begins at or behind an offset. */
static uint32_t first_span(const struct gocore *image, uint64_t offset)
{
	uint32_t n, i;
	const struct gocore_span *s = gocore_spans(image, &n);

	BISECT(i, n, s[i].offset < offset);
	return i;
}

/* Where the first part begins, and where the last one ends. */
static uint64_t first_offset(const struct gocore *image)
{
	uint32_t n;
	const struct gocore_span *s = gocore_spans(image, &n);
	return n ? s->offset : 0;
}

static uint64_t end_offset(const struct gocore *image)
{
	uint32_t n;
	const struct gocore_span *s = gocore_spans(image, &n);
	return n ? gocore_offset(&s[n - 1], s[n - 1].end) : 1;
}

unsigned go_core_parts(const struct dump *dump, unsigned want, struct part *out)
{
	const struct gocore *image = go_core_image((const struct go *)dump);
	uint32_t n;
	const struct gocore_span *s = gocore_spans(image, &n);
	unsigned n_parts = 0;

	out[n_parts++] = (struct part){ .begin = first_offset(image), .end = UINT64_MAX };
	for (unsigned i = 1; i < want && n; i++) {
		uint64_t begin = s[(uint64_t)n * i / want].offset;
		if (begin <= out[n_parts - 1].begin || begin - out[n_parts - 1].begin < go_part_bytes)
			continue;
		out[n_parts - 1].end = begin;
		out[n_parts++] = (struct part){ .begin = begin, .end = UINT64_MAX };
	}
	out[n_parts - 1].end = end_offset(image);
	return n_parts;
}

/* What is no object comes with the first part. */
static int tell_records(const struct dump *dump, struct sink *sink, struct err *err)
{
	const struct go *g = (const struct go *)dump;
	const struct part all = { .begin = g->body, .end = g->records.n };
	int code = go_read(dump, &all, sink, err);
	return code ? code : go_core_tell_state(g, sink);
}

static int read_spans(struct reading *r, const struct part *part)
{
	uint32_t n, at = first_span(r->image, part->begin);
	const struct gocore_span *s = gocore_spans(r->image, &n);
	uint64_t next_cut = part->begin;
	int code = 0;

	for (; code == 0 && at < n && s[at].offset < part->end; at++) {
		if (s[at].offset >= next_cut) {
			struct part here = { .begin = s[at].offset };
			code = r->sink->part_begins(r->sink, &here);
			next_cut = s[at].offset + go_part_bytes;
		}
		for (uint32_t i = s[at].first; code == 0 && i < s[at].end; i++)
			if (gocore_allocated(&s[at], i))
				code = object(r, &s[at], i);
		r->sink->reached = gocore_offset(&s[at], s[at].end);
	}
	return code;
}

int go_core_read(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	const struct go *g = (const struct go *)dump;
	struct reading *r = xcalloc(1, sizeof *r);
	int code;

	*r = (struct reading){ .go = g, .image = go_core_image(g), .sink = sink, .err = err,
		.survey = !sink->wants_references, .bytes = dump->source->bytes };
	code = go_shapes_init(&r->shapes, g, err);
	if (code == 0 && r->survey && part->begin == first_offset(r->image))
		code = tell_records(dump, sink, err);
	if (code == 0)
		code = read_spans(r, part);
	if (code == 0 && part->end >= end_offset(r->image))
		code = go_core_missing(g, err);
	go_shapes_release(&r->shapes);
	text_release(&r->text);
	free(r);
	return code;
}

/* --- one object again ------------------------------------------------------------------------------------------ */

static bool find(const struct gocore *image, uint64_t offset, const struct gocore_span **span, uint32_t *i)
{
	const struct gocore_span *s = gocore_span_of(image, offset);

	if (!s)
		return false;
	*span = s;
	*i = s->first + (uint32_t)((offset - s->offset) / s->size);
	return true;
}

/* The next allocated object; false: it was the last. */
static bool step(const struct gocore *image, const struct gocore_span **span, uint32_t *i)
{
	uint32_t n;
	const struct gocore_span *s = *span, *end = gocore_spans(image, &n) + n;
	uint32_t at = *i + 1;

	for (;;) {
		for (; at < s->end; at++) {
			if (!gocore_allocated(s, at))
				continue;
			*span = s;
			*i = at;
			return true;
		}
		if (++s == end)
			return false;
		at = s->first;
	}
}

int go_core_locate(const struct dump *dump, uint64_t offset, uint32_t steps, struct object_view *out, struct err *err)
{
	const struct gocore *image = go_core_image((const struct go *)dump);
	const struct gocore_span *s;
	uint32_t i;
	bool there = find(image, offset, &s, &i) && gocore_allocated(s, i);

	for (; there && steps; steps--)
		there = step(image, &s, &i);
	if (!there)
		return err_at(err, ERR_FORMAT, offset, "no object from byte %" PRIu64 " on", offset);
	*out = (struct object_view){ .address = s->start + i * s->size, .kind = OBJECT_INSTANCE,
		.bytes = dump->source->bytes + gocore_offset(s, i), .n_bytes = s->size, .head = gocore_head(s) };
	if (step(image, &s, &i))
		out->next = gocore_offset(s, i);
	return 0;
}

void go_core_pointers(const struct go *g, const uint8_t *contents, uint64_t from, struct go_pointers *out)
{
	const struct gocore *image = go_core_image(g);
	const struct gocore_span *s;
	uint32_t i;

	out->list = NULL;
	if (find(image, (uint64_t)(contents - g->dump.source->bytes), &s, &i))
		gocore_pointers_of(image, s, i, from, &out->words);
	else
		*out = (struct go_pointers){ .list = NULL };
}

uint64_t go_core_head(const struct go *g, const uint8_t *contents)
{
	const struct gocore_span *s;
	uint32_t i;
	return find(go_core_image(g), (uint64_t)(contents - g->dump.source->bytes), &s, &i) ? gocore_head(s) : 0;
}
