/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_dumps.c - several dumps on one screen: one is current, and of the others all that the screen shows of them waits
 * here, until one comes back.
 */
#include "view/app/app.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Nothing beside the screen looks at the current dump any more. */
static void look_away(struct app *a)
{
	retained_job_stop(&a->finding);
	app_look_away(a);
	a->pane_of = NULL;
	a->inflating = a->inflated = NULL; /* that goes on, and is found again */
}

/* --- stacks ------------------------------------------------------------------------------------- */

static bool is_of(struct page *p, const struct opened *o)
{
	const struct result *r = page_result(p);

	return r && r->opened == o;
}

static void drop_from(struct page_stack *s, size_t from)
{
	while (s->n > from)
		page_free(s->page[--s->n]);
	if (s->at >= s->n)
		s->at = s->n > 0 ? s->n - 1 : 0;
}

/* Pages with rows of that dump, and those behind them. */
static void drop_pages_of(struct page_stack *s, const struct opened *o)
{
	size_t from = 0;

	while (from < s->n && !is_of(s->page[from], o))
		from++;
	drop_from(s, from);
}

static void release_stack(struct page_stack *s)
{
	drop_from(s, 0);
	free(s->page);
	*s = (struct page_stack){.n = 0};
}

static void release(struct dump_place *d)
{
	release_stack(&d->pages);
	for (enum tab tab = 0; tab < TABS; tab++)
		release_stack(&d->kept[tab]);
	saved_state_release(&d->state);
	app_release_alert(&d->alert);
}

/* Where all pages of the tab shown are gone, the first tab is. */
static void settle(struct app *a)
{
	if (a->here.pages.n == 0)
		tabs_back(a);
	a->dirty = true;
}

/* --- going and coming --------------------------------------------------------------------------- */

static void leave(struct app *a)
{
	look_away(a);
	if (!a->session.dump) { /* profiles alone: their pages are no dump's */
		app_drop_tabs(a);
		app_drop_pages(a, 0);
		return;
	}
	app_keep(a);
	a->here.opened = a->session.dump;
	VEC_PUSH(a->left, a->n_left, a->cap_left) = a->here;
	a->here = (struct dump_place){.opened = NULL};
}

/* The list of the dumps in a folder is no dump's: it goes along. */
static struct page_stack take_list(struct app *a)
{
	struct page_stack list = {.n = 0};

	if (!a->session.folder)
		return list;
	if (a->here.tab == TAB_DUMPS)
		tabs_return(a, TAB_HISTOGRAM, 0);
	list = a->here.kept[TAB_DUMPS];
	a->here.kept[TAB_DUMPS] = (struct page_stack){.n = 0};
	return list;
}

void app_leave_dump(void *context, struct opened *next)
{
	struct app *a = context;
	struct page_stack list = take_list(a);

	leave(a);
	a->here.tab = TAB_HISTOGRAM;
	for (size_t i = 0; i < a->n_left; i++) {
		struct dump_place d = a->left[i];
		if (d.opened != next)
			continue;
		a->left[i] = a->left[--a->n_left];
		a->here = d;
		break;
	}
	if (a->session.folder)
		a->here.kept[TAB_DUMPS] = list;
	a->came = a->dirty = true;
}

void app_come_to_dump(struct app *a)
{
	char *said = xstrdup(a->session.lines.said.s ? a->session.lines.said.s : "");

	a->came = false;
	app_drop_pending(a); /* it meant the dump that was left */
	if (a->here.pages.n == 0) {
		app_first_page(a);
		app_bring_kept(a);
		app_say_damage(a);
	} else if (opened_retained(a->session.dump)) {
		app_fill_pages(a); /* a comparison may have found them meanwhile */
	}
	app_find_retained(a);
	session_say(&a->session, "%s", said);
	free(said);
}

void app_forget_pages(struct app *a, const struct opened *o)
{
	for (size_t i = 0; i < a->n_left; i++) {
		drop_pages_of(&a->left[i].pages, o);
		for (enum tab tab = 0; tab < TABS; tab++)
			drop_pages_of(&a->left[i].kept[tab], o);
	}
}

void app_close_dump(void *context, struct opened *o)
{
	struct app *a = context;

	if (a->session.dump == o)
		look_away(a);
	for (size_t i = 0; i < a->n_left; i++) {
		if (a->left[i].opened != o)
			continue;
		release(&a->left[i]);
		a->left[i] = a->left[--a->n_left];
		break;
	}
	app_forget_pages(a, o);
	a->session.results.shown = a->session.results.shown_rows = NULL;
	for (enum tab tab = 0; tab < TABS; tab++)
		drop_pages_of(&a->here.kept[tab], o);
	drop_pages_of(&a->here.pages, o);
	settle(a);
}

void app_release_dumps(struct app *a)
{
	while (a->n_left > 0)
		release(&a->left[--a->n_left]);
	free(a->left);
	a->left = NULL;
	a->cap_left = 0;
}

/* --- what tells of all of them ------------------------------------------------------------------ */

void app_series_changed(struct app *a, bool others)
{
	struct page *p = app_page(a);
	const struct folder *f = a->session.folder;
	/* rows of a folder's dumps tell what is as it changes; the list here is asked again when it is shown */
	bool live = f && (f->here || a->session.n_dumps == f->n);
	enum tab first = others ? TAB_GROWTH : TAB_DUMPS, end = live ? TAB_DUMPS : TABS;

	for (enum tab tab = first; tab < end; tab++) {
		release_stack(&a->here.kept[tab]);
		for (size_t i = 0; i < a->n_left; i++)
			release_stack(&a->left[i].kept[tab]);
	}
	if (!p || !p->asked || !invocation_is_plain(p->asked) || p->asked->of_view || !p->asked->command)
		return;
	unsigned flags = p->asked->command->flags;
	if ((!(flags & COMMAND_LISTS_DUMPS) || live) && !(others && a->here.tab >= TAB_GROWTH && flags & COMMAND_COMPARES))
		return;
	struct invocation *asked = invocation_keep(p->asked);
	char *said = xstrdup(a->session.lines.said.s ? a->session.lines.said.s : "");
	struct table *t = app_table(a);
	size_t row = t ? t->row : 0;
	app_run(a, asked, false); /* its answer takes the place of the page */
	if ((t = app_table(a)) && row < t->result->n_rows)
		table_select(t, row);
	session_say(&a->session, "%s", said);
	invocation_drop(asked);
	free(said);
}

bool app_is_of_other(struct app *a, const char *key)
{
	struct table *t = app_table(a);
	struct err err = ERR_INIT;

	if (!a->session.dump || !t || panes_focused(&a->panes) || t->result->n_rows == 0 ||
	    !session_not_of_other(&a->session, t->result->opened, key, "this row", &err))
		return false;
	app_say(a, ROLE_NOTE, err.message);
	return true;
}
