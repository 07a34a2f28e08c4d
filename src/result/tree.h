/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.h - results whose rows stand in a tree.
 *
 * A source numbers its nodes and tells the children of one.  Rows exist only for what was opened, so
 * that the dominator tree of twenty million objects costs its first level.  Rows are numbered as in
 * every result, so they print, filter and stand for %N like any others.  Sorting a tree with
 * tree_sort orders siblings; result_sort makes a plain list of the rows that exist.
 *
 * Where there is no memory for further rows all stays as it is, and the result remembers it
 * (result_check).  Main thread only.
 */
#ifndef CAIRN_RESULT_TREE_H
#define CAIRN_RESULT_TREE_H

#include "result/result.h"

#define TREE_TOP UINT32_MAX /* the node above the first level */
#define TREE_ALL UINT32_MAX

struct tree_source {
	/* The children of a node, into to unless that is NULL; their number. */
	uint32_t (*children)(const struct result *r, uint32_t node, uint32_t *to);
	void (*cell)(const struct result *r, uint32_t node, unsigned column, struct cell *out,
	    struct text *scratch);
	void (*target)(const struct result *r, uint32_t node, struct target *out);
	/* The objects that some nodes count, into to; NULL: what their targets imply. */
	int (*members)(const struct result *r, const uint32_t *nodes, size_t n, struct bits *to,
	    struct err *err);
	void (*release)(void *data); /* NULL: nothing */
	unsigned branch; /* column in which people see the tree */
	unsigned weight; /* column that says which child is the heaviest */
};

/*
 * source must outlive the result, which takes data over.  at_once: of many children so many get a
 * row, and one more row opens further ones; 0: all.  levels: how deep it is open at first, 1: only
 * the first level.
 */
struct result *tree_result(const char *title, const struct opened *opened, const struct shape *shape,
    const struct tree_source *source, void *data, uint32_t at_once);
void tree_open_levels(struct result *r, uint32_t levels);
void *tree_data(const struct result *r);

enum branch_state {
	BRANCH_LEAF,
	BRANCH_CLOSED,
	BRANCH_OPEN,
	BRANCH_REST, /* stands for the children that have no row yet; opening it gives them some */
};
struct branch {
	enum branch_state state;
	uint32_t depth; /* 0: of the first level */
};

/* Row as shown.  False: the result is no tree (any more). */
bool tree_branch(const struct result *r, size_t row, struct branch *out);
bool tree_is(const struct result *r);
unsigned tree_column(const struct result *r);

/* What was given no row was, or is taken away.  False: nothing was to do, or no memory. */
bool tree_open(struct result *r, size_t row);
bool tree_close(struct result *r, size_t row);
/* The row that this one stands below, or SIZE_MAX. */
size_t tree_parent(const struct result *r, size_t row);

/*
 * Open from a row on the heaviest child, and its heaviest one, as long as it has most of its parent's
 * weight: the row returned is where that ends, the accumulation point.  *deeper: not yet, after very
 * many levels.
 */
size_t tree_drop(struct result *r, size_t row, bool *deeper);

/* Order siblings everywhere; what is open stays open, a filter goes. */
void tree_sort(struct result *r, unsigned column, bool descending);

#endif
