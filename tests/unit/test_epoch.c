/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_epoch.c - which numbers are plausible times: the borders of the rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/describe/epoch.h"

#define FIRST INT64_C(946684800) /* date -ud 2000-01-01 +%s */
#define END INT64_C(2110875300)  /* date -ud 2036-11-21T10:15:00 +%s */

static const int64_t units[] = {1, 1000, 1000000, 1000000000};

static void expect(int64_t number, const char *name, bool is, int64_t seconds, uint32_t nanos)
{
	struct instant t;
	assert_int_equal(epoch_of(number, name, END, &t), is);
	if (is) {
		assert_int_equal(t.seconds, seconds);
		assert_int_equal(t.nanos, nanos);
	}
}

static void test_borders(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		expect(FIRST * units[i] - 1, "time", false, 0, 0);
		expect(FIRST * units[i], "time", true, FIRST, 0);
		expect(FIRST * units[i] + 1, "time", true, FIRST + (i == 0), i ? (uint32_t)(1000000000 / units[i]) : 0);
		expect(END * units[i] - 1, "time", true, END - 1, i ? (uint32_t)(1000000000 - 1000000000 / units[i]) : 0);
		expect(END * units[i], "time", true, END, 0);
		expect(END * units[i] + 1, "time", false, 0, 0);
		expect(-END * units[i], "time", false, 0, 0);
	}
	expect(0, "time", false, 0, 0);
	expect(INT64_MAX, "time", false, 0, 0);
	expect(INT64_MIN, "time", false, 0, 0);
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool by_itself = i == 1 || i == 2;
		expect(FIRST * units[i], "", by_itself, FIRST, 0);
		expect(FIRST * units[i], "flat", by_itself, FIRST, 0);
		expect(FIRST * units[i], "createdAt", true, FIRST, 0);
		expect(FIRST * units[i], "static LAST_SEEN", true, FIRST, 0);
		expect(FIRST * units[i], "id", false, 0, 0);
		expect(FIRST * units[i], "sessionId", false, 0, 0);
		expect(FIRST * units[i], "timeHash", false, 0, 0);
		expect(FIRST * units[i], "nanoTime", i == 3, FIRST, 0);
		expect(FIRST * units[i], "st_ctime_nsec", i == 3, FIRST, 0);
		expect(FIRST * units[i], "startMicros", i == 2, FIRST, 0);
		expect(FIRST * units[i], "timeMillis", i == 1, FIRST, 0);
		expect(FIRST * units[i], "st_mtime_sec", true, FIRST, 0);
	}
}

static void test_end(void **state)
{
	(void)state;
	int64_t unknown = epoch_end("");
	assert_int_equal(unknown, INT64_C(2524607999)); /* date -ud 2049-12-31T23:59:59 +%s */
	assert_int_equal(epoch_end("2026-11-21T10:15:00Z"), END);
	assert_int_equal(epoch_end("2026-11-21T10:15:00"), END);
	assert_int_equal(epoch_end("2024-02-29T00:00:00Z"), INT64_C(2024784000)); /* 2034-03-01 */
	assert_int_equal(epoch_end("1970-01-01T00:00:00Z"), unknown);
	assert_int_equal(epoch_end("9999-01-01T00:00:00Z"), unknown);
	assert_int_equal(epoch_end("yesterday"), unknown);
}

static void test_words(void **state)
{
	(void)state;
	struct instant t;
	uint64_t numbers[EPOCH_UNITS];
	assert_true(epoch_parse("2000-01-01T00:00:00Z", &t));
	assert_int_equal(t.seconds, FIRST);
	assert_int_equal(epoch_numbers(&t, END, numbers), 4);
	assert_int_equal(numbers[3], FIRST * 1000000000);
	assert_true(epoch_parse("2000-02-29 23:59:59.000001", &t));
	assert_int_equal(t.seconds, FIRST + 60 * 86400 - 1);
	assert_int_equal(t.nanos, 1000);
	assert_int_equal(epoch_numbers(&t, END, numbers), 2); /* micro- and nanoseconds */
	assert_true(epoch_parse("1999-12-31T23:59:59Z", &t));
	assert_int_equal(epoch_numbers(&t, END, numbers), 0);
	static const char *const none[] = {"", "2000", "2000-01-01", "2000-01-01T00:00Z", "2000-13-01T00:00:00Z",
	    "2000-00-01T00:00:00Z", "2001-02-29T00:00:00Z", "2000-01-32T00:00:00Z", "2000-01-01T24:00:00Z",
	    "2000-01-01T00:60:00Z", "2000-01-01T00:00:60Z", "2000-01-01T00:00:00.Z", "2000-01-01T00:00:00.1234567890Z",
	    "2000-01-01T00:00:00Zz", "2000-01-01T00:00:00+01:00", "200-01-01T00:00:00Z"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_false(epoch_parse(none[i], &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_borders),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_end),
	    cmocka_unit_test(test_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
