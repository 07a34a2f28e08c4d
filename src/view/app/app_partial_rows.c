/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_partial_rows.c - rows appear as they are found: a look at a result that a job has not done with yet.
 *
 * A filter's look stands in its table; that of a command on a page of its own where its answer will be.  The job
 * changes its result within session.hooks.turns, so a look is shown anew in each turn, and once the job has done with
 * the result (session.hooks.growing) it is not drawn any more.
 */
#include "view/app/app.h"

#include "base/mem.h"

static struct page_stack *stack_of(struct app *a)
{
	return a->work.so_far.tab == a->here.tab ? &a->here.pages : &a->here.kept[a->work.so_far.tab];
}

static void put_page(struct app *a, struct result *r)
{
	struct so_far *f = &a->work.so_far;
	size_t at = a->here.pages.at + !app_asked_again(a, a->work.waiting.asked);

	if (a->here.pages.n == 0 || a->wanted_tab != TABS)
		return;
	*f = (struct so_far){.page = app_new_table(a, result_look(r), a->work.waiting.asked), .tab = a->here.tab, .at = at,
	    .before = a->here.pages.at};
	if (at == a->here.pages.n)
		VEC_PUSH(a->here.pages.page, a->here.pages.n, a->here.pages.cap) = NULL;
	f->under = a->here.pages.page[at];
	a->here.pages.page[at] = f->page;
	a->here.pages.at = at;
	a->dirty = true;
}

static bool look_of_command(struct app *a)
{
	struct result *r = a->work.growing;
	struct page *p = a->work.so_far.page;

	if (r && p)
		result_look_again(p->ops->table(p)->result, r);
	else if (r && result_found(r))
		put_page(a, r);
	return r || !p || app_page(a) != p;
}

static bool look_of_filter(struct app *a)
{
	struct table *t = a->work.waiting.table;

	if (t && a->work.growing)
		table_look(t, a->work.growing);
	return a->work.growing || !t || !t->behind || app_table(a) != t;
}

bool so_far_look(struct app *a)
{
	return a->work.waiting.asked ? look_of_command(a) : look_of_filter(a);
}

bool so_far_end(struct app *a, struct table *left)
{
	struct so_far *f = &a->work.so_far;
	struct page_stack *stack = stack_of(a);

	if (!f->page)
		return false;
	*left = *f->page->ops->table(f->page);
	left->result = NULL;
	stack->page[f->at] = f->under;
	stack->n -= !f->under;
	stack->at = f->before;
	page_free(f->page);
	f->page = NULL;
	return true;
}
