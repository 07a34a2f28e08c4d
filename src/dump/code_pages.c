/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_pages.c - a character set by one of its many names: nearly all of them differ in other than digits.
 */
#include "dump/code_pages.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KOI8_R 20866
#define KOI8_U 21866

extern const char *const code_pages_txt[]; /* the build makes it of code_pages.txt */

static void read_points(const char *s, unsigned byte, uint16_t point[256])
{
	for (unsigned i = 0; i < byte; i++)
		point[i] = (uint16_t)i;
	for (; byte < 256; byte++) {
		int32_t at = CODE_PAGE_NONE;
		char digits[5] = "";
		size_t n = *s == '.' ? 1 : *s == '\\' ? sizeof digits : utf8_decode(s, strlen(s), &at);
		if (*s == '\\')
			at = (int32_t)strtol(memcpy(digits, s + 1, sizeof digits - 1), NULL, 16);
		point[byte] = (uint16_t)at;
		s += n;
	}
}

bool code_page_find(unsigned number, uint16_t point[256])
{
	for (const char *const *line = code_pages_txt; *line; line++) {
		char *first, *points;
		if (strtoul(*line, &first, 10) != number)
			continue;
		unsigned byte = (unsigned)strtoul(first, &points, 10);
		read_points(points + 1, byte, point);
		return true;
	}
	return false;
}

bool code_page_named(const char *name, uint16_t point[256])
{
	unsigned number = 0;
	for (const char *p = name; *p && number < 1000000; p++)
		if (*p >= '0' && *p <= '9')
			number = number * 10 + (unsigned)(*p - '0');
	if (!strncasecmp(name, "KOI8", 4))
		number = name[4] == '-' && (name[5] == 'U' || name[5] == 'u') ? KOI8_U : KOI8_R;
	return code_page_find(number, point) && point['A'] == 'A';
}
