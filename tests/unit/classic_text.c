/* SPDX-License-Identifier: GPL-3.0-or-later */
/* classic_text.c - classic dumps written as strings, read. */
#include "classic_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dump/source/source.h"

/* ---- lines ----------------------------------------------------------------------------------- */

static void object_line(struct recorder *r, const struct object_record *o,
    const struct recorded_class *c)
{
	assert_non_null(c);
	assert_int_equal(c->how, CLASS_NAMED);
	assert_int_equal(c->address, 0);
	assert_true(o->length == LENGTH_UNKNOWN);
	text_addf(&r->events, "%c %" PRIx64 " [%" PRIu64 "] ", "IAP"[o->kind], o->address, o->size);
	text_add_n(&r->events, recorded_name(r, c), c->name_size);
	text_addf(&r->events, " %" PRIu64 "\n", o->n_references);
}

static void reference_line(struct recorder *r, uint64_t target)
{
	text_addf(&r->events, "r %" PRIx64 "\n", target);
}

static void class_line(struct recorder *r, const struct class_record *c)
{
	assert_true(c->instance_size == SIZE_UNKNOWN);
	assert_int_equal(c->superclass, 0);
	assert_int_equal(c->loader, 0);
	text_addf(&r->events, "C %" PRIx64 " [%" PRIu64 "] ", c->address, c->object_size);
	text_add_n(&r->events, (const char *)c->name, c->name_size);
	text_addf(&r->events, " %" PRIu64 "\n", c->n_references);
	for (uint64_t i = 0; i < c->n_references && r->sink.wants_references; i++)
		reference_line(r, c->references[i]);
}

static const struct recorder_lines lines = {
	.object = object_line, .class_record = class_line, .reference = reference_line,
};

/* ---- reading --------------------------------------------------------------------------------- */

struct source classic_source(const void *bytes, size_t n)
{
	return (struct source){ .path = "test.txt", .bytes = bytes, .size = n, .file_size = n };
}

static struct dump *open_bytes(struct source *source)
{
	struct dump_options options = { .no_companion = true };
	struct dump *dump = NULL;
	struct err err = ERR_INIT;
	int rc = classic_reader.open(&dump, source, &options, &err);
	if (rc < 0)
		fail_msg("open: %s", err.message);
	return dump;
}

void read_classic(struct classic_reading *out, const void *bytes, size_t n, unsigned parts)
{
	/* A copy of exactly n bytes: the sanitizer sees a step beyond. */
	uint8_t *copy = xmalloc(n);
	memcpy(copy, bytes, n);
	struct source source = classic_source(copy, n);
	struct dump *dump = open_bytes(&source);
	out->facts = dump->facts;
	recorder_init(&out->r, &lines, true);
	out->rc = recorder_read_all(&out->r, dump, parts);

	struct recorder survey;
	recorder_init(&survey, &lines, false);
	int rc = recorder_read_all(&survey, dump, parts);
	assert_int_equal(rc, out->rc);
	assert_string_equal(survey.warnings.s, out->r.warnings.s);
	recorder_release(&survey);
	classic_reader.close(dump);
	free(copy);
}

void expect_classic(const char *text, const char *events, unsigned warnings)
{
	struct classic_reading got;
	read_classic(&got, text, strlen(text), 1);
	assert_int_equal(got.rc, 0);
	assert_string_equal(got.r.events.s, events);
	if (got.r.n_warnings != warnings)
		fail_msg("warnings: %s", got.r.warnings.s);
	recorder_release(&got.r);
}
