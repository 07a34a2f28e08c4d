/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_classic.c - the classic reader on bytes written by hand.
 *
 * What it says is recorded, a line for each call; the tests compare such lines, or two readings with
 * each other (N parts and one, ASCII and EBCDIC, survey and fill).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <iconv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "dump/classic/classic.h"
#include "recorder.h"

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

static struct source source_of(const void *bytes, size_t n)
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

struct reading {
	struct recorder r;
	struct dump_facts facts;
	int rc;
};

static void read_text(struct reading *out, const void *bytes, size_t n, unsigned parts)
{
	/* A copy of exactly n bytes: the sanitizer sees a step beyond. */
	uint8_t *copy = xmalloc(n);
	memcpy(copy, bytes, n);
	struct source source = source_of(copy, n);
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

static void expect(const char *text, const char *events, unsigned warnings)
{
	struct reading got;
	read_text(&got, text, strlen(text), 1);
	assert_int_equal(got.rc, 0);
	assert_string_equal(got.r.events.s, events);
	if (got.r.n_warnings != warnings)
		fail_msg("warnings: %s", got.r.warnings.s);
	recorder_release(&got.r);
}

#define END "// EOF:  Total 'Objects',Refs(null) : 1,1(0)\n"

/* ---- the tests ------------------------------------------------------------------------------- */

static const char example[] =
    "// Version: JRE 17 Linux amd64-64 build 20240716_000000\n"
    "0x00000000E0000AF0 [16] OBJ java/lang/String\n\t0x00000000E0000B00 \n"
    "0x00000000E0000B00 [32] OBJ [C\n\t\n"
    "0x00000000FFF07498 [24] OBJ [Ljava/lang/String;\n"
    "\t0x00000000E0000AF0 0x00000000E0000AF0 0x00000000E0000AF0 0x00000000E0000AF0 \n"
    "0x00000000FFF074B0 [40] OBJ [[I\n\t\n"
    "0x00000000E00174F0 [136] CLS java/util/Date\n\t0x00000000E0000AF0 \n"
    "// Breakdown - Classes: 1, Objects: 1, ObjectArrays: 1, PrimitiveArrays: 2\n"
    "// EOF:  Total 'Objects',Refs(null) : 5,9(3)\n";

static const char example_events[] =
    "I e0000af0 [16] java/lang/String 1\nr e0000b00\n"
    "P e0000b00 [32] [C 0\n"
    "A fff07498 [24] [Ljava/lang/String; 4\nr e0000af0\nr e0000af0\nr e0000af0\nr e0000af0\n"
    "A fff074b0 [40] [[I 0\n"
    "C e00174f0 [136] java/util/Date 1\nr e0000af0\n";

static const char example_stated[] =
    "classes=1\nobjects=1\nobject arrays=1\nprimitive arrays=2\n"
    "records=5\nreferences and nulls=9\nnulls=3\n";

static void published_example(void **state)
{
	(void)state;
	struct reading got;
	read_text(&got, example, sizeof example - 1, 1);
	assert_int_equal(got.rc, 0);
	assert_string_equal(got.r.events.s, example_events);
	assert_string_equal(got.r.stated.s, example_stated);
	assert_int_equal(got.r.n_warnings, 0);
	assert_string_equal(got.facts.format, "classic");
	assert_string_equal(got.facts.vm, "JRE 17 Linux amd64-64 build 20240716_000000");
	assert_int_equal(got.facts.word_bits, 64);
	assert_false(got.facts.has_instance_sizes);
	assert_false(got.facts.loader_is_first_reference);
	assert_false(got.facts.roots_recorded);
	assert_false(got.facts.references_superclass_recorded);
	assert_int_equal(got.facts.object_alignment, 0);
	recorder_release(&got.r);
}

/* The two lines of the published page, without anything around them. */
static void bare_record(void **state)
{
	(void)state;
	expect("0x00000000E0000AF0 [16] OBJ java/lang/String\n\t0x00000000E0000B00\n",
	    "I e0000af0 [16] java/lang/String 1\nr e0000b00\n", 1);
	struct reading got;
	static const char small[] = "0xE0000AF0 [16] OBJ a\n\t0xE0000B00 \n" END;
	read_text(&got, small, sizeof small - 1, 1);
	assert_int_equal(got.facts.word_bits, 32);
	assert_int_equal(got.r.n_warnings, 0);
	recorder_release(&got.r);
}

/* Replace each LF by another line end. */
static char *with_line_ends(const char *text, const char *line_end, size_t *n)
{
	struct text t = TEXT_INIT;
	for (; *text; text++) {
		if (*text == '\n')
			text_add(&t, line_end);
		else
			text_add_char(&t, *text);
	}
	*n = t.len;
	return text_take(&t);
}

static void line_ends(void **state)
{
	(void)state;
	static const char *const ends[] = { "\r\n", "\r", "\n\n", " \r\n" };
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t n;
		char *text = with_line_ends(example, ends[i], &n);
		struct reading got;
		read_text(&got, text, n, 1);
		assert_int_equal(got.rc, 0);
		assert_string_equal(got.r.events.s, example_events);
		assert_string_equal(got.r.stated.s, example_stated);
		assert_int_equal(got.r.n_warnings, 0);
		recorder_release(&got.r);
		free(text);
	}
}

/* iconv through the whole text: LF becomes 25 with glibc; nl is what z/OS writes instead. */
static uint8_t *to_ebcdic(const char *text, const char *code_page, int nl, size_t *n)
{
	size_t left = strlen(text), room = left;
	uint8_t *out = xmalloc(room);
	char *from = (char *)(uintptr_t)text, *to = (char *)out;
	iconv_t cd = iconv_open(code_page, "ISO-8859-1");
	assert_true(cd != (iconv_t)-1);
	assert_true(iconv(cd, &from, &left, &to, &room) != (size_t)-1);
	iconv_close(cd);
	*n = (size_t)(to - (char *)out);
	for (size_t i = 0; i < *n; i++) {
		if (text[i] == '\n')
			out[i] = (uint8_t)nl;
	}
	return out;
}

static void ebcdic(void **state)
{
	(void)state;
	static const char *const pages[] = { "IBM1047", "IBM037", "IBM500" };
	static const int nls[] = { 0x15, 0x25 };
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 2; k++) {
			size_t n;
			uint8_t *bytes = to_ebcdic(example, pages[i], nls[k], &n);
			struct reading got;
			assert_true(classic_reader.probe(bytes, n) > 0);
			read_text(&got, bytes, n, 1);
			assert_int_equal(got.rc, 0);
			assert_string_equal(got.r.events.s, example_events);
			assert_string_equal(got.r.stated.s, example_stated);
			assert_int_equal(got.r.n_warnings, 0);
			assert_string_equal(got.facts.vm,
			    "JRE 17 Linux amd64-64 build 20240716_000000");
			assert_true(got.facts.big_endian);
			recorder_release(&got.r);
			free(bytes);
		}
	}
	/* The size's bracket as the sheets of z/OS print it, and a letter that is two bytes in UTF-8. */
	size_t n;
	uint8_t *bytes = to_ebcdic("0x000000AB [16] OBJ caf\xE9\n\t0x00000001 \n" END, "IBM1047", 0x15,
	    &n);
	assert_int_equal(bytes[0], 0xF0);
	assert_int_equal(bytes[1], 0xA7);
	assert_int_equal(bytes[11], 0xAD);
	assert_int_equal(bytes[14], 0xBD);
	struct reading got;
	read_text(&got, bytes, n, 1);
	assert_string_equal(got.r.events.s, "I ab [16] caf\xC3\xA9 1\nr 1\n");
	recorder_release(&got.r);
	free(bytes);
}

/* An offset in a warning is one of the file, whatever the translation did to lengths. */
static void ebcdic_offsets(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	for (unsigned i = 1; i < 400; i++)
		text_addf(&t, "0x%08X [16] OBJ \xE9\xE9\xE9%u\n\t\n", i, i);
	size_t damage = t.len;
	text_add(&t, "0x000000FF [x] OBJ a\n\t\n" END);
	size_t n;
	uint8_t *bytes = to_ebcdic(t.s, "IBM1047", 0x15, &n);
	struct reading got;
	read_text(&got, bytes, n, 1);
	assert_int_equal(got.r.n_warnings, 1);
	assert_int_equal(strtoull(got.r.warnings.s, NULL, 10), damage);
	recorder_release(&got.r);
	free(bytes);
	text_release(&t);
}

/* A 1047 reading of code page 037, and a newline that came out as U+0085. */
static void transfer_damage(void **state)
{
	(void)state;
	static const struct {
		const char *text;
	} cases[] = {
		{ "// Version: x\n0x000000AB \xDD" "16\xA8 OBJ \xDD" "C\n\t0x00000001 \n" END },
		{ "// Version: x\n0x000000AB \xC3\x9D" "16\xC2\xA8 OBJ \xC3\x9D" "C\n\t0x00000001 \n" END },
		{ "// Version: x\x85" "0x000000AB [16] OBJ [C\x85\t0x00000001 \x85" END },
		{ "// Version: x\xC2\x85" "0x000000AB [16] OBJ [C\xC2\x85\t0x00000001 \xC2\x85" END },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(classic_reader.probe((const uint8_t *)cases[i].text,
		                strlen(cases[i].text)) > 0);
		expect(cases[i].text, "P ab [16] [C 1\nr 1\n", 0);
	}
}

static void other_writers(void **state)
{
	(void)state;
	/* jdmpview: nulls printed, other blanks in the trailer. */
	struct reading got;
	static const char jdmpview[] =
	    "// Version: x\n0x0000000000000AB0 [16] OBJ a/B\n\t0x0 0x0000000000000001 0x0 \n"
	    "0x0000000000000AC0 [16] CLS a/B\n\t\n"
	    "// Breakdown - Classes:1, Objects:1, ObjectArrays:0, PrimitiveArrays:0\n"
	    "// EOF: Total 'Objects',Refs(null) :2,3(2)\n";
	read_text(&got, jdmpview, sizeof jdmpview - 1, 1);
	assert_string_equal(got.r.events.s, "I ab0 [16] a/B 1\nr 1\nC ac0 [16] a/B 0\n");
	assert_string_equal(got.r.stated.s,
	    "classes=1\nobjects=1\nobject arrays=0\nprimitive arrays=0\n"
	    "records=2\nreferences and nulls=3\nnulls=2\n");
	assert_int_equal(got.r.n_warnings, 0);
	recorder_release(&got.r);
	/* PrintHeapdump: no kind words, no padding, lower case. */
	expect("0Xabc000010 [24] java/lang/String\n\t0xabc000020\n"
	       "0Xabc000020 [24] char[] [hashcode = 12]\n"
	       "0Xabc000030 [24] array of java/lang/String\n\t0xabc000010\n"
	       "0Xabc000040 [24] array of java/lang/String[]\n"
	       "0Xabc000050 [24] int[][]\n"
	       "0Xabc000060 [80] class java/lang/String\n"
	       "0Xabc000070 [80] class int\n"
	       "0Xabc000080 [16] java.util.Date\n",
	    "I abc000010 [24] java/lang/String 1\nr abc000020\n"
	    "P abc000020 [24] [C 0\n"
	    "A abc000030 [24] [Ljava/lang/String; 1\nr abc000010\n"
	    "A abc000040 [24] [[Ljava/lang/String; 0\n"
	    "A abc000050 [24] [[I 0\n"
	    "C abc000060 [80] java/lang/String 0\n"
	    "C abc000070 [80] int 0\n"
	    "I abc000080 [16] java/util/Date 0\n",
	    1);
	/* Names with anything in them; blanks at the end go. */
	expect("0x00000010 [8] OBJ a b [3] // 0x12\t \n\t\n" END, "I 10 [8] a b [3] // 0x12 0\n", 0);
	expect("0x00000010[8]OBJ a\n\t\n" END, "I 10 [8] a 0\n", 0);
	expect("0x00000010  [ 8 ]  OBJ  a\n\t\n" END, "I 10 [8] a 0\n", 0);
}

/* One heap in the new style and in the old: class blocks first, nulls printed. */
static void old_style(void **state)
{
	(void)state;
	struct text old = TEXT_INIT, plain = TEXT_INIT;
	for (unsigned i = 0; i < 600; i++) {
		unsigned at = 0x10000 + 32 * i;
		const char *type = i % 3 == 0 ? "[C" : i % 3 == 1 ? "a/B" : "[La/B;";
		unsigned block = 0x900000 + 64 * (i % 3);
		text_addf(&old, "0x%08X [32] OBJ %s\n\t0x%08X ", at, type, block);
		text_addf(&plain, "0x%08X [32] OBJ %s\n\t", at, type);
		if (i % 3) {
			text_addf(&old, "0x00000000 0x%08X ", at - 32);
			text_addf(&plain, "0x%08X ", at - 32);
		}
		text_add(&old, "\n");
		text_add(&plain, "\n");
	}
	text_add(&old, "0x00001000 [64] CLS a/B\n\t0x009000C0 0x00010000 \n" END);
	text_add(&plain, "0x00001000 [64] CLS a/B\n\t0x00010000 \n" END);
	struct reading a, b;
	read_text(&a, old.s, old.len, 1);
	read_text(&b, plain.s, plain.len, 1);
	assert_string_equal(a.facts.version, "old");
	assert_string_equal(b.facts.version, "");
	assert_int_equal(b.rc, 0);
	assert_string_equal(a.r.events.s, b.r.events.s);
	assert_string_equal(a.r.stated.s, "records=1\n");
	recorder_release(&a.r);
	/* Where the class blocks are records of their own, nothing is dropped. */
	text_add(&old, "0x00900000 [64] CLS [C\n\t\n" END);
	read_text(&a, old.s, old.len, 1);
	assert_string_equal(a.facts.version, "");
	assert_string_not_equal(a.r.events.s, b.r.events.s);
	recorder_release(&a.r);
	recorder_release(&b.r);
	text_release(&old);
	text_release(&plain);
}

static void damaged_records(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"0x00000000000000001 [8] OBJ x\n\t0x00000077 \n",
		"0x [8] OBJ x\n\t0x00000077 \n",
		"0xZZ [8] OBJ x\n\t0x00000077 \n",
		"0x00000011 OBJ x\n\t0x00000077 \n",
		"00000011 [8] OBJ x\n\t0x00000077 \n",
		"0x00000011 [-8] OBJ x\n\t0x00000077 \n",
		"0x00000011 [+8] OBJ x\n\t0x00000077 \n",
		"0x00000011 [9223372036854775809] OBJ x\n\t0x00000077 \n",
		"0x00000011 [99999999999999999999999] OBJ x\n\t0x00000077 \n",
		"0x00000011 [abc] OBJ x\n\t0x00000077 \n",
		"0x00000011 [8 OBJ x\n\t0x00000077 \n",
		"0x00000011 [8] FOO x\n\t0x00000077 \n",
		"0x00000011 [8] OBJ\n\t0x00000077 \n",
		"0x00000011 [8] OBJ \n\t0x00000077 \n",
		"0x00000011 [8]\n\t0x00000077 \n",
		"\t0x00000077 \n",
		"garbage\n",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		/* At the beginning references have no record; later on they belong to the one before. */
		bool whole_record = strchr(bad[i], 'x') && strstr(bad[i], "[") != NULL;
		struct text t = TEXT_INIT;
		text_addf(&t, "// Version: x\n%s0x00000010 [8] OBJ a\n\t0x00000020 \n", bad[i]);
		if (whole_record)
			text_add(&t, bad[i]);
		text_add(&t, "0x00000020 [8] OBJ b\n\t\n" END);
		expect(t.s, "I 10 [8] a 1\nr 20\nI 20 [8] b 0\n", whole_record ? 2 : 1);
		text_release(&t);
	}
	/* 2^63 itself and sizes of 0 pass. */
	expect("0x00000011 [9223372036854775808] OBJ x\n\t\n0x00000012 [0] OBJ x\n\t\n" END,
	    "I 11 [9223372036854775808] x 0\nI 12 [0] x 0\n", 0);
}

static void damaged_references(void **state)
{
	(void)state;
	expect("0x00000010 [8] OBJ a\nGARBAGE\n\t0x00000020 \n" END, "I 10 [8] a 1\nr 20\n", 1);
	expect("0x00000010 [8] OBJ a\n\t0x00000020 0xG0 0x 0x00000000000000030 0x00000030 \n" END,
	    "I 10 [8] a 2\nr 20\nr 30\n", 3);
	expect("0x00000010 [8] OBJ a\n0x00000020 0x00000030\n0x40\n" END,
	    "I 10 [8] a 3\nr 20\nr 30\nr 40\n", 0);
	static const char zeros[] = "0x00000010 [8] OBJ a\n\t\0\0\0x00000020 \n" END;
	struct reading got;
	static const char holes[] = "0x00000010 [8] OBJ a\n\t\0\0" "0x00000020 \n" END;
	read_text(&got, holes, sizeof holes - 1, 1);
	assert_string_equal(got.r.events.s, "I 10 [8] a 1\nr 20\n");
	assert_int_equal(got.r.n_warnings, 1);
	recorder_release(&got.r);
	read_text(&got, zeros, sizeof zeros - 1, 1);
	assert_int_equal(got.rc, 0);
	recorder_release(&got.r);
	expect("0x00000010 [8] OBJ a\n\t0x00000020 0x0000000000000030 0x40 0xabcdef \n" END,
	    "I 10 [8] a 4\nr 20\nr 30\nr 40\nr abcdef\n", 0);
	/* Comments end a record. */
	expect("0x00000010 [8] OBJ a\n\t0x00000020 \n// what\n\t0x00000030 \n" END,
	    "I 10 [8] a 1\nr 20\n", 1);
	expect("\xEF\xBB\xBF// Version: x\n0x00000010 [8] OBJ a\n\t\n" END, "I 10 [8] a 0\n", 1);
	expect("0x00000010 [8] OBJ a\n\t\n" END "0x00000020 [8] OBJ a\n\t\n",
	    "I 10 [8] a 0\nI 20 [8] a 0\n", 1);
	expect("0x00000010 [8] OBJ a\n\t\n// EOF:  Total : 99999999999999999999,1(1)\n",
	    "I 10 [8] a 0\n", 1);
}

/* Lines longer than any buffer. */
static void long_lines(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 2; kind++) {
		struct text t = TEXT_INIT, want = TEXT_INIT;
		text_addf(&t, "0x0000000000000010 [8] %s a\n\t", kind ? "CLS" : "OBJ");
		text_addf(&want, "%c 10 [8] a 30000\n", kind ? 'C' : 'I');
		for (unsigned i = 1; i <= 30000; i++) {
			text_addf(&t, i % 7 ? "0x%016X " : "0x%X  0x0 ", i);
			text_addf(&want, "r %x\n", i);
		}
		text_add(&t, "\n" END);
		expect(t.s, want.s, 0);
		text_release(&t);
		text_release(&want);
	}
	struct text t = TEXT_INIT;
	text_add(&t, "0x00000010 [8] OBJ ");
	for (unsigned i = 0; i < 200000; i++)
		text_add_char(&t, 'n');
	text_add(&t, "\n\t0x00000020 \n0x00000020 [8] OBJ b\n\t\n" END);
	struct reading got;
	read_text(&got, t.s, t.len, 1);
	assert_int_equal(got.r.classes[0].name_size, 65536);
	assert_int_equal(got.r.n_classes, 2);
	assert_int_equal(got.r.n_warnings, 1);
	recorder_release(&got.r);
	text_release(&t);
}

static void not_classic(void **state)
{
	(void)state;
	static const char *const texts[] = { "", "x", "/", "//", "0", "0x", "// a comment in C\nint x;\n",
		"0x12 0x13\n", "hello", "// Versio", "\n\n\n", "\xEF\xBB\xBF", "\xF0\xA7", "aa@",
		"0x [3] OBJ a\n" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(
		    classic_reader.probe((const uint8_t *)texts[i], strlen(texts[i])), 0);
	static const char utf16[] = "\xFF\xFE/\0/\0 \0V\0";
	assert_true(classic_reader.probe((const uint8_t *)utf16, sizeof utf16 - 1) > 0);
	struct source source = source_of(utf16, sizeof utf16 - 1);
	struct dump_options options = { .no_companion = true };
	struct dump *dump = NULL;
	struct err err = ERR_INIT;
	assert_int_equal(classic_reader.open(&dump, &source, &options, &err), ERR_FORMAT);
	assert_null(dump);
	assert_non_null(strstr(err.message, "UTF-16"));
}

/*
 * Cut the example after each byte.  What a reader may say is known from the text: the records whose
 * second line is there, to its end or to a blank; and it must say that the last is cut when it is not.
 */
static void truncation(void **state)
{
	(void)state;
	size_t n = sizeof example - 1;
	size_t trailer = (size_t)(strstr(example, "// Breakdown") - example);
	for (size_t cut = 58 + 20; cut <= n; cut++) {
		struct reading got;
		read_text(&got, example, cut, 1);
		/* A second algorithm: whole lines, two to a record after the first. */
		size_t n_lines = 0, end_of_last = 0;
		for (size_t i = 0; i < cut && i < trailer; i++) {
			if (example[i] == '\n' && (n_lines++ & 1) == 0)
				end_of_last = i + 1;
		}
		char last = example[cut - 1];
		bool at_blank = n_lines % 2 == 0 && (last == ' ' || last == '\t');
		if (at_blank) {
			n_lines++;
			end_of_last = cut;
		}
		unsigned whole = (unsigned)(n_lines ? (n_lines - 1) / 2 : 0);
		unsigned told = 0;
		for (size_t i = 0; i < got.r.events.len; i++)
			told += got.r.events.s[i] == '\n' && got.r.events.s[i + 1] != 'r';
		assert_int_equal(told, whole);
		if (cut > end_of_last && cut <= trailer) {
			assert_int_equal(got.rc, ERR_TRUNCATED);
			assert_true(got.r.err.has_offset);
			assert_int_equal(got.r.err.offset, end_of_last);
		} else {
			assert_int_equal(got.rc, 0);
			assert_int_equal(got.r.n_warnings > 0, cut < n - 1);
		}
		/* A record that ends at a blank may say that it has fewer references than it had. */
		if (!at_blank)
			assert_int_equal(
			    strncmp(got.r.events.s, example_events, got.r.events.len), 0);
		recorder_release(&got.r);
	}
}

/* ---- parts ----------------------------------------------------------------------------------- */

static uint32_t random_state = 12345;

static unsigned any(unsigned below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

static void add_random_record(struct text *t, unsigned i)
{
	static const char *const types[] = { "java/lang/String", "[C", "[Ljava/lang/Object;", "a b",
		"x/[24] OBJ y", "[[I" };
	static const char *const ends[] = { "\n", "\r\n", "\r", "\n\n" };
	static const char *const odd[] = { "junk\n", "0x\n", "// note\n", "\t0x00000055 \n", "\0",
		"0x00000007 [z] OBJ bad\n\t0x00000088 \n", "// EOF:  Total : 1,2(3)\n",
		"00000007 [3] OBJ bad\n\t0x00000088 \n", "0x00000009 0x0000000a\n",
		"0x00000010 [8] class java.util.Date\n", "0x00000010 [8] char[][]\n\t0x00000020\n" };
	const char *end = ends[any(20) ? 0 : any(4)];
	text_addf(t, "0x%016X [%u] %s %s%s\t", 16 * i, any(100), any(10) ? "OBJ" : "CLS",
	    types[any(6)], end);
	unsigned n = any(50) ? any(4) : any(9000);
	for (unsigned k = 0; k < n; k++)
		text_addf(t, any(40) ? "0x%016X " : "0x%x ", 16 * any(1000));
	text_add(t, end);
	if (any(12) == 0)
		text_add(t, odd[any(sizeof odd / sizeof *odd)]);
}

static void parts_say_the_same(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		struct text t = TEXT_INIT;
		text_add(&t, round & 1 ? "// Version: x\n" : "\n0x0000000000000001 [8] OBJ a\n\t\n");
		for (unsigned i = 0; i < 300; i++)
			add_random_record(&t, i);
		text_add(&t, END);
		/* Cut off the end as well. */
		size_t n = round & 2 ? t.len - any(200) : t.len;
		struct reading one;
		read_text(&one, t.s, n, 1);
		assert_true(one.r.events.len > 1000);
		static const unsigned wants[] = { 2, 3, 4, 7, 64, 1000 };
		for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
			struct reading many;
			read_text(&many, t.s, n, wants[i]);
			assert_int_equal(many.rc, one.rc);
			assert_int_equal(many.r.err.offset, one.r.err.offset);
			assert_string_equal(many.r.events.s, one.r.events.s);
			assert_string_equal(many.r.warnings.s, one.r.warnings.s);
			assert_string_equal(many.r.stated.s, one.r.stated.s);
			recorder_release(&many.r);
		}
		recorder_release(&one.r);
		text_release(&t);
	}
}

/* Cuts come between records, and reading from one cut to the next says the same. */
static void cuts(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	for (unsigned i = 1; t.len < 3 * (size_t)PART_BYTES; i++)
		text_addf(&t, "0x%016X [24] OBJ a/B%u\n\t0x%016X 0x%016X \n", i * 16, i % 100, i, i + 1);
	text_add(&t, END);
	struct reading got;
	read_text(&got, t.s, t.len, 1);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.r.n_cuts, 2);
	assert_int_equal(got.r.n_handles, 100);
	recorder_release(&got.r);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_example),
		cmocka_unit_test(bare_record),
		cmocka_unit_test(line_ends),
		cmocka_unit_test(ebcdic),
		cmocka_unit_test(ebcdic_offsets),
		cmocka_unit_test(transfer_damage),
		cmocka_unit_test(other_writers),
		cmocka_unit_test(old_style),
		cmocka_unit_test(damaged_records),
		cmocka_unit_test(damaged_references),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(not_classic),
		cmocka_unit_test(truncation),
		cmocka_unit_test(parts_say_the_same),
		cmocka_unit_test(cuts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
