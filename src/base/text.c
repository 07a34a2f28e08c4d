/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.c - growing strings, UTF-8 both ways, widths, escapes, numbers for people.
 *
 * Any thread, each with its own struct text.  text_width asks the locale's wcwidth first, so that
 * we and the terminal library agree, and a small table where the locale knows nothing.
 */
#include "base/text.h"

#include "base/assert.h"
#include "base/memory_limit.h"
#include "base/mem.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { CUT_LEAST = 6 }; /* columns that a head and an end take at least */

/* --- growing ----------------------------------------------------------------------------------- */

#define LEAST_ROOM 32
#define COUNTED_FROM ((size_t)64 << 10) /* as large as a dump wants it: counts as big memory */

/* What a text of this capacity counts. */
static uint64_t counted(size_t cap)
{
	return cap >= COUNTED_FROM ? cap : 0;
}

/* What a text points to that never got any memory; nobody writes to it. */
static char nothing[1];

/* Another capacity, or false and the refusal is remembered. */
static bool grow(struct text *t, size_t cap)
{
	uint64_t more = counted(cap) - counted(t->cap);
	char why[300];

	if (more && !memory_limit_take(more, 0, why, sizeof why)) {
		mem_refused(why);
		return false;
	}
	char *grown = realloc(t->cap ? t->s : NULL, cap);
	if (!grown) {
		memory_limit_give_back(more);
		mem_refused_bytes(cap);
		return false;
	}
	t->s = grown;
	t->cap = cap;
	return true;
}

/* Room for n bytes and a NUL; how many of them there is room for.  All, unless memory is refused: then
 * whoever the text is for will ask memory_refusals_check. */
static size_t make_room(struct text *t, size_t n)
{
	if (n < t->cap - t->len && t->s)
		return n;
	size_t cap = t->cap ? t->cap : LEAST_ROOM;
	while (cap - t->len <= n)
		cap *= 2;
	if (grow(t, cap)) {
		t->s[t->len] = '\0';
		return n;
	}
	if (!t->cap)
		t->s = nothing;
	return t->cap ? t->cap - t->len - 1 : 0;
}

void text_release(struct text *t)
{
	memory_limit_give_back(counted(t->cap));
	if (t->cap)
		free(t->s);
	*t = (struct text)TEXT_INIT;
}

void text_clear(struct text *t)
{
	t->len = 0;
	make_room(t, 0);
	if (t->cap)
		t->s[0] = '\0';
}

void text_add_n(struct text *t, const char *s, size_t n)
{
	n = make_room(t, n);
	if (!t->cap)
		return;
	cairn_assert(t->len + n < t->cap);
	if (n) /* s may be NULL */
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

enum { DIGITS_MOST = 20 };

void text_add_unsigned(struct text *t, uint64_t n)
{
	char digits[DIGITS_MOST], *at = digits + DIGITS_MOST;
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	text_add_n(t, at, (size_t)(digits + DIGITS_MOST - at));
}

void text_add_signed(struct text *t, int64_t n)
{
	if (n < 0)
		text_add_char(t, '-');
	text_add_unsigned(t, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

void text_add_hex(struct text *t, uint64_t n)
{
	char digits[2 + 16], *at = digits + sizeof digits;
	do
		*--at = "0123456789abcdef"[n & 15];
	while (n >>= 4);
	*--at = 'x';
	*--at = '0';
	text_add_n(t, at, (size_t)(digits + sizeof digits - at));
}

void text_addv(struct text *t, const char *format, va_list args)
{
	char anew[TEXT_FORMAT_MOST];
	va_list again;

	if (text_clip_format(anew, format, args))
		format = anew;
	make_room(t, 64);
	if (!t->cap)
		return;
	va_copy(again, args);
	size_t room = t->cap - t->len;
	int n = vsnprintf(t->s + t->len, room, format, args);
	if (n > 0 && (size_t)n >= room) {
		size_t fits = make_room(t, (size_t)n);
		(void)vsnprintf(t->s + t->len, t->cap - t->len, format, again);
		n = (int)fits;
	}
	if (n > 0)
		t->len += (size_t)n;
	t->s[t->len] = '\0';
	va_end(again);
}

void text_addf(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_addv(t, format, args);
	va_end(args);
}

char *text_take(struct text *t)
{
	make_room(t, 0);
	char *s = t->cap ? t->s : xstrdup("");

	memory_limit_give_back(counted(t->cap));
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

struct span {
	int32_t from, to;
};

static bool in_spans(const struct span *spans, size_t n, int32_t p)
{
	for (size_t i = 0; i < n; i++)
		if (p >= spans[i].from && p <= spans[i].to)
			return true;
	return false;
}

/* Controls, then what Unicode calls Default_Ignorable_Code_Point, with the annotations (UCD 15.0). */
static const struct span unseen[] = {
	{ 0x0000, 0x001F }, { 0x007F, 0x009F }, { 0x00AD, 0x00AD }, { 0x034F, 0x034F }, { 0x061C, 0x061C },
	{ 0x115F, 0x1160 }, { 0x17B4, 0x17B5 }, { 0x180B, 0x180F }, { 0x200B, 0x200F }, { 0x2028, 0x202E },
	{ 0x2060, 0x206F }, { 0x3164, 0x3164 }, { 0xFE00, 0xFE0F }, { 0xFEFF, 0xFEFF }, { 0xFFA0, 0xFFA0 },
	{ 0xFFF0, 0xFFFB }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
};

bool point_steers(int32_t p)
{
	return in_spans(unseen, sizeof unseen / sizeof *unseen, p);
}

enum {
	ESCAPED_MOST = 12, /* bytes of one character or escape, and a NUL */
	MARKS_MOST = 8,    /* combining marks one after another: no script has more on one letter */
};

/* Letters have these above, below or within them: the common scripts, from the Unicode character data. */
static const struct span combining[] = {
	{ 0x0300, 0x036F }, { 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x0610, 0x061A },
	{ 0x064B, 0x065F }, { 0x0E31, 0x0E31 }, { 0x0E34, 0x0E3A }, { 0x0E47, 0x0E4E },
	{ 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x20D0, 0x20FF }, { 0x3099, 0x309A },
	{ 0xFE20, 0xFE2F },
};

static size_t escape_always(char out[ESCAPED_MOST], int32_t p)
{
	const char *format = p < 0x80 ? "\\x%02x" : p > 0xFFFF ? "\\u{%x}" : "\\u%04x";

	return (size_t)snprintf(out, ESCAPED_MOST, format, (unsigned)p);
}

/* A code point, or a lone surrogate's, as it may be shown. */
static size_t escape_point(char out[ESCAPED_MOST], int32_t p)
{
	if (!point_steers(p) && !is_surrogate(p))
		return utf8_encode(out, (uint32_t)p);
	if (p == '\n' || p == '\t')
		return (size_t)snprintf(out, ESCAPED_MOST, "\\%c", p == '\n' ? 'n' : 't');
	return escape_always(out, p);
}

/* The same behind *marks combining marks, which are counted: of a pile of them each further one is shown. */
static size_t escape_marked(char out[ESCAPED_MOST], int32_t p, unsigned *marks)
{
	*marks = p >= 0x300 && in_spans(combining, sizeof combining / sizeof *combining, p) ? *marks + 1 : 0;
	return *marks > MARKS_MOST ? escape_always(out, p) : escape_point(out, p);
}

/* Bytes at the start that are plain printable ASCII. */
static size_t plain_run(const uint8_t *b, size_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	size_t i = 0;

	/* eight at once, until one of them is below 0x20 or above 0x7E */
	for (uint64_t eight; n - i >= sizeof eight; i += sizeof eight) {
		memcpy(&eight, b + i, sizeof eight);
		if (((eight - ones * 0x20) | (eight + ones) | eight) & ones * 0x80)
			break;
	}
	while (i < n && b[i] >= 0x20 && b[i] < 0x7F)
		i++;
	return i;
}

/* What begins s[0, n), n > 0, as it may be shown; *used: its bytes.  What is not UTF-8 is a lone
 * surrogate or a single byte. */
static size_t escape_first(char out[ESCAPED_MOST], const char *s, size_t n, size_t *used, unsigned *marks)
{
	int32_t p;

	*used = utf8_decode(s, n, &p);
	if (p >= 0)
		return escape_marked(out, p, marks);
	p = three_bytes((const uint8_t *)s, n);
	if (is_surrogate(p)) {
		*used = 3;
		return escape_point(out, p);
	}
	return (size_t)snprintf(out, ESCAPED_MOST, "\\x%02x", (uint8_t)*s);
}

void text_add_escaped(struct text *t, const char *s, size_t n)
{
	unsigned marks = 0;

	make_room(t, n);
	for (size_t i = 0; i < n;) {
		size_t run = plain_run((const uint8_t *)s + i, n - i), used;
		char out[ESCAPED_MOST];
		text_add_n(t, s + i, run);
		i += run;
		marks = run ? 0 : marks;
		if (i == n)
			break;
		text_add_n(t, out, escape_first(out, s + i, n - i, &used, &marks));
		i += used;
	}
}

void text_escape(char *to, size_t room, const char *s)
{
	size_t length = 0, n = strlen(s), used, marked = 0; /* marked: as far as leaves room for the mark */
	unsigned marks = 0;

	for (size_t i = 0; i < n; i += used) {
		char out[ESCAPED_MOST];
		size_t bytes = escape_first(out, s + i, n - i, &used, &marks);
		if (bytes >= room - length) {
			memcpy(to + marked, TEXT_CLIP_SIGN, sizeof TEXT_CLIP_SIGN);
			return;
		}
		memcpy(to + length, out, bytes);
		length += bytes;
		if (length + sizeof TEXT_CLIP_SIGN <= room)
			marked = length;
	}
	to[length] = '\0';
}

static void add_point(struct text *t, int32_t p, unsigned *marks)
{
	char out[ESCAPED_MOST];

	text_add_n(t, out, escape_marked(out, p, marks));
}

void text_add_modified_utf8(struct text *t, const uint8_t *bytes, size_t n)
{
	unsigned marks = 0;

	make_room(t, n);
	for (size_t i = 0; i < n;) {
		size_t run = plain_run(bytes + i, n - i);
		text_add_n(t, (const char *)bytes + i, run);
		i += run;
		marks = run ? 0 : marks;
		if (i == n)
			break;
		const uint8_t *b = bytes + i;
		size_t left = n - i;
		if (left >= 2 && b[0] == 0xC0 && b[1] == 0x80) {
			add_point(t, 0, &marks);
			i += 2;
			continue;
		}
		int32_t high = three_bytes(b, left);
		int32_t low = left >= 6 ? three_bytes(b + 3, 3) : -1;
		if (high >= 0xD800 && high <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF) {
			add_point(t, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), &marks);
			i += 6;
			continue;
		}
		char out[ESCAPED_MOST];
		size_t used;
		text_add_n(t, out, escape_first(out, (const char *)b, left, &used, &marks));
		i += used;
	}
}

/* --- width ------------------------------------------------------------------------------------- */

/* For locales that know nothing of Unicode, besides what combines. */
static const struct span zero_width[] = {
	{ 0x200B, 0x200F }, { 0xFE00, 0xFE0F }, { 0xFEFF, 0xFEFF }, { 0xE0100, 0xE01EF },
};
static const struct span double_width[] = {
	{ 0x1100, 0x115F }, { 0x2E80, 0x303E }, { 0x3041, 0x33FF }, { 0x3400, 0x4DBF },
	{ 0x4E00, 0x9FFF }, { 0xA000, 0xA4CF }, { 0xA960, 0xA97F }, { 0xAC00, 0xD7A3 },
	{ 0xF900, 0xFAFF }, { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 },
	{ 0x1F300, 0x1F64F }, { 0x1F680, 0x1F6FF }, { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD },
};

size_t point_width_untold(int32_t p)
{
	if (in_spans(zero_width, sizeof zero_width / sizeof *zero_width, p) ||
	    in_spans(combining, sizeof combining / sizeof *combining, p))
		return 0;
	return in_spans(double_width, sizeof double_width / sizeof *double_width, p) ? 2 : 1;
}

static size_t point_width(int32_t p)
{
	if (p < 0x7F)
		return 1; /* -1 (an invalid byte) and controls take one column */
	int width = wcwidth((wchar_t)p);
	return width >= 0 ? (size_t)width : point_width_untold(p);
}

size_t text_width(const char *s)
{
	size_t width = 0;

	text_fit(s, SIZE_MAX, &width);
	return width;
}

size_t text_width_most(const char *s, size_t most)
{
	size_t width, end = text_fit(s, most, &width);

	return s[end] ? most + 1 : width;
}

size_t text_fit(const char *s, size_t columns, size_t *width_used)
{
	size_t at = 0, width = 0;

	while (s[at]) {
		int32_t p;
		size_t used = utf8_decode(s + at, 4, &p); /* the NUL ends a character that is cut */
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

/* Where the character begins that ends before byte `end`: at a lead byte, if all from there is one. */
static size_t character_before(const char *s, size_t end, int32_t *point)
{
	size_t from = end - 1;

	while (from > 0 && end - from < 4 && ((uint8_t)s[from] & 0xC0) == 0x80)
		from--;
	if (utf8_decode(s + from, end - from, point) == end - from)
		return from;
	utf8_decode(s + end - 1, 1, point);
	return end - 1;
}

size_t text_fit_end(const char *s, size_t n, size_t columns, size_t *width_used)
{
	size_t begin = n, width = 0; /* of the end that is found */

	for (size_t at = n; at > 0;) {
		int32_t p;
		at = character_before(s, at, &p);
		size_t w = point_width(p);
		if (w > columns - width)
			break;
		width += w;
		if (w > 0 || at == 0) /* a mark belongs to the character before it */
			begin = at;
	}
	if (width_used)
		*width_used = width;
	return begin;
}

struct text_clip text_clip(const char *s, size_t columns, size_t mark_columns, bool middle)
{
	struct text_clip c = { .clipped = false };

	c.head = text_fit(s, columns, &c.width);
	if (!s[c.head]) {
		c.tail = c.head;
		c.head_width = c.width;
		return c;
	}
	size_t room = columns > mark_columns ? columns - mark_columns : 0, behind = 0;
	middle = middle && room >= CUT_LEAST;
	c.clipped = true;
	c.head = text_fit(s, middle ? room / 3 : room, &c.head_width);
	c.tail = c.head + strlen(s + c.head);
	if (middle)
		c.tail = c.head +
		    text_fit_end(s + c.head, c.tail - c.head, room - c.head_width, &behind);
	c.width = c.head_width + mark_columns + behind;
	return c;
}

void text_add_name(struct text *t, const char *name)
{
	struct text_clip c = text_clip(name, TEXT_NAME_MOST, 2, true);

	text_add_n(t, name, c.head);
	if (c.clipped)
		text_add(t, "..");
	text_add(t, name + c.tail);
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
	char words[UNITS_ROOM];

	units_bytes(words, bytes);
	text_add(t, words);
}

const char *markup_entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
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
