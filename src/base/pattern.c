/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pattern.c - measures a regular expression before it is compiled.
 */
#include "base/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TOO_MANY = 1 << 20 }; /* parts beyond this are not counted: nested repeats would overflow */

static uint32_t at_most(uint64_t n)
{
	return n < TOO_MANY ? (uint32_t)n : TOO_MANY;
}

/* Behind "[…]", of which s is what follows the bracket; "]" may stand first, and in "[:…:]". */
static const char *behind_class(const char *s)
{
	s += *s == '^';
	s += *s == ']';
	for (; *s && *s != ']'; s++) {
		if (*s != '[' || !s[1] || !strchr(":.=", s[1]))
			continue;
		const char close[] = {s[1], ']', '\0'};
		const char *end = strstr(s + 2, close);
		if (!end)
			return s + strlen(s);
		s = end + 1;
	}
	return s + (*s == ']');
}

/* How often a part is written out for the repeat at s, which behind it gets; 1: there is none. */
static uint32_t repeats(const char *s, const char **behind)
{
	*behind = s + 1;
	if (*s == '+') /* once, and then any number */
		return 2;
	if (*s == '*' || *s == '?')
		return 1;
	*behind = s;
	const char *comma = s + 1 + strspn(s + 1, "0123456789");
	const char *last = *comma == ',' ? comma + 1 : comma;
	const char *end = last + strspn(last, "0123456789");
	if (*s != '{' || *end != '}' || end == s + 1)
		return 1;
	*behind = end + 1;
	if (last > comma && last == end) /* "{3,}" */
		return at_most(strtoull(s + 1, NULL, 10) + 1);
	uint32_t most = at_most(strtoull(last > comma ? last : s + 1, NULL, 10));
	return most ? most : 1;
}

/* The parts of a pattern of at most PATTERN_BYTES once its repeats are written out. */
static uint32_t count_parts(const char *s)
{
	uint32_t sum[PATTERN_BYTES + 1] = {0}; /* of each group that is open, the whole first */
	uint32_t last = 0;                     /* of the part that a repeat is about */
	size_t open = 0;
	for (const char *next; *s; s = next) {
		next = s + 1;
		uint32_t times = repeats(s, &next);
		if (next > s + 1 || strchr("*+?", *s)) {
			sum[open] = at_most(sum[open] + (uint64_t)last * (times - 1));
			last = at_most((uint64_t)last * times);
			continue;
		}
		next = s + 1;
		last = 1;
		if (*s == '(') {
			sum[++open] = 1;
			last = 0;
			continue;
		}
		if (*s == ')' && open)
			last = sum[open--];
		else if (*s == '[')
			next = behind_class(next);
		else if (*s == '\\' && s[1])
			next = s + 2;
		sum[open] = at_most((uint64_t)sum[open] + last);
	}
	while (open) {
		open--;
		sum[open] = at_most((uint64_t)sum[open] + sum[open + 1]);
	}
	return sum[0];
}

static bool refers_back(const char *s)
{
	while (*s) {
		if (*s == '\\' && s[1] >= '1' && s[1] <= '9')
			return true;
		s = *s == '[' ? behind_class(s + 1) : *s == '\\' && s[1] ? s + 2 : s + 1;
	}
	return false;
}

int pattern_compile(regex_t *to, const char *pattern, int flags, struct err *err)
{
	if (strlen(pattern) > PATTERN_BYTES)
		return err_set(err, ERR_USAGE, "regular expression: it is longer than %d bytes", PATTERN_BYTES);
	if (refers_back(pattern))
		return err_set(err, ERR_USAGE, "regular expression %.150s: back-references like \\1 may take"
		    " hours and are refused", pattern);
	if (count_parts(pattern) > PATTERN_PARTS)
		return err_set(err, ERR_USAGE, "regular expression %.150s: with its repeats written out it has"
		    " more than %d parts", pattern, PATTERN_PARTS);
	int fault = regcomp(to, pattern, REG_EXTENDED | REG_NOSUB | flags);
	if (!fault)
		return 0;
	if (fault == REG_ESPACE)
		return err_set(err, ERR_NOMEM, "memory: the system refuses it to the expression %.150s", pattern);
	char why[120];
	regerror(fault, to, why, sizeof why);
	return err_set(err, ERR_USAGE, "%.150s is no regular expression: %s", pattern, why);
}
