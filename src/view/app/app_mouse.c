/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_mouse.c - what a click and the wheel do.
 *
 * Whoever draws what can be clicked says so (mouse_zone), so a click means what is seen there; rows and headers
 * their tables know.
 */
#include "view/app/app.h"

#include "view/prompt.h"

#define WHEEL_ROWS 3

bool mouse_scrolls(const struct input *in)
{
	return in->key == SPECIAL(KEY_WHEEL_UP) || in->key == SPECIAL(KEY_WHEEL_DOWN);
}

bool mouse_is(const struct input *in)
{
	return mouse_scrolls(in) || in->key == SPECIAL(KEY_CLICK);
}

void mouse_zone(struct app *a, struct zone zone)
{
	if (a->drawn.n_zones < ZONES_MOST)
		a->drawn.zone[a->drawn.n_zones++] = zone;
}

/* What lies under the mouse, whoever has the keyboard. */
static void scroll_page(struct page *p, const struct input *in)
{
	struct table *t = p->ops->table_at ? p->ops->table_at(p, in->y, in->x) : p->ops->table(p);
	bool up = in->key == SPECIAL(KEY_WHEEL_UP);
	const char *message = NULL;

	if (t)
		table_scroll(t, table_has_cards(t) ? 1 : WHEEL_ROWS, up);
	else
		for (int i = 0; i < WHEEL_ROWS; i++)
			p->ops->action(p, up ? ACTION_UP : ACTION_DOWN, &message);
}

static bool click_zone(struct app *a, const struct input *in)
{
	for (size_t i = 0; i < a->drawn.n_zones; i++) {
		const struct zone *z = &a->drawn.zone[i];
		if (in->y != z->y || in->x < z->x || in->x >= z->x + z->width)
			continue;
		if (z->key)
			app_input(a, &(struct input){.key = z->key});
		else if (z->page < a->here.pages.n)
			a->here.pages.at = z->page;
		return true;
	}
	return false;
}

/* A line of a pane is opened at once, for nothing is lost that way: the list's cursor stays. */
static void click_pane(struct app *a, const struct input *in)
{
	struct target target;

	if (!app_pane_table(a) || !panes_click(&a->panes, in->y, in->x))
		return;
	if (app_target(a, &target) || about_line(a->panes.shown, a->panes.row))
		app_open_row(a);
}

/* A row is selected by a click, and opened by another one. */
static void click_row(struct app *a, const struct input *in)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	size_t before = t && !t->on_head ? t->row : SIZE_MAX;
	const char *trouble;
	const struct rect *at = &a->drawn.area;
	if (in->y < at->y) {
		if (page_click_band(p, in->y, in->x))
			panes_leave(&a->panes);
		return;
	}
	if (in->x < at->x || in->x >= at->x + at->width || in->y >= at->y + at->height) {
		click_pane(a, in);
		return;
	}
	panes_leave(&a->panes);
	bool selects = p->ops->click && p->ops->click(p, a->drawn.area, in->y, in->x);

	if (app_table(a) && table_trouble(app_table(a), &trouble))
		app_say(a, ROLE_NOTE, trouble);
	/* the other half of an object was only given the keyboard by the first click */
	if (selects && t == app_table(a) && t && t->row == before && !prompt_is_open())
		app_act(a, ACTION_OPEN);
}

void app_mouse(struct app *a, const struct input *in)
{
	if (!app_page(a))
		return;
	if (!a->mouse_told && in->key == SPECIAL(KEY_CLICK)) {
		a->mouse_told = true;
		app_say(a, ROLE_NOTE, "a click acts here; hold Shift to select text (--no-mouse: none acts)");
	}
	if (a->box.open) {
		app_help_click(a, in);
		return;
	}
	enum pane_side side = app_pane_table(a) ? panes_at(&a->panes, in->y, in->x) : PANE_NONE;
	if (mouse_scrolls(in) && side != PANE_NONE)
		panes_scroll(&a->panes, side, WHEEL_ROWS, in->key == SPECIAL(KEY_WHEEL_UP));
	else if (mouse_scrolls(in))
		scroll_page(app_page(a), in);
	else if (prompt_is_open() || !click_zone(a, in))
		click_row(a, in);
}
