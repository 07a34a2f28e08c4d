/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * panes_draw.c - how the panes look: parts under their headings, each as long as there is room.
 */
#include "view/page.h"
#include "view/panes.h"

#include <string.h>

enum {
	PARTS_MOST = 12,
	NUMBER = 9,        /* columns of a number */
	BAR = 8,
	BAR_FROM = 56,     /* columns of a pane that has bars; in a narrower one names come before values */
	NAME_LEAST = 10,
	HEAD_LINES = 3,
};

/* A stretch of rows under one heading. */
struct section {
	const char *word;
	size_t first, n;
	size_t shown;    /* of its rows, which fit */
	int number;      /* the column whose numbers it shows, or -1 */
	double largest;  /* of these */
	int name;        /* columns that its names need */
};

/* --- measuring ------------------------------------------------------------------------------------ */

/* What the rows of a part tell in numbers: the first of these columns that has any. */
static const enum column_id numbers[] = {COL_FREED, COL_RETAINED, COL_SHALLOW};

static void measure(struct result *r, struct section *part)
{
	struct cell cell;
	int name = result_column_of(r, COL_NAME);

	part->number = -1;
	for (size_t i = 0; i < part->n; i++) {
		struct text t = TEXT_INIT;
		result_cell(r, part->first + i, (unsigned)name, &cell);
		cell_print(&cell, &t);
		int width = (int)text_width_most(t.s, 200);
		part->name = width > part->name ? width : part->name;
		text_release(&t);
	}
	for (size_t k = 0; part->number < 0 && k < sizeof numbers / sizeof *numbers; k++) {
		int column = result_column_of(r, numbers[k]);
		for (size_t i = 0; i < part->n; i++) {
			result_cell(r, part->first + i, (unsigned)column, &cell);
			if (cell.type == CELL_NONE)
				continue;
			part->number = column;
			if ((double)cell.amount.n > part->largest)
				part->largest = (double)cell.amount.n;
		}
	}
}

static size_t parts_of(struct result *r, size_t from, size_t to, struct section *parts)
{
	size_t n = 0;

	for (size_t row = from; row < to; row++) {
		const char *word;
		if (about_begins(r, row, &word) || row == from) {
			if (n == PARTS_MOST)
				break;
			parts[n++] = (struct section){.word = word, .first = row};
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

static void draw_heading(struct result *r, const struct section *part, int y, struct rect at, int number_x)
{
	struct text t = TEXT_INIT;

	text_add(&t, part->word);
	if (part->shown < part->n)
		text_addf(&t, " %zu/%zu", part->shown, part->n);
	const char *word = part->number >= 0 ? column_word(&r->columns[part->number]) : "";
	int width = part->number >= 0 ? number_x + NUMBER - (int)strlen(word) - 1 - at.x : at.width;
	draw_text(y, at.x, width, t.s, theme(ROLE_HEADER));
	draw_right(y, number_x, NUMBER, word, theme(ROLE_QUIET));
	text_release(&t);
}

/* "260 objects", "60 references", in front of the value. */
static void add_how_many(struct result *r, size_t row, struct text *to)
{
	static const struct {
		enum column_id column;
		const char *one, *many;
	} counts[] = {{COL_OBJECTS, "object", "objects"}, {COL_REFERENCES, "reference", "references"}};

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct cell cell;
		result_cell(r, row, (unsigned)result_column_of(r, counts[i].column), &cell);
		if (cell.type == CELL_NONE)
			continue;
		cell_print(&cell, to);
		text_addf(to, " %s  ", cell.amount.n == 1 ? counts[i].one : counts[i].many);
	}
}

static void draw_row(struct result *r, const struct section *part, size_t row, int y, struct rect at, int name)
{
	struct text t = TEXT_INIT;
	struct cell cell;
	int x = at.x + name + 1, end = at.x + at.width;

	result_cell(r, row, (unsigned)result_column_of(r, COL_NAME), &cell);
	cell_print(&cell, &t);
	draw_text_keep_end(y, at.x, name, t.s, theme(ROLE_TEXT));
	if (part->number >= 0) {
		result_cell(r, row, (unsigned)part->number, &cell);
		text_clear(&t);
		cell_print(&cell, &t);
		draw_right(y, x, NUMBER, t.s, theme(cell.amount.certainty != EXACT ? ROLE_UNSURE : ROLE_TEXT));
		x += NUMBER + 1;
		if (at.width >= BAR_FROM && part->largest > 0) {
			draw_bar(y, x, BAR, (double)cell.amount.n / part->largest, theme(ROLE_BAR));
			x += BAR + 1;
		}
	}
	text_clear(&t);
	add_how_many(r, row, &t);
	result_cell(r, row, (unsigned)result_column_of(r, COL_VALUE), &cell);
	cell_print(&cell, &t);
	if (x < end && t.len)
		draw_text(y, x, end - x, t.s, theme(ROLE_QUIET));
	text_release(&t);
}

static void draw_rows(struct result *r, size_t from, size_t to, struct rect at)
{
	struct section parts[PARTS_MOST];
	size_t n = parts_of(r, from, to, parts);
	int y = at.y;

	share_lines(parts, n, at.height);
	for (size_t i = 0; i < n; i++) {
		struct section *part = &parts[i];
		int beside = part->number >= 0 ? NUMBER + 2 : 1;
		int most = at.width < BAR_FROM ? at.width - beside : at.width * 3 / 5 - beside;
		int name = part->name < most ? part->name : most;
		name = name < NAME_LEAST ? NAME_LEAST : name;
		if (!part->shown)
			continue;
		draw_heading(r, part, y++, at, at.x + name + 1);
		for (size_t k = 0; k < part->shown; k++)
			draw_row(r, part, part->first + k, y++, at, name);
	}
}

static struct rect draw_title(struct rect at, const char *title, bool ours)
{
	draw_text_keep_end(at.y, at.x, at.width, title, theme(ours ? ROLE_PLACE : ROLE_QUIET));
	return (struct rect){at.y + 1, at.x, at.height - 1, at.width};
}

/* Without what stands in the title: an object's address and class. */
static struct rect draw_head(struct result *r, struct rect at)
{
	bool one = r->n_head > 2 && r->head[0].column == COL_ADDRESS;
	int lines = page_draw_head(r, one ? 2 : 0, at, at.height > 12 ? HEAD_LINES : 1, false);

	return (struct rect){at.y + lines, at.x, at.height - lines, at.width};
}

static void draw_borders(const struct pane_places *at)
{
	const struct rect *held = &at->held, *self = &at->self;

	if (self->y > at->list.y)
		for (int k = 0; k < at->list.width; k++)
			draw_clipped(self->y - 1, at->list.x + k, 1, glyph(GLYPH_HORIZONTAL), theme(ROLE_QUIET));
	for (int k = 0; k < self->height; k++)
		draw_clipped(self->y + k, self->x - PANE_GAP, 1, glyph(GLYPH_VERTICAL), theme(ROLE_QUIET));
	for (int k = 0; k < held->height; k++)
		draw_clipped(held->y + k, held->x + held->width, 1, glyph(GLYPH_VERTICAL), theme(ROLE_QUIET));
}

void panes_draw(struct panes *p, const struct pane_places *at)
{
	struct result *r = p->shown;
	bool ours = r && panes_know(p);

	draw_borders(at);
	if (p->late && !ours) {
		draw_title(at->self, glyph(GLYPH_ELLIPSIS), false);
		return;
	}
	if (!r || p->wanted.kind == TARGET_NONE)
		return;
	size_t inside = about_inside(r);
	struct rect self = draw_title(at->self, r->title, ours);
	self = draw_head(r, self);
	if (at->held.height) {
		draw_rows(r, 0, inside, at->held);
		draw_rows(r, inside, r->n_rows, self);
	} else {
		draw_rows(r, 0, r->n_rows, self);
	}
}
