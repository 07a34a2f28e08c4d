/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * toy.c - a whole reader, as small as one can be.  doc/adding-a-format.md explains it and quotes it;
 * tests/unit/test_toy.c reads dumps with it and compares the quotes.
 *
 * A toy dump is, all numbers big-endian:
 *
 *     "TOY1"  u8 n  n class names (u8 size, UTF-8)  records until the file ends
 *     record  'O'  u32 address  u32 size  u8 class  u8 n  n references (u32 address, 0: null)
 *             'R'  u32 address                      what is there is a GC root
 */
#include "toy.h"

#include "base/mem.h"
#include "dump/cursor.h"
#include "dump/source/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 256, MOST_REFERENCES = 255 };

uint64_t toy_part_bytes = PART_BYTES;

struct toy {
	struct dump dump; /* first: what the others see */
	struct { const uint8_t *bytes; size_t size; } name[NAMES];
	unsigned n_names;
	uint64_t body; /* offset of the first record */
};

/* --- what it is --------------------------------------------------------------------------------- */

static int toy_probe(const uint8_t *head, size_t n)
{
	return n >= 4 && !memcmp(head, "TOY1", 4) ? 100 : 0;
}

static int read_header(struct toy *t, struct err *err)
{
	const struct source *s = t->dump.source;
	struct cursor c = cursor_make(s->bytes, s->bytes + s->size);

	if (!toy_probe(s->bytes, s->size))
		return err_at(err, ERR_FORMAT, 0, "no toy dump: it does not begin with TOY1");
	cursor_take(&c, 4);
	t->n_names = cursor_u8(&c);
	for (unsigned i = 0; i < t->n_names; i++) {
		t->name[i].size = cursor_u8(&c);
		t->name[i].bytes = cursor_take(&c, t->name[i].size);
	}
	if (c.short_of)
		return err_at(err, ERR_TRUNCATED, s->size,
		    "truncated in the header at byte %" PRIu64 "; no object was written", s->size);
	t->body = (uint64_t)(c.p - s->bytes);
	return 0;
}

static void state_facts(struct dump_facts *f)
{
	f->version[0] = '1';
	f->word_bits = 32;
	f->big_endian = true;
	f->no_values = "toy dumps hold no field values";
	f->cannot_tell = "toy dumps hold no field values, no superclasses, no class loaders and no threads";
	f->roots_recorded = true;
	f->no_class_objects = true;
}

static void toy_close(struct dump *dump)
{
	free(dump);
}

static int toy_open(struct dump **out, const struct source *source, const struct dump_options *options,
    struct err *err)
{
	struct toy *t = xcalloc(1, sizeof *t);
	(void)options;

	dump_begin(&t->dump, &toy_reader, source);
	state_facts(&t->dump.facts);
	int code = read_header(t, err);
	if (code < 0) {
		toy_close(&t->dump);
		return code;
	}
	*out = &t->dump;
	return 0;
}

/* --- reading ------------------------------------------------------------------------------------ */

/* Only the record before says where a record begins: one part. */
static unsigned toy_parts(const struct dump *dump, unsigned want, struct part *out)
{
	(void)want;
	out[0] = (struct part){ .begin = ((const struct toy *)dump)->body, .end = dump->source->size };
	return 1;
}

struct toy_reading {
	const struct toy *toy;
	struct sink *sink;
	struct err *err;
	uint32_t handle[NAMES]; /* of the classes */
};

static int cut_in_record(struct toy_reading *r, uint64_t at)
{
	uint64_t size = r->toy->dump.source->size;
	return err_at(r->err, ERR_TRUNCATED, size, "truncated at byte %" PRIu64 ", in the record at byte %" PRIu64,
	    size, at);
}

static int read_object(struct toy_reading *r, struct cursor *c, uint64_t at)
{
	uint64_t targets[MOST_REFERENCES];
	size_t n_targets = 0;
	uint32_t address = cursor_u32(c), size = cursor_u32(c);
	uint8_t class = cursor_u8(c);

	for (unsigned n = cursor_u8(c); n > 0; n--) {
		uint32_t target = cursor_u32(c);
		if (target)
			targets[n_targets++] = target;
	}
	if (c->short_of)
		return cut_in_record(r, at);
	if (class >= r->toy->n_names)
		return err_at(r->err, ERR_FORMAT, at, "the object at byte %" PRIu64 " is of class %u of %u", at,
		    class, r->toy->n_names);
	struct object_record record = {
		.address = address,
		.class_handle = r->handle[class],
		.kind = OBJECT_INSTANCE,
		.size = size,
		.length = LENGTH_UNKNOWN,
		.n_references = n_targets,
	};
	int code = r->sink->object(r->sink, &record);
	if (code == 0 && r->sink->wants_references && n_targets)
		code = r->sink->references(r->sink, targets, n_targets);
	return code;
}

static int read_root(struct toy_reading *r, struct cursor *c, uint64_t at)
{
	struct root_record root = {
		.address = cursor_u32(c),
		.kind = ROOT_UNKNOWN,
		.frame = UINT32_MAX,
	};

	if (c->short_of)
		return cut_in_record(r, at);
	return r->sink->wants_references ? 0 : r->sink->root(r->sink, &root);
}

static int read_record(struct toy_reading *r, struct cursor *c, uint64_t at)
{
	switch (cursor_u8(c)) {
	case 'O':
		return read_object(r, c, at);
	case 'R':
		return read_root(r, c, at);
	default:
		return err_at(r->err, ERR_FORMAT, at, "no record begins at byte %" PRIu64, at);
	}
}

static int toy_read(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	const struct toy *t = (const struct toy *)dump;
	const uint8_t *bytes = dump->source->bytes;
	struct cursor c = cursor_make(bytes + part->begin, bytes + dump->source->size);
	struct toy_reading r = { .toy = t, .sink = sink, .err = err };
	uint64_t next_part = part->begin + toy_part_bytes;
	int code = 0;

	for (unsigned i = 0; i < t->n_names; i++)
		r.handle[i] = sink->class_handle(sink, CLASS_SHOWN, 0, t->name[i].bytes, t->name[i].size);
	while (code == 0 && (uint64_t)(c.p - bytes) < part->end) {
		uint64_t at = (uint64_t)(c.p - bytes);
		if (at >= next_part) {
			code = sink->part_begins(sink, &(struct part){ .begin = at, .end = part->end });
			next_part = at + toy_part_bytes;
		}
		if (code == 0)
			code = read_record(&r, &c, at);
	}
	return code;
}

const struct reader toy_reader = {
	.name = "toy",
	.title = "the toy format",
	.label = "toy",
	.probe = toy_probe,
	.open = toy_open,
	.close = toy_close,
	.parts = toy_parts,
	.read = toy_read,
};
