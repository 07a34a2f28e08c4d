/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_rows.h - what a tree is made of: lists of children, and the rows of those that are open; for tree.c and
 * tree_open.c.
 */
#ifndef CAIRN_RESULT_TREE_ROWS_H
#define CAIRN_RESULT_TREE_ROWS_H

#include "result/result.h"

struct tree_source; /* tree.h */

#define REST UINT32_MAX       /* as node of a row: the rest of its list */
#define NO_LIST UINT32_MAX

struct list {
	uint32_t *node;
	uint32_t n, shown;
	struct cell *rest; /* sums over those not shown; NULL: not asked for yet */
};

struct tree_row {
	uint32_t node;  /* or REST */
	uint32_t depth;
	uint32_t list;  /* in which it stands */
	uint32_t below; /* the list of its children, or NO_LIST: closed */
};

struct tree {
	const struct tree_source *source;
	void *data;
	uint32_t at_once;
	struct list *list;
	size_t n_list, cap_list;
	struct tree_row *row;
	size_t n_row, cap_row;
};

/* Rows of the list came or went: its sums are to be found anew. */
void tree_forget_rest(struct list *l);
/* As the result is sorted. */
void tree_sort_list(struct result *r, struct list *l);
/* The number of the list of a node's children; NO_LIST: no memory, which the result remembers. */
uint32_t tree_new_list(struct result *r, uint32_t node);
void tree_free_list(struct list *l);
/* The row of the source that stands at this place as shown. */
size_t tree_source_row(const struct result *r, size_t row);
/* All rows anew: what is open stays open, else so many levels are. */
void tree_make_rows(struct result *r, uint32_t levels);

#endif
