/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_go.c - the reader of Go heap dumps on bytes written by hand, one dump for each version, and
 * cut at every byte.
 *
 * Bytes are hexadecimal digits with 'text', as in hprof_bytes.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bytes.h"
#include "dump/go/go_shape.h"
#include "guarded.h"
#include "recorder.h"

/* --- lines ------------------------------------------------------------------------------------- */

static void handle_line(struct recorder *r, const char *name, size_t n)
{
	text_addf(&r->events, "class %.*s\n", (int)n, name);
}

static void object_line(struct recorder *r, const struct object_record *o,
    const struct recorded_class *c)
{
	text_addf(&r->events, "O %" PRIx64 " size %" PRIu64 " refs %" PRIu64 "\n", o->address, o->size,
	    o->n_references);
	assert_true(!c || c->how == CLASS_SHOWN);
	assert_int_equal(o->kind, OBJECT_INSTANCE);
	assert_true(o->length == LENGTH_UNKNOWN);
}

static void reference_line(struct recorder *r, uint64_t target)
{
	text_addf(&r->events, "  -> %" PRIx64 "\n", target);
}

static void root_line(struct recorder *r, const struct root_record *root)
{
	text_addf(&r->events, "R %" PRIx64 " kind %d%s", root->address, root->kind,
	    root->fields_only ? " fields" : "");
	if (root->thread_serial)
		text_addf(&r->events, " thread");
	if (root->frame != UINT32_MAX)
		text_addf(&r->events, " frame %" PRIu32, root->frame);
	if (root->slot)
		text_addf(&r->events, " slot %" PRIx64, root->slot);
	text_add(&r->events, "\n");
}

static void thread_line(struct recorder *r, const struct thread_record *t)
{
	text_addf(&r->events, "T %" PRIx64 " %s: %s, %s since %" PRIu64 " by %" PRIx64 "%s\n", t->address,
	    t->name, t->state, t->waits_for ? t->waits_for : "-", t->waits_since, t->created_at,
	    t->system ? " system" : "");
	for (size_t i = 0; i < t->n_frames; i++)
		text_addf(&r->events, "  at %s\n", t->frames[i]);
}

static void warning_line(struct recorder *r, const char *message)
{
	text_addf(&r->events, "W %s\n", message);
}

static void stated_line(struct recorder *r, const char *what, uint64_t count)
{
	if (count)
		text_addf(&r->events, "S %s %" PRIu64 "\n", what, count);
}

static const struct recorder_lines lines = {
	.handle = handle_line, .object = object_line, .reference = reference_line, .root = root_line,
	.thread = thread_line, .warning = warning_line, .stated = stated_line,
};

/* --- a dump in memory -------------------------------------------------------------------------- */

struct fixture {
	struct guarded bytes;
	struct dump *dump;
	struct err err;
	int result;
};

static void open_bytes(struct fixture *f, const char *bytes, size_t n)
{
	struct dump_options options = { .heap_number = 0 };

	*f = (struct fixture){ .result = 0 };
	guard(&f->bytes, "test.dump", bytes, n);
	f->result = go_reader.probe(f->bytes.source.bytes, n < 4096 ? n : 4096) ?
	    go_reader.open(&f->dump, &f->bytes.source, &options, &f->err) : ERR_USAGE;
}

static void finish(struct fixture *f)
{
	if (f->result == 0)
		go_reader.close(f->dump);
	guarded_release(&f->bytes);
}

static int read_all(struct fixture *f, struct recorder *w)
{
	return recorder_read_all(w, f->dump, 1);
}

/* Both passes of a dump say this; result: of each. */
static void expect(const struct text *t, int result, const char *survey, const char *fill)
{
	struct fixture f;
	struct recorder w;

	open_bytes(&f, t->s, t->len);
	assert_int_equal(f.result, 0);
	recorder_init(&w, &lines, false);
	assert_int_equal(read_all(&f, &w), result);
	assert_string_equal(w.events.s, survey);
	recorder_release(&w);
	recorder_init(&w, &lines, true);
	assert_int_equal(read_all(&f, &w), result);
	assert_string_equal(w.events.s, fill);
	recorder_release(&w);
	finish(&f);
}

/* --- go1.7 ------------------------------------------------------------------------------------- */

/* 64-bit, little endian; heap 0x10000 to 0x20000; amd64, go1.19.8, 2 processors. */
#define PARAMS "06 00 08 808004 808008 05 'amd64' 08 'go1.19.8' 02"
#define Z8 "0000000000000000"
/* 0x10000: 24 bytes, pointers at 0 (into the middle of the next object), 8 (nil) and 16 (outside). */
#define OBJECT_A "01 808004 18 2400010000000000 " Z8 " 9944000000000000 01 00 01 08 01 10 00"
/* 0x10020: 16 bytes without pointers; 0x10030: 8 bytes, pointer to 0x10000. */
#define OBJECT_B "01 A08004 10 " Z8 Z8 " 00"
#define OBJECT_C "01 B08004 08 0000010000000000 01 00 00"
/* g 0x10030, sp 0x7000, id 18, created at 0x401000, waiting since 5, chan receive, context 0x10020. */
#define GOROUTINE                                                                                  \
	"04 B08004 80E001 12 80A08002 04 00 00 05 0C 'chan receive' A08004 00 00 00"
/* Two frames: runtime.gopark without pointers, main.work of 16 bytes with one at 8. */
#define FRAMES                                                                                     \
	"05 80E001 00 00 08 " Z8 " 80B001 90B001 90B001 0E 'runtime.gopark' 00 "                   \
	"05 88E001 01 80E001 10 " Z8 " 2800010000000000 80C001 9CC001 9CC001 09 'main.work' 01 08 00"
#define DEFER "0E A08004 B08004 00 00 808004 00 00"
#define PANIC "0F 808004 B08004 11 A08004 00 00"
#define REST                                                                                       \
	"02 04 'type' 808004 09 B08004 01 02 "                                                     \
	"0C 80F001 08 0000010000000000 01 00 00 0D 80F801 08 2000010000000000 01 00 00 "           \
	"07 A08004 808004 01 02 03 0B B08004 A08004 01 02 03"

static void add_memstats(struct text *t, unsigned first)
{
	add_varint(t, 10);
	for (unsigned i = 0; i < 24; i++)
		add_varint(t, first + i);
	for (unsigned i = 0; i < 256; i++)
		add_varint(t, i < 3 ? 303 - i : 900); /* behind the three collections: never used */
	add_varint(t, 3);
}

static void small_dump(struct text *t)
{
	add_hex(t, "'go1.7 heap dump' 0A" PARAMS "03 D004 08 05 'main.' 01 08 D804 D004");
	add_hex(t, OBJECT_A OBJECT_B OBJECT_C GOROUTINE FRAMES DEFER PANIC REST);
	add_memstats(t, 0);
	add_hex(t, "10 05 40 01 03 'f.g' 04 'f.go' 07 02 01 11 808004 05 00");
}

#define STATED                                                                                     \
	"S TotalAlloc 1\nS Sys 2\nS Lookups 3\nS Mallocs 4\nS Frees 5\nS HeapAlloc 6\nS HeapSys 7\n" \
	"S HeapIdle 8\nS HeapInuse 9\nS HeapReleased 10\nS HeapObjects 11\nS StackInuse 12\n"      \
	"S StackSys 13\nS MSpanInuse 14\nS MSpanSys 15\nS MCacheInuse 16\nS MCacheSys 17\n"        \
	"S BuckHashSys 18\nS GCSys 19\nS OtherSys 20\nS NextGC 21\nS LastGC 22\nS PauseTotalNs 23\n" \
	"S NumGC 3\nS pause_last_ns 301\nS pause_longest_ns 303\n"
#define WRITTEN_SURVEY                                                                             \
	"class 24 B {ptr@0 ptr@8 ptr@16}\nO 10000 size 24 refs 2\n"                                \
	"class 16 B {}\nO 10020 size 16 refs 0\nclass 8 B {ptr@0}\nO 10030 size 8 refs 1\n"
#define WRITTEN_FILL                                                                               \
	"O 10000 size 24 refs 2\n  -> 10024\n  -> 4499\nO 10020 size 16 refs 0\n"                  \
	"O 10030 size 8 refs 1\n  -> 10000\n"

static void whole_dump(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	small_dump(&t);
	expect(&t, 0, WRITTEN_SURVEY
	    "R 10030 kind 8 thread\nR 10020 kind 13 thread\n"
	    "R 10028 kind 13 thread frame 1 slot 7010\n"
	    "R 10020 kind 16 thread\nR 10000 kind 16 thread\n"
	    "R 10000 kind 17 thread\nR 10020 kind 17 thread\n"
	    "R 10000 kind 10 slot 118\nR 10030 kind 8\n"
	    "R 10000 kind 11 slot 7800\nR 10020 kind 12 slot 7c00\n"
	    "R 10000 kind 14\nR 10020 kind 15 fields\nR 10030 kind 9\nR 10020 kind 9\n" STATED
	    "T 10030 goroutine 18 main.work: waiting, chan receive since 5 by 401000\n"
	    "  at runtime.gopark+0x10\n  at main.work+0x1c\n", WRITTEN_FILL);
	text_release(&t);
}

static void facts(void **state)
{
	struct text t = TEXT_INIT;
	struct fixture f;
	(void)state;

	small_dump(&t);
	open_bytes(&f, t.s, t.len);
	assert_int_equal(f.result, 0);
	const struct dump_facts *facts = &f.dump->facts;
	assert_string_equal(facts->format, "go");
	assert_string_equal(facts->version, "1.7");
	assert_string_equal(facts->vm, "go1.19.8 amd64");
	assert_int_equal(facts->word_bits, 64);
	assert_false(facts->big_endian);
	assert_true(facts->interior_pointers && facts->roots_recorded);
	finish(&f);
	text_release(&t);
}

/* Records that the types are found by are listed once the survey is over. */
static void records_by_tag(void **state)
{
	struct text t = TEXT_INIT;
	struct fixture f;
	struct recorder w;
	struct go_record r;
	size_t run = 0;
	uint64_t at = 0;
	(void)state;

	small_dump(&t);
	open_bytes(&f, t.s, t.len);
	recorder_init(&w, &lines, false);
	assert_int_equal(read_all(&f, &w), 0);
	assert_int_equal(f.dump->reader->prepare(f.dump, &f.err), 0);
	const struct go *g = (const struct go *)f.dump;
	assert_true(go_next(g, GO_FRAME, &run, &at, &r));
	assert_int_equal(r.u[FRAME_SP], 0x7000);
	assert_true(go_next(g, GO_FRAME, &run, &at, &r));
	assert_int_equal(r.u[FRAME_PC], 0x601c);
	assert_memory_equal(r.s[1].p, "main.work", 9);
	assert_false(go_next(g, GO_FRAME, &run, &at, &r));
	run = 0, at = 0;
	assert_true(go_next(g, GO_BUCKET, &run, &at, &r));
	assert_int_equal(r.u[BUCKET_ALLOCS], 2);
	assert_int_equal(r.u[BUCKET_FREES], 1);
	struct go_site_frame frame;
	assert_true(go_site_next(&r.s[0], &frame));
	assert_memory_equal(frame.file.p, "f.go", 4);
	assert_int_equal(frame.line, 7);
	assert_false(go_site_next(&r.s[0], &frame));
	recorder_release(&w);
	finish(&f);
	text_release(&t);
}

/* --- other machines and versions --------------------------------------------------------------- */

static void big_endian_32(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'go1.7 heap dump' 0A 06 01 04 808004 808008 04 'mips' 08 'go1.19.8' 01");
	add_hex(&t, "01 808004 08 00010010 00000000 01 00 01 04 00 01 908004 04 00000000 00");
	add_hex(&t, "0D 80F801 08 00010000 00000000 01 00 01 04 00 00");
	expect(&t, 0,
	    "class 8 B {ptr@0 ptr@4}\nO 10000 size 8 refs 1\nclass 4 B {}\nO 10010 size 4 refs 0\n"
	    "R 10000 kind 12 slot 7c00\n",
	    "O 10000 size 8 refs 1\n  -> 10010\nO 10010 size 4 refs 0\n");
	text_release(&t);
}

/* The architecture as a number, experiments instead of a release. */
static void go_1_5(void **state)
{
	struct text t = TEXT_INIT;
	struct fixture f;
	(void)state;

	add_hex(&t, "'go1.5 heap dump' 0A 06 00 08 808004 808008 36 06 'fp,foo' 02");
	add_hex(&t, OBJECT_A OBJECT_B OBJECT_C "00");
	expect(&t, 0, WRITTEN_SURVEY, WRITTEN_FILL);
	open_bytes(&f, t.s, t.len);
	assert_string_equal(f.dump->facts.vm, "Go fp,foo amd64");
	finish(&f);
	text_release(&t);
}

/*
 * go1.4 and go1.5 write the sum of two addresses for the length of a type's name, where it has a package, and of the
 * name the dot alone: whether the file has as many bytes or not, the records behind it are read.
 */
static void lost_type_names(void **state)
{
	static const char *const versions[] = {"1.4", "1.5"};
	struct fixture f;
	struct recorder w;
	(void)state;

	for (unsigned i = 0; i < 4; i++) {
		struct text t = TEXT_INIT;
		const bool large = i / 2;
		text_addf(&t, "go%s heap dump\n", versions[i % 2]);
		add_hex(&t, "06 00 08 808004 808008 36 00 02");
		add_hex(&t, "03 D004 08 05 '*main' 01");
		add_hex(&t, large ? "03 E004 08 8120 2E 00" : "03 E004 08 D1EDF203 2E 00"); /* 4,097 and 8,173,265 */
		add_hex(&t, OBJECT_B "03 F004 08 D1EDF203 2E 01" OBJECT_C);
		for (unsigned k = 0; large && k < 600; k++)
			add_hex(&t, "08 808004 808004");
		add_hex(&t, "00");
		open_bytes(&f, t.s, t.len);
		recorder_init(&w, &lines, false);
		assert_int_equal(read_all(&f, &w), 0);
		assert_non_null(strstr(w.events.s, "O 10020"));
		assert_non_null(strstr(w.events.s, "O 10030"));
		recorder_release(&w);
		finish(&f);
		text_release(&t);
	}
}

static void later_versions(void **state)
{
	struct text t = TEXT_INIT;
	struct fixture f;
	(void)state;

	add_hex(&t, "'go1.12 heap dump' 0A" PARAMS OBJECT_A OBJECT_B OBJECT_C "00");
	expect(&t, 0, "W unknown format go1.12: read as go1.7\n" WRITTEN_SURVEY, WRITTEN_FILL);
	text_release(&t);
	add_hex(&t, "'go2.1 heap dump' 0A" PARAMS "00");
	open_bytes(&f, t.s, t.len);
	assert_int_equal(f.result, ERR_FORMAT);
	assert_non_null(strstr(f.err.message, "go2.1"));
	finish(&f);
	text_release(&t);
}

/* Interfaces and empty ones: the second word is the pointer. */
static void go_1_4(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'go1.4 heap dump' 0A 06 00 08 808004 808008 36 00 02");
	add_hex(&t, "01 808004 28 2000010000000000 9944000000000000 2100010000000000"
	    "9944000000000000 2200010000000000 01 00 02 08 03 18 00");
	add_hex(&t, "01 A08004 10 " Z8 Z8 " 00 00");
	expect(&t, 0,
	    "class 40 B {ptr@0 iface@8 eface@24}\nO 10000 size 40 refs 3\n"
	    "class 16 B {}\nO 10020 size 16 refs 0\n",
	    "O 10000 size 40 refs 3\n  -> 10020\n  -> 10021\n  -> 10022\nO 10020 size 16 refs 0\n");
	text_release(&t);
}

/*
 * Types 0x100 "T" of 16 bytes (string at 0), 0x110 "int" of 8 (no pointers, stands in the interface),
 * 0x120 "E" of 32 (interface at 0, empty interface at 16).  Itabs 0x200 (pointer), 0x210 (none).
 */
static void go_1_3(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'go1.3 heap dump' 0A 06 00 08 08 808004 808008 36 00 02");
	add_hex(&t, "03 8002 10 01 'T' 01 02 00 00 03 9002 08 03 'int' 00 00 03 A002 20 01 'E' 01 04 00 05 10 00");
	add_hex(&t, "08 8004 01 08 9004 00");
	/* one T; an array of two; a channel (header 8) of one; conservative */
	add_hex(&t, "01 808004 8002 00 10 0100010000000000 0400000000000000");
	add_hex(&t, "01 908004 8002 01 20 0200010000000000" Z8 "0300010000000000" Z8);
	add_hex(&t, "01 C08004 8002 02 18 0900010000000000 0400010000000000" Z8);
	add_hex(&t, "01 808104 00 7F 10 0500010000000000 2A00000000000000");
	/* an E with a pointer in the interface and none in the other; then the other way round */
	add_hex(&t, "01 A08104 A002 00 20 0002000000000000 0600010000000000 1001000000000000 2A00000000000000");
	add_hex(&t, "01 808204 A002 00 20 1002000000000000 2A00000000000000 0001000000000000 0700010000000000");
	/* of a type that nothing describes */
	add_hex(&t, "01 A08204 9903 00 08 0800010000000000 00");
	expect(&t, 0,
	    "class T\nO 10000 size 16 refs 1\nclass []T\nO 10010 size 32 refs 2\n"
	    "class chan T\nO 10040 size 24 refs 1\nclass 16 B {?}\nO 10080 size 16 refs 2\n"
	    "class E\nO 100a0 size 32 refs 1\nclass E\nO 10100 size 32 refs 1\n"
	    "W object 0x10120 has type 0x199, but no earlier record describes it\n"
	    "class 8 B {}\nO 10120 size 8 refs 0\n",
	    "O 10000 size 16 refs 1\n  -> 10001\nO 10010 size 32 refs 2\n  -> 10002\n  -> 10003\n"
	    "O 10040 size 24 refs 1\n  -> 10004\nO 10080 size 16 refs 2\n  -> 10005\n  -> 2a\n"
	    "O 100a0 size 32 refs 1\n  -> 10006\nO 10100 size 32 refs 1\n  -> 10007\n"
	    "O 10120 size 8 refs 0\n");
	text_release(&t);
}

/* --- damage ------------------------------------------------------------------------------------ */

static void cut_everywhere(void **state)
{
	struct text t = TEXT_INIT;
	unsigned before = 0;
	(void)state;

	small_dump(&t);
	for (size_t n = 3; n < t.len; n++) {
		struct fixture f;
		open_bytes(&f, t.s, n);
		if (n < 16) {
			assert_int_equal(f.result, ERR_TRUNCATED);
			finish(&f);
			continue;
		}
		assert_int_equal(f.result, 0);
		for (int fill = 0; fill < 2; fill++) {
			struct recorder w;
			recorder_init(&w, &lines, fill);
			int code = read_all(&f, &w);
			/* before the parameters are whole no pointer can be read: that comes second */
			assert_true(code == ERR_TRUNCATED);
			assert_true(w.err.has_offset && w.err.offset <= n);
			assert_true(w.n_objects >= before && w.n_objects <= 3);
			if (fill)
				before = w.n_objects;
			recorder_release(&w);
		}
		finish(&f);
	}
	assert_int_equal(before, 3);
	text_release(&t);
}

static void damaged(const char *hex, int code, const char *words)
{
	struct text t = TEXT_INIT;
	struct fixture f;
	struct recorder w;

	add_hex(&t, "'go1.7 heap dump' 0A" PARAMS);
	add_hex(&t, OBJECT_B);
	add_hex(&t, hex);
	open_bytes(&f, t.s, t.len);
	assert_int_equal(f.result, 0);
	recorder_init(&w, &lines, false);
	assert_int_equal(read_all(&f, &w), code);
	assert_int_equal(w.n_objects, 1);
	if (!strstr(w.err.message, words))
		fail_msg("\"%s\" is not in \"%s\"", words, w.err.message);
	recorder_release(&w);
	finish(&f);
	text_release(&t);
}

static void damage(void **state)
{
	(void)state;
	damaged("63 00", ERR_FORMAT, "unknown record type 99");
	damaged("01 808004 FFFFFFFFFFFFFFFF7F 00", ERR_TRUNCATED, "should have 9223372036854775807 more bytes");
	damaged("01 808004 FFFFFFFFFFFFFFFFFF01 00", ERR_TRUNCATED, "should have 18446744073709551615 more bytes");
	damaged("01 80808080808080808080808001 00 0000000000", ERR_FORMAT, "more than 64 bits");
	damaged("01 80808080808080808002 00 0000000000000000", ERR_FORMAT, "more than 64 bits");
	damaged("01 808004 08 " Z8 " 02 00 00", ERR_FORMAT, "a field of kind 2");
	damaged("10 05 40 FFFFFFFFFFFFFFFFFF01 00", ERR_TRUNCATED, "an allocation bucket record");
	damaged("", ERR_TRUNCATED, "no end record");
}

/* What does not end the reading. */
static void odd_things(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'go1.7 heap dump' 0A" PARAMS);
	/* a list that leads outside and between words; numbers longer than they need to be; size 0; an
	 * address that nothing can be at, and one whose end lies beyond the last */
	add_hex(&t, "01 808004 08 " Z8 " 01 00 01 08 01 03 01 FFFFFFFFFFFFFFFFFF01 00");
	add_hex(&t, "01 A0808400 8880808000 B000010000000000 81808000 80808000 00");
	add_hex(&t, "01 B08004 00 00 01 00 00 00 01 F9FFFFFFFFFFFFFFFF01 08 " Z8 " 00");
	add_hex(&t, PARAMS "05 80E001 00 00 00 00 00 00 01 'f' 00 00 AAAA");
	expect(&t, 0,
	    "W object 0x10000 of 8 bytes lists 3 pointers outside of it or not aligned: ignored\n"
	    "class 8 B {ptr@0 ptr@8 ptr@3 ptr@18446744073709551615}\nO 10000 size 8 refs 0\n"
	    "class 8 B {ptr@0}\nO 10020 size 8 refs 1\nclass 0 B {}\nO 10030 size 0 refs 0\n"
	    "W an invalid object of 0 bytes at address 0x0 is ignored\n"
	    "W an invalid object of 8 bytes at address 0xfffffffffffffff9 is ignored\n"
	    "W parameters occur twice: the first are used\n"
	    "W a stack frame without a goroutine\n"
	    "W 2 bytes follow the end record\n",
	    "O 10000 size 8 refs 0\nO 10020 size 8 refs 1\n  -> 100b0\nO 10030 size 0 refs 0\n");
	text_release(&t);
}

static void no_parameters(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'go1.7 heap dump' 0A" OBJECT_A "00");
	expect(&t, ERR_FORMAT, "class 24 B {ptr@0 ptr@8 ptr@16}\nO 10000 size 24 refs 0\n",
	    "O 10000 size 24 refs 0\n");
	text_release(&t);
	add_hex(&t, "'go1.7 heap dump' 0A 06 00 03 808004 808008 00 00 01" OBJECT_A "00");
	expect(&t, ERR_FORMAT, "class 24 B {ptr@0 ptr@8 ptr@16}\nO 10000 size 24 refs 0\n",
	    "O 10000 size 24 refs 0\n");
	text_release(&t);
	add_hex(&t, "'go1.7 heap dump' 0A" OBJECT_B PARAMS OBJECT_C "00"); /* late */
	expect(&t, 0,
	    "class 16 B {}\nO 10020 size 16 refs 0\nW parameters are not the first record\n"
	    "class 8 B {ptr@0}\nO 10030 size 8 refs 1\n",
	    "O 10020 size 16 refs 0\nO 10030 size 8 refs 1\n  -> 10000\n");
	text_release(&t);
}

/* --- shapes ------------------------------------------------------------------------------------ */

static struct go_pointers list_of(const struct text *t)
{
	const uint8_t *list = (const uint8_t *)t->s;
	return (struct go_pointers){ .list = list, .end = list + t->len };
}

static void name_is(const char *hex, uint64_t size, const char *name)
{
	struct text t = TEXT_INIT, out = TEXT_INIT;
	const struct go g = { .version = 7, .word = 8 };

	add_hex(&t, hex);
	struct go_pointers p = list_of(&t);
	go_shape_name(&g, size, &p, &out);
	assert_string_equal(out.s, name);
	text_release(&t);
	text_release(&out);
}

static void names_of_shapes(void **state)
{
	struct text irregular = TEXT_INIT, a = TEXT_INIT, b = TEXT_INIT;
	const struct go g = { .version = 7, .word = 8 };
	(void)state;

	name_is("00", 32, "32 B {}");
	name_is("01 00 01 10 00", 96, "96 B {ptr@0 ptr@16}");
	name_is("01 00 01 08 01 10 00", 96, "96 B {ptr@0 ptr@8 ptr@16}");
	name_is("01 00 01 08 01 10 01 18 00", 32, "32 B {ptr@0+8\xC3\x97" "4}");
	name_is("01 00 01 18 01 20 01 28 01 30 00", 64, "64 B {ptr@0 ptr@24+8\xC3\x97" "4}");
	name_is("01 8010 01 8810 00", 4096, "4096 B {ptr@2048 ptr@2056}");
	for (unsigned i = 0; i < 300; i++) { /* steps that grow: no run to fold */
		add_varint(&irregular, 1);
		add_varint(&irregular, (uint64_t)i * (i + 1) * 8);
	}
	size_t one_less = irregular.len;
	add_varint(&irregular, 0);
	struct go_pointers list = list_of(&irregular);
	go_shape_name(&g, 1 << 20, &list, &a);
	assert_true(a.len < 80);
	assert_non_null(strstr(a.s, "300 fields #"));
	irregular.s[one_less - 1] ^= 1; /* the last offset differs: another shape */
	go_shape_name(&g, 1 << 20, &list, &b);
	assert_string_not_equal(a.s, b.s);
	text_release(&irregular);
	text_release(&a);
	text_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_dump),
		cmocka_unit_test(facts),
		cmocka_unit_test(records_by_tag),
		cmocka_unit_test(big_endian_32),
		cmocka_unit_test(go_1_3),
		cmocka_unit_test(go_1_4),
		cmocka_unit_test(go_1_5),
		cmocka_unit_test(lost_type_names),
		cmocka_unit_test(later_versions),
		cmocka_unit_test(cut_everywhere),
		cmocka_unit_test(damage),
		cmocka_unit_test(odd_things),
		cmocka_unit_test(no_parameters),
		cmocka_unit_test(names_of_shapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
