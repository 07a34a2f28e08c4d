/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_pages.c - a character set by one of its many names: nearly all of them differ in other than digits.
 */
#include "dump/code_pages.h"

#include <stddef.h>
#include <strings.h>

#define KOI8_R 20866
#define KOI8_U 21866

const uint16_t *code_page_upper(const char *name)
{
	unsigned number = 0;
	for (const char *p = name; *p && number < 1000000; p++)
		if (*p >= '0' && *p <= '9')
			number = number * 10 + (unsigned)(*p - '0');
	if (!strncasecmp(name, "KOI8", 4))
		number = name[4] == '-' && (name[5] == 'U' || name[5] == 'u') ? KOI8_U : KOI8_R;
	for (const struct code_page *page = code_pages; page->number; page++)
		if (page->number == number)
			return page->upper;
	return NULL;
}
