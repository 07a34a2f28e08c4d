/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_measure.c - how wide the columns of a table would be if there were room for all of them.
 *
 * Rows are looked at when they are about to be drawn, and some more in the beginning.  Widths only grow, so that
 * columns do not dance while one scrolls.
 */
#include "view/table/table_layout.h"

#include "view/names.h"

#include <string.h>

#define WIDTH_MOST 4096
#define MEASURED 1000  /* rows looked at before the first frame */
#define MEASURED_BYTES (1 << 20) /* of their texts, in a frame */

void table_print(const struct table *t, unsigned column, const struct cell *cell, struct text *to)
{
	struct text whole = TEXT_INIT;

	if (t->result->columns[column].id != COL_TYPE || !table_retains_bars(t)) {
		cell_print(cell, to);
		return;
	}
	cell_print(cell, &whole);
	names_fit(whole.len ? whole.s : "", 0, to);
	text_release(&whole);
}

/* --- measuring --------------------------------------------------------------------------------- */

static void grow(struct table *t, unsigned c, const char *s)
{
	size_t width = text_width_most(s, WIDTH_MOST);

	if (width > WIDTH_MOST)
		width = WIDTH_MOST;
	if ((int)width > t->width[c])
		t->width[c] = (int)width;
}

/* What a text needs whose names lost their packages. */
static void grow_simple(struct table *t, unsigned c, const char *s)
{
	struct text simple = TEXT_INIT;

	if (column_type(&t->result->columns[c]) != CELL_TEXT)
		return;
	bool packages = !t->result->columns[c].verbatim && !strchr("\"'{[", *s) && strpbrk(s, "./");
	names_fit(s, packages ? 0 : WIDTH_MOST, &simple);
	int width = simple.len ? (int)text_width_most(simple.s, WIDTH_MOST) : 0;
	width = width < WIDTH_MOST ? width : WIDTH_MOST;
	t->simple[c] = width > t->simple[c] ? width : t->simple[c];
	text_release(&simple);
}

/* Whether a column says the same in every row, as far as anybody sees: then it tells nothing about any. */
static void compare_text(struct table *t, unsigned c, const char *s)
{
	uint32_t hash = 2166136261u;

	for (const char *end = s + strnlen(s, WIDTH_MOST); s < end; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619u;
	hash |= 1;
	if (t->first_text[c] == 0)
		t->first_text[c] = hash;
	else if (t->first_text[c] != hash)
		t->varies[c] = true;
}

int table_heading_column(const struct table *t, size_t row)
{
	const struct result *r = t->result;

	if (result_heading(r, row) == NO_HEADING)
		return -1;
	return tree_is(r) ? (int)tree_column(r) : result_column_of(r, r->named_by);
}

/* Behind a text it stands in its column, beside numbers, which end at the right, in one of its own. */
static void measure_beside(struct table *t, unsigned c, const struct cell *cell, struct text *words)
{
	int width = COLUMN_GAP + (int)text_width_most(cell->beside, WIDTH_MOST);

	if (!cell_is_number(column_type(&t->result->columns[c])))
		text_addf(words, "%*s%s", COLUMN_GAP, "", cell->beside);
	else if (width > t->beside[c])
		t->beside[c] = width;
}

void table_cell(const struct table *t, size_t row, unsigned column, struct cell *out)
{
	result_cell(t->result, row, column, out);
	if (t->result->columns[column].id == COL_COURSE && !term_fine_blocks())
		out->name = NULL;
}

bool table_retains_bars(const struct table *t)
{
	int retained = result_column_of(t->result, COL_RETAINED);

	return retained >= 0 && t->result->columns[retained].bar;
}

/* Returns the bytes of its texts. */
static size_t measure_row(struct table *t, size_t row, struct text *buffer)
{
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;
	size_t bytes = 0;
	int heading = table_heading_column(t, row);

	for (unsigned c = 0; c < n; c++) {
		struct cell cell;
		text_clear(buffer);
		if ((int)c == heading) {
			if (!tree_is(t->result)) { /* it needs no width, but is there */
				t->shows[c] = true;
				t->filled[c]++;
			}
			break;
		}
		table_cell(t, row, c, &cell);
		if (tree_is(t->result) && c == tree_column(t->result))
			cell.indent += 2; /* and the sign */
		if (t->result->columns[c].bar && cell.type != CELL_NONE && amount_signed(cell.amount) > t->longest)
			t->longest = amount_signed(cell.amount);
		table_print(t, c, &cell, buffer);
		bytes += buffer->len;
		if (cell.beside)
			measure_beside(t, c, &cell, buffer);
		grow(t, c, buffer->s);
		grow_simple(t, c, buffer->len ? buffer->s : "");
		compare_text(t, c, buffer->s);
		t->shows[c] |= buffer->len > 0;
		if (cell.type != CELL_NONE && buffer->len > 0)
			t->filled[c]++;
	}
	t->seen++;
	return bytes;
}

/* The number of rows stands below the first column. */
static void measure_count(struct table *t, struct text *buffer)
{
	if (t->plain || t->result->n_columns == 0 || t->result->columns[0].total)
		return;
	text_clear(buffer);
	text_add_count(buffer, t->result->n_rows);
	grow(t, 0, buffer->s);
}

static void measure_sums(struct table *t, struct text *buffer)
{
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;

	measure_count(t, buffer);

	for (unsigned c = 0; c < n; c++) {
		if (!table_is_card_text(t, c)) {
			grow(t, c, column_title(&t->result->columns[c]));
			grow_simple(t, c, column_title(&t->result->columns[c]));
		}
		if (!t->result->columns[c].total || !t->have_whole)
			continue;
		struct cell whole = t->whole[c];
		text_clear(buffer);
		cell_print(&whole, buffer);
		grow(t, c, buffer->s);
	}
}

void table_measure(struct table *t, struct text *buffer)
{
	size_t n = t->result->n_rows;
	size_t last = t->top + t->height < n ? t->top + t->height : n;

	measure_sums(t, buffer);
	for (size_t bytes = 0; t->measured < n && t->measured < MEASURED && bytes < MEASURED_BYTES;)
		bytes += measure_row(t, t->measured++, buffer);
	/* also those that are looked at: there may be many more, and numbers become known */
	for (size_t row = t->top; row < last; row++)
		measure_row(t, row, buffer);
}

/* --- laying out -------------------------------------------------------------------------------- */

void table_add_title(const struct column *column, struct text *to)
{
	static const char change[] = "d_";
	const char *title = column_title(column);

	if (column->name) {
		text_add(to, title);
		return;
	}
	if (!strncmp(title, change, sizeof change - 1)) {
		text_add(to, term_utf8() ? "\u0394 " : change);
		title += sizeof change - 1;
	}
	for (; *title; title++)
		text_add_char(to, *title == '_' ? ' ' : *title);
}
