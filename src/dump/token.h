/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * token.h - digits and line ends of text, eight bytes at a time; for the classic and javacore
 * readers.
 *
 * The greater part of a classic dump are hexadecimal digits.  They are checked and converted in
 * registers, without a table and without a branch per digit.
 */
#ifndef CAIRN_DUMP_TOKEN_H
#define CAIRN_DUMP_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Eight times the byte b. */
#define BYTES_OF(b) (UINT64_C(0x0101010101010101) * (b))

static inline bool is_line_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

static inline bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

static inline bool is_decimal(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* The value of a hexadecimal digit, or -1. */
static inline int hex_value(uint8_t c)
{
	if (is_decimal(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The eight bytes at p as one number, the first of them the most significant. */
static inline uint64_t load_text(const uint8_t *p)
{
	uint64_t x;
	memcpy(&x, p, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

/* Does "0x" or "0X" stand at p?  Two bytes must be readable. */
static inline bool is_prefix(const uint8_t *p)
{
	return p[0] == '0' && (p[1] | 0x20) == 'x';
}

/*
 * Turn eight hexadecimal digits into eight nibbles, one in each byte.  *bad is not 0 afterwards if
 * a byte was no digit.  How: make a nibble of each byte as if it were a digit, make the digit of
 * the nibble again, and compare the two.
 */
static inline uint64_t hex_nibbles(uint64_t x, uint64_t *bad)
{
	uint64_t letter = x >> 6 & BYTES_OF(1);
	uint64_t nibble = (x & BYTES_OF(0x0F)) + letter * 9;
	uint64_t above9 = (nibble + BYTES_OF(6)) >> 4 & BYTES_OF(1);
	uint64_t digit = nibble + BYTES_OF(0x30) + above9 * 7;
	*bad |= (nibble & BYTES_OF(0xF0)) | (digit ^ (x & ~(letter << 5)));
	return nibble;
}

/* Put eight nibbles, one in each byte, together to one number of 32 bits. */
static inline uint64_t pack_nibbles(uint64_t x)
{
	x = (x | x >> 4) & UINT64_C(0x00FF00FF00FF00FF);
	x = (x | x >> 8) & UINT64_C(0x0000FFFF0000FFFF);
	return (x | x >> 16) & 0xFFFFFFFF;
}

/* Read exactly 8 (16) hexadecimal digits at p, all of them readable.  Returns false if one is none;
 * *value is then meaningless. */
static inline bool hex8(const uint8_t *p, uint64_t *value)
{
	uint64_t bad = 0;
	*value = pack_nibbles(hex_nibbles(load_text(p), &bad));
	return bad == 0;
}

static inline bool hex16(const uint8_t *p, uint64_t *value)
{
	uint64_t bad = 0;
	uint64_t high = pack_nibbles(hex_nibbles(load_text(p), &bad));
	uint64_t low = pack_nibbles(hex_nibbles(load_text(p + 8), &bad));
	*value = high << 32 | low;
	return bad == 0;
}

/* Do "0x", 16 or 8 digits, a blank and "[" stand at p?  Nearly every record of a classic dump
 * begins so, but not all: true means that one begins here, false means nothing. */
static inline bool classic_plain_head(const uint8_t *p, const uint8_t *end)
{
	uint64_t value;
	if (end - p < 20 || p[0] != '0' || p[1] != 'x')
		return false;
	return (p[18] == ' ' && p[19] == '[' && hex16(p + 2, &value)) ||
	    (p[10] == ' ' && p[11] == '[' && hex8(p + 2, &value));
}

/* The first line end at or after p, or end. */
static inline const uint8_t *find_line_end(const uint8_t *p, const uint8_t *end)
{
	while (end - p >= 8) {
		uint64_t x = load_text(p);
		uint64_t lf = x ^ BYTES_OF('\n'), cr = x ^ BYTES_OF('\r');
		uint64_t hit = ((lf - BYTES_OF(1)) & ~lf) | ((cr - BYTES_OF(1)) & ~cr);
		if (hit & BYTES_OF(0x80))
			break;
		p += 8;
	}
	while (p < end && !is_line_end(*p))
		p++;
	return p;
}

/* Past the line end at p (CR LF counts as one); p < end. */
static inline const uint8_t *past_line_end(const uint8_t *p, const uint8_t *end)
{
	if (*p == '\r' && end - p >= 2 && p[1] == '\n')
		return p + 2;
	return p + 1;
}

/* The beginning of the next line, or end. */
static inline const uint8_t *next_line(const uint8_t *p, const uint8_t *end)
{
	p = find_line_end(p, end);
	return p < end ? past_line_end(p, end) : end;
}

static inline const uint8_t *skip_blanks(const uint8_t *p, const uint8_t *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/*
 * Read a decimal number at p.  Returns the byte after it, or p when there is no digit.  *fits gets
 * false when the number is more than 2^63; *value is then meaningless.
 */
static inline const uint8_t *read_decimal(const uint8_t *p, const uint8_t *end, uint64_t *value,
    bool *fits)
{
	uint64_t v = 0;
	*fits = true;
	for (; p < end && is_decimal(*p); p++) {
		if (v > (UINT64_C(1) << 63) / 10)
			*fits = false;
		else
			v = v * 10 + (uint64_t)(*p - '0');
	}
	if (v > UINT64_C(1) << 63)
		*fits = false;
	*value = v;
	return p;
}

#endif
