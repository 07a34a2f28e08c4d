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
	struct cell *rest; /* sums over those not shown; NULL: there are none, or nobody asked yet */
	const struct retained *known; /* that went into these */
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

/* The children of a node as the result is sorted, of which the first ones get rows, and the sums of the others.
 * 0 or an error, then *out has nothing.  Takes its time, in turns (base/render_lock.h): nothing that others look at
 * changes. */
MUST_CHECK int tree_fill_list(const struct result *r, uint32_t node, struct list *out, struct err *err);
/* Find what the children from number `from` on come to, which then are those without a row.  False: it was stopped. */
bool tree_sum_rest(const struct result *r, struct list *l, uint32_t from);
/* Its nodes from number `from` on that have rows, or get them, are about to be looked at. */
void tree_ready(const struct result *r, const struct list *l, uint32_t from);
/* The number of the list of a node's children; NO_LIST: no memory, which the result remembers. */
uint32_t tree_new_list(struct result *r, uint32_t node);
void tree_free_list(struct list *l);
/* The row of the source that stands at this place as shown. */
size_t tree_source_row(const struct result *r, size_t row);
/* All rows anew: what is open stays open, else so many levels are. */
void tree_make_rows(struct result *r, uint32_t levels);

#endif
