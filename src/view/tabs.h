/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tabs.h - the main pages, one key away: each with a stack of pages of its own, kept while another one is
 * shown.
 *
 * Main thread only.
 */
#ifndef CAIRN_VIEW_TABS_H
#define CAIRN_VIEW_TABS_H

#include <stdbool.h>
#include <stddef.h>

struct app;
struct page;

enum tab { TAB_HISTOGRAM, TAB_HEAP, TAB_LEAKS, TAB_THREADS, TAB_PACKAGES, TAB_INFO, TABS };

/* A stack of pages, and behind `at` where one has come back from. */
struct page_stack {
	struct page **page; /* owned */
	size_t n, cap;
	size_t at;          /* the page shown, when n > 0 */
};

/* Show a tab: its pages, or else what its line answers, once that is there. */
void tabs_show(struct app *a, enum tab tab);
/* A page is about to be pushed: go to the tab that it was asked for, if there is one. */
void tabs_arrive(struct app *a);
/* A tab's first page came while somebody looks at another tab: stay there, and say so. */
void tabs_leave_ready(struct app *a, enum tab shown);
/* From the first page of another tab back to the first tab.  False: that is shown. */
bool tabs_back(struct app *a);

/* Draw the names of the tabs from x on, in at most width columns; where they do not fit, nothing: false. */
bool tabs_draw(const struct app *a, int y, int x, int width);

#endif
