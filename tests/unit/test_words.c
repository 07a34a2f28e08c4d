/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_words.c - words of a command line: classes, objects, threads, and names nearly right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/resolve/resolve.h"
#include "fake_session.h"
#include "memory/big.h"

static void expect_spelling(const char *word, bool vm, const char *wanted)
{
	struct text t = TEXT_INIT;
	assert_int_equal(class_name_as_source(word, &t), vm);
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_spellings(void **state)
{
	(void)state;
	expect_spelling("java/lang/String", true, "java.lang.String");
	expect_spelling("java.lang.String", false, "java.lang.String");
	expect_spelling("[C", true, "char[]");
	expect_spelling("[[J", true, "long[][]");
	expect_spelling("[Ljava/lang/String;", true, "java.lang.String[]");
	expect_spelling("[[Ljava.lang.String;", true, "java.lang.String[][]");
	expect_spelling("char[]", false, "char[]");
	expect_spelling("a/B$$Lambda/0x01f", true, "a.B$$Lambda/0x01f");
	expect_spelling("[Q", false, "[Q");
	expect_spelling("[", false, "[");
	assert_string_equal(class_last_part("java.util.Map$Entry[]"), "Map$Entry[]");
	assert_string_equal(class_last_part("char[]"), "char[]");
	assert_string_equal(class_last_part("a.B$$Lambda/0x1.2"), "B$$Lambda/0x1.2");
	assert_string_equal(class_inner_part("java.util.Map$Entry"), "Entry");
	assert_null(class_inner_part("java.util.Map"));
	assert_true(glob_match("*Hash*", "java.util.HashMap"));
	assert_true(glob_match("*[]", "char[]"));
	assert_true(glob_match("a?c*", "abc"));
	assert_true(glob_match("*", ""));
	assert_true(glob_match("*ab*ab", "abab"));
	assert_false(glob_match("a?c", "ac"));
	assert_false(glob_match("*x", "abc"));
}

/* The definition, without memory: exponential, for short words. */
static unsigned slow_distance(const char *a, const char *b)
{
	if (!*a || !*b)
		return (unsigned)(strlen(a) + strlen(b));
	unsigned best = slow_distance(a + 1, b + 1) + (*a != *b);
	unsigned other = slow_distance(a + 1, b) + 1;
	if (other < best)
		best = other;
	other = slow_distance(a, b + 1) + 1;
	if (other < best)
		best = other;
	if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0]) {
		other = slow_distance(a + 2, b + 2) + 1;
		if (other < best)
			best = other;
	}
	return best;
}

static void test_edit_distance(void **state)
{
	(void)state;
	unsigned seed = 7;
	assert_int_equal(edit_distance("Sesion", "Session", 3), 1);
	assert_int_equal(edit_distance("session", "SESSION", 3), 0);
	assert_int_equal(edit_distance("abcdef", "x", 2), 3); /* beyond the limit */
	for (int round = 0; round < 2000; round++) {
		char a[7], b[7];
		for (int which = 0; which < 2; which++) {
			char *word = which ? b : a;
			size_t n = (seed = seed * 1103515245 + 12345) >> 16 & 0x7fff;
			n %= 7;
			for (size_t i = 0; i < n; i++)
				word[i] = (char)('a' + ((seed = seed * 1103515245 + 12345) >> 16 & 3) % 3);
			word[n] = '\0';
		}
		assert_int_equal(edit_distance(a, b, 20), slow_distance(a, b));
	}
}

static void expect_classes(const char *word, const char *wanted)
{
	struct err err = ERR_INIT;
	struct text t = TEXT_INIT;
	uint32_t *ids;
	size_t n;
	text_add(&t, "");
	if (value_classes(&session, word, &ids, &n, &err)) {
		text_addf(&t, "!%s", err.message);
	} else {
		for (size_t i = 0; i < n; i++)
			text_addf(&t, "%u ", ids[i]);
		big_free(ids);
	}
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_class_patterns(void **state)
{
	(void)state;
	expect_classes("java.lang.String", "0 ");
	expect_classes("java/lang/String", "0 ");
	expect_classes("[C", "2 ");
	expect_classes("char[]", "2 ");
	expect_classes("String", "0 ");
	expect_classes("com.acme.Session", "3 4 ");
	expect_classes("Session", "3 4 "); /* two classes, one name */
	expect_classes("Entry", "6 ");
	expect_classes("Map$Entry", "6 ");
	expect_classes("com.acme.*", "5 3 4 7 ");
	expect_classes("com/acme/S*", "3 4 ");
	expect_classes("/^java\\.lang\\./", "1 0 ");
	expect_classes("/Lost|Entry/", "5 6 ");
	expect_classes("0x1000", "0 ");
	expect_classes("0X1100", "1 ");
	expect_classes("Text", "!\"Text\" is ambiguous (com.acme.Text, org.other.Text)");
	expect_classes("com.acme.Sesion", "!no class matches \"com.acme.Sesion\" (nearest: com.acme.Session)");
	expect_classes("*nothing*", "!no class matches \"*nothing*\"");
	expect_classes("/(/", "!invalid regular expression \"(\": a ( without )");
	expect_classes("0x1040", "!0x1040 is a java.lang.String, not a class object");
	expect_classes("%1", "!%1: no last table");
}

static void expect_object(const char *word, const char *wanted)
{
	struct err err = ERR_INIT;
	struct text t = TEXT_INIT;
	uint32_t id;
	if (value_object(&session, word, &id, &err))
		text_addf(&t, "!%s", err.message);
	else
		text_addf(&t, "%u", id);
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_objects(void **state)
{
	(void)state;
	expect_object("0x1080", "3");
	expect_object("0X10B0", "5");
	expect_object("10b0", "5");
	expect_object("1040", "1");
	expect_object("#7", "7");
	expect_object("java.lang.String", "0");
	expect_object("java/lang/Class", "6");
	expect_object("#8", "!no object #8: there are 8");
	expect_object("0x1044",
	    "!no object begins at 0x1044 (inside 0x1040, a java.lang.String, at byte 4 of 16)");
	expect_object("0x2000", "!no object at 0x2000 (nearest: 0x1140, a com.acme.Lost)");
	expect_object("0x10", "!no object at 0x10 (nearest: 0x1000, a java.lang.Class)");
	expect_object("0x10fc", "!no object at 0x10fc (nearest: 0x1100, a java.lang.Class)");
	expect_object("com.acme.Session",
	    "!\"com.acme.Session\" is loaded 2 times (duplicate-classes lists the addresses)");
	expect_object("Nothing",
	    "!no object \"Nothing\" (use 0xADDRESS, #ID, %ROW, $name, or the name of a class, static field "
	    "or global variable)");
	free(printed_by("ls java.lang.String", PRINT_TEXT));
	expect_object("%2", "3");
	expect_object("%3", "!%3: the last table has 2 rows");
	free(printed_by("histo java.lang.String", PRINT_TEXT));
	expect_object("%1", "0");
	free(printed_by("$s = ls java.lang.String -sort -address | head 1", PRINT_TEXT));
	expect_object("$s", "3");
	expect_object("$nix", "!no set \"$nix\" ($nix = COMMAND keeps one)");
}

static void test_threads(void **state)
{
	(void)state;
	uint32_t t = 9;
	struct err err = ERR_INIT;
	assert_int_equal(value_thread(&session, "1", &t, &err), 0);
	assert_int_equal(t, 1);
	assert_int_equal(value_thread(&session, "main", &t, &err), 0);
	assert_int_equal(t, 0);
	assert_int_equal(value_thread(&session, "work", &t, &err), 0);
	assert_int_equal(t, 1);
	assert_int_equal(value_thread(&session, "0x1090", &t, &err), 0);
	assert_int_equal(t, 0);
	assert_int_equal(value_thread(&session, "2", &t, &err), ERR_NOT_FOUND);
	assert_int_equal(value_thread(&session, "0x1040", &t, &err), ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_edit_distance),
		cmocka_unit_test_setup_teardown(test_class_patterns, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_objects, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_threads, fake_session_open, fake_session_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
