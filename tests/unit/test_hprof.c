/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hprof.c - the HPROF reader on bytes written by hand.
 *
 * Dumps are written as hexadecimal digits with 'text'.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bytes.h"
#include "dump/hprof/hprof_dump.h"
#include "dump/reader.h"
#include "guarded.h"
#include "recorder.h"

/* --- bytes ------------------------------------------------------------------------------------- */

/* A record with its length: the body in hex. */
static void add_record(struct text *t, const char *tag, const char *body)
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

static const struct recorder_lines lines = {
	.object = object_line, .class_record = class_line, .reference = reference_line,
	.root = root_line, .thread = thread_line, .warning = warning_line,
};

/* --- a dump in memory -------------------------------------------------------------------------- */

struct fixture {
	struct guarded bytes;
	struct dump *dump;
	struct err err;
	int result;
};

static void open_bytes(struct fixture *f, const char *bytes, size_t n, unsigned heap_number)
{
	struct dump_options options = { .heap_number = heap_number };

	*f = (struct fixture){ .result = 0 };
	guard(&f->bytes, "test.hprof", bytes, n);
	f->result = hprof_reader.open(&f->dump, &f->bytes.source, &options, &f->err);
}

static void finish(struct fixture *f)
{
	if (f->result == 0)
		hprof_reader.close(f->dump);
	guarded_release(&f->bytes);
}

/* All parts in turn, those behind a damaged one, too; the last negative result. */
static int read_all(struct fixture *f, struct recorder *w, unsigned want)
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

#define HEADER "'JAVA PROFILE 1.0.2' 00 00000004 00000135 39F8DE7D"

/* Strings 1 …, classes 0x100 (Object), 0x110 (Node: next 02, n 0A, other 02), 0x120 (Sub of Node:
 * mine 02), 0x130 (int[] by the agent's spelling), 0x140 (Object[]). */
static void add_names(struct text *t)
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

#define ZERO4 "00000000 00000000 00000000 00000000"
#define CLASS_OBJECT "20 00000100 00000001 00000000 00000000" ZERO4 "00000000 0000 0000 0000"
#define CLASS_NODE                                                                                 \
	"20 00000110 00000001 00000100 00000000" ZERO4 "0000000C 0001 0005 02 00000666"            \
	"0002 00000008 02 00000200 00000009 09 FFFE 0003 00000004 02 00000005 0A 00000006 02"
#define CLASS_SUB                                                                                  \
	"20 00000120 00000001 00000110 00000900" ZERO4 "00000010 0000 0000 0001 00000007 02"
#define CLASS_INTS "20 00000130 00000001 00000100 00000000" ZERO4 "00000000 0000 0000 0000"
#define CLASS_OBJECTS "20 00000140 00000001 00000100 00000000" ZERO4 "00000000 0000 0000 0000"
#define CLASSES CLASS_OBJECT CLASS_NODE CLASS_SUB CLASS_INTS CLASS_OBJECTS
#define NODE "21 00000200 00000001 00000110 0000000C 00000210 0000002A 00000000"
#define SUB "21 00000210 00000001 00000120 00000010 00000220 00000200 00000007 00000230"
#define OBJECTS "22 00000220 00000001 00000004 00000140 00000200 00000000 00000210 00000777"
#define INTS "23 00000230 00000001 00000002 0A 00000001 00000002"
#define ROOTS                                                                                      \
	"08 00000200 00000007 00000009 03 00000210 00000007 00000001 01 00000220 0000ABCD"         \
	"02 00000230 00000007 FFFFFFFF 05 00000100 07 00000200"

static void small_dump(struct text *t)
{
	add_hex(t, HEADER);
	add_names(t);
	add_record(t, "1C", CLASSES NODE SUB);
	add_record(t, "1C", OBJECTS INTS ROOTS);
	add_record(t, "2C", "");
}

#define WRITTEN_CLASSES                                                                            \
	"C 100 super 0 loader 0 size 0 java/lang/Object\n"                                         \
	"C 110 super 100 loader 0 size 12 demo/Node ->200 static ROOT:2=200 "                      \
	"static COUNT:9=fffffffffffffffe next:2 n:10 other:2\n"                                    \
	"C 120 super 110 loader 900 size 16 demo/Node$Sub mine:2\n"                                \
	"C 130 super 100 loader 0 size 0 [I\n"                                                     \
	"C 140 super 100 loader 0 size 0 [Ljava/lang/Object;\n"
#define WRITTEN_OBJECTS                                                                            \
	"O 200 class 110 refs 1\n"                                                                 \
	"O 210 class 120 refs 3\n"                                                                 \
	"A 220 class 140 refs 3 length 4\n"                                                        \
	"P 230 class [I refs 0 length 2\n"
#define WRITTEN_ROOTS                                                                              \
	"T 7 200 worker\n"                                                                         \
	"  at demo.Node$Sub.run(Demo.java:17)\n"                                                   \
	"  at demo.Node.run(Native Method)\n"                                                      \
	"  at demo.Node.run(Unknown Source)\n"                                                     \
	"  at <unknown class>.run(Demo.java)\n"                                                    \
	"R 200 kind 8 thread 7 frame -1\n"                                                         \
	"R 210 kind 6 thread 7 frame 1\n"                                                          \
	"R 220 kind 3 thread 0 frame -1\n"                                                         \
	"R 230 kind 2 thread 7 frame -1\n"                                                         \
	"R 100 kind 1 thread 0 frame -1\n"                                                         \
	"R 200 kind 5 thread 0 frame -1\n"

/* --- tests --------------------------------------------------------------------------------------- */

static void whole_dump(void **state)
{
	struct text t = TEXT_INIT;
	struct fixture f;
	struct recorder w;
	(void)state;

	small_dump(&t);
	open_bytes(&f, t.s, t.len, 0);
	assert_int_equal(f.result, 0);
	const struct dump_facts *facts = &f.dump->facts;
	assert_string_equal(facts->format, "hprof");
	assert_string_equal(facts->version, "1.0.2");
	assert_string_equal(facts->created, "2012-02-01T17:31:45Z");
	assert_int_equal(facts->word_bits, 32);
	assert_int_equal(facts->n_heaps, 1);
	assert_int_equal(facts->heap_number, 1);
	assert_false(facts->has_instance_sizes);
	assert_true(facts->roots_recorded);

	recorder_init(&w, &lines, false);
	assert_int_equal(read_all(&f, &w, 1), 0);
	assert_string_equal(w.events.s, WRITTEN_CLASSES WRITTEN_OBJECTS WRITTEN_ROOTS);
	recorder_release(&w);

	/* in two parts, one a segment */
	struct part parts[4];
	assert_int_equal(hprof_reader.parts(f.dump, 2, parts), 2);
	recorder_init(&w, &lines, false);
	assert_int_equal(read_all(&f, &w, 2), 0);
	assert_string_equal(w.events.s, WRITTEN_CLASSES WRITTEN_OBJECTS WRITTEN_ROOTS);
	recorder_release(&w);

	recorder_init(&w, &lines, true);
	assert_int_equal(read_all(&f, &w, 2), 0);
	assert_non_null(strstr(w.events.s, "O 200 class - refs 1\n  -> 210\nO 210 class - refs 3\n  -> 220\n"
					"  -> 200\n  -> 230\nA 220 class - refs 3 length 4\n  -> 200\n"
					"  -> 210\n  -> 777\nP 230 class - refs 0 length 2\n"));
	assert_null(strstr(w.events.s, "R "));
	recorder_release(&w);
	finish(&f);
	text_release(&t);
}

/* Every record stands alone between two cuts, and both readings agree. */
static void cuts(void **state)
{
	struct text t = TEXT_INIT;
	struct fixture f;
	struct recorder w, again;
	struct part all;
	(void)state;

	small_dump(&t);
	open_bytes(&f, t.s, t.len, 0);
	hprof_part_bytes = 1;
	assert_int_equal(hprof_reader.parts(f.dump, 1, &all), 1);
	recorder_init(&w, &lines, false);
	assert_int_equal(hprof_reader.read(f.dump, &all, &w.sink, &w.err), 0);
	assert_string_equal(w.events.s, WRITTEN_CLASSES WRITTEN_OBJECTS WRITTEN_ROOTS);
	assert_true(w.n_cuts > 10);
	recorder_init(&again, &lines, false);
	for (unsigned i = 0; i <= w.n_cuts; i++) {
		struct part part = i ? w.cuts[i - 1] : all;
		part.end = i < w.n_cuts ? w.cuts[i].begin : all.end;
		assert_int_equal(hprof_reader.read(f.dump, &part, &again.sink, &again.err), 0);
	}
	hprof_part_bytes = PART_BYTES;
	assert_string_equal(again.events.s, w.events.s);
	recorder_release(&w);
	recorder_release(&again);
	finish(&f);
	text_release(&t);
}

/* What a cut at any byte leaves is a prefix of the whole, and it is said unless nothing is lost. */
static void every_cut(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	small_dump(&t);
	size_t header = 31;
	for (size_t n = 0; n <= t.len; n++) {
		struct fixture f;
		struct recorder w;
		open_bytes(&f, t.s, n, 0);
		if (n < header) {
			assert_int_equal(f.result, ERR_TRUNCATED);
			finish(&f);
			continue;
		}
		assert_int_equal(f.result, 0);
		recorder_init(&w, &lines, false);
		int code = read_all(&f, &w, 1);
		if (code != (n < t.len ? ERR_TRUNCATED : 0))
			fail_msg("cut at %zu: %d %s", n, code, w.err.message);
		if (code < 0)
			assert_true(w.err.has_offset && w.err.offset <= n);
		/* all but warnings and the names that were cut off */
		char *objects = strstr(w.events.s, "O 200");
		const char *whole = strstr(WRITTEN_CLASSES WRITTEN_OBJECTS WRITTEN_ROOTS, "O 200");
		if (objects) {
			char *warning = strstr(objects, "W ");
			size_t length = warning ? (size_t)(warning - objects) : strlen(objects);
			assert_memory_equal(objects, whole, length);
		}
		recorder_release(&w);
		finish(&f);
	}
	text_release(&t);
}

/* One byte anything else anywhere: nothing breaks, and both readings say the same objects. */
static void every_byte_wrong(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	small_dump(&t);
	static const char wrong[] = { 0, 1, 0x21, 0x7f, (char)0x80, (char)0xff };
	for (size_t at = 13; at < t.len; at++)
		for (size_t k = 0; k < sizeof wrong; k++) {
			struct fixture f;
			struct recorder w, again;
			char right = t.s[at];
			t.s[at] = wrong[k];
			open_bytes(&f, t.s, t.len, 0);
			t.s[at] = right;
			if (f.result == 0) {
				recorder_init(&w, &lines, false);
				recorder_init(&again, &lines, true);
				int first = read_all(&f, &w, 2), second = read_all(&f, &again, 2);
				assert_int_equal(first, second);
				recorder_release(&w);
				recorder_release(&again);
			}
			finish(&f);
		}
	text_release(&t);
}

static void expect(const char *title, struct text *t, int code, const char *message,
    const char *written)
{
	struct fixture f;
	struct recorder w;

	open_bytes(&f, t->s, t->len, 0);
	assert_int_equal(f.result, 0);
	recorder_init(&w, &lines, false);
	int result = read_all(&f, &w, 1);
	if (result != code || (written && strcmp(w.events.s, written)))
		fail_msg("%s: %d %s\n%s", title, result, w.err.message, w.events.s);
	if (code < 0 && !strstr(w.err.message, message))
		fail_msg("%s: %s", title, w.err.message);
	recorder_release(&w);
	finish(&f);
	text_release(t);
}

static void begin(struct text *t)
{
	*t = (struct text)TEXT_INIT;
	add_hex(t, HEADER);
	add_names(t);
}

static void damage(void **state)
{
	struct text t;
	(void)state;

	begin(&t);
	add_record(&t, "1C", CLASSES "99" NODE);
	add_record(&t, "1C", INTS);
	add_record(&t, "2C", "");
	expect("unknown sub-record", &t, ERR_FORMAT, "unknown kind",
	    WRITTEN_CLASSES "P 230 class [I refs 0 length 2\n");

	begin(&t);
	add_record(&t, "1C", CLASSES "23 00000230 00000001 7FFFFFFF 0A 00000001");
	add_record(&t, "1C", NODE);
	add_record(&t, "2C", "");
	expect("array beyond its segment", &t, ERR_FORMAT, "longer than what is left",
	    WRITTEN_CLASSES "O 200 class 110 refs 1\n");

	begin(&t);
	add_record(&t, "1C", CLASSES "23 00000230 00000001 00000001 02 00000001" NODE);
	add_record(&t, "2C", "");
	expect("primitive array of references", &t, ERR_FORMAT, "a type that does not exist",
	    WRITTEN_CLASSES);

	/* the instances before their classes */
	begin(&t);
	add_record(&t, "1C", NODE SUB CLASSES);
	add_record(&t, "2C", "");
	expect("classes behind their instances", &t, 0, "",
	    "O 200 class 110 refs 1\nO 210 class 120 refs 3\n" WRITTEN_CLASSES);

	begin(&t);
	add_record(&t, "1C", NODE);
	add_record(&t, "2C", "");
	expect("no class records", &t, 0, "",
	    "W an object of class 0x110, which the dump does not define: what it references cannot be "
	    "told\nO 200 class 110 refs 0\n");

	begin(&t);
	add_record(&t, "1C", CLASSES "21 00000200 00000001 00000110 00000006 00000210 0000"
				     "21 00000000 00000001 00000110 0000000C 00000210 00000000 00000000");
	add_record(&t, "2C", "");
	expect("short instance, no identifier", &t, 0, "",
	    WRITTEN_CLASSES "W an instance of demo.Node has 6 bytes of fields where its class has 12\n"
	    "O 200 class 110 refs 1\nW an instance record with the identifier 0 is left out\n");
}

/* Lengths of heap parts that lie. */
static void lengths(void **state)
{
	static const struct { const char *length; int code; } lies[] = {
		{ "00000000", 0 }, { "00000040", 0 }, { "FFFFFFFF", 0 }, { "00000131", 0 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		struct text t, first = TEXT_INIT;
		begin(&t);
		uint64_t part = t.len;
		add_hex(&first, CLASSES NODE SUB);
		add_hex(&t, "1C 00000000");
		add_hex(&t, lies[i].length);
		text_add_n(&t, first.s, first.len);
		text_release(&first);
		add_record(&t, "1C", OBJECTS INTS);
		add_record(&t, "2C", "");
		struct fixture f;
		struct recorder w;
		open_bytes(&f, t.s, t.len, 0);
		recorder_init(&w, &lines, false);
		assert_int_equal(read_all(&f, &w, 1), lies[i].code);
		assert_int_equal(strncmp(w.events.s, "W a heap dump record says", 24), 0);
		assert_int_equal(w.warned_at, part);
		assert_string_equal(strchr(w.events.s, '\n') + 1, WRITTEN_CLASSES WRITTEN_OBJECTS);
		recorder_release(&w);
		finish(&f);
		text_release(&t);
	}
}

static void several_heaps(void **state)
{
	static const struct { unsigned number, is; const char *object; } cases[] = {
		{ 0, 3, "P 230" }, { 1, 1, "O 200" }, { 2, 2, "A 220" }, { 3, 3, "P 230" },
	};
	(void)state;

	struct text t;
	begin(&t);
	add_record(&t, "0C", CLASSES NODE);
	add_record(&t, "01", "00000055 'between'");
	add_record(&t, "1C", CLASSES);
	add_record(&t, "1C", OBJECTS);
	add_record(&t, "2C", "");
	add_record(&t, "1C", CLASSES INTS);
	add_record(&t, "2C", "");
	add_record(&t, "2C", "");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fixture f;
		struct recorder w;
		open_bytes(&f, t.s, t.len, cases[i].number);
		assert_int_equal(f.result, 0);
		assert_int_equal(f.dump->facts.n_heaps, 3);
		assert_int_equal(f.dump->facts.heap_number, cases[i].is);
		recorder_init(&w, &lines, false);
		assert_int_equal(read_all(&f, &w, 4), 0);
		assert_int_equal(strncmp(w.events.s, WRITTEN_CLASSES, strlen(WRITTEN_CLASSES)), 0);
		assert_int_equal(strncmp(w.events.s + strlen(WRITTEN_CLASSES), cases[i].object, 5), 0);
		recorder_release(&w);
		finish(&f);
	}
	struct fixture f;
	open_bytes(&f, t.s, t.len, 4);
	assert_int_equal(f.result, ERR_USAGE);
	finish(&f);
	text_release(&t);
}

/* Android's records between the others. */
static void android(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'JAVA PROFILE 1.0.3' 00 00000004 00000135 39F8DE7D");
	add_names(&t);
	add_record(&t, "1C",
	    "FE 00000041 00000001 89 00000200 8A 00000200 8B 00000200 8C 00000200 8D 00000200"
	    "8E 00000200 00000007 FFFFFFFF 90 00000200 C3 00000230 00000000 00000009 08" CLASSES NODE);
	add_record(&t, "2C", "");
	expect("android", &t, 0, "",
	    "R 200 kind 0 thread 0 frame -1\nR 200 kind 9 thread 0 frame -1\n"
	    "R 200 kind 10 thread 0 frame -1\nR 200 kind 0 thread 0 frame -1\n"
	    "R 200 kind 10 thread 0 frame -1\nR 200 kind 5 thread 7 frame -1\n"
	    "P 230 class [B refs 0 length 9\n" WRITTEN_CLASSES "O 200 class 110 refs 1\n");
}

/* Records of a JDK 6 dump as its bytes stand in the format's notes: identifiers of 8 bytes. */
static void from_a_real_dump(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'JAVA PROFILE 1.0.1' 00 00000008 0000013539F8DE7D");
	add_hex(&t, "01 00000000 0000001A 000000077CC7B890 'type can' 27 't be null'");
	add_record(&t, "0C",
	    "20 000000077CA223E8 00000001 0000000000000000 0000000000000000 0000000000000000"
	    "0000000000000000 0000000000000000 0000000000000000 00000014 0000 0000 0004"
	    "0000000000000001 0A 0000000000000002 0A 0000000000000003 0A 000000077CC7B890 02"
	    "21 0000000781C00420 00000001 000000077CA223E8 00000014 28552352 00000010 00000000"
	    "0000000781C05F00"
	    "22 0000000781C012C8 00000001 00000003 000000077CB1BC90"
	    "0000000781C00420 0000000000000000 0000000781C05D58"
	    "23 0000000781C05D58 00000001 00000004 05 006D 0061 0069 006E");
	struct fixture f;
	struct recorder w;
	open_bytes(&f, t.s, t.len, 0);
	assert_int_equal(f.result, 0);
	recorder_init(&w, &lines, false);
	assert_int_equal(read_all(&f, &w, 1), 0);
	assert_string_equal(w.events.s,
	    "C 77ca223e8 super 0 loader 0 size 20 <unknown 0x77ca223e8> <unresolved>:10 <unresolved>:10 "
	    "<unresolved>:10 type can't be null:2\n"
	    "O 781c00420 class 77ca223e8 refs 1\n"
	    "A 781c012c8 class 77cb1bc90 refs 2 length 3\nP 781c05d58 class [C refs 0 length 4\n");
	recorder_release(&w);

	/* the same through locate, one behind the other */
	struct object_view v;
	struct err err = ERR_INIT;
	uint64_t at = 0;
	for (uint64_t i = 31; i < t.len && !at; i++)
		if ((uint8_t)t.s[i] == 0x21 && hprof_reader.locate(f.dump, i, &v, &err) == 0)
			at = i;
	assert_true(at != 0);
	assert_int_equal(hprof_reader.locate(f.dump, at, &v, &err), 0);
	assert_true(v.address == UINT64_C(0x781C00420) && v.class_address == UINT64_C(0x77CA223E8));
	assert_int_equal(v.kind, OBJECT_INSTANCE);
	assert_int_equal(v.n_bytes, 20);
	assert_int_equal(v.bytes[0], 0x28);
	assert_int_equal(hprof_reader.locate(f.dump, v.next, &v, &err), 0);
	assert_int_equal(v.kind, OBJECT_ARRAY);
	assert_int_equal(v.length, 3);
	assert_int_equal(v.n_bytes, 24);
	assert_int_equal(hprof_reader.locate(f.dump, v.next, &v, &err), 0);
	assert_int_equal(v.kind, PRIMITIVE_ARRAY);
	assert_int_equal(v.element, VALUE_CHAR);
	assert_int_equal(v.n_bytes, 8);
	assert_memory_equal(v.bytes, "\0m\0a\0i\0n", 8);
	assert_int_equal(v.next, 0);
	assert_int_equal(hprof_reader.locate(f.dump, 5, &v, &err), ERR_FORMAT);
	assert_int_equal(hprof_reader.locate(f.dump, UINT64_MAX, &v, &err), ERR_FORMAT);
	finish(&f);
	text_release(&t);
}

static void refused(void **state)
{
	static const struct { const char *bytes; int code; } cases[] = {
		{ "'JAVA PROFILE 9.9.9' 00 00000004 00000135 39F8DE7D", ERR_FORMAT },
		{ "'JAVA PROFILE 1.0.1' 00 00000003 00000135 39F8DE7D", ERR_FORMAT },
		{ "'JAVA PROFILE 1.0.1' 00 00000000 00000135 39F8DE7D", ERR_FORMAT },
		{ "'JAVA PROFILE 1.0.1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'", ERR_FORMAT },
		{ "'JAVA PROFILE 1.0.1' 00 00000004 00000135", ERR_TRUNCATED },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text t = TEXT_INIT;
		struct fixture f;
		add_hex(&t, cases[i].bytes);
		assert_true(hprof_reader.probe((const uint8_t *)t.s, t.len) > 0);
		open_bytes(&f, t.s, t.len, 0);
		assert_int_equal(f.result, cases[i].code);
		finish(&f);
		text_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_dump),
		cmocka_unit_test(cuts),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(every_byte_wrong),
		cmocka_unit_test(damage),
		cmocka_unit_test(lengths),
		cmocka_unit_test(several_heaps),
		cmocka_unit_test(android),
		cmocka_unit_test(from_a_real_dump),
		cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests_name("hprof", tests, NULL, NULL);
}
