/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_bytes.c - HPROF dumps written as hexadecimal digits, read. */
#include "hprof_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"

/* --- bytes ------------------------------------------------------------------------------------- */

void add_record(struct text *t, const char *tag, const char *body)
{
	struct text bytes = TEXT_INIT;
	char length[16];

	add_hex(&bytes, body);
	snprintf(length, sizeof length, "%08X", (unsigned)bytes.len);
	add_hex(t, tag);
	add_hex(t, "00000000");
	add_hex(t, length);
	text_add_n(t, bytes.s ? bytes.s : "", bytes.len);
	text_release(&bytes);
}

/* --- lines ------------------------------------------------------------------------------------- */

/* A class is its address, or the letter of an array of primitives; the fill tells none. */
static void object_line(struct recorder *r, const struct object_record *o,
    const struct recorded_class *c)
{
	assert_true(o->size == SIZE_UNKNOWN);
	text_addf(&r->events, "%c %" PRIx64 " class ", "OAP"[o->kind], o->address);
	if (r->sink.wants_references)
		text_add(&r->events, "-");
	else if (c->how == CLASS_AT)
		text_addf(&r->events, "%" PRIx64, c->address);
	else
		text_add_n(&r->events, recorded_name(r, c), c->name_size);
	text_addf(&r->events, " refs %" PRIu64, o->n_references);
	if (o->kind != OBJECT_INSTANCE)
		text_addf(&r->events, " length %" PRIu64, o->length);
	text_add_char(&r->events, '\n');
}

static void class_line(struct recorder *r, const struct class_record *c)
{
	text_addf(&r->events, "C %" PRIx64 " super %" PRIx64 " loader %" PRIx64 " size %" PRIu64 " %.*s",
	    c->address, c->superclass, c->loader, c->instance_size, (int)c->name_size,
	    c->name_size ? (const char *)c->name : "");
	for (size_t i = 0; i < c->n_references; i++)
		text_addf(&r->events, " ->%" PRIx64, c->references[i]);
	for (size_t i = 0; i < c->n_statics; i++)
		text_addf(&r->events, " static %.*s:%d=%" PRIx64, (int)c->statics[i].name_size,
		    (const char *)c->statics[i].name, c->statics[i].type, c->statics[i].value);
	for (size_t i = 0; i < c->n_fields; i++)
		text_addf(&r->events, " %.*s:%d", (int)c->fields[i].name_size,
		    (const char *)c->fields[i].name, c->fields[i].type);
	text_add_char(&r->events, '\n');
}

static void reference_line(struct recorder *r, uint64_t target)
{
	text_addf(&r->events, "  -> %" PRIx64 "\n", target);
}

static void root_line(struct recorder *r, const struct root_record *root)
{
	text_addf(&r->events, "R %" PRIx64 " kind %d thread %" PRIu64 " frame %" PRId32 "\n",
	    root->address, root->kind, root->thread_serial, (int32_t)root->frame);
}

static void thread_line(struct recorder *r, const struct thread_record *thread)
{
	text_addf(&r->events, "T %" PRIu64 " %" PRIx64 " %s\n", thread->serial, thread->address,
	    thread->name ? thread->name : "-");
	for (size_t i = 0; i < thread->n_frames; i++)
		text_addf(&r->events, "  at %s\n", thread->frames[i]);
}

static void warning_line(struct recorder *r, const char *message)
{
	text_addf(&r->events, "W %s\n", message);
}

const struct recorder_lines hprof_lines = {
	.object = object_line, .class_record = class_line, .reference = reference_line,
	.root = root_line, .thread = thread_line, .warning = warning_line,
};

/* --- a dump in memory -------------------------------------------------------------------------- */

void open_hprof(struct hprof_fixture *f, const char *bytes, size_t n, unsigned heap_number)
{
	struct dump_options options = { .heap_number = heap_number };

	*f = (struct hprof_fixture){ .result = 0 };
	guard(&f->bytes, "test.hprof", bytes, n);
	f->result = hprof_reader.open(&f->dump, &f->bytes.source, &options, &f->err);
}

void close_hprof(struct hprof_fixture *f)
{
	if (f->result == 0)
		hprof_reader.close(f->dump);
	guarded_release(&f->bytes);
}

int read_hprof(struct hprof_fixture *f, struct recorder *w, unsigned want)
{
	struct part parts[16];
	unsigned n = hprof_reader.parts(f->dump, want, parts);
	int result = 0;

	for (unsigned i = 0; i < n; i++) {
		w->due = 0;
		int code = recorder_read(w, f->dump, &parts[i], 1);
		if (code < 0)
			result = code;
	}
	return result;
}

void add_names(struct text *t)
{
	static const char *const strings[] = {
		"'java/lang/Object'", "'demo.Node'", "'demo/Node$Sub'", "'next'", "'n'", "'other'", "'mine'",
		"'ROOT'", "'COUNT'", "'run'", "'Demo.java'", "'int[]'", "'java.lang.Object[]'", "'worker'",
	};
	char body[80];

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
		snprintf(body, sizeof body, "%08zX %s", i + 1, strings[i]);
		add_record(t, "01", body);
	}
	add_record(t, "02", "00000001 00000100 00000001 00000001");
	add_record(t, "02", "00000002 00000110 00000001 00000002");
	add_record(t, "02", "00000003 00000120 00000001 00000003");
	add_record(t, "02", "00000004 00000130 00000001 0000000C");
	add_record(t, "02", "00000005 00000140 00000001 0000000D");
	add_record(t, "02", "00000006 00000140 00000001 0000000D");
	add_record(t, "04", "00000071 0000000A 00000001 0000000B 00000003 00000011");
	add_record(t, "04", "00000072 0000000A 00000001 0000000B 00000002 FFFFFFFD");
	add_record(t, "04", "00000073 0000000A 00000001 00000000 00000002 00000005");
	add_record(t, "04", "00000074 0000000A 00000001 0000000B 00000063 FFFFFFFF");
	add_record(t, "05", "00000009 00000007 00000004 00000071 00000072 00000073 00000074");
	add_record(t, "0A", "00000007 00000500 00000009 0000000E 00000001 00000001");
}

void small_hprof(struct text *t)
{
	add_hex(t, HEADER);
	add_names(t);
	add_record(t, "1C", CLASSES NODE SUB);
	add_record(t, "1C", OBJECTS INTS ROOTS);
	add_record(t, "2C", "");
}

void expect_hprof(const char *title, struct text *t, int code, const char *message,
    const char *written)
{
	struct hprof_fixture f;
	struct recorder w;

	open_hprof(&f, t->s, t->len, 0);
	assert_int_equal(f.result, 0);
	recorder_init(&w, &hprof_lines, false);
	int result = read_hprof(&f, &w, 1);
	if (result != code || (written && strcmp(w.events.s, written)))
		fail_msg("%s: %d %s\n%s", title, result, w.err.message, w.events.s);
	if (code < 0 && !strstr(w.err.message, message))
		fail_msg("%s: %s", title, w.err.message);
	recorder_release(&w);
	close_hprof(&f);
	text_release(t);
}

void begin_hprof(struct text *t)
{
	*t = (struct text)TEXT_INIT;
	add_hex(t, HEADER);
	add_names(t);
}
