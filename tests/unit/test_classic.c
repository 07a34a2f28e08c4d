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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "classic_text.h"
#include "dump/source/source.h"

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
	struct classic_reading got;
	read_classic(&got, example, sizeof example - 1, 1);
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
	struct classic_reading got;
	static const char bare[] = "0x00000000E0000AF0 [16] OBJ java/lang/String\n\t0x00000000E0000B00\n";
	read_classic(&got, bare, sizeof bare - 1, 1);
	assert_string_equal(got.r.events.s, "I e0000af0 [16] java/lang/String 1\nr e0000b00\n");
	assert_int_equal(got.rc, ERR_TRUNCATED); /* no totals */
	assert_int_equal(got.r.err.offset, sizeof bare - 1);
	recorder_release(&got.r);
	static const char small[] = "0xE0000AF0 [16] OBJ a\n\t0xE0000B00 \n" END;
	read_classic(&got, small, sizeof small - 1, 1);
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
		struct classic_reading got;
		read_classic(&got, text, n, 1);
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
			struct classic_reading got;
			assert_true(classic_reader.probe(bytes, n) > 0);
			read_classic(&got, bytes, n, 1);
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
	struct classic_reading got;
	read_classic(&got, bytes, n, 1);
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
	struct classic_reading got;
	read_classic(&got, bytes, n, 1);
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
		expect_classic(cases[i].text, "P ab [16] [C 1\nr 1\n", 0);
	}
}

static void other_writers(void **state)
{
	(void)state;
	/* jdmpview: nulls printed, other blanks in the trailer. */
	struct classic_reading got;
	static const char jdmpview[] =
	    "// Version: x\n0x0000000000000AB0 [16] OBJ a/B\n\t0x0 0x0000000000000001 0x0 \n"
	    "0x0000000000000AC0 [16] CLS a/B\n\t\n"
	    "// Breakdown - Classes:1, Objects:1, ObjectArrays:0, PrimitiveArrays:0\n"
	    "// EOF: Total 'Objects',Refs(null) :2,3(2)\n";
	read_classic(&got, jdmpview, sizeof jdmpview - 1, 1);
	assert_string_equal(got.r.events.s, "I ab0 [16] a/B 1\nr 1\nC ac0 [16] a/B 0\n");
	assert_string_equal(got.r.stated.s,
	    "classes=1\nobjects=1\nobject arrays=0\nprimitive arrays=0\n"
	    "records=2\nreferences and nulls=3\nnulls=2\n");
	assert_int_equal(got.r.n_warnings, 0);
	recorder_release(&got.r);
	/* PrintHeapdump: no kind words, no padding, lower case. */
	expect_classic("0Xabc000010 [24] java/lang/String\n\t0xabc000020\n"
	       "0Xabc000020 [24] char[] [hashcode = 12]\n"
	       "0Xabc000030 [24] array of java/lang/String\n\t0xabc000010\n"
	       "0Xabc000040 [24] array of java/lang/String[]\n"
	       "0Xabc000050 [24] int[][]\n"
	       "0Xabc000060 [80] class java/lang/String\n"
	       "0Xabc000070 [80] class int\n"
	       "0Xabc000080 [16] java.util.Date\n" END,
	    "I abc000010 [24] java/lang/String 1\nr abc000020\n"
	    "P abc000020 [24] [C 0\n"
	    "A abc000030 [24] [Ljava/lang/String; 1\nr abc000010\n"
	    "A abc000040 [24] [[Ljava/lang/String; 0\n"
	    "A abc000050 [24] [[I 0\n"
	    "C abc000060 [80] java/lang/String 0\n"
	    "C abc000070 [80] int 0\n"
	    "I abc000080 [16] java/util/Date 0\n",
	    0);
	/* Names with anything in them; blanks at the end go. */
	expect_classic("0x00000010 [8] OBJ a b [3] // 0x12\t \n\t\n" END, "I 10 [8] a b [3] // 0x12 0\n", 0);
	expect_classic("0x00000010[8]OBJ a\n\t\n" END, "I 10 [8] a 0\n", 0);
	expect_classic("0x00000010  [ 8 ]  OBJ  a\n\t\n" END, "I 10 [8] a 0\n", 0);
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
	struct classic_reading a, b;
	read_classic(&a, old.s, old.len, 1);
	read_classic(&b, plain.s, plain.len, 1);
	assert_string_equal(a.facts.version, "old");
	assert_string_equal(b.facts.version, "");
	assert_int_equal(b.rc, 0);
	assert_string_equal(a.r.events.s, b.r.events.s);
	assert_string_equal(a.r.stated.s, "records=1\n");
	recorder_release(&a.r);
	/* Where the class blocks are records of their own, nothing is dropped. */
	text_add(&old, "0x00900000 [64] CLS [C\n\t\n" END);
	read_classic(&a, old.s, old.len, 1);
	assert_string_equal(a.facts.version, "");
	assert_string_not_equal(a.r.events.s, b.r.events.s);
	recorder_release(&a.r);
	recorder_release(&b.r);
	text_release(&old);
	text_release(&plain);
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
	struct source source = classic_source(utf16, sizeof utf16 - 1);
	struct dump_options options = { .no_companion = true };
	struct dump *dump = NULL;
	struct err err = ERR_INIT;
	assert_int_equal(classic_reader.open(&dump, &source, &options, &err), ERR_FORMAT);
	assert_null(dump);
	assert_non_null(strstr(err.message, "UTF-16"));
}

/*
 * Cut the example after each byte.  What a reader may say is known from the text: the records whose
 * second line is there, to its end or to a blank; and it must say that the last is cut when it is not,
 * and that the dump is cut until the last of the totals stands there.
 */
static void truncation(void **state)
{
	(void)state;
	size_t n = sizeof example - 1;
	size_t trailer = (size_t)(strstr(example, "// Breakdown") - example);
	for (size_t cut = 58 + 20; cut <= n; cut++) {
		struct classic_reading got;
		read_classic(&got, example, cut, 1);
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
		} else if (cut < n - 1) {
			assert_int_equal(got.rc, ERR_TRUNCATED);
			assert_int_equal(got.r.err.offset, cut);
		} else {
			assert_int_equal(got.rc, 0);
			assert_int_equal(got.r.n_warnings, 0);
		}
		/* A record that ends at a blank may say that it has fewer references than it had. */
		if (!at_blank)
			assert_int_equal(
			    strncmp(got.r.events.s, example_events, got.r.events.len), 0);
		recorder_release(&got.r);
	}
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
		cmocka_unit_test(not_classic),
		cmocka_unit_test(truncation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
