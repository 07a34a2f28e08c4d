/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printed.c - see printed.h. */
#include "printed.h"

#include <stdint.h>
#include <string.h>

/* Not what is looked at, but what looks. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage", "address"))), apply_to = function)
#endif

/* --- text --------------------------------------------------------------------------------------- */

/* The character at s, of which n bytes are there, and its bytes; 0: none is. */
static size_t utf8_at(const uint8_t *s, size_t n, uint32_t *c)
{
	unsigned more = s[0] < 0x80 ? 0 : s[0] < 0xC2 ? 9 : s[0] < 0xE0 ? 1 : s[0] < 0xF0 ? 2 : s[0] < 0xF5 ? 3 : 9;
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	if (more >= n)
		return 0;
	*c = more ? s[0] & (0x3Fu >> more) : s[0];
	for (unsigned i = 1; i <= more; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3F);
	}
	return *c < least[more] || *c > 0x10FFFF || (*c >= 0xD800 && *c < 0xE000) ? 0 : more + 1;
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || (c >= 0x200B && c <= 0x200F) ||
	    (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_clean(const char *s, size_t n, bool lines)
{
	const uint8_t *p = (const uint8_t *)s;
	for (size_t i = 0, m; i < n; i += m) {
		uint32_t c;
		m = utf8_at(p + i, n - i, &c);
		if (!m || (is_control(c) && !(lines && c == '\n')))
			return false;
	}
	return true;
}

/* --- JSON --------------------------------------------------------------------------------------- */

struct json {
	const char *p, *end;
	bool open[64]; /* by depth: an object, not a list */
	unsigned depth;
};

static void blanks(struct json *j)
{
	while (j->p < j->end && strchr(" \t\r\n", *j->p) && *j->p)
		j->p++;
}

/* Behind the backslash; leaves the last character of the escape at hand. */
static bool escape(struct json *j)
{
	if (++j->p == j->end || !*j->p || !strchr("\"\\/bfnrtu", *j->p))
		return false;
	if (*j->p != 'u')
		return true;
	for (unsigned i = 0; i < 4; i++)
		if (++j->p == j->end || !*j->p || !strchr("0123456789abcdefABCDEF", *j->p))
			return false;
	return true;
}

static bool string(struct json *j)
{
	if (j->p == j->end || *j->p++ != '"')
		return false;
	for (; j->p < j->end; j->p++) {
		if (*j->p == '"') {
			j->p++;
			return true;
		}
		if ((uint8_t)*j->p < 0x20)
			return false;
		if (*j->p == '\\' && !escape(j))
			return false;
	}
	return false;
}

static bool digits(struct json *j)
{
	const char *from = j->p;
	while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
		j->p++;
	return j->p > from;
}

static bool number(struct json *j)
{
	j->p += j->p < j->end && *j->p == '-';
	const char *from = j->p;
	if (!digits(j) || (*from == '0' && j->p - from > 1))
		return false;
	if (j->p < j->end && *j->p == '.' && (j->p++, !digits(j)))
		return false;
	if (j->p < j->end && (*j->p | 0x20) == 'e') {
		j->p++;
		j->p += j->p < j->end && (*j->p == '+' || *j->p == '-');
		return digits(j);
	}
	return true;
}

static bool word(struct json *j, const char *s)
{
	size_t n = strlen(s);
	if ((size_t)(j->end - j->p) < n || memcmp(j->p, s, n))
		return false;
	j->p += n;
	return true;
}

static bool scalar(struct json *j)
{
	if (j->p < j->end && *j->p == '"')
		return string(j);
	return word(j, "true") || word(j, "false") || word(j, "null") || number(j);
}

/* "name": in front of a member. */
static bool name(struct json *j)
{
	blanks(j);
	if (!string(j))
		return false;
	blanks(j);
	return word(j, ":");
}

/* The end of what is open, or the comma and the name in front of the next. */
static bool close_or_next(struct json *j, bool *closed)
{
	blanks(j);
	*closed = word(j, j->open[j->depth - 1] ? "}" : "]");
	if (*closed)
		j->depth--;
	else if (!word(j, ",") || (j->open[j->depth - 1] && !name(j)))
		return false;
	return true;
}

bool is_json(const char *s, size_t n)
{
	struct json j = {.p = s, .end = s + n};
	do {
		blanks(&j);
		bool object = j.p < j.end && *j.p == '{', list = j.p < j.end && *j.p == '[', closed = true;
		if (object || list) {
			j.p++;
			blanks(&j);
			if (j.p < j.end && *j.p == (object ? '}' : ']')) {
				j.p++;
			} else {
				if (j.depth == sizeof j.open)
					return false;
				j.open[j.depth++] = object;
				if (object && !name(&j))
					return false;
				continue;
			}
		} else if (!scalar(&j)) {
			return false;
		}
		while (j.depth && closed)
			if (!close_or_next(&j, &closed))
				return false;
	} while (j.depth);
	blanks(&j);
	return j.p == j.end;
}

bool is_jsonl(const char *s, size_t n)
{
	while (n) {
		const char *line = memchr(s, '\n', n);
		if (!line || !is_json(s, (size_t)(line - s)))
			return false;
		n -= (size_t)(line - s) + 1;
		s = line + 1;
	}
	return true;
}

/* --- CSV ---------------------------------------------------------------------------------------- */

/* A cell and what ends it (',' or '\n'); 0: it is none. */
static char csv_cell(const char **p, const char *end)
{
	const char *s = *p;
	if (s < end && *s == '"') {
		for (s++; s < end && (*s != '"' || (end - s > 1 && s[1] == '"')); s++)
			s += *s == '"';
		if (s++ >= end)
			return 0;
	} else {
		while (s < end && !strchr(",\"\r\n", *s))
			s++;
	}
	if (end - s > 1 && s[0] == '\r' && s[1] == '\n') {
		*p = s + 2;
		return '\n';
	}
	*p = s + 1;
	return s < end && *s == ',' ? ',' : 0;
}

bool is_csv(const char *s, size_t n)
{
	const char *end = s + n;
	size_t wanted = 0;
	while (s < end) {
		const char *begin = s;
		size_t cells = 0;
		char ended;
		do {
			ended = csv_cell(&s, end);
			cells++;
		} while (ended == ',');
		if (!ended)
			return false;
		if (s - begin == 2) { /* an empty line: another table begins, or a table of one empty cell goes on */
			wanted = 0;
			continue;
		}
		if (wanted && cells != wanted)
			return false;
		wanted = cells;
	}
	return true;
}

/* Do all rows of each table of Markdown have as many cells as its first one?  Pipes of texts have a \\ before them. */
static bool is_markdown(const char *s, size_t n)
{
	size_t wanted = 0;
	for (const char *end = s + n, *next; s < end; s = next) {
		const char *line_end = memchr(s, '\n', (size_t)(end - s));
		next = line_end ? line_end + 1 : end;
		size_t cells = 0;
		for (const char *at = s; *s == '|' && at < next; at++) {
			if (*at == '\\')
				at++;
			else
				cells += *at == '|';
		}
		if (cells && wanted && cells != wanted)
			return false;
		wanted = cells;
	}
	return true;
}

/* Is each < the begin of one of the tags that tables have, or of those before the first? */
static bool is_html(const char *s, size_t n)
{
	static const char *const tags[] = {"table>", "thead>", "tbody>", "tr>", "td", "th", "h1>", "p>", "pre>",
	    "!DOCTYPE html>", "meta charset=\"utf-8\">", "title>", "style>"};
	for (const char *end = s + n; s < end && (s = memchr(s, '<', (size_t)(end - s)));) {
		size_t i = 0;
		s += 1 + (s + 1 < end && s[1] == '/');
		while (i < sizeof tags / sizeof *tags && strncmp(s, tags[i], strlen(tags[i])))
			i++;
		if (i == sizeof tags / sizeof *tags)
			return false;
	}
	return true;
}

bool is_printed(enum print_format format, const char *s, size_t n)
{
	switch (format) {
	case PRINT_CSV:
		return is_csv(s, n);
	case PRINT_JSON:
		return is_clean(s, n, true) && is_json(s, n);
	case PRINT_JSONL:
		return is_clean(s, n, true) && is_jsonl(s, n);
	case PRINT_MD:
		return is_clean(s, n, true) && is_markdown(s, n);
	case PRINT_HTML:
		return is_clean(s, n, true) && is_html(s, n);
	default:
		return is_clean(s, n, true);
	}
}

#ifdef __clang__
#pragma clang attribute pop
#endif
