/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.c - growing strings, UTF-8 both ways, widths, escapes, numbers for people.
 *
 * Any thread, each with its own struct text.  text_width asks the locale's wcwidth first, so that
 * we and the terminal library agree, and a small table where the locale knows nothing.
 */
#include "base/text.h"

#include "base/assert.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* --- growing ----------------------------------------------------------------------------------- */

static void make_room(struct text *t, size_t n)
{
	if (n < t->cap - t->len && t->s)
		return;
	size_t cap = t->cap ? t->cap : 32;
	while (cap - t->len <= n)
		cap *= 2;
	t->s = xrealloc(t->s, cap, 1);
	t->cap = cap;
	t->s[t->len] = '\0';
}

void text_release(struct text *t)
{
	free(t->s);
	*t = (struct text)TEXT_INIT;
}

void text_clear(struct text *t)
{
	t->len = 0;
	make_room(t, 0);
	t->s[0] = '\0';
}

void text_add_n(struct text *t, const char *s, size_t n)
{
	make_room(t, n);
	cairn_assert(t->len + n < t->cap);
	memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_add_n(t, s, strlen(s));
}

void text_add_char(struct text *t, char c)
{
	text_add_n(t, &c, 1);
}

void text_addf(struct text *t, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	make_room(t, 64);
	size_t room = t->cap - t->len;
	int n = vsnprintf(t->s + t->len, room, format, args);
	if (n > 0 && (size_t)n >= room) {
		make_room(t, (size_t)n);
		n = vsnprintf(t->s + t->len, t->cap - t->len, format, again);
	}
	if (n > 0)
		t->len += (size_t)n;
	t->s[t->len] = '\0';
	va_end(again);
	va_end(args);
}

char *text_take(struct text *t)
{
	make_room(t, 0);
	char *s = t->s;

	*t = (struct text)TEXT_INIT;
	return s;
}

/* --- UTF-8 ------------------------------------------------------------------------------------- */

/* The 3-byte form of a code point, also of a surrogate; -1 when these are not that. */
static int32_t three_bytes(const uint8_t *b, size_t n)
{
	if (n < 3 || b[0] >> 4 != 0xE || b[1] >> 6 != 2 || b[2] >> 6 != 2)
		return -1;
	int32_t point = (b[0] & 0x0F) << 12 | (b[1] & 0x3F) << 6 | (b[2] & 0x3F);
	return point < 0x800 ? -1 : point;
}

static bool is_surrogate(int32_t point)
{
	return point >= 0xD800 && point <= 0xDFFF;
}

size_t utf8_decode(const char *s, size_t n, int32_t *point)
{
	const uint8_t *b = (const uint8_t *)s;

	*point = -1;
	if (b[0] < 0x80) {
		*point = b[0];
		return 1;
	}
	if (b[0] >= 0xC2 && b[0] <= 0xDF) {
		if (n < 2 || b[1] >> 6 != 2)
			return 1;
		*point = (b[0] & 0x1F) << 6 | (b[1] & 0x3F);
		return 2;
	}
	if (b[0] >> 4 == 0xE) {
		int32_t p = three_bytes(b, n);
		if (p < 0 || is_surrogate(p))
			return 1;
		*point = p;
		return 3;
	}
	if (b[0] >= 0xF0 && b[0] <= 0xF4) {
		if (n < 4 || b[1] >> 6 != 2 || b[2] >> 6 != 2 || b[3] >> 6 != 2)
			return 1;
		int32_t p = (b[0] & 0x07) << 18 | (b[1] & 0x3F) << 12 | (b[2] & 0x3F) << 6 |
			    (b[3] & 0x3F);
		if (p < 0x10000 || p > 0x10FFFF)
			return 1;
		*point = p;
		return 4;
	}
	return 1;
}

size_t utf8_encode(char out[4], uint32_t point)
{
	if (point < 0x80) {
		out[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		out[0] = (char)(0xC0 | point >> 6);
		out[1] = (char)(0x80 | (point & 0x3F));
		return 2;
	}
	if (point < 0x10000) {
		out[0] = (char)(0xE0 | point >> 12);
		out[1] = (char)(0x80 | (point >> 6 & 0x3F));
		out[2] = (char)(0x80 | (point & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | (point >> 18 & 0x07));
	out[1] = (char)(0x80 | (point >> 12 & 0x3F));
	out[2] = (char)(0x80 | (point >> 6 & 0x3F));
	out[3] = (char)(0x80 | (point & 0x3F));
	return 4;
}

/* --- escaping ---------------------------------------------------------------------------------- */

/* Code points that change how the text around them is shown: bidirectional marks, embeddings,
 * overrides and isolates, and the two line separators. */
static bool steers_terminal(int32_t p)
{
	return p < 0x20 || (p >= 0x7F && p <= 0x9F) || p == 0x061C || p == 0x200E || p == 0x200F ||
	       (p >= 0x2028 && p <= 0x202E) || (p >= 0x2066 && p <= 0x2069);
}

static void add_point(struct text *t, int32_t p)
{
	char utf8[4];

	if (!steers_terminal(p))
		text_add_n(t, utf8, utf8_encode(utf8, (uint32_t)p));
	else if (p == '\n')
		text_add(t, "\\n");
	else if (p == '\t')
		text_add(t, "\\t");
	else if (p < 0x80)
		text_addf(t, "\\x%02x", (unsigned)p);
	else
		text_addf(t, "\\u%04x", (unsigned)p);
}

/* Bytes at the start that are plain printable ASCII. */
static size_t plain_run(const uint8_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && b[i] >= 0x20 && b[i] < 0x7F)
		i++;
	return i;
}

/* What is not UTF-8: a lone surrogate or a single byte.  Returns the bytes used. */
static size_t add_invalid(struct text *t, const uint8_t *b, size_t n)
{
	int32_t p = three_bytes(b, n);

	if (is_surrogate(p)) {
		text_addf(t, "\\u%04x", (unsigned)p);
		return 3;
	}
	text_addf(t, "\\x%02x", b[0]);
	return 1;
}

void text_add_escaped(struct text *t, const char *s, size_t n)
{
	make_room(t, n);
	for (size_t i = 0; i < n;) {
		const uint8_t *b = (const uint8_t *)s + i;
		size_t run = plain_run(b, n - i);
		text_add_n(t, s + i, run);
		i += run;
		if (i == n)
			break;
		int32_t p;
		size_t used = utf8_decode(s + i, n - i, &p);
		if (p >= 0)
			add_point(t, p);
		else
			used = add_invalid(t, b + run, n - i);
		i += used;
	}
}

void text_add_modified_utf8(struct text *t, const uint8_t *bytes, size_t n)
{
	make_room(t, n);
	for (size_t i = 0; i < n;) {
		size_t run = plain_run(bytes + i, n - i);
		text_add_n(t, (const char *)bytes + i, run);
		i += run;
		if (i == n)
			break;
		const uint8_t *b = bytes + i;
		size_t left = n - i;
		if (left >= 2 && b[0] == 0xC0 && b[1] == 0x80) {
			add_point(t, 0);
			i += 2;
			continue;
		}
		int32_t high = three_bytes(b, left);
		int32_t low = left >= 6 ? three_bytes(b + 3, 3) : -1;
		if (high >= 0xD800 && high <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF) {
			add_point(t, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
			i += 6;
			continue;
		}
		int32_t p;
		size_t used = utf8_decode((const char *)b, left, &p);
		if (p >= 0)
			add_point(t, p);
		else
			used = add_invalid(t, b, left);
		i += used;
	}
}

/* --- width ------------------------------------------------------------------------------------- */

struct span {
	int32_t from, to;
};

/* For locales that know nothing of Unicode: the common scripts, from the Unicode character data. */
static const struct span zero_width[] = {
	{ 0x0300, 0x036F }, { 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x0610, 0x061A },
	{ 0x064B, 0x065F }, { 0x0E31, 0x0E31 }, { 0x0E34, 0x0E3A }, { 0x0E47, 0x0E4E },
	{ 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x200B, 0x200F }, { 0x20D0, 0x20FF },
	{ 0x3099, 0x309A }, { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }, { 0xFEFF, 0xFEFF },
	{ 0xE0100, 0xE01EF },
};
static const struct span double_width[] = {
	{ 0x1100, 0x115F }, { 0x2E80, 0x303E }, { 0x3041, 0x33FF }, { 0x3400, 0x4DBF },
	{ 0x4E00, 0x9FFF }, { 0xA000, 0xA4CF }, { 0xA960, 0xA97F }, { 0xAC00, 0xD7A3 },
	{ 0xF900, 0xFAFF }, { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 },
	{ 0x1F300, 0x1F64F }, { 0x1F680, 0x1F6FF }, { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD },
};

static bool in_spans(const struct span *spans, size_t n, int32_t p)
{
	for (size_t i = 0; i < n; i++)
		if (p >= spans[i].from && p <= spans[i].to)
			return true;
	return false;
}

static size_t point_width(int32_t p)
{
	if (p < 0x7F)
		return 1; /* -1 (an invalid byte) and controls take one column */
	int width = wcwidth((wchar_t)p);
	if (width >= 0)
		return (size_t)width;
	if (in_spans(zero_width, sizeof zero_width / sizeof *zero_width, p))
		return 0;
	return in_spans(double_width, sizeof double_width / sizeof *double_width, p) ? 2 : 1;
}

size_t text_width(const char *s)
{
	size_t width = 0;

	text_fit(s, SIZE_MAX, &width);
	return width;
}

size_t text_fit(const char *s, size_t columns, size_t *width_used)
{
	size_t at = 0, width = 0, n = strlen(s);

	while (at < n) {
		int32_t p;
		size_t used = utf8_decode(s + at, n - at, &p);
		size_t w = point_width(p);
		if (w > columns - width)
			break;
		width += w;
		at += used;
	}
	if (width_used)
		*width_used = width;
	return at;
}

/* --- numbers ----------------------------------------------------------------------------------- */

void text_add_count(struct text *t, uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%" PRIu64, n);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text_add_char(t, ',');
		text_add_char(t, digits[i]);
	}
}

void text_add_bytes(struct text *t, uint64_t bytes)
{
	static const char units[] = "KMGTPE";

	if (bytes < 1000) {
		text_addf(t, "%" PRIu64, bytes);
		return;
	}
	double value = (double)bytes / 1024;
	size_t unit = 0;
	while (value >= 999.5 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	text_addf(t, value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

bool parse_size(const char *s, uint64_t *bytes)
{
	uint64_t whole = 0, thousandths = 0, unit = 1;
	const char *p = s;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole))
			return false;
	bool fraction = *p == '.';
	if (fraction) {
		uint64_t weight = 100;
		if (*++p < '0' || *p > '9')
			return false;
		for (; *p >= '0' && *p <= '9'; p++, weight /= 10)
			thousandths += weight * (uint64_t)(*p - '0');
	}
	if (*p) {
		static const char units[] = "KMGTP";
		char letter = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
		const char *found = strchr(units, letter);
		if (!found)
			return false;
		unit <<= 10 * (found - units + 1);
		p++;
	}
	if (*p || (fraction && unit == 1) || __builtin_mul_overflow(whole, unit, &whole) ||
	    __builtin_add_overflow(whole, thousandths * unit / 1000, &whole))
		return false;
	*bytes = whole;
	return true;
}
