/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * panes_focus.c - the keyboard and the mouse in the panes: a cursor that goes over all rows of a pane, also those
 * that it has no room for.
 */
#include "view/panes/panes.h"

#include "base/mem.h"
#include "view/match.h"

#include <stdlib.h>
#include <string.h>

bool panes_focused(const struct panes *p)
{
	return p->focus != PANE_NONE && panes_know(p) && p->row < p->shown->n_rows;
}

void panes_rows(const struct panes *p, enum pane_side side, size_t *from, size_t *to)
{
	size_t inside = about_inside(p->shown);
	bool two = p->drawn.held.height > 0;

	*from = side == PANE_SELF && two ? inside : 0;
	*to = side == PANE_HELD ? inside : p->shown->n_rows;
}

void panes_leave(struct panes *p)
{
	p->focus = PANE_NONE;
	memset(p->top, 0, sizeof p->top);
}

/* To its first row; false: it has none. */
static bool enter(struct panes *p, enum pane_side side)
{
	size_t from, to;

	panes_rows(p, side, &from, &to);
	if (from == to || (side == PANE_HELD && !p->drawn.held.height))
		return false;
	panes_leave(p);
	p->focus = side;
	p->row = from;
	return true;
}

bool panes_next_side(struct panes *p)
{
	enum pane_side from = p->focus;

	if (!panes_know(p))
		return false;
	if ((from == PANE_NONE && enter(p, PANE_SELF)) || (from != PANE_HELD && enter(p, PANE_HELD)))
		return true;
	panes_leave(p);
	return false;
}

static void move_by(struct panes *p, size_t n, bool up)
{
	size_t from, to;

	panes_rows(p, p->focus, &from, &to);
	if (up)
		p->row = p->row - from > n ? p->row - n : from;
	else
		p->row = to - 1 - p->row > n ? p->row + n : to - 1;
}

bool panes_action(struct panes *p, enum action action)
{
	const struct rect *at = p->focus == PANE_HELD ? &p->drawn.held : &p->drawn.self;
	size_t page = at->height > 2 ? (size_t)at->height - 2 : 1;

	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
		move_by(p, 1, action == ACTION_UP);
		return true;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		move_by(p, page, action == ACTION_PAGE_UP);
		return true;
	case ACTION_HALF_UP:
	case ACTION_HALF_DOWN:
		move_by(p, (page + 1) / 2, action == ACTION_HALF_UP);
		return true;
	case ACTION_FIRST:
	case ACTION_LAST:
		move_by(p, p->shown->n_rows, action == ACTION_FIRST);
		return true;
	default:
		return false;
	}
}

bool panes_search(struct panes *p, const char *words, bool here, bool backwards)
{
	size_t n = p->shown->n_rows, from, to;
	struct match m;
	bool found = false;

	if (p->search != words) {
		free(p->search);
		p->search = xstrdup(words);
	}
	match_init(&m, p->search);
	for (size_t i = here ? 0 : 1; i < n + !here && !found; i++) {
		size_t row = (p->row + (backwards ? n - i % n : i)) % n;
		found = match_row(&m, p->shown, row);
		if (found)
			p->row = row;
	}
	match_release(&m);
	panes_rows(p, p->focus, &from, &to);
	if (p->row < from || p->row >= to)
		p->focus = p->focus == PANE_HELD ? PANE_SELF : PANE_HELD;
	return found;
}

/* --- another answer ------------------------------------------------------------------------------- */

/* Do two rows tell of the same thing? */
static bool same(struct result *a, size_t row, struct result *b, size_t other)
{
	struct target x, y;
	struct cell one, two;

	result_target(a, row, &x);
	result_target(b, other, &y);
	if (about_part(a, row) != about_part(b, other) || x.kind != y.kind || (x.kind == TARGET_OBJECT && x.id != y.id))
		return false;
	result_cell(a, row, (unsigned)result_column_of(a, COL_NAME), &one);
	result_cell(b, other, (unsigned)result_column_of(b, COL_NAME), &two);
	return one.type == two.type && (one.type != CELL_TEXT || strcmp(one.text, two.text) == 0);
}

void panes_follow(struct panes *p, struct result *next)
{
	if (!panes_focused(p)) {
		p->focus = PANE_NONE;
		return;
	}
	for (size_t row = 0; row < next->n_rows; row++) {
		if (same(p->shown, p->row, next, row)) {
			p->row = row;
			return;
		}
	}
	panes_leave(p);
}

/* --- the mouse ------------------------------------------------------------------------------------ */

static bool is_in(const struct rect *r, int y, int x)
{
	return y >= r->y && y < r->y + r->height && x >= r->x && x < r->x + r->width;
}

enum pane_side panes_at(const struct panes *p, int y, int x)
{
	return is_in(&p->drawn.held, y, x) ? PANE_HELD : is_in(&p->drawn.self, y, x) ? PANE_SELF : PANE_NONE;
}

void panes_scroll(struct panes *p, enum pane_side side, size_t lines, bool up)
{
	/* how far it can go is known when it is drawn */
	p->top[side] = !up ? p->top[side] + lines : p->top[side] > lines ? p->top[side] - lines : 0;
	if (p->focus == side)
		move_by(p, lines, up);
}

bool panes_click(struct panes *p, int y, int x)
{
	enum pane_side side = panes_know(p) ? panes_at(p, y, x) : PANE_NONE;

	for (size_t i = 0; i < p->n_lines && side != PANE_NONE; i++) {
		if (p->line[i].y != y || p->line[i].side != side || p->line[i].row >= p->shown->n_rows)
			continue;
		p->focus = side;
		p->row = p->line[i].row;
		return true;
	}
	return false;
}
