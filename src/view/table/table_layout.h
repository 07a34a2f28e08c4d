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
	int bar_of;     /* the column that has bars: the sorted one, or one that always has; -1: none */
	int bar_x, bar; /* their place and width; 0: none */
	int percent_x;  /* 0: none */
	bool beside;    /* what stands beside numbers is shown */
	unsigned name;  /* index of the column that says what a row is */
	unsigned lost;  /* columns with values for which there is no room */
};

/* Append what is seen of a cell: with bars types are simple names. */
void table_print(const struct table *t, unsigned column, const struct cell *cell, struct text *to);
/* Look at the widths of the rows that are about to be drawn, of some more in the beginning, and of the sums. */
void table_measure(struct table *t, struct text *buffer);
void table_lay_out(struct table *t, struct layout *l, struct rect at);
/* Does the column always have bars, whatever the rows are sorted by? */
/* Has what rows retain a bar, as its only column?  Of fields it stands before their values. */
bool table_retains_bars(const struct table *t);
/* A cell as it is drawn: a course without blocks and arrows where the terminal has none. */
void table_cell(const struct table *t, size_t row, unsigned column, struct cell *out);
/* Columns of the header behind its last word. */
int table_header_room(const struct table *t, const struct layout *l, struct rect at);
/* The column from which a row has the rest of the line, as a heading; -1: it is none. */
int table_heading_column(const struct table *t, size_t row);

/* table_cards.c: keep the selected card in sight; how many are seen whole, at least 1; the card on a line below the
 * header (SIZE_MAX: none); and draw what stands below the line of a row, from line y on: returns its lines. */
void table_show_card(struct table *t);
size_t table_cards_seen(const struct table *t);
size_t table_card_at(const struct table *t, int line);
int table_draw_below(const struct table *t, struct rect at, int y, size_t row);
bool table_is_dim_card(const struct table *t, size_t row);
/* Is it a column in front of a card that needs no word above it? */
bool table_is_card_text(const struct table *t, unsigned column);

#endif
