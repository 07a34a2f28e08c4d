/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * match.c - plain words against rows; no pattern of this kind takes more than linear memory or
 * quadratic time in a row's length.
 */
#include "view/match.h"

#include <ctype.h>
#include <string.h>

void match_init(struct match *m, const char *words)
{
	*m = (struct match){.words = words, .any_case = true, .buffer = TEXT_INIT};
	for (const char *p = words; *p; p++)
		if (isupper((unsigned char)*p))
			m->any_case = false;
}

void match_release(struct match *m)
{
	text_release(&m->buffer);
}

static bool same(char a, char b, bool any_case)
{
	if (a == b)
		return true;
	return any_case && tolower((unsigned char)a) == tolower((unsigned char)b);
}

static bool begins(const char *s, const char *word, size_t n, bool any_case)
{
	for (size_t i = 0; i < n; i++)
		if (!s[i] || !same(s[i], word[i], any_case))
			return false;
	return true;
}

/* The pieces between stars, each found behind the one before: leftmost is enough, as nothing has
 * to stand at an end. */
static bool holds(const char *s, const char *word, size_t n, bool any_case)
{
	while (n > 0) {
		const char *star = memchr(word, '*', n);
		size_t piece = star ? (size_t)(star - word) : n;

		while (!begins(s, word, piece, any_case))
			if (!*s++)
				return false;
		s += piece;
		word += piece;
		n -= piece;
		if (star) {
			word++;
			n--;
		}
	}
	return true;
}

bool match_text(const struct match *m, const char *s)
{
	const char *word = m->words;

	for (;;) {
		word += strspn(word, " ");
		size_t n = strcspn(word, " ");
		if (n == 0)
			return true;
		if (!holds(s, word, n, m->any_case))
			return false;
		word += n;
	}
}

bool match_row(struct match *m, struct result *r, size_t row)
{
	text_clear(&m->buffer);
	for (unsigned c = 0; c < r->n_columns; c++) {
		struct cell cell;

		const struct column *column = &r->columns[c];
		enum cell_type type = column_type(column);
		bool said = type == CELL_TEXT || type == CELL_ADDRESS || type == CELL_NUMBER || type == CELL_FLAG;
		if (!said || (column->hidden && !column->card) || (m->only && !m->only[c]))
			continue;
		result_cell(r, row, c, &cell);
		if (cell.type == CELL_NONE)
			continue;
		if (m->buffer.len > 0)
			text_add_char(&m->buffer, '\n'); /* no word spans two cells */
		cell_print_all(&cell, &m->buffer);
		if (cell.type == CELL_FLAG || (cell.type == CELL_TEXT && cell.name)) { /* and as the program says it */
			text_add_char(&m->buffer, '\n');
			cell_print_plain(&cell, &m->buffer);
		}
	}
	return match_text(m, m->buffer.s);
}
