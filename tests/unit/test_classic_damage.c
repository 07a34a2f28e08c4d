/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_classic_damage.c - damaged and very long lines, and dumps cut into parts, as the classic reader reads them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "classic_text.h"

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
		expect_classic(t.s, "I 10 [8] a 1\nr 20\nI 20 [8] b 0\n", whole_record ? 2 : 1);
		text_release(&t);
	}
	/* 2^48 itself and sizes of 0 pass. */
	expect_classic("0x00000011 [281474976710656] OBJ x\n\t\n0x00000012 [0] OBJ x\n\t\n" END,
	    "I 11 [281474976710656] x 0\nI 12 [0] x 0\n", 0);
	expect_classic("0x00000011 [281474976710657] OBJ x\n\t\n0x00000012 [0] OBJ x\n\t\n" END,
	    "I 12 [0] x 0\n", 1);
}

static void damaged_references(void **state)
{
	(void)state;
	expect_classic("0x00000010 [8] OBJ a\nGARBAGE\n\t0x00000020 \n" END, "I 10 [8] a 1\nr 20\n", 1);
	expect_classic("0x00000010 [8] OBJ a\n\t0x00000020 0xG0 0x 0x00000000000000030 0x00000030 \n" END,
	    "I 10 [8] a 2\nr 20\nr 30\n", 3);
	expect_classic("0x00000010 [8] OBJ a\n0x00000020 0x00000030\n0x40\n" END,
	    "I 10 [8] a 3\nr 20\nr 30\nr 40\n", 0);
	static const char zeros[] = "0x00000010 [8] OBJ a\n\t\0\0\0x00000020 \n" END;
	struct classic_reading got;
	static const char holes[] = "0x00000010 [8] OBJ a\n\t\0\0" "0x00000020 \n" END;
	read_classic(&got, holes, sizeof holes - 1, 1);
	assert_string_equal(got.r.events.s, "I 10 [8] a 1\nr 20\n");
	assert_int_equal(got.r.n_warnings, 1);
	recorder_release(&got.r);
	read_classic(&got, zeros, sizeof zeros - 1, 1);
	assert_int_equal(got.rc, 0);
	recorder_release(&got.r);
	expect_classic("0x00000010 [8] OBJ a\n\t0x00000020 0x0000000000000030 0x40 0xabcdef \n" END,
	    "I 10 [8] a 4\nr 20\nr 30\nr 40\nr abcdef\n", 0);
	/* Comments end a record. */
	expect_classic("0x00000010 [8] OBJ a\n\t0x00000020 \n// what\n\t0x00000030 \n" END,
	    "I 10 [8] a 1\nr 20\n", 1);
	expect_classic("\xEF\xBB\xBF// Version: x\n0x00000010 [8] OBJ a\n\t\n" END, "I 10 [8] a 0\n", 1);
	expect_classic("0x00000010 [8] OBJ a\n\t\n" END "0x00000020 [8] OBJ a\n\t\n",
	    "I 10 [8] a 0\nI 20 [8] a 0\n", 1);
	expect_classic("0x00000010 [8] OBJ a\n\t\n// EOF:  Total : 99999999999999999999,1(1)\n",
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
		expect_classic(t.s, want.s, 0);
		text_release(&t);
		text_release(&want);
	}
	struct text t = TEXT_INIT;
	text_add(&t, "0x00000010 [8] OBJ ");
	for (unsigned i = 0; i < 200000; i++)
		text_add_char(&t, 'n');
	text_add(&t, "\n\t0x00000020 \n0x00000020 [8] OBJ b\n\t\n" END);
	struct classic_reading got;
	read_classic(&got, t.s, t.len, 1);
	assert_int_equal(got.r.classes[0].name_size, 65536);
	assert_int_equal(got.r.n_classes, 2);
	assert_int_equal(got.r.n_warnings, 1);
	recorder_release(&got.r);
	text_release(&t);
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
		struct classic_reading one;
		read_classic(&one, t.s, n, 1);
		assert_true(one.r.events.len > 1000);
		static const unsigned wants[] = { 2, 3, 4, 7, 64, 1000 };
		for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
			struct classic_reading many;
			read_classic(&many, t.s, n, wants[i]);
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
	struct classic_reading got;
	read_classic(&got, t.s, t.len, 1);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.r.n_cuts, 2);
	assert_int_equal(got.r.n_handles, 100);
	recorder_release(&got.r);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_records),
		cmocka_unit_test(damaged_references),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(parts_say_the_same),
		cmocka_unit_test(cuts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
