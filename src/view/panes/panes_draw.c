/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * panes_draw.c - how the panes look: parts under their headings, each as long as there is room.
 */
#include "base/mem.h"
#include "view/about_rows.h"
#include "view/page/page.h"
#include "view/panes/panes.h"

#include <string.h>

enum { PARTS_MOST = 12, HEAD_LINES = 3 };

static size_t parts_of(struct result *r, size_t from, size_t to, struct about_rows *parts)
{
	size_t n = 0;

	for (size_t row = from; row < to && n < PARTS_MOST; row += parts[n++].n)
		parts[n] = about_rows_of(r, row, to);
	return n;
}

/* Share the lines out: a heading and two rows for each part, then a row for each in turn.  Parts behind
 * that have no room are left out. */
static void share_lines(struct about_rows *parts, size_t n, int lines)
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

static void add_heading(struct result *r, const struct about_rows *part, struct text *to)
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

static void draw_heading(struct result *r, const struct about_rows *part, const char *heading, int y, struct rect at,
    int number_x)
{
	const char *word = part->number >= 0 ? column_title(&r->columns[part->number]) : "";
	int width = part->number >= 0 ? number_x + part->digits - (int)strlen(word) - 1 - at.x : at.width;

	draw_text(y, at.x, width, heading, theme_role(ROLE_HEADER));
	draw_right(y, number_x, part->digits, word, theme_role(ROLE_QUIET));
}

/* Of a pane that has the keyboard or was scrolled all parts are whole, and this many lines are above what is seen:
 * the cursor is, and the heading of its part where it is the first row. */
static size_t lines_above(struct panes *p, enum pane_side side, const struct about_rows *parts, size_t n, size_t height)
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

static void draw_rows(struct panes *p, enum pane_side side, struct rect at)
{
	struct about_rows parts[PARTS_MOST];
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
		struct about_rows *part = &parts[i];
		struct text heading = TEXT_INIT;
		part->shown = whole ? part->n : part->shown;
		if (!part->shown)
			continue;
		add_heading(r, part, &heading);
		int name = about_rows_name(part, at.width, (int)text_width(heading.s));
		if (above)
			above--;
		else if (y < at.y + at.height)
			draw_heading(r, part, heading.s, y++, at, at.x + name + 1);
		text_release(&heading);
		for (size_t row = part->first; row < part->first + part->shown; row++) {
			if (above) {
				above--;
			} else if (y < at.y + at.height) {
				VEC_PUSH(p->line, p->n_lines, p->cap_lines) = (struct pane_line){y, side, row};
				about_rows_draw(r, part, row, (struct rect){y++, at.x, 1, at.width}, name,
				    panes_focused(p) && p->focus == side && p->row == row);
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
