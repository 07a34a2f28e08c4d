/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_pattern.c - regular expressions that are compiled, and those that are refused before they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/pattern.h"

static int compiled(const char *pattern, struct err *err)
{
	regex_t regex;
	int code = pattern_compile(&regex, pattern, 0, err);
	if (!code)
		regfree(&regex);
	return code;
}

static void ordinary(void **state)
{
	static const char *const patterns[] = {"", "^java\\.util\\..*Map$", "[]a-z[:digit:]]{1,64}", "a{1000}",
	    "(a|b)+(c{2,}|d?)*", "x{200}y{200}z{200}", "\\(a{30}\\){30}", "[(]{900}", "a{,3}", "[\\1]",
	    "(a{30}|b{30}){16}"};
	(void)state;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		struct err err = ERR_INIT;
		if (compiled(patterns[i], &err))
			fail_msg("%s: %s", patterns[i], err.message);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *pattern, *says;
	} patterns[] = {
	    {"((a{1,200}){1,200}){1,200}", "more than 1000 parts"}, {"(ab|c){500}", "more than 1000 parts"},
	    {"a{1001}", "more than 1000 parts"}, {"((((((((((a+)+)+)+)+)+)+)+)+)+)+", "more than 1000 parts"},
	    {"([a-z]{40,}x){30}", "more than 1000 parts"}, {"a{99999999999999999999}", "more than 1000 parts"},
	    {"(((((a{32000}){32000}){32000}){32000}){32000}){32000}", "more than 1000 parts"},
	    {"(a*)*\\1", "back-references"}, {"[[:alpha:]]\\9", "back-references"}, {"(a", "no regular expression"},
	    {"[a", "no regular expression"}};
	(void)state;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		struct err err = ERR_INIT;
		if (compiled(patterns[i].pattern, &err) != ERR_USAGE || !strstr(err.message, patterns[i].says))
			fail_msg("%s: %s", patterns[i].pattern, err.message);
	}
}

static void length(void **state)
{
	char pattern[PATTERN_BYTES + 2];
	struct err err = ERR_INIT;
	(void)state;
	memset(pattern, 'a', sizeof pattern);
	pattern[PATTERN_BYTES] = '\0';
	assert_int_equal(compiled(pattern, &err), 0);
	pattern[PATTERN_BYTES] = 'a';
	pattern[PATTERN_BYTES + 1] = '\0';
	assert_int_equal(compiled(pattern, &err), ERR_USAGE);
	/* as deep as there is room */
	memset(pattern, '(', PATTERN_BYTES);
	pattern[PATTERN_BYTES] = '\0';
	assert_int_equal(compiled(pattern, &err), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ordinary), cmocka_unit_test(refused), cmocka_unit_test(length)};
	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
