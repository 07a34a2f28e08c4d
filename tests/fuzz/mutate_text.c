/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mutate_text.c - where the records and fields of a classic dump or a javacore lie: a line and the
 * indented ones behind it, an object with its references, are a record; numbers are fields. */
#include "mutate.h"

#include <string.h>

static bool is_digit(uint8_t c, bool hexadecimal)
{
	return (c >= '0' && c <= '9') || (hexadecimal && ((c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f')));
}

static void numbers(const uint8_t *data, size_t p, size_t end, struct layout *to)
{
	while (p < end) {
		bool hexadecimal = data[p] == '0' && end - p > 2 && (data[p + 1] | 0x20) == 'x';
		size_t begin = hexadecimal ? p + 2 : p;
		for (p = begin; p < end && is_digit(data[p], hexadecimal);)
			p++;
		if (p > begin && p - begin < 20)
			layout_field(to, begin, p, hexadecimal ? HEX_DIGITS : DECIMAL_DIGITS,
			    hexadecimal ? MEANS_ID : MEANS_COUNT);
		while (p < end && !is_digit(data[p], false))
			p++;
	}
}

void layout_of(const uint8_t *data, size_t size, struct layout *to)
{
	for (size_t begin = 0, p = 0; p < size; begin = p) {
		do {
			const uint8_t *line = memchr(data + p, '\n', size - p);
			p = line ? (size_t)(line - data) + 1 : size;
		} while (p < size && (data[p] == '\t' || data[p] == ' '));
		layout_record(to, begin, p, 0);
		numbers(data, begin, p, to);
	}
}
