/* SPDX-License-Identifier: GPL-3.0-or-later */
/* app_columns.c - which columns tables show: the page where that is chosen, and what was kept of it. */
#include "view/app/app.h"

bool app_on_columns(const struct app *a)
{
	return a->here.pages.n > 0 && a->here.pages.page[a->here.pages.at]->ops->place == PLACE_COLUMNS;
}

void app_choose_columns(struct app *a)
{
	struct table *t = app_table(a);

	if (!app_on_columns(a) && t && (a->session.dump || app_profiles_alone(a)))
		app_push(a, page_new_columns(t, a->session.dump));
}

static void arrange(struct page_stack *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct table *both[2] = {s->page[i]->ops->table(s->page[i]), NULL};
		if (s->page[i]->ops->tables)
			s->page[i]->ops->tables(s->page[i], both);
		for (int k = 0; k < 2; k++)
			if (both[k])
				columns_arrange(both[k]->result);
	}
}

void app_arrange_columns(struct app *a)
{
	arrange(&a->here.pages);
	for (enum tab tab = 0; tab < TABS; tab++)
		arrange(&a->here.kept[tab]);
}
