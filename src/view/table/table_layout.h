/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_layout.h - where the columns of a table stand in one frame; for the files of the table.
 */
#ifndef CAIRN_VIEW_TABLE_TABLE_LAYOUT_H
#define CAIRN_VIEW_TABLE_TABLE_LAYOUT_H

#include "view/table/table.h"

enum {
	COLUMN_GAP = 2,
	ROW_MARKER = 2,    /* "> " */
	SHARE_PERCENT = 6, /* " ~100%" */
	LOST_SIGN = 4,     /* "  +3" */
};

struct layout {
	unsigned column[TABLE_COLUMNS]; /* of the result, left to right */
	int x[TABLE_COLUMNS], width[TABLE_COLUMNS];
	unsigned n;
	int bar_x, bar; /* the share bar's place and width; 0: none */
	int percent_x;  /* 0: none */
	unsigned name;  /* index of the column that says what a row is */
	unsigned lost;  /* columns with values for which there is no room */
};

/* Look at the widths of the rows that are about to be drawn, of some more in the beginning, and of the sums. */
void table_measure(struct table *t, struct text *buffer);
void table_lay_out(struct table *t, struct layout *l, struct rect at);
/* Columns of the header behind its last word. */
int table_header_room(const struct table *t, const struct layout *l, struct rect at);
/* Does the row stand above others as their heading? */
bool table_is_heading(const struct table *t, size_t row);

#endif
