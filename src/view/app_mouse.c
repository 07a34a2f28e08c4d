/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_mouse.c - what a click and the wheel do.
 */
#include "view/app.h"

#define WHEEL_ROWS 3

bool mouse_scrolls(const MEVENT *event)
{
	return event->bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED);
}

void app_mouse(struct app *a, const MEVENT *event)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	const char *message = NULL;

	if (!p)
		return;
	if (mouse_scrolls(event)) {
		for (int i = 0; i < WHEEL_ROWS; i++)
			p->ops->action(p, event->bstate & BUTTON4_PRESSED ? ACTION_UP : ACTION_DOWN,
			    &message);
		return;
	}
	size_t before = t && !t->on_head ? t->row : SIZE_MAX;
	if (!p->ops->click || !p->ops->click(p, a->area, event->y, event->x))
		return;
	/* the other half of an object was only given the keyboard by the first click */
	if (t == app_table(a) && t && t->row == before)
		app_act(a, ACTION_OPEN);
}
