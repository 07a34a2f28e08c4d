/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_width.c - texts cut by columns, against a second algorithm that tries every end there is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST = 64 };

/* What a text may consist of: plain, accented, wide, combining, beyond 16 bits, and bytes that are no
 * text, among them halves of characters. */
static const char *const parts[] = {
	"a", ".", "Z", "\xc3\xa9", "\xe6\xbc\xa2", "\xed\x95\x9c", "\xcc\x81", "\xcc\x88",
	"\xf0\x9f\x98\x80", "\xf0\xa0\x80\x80", "\xff", "\x80", "\xe6", "\xe6\xbc", "\xf0\x9f",
};

static char *any_text(unsigned *seed)
{
	struct text t = TEXT_INIT;
	text_add(&t, "");
	for (int n = rand_r(seed) % MOST; n > 0; n--)
		text_add(&t, parts[(size_t)rand_r(seed) % (sizeof parts / sizeof *parts)]);
	return text_take(&t);
}

/* Does a character begin here?  Found by reading all of the text from its first byte on. */
static bool begins_here(const char *s, size_t n, size_t at)
{
	size_t i = 0;
	for (int32_t point; i < at;)
		i += utf8_decode(s + i, n - i, &point);
	return i == at;
}

static size_t width_between(const char *s, size_t from, size_t to)
{
	struct text t = TEXT_INIT;
	text_add_n(&t, s + from, to - from);
	size_t width = text_width(t.s);
	text_release(&t);
	return width;
}

static bool is_mark(const char *s, size_t n, size_t at)
{
	int32_t point;
	return at < n && width_between(s, at, at + utf8_decode(s + at, n - at, &point)) == 0;
}

/* The first place from which the rest fits and that parts no character from its marks. */
static size_t naive_end(const char *s, size_t n, size_t columns)
{
	size_t at = 0;
	while (at < n && (!begins_here(s, n, at) || (at > 0 && is_mark(s, n, at)) ||
			     width_between(s, at, n) > columns))
		at++;
	return at;
}

/* The last place up to which the text fits. */
static size_t naive_head(const char *s, size_t n, size_t columns)
{
	size_t at = n;
	while (!begins_here(s, n, at) || width_between(s, 0, at) > columns)
		at--;
	return at;
}

static void one_end(const char *s, size_t columns)
{
	size_t n = strlen(s), used, at = text_fit_end(s, n, columns, &used);
	assert_int_equal(at, naive_end(s, n, columns));
	assert_true(used <= columns);
	assert_true(used >= width_between(s, at, n));
}

static void one_cut(const char *s, size_t columns, size_t mark, bool middle)
{
	size_t n = strlen(s), width = width_between(s, 0, n);
	struct text_clip c = text_clip(s, columns, mark, middle);
	assert_int_equal(c.clipped, width > columns);
	if (!c.clipped) {
		assert_int_equal(c.head, n);
		assert_int_equal(c.tail, n);
		assert_int_equal(c.width, width);
		return;
	}
	size_t room = columns - mark;
	bool both = middle && room >= 6;
	assert_int_equal(c.head, naive_head(s, n, both ? room / 3 : room));
	assert_int_equal(c.head_width, width_between(s, 0, c.head));
	size_t rest = c.head + naive_end(s + c.head, n - c.head, room - c.head_width);
	assert_int_equal(c.tail, both ? rest : n);
	assert_int_equal(c.width, c.head_width + mark + width_between(s, c.tail, n));
	assert_true(c.width <= columns);
}

static void test_at_random(void **state)
{
	unsigned seed = 4711;
	(void)state;
	for (int i = 0; i < 3000; i++) {
		char *s = any_text(&seed);
		size_t columns = 2 + (size_t)rand_r(&seed) % MOST;
		size_t width = text_width(s), most = text_width_most(s, columns);
		assert_true(width <= columns ? most == width : most > columns);
		one_end(s, columns);
		for (size_t mark = 1; mark <= 2; mark++) {
			one_cut(s, columns, mark, false);
			one_cut(s, columns, mark, true);
		}
		free(s);
	}
}

/* A class name keeps how it begins and how it ends. */
static void test_names(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;
	const char *s = "com.acme.shop.orders.internal.OrderBook";
	struct text_clip c = text_clip(s, 20, 2, true);
	assert_true(c.clipped);
	assert_int_equal(c.head, 6);
	assert_string_equal(s + c.tail, "al.OrderBook");
	text_add_name(&t, s);
	assert_string_equal(t.s, s);
	text_clear(&t);
	char *long_name = malloc(600001);
	memset(long_name, 'x', 600000);
	long_name[600000] = '\0';
	text_add_name(&t, long_name);
	assert_int_equal(t.len, TEXT_NAME_MOST);
	free(long_name);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_random),
		cmocka_unit_test(test_names),
	};
	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
