/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * panes.h - panes next to a list: what the selected row is, what holds it, what to cut (the command about).
 *
 * Found on a thread of its own once the cursor has rested on a row, first what is quick and then the rest,
 * and dropped when the cursor moves on.  Until the answer is there the one before it stays under its own title, which
 * is dim, and is dim itself when that takes longer; a row of which nothing can be found has an empty pane.  Main thread
 * only.
 */
#ifndef CAIRN_VIEW_PANES_PANES_H
#define CAIRN_VIEW_PANES_PANES_H

#include "view/jobs/jobs.h"
#include "view/draw.h"
#include "view/table/table.h"

/* What v chooses; if the window has no room for one, the next smaller one that fits. */
enum layout { LAYOUT_AUTO, LAYOUT_LIST, LAYOUT_RIGHT, LAYOUT_BELOW, LAYOUT_THREE, LAYOUTS };

/* The pane of what holds the row, where it has one of its own, and that of all else. */
enum pane_side { PANE_NONE, PANE_HELD, PANE_SELF, PANE_SIDES };

/* A line of the screen that shows a row. */
struct pane_line {
	int y;
	enum pane_side side;
	size_t row;
};

enum { PANE_GAP = 2 }; /* columns left of the right pane: the border and a blank */

/* What panes share with a list. */
struct pane_page {
	struct rect rect;
	size_t lines; /* that the list would fill; what a short one leaves is a pane's */
	int columns;  /* that it would fill */
	bool empty;   /* it has no rows, or no row of it is selected */
	bool object;  /* it is the page of an object, which has a pane of its own for what holds that */
};

/* The rectangles of a page: of the list, and of one or two panes (height 0: not there). */
struct pane_places {
	struct rect list, held, self; /* held: what holds it; self: what it is, and without held all of it */
};

struct panes {
	enum layout layout;
	const struct opened *opened;
	uint64_t serial;            /* of the retained sizes that answers are about; 0: none */
	struct about_subject wanted; /* of the cursor's row; TARGET_NONE: no pane can show it */
	uint64_t rested;            /* since when the cursor is there, ns */
	struct result *shown;       /* the last answer, owned; of the row `shown_row` */
	struct about_subject shown_row;
	bool shown_quick;
	struct about_subject failed;     /* nothing more can be found of it */
	uint64_t behind;            /* since when `shown` is of another row, ns; 0: it is not */
	bool faded;                 /* that is so for a while: all of it is dim */
	bool late;                  /* the answer takes long: what is shown of another row has gone */
	enum pane_side focus;       /* where the keyboard is; PANE_NONE: in the list */
	size_t row;                 /* of `shown`: the cursor's, with focus */
	size_t top[PANE_SIDES];     /* lines above what is seen of a pane that is scrolled */
	char *search;               /* NULL: none yet */
	struct pane_places drawn;   /* where they are, as drawn last */
	struct pane_line *line;
	size_t n_lines, cap_lines;
	struct about_job find;
};

struct pane_places panes_place(const struct panes *p, const struct pane_page *page);
/* Is there a pane in this page? */
bool panes_show(const struct panes *p, const struct pane_page *page);

/* v: the next layout that fits.  Returns what it is, in words. */
const char *panes_next_layout(struct panes *p, const struct pane_page *page);

/* The row of the table under the cursor is wanted from now on (NULL: none); wake_fd gets a byte when there is something
 * new.  o: its dump, whose references are there.  True: the panes are to be drawn. */
bool panes_want(struct panes *p, const struct opened *o, struct table *t, int wake_fd);
/* Another row is under the cursor, and panes_want is not called for now. */
void panes_look_away(struct panes *p);
/* True once, when an answer has come: the screen is to be drawn. */
bool panes_poll(struct panes *p);
/* After an answer has come: the table (NULL: none) that it is about shows what the row retains exactly, too. */
void panes_note_exact(const struct panes *p, struct table *t);
/* Is what is shown that of the row under the cursor? */
bool panes_know(const struct panes *p);
/* Can nothing be found of that row? */
bool panes_lack(const struct panes *p);
/* In how many milliseconds panes_want is to be called although nothing happened; -1: not. */
int panes_wait_ms(const struct panes *p);
/* Nothing of the dump is looked at any more, and nothing is shown. */
void panes_stop(struct panes *p);

/* panes_draw.c: also notes which line shows which row. */
void panes_draw(struct panes *p, const struct pane_places *at);

/* panes_focus.c: the keyboard and the mouse in them */
/* Is the keyboard in a pane, on a row of `shown`? */
bool panes_focused(const struct panes *p);
/* Into the next of the panes, or out of the last one: then, and where nothing is to be seen in any, false. */
bool panes_next_side(struct panes *p);
void panes_leave(struct panes *p);
/* Move in the pane.  False: not an action of panes. */
bool panes_action(struct panes *p, enum action action);
/* To the next row of both panes that has these words, from the cursor on (it included with here); wraps. */
bool panes_search(struct panes *p, const char *words, bool here, bool backwards);
/* Another answer about the same row takes the place of `shown`: stay where the cursor is. */
void panes_follow(struct panes *p, struct result *next);
/* The pane at this place of the screen; PANE_NONE: there is none. */
enum pane_side panes_at(const struct panes *p, int y, int x);
/* The wheel over a pane. */
void panes_scroll(struct panes *p, enum pane_side side, size_t lines, bool up);
/* A click: the keyboard goes to that row.  False: there is none. */
bool panes_click(struct panes *p, int y, int x);
/* The rows of a pane: from `from` to before `to`. */
void panes_rows(const struct panes *p, enum pane_side side, size_t *from, size_t *to);

#endif
