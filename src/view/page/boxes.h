/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * boxes.h - bytes as boxes next to each other in one line: the bar of the overview, the bands over the heap's tree.
 *
 * boxes_place and boxes_words are pure functions (any thread), boxes_draw is for the main thread.
 */
#ifndef CAIRN_VIEW_PAGE_BOXES_H
#define CAIRN_VIEW_PAGE_BOXES_H

#include "base/text.h"
#include "view/draw.h"

#include <stdint.h>

enum { BOX_LEAST = 8 }; /* columns in which many a name fits */

struct box {
	int x, width; /* columns, the border at its right end included */
	size_t part;  /* that it is of; the number of parts: of all others together */
};

/* Boxes for n parts, the largest first, of a whole that takes `width` columns from x on.  A box ends where the bytes up
 * to its end do, rounded to a column.  A part that would have fewer than `least` columns shares the last box with those
 * after it, and with what `all` has beside the n parts.  What the whole has beside `all` gets no box.  The last box
 * takes one or two columns that are left, in which nothing could be said.  Bytes are below
 * 2^56; all is at least the parts' sum, and whole at least all, else they count as that.  to: room for n + 1.  Returns
 * how many. */
size_t boxes_place(const uint64_t *part, size_t n, uint64_t all, uint64_t whole, int x, int width, int least,
    struct box *to);

/* Append what a box of so many columns is called, and how large it is.  branch: as a row of the heap's tree says it,
 * "sessions  HashMap"; size, share: "80.0K", "37%"; NULL: not to be said.  With less room: without what holds less
 * news, down to the simple name of the field or class.  Nothing: there is no room for that. */
void boxes_words(const char *branch, const char *size, const char *share, int width, struct text *to);
/* How a box looks. */
enum box_look {
	BOX_BORDERED, /* a border at its right end */
	BOX_MARKED,   /* the same, and its columns have the attributes */
	BOX_FILLED,   /* they have, and a blank follows */
	BOX_PLAIN,    /* words alone */
};
/* words: where they do not fit, or are "", an ellipsis. */
void boxes_draw(int y, const struct box *b, enum box_look look, const char *words, attr_t attr);
/* Columns for its words. */
int boxes_room(const struct box *b);
/* The border at the right end of a box, in another line. */
void boxes_draw_border(int y, const struct box *b);

#endif
