/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_own_utf8.c - the UTF-8 of the static program against the C library's, which has it from a file.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include <cmocka.h>

/* every call of these here is one of src/base/own_utf8.c (--wrap); __real_ is the C library's */
char *__real_setlocale(int category, const char *name);
size_t __real_mbrtowc(wchar_t *to, const char *s, size_t n, mbstate_t *state);
size_t __real_wcrtomb(char *to, wchar_t c, mbstate_t *state);
size_t __real_mbstowcs(wchar_t *to, const char *s, size_t n);
size_t __real_wcsrtombs(char *to, const wchar_t **s, size_t n, mbstate_t *state);
int __real_wcwidth(wchar_t c);
int __real_iswprint(wint_t c);
int __real_iswalnum(wint_t c);
wint_t __real_towlower(wint_t c);
wint_t __real_towupper(wint_t c);
wint_t __real_btowc(int c);
int __real_wctob(wint_t c);

static int begin(void **state)
{
	(void)state;
	if (!setlocale(LC_CTYPE, "xx_XX.UTF-8")) /* nobody has it: ours is on */
		return -1;
	return __real_setlocale(LC_CTYPE, "C.UTF-8") ? 0 : 1;
}

static void the_locale(void **state)
{
	(void)state;
	assert_string_equal(setlocale(LC_CTYPE, NULL), "C.UTF-8");
	assert_string_equal(nl_langinfo(CODESET), "UTF-8");
	assert_true(MB_CUR_MAX >= 4);
	/* one that is there ends it */
	assert_string_equal(setlocale(LC_CTYPE, "C"), "C");
	assert_string_not_equal(nl_langinfo(CODESET), "UTF-8");
	assert_int_equal(MB_CUR_MAX, 1);
	assert_null(setlocale(LC_CTYPE, "xx_XX"));
	assert_null(setlocale(LC_ALL, "xx_XX.UTF-8"));
	assert_int_equal(begin(NULL), 0);
}

static void every_character(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < 0x110000; c++) {
		char ours[16] = "", theirs[16] = "";
		mbstate_t none = {0};
		size_t n = wcrtomb(ours, (wchar_t)c, &none);
		mbstate_t nothing = {0};
		assert_int_equal(n, __real_wcrtomb(theirs, (wchar_t)c, &nothing));
		assert_memory_equal(ours, theirs, sizeof ours);
		wchar_t back = 0;
		if (n != (size_t)-1) {
			assert_int_equal(mbrtowc(&back, ours, n, &none), c ? n : 0);
			assert_int_equal(back, c);
		}
		assert_int_equal(wctob(c), __real_wctob(c));
	}
	for (int c = -1; c < 256; c++)
		assert_int_equal(btowc(c), __real_btowc(c));
}

/* Bytes as they come, also in pieces: the same characters, errors and leftovers. */
static void any_bytes(void **state)
{
	static const unsigned char likely[] = {0, 'a', 0x7F, 0x80, 0xBF, 0xC1, 0xC3, 0xDF, 0xE0, 0xE6, 0xED, 0xA0,
	    0x9F, 0xEF, 0xF0, 0x90, 0x8F, 0xF3, 0xFF};
	unsigned seed = 1;
	(void)state;
	for (int round = 0; round < 300000; round++) {
		char bytes[6];
		mbstate_t a = {0}, b = {0};
		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (char)likely[(size_t)rand_r(&seed) % sizeof likely];
		for (size_t at = 0; at < sizeof bytes;) {
			size_t n = 1 + (size_t)rand_r(&seed) % (sizeof bytes - at);
			wchar_t ours = -1, theirs = -1;
			size_t used = mbrtowc(&ours, bytes + at, n, &a);
			assert_int_equal(used, __real_mbrtowc(&theirs, bytes + at, n, &b));
			assert_int_equal(ours, theirs);
			if (used == (size_t)-1)
				break;
			at += used == (size_t)-2 ? n : used ? used : 1;
		}
	}
}

static void whole_texts(void **state)
{
	static const char *const texts[] = {"", "plain", "gr\xc3\xbc\xc3\x9f", "\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80!",
	    "bad \xff", "cut \xe6\x97"};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		for (size_t room = 0; room < 12; room++) {
			wchar_t ours[12] = {0}, theirs[12] = {0};
			size_t n = mbstowcs(ours, texts[i], room);
			assert_int_equal(n, __real_mbstowcs(theirs, texts[i], room));
			if (n == (size_t)-1)
				continue;
			assert_memory_equal(ours, theirs, n * sizeof *ours);
			char back[2][40] = {"", ""};
			const wchar_t *from = ours, *other = ours;
			mbstate_t none = {0};
			ours[11] = 0;
			assert_int_equal(wcsrtombs(back[0], &from, room, &none), __real_wcsrtombs(back[1], &other, room, &none));
			assert_memory_equal(back[0], back[1], sizeof *back);
			assert_ptr_equal(from, other);
		}
	}
}

/* What is said of characters is true of those that dumps have: letters of Europe, CJK; never is a wrong case. */
static void kinds(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < 0x20000; c++) {
		if (towlower(c) != c)
			assert_int_equal(towlower(c), __real_towlower(c));
		if (towupper(c) != c)
			assert_int_equal(towupper(c), __real_towupper(c));
		bool common = c < 0x250 || (c >= 0x391 && c < 0x3A2) || (c >= 0x400 && c < 0x460) ||
		    (c >= 0x3041 && c < 0x3097) || (c >= 0x4E00 && c < 0x9FA6) || (c >= 0xAC00 && c < 0xD7A4);
		if (!common)
			continue;
		assert_int_equal(wcwidth((wchar_t)c), c == 0xAD ? 1 : __real_wcwidth((wchar_t)c));
		assert_int_equal(!iswprint(c), !__real_iswprint(c));
		if (c != 0xAA && c != 0xBA)
			assert_int_equal(!iswalnum(c), !__real_iswalnum(c));
		if (c >= 0x391 && c < 0x460)
			assert_int_equal(towlower(c), __real_towlower(c));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_locale),
		cmocka_unit_test(every_character),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(whole_texts),
		cmocka_unit_test(kinds),
	};
	if (begin(NULL) != 0) {
		printf("1..0 # SKIP this C library has no C.UTF-8 to compare with\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
