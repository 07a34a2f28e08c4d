/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_pattern.c - regular expressions that are compiled, those that are refused before they are, what
 * they match (the C library says, too), and that matching takes no more steps than it may.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pattern.h"
#include "base/progress.h"

static int compiled(const char *pattern, struct err *err)
{
	struct pattern *p;
	int code = pattern_compile(&p, pattern, false, err);
	if (!code)
		pattern_free(p);
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
	    {"((a{1,200}){1,200}){1,200}", "at most 1000 parts"}, {"(ab|c){500}", "at most 1000 parts"},
	    {"a{1001}", "at most 1000 parts"}, {"((((((((((a+)+)+)+)+)+)+)+)+)+)+", "at most 1000 parts"},
	    {"([a-z]{40,}x){30}", "at most 1000 parts"}, {"a{99999999999999999999}", "at most 1000 parts"},
	    {"(((((a{32000}){32000}){32000}){32000}){32000}){32000}", "at most 1000 parts"},
	    {"(a*)*\\1", "back-references"}, {"[[:alpha:]]\\9", "back-references"}, {"(a", "invalid regular expression"},
	    {"[a", "invalid regular expression"}, {"*a", "invalid regular expression \"*a\": a repeat"},
	    {"a|*b", "a repeat has nothing"}, {"(+)", "a repeat has nothing"}, {"^*", "a repeat has nothing"},
	    {"a{2", "{ needs numbers"},
	    {"a{}", "{ needs numbers"}, {"a{x}", "{ needs numbers"}, {"a{3,2}", "wrong order"}, {"a\\", "nothing follows"},
	    {"[z-a]", "a range ends"}, {"[[:nothing:]]", "unknown character class"}, {"[]", "a [ without ]"},
	    {"[[:alpha:]", "a [ without ]"}};
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

/* --- what matches ------------------------------------------------------------------------------ */

static void matches(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool any_case, found;
	} tries[] = {
	    {"", "", false, true}, {"^$", "a", false, false}, {"b", "abc", false, true}, {"^b", "abc", false, false},
	    {"a|^b$|c", "b", false, true}, {"x(ab|cd){2,3}$", "xabcdab", false, true},
	    {"x(ab|cd){2,3}$", "xab", false, false}, {"x(ab|cd){2,3}$", "xabababab", false, false},
	    {"^a{3,}$", "aa", false, false}, {"^a{3,}$", "aaaaa", false, true}, {"^a{,2}$", "aa", false, true},
	    {"^a{,2}$", "aaa", false, false}, {"^(a{2}){2}$", "aaaa", false, true}, {"^xa{0}y$", "xy", false, true},
	    {"(a*)*b", "aaab", false, true}, {"^(a|b|)+c", "abac", false, true}, {"[^a-c]", "abc", false, false},
	    {"[]x]", "]", false, true}, {"[^]x]", "]", false, false}, {"[a-]", "-", false, true},
	    {"[[:digit:]x]{2}", "7x", false, true}, {"[[.-.]a]", "-", false, true}, {"\\.java", "xjava", false, false},
	    {"ORDER", "com.acme.Order", true, true}, {"ORDER", "com.acme.Order", false, false},
	    {"[A-C]d", "bD", true, true}, {"[^A-C]", "b", true, false}, {"\xC3\x84rger", "\xC3\xA4rger", true, true},
	    {"[[:upper:]]", "x", true, true}, {"^.$", "\xE6\x97\xA5", false, true},
	    {"[\xE6\x97\xA5-\xE6\x9C\xAC]$", "\xE6\x9C\xAC", false, true}, {"\\bmap\\b", "a map.x", false, true},
	    {"\\bmap\\b", "mapped", false, false}, {"\\<m", "am", false, false}, {"p\\>", "map x", false, true},
	    {"a\\Bp", "map", false, true}, {"^\\w+\\s\\W$", "_a1 -", false, true}, {"a)", "a)", false, true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		struct err err = ERR_INIT;
		struct pattern *p;
		if (pattern_compile(&p, tries[i].pattern, tries[i].any_case, &err))
			fail_msg("%s: %s", tries[i].pattern, err.message);
		if (pattern_matches(p, tries[i].text) != tries[i].found)
			fail_msg("%s in %s", tries[i].pattern, tries[i].text);
		assert_int_equal(pattern_matches(p, tries[i].text), tries[i].found);
		pattern_free(p);
	}
}

static unsigned some(unsigned below)
{
	static uint64_t seed = 42;
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

/* A text or an expression of these pieces, at random. */
static void make(char *to, const char *const *pieces, unsigned n, unsigned most)
{
	*to = '\0';
	for (unsigned i = some(most + 1); i-- > 0;)
		to = stpcpy(to, pieces[some(n)]);
}
#define COUNT(list) (sizeof(list) / sizeof *(list))

static unsigned repeats(const char *expression)
{
	unsigned n = 0;
	for (; *expression; expression++)
		n += strchr("*+?{", *expression) != NULL;
	return n;
}

static void like_the_library(void **state)
{
	static const char *const pieces[] = {"a", "b", "c", "A", "_", "-", ".", "(", "(", "(", ")", ")", ")", "|", "|", "*",
	    "+", "?", "{2}", "{1,2}", "{2,}", "{,2}", "{0}", "^", "$", "[ab]", "[^a]", "[b-d_]", "[[:alpha:]]",
	    "[]a]", "\\.", "\\w",
	    "\\W", "\\s", "\\S", "\xC3\xA4", "[\xC3\xA4\xC3\xBC]", " "};
	static const char *const texts[] = {"a", "a", "b", "b", "c", "d", "A", "B", "_", "-", ".", " ",
	    "\xC3\xA4", "\xC3\x84", "\xC3\xBC"};
	unsigned compiled = 0, found = 0, tried = 0;
	(void)state;
	for (unsigned i = 0; i < 60000; i++) {
		char expression[200], text[200];
		struct pattern *p;
		regex_t regex;
		bool any_case = some(2);
		make(expression, pieces, COUNT(pieces), 9);
		if (repeats(expression) > 3)
			continue; /* the library takes minutes to compile some of these */
		bool good = !regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0));
		int code = pattern_compile(&p, expression, any_case, NULL);
		if (good == (code != 0))
			fail_msg("%s: %d", expression, code);
		if (!good)
			continue;
		compiled++;
		for (unsigned k = 0; k < 8; k++) {
			make(text, texts, COUNT(texts), 7);
			bool is = !regexec(&regex, text, 0, NULL, 0);
			found += is;
			tried++;
			if (pattern_matches(p, text) != is)
				fail_msg("%s%s in \"%s\": the library says %s", expression, any_case ? " -i" : "", text,
				    is ? "yes" : "no");
		}
		pattern_free(p);
		regfree(&regex);
	}
	/* the questions are some */
	assert_true(compiled > 10000 && found > tried / 10 && found < tried - tried / 10);
}

/* --- steps ------------------------------------------------------------------------------------- */

enum { LONG = 20000 };

static void bounded(void **state)
{
	/* each takes other matchers hours: doubling, trying everything, states without end */
	static const char *const patterns[] = {"(.*a){20}b", "(a*)*b", "(a|a)*b", "[ab]*a[ab]{200}c", "(.{0,30}){30}c",
	    "((a|b)*a(a|b){60}){2}c", "(x+x+)+y", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)c"};
	char *text = malloc(LONG + 1);
	(void)state;
	for (unsigned i = 0; i < LONG; i++)
		text[i] = some(2) ? 'a' : 'b';
	text[LONG] = '\0';
	for (size_t i = 0; i < COUNT(patterns); i++) {
		struct pattern *p;
		assert_int_equal(pattern_compile(&p, patterns[i], false, NULL), 0);
		(void)pattern_matches(p, text);
		if (pattern_work(p) > (LONG + 1) * pattern_steps(p))
			fail_msg("%s: %llu steps", patterns[i], (unsigned long long)pattern_work(p));
		pattern_free(p);
	}
	free(text);
}

static void cancelled(void **state)
{
	struct progress work = PROGRESS_INIT;
	struct pattern *p;
	char *text = malloc(LONG + 1);
	(void)state;
	memset(text, 'a', LONG);
	text[LONG] = '\0';
	struct progress *before = progress_set_own(&work);
	work.cancel = true;
	assert_int_equal(pattern_compile(&p, "(a|b)*a(a|b){60}c", false, NULL), 0);
	assert_false(pattern_matches(p, text));
	assert_in_range(pattern_work(p), 1, 3 * PROGRESS_ROUNDS);
	pattern_free(p);
	progress_set_own(before);
	free(text);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ordinary), cmocka_unit_test(refused), cmocka_unit_test(length),
	    cmocka_unit_test(matches), cmocka_unit_test(like_the_library), cmocka_unit_test(bounded),
	    cmocka_unit_test(cancelled)};
	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
