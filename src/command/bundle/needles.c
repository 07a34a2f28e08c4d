/* SPDX-License-Identifier: GPL-3.0-or-later */
/* needles.c - see needles.h. */
#include "command/bundle/needles.h"

#include "heap/string.h"

#include <string.h>

const char *needle_form_name(enum needle_form form)
{
	static const char *const names[FORMS] = {"UTF-8", "Latin-1", "UTF-16LE", "UTF-16BE", "escaped UTF-8"};
	return names[form];
}

void needles_release(struct needles *to)
{
	text_release(&to->room);
}

static uint32_t unit(const struct string_view *s, uint64_t i)
{
	const uint8_t *p = s->bytes + i * s->width;
	if (s->width == 1)
		return *p;
	return s->big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

/* The character at *i, which moves on; half a pair is one.  UINT32_MAX: these bytes are no UTF-8. */
static uint32_t character(const struct string_view *s, uint64_t *i)
{
	uint32_t c = unit(s, (*i)++);
	if (s->utf8 && c >= 0x80) {
		unsigned more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
		if (c < 0xC0 || c >= 0xF8 || s->length - *i < more)
			return UINT32_MAX;
		for (c &= 0x3Fu >> more; more; more--) {
			uint32_t next = unit(s, (*i)++);
			if (next >> 6 != 2)
				return UINT32_MAX;
			c = c << 6 | (next & 0x3F);
		}
		return c <= 0x10FFFF ? c : UINT32_MAX;
	}
	if (s->width == 2 && c >> 10 == 0xD800 >> 10 && *i < s->length) {
		uint32_t low = unit(s, *i);
		if (low >> 10 == 0xDC00 >> 10) {
			++*i;
			return 0x10000 + ((c & 0x3FF) << 10) + (low & 0x3FF);
		}
	}
	return c;
}

/* The characters of a needle: the first ones, but not one alone over and over. */
static enum needle_made characters(const struct string_view *s, uint32_t *to, unsigned *n)
{
	enum { LOOKED_AT = 512 }; /* any number of texts may share what they begin with */
	uint64_t at = 0, last[TEXT_LEAST] = {0}, count = 0;
	uint32_t first = 0;
	*n = 0;
	if (s->length < TEXT_LEAST)
		return NEEDLE_SHORT;
	for (uint64_t next = 0; next < s->length && count < LOOKED_AT; count++) {
		last[count % TEXT_LEAST] = next;
		uint32_t c = character(s, &next);
		if (!count)
			first = c;
		if (c != first || c == UINT32_MAX) {
			/* a few of those that are the same stay in front, so that it is long enough */
			at = count < TEXT_LEAST ? 0 : last[(count + 1) % TEXT_LEAST];
			while (*n < NEEDLE_UNITS && at < s->length && (c = character(s, &at)) != UINT32_MAX)
				to[(*n)++] = c;
			return *n < TEXT_LEAST ? NEEDLE_SHORT : NEEDLE_MADE;
		}
	}
	return count < TEXT_LEAST ? NEEDLE_SHORT : NEEDLE_SAME;
}

/* One character in a form; returns how many bytes, 0: it has none. */
static size_t in_form(enum needle_form form, uint32_t c, uint8_t *to, struct text *room)
{
	uint32_t pair[2] = {0xD800 + ((c - 0x10000) >> 10), 0xDC00 + (c & 0x3FF)};
	unsigned units = c >= 0x10000 ? 2 : 1;
	char utf8[8];
	if (form == FORM_UTF8)
		return utf8_encode((char *)to, c);
	if (form == FORM_LATIN1) {
		*to = (uint8_t)c;
		return c < 0x100;
	}
	if (form == FORM_PAGE) {
		const char *entity = c < 0x80 ? markup_entity((char)c) : NULL;
		text_clear(room);
		if (entity)
			text_add(room, entity);
		else
			text_add_escaped(room, utf8, utf8_encode(utf8, c));
		memcpy(to, room->s, room->len < 16 ? room->len : 0);
		return room->len < 16 ? room->len : 0;
	}
	for (unsigned i = 0; i < units; i++) {
		uint32_t u = units == 2 ? pair[i] : c;
		to[2 * i] = (uint8_t)(form == FORM_UTF16_BE ? u >> 8 : u);
		to[2 * i + 1] = (uint8_t)(form == FORM_UTF16_BE ? u : u >> 8);
	}
	return 2 * units;
}

/* True: these are other bytes than the forms before it. */
static bool add_form(struct needles *to, enum needle_form form, const uint32_t *c, unsigned n)
{
	struct needle *needle = &to->form[to->n];
	uint8_t one[16];
	unsigned whole = 0;
	needle->n = needle->skip = 0;
	needle->form = (uint8_t)form;
	for (; whole < n; whole++) {
		size_t bytes = in_form(form, c[whole], one, &to->room);
		if (!bytes || needle->n + bytes > NEEDLE_ROOM)
			break;
		memcpy(needle->bytes + needle->n, one, bytes);
		needle->n += (uint8_t)bytes;
	}
	if (whole < TEXT_LEAST)
		return false;
	while (needle->skip + NEEDLE_KEY < needle->n && needle_key_same(needle_key(needle->bytes + needle->skip)))
		needle->skip++;
	needle->key = needle_key(needle->bytes + needle->skip);
	for (unsigned i = 0; i < to->n; i++)
		if (to->form[i].n == needle->n && !memcmp(to->form[i].bytes, needle->bytes, needle->n))
			return false;
	return !needle_key_same(needle->key);
}

static bool is_letter(uint32_t c)
{
	return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A few digits and signs alone, or 0x and hexadecimal ones: what counts, bytes and addresses are made of. */
static bool is_numeric(const uint32_t *c, unsigned n)
{
	bool hexadecimal = n > 2 && c[0] == '0' && c[1] == 'x';
	unsigned digits = 0;
	for (unsigned i = hexadecimal ? 2 : 0; i < n; i++) {
		digits += c[i] >= '0' && c[i] <= '9';
		if (is_letter(c[i]) && !(hexadecimal && c[i] >= 'a' && c[i] <= 'f'))
			return false;
	}
	return hexadecimal || digits <= NUMBER_DIGITS;
}

/* Numbers in a row often stay as they are, rise or fall by one, or come in turns: "0000111122223333", "abababab".  In a
 * short text one character may be another: "        }". */
static bool is_dull(const uint32_t *c, unsigned n)
{
	enum { TURNS = 4, TIMES = 4, SHORT = 16 }; /* a turn is of so many characters at most, and comes so often */
	for (unsigned turn = 1; turn <= TURNS && turn * TIMES <= n; turn++) {
		unsigned odd = 0;
		for (unsigned i = turn; i < n; i++)
			odd += c[i] > c[i - turn] + 1 || c[i] + 1 < c[i - turn];
		if (odd <= (n < SHORT))
			return true;
	}
	return false;
}

static bool is_control(uint32_t c)
{
	return (c < ' ' && c != '\n' && c != '\t' && c != '\r') || (c >= 0x7F && c < 0xA0);
}

/* Is it a character of ASCII that stands for itself in every form? */
static bool is_plain(uint32_t c)
{
	return c >= ' ' && c < 0x7F && c != '&' && c != '<' && c != '>' && c != '"' && c != '\'';
}

/* The same bytes that add_form makes, of what most texts are: plain ASCII that does not begin with eight of a kind.
 * False: it is something else. */
static bool make_plain(struct needles *to, const struct string_view *s)
{
	unsigned n = s->length < NEEDLE_UNITS ? (unsigned)s->length : NEEDLE_UNITS;
	uint8_t *utf8 = to->form[0].bytes, *low = to->form[1].bytes, *high = to->form[2].bytes, differ = 0;
	uint32_t c[NEEDLE_UNITS];
	for (unsigned i = 0; i < n; i++) {
		c[i] = unit(s, i);
		if (!is_plain(c[i]))
			return false;
		utf8[i] = (uint8_t)c[i];
		differ |= i < NEEDLE_KEY ? utf8[i] ^ utf8[0] : 0;
	}
	if (!differ)
		return false;
	for (unsigned i = 0; i < n; i++) {
		low[2 * i] = high[2 * i + 1] = utf8[i];
		low[2 * i + 1] = high[2 * i] = 0;
	}
	for (unsigned i = 0; i < 3; i++) {
		struct needle *needle = &to->form[i];
		needle->form = (uint8_t)(i ? FORM_UTF16_LE + i - 1 : FORM_UTF8);
		needle->n = (uint8_t)(i ? 2 * n : n);
		needle->skip = 0;
		needle->key = needle_key(needle->bytes);
	}
	to->n = 3;
	to->numeric = is_numeric(c, n);
	to->binary = is_dull(c, n);
	return true;
}

enum needle_made needles_make(struct needles *to, const struct string_view *s)
{
	if (s->length >= TEXT_LEAST && make_plain(to, s))
		return NEEDLE_MADE;
	uint32_t c[NEEDLE_UNITS];
	unsigned n;
	bool ascii = true, plain = true;
	enum needle_made made = characters(s, c, &n);
	to->n = 0;
	if (made != NEEDLE_MADE)
		return made;
	to->numeric = is_numeric(c, n);
	to->binary = is_dull(c, n);
	for (unsigned i = 0; i < n; i++) {
		to->binary |= is_control(c[i]);
		ascii &= c[i] < 0x80;
		plain &= is_plain(c[i]);
	}
	for (enum needle_form form = 0; form < FORMS; form++)
		if (!(form == FORM_LATIN1 && ascii) && !(form == FORM_PAGE && plain))
			to->n += add_form(to, form, c, n);
	return NEEDLE_MADE;
}
