/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * about_rows.h - rows of one part of what about says, one a line: a name, a number with its bar, a value.
 *
 * In a pane they are below a heading, on the page of a class next to a word.  Main thread only.
 */
#ifndef CAIRN_VIEW_ABOUT_ROWS_H
#define CAIRN_VIEW_ABOUT_ROWS_H

#include "command/commands.h"
#include "view/draw.h"

struct about_rows {
	enum about_part part;
	size_t first, n;
	size_t shown;    /* of them, for which there is room */
	int number;      /* the column whose numbers they show, or -1 */
	int digits;      /* columns that these and its word need */
	double largest;  /* of these */
	int name;        /* columns that their names need */
	int value;       /* and values that are names, without packages */
};

/* The rows of the part that `first` belongs to, before `to`. */
struct about_rows about_rows_of(struct result *r, size_t first, size_t to);
/* Columns that all of a line wants. */
int about_rows_wish(const struct about_rows *rows);
/* Columns for their names in so many; heading: those that a text above the names needs. */
int about_rows_name(const struct about_rows *rows, int width, int heading);
/* A line; name: about_rows_name. */
void about_rows_draw(struct result *r, const struct about_rows *rows, size_t row, struct rect at, int name,
    bool selected);

#endif
