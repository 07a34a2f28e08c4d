/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.c - the bytes of dumps written by hand. */
#include "bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static unsigned digit(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;

	assert_non_null(found);
	return (unsigned)(found - digits);
}

void add_be(struct text *t, uint64_t number, unsigned n)
{
	while (n-- > 0)
		text_add_char(t, (char)(number >> 8 * n));
}

void add_varint(struct text *t, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		text_add_char(t, (char)(number | 0x80));
	text_add_char(t, (char)number);
}

void add_hex(struct text *t, const char *hex)
{
	while (*hex) {
		if (*hex == ' ') {
			hex++;
		} else if (*hex == '\'' || *hex == '<') {
			const char *end = strchr(hex + 1, *hex == '<' ? '>' : '\'');
			assert_non_null(end);
			size_t n = (size_t)(end - hex - 1);
			if (*hex == '<')
				add_be(t, n, 2);
			text_add_n(t, hex + 1, n);
			hex = end + 1;
		} else {
			text_add_char(t, (char)(digit(hex[0]) << 4 | digit(hex[1])));
			hex += 2;
		}
	}
}
