/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * panes.h - beside a list: what the selected row is, what holds it, what to cut (the command about).
 *
 * Found on a thread of its own once the cursor has rested on a row, first what is quick and then the rest,
 * and dropped when the cursor moves on.  Until the answer is there the one before it stays, under its own
 * title.  Main thread only.
 */
#ifndef CAIRN_VIEW_PANES_H
#define CAIRN_VIEW_PANES_H

#include "base/parallel.h"
#include "command/commands.h"
#include "view/draw.h"
#include "view/table.h"

/* What v chooses; where the window has no room for one it is the next smaller that fits. */
enum layout { LAYOUT_AUTO, LAYOUT_LIST, LAYOUT_RIGHT, LAYOUT_BELOW, LAYOUT_THREE, LAYOUTS };

/* Which row: two are the same if all of it is. */
struct pane_row {
	enum target_kind kind; /* TARGET_NONE: nothing can be told of it */
	uint32_t id;
	const struct result *result; /* of a row that counts members of its own */
	uint64_t looks;              /* a hash of its cells, likewise */
};

struct panes {
	enum layout layout;
	const struct opened *opened;
	uint64_t serial;            /* of the retained sizes that answers are about; 0: none */
	struct pane_row wanted, at; /* the cursor's; the job's */
	uint64_t rested;            /* since when the cursor is there, ns */
	struct result *shown;       /* the last answer, owned; of the row `shown_row` */
	struct pane_row shown_row;
	bool shown_quick;
	struct pane_row failed;     /* nothing more can be found of it */
	bool late;                  /* the answer takes long: what is shown of another row has gone */
	/* the job, and what only it uses while it runs */
	struct job job;
	bool running, quick;
	struct about *about;
	struct bits members;        /* of a row with members of its own; word NULL: none */
	char *title;
	struct result *found;
};

enum { PANE_GAP = 2 }; /* columns left of the right pane: the border and a blank */

/* What panes share with a list. */
struct pane_page {
	struct rect rect;
	size_t lines; /* that the list would fill; what a short one leaves is a pane's */
	int columns;  /* that it would fill */
};

/* The rectangles of a page: of the list, and of one or two panes (height 0: not there). */
struct pane_places {
	struct rect list, held, self; /* held: what holds it; self: what it is, and without held all of it */
};
struct pane_places panes_place(const struct panes *p, const struct pane_page *page);
/* Is there a pane in this page? */
bool panes_show(const struct panes *p, const struct pane_page *page);

/* v: the next layout that fits.  Returns what it is, in words. */
const char *panes_next_layout(struct panes *p, const struct pane_page *page);

/* The row of the table under the cursor is wanted from now on (NULL: none); wake_fd gets a byte when there is
 * something new.  o: its dump, whose references are there.  True: the panes are to be drawn. */
bool panes_want(struct panes *p, const struct opened *o, struct table *t, int wake_fd);
/* True once, when an answer has come: the screen is to be drawn. */
bool panes_poll(struct panes *p);
/* Is what is shown that of the row under the cursor? */
bool panes_know(const struct panes *p);
/* In how many milliseconds panes_want is to be called although nothing happened; -1: not. */
int panes_wait_ms(const struct panes *p);
/* Nothing of the dump is looked at any more, and nothing is shown. */
void panes_stop(struct panes *p);

/* panes_draw.c */
void panes_draw(struct panes *p, const struct pane_places *at);

#endif
