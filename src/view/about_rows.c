/* SPDX-License-Identifier: GPL-3.0-or-later */
/* about_rows.c - see about_rows.h. */
#include "view/about_rows.h"

#include "view/name_role.h"
#include "view/names.h"

#include <string.h>

enum {
	BAR = 8,
	BAR_FROM = 56,     /* columns with bars; in fewer names come before values */
	NAME_LEAST = 10,
	VALUE_LEAST = 7,   /* a value that has less room tells nothing */
	PATH_LEAST = 16,   /* the same of a path that is clipped */
	PATH_WISH = 20,    /* columns that bars leave to what holds the first of them */
};

/* --- what stands in a line ------------------------------------------------------------------------ */

/* "260 × main.Line": of several objects or references how many.  brief: a class of Java without its package. */
static void add_name(struct result *r, size_t row, bool brief, struct text *to)
{
	static const enum column_id counts[] = {COL_OBJECTS, COL_REFERENCES};
	struct text number = TEXT_INIT;
	struct cell cell;

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		result_cell(r, row, (unsigned)result_column_of(r, counts[i]), &cell);
		if (cell.type == CELL_NONE || (cell.amount.n == 1 && cell.amount.certainty == EXACT))
			continue;
		cell_print(&cell, &number);
		text_add(&number, " \u00d7 ");
	}
	result_cell(r, row, (unsigned)result_column_of(r, COL_NAME), &cell);
	for (unsigned i = 0; i < cell.indent; i++)
		text_add_char(to, ' ');
	cell.indent = 0;
	text_add(to, number.len ? number.s : "");
	if (brief && cell.type == CELL_TEXT && number.len && !strpbrk(cell.text, " /"))
		cell.text += strrchr(cell.text, '.') ? strrchr(cell.text, '.') + 1 - cell.text : 0;
	cell_print(&cell, to);
	text_release(&number);
}

/* Texts, lists of fields and classes with an address tell most at their beginning; classes alone, paths and sizes
 * at their end. */
static bool keeps_begin(const char *s)
{
	const char *blank = strchr(s, ' '), *is = strchr(s, '=');

	return strchr("\"'{[", *s) || (is && (!blank || is < blank)) || (blank && !strncmp(blank, " 0x", 3));
}

static void print_value(struct result *r, size_t row, struct text *to)
{
	struct cell cell;

	result_cell(r, row, (unsigned)result_column_of(r, COL_VALUE), &cell);
	cell_print(&cell, to);
}

/* Append a value for so many columns; of a class with an address the class where there is no room for both, and
 * nothing of a path that would be clipped. */
static void fit_value(const struct text *value, int width, struct text *to)
{
	const char *s = value->len ? value->s : "", *address = strstr(s, " 0x");
	struct text class = TEXT_INIT;

	if (address && !strpbrk(s, "\"'{[=") && (int)text_width(s) > width) {
		text_add_n(&class, s, (size_t)(address - s));
		s = class.s;
	}
	size_t before = to->len;
	if (keeps_begin(s))
		text_add(to, s);
	else
		names_fit_path(s, width, to);
	if (strstr(s, " > ") && width < PATH_LEAST && to->len && (int)text_width(to->s + before) > width)
		text_clear(to);
	text_release(&class);
}

/* --- measuring ------------------------------------------------------------------------------------ */

/* Does a row consist of its name, and how many there are?  Then these may take all of the line. */
static bool is_bare(struct result *r, size_t row)
{
	bool bare = true;

	for (unsigned c = 0; c < r->n_columns; c++) {
		struct cell cell;
		enum column_id id = r->columns[c].id;
		if (id == COL_NAME || id == COL_PART || id == COL_OBJECTS || id == COL_REFERENCES)
			continue;
		result_cell(r, row, c, &cell);
		bare &= cell.type == CELL_NONE;
	}
	return bare;
}

/* What the rows of a part tell in numbers: the first of these columns that has any. */
static const enum column_id numbers[] = {COL_FREED, COL_RETAINED, COL_SHALLOW};

/* As it is drawn. */
static void measure_text(const struct text *t, int *most)
{
	struct text spelled = TEXT_INIT;
	int width = t->len ? (int)text_width_most(draw_spelled(t->s, &spelled), 200) : 0;

	*most = width > *most ? width : *most;
	text_release(&spelled);
}

static void measure_names(struct result *r, struct about_rows *rows, size_t row)
{
	struct text name = TEXT_INIT, value = TEXT_INIT, simple = TEXT_INIT;

	add_name(r, row, false, &name);
	measure_text(&name, &rows->name);
	print_value(r, row, &value);
	if (value.len && !keeps_begin(value.s)) {
		fit_value(&value, 0, &simple);
		measure_text(&simple, &rows->value);
	}
	text_release(&name);
	text_release(&value);
	text_release(&simple);
}

static void measure_numbers(struct result *r, struct about_rows *rows, int column)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct text t = TEXT_INIT;
		struct cell cell;
		result_cell(r, rows->first + i, (unsigned)column, &cell);
		if (cell.type == CELL_NONE)
			continue;
		if (rows->number < 0)
			rows->digits = (int)strlen(column_title(&r->columns[column]));
		rows->number = column;
		cell_print(&cell, &t);
		int width = (int)text_width(t.s);
		rows->digits = width > rows->digits ? width : rows->digits;
		if ((double)cell.amount.n > rows->largest)
			rows->largest = (double)cell.amount.n;
		text_release(&t);
	}
}

struct about_rows about_rows_of(struct result *r, size_t first, size_t to)
{
	struct about_rows rows = {.part = about_part(r, first), .first = first, .number = -1};

	for (size_t row = first; row < to && about_part(r, row) == rows.part; row++, rows.n++)
		if (!is_bare(r, row))
			measure_names(r, &rows, row);
	for (size_t k = 0; rows.number < 0 && k < sizeof numbers / sizeof *numbers; k++)
		measure_numbers(r, &rows, result_column_of(r, numbers[k]));
	return rows;
}

int about_rows_wish(const struct about_rows *rows)
{
	enum { VALUE_WISH = 96 };
	int value = rows->value < VALUE_WISH ? rows->value : VALUE_WISH;

	return rows->name + 2 + rows->digits + (value ? BAR + 1 + value : 0);
}

int about_rows_name(const struct about_rows *rows, int width, int heading)
{
	int beside = rows->number >= 0 ? rows->digits + 2 : 1;
	int most = width < BAR_FROM ? width - beside : width * 3 / 5 - beside;
	int name = rows->name > heading ? rows->name : heading;

	if (most < width - beside - rows->value - 1)
		most = width - beside - rows->value - 1;
	name = name < most ? name : most;
	return name < NAME_LEAST ? NAME_LEAST : name;
}

/* --- drawing -------------------------------------------------------------------------------------- */

/* With what else is to be said of it. */
static void draw_value(struct result *r, size_t row, const char *beside, int x, int y, int room, attr_t marked)
{
	struct text value = TEXT_INIT, fitted = TEXT_INIT;

	print_value(r, row, &value);
	fit_value(&value, room, &fitted);
	const char *s = fitted.len ? fitted.s : "";
	enum role role = value_role(s);
	int used = 0;
	if (*s && (keeps_begin(s) || beside))
		used = draw_text(y, x, room, s, marked ? marked : theme_role(role == ROLE_TEXT ? ROLE_QUIET : role)) + 2;
	else if (*s)
		draw_text_keep_end(y, x, room, s, marked ? marked : theme_role(role == ROLE_TEXT ? ROLE_QUIET : role));
	if (beside)
		draw_text(y, x + used, room - used, beside, marked ? marked : theme_role(ROLE_QUIET));
	text_release(&value);
	text_release(&fitted);
}

void about_rows_draw(struct result *r, const struct about_rows *rows, size_t row, struct rect at, int name,
    bool selected)
{
	struct text t = TEXT_INIT;
	struct cell cell = cell_none();
	int x = at.x + name + 1, end = at.x + at.width, behind = x + (rows->number >= 0 ? rows->digits + 1 : 0);
	attr_t marked = selected ? theme_role(ROLE_SELECTED) : 0;

	if (selected) {
		draw_blank(at.y, at.x, at.width, marked);
		draw_text(at.y, at.x - 1, 1, ">", marked);
	}
	if (rows->number >= 0)
		result_cell(r, row, (unsigned)rows->number, &cell);
	bool bare = is_bare(r, row), valued = !bare && end - behind >= VALUE_LEAST;
	add_name(r, row, !bare && rows->name > name, &t); /* brief: all of them, or none */
	draw_joined(at.y, at.x, cell.type == CELL_NONE && !valued ? at.width : name, t.s, true,
	    selected ? marked : theme_role(ROLE_TEXT));
	if (cell.type != CELL_NONE) {
		text_clear(&t);
		cell_print(&cell, &t);
		attr_t sure = theme_role(cell.amount.certainty != EXACT ? ROLE_UNSURE : ROLE_TEXT);
		draw_right(at.y, x, rows->digits, t.s, selected ? marked : sure);
	}
	int value = rows->part == ABOUT_HOLDERS && rows->value > PATH_WISH ? PATH_WISH : rows->value;
	bool bars = at.width >= BAR_FROM && rows->n > 1 && rows->largest > 0 && rows->name <= name &&
	            end - behind - BAR - 1 >= value;
	if (bars && !bare) {
		draw_bar(at.y, behind, BAR, (double)cell.amount.n / rows->largest, theme_role(ROLE_BAR));
		behind += BAR + 1;
	}
	result_cell(r, row, (unsigned)result_column_of(r, COL_VALUE), &cell);
	if (valued)
		draw_value(r, row, cell.beside, behind, at.y, end - behind, marked);
	text_release(&t);
}
