/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phd_bytes.c - PHD dumps written as hexadecimal digits, read. */
#include "phd_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "base/text.h"
#include "dump/reader.h"
#include "guarded.h"

/* --- lines ------------------------------------------------------------------------------------- */

static void add_number(struct text *t, const char *key, uint64_t n)
{
	if (n != UINT64_MAX)
		text_addf(t, " %s=%" PRIu64, key, n);
}

static void object_line(struct recorder *r, const struct object_record *o,
    const struct recorded_class *c)
{
	static const char *const naming[] = { "", "array-of ", "component " };

	assert_non_null(c);
	text_addf(&r->events, "\n%c %" PRIX64 " ", "OAP"[o->kind], o->address);
	if (c->how == CLASS_NAMED)
		text_add_n(&r->events, recorded_name(r, c), c->name_size);
	else
		text_addf(&r->events, "%s%" PRIX64, naming[c->how], c->address);
	add_number(&r->events, "len", o->length);
	add_number(&r->events, "size", o->size);
	if (!r->sink.wants_references && o->n_references)
		text_addf(&r->events, " +%" PRIu64, o->n_references);
}

static void reference_line(struct recorder *r, uint64_t target)
{
	text_addf(&r->events, " %" PRIX64, target);
}

static void class_line(struct recorder *r, const struct class_record *c)
{
	text_addf(&r->events, "\nC %" PRIX64 " ", c->address);
	text_add_modified_utf8(&r->events, c->name, c->name_size);
	text_addf(&r->events, " super=%" PRIX64, c->superclass);
	add_number(&r->events, "instance", c->instance_size);
	assert_int_equal(c->object_size, SIZE_UNKNOWN);
	for (uint64_t i = 0; i < c->n_references; i++)
		reference_line(r, c->references[i]);
}

const struct recorder_lines phd_lines = {
	.object = object_line, .class_record = class_line, .reference = reference_line,
};

/* --- reading ----------------------------------------------------------------------------------- */

void read_phd(struct phd_reading *out, const char *bytes, size_t n, bool references)
{
	struct guarded f;
	struct dump *dump = NULL;
	struct part part;
	struct dump_options options = { .no_companion = true };

	guard(&f, PATH, bytes, n);
	*out = (struct phd_reading){ .result = 0 };
	recorder_init(&out->r, &phd_lines, references);
	out->opened = phd_reader.open(&dump, &f.source, &options, &out->err);
	if (out->opened == 0) {
		out->facts = dump->facts;
		assert_int_equal(phd_reader.parts(dump, 4, &part), 1);
		assert_int_equal(part.end, n);
		out->r.sink.err = &out->err;
		out->result = phd_reader.read(dump, &part, &out->r.sink, &out->err);
		if (out->result == 0)
			assert_int_equal(out->r.due, 0);
		phd_reader.close(dump);
	}
	guarded_release(&f);
}

void release_phd(struct phd_reading *r)
{
	recorder_release(&r->r);
}
