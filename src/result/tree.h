/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.h - results whose rows are the nodes of a tree.
 *
 * A source numbers the nodes and gives the children of each.  Rows exist only for nodes whose
 * parent was opened, so the dominator tree of twenty million objects costs no more than its first
 * level.  Rows are numbered as in every result, so they print, filter and stand for %N like any
 * others.  tree_sort sorts siblings; result_sort makes a plain list of the rows that exist.
 *
 * If there is no memory for further rows, the tree stays as it is and the result remembers the
 * refusal (result_check).  One thread at a time.
 */
#ifndef CAIRN_RESULT_TREE_H
#define CAIRN_RESULT_TREE_H

#include "result/result.h"

#define TREE_TOP UINT32_MAX /* the node above the first level */
#define TREE_ALL UINT32_MAX /* as levels: open all of them */
#define TREE_WAY 32         /* nodes in one row */

struct tree_source {
	/* Make the children of a node, which is about to be opened.  0 or an error.  NULL: they are always
	 * there; else `children` tells of a node that was not opened only whether it has any: 0 or more. */
	int (*open)(const struct result *r, uint32_t node, struct err *err);
	/* Did `ready` find all of this node?  NULL: yes. */
	bool (*is_ready)(const struct result *r, uint32_t node);
	/* Are the children of a node made?  NULL: they are always there. */
	bool (*known)(const struct result *r, uint32_t node);
	/* The same as open, if the node counts no more than `most` objects and has no more below it; else nothing.  NULL:
	 * children are always there. */
	int (*open_small)(const struct result *r, uint32_t node, uint32_t most, struct err *err);
	/* Returns how many children a node has, and puts them into `to` unless that is NULL. */
	uint32_t (*children)(const struct result *r, uint32_t node, uint32_t *to);
	void (*cell)(const struct result *r, uint32_t node, unsigned column, struct cell *out,
	    struct text *scratch);
	void (*target)(const struct result *r, uint32_t node, struct target *out);
	/* Take a node that stands for several siblings apart, or put them together: children tells others of its
	 * parent then.  *shown: a node that has a row now.  0; ERR_NOT_FOUND, with a sentence: there is nothing to
	 * take apart.  NULL: nodes stand for themselves. */
	int (*regroup)(const struct result *r, uint32_t node, uint32_t *shown, struct err *err);
	/* A node is about to get a row: what takes long may be found out now.  An error only keeps it from being
	 * found out yet.  NULL: nothing does. */
	int (*ready)(const struct result *r, uint32_t node, struct err *err);
	/* The nodes that share the row of one, or did before they were given rows of their own, from the top down;
	 * way: room for TREE_WAY.  Returns how many; 0: there are none.  *apart: they have rows of their own.  NULL: no
	 * nodes share a row. */
	uint32_t (*way)(const struct result *r, uint32_t node, uint32_t *way, bool *apart);
	/* Give them rows of their own, or one to all of them again. */
	void (*turn_way)(const struct result *r, uint32_t node);
	/* Is the row a heading (result_heading)?  NULL: none is. */
	enum row_heading (*heading)(const struct result *r, uint32_t node);
	/* Set the bits in `to` of the objects that n nodes count.  0 or ERR_NOMEM.  NULL: nodes count
	 * what their targets imply. */
	int (*members)(const struct result *r, const uint32_t *nodes, size_t n, struct bits *to,
	    struct err *err);
	void (*release)(void *data); /* NULL: nothing */
	unsigned branch; /* the column that is indented to show the tree */
	unsigned weight; /* the column that says which child is the heaviest (tree_drop) */
	unsigned depth;  /* the column that tells how deep a row stands, which the tree knows; 0: there is none */
};

/*
 * A result over a source, which must outlive it; it takes data over.  at_once: so many children of
 * a node get a row at once, and one more row stands for the rest and opens more of them; 0: all get
 * a row.  tree_open_levels opens the tree so many levels deep; 1: only the first level.
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

/* The state of a row, by its position as shown.  False: the result is not a tree, or no tree any
 * more. */
bool tree_branch(const struct result *r, size_t row, struct branch *out);
bool tree_is(const struct result *r);
/* A number of its own for each row of a tree, which it keeps when the tree is sorted. */
uint64_t tree_key(const struct result *r, size_t row);
unsigned tree_column(const struct result *r); /* the source's branch */

/* Give the children of a row rows of their own, or take all rows below it away.  False: there was
 * nothing to do, or no memory. */
bool tree_open(struct result *r, size_t row);
bool tree_close(struct result *r, size_t row);
/* The sorted column of the row's largest sibling, itself included.  False: the rows are not sorted. */
bool tree_largest(const struct result *r, size_t row, struct cell *out, struct text *scratch);
/* Do rows stand for several nodes that can be taken apart? */
bool tree_has_groups(const struct result *r);
/* Take the row apart, or put it together with others; *row moves to the row that stands for it now.  Filters are
 * undone.  0, or what kept it from being done. */
MUST_CHECK int tree_regroup(struct result *r, size_t *row, struct err *err);
/* Does the row stand for several nodes, one below the other, or is it one of such a row that was taken apart? */
bool tree_is_way(const struct result *r, size_t row);
/* Take it apart, all its nodes in sight, or put it together again; *row moves to the first of them.  False: nothing
 * was done, or there is no memory. */
bool tree_turn_way(struct result *r, size_t *row);
/* The position of the row's parent; SIZE_MAX: it has none. */
size_t tree_parent(const struct result *r, size_t row);

/*
 * Open the row, then its heaviest child, and so on, as long as that child has most of its parent's
 * weight.  Returns the row where this ends: the accumulation point.  *deeper: it did not end within
 * the largest number of levels that one call opens.
 */
size_t tree_drop(struct result *r, size_t row, bool *deeper);

/*
 * Sort siblings everywhere.  What is open stays open; a filter is undone.  If that is stopped or there is no memory,
 * all stays as it is, and the result remembers why (result_check).
 */
void tree_sort(struct result *r, unsigned column, bool descending);
/* The same in two steps: the draft takes its time while the tree is looked at in turns (base/render_lock.h), and is
 * adopted before anything else changes.  NULL: ERR_NOMEM, ERR_CANCELLED. */
struct tree_draft;
struct tree_draft *tree_draft_sorted(const struct result *r, unsigned column, bool descending, struct err *err);
void tree_adopt(struct result *r, struct tree_draft *d); /* takes it over */
void tree_drop_draft(struct tree_draft *d);              /* NULL is fine */

#endif
