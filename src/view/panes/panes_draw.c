/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * panes_draw.c - how the panes look: parts under their headings, each as long as there is room.
 */
#include "base/mem.h"
#include "view/name_role.h"
#include "view/names.h"
#include "view/page/page.h"
#include "view/panes/panes.h"

#include <string.h>

enum {
	PARTS_MOST = 12,
	BAR = 8,
	BAR_FROM = 56,     /* columns of a pane that has bars; in a narrower one names come before values */
	NAME_LEAST = 10,
	HEAD_LINES = 3,
	VALUE_LEAST = 7,   /* a value that has less room tells nothing */
};

/* A stretch of rows under one heading. */
struct section {
	enum about_part part;
	size_t first, n;
	size_t shown;    /* of its rows, which fit */
	int number;      /* the column whose numbers it shows, or -1 */
	int digits;      /* columns that these and its word need */
	double largest;  /* of these */
	int name;        /* columns that its names need */
	int value;       /* and values that are names, without packages */
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

/* Append a value for so many columns; of a class with an address the class where there is no room for both. */
static void fit_value(struct result *r, size_t row, int width, struct text *to)
{
	struct text value = TEXT_INIT;
	struct cell cell;

	result_cell(r, row, (unsigned)result_column_of(r, COL_VALUE), &cell);
	cell_print(&cell, &value);
	const char *s = value.len ? value.s : "", *address = strstr(s, " 0x");
	if (address && !strpbrk(s, "\"'{[=") && (int)text_width(s) > width)
		value.s[value.len = (size_t)(address - s)] = '\0';
	if (value.len && keeps_begin(value.s))
		text_add(to, value.s);
	else
		names_fit(value.len ? value.s : "", width, to);
	text_release(&value);
}

/* --- measuring ------------------------------------------------------------------------------------ */

/* Does a row consist of its name?  Then that may take all of the line. */
static bool is_bare(struct result *r, size_t row)
{
	bool bare = true;

	for (unsigned c = 0; c < r->n_columns; c++) {
		struct cell cell;
		if (r->columns[c].id == COL_NAME || r->columns[c].id == COL_PART)
			continue;
		result_cell(r, row, c, &cell);
		bare &= cell.type == CELL_NONE;
	}
	return bare;
}

/* What the rows of a part tell in numbers: the first of these columns that has any. */
static const enum column_id numbers[] = {COL_FREED, COL_RETAINED, COL_SHALLOW};

static void measure(struct result *r, struct section *part)
{
	struct cell cell;

	part->number = -1;
	for (size_t i = 0; i < part->n; i++) {
		struct text t = TEXT_INIT;
		if (is_bare(r, part->first + i))
			continue;
		add_name(r, part->first + i, false, &t);
		int width = (int)text_width_most(t.s, 200);
		part->name = width > part->name ? width : part->name;
		text_clear(&t);
		fit_value(r, part->first + i, 0, &t);
		width = t.len && !keeps_begin(t.s) ? (int)text_width_most(t.s, 200) : 0;
		part->value = width > part->value ? width : part->value;
		text_release(&t);
	}
	for (size_t k = 0; part->number < 0 && k < sizeof numbers / sizeof *numbers; k++) {
		int column = result_column_of(r, numbers[k]);
		for (size_t i = 0; i < part->n; i++) {
			result_cell(r, part->first + i, (unsigned)column, &cell);
			if (cell.type == CELL_NONE)
				continue;
			if (part->number < 0)
				part->digits = (int)strlen(column_title(&r->columns[column]));
			part->number = column;
			struct text t = TEXT_INIT;
			cell_print(&cell, &t);
			int width = (int)text_width(t.s);
			part->digits = width > part->digits ? width : part->digits;
			text_release(&t);
			if ((double)cell.amount.n > part->largest)
				part->largest = (double)cell.amount.n;
		}
	}
}

static size_t parts_of(struct result *r, size_t from, size_t to, struct section *parts)
{
	size_t n = 0;

	for (size_t row = from; row < to; row++) {
		enum about_part part = about_part(r, row);
		if (row == from || part != parts[n - 1].part) {
			if (n == PARTS_MOST)
				break;
			parts[n++] = (struct section){.part = part, .first = row};
		}
		parts[n - 1].n++;
	}
	for (size_t i = 0; i < n; i++)
		measure(r, &parts[i]);
	return n;
}

/* Share the lines out: a heading and two rows for each part, then a row for each in turn.  Parts behind
 * that have no room are left out. */
static void share_lines(struct section *parts, size_t n, int lines)
{
	bool more = true;

	for (size_t i = 0; i < n; i++) {
		parts[i].shown = 0;
		size_t least = parts[i].n < 2 ? parts[i].n : 2;
		if (lines >= (int)least + 1) {
			parts[i].shown = least;
			lines -= (int)least + 1;
		}
	}
	while (more && lines > 0) {
		more = false;
		for (size_t i = 0; i < n && lines > 0; i++) {
			if (!parts[i].shown || parts[i].shown == parts[i].n)
				continue;
			parts[i].shown++;
			lines--;
			more = true;
		}
	}
}

/* --- drawing -------------------------------------------------------------------------------------- */

static void add_heading(struct result *r, const struct section *part, struct text *to)
{
	text_add(to, about_heading(part->part));
	if (part->shown == part->n)
		return;
	text_add(to, ", ");
	text_add_count(to, about_things(r, part->first, part->shown));
	text_add(to, " of ");
	text_add_count(to, about_things(r, part->first, part->n));
	text_addf(to, " %s", about_thing(part->part));
}

static void draw_heading(struct result *r, const struct section *part, int y, struct rect at, int number_x)
{
	struct text t = TEXT_INIT;

	add_heading(r, part, &t);
	const char *word = part->number >= 0 ? column_title(&r->columns[part->number]) : "";
	int width = part->number >= 0 ? number_x + part->digits - (int)strlen(word) - 1 - at.x : at.width;
	draw_text(y, at.x, width, t.s, theme_role(ROLE_HEADER));
	draw_right(y, number_x, part->digits, word, theme_role(ROLE_QUIET));
	text_release(&t);
}

static void draw_row(struct result *r, const struct section *part, size_t row, int y, struct rect at, int name,
    bool selected)
{
	struct text t = TEXT_INIT;
	struct cell cell;
	int x = at.x + name + 1, end = at.x + at.width;
	attr_t marked = theme_role(ROLE_SELECTED);

	if (selected) {
		draw_blank(y, at.x, at.width, marked);
		draw_text(y, at.x - 1, 1, ">", marked);
	}
	add_name(r, row, false, &t);
	bool bare = is_bare(r, row);
	if (!bare && part->name > name) { /* all of them, or none */
		text_clear(&t);
		add_name(r, row, true, &t);
	}
	draw_name(y, at.x, bare ? at.width : name, t.s, selected ? marked : theme_role(ROLE_TEXT));
	if (bare) {
		text_release(&t);
		return;
	}
	if (part->number >= 0) {
		result_cell(r, row, (unsigned)part->number, &cell);
		text_clear(&t);
		cell_print(&cell, &t);
		attr_t sure = theme_role(cell.amount.certainty != EXACT ? ROLE_UNSURE : ROLE_TEXT);
		draw_right(y, x, part->digits, t.s, selected ? marked : sure);
		x += part->digits + 1;
		if (at.width >= BAR_FROM && part->largest > 0 && end - x - BAR - 1 >= part->value &&
		    part->name <= name) {
			draw_bar(y, x, BAR, (double)cell.amount.n / part->largest, theme_role(ROLE_BAR));
			x += BAR + 1;
		}
	}
	text_clear(&t);
	fit_value(r, row, end - x, &t);
	enum role role = value_role(t.len ? t.s : "");
	attr_t quiet = selected ? marked : theme_role(role == ROLE_TEXT ? ROLE_QUIET : role);
	if (end - x >= VALUE_LEAST && t.len && (keeps_begin(t.s) || cell.beside))
		x += draw_text(y, x, end - x, t.s, quiet) + 2;
	else if (end - x >= VALUE_LEAST && t.len)
		draw_text_keep_end(y, x, end - x, t.s, quiet);
	if (cell.beside && end - x >= VALUE_LEAST)
		draw_text(y, x, end - x, cell.beside, selected ? marked : theme_role(ROLE_QUIET));
	text_release(&t);
}

/* Of a pane that has the keyboard or was scrolled all parts are whole, and this many lines are above what is seen:
 * the cursor is, and the heading of its part where it is the first row. */
static size_t lines_above(struct panes *p, enum pane_side side, const struct section *parts, size_t n, size_t height)
{
	size_t lines = 0, cursor = SIZE_MAX, *top = &p->top[side];

	for (size_t i = 0; i < n; i++) {
		if (p->focus == side && p->row >= parts[i].first && p->row < parts[i].first + parts[i].n)
			cursor = lines + 1 + (p->row - parts[i].first);
		lines += 1 + parts[i].n;
	}
	if (cursor != SIZE_MAX && cursor < *top + 1)
		*top = cursor - 1;
	if (cursor != SIZE_MAX && cursor >= *top + height)
		*top = cursor + 1 - height;
	if (*top + height > lines)
		*top = lines > height ? lines - height : 0;
	return *top;
}

/* As much as the names need, and the heading. */
static int name_width(struct result *r, const struct section *part, int width)
{
	int beside = part->number >= 0 ? part->digits + 2 : 1;
	int most = width < BAR_FROM ? width - beside : width * 3 / 5 - beside;
	if (most < width - beside - part->value - 1)
		most = width - beside - part->value - 1;
	struct text t = TEXT_INIT;

	add_heading(r, part, &t);
	int heading = (int)text_width(t.s), name = part->name > heading ? part->name : heading;
	text_release(&t);
	name = name < most ? name : most;
	return name < NAME_LEAST ? NAME_LEAST : name;
}

static void draw_rows(struct panes *p, enum pane_side side, struct rect at)
{
	struct section parts[PARTS_MOST];
	struct result *r = p->shown;
	size_t from, to, above = 0;
	int y = at.y;

	panes_rows(p, side, &from, &to);
	size_t n = parts_of(r, from, to, parts);
	share_lines(parts, n, at.height);
	if (p->focus == side || p->top[side])
		above = lines_above(p, side, parts, n, at.height > 0 ? (size_t)at.height : 0);
	bool whole = p->focus == side || above;
	for (size_t i = 0; i < n; i++) {
		struct section *part = &parts[i];
		part->shown = whole ? part->n : part->shown;
		int name = name_width(r, part, at.width);
		if (!part->shown)
			continue;
		if (above)
			above--;
		else if (y < at.y + at.height)
			draw_heading(r, part, y++, at, at.x + name + 1);
		for (size_t k = 0; k < part->shown; k++) {
			size_t row = part->first + k;
			if (above) {
				above--;
			} else if (y < at.y + at.height) {
				VEC_PUSH(p->line, p->n_lines, p->cap_lines) = (struct pane_line){y, side, row};
				draw_row(r, part, row, y++, at, name, panes_focused(p) && p->focus == side && p->row == row);
			}
		}
	}
}

static struct rect draw_title(struct rect at, const char *title, bool ours)
{
	draw_name(at.y, at.x, at.width, title, theme_role(ours ? ROLE_PLACE : ROLE_QUIET));
	return (struct rect){at.y + 1, at.x, at.height - 1, at.width};
}

/* Without what stands in the title: an object's address and class, a thread's name. */
static struct rect draw_head(struct result *r, struct rect at)
{
	bool one = r->n_head > 2 && r->head[0].column == COL_ADDRESS;
	bool thread = r->n_head > 1 && r->head[0].column == COL_THREAD;
	int lines = page_draw_head(r, one ? 2 : thread ? 1 : 0, at, at.height > 12 ? HEAD_LINES : 1, false);

	return (struct rect){at.y + lines, at.x, at.height - lines, at.width};
}

static void draw_borders(const struct pane_places *at)
{
	const struct rect *held = &at->held, *self = &at->self;

	if (self->y > at->list.y)
		for (int k = 0; k < at->list.width; k++)
			draw_clipped(self->y - 1, at->list.x + k, 1, theme_glyph(GLYPH_HORIZONTAL), theme_role(ROLE_QUIET));
	for (int k = 0; k < self->height; k++)
		draw_clipped(self->y + k, self->x - PANE_GAP, 1, theme_glyph(GLYPH_VERTICAL), theme_role(ROLE_QUIET));
	for (int k = 0; k < held->height; k++)
		draw_clipped(held->y + k, held->x + held->width, 1, theme_glyph(GLYPH_VERTICAL), theme_role(ROLE_QUIET));
}

void panes_draw(struct panes *p, const struct pane_places *at)
{
	struct result *r = p->shown;
	bool ours = r && panes_know(p);

	p->drawn = *at;
	p->n_lines = 0;
	if (p->focus == PANE_HELD && !at->held.height)
		p->focus = PANE_SELF;
	draw_borders(at);
	if (p->late && !ours) {
		draw_title(at->self, theme_glyph(GLYPH_ELLIPSIS), false);
		return;
	}
	if (!r || p->wanted.kind == TARGET_NONE || panes_lack(p))
		return;
	struct rect self = draw_title(at->self, r->title, ours);
	self = draw_head(r, self);
	if (at->held.height)
		draw_rows(p, PANE_HELD, at->held);
	draw_rows(p, PANE_SELF, self);
	if (p->faded && !ours) {
		draw_dim(at->self, theme_role(ROLE_QUIET));
		draw_dim(at->held, theme_role(ROLE_QUIET));
	}
}
