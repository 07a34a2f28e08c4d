/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_refresh.c - pages about running processes: their question is asked again every two seconds while nobody types.
 * What was selected, sorted and filtered stays so.
 */
#include "view/app/app.h"

#include "base/mem.h"
#include "view/prompt.h"

#include <stdlib.h>
#include <string.h>

#define REFRESH_MS 2000

/* How the table was arranged when it was asked again. */
struct arranged {
	char *name;   /* of the selected row; NULL: no row */
	char *filter; /* NULL: none */
	enum column_id sorted_by;
	bool sorted, descending;
	size_t above; /* rows between the first one seen and the selected one */
};

static bool refreshes(struct page *p)
{
	return p && p->asked && page_result(p) && result_is(page_result(p), RESULT_REFRESHES) &&
	    invocation_is_plain(p->asked) && !p->asked->of_view;
}

static uint64_t due(const struct app *a)
{
	return a->refresh.last + (uint64_t)REFRESH_MS * 1000000;
}

int app_refresh_wait_ms(struct app *a)
{
	struct page *p = app_page(a);
	uint64_t now = progress_clock();

	if (!refreshes(p))
		a->refresh.page = 0;
	if (!refreshes(p) || p->serial == a->refresh.failed || prompt_is_open() || a->box.open)
		return -1;
	if (p->serial != a->refresh.page) { /* it just came, or is returned to */
		a->refresh.page = p->serial;
		a->refresh.last = p->serial == a->last_serial ? now : 0;
	}
	return now >= due(a) ? 0 : (int)((due(a) - now) / 1000000) + 1;
}

/* By which its row is found again: the line that it opens, or what it is called. */
static char *name_of(struct result *r, size_t row)
{
	struct text name = TEXT_INIT;
	struct target target = {.kind = TARGET_NONE};
	struct cell cell;

	if (row >= r->n_rows)
		return NULL;
	result_target(r, row, &target);
	if (target.kind == TARGET_COMMAND && target.command)
		return xstrdup(target.command);
	if (!result_cell_in(r, row, r->named_by, &cell))
		return NULL;
	text_add(&name, "");
	cell_print(&cell, &name);
	return text_take(&name);
}

static struct arranged arrangement_of(const struct table *t)
{
	struct result *r = t->result;

	return (struct arranged){.name = name_of(r, t->row), .filter = t->filter ? xstrdup(t->filter) : NULL,
	    .sorted = r->sorted_by >= 0, .sorted_by = r->sorted_by >= 0 ? r->columns[r->sorted_by].id : COL_OWN_NAME,
	    .descending = r->descending, .above = t->row - t->top};
}

static void select_named(struct table *t, const char *name, size_t above)
{
	for (size_t row = 0; row < t->result->n_rows; row++) {
		char *its = name_of(t->result, row);
		bool same = its && strcmp(its, name) == 0;
		free(its);
		if (!same)
			continue;
		t->top = row > above ? row - above : 0;
		table_select(t, row);
		return;
	}
}

static void arrange(struct table *t, const struct arranged *as)
{
	int column = as->sorted ? result_column_of(t->result, as->sorted_by) : -1;

	if (column >= 0)
		table_sort(t, (unsigned)column, as->descending);
	if (as->filter)
		table_filter(t, as->filter);
	if (as->name)
		select_named(t, as->name, as->above);
}

bool app_refresh(struct app *a)
{
	struct page *p = app_page(a);

	if (app_refresh_wait_ms(a) != 0)
		return false;
	struct table *t = app_table(a);
	struct arranged as = t ? arrangement_of(t) : (struct arranged){.name = NULL};
	struct invocation *asked = invocation_keep(p->asked);
	uint64_t serial = p->serial;
	struct notice_kept said = app_keep_notice(a);

	a->work.gives_way = true; /* a key that comes meanwhile is about the rows that are seen */
	app_run(a, asked, false);
	a->work.gives_way = false;
	struct page *now = app_page(a);
	bool answered = now && now->serial != serial, gave_way = !answered && term_first_kept() && !app_was_stopped();
	if (gave_way)
		app_say(a, ROLE_NOTE, "");
	else if (!answered) /* what was said is why */
		a->refresh.failed = serial;
	else if (app_table(a))
		arrange(app_table(a), &as);
	app_restore_notice(a, &said);
	a->refresh.page = now ? now->serial : 0;
	a->refresh.last = progress_clock();
	invocation_drop(asked);
	free(as.name);
	free(as.filter);
	return true;
}
