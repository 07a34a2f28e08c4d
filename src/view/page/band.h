/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * band.h - lines over the heap's tree: its first levels as boxes, as wide as what they retain, each over its children
 * (an icicle).  The box of the selected row is marked, and those that it is below.  For the pages' own files.
 *
 * The first line is there with the rows; the children of its boxes are found beside the screen and fill in.  Main
 * thread only, but for band_find.
 */
#ifndef CAIRN_VIEW_PAGE_BAND_H
#define CAIRN_VIEW_PAGE_BAND_H

#include "view/page/boxes.h"
#include "view/page/page.h"
#include "view/table/table.h"

enum { BAND_LINES = 3, BAND_BOXES = 65 };

struct band_box {
	struct box box;
	uint32_t node;   /* of the tree; TREE_TOP: the siblings that have no box of their own */
	uint64_t weight; /* of these 0 */
	size_t above;    /* the box of the line above that it is below */
	bool wants;      /* its words, or its children in the next line, are to be found */
};

struct band_line {
	struct band_box box[BAND_BOXES];
	size_t n;
};

struct band {
	struct rect at; /* drawn the last time; height 0: not */
	struct band_line line[BAND_LINES];
	uint64_t given_up; /* a hash of nodes with too many children to be found for this; 0: of none */
};

/* Draw it at the top of a page that has so much room, in a window of so many lines.  Returns the lines used: 0 where
 * there is no room for names, or the table is not the heap's tree.
 * overview: as page_draw_band. */
int band_draw(struct band *b, struct table *t, struct rect at, int window, struct page *overview);

/* Are there children to be found for what was drawn last? */
bool band_lacks(const struct band *b);
/* Find them, as a job on the table's result (session_on_shown).  0; ERR_CANCELLED, ERR_NOMEM. */
MUST_CHECK int band_find(struct band *b, const struct result *r, struct err *err);
/* Look for them no more. */
void band_give_up(struct band *b);

/* A click: the cursor goes to the row of the box; closed rows above it are opened.  False: there is no box, or its row
 * is filtered out. */
bool band_click(const struct band *b, struct table *t, int y, int x);

#endif
