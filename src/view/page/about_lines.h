/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * about_lines.h - what about says of the object or class of a page, as words on a line or two: the path from a root,
 * and what would be freed.
 *
 * Each word stands for a row of the answer and can be selected and opened.  Main thread only.
 */
#ifndef CAIRN_VIEW_PAGE_ABOUT_LINES_H
#define CAIRN_VIEW_PAGE_ABOUT_LINES_H

#include "command/commands.h"
#include "view/draw.h"
#include "view/keys.h"
#include "view/table/table.h"

enum { ABOUT_WORDS = 64 };

struct about_lines {
	struct result *result; /* owned; NULL: not known yet */
	struct table table;    /* over its rows: the selected one is that of the keyboard */
	uint64_t serial;       /* of the retained sizes that it was found with; 0: none */
	bool quick;            /* there will be more */
	struct about_word {
		size_t row;
		int y, x, width;
	} word[ABOUT_WORDS];   /* as drawn last, in the order of the cursor */
	size_t n;
};

/* Takes the answer over; the selected row stays where it is. */
void about_lines_take(struct about_lines *a, struct result *r, uint64_t serial, bool quick);
void about_lines_release(struct about_lines *a);

/* Before the lines of a frame are drawn. */
void about_lines_begin(struct about_lines *a);
/* "static Cache.MAP ─ 80.0K ─ HashMap ─ [0] ─ 1.3K ─ this": draws at most so many lines, and returns how
 * many; of a long path the middle goes.  active: the keyboard is on these words. */
int about_lines_path(struct about_lines *a, struct rect at, bool active);
/* "3 byte[] 1.1K ████ · 2 String 48 · 4 more", likewise. */
int about_lines_freed(struct about_lines *a, struct rect at, bool active);
/* Rows of a part, one a line: "60 × […] of Object[]   79.7K ██████ static Log.ENTRIES". */
int about_lines_rows(struct about_lines *a, struct rect at, enum about_part part, bool active);
/* Columns that those rows want; 0: nothing is known yet. */
int about_lines_width(struct about_lines *a, enum about_part part);

/* Move from word to word.  False: not an action of these. */
bool about_lines_action(struct about_lines *a, enum action action);
/* The keyboard comes to these words: to the first of them.  False: there are none. */
bool about_lines_enter(struct about_lines *a);
/* Select what was clicked. */
bool about_lines_click(struct about_lines *a, int y, int x);

#endif
