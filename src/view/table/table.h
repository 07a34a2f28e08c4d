/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - a table over a result: columns by width, a selected row, sorting, filter, search.
 *
 * Holds positions and widths, never cells: what is drawn is asked of the result when it is drawn.
 * Rows are counted as shown, from 0.  Main thread only.
 */
#ifndef CAIRN_VIEW_TABLE_TABLE_H
#define CAIRN_VIEW_TABLE_TABLE_H

#include "command/session/session.h"
#include "result/tree.h"
#include "result/why.h"
#include "view/draw.h"
#include "view/keys.h"

#define TABLE_COLUMNS 64 /* more are not shown */

struct table {
	struct result *result; /* borrowed from the page */
	const struct session *session; /* runs what looks at many rows; NULL: that is just done */
	size_t row;            /* selected, unless on_head */
	bool has_head, on_head; /* a line above the rows can be selected as well, and is */
	size_t top;            /* first row drawn */
	size_t height;         /* rows drawn the last time: a page */
	int lines;             /* of the screen for rows, as drawn last */
	bool cards;            /* the result has cards, which are drawn unless columns were chosen (table_has_cards) */
	char *filter;          /* NULL: none */
	char *search;          /* NULL: none yet */
	size_t match, matches; /* the last search found this one of so many, from 1; 0: they were not counted */
	unsigned lost;         /* columns without room that the header does not report, as drawn last */
	unsigned left;         /* of columns that were chosen: so many beside the name are left of what is seen */
	bool more;             /* and there are others right of it, as drawn last */
	bool aside;            /* the keyboard is in a pane next to it */
	bool plain;            /* no header and no total row: half a page */
	char heading[48];      /* stands above a plain one, before the words of its columns with bytes; "": nothing does */
	int hidden;            /* column never shown, or -1 */
	int sentence;          /* column of whole sentences, shown below for the selected row; or -1 */

	int width[TABLE_COLUMNS]; /* columns needed, by all that was seen so far */
	int simple[TABLE_COLUMNS]; /* the same of names without their packages */
	int beside[TABLE_COLUMNS]; /* those that what stands beside its numbers needs, and the gap before it */
	size_t measured;          /* rows that went into it at the beginning */
	size_t seen, filled[TABLE_COLUMNS]; /* rows measured, and cells of them that say anything */
	bool shows[TABLE_COLUMNS];          /* a cell of them is not blank, a ? for one */
	uint32_t first_text[TABLE_COLUMNS]; /* hash of the first text seen, 0: none */
	bool varies[TABLE_COLUMNS];         /* another one was seen */
	int64_t longest;                    /* the largest number seen in a column that always has bars */
	struct rect at;                     /* drawn the last time */
	/* sums: of the rows shown, and of all rows; found in slices when there are many rows */
	struct cell total[TABLE_COLUMNS], whole[TABLE_COLUMNS];
	size_t summed;            /* rows in total[] so far */
	bool have_whole;
	bool old_whole;           /* numbers became known since */
	/* while a filter works and what it keeps is looked at: */
	struct result *behind;    /* what was shown; NULL: that is not so */
	size_t row_behind, top_behind;
};

void table_init(struct table *t, struct result *result);
void table_release(struct table *t);

/* Which columns fit at its place now: keys may move through them before they are drawn. */
void table_settle_columns(struct table *t);
void table_draw(struct table *t, struct rect at, bool has_keyboard);

/* Are rows drawn as cards, with texts on lines below each (enum column_card)?  And may those of a new table be? */
bool table_has_cards(const struct table *t);
bool table_result_has_cards(const struct result *r);
/* Lines that its cards need in this rectangle; about `most`, if they are more. */
int table_cards_lines(const struct table *t, struct rect at, int most);
/* The column of whole sentences to show below for the selected row; -1: none, or cards say it. */
int table_sentence(const struct table *t);

/* Is the share of the column that it is sorted by shown, where there is room? */
bool table_wants_share(const struct table *t);
/* Is the row a part of that whole?  In a tree those of an open branch are, of the branch. */
bool table_is_of_sum(const struct table *t, size_t row);
/* What is drawn beside the cells of the selected row: its share of the whole, and the sums below.  to: room for
 * TABLE_COLUMNS + 1.  Returns how many. */
size_t table_beside(const struct table *t, struct why_value *to);

/* Append the share of a row's number in the sum of its column, as it is drawn beside the bar; nothing until that sum is
 * known. */
void table_add_percent(const struct table *t, unsigned column, const struct cell *part, struct text *to);

/* How many columns of the screen it would fill, by the rows seen so far. */
int table_wishes(struct table *t);

/* Is there room for this column, as the table was drawn last? */
bool table_sees(struct table *t, unsigned column);

/* Move, sort, next match.  False: not an action of tables.  *message gets a sentence or stays. */
bool table_action(struct table *t, enum action action, const char **message);

/* Sort the rows shown; in a tree those of each branch.  As all that follows: when it is stopped or there is no
 * memory, what was shown still is, and table_trouble tells. */
void table_sort(struct table *t, unsigned column, bool descending);

/* What the last of these could not do, away from it: true, and *message is its sentence. */
bool table_trouble(struct table *t, const char **message);

/* Retained sizes became known: sum and order by them again. */
void table_filled(struct table *t);

/* A click into the rectangle the table was last drawn in.  True: it selected a row.  On the word over a column it
 * sorts by that, and once more the other way round. */
bool table_click(struct table *t, struct rect at, int y, int x);
/* Move what is seen, and the selected row with it. */
void table_scroll(struct table *t, size_t rows, bool up);
/* For table.c: is there a line of headers; and the column whose header is at x, or -1. */
bool table_has_header(const struct table *t, struct rect at);
int table_column_at(struct table *t, struct rect at, int x);
/* For table.c and table_draw.c: the row selected is among those drawn.  Of every step at once, so that keys which
 * came faster than the screen is drawn show what slow ones do. */
void table_show_selected(struct table *t);
/* Select a row, and show it. */
void table_select(struct table *t, size_t row);

/* Does typing into the filter narrow at once?  (Not with very many rows: then on Enter.) */
bool table_filters_live(const struct table *t);
/* "" or NULL: all rows.  False: they are shown as before, or if it is a tree, all. */
bool table_filter(struct table *t, const char *words);

/* While table_filter works: show what is kept so far of the rows that it arranges, once there is any. */
void table_look(struct table *t, const struct result *growing);

/* Another table showed the first of these rows: stand where one stood there. */
void table_go_on(struct table *t, const struct table *left);

/* Append a column's title as people write it, as wide as its word: "file size", "Δ retained".  A column that a
 * question names keeps its name. */
void table_add_title(const struct column *column, struct text *to);
/* Select the next row from the selected one on (it included with here) that matches; wraps. */
bool table_search(struct table *t, const char *words, bool here, bool backwards);

/* Append where the words stand in the selected row, if they are not all seen there: "number: 4711000123". */
void table_tell_match(struct table *t, const char *words, struct text *to);

/* Open the selected branch; down the heaviest ones (tree_drop).  For table.c, as the next one. */
bool table_open_branch(struct table *t);
size_t table_drop_branch(struct table *t, bool *deeper);
/* Take the selected row of several apart, or put it together.  False: *message says why not. */
bool table_regroup(struct table *t, const char **message);
/* Take the selected row apart if it goes on in others, or put those together.  False: *message says why not. */
bool table_turn_way(struct table *t, const char **message);
/* Other rows are shown: sum anew. */
void table_restart_sums(struct table *t);

/* Sum on for a while.  True: there is more to do, call again. */
bool table_work(struct table *t);

#endif
