/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hprof_damage.c - HPROF dumps cut into parts, cut off anywhere, with any byte wrong, with false lengths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/text.h"
#include "bytes.h"
#include "hprof_bytes.h"

/* Every record stands alone between two cuts, and both readings agree. */
static void cuts(void **state)
{
	struct text t = TEXT_INIT;
	struct hprof_fixture f;
	struct recorder w, again;
	struct part all;
	(void)state;

	small_hprof(&t);
	open_hprof(&f, t.s, t.len, 0);
	hprof_part_bytes = 1;
	assert_int_equal(hprof_reader.parts(f.dump, 1, &all), 1);
	recorder_init(&w, &hprof_lines, false);
	assert_int_equal(hprof_reader.read(f.dump, &all, &w.sink, &w.err), 0);
	assert_string_equal(w.events.s, WRITTEN_CLASSES WRITTEN_OBJECTS WRITTEN_ROOTS);
	assert_true(w.n_cuts > 10);
	recorder_init(&again, &hprof_lines, false);
	for (unsigned i = 0; i <= w.n_cuts; i++) {
		struct part part = i ? w.cuts[i - 1] : all;
		part.end = i < w.n_cuts ? w.cuts[i].begin : all.end;
		assert_int_equal(hprof_reader.read(f.dump, &part, &again.sink, &again.err), 0);
	}
	hprof_part_bytes = PART_BYTES;
	assert_string_equal(again.events.s, w.events.s);
	recorder_release(&w);
	recorder_release(&again);
	close_hprof(&f);
	text_release(&t);
}

/* What a cut at any byte leaves is a prefix of the whole, and it is said unless nothing is lost. */
static void every_cut(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	small_hprof(&t);
	size_t header = 31;
	for (size_t n = 0; n <= t.len; n++) {
		struct hprof_fixture f;
		struct recorder w;
		open_hprof(&f, t.s, n, 0);
		if (n < header) {
			assert_int_equal(f.result, ERR_TRUNCATED);
			close_hprof(&f);
			continue;
		}
		assert_int_equal(f.result, 0);
		recorder_init(&w, &hprof_lines, false);
		int code = read_hprof(&f, &w, 1);
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
		close_hprof(&f);
	}
	text_release(&t);
}

/* One byte anything else anywhere: nothing breaks, and both readings say the same objects. */
static void every_byte_wrong(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	small_hprof(&t);
	static const char wrong[] = { 0, 1, 0x21, 0x7f, (char)0x80, (char)0xff };
	for (size_t at = 13; at < t.len; at++)
		for (size_t k = 0; k < sizeof wrong; k++) {
			struct hprof_fixture f;
			struct recorder w, again;
			char right = t.s[at];
			t.s[at] = wrong[k];
			open_hprof(&f, t.s, t.len, 0);
			t.s[at] = right;
			if (f.result == 0) {
				recorder_init(&w, &hprof_lines, false);
				recorder_init(&again, &hprof_lines, true);
				int first = read_hprof(&f, &w, 2), second = read_hprof(&f, &again, 2);
				assert_int_equal(first, second);
				recorder_release(&w);
				recorder_release(&again);
			}
			close_hprof(&f);
		}
	text_release(&t);
}

static void damage(void **state)
{
	struct text t;
	(void)state;

	begin_hprof(&t);
	add_record(&t, "1C", CLASSES "99" NODE);
	add_record(&t, "1C", INTS);
	add_record(&t, "2C", "");
	expect_hprof("unknown sub-record", &t, ERR_FORMAT, "unknown kind",
	    WRITTEN_CLASSES "P 230 class [I refs 0 length 2\n");

	begin_hprof(&t);
	add_record(&t, "1C", CLASSES "23 00000230 00000001 7FFFFFFF 0A 00000001");
	add_record(&t, "1C", NODE);
	add_record(&t, "2C", "");
	expect_hprof("array beyond its segment", &t, ERR_FORMAT, "longer than the rest of",
	    WRITTEN_CLASSES "O 200 class 110 refs 1\n");

	begin_hprof(&t);
	add_record(&t, "1C", CLASSES "23 00000230 00000001 00000001 02 00000001" NODE);
	add_record(&t, "2C", "");
	expect_hprof("primitive array of references", &t, ERR_FORMAT, "an invalid type",
	    WRITTEN_CLASSES);

	/* the instances before their classes */
	begin_hprof(&t);
	add_record(&t, "1C", NODE SUB CLASSES);
	add_record(&t, "2C", "");
	expect_hprof("classes behind their instances", &t, 0, "",
	    "O 200 class 110 refs 1\nO 210 class 120 refs 3\n" WRITTEN_CLASSES);

	begin_hprof(&t);
	add_record(&t, "1C", NODE);
	add_record(&t, "2C", "");
	expect_hprof("no class records", &t, 0, "",
	    "W an object of class 0x110, which the dump does not define: its references are "
	    "unknown\nO 200 class 110 refs 0\n");

	begin_hprof(&t);
	add_record(&t, "1C", CLASSES "21 00000200 00000001 00000110 00000006 00000210 0000"
				     "21 00000000 00000001 00000110 0000000C 00000210 00000000 00000000");
	add_record(&t, "2C", "");
	expect_hprof("short instance, no identifier", &t, 0, "",
	    WRITTEN_CLASSES "W an instance of demo.Node has 6 bytes of fields, but its class has 12\n"
	    "O 200 class 110 refs 1\nW an instance record with the identifier 0 is ignored\n");
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
		begin_hprof(&t);
		uint64_t part = t.len;
		add_hex(&first, CLASSES NODE SUB);
		add_hex(&t, "1C 00000000");
		add_hex(&t, lies[i].length);
		text_add_n(&t, first.s, first.len);
		text_release(&first);
		add_record(&t, "1C", OBJECTS INTS);
		add_record(&t, "2C", "");
		struct hprof_fixture f;
		struct recorder w;
		open_hprof(&f, t.s, t.len, 0);
		recorder_init(&w, &hprof_lines, false);
		assert_int_equal(read_hprof(&f, &w, 1), lies[i].code);
		assert_int_equal(strncmp(w.events.s, "W a heap dump record gives", 25), 0);
		assert_int_equal(w.warned_at, part);
		assert_string_equal(strchr(w.events.s, '\n') + 1, WRITTEN_CLASSES WRITTEN_OBJECTS);
		recorder_release(&w);
		close_hprof(&f);
		text_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(every_byte_wrong),
		cmocka_unit_test(damage),
		cmocka_unit_test(lengths),
	};
	return cmocka_run_group_tests_name("hprof damage", tests, NULL, NULL);
}
