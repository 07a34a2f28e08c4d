/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_tree.h - what the files that prove a heap's promises and its dominator tree share; private to this folder.
 */
#ifndef CAIRN_ANALYSIS_CHECK_CHECK_TREE_H
#define CAIRN_ANALYSIS_CHECK_CHECK_TREE_H

#include "analysis/check/check.h"

struct span {
	uint32_t from, to; /* an object's number from top to bottom, and the last one below it */
};

struct tree {
	const struct heap *h;
	const struct retained *r;
	const struct weak_references *left_out;
	struct span *span; /* by id; {0, 0}: not in the tree */
	uint32_t *order;   /* by number: the id; [0] is not used */
	uint32_t n;        /* objects in the tree */
	struct progress *progress; /* a round of tree_edges adds the heap's objects */
};

/* Are `above` and `below` the same object, or does `below` hang below `above`? */
static inline bool tree_holds(const struct tree *t, uint32_t above, uint32_t below)
{
	return t->span[above].from <= t->span[below].from && t->span[below].from <= t->span[above].to;
}

/* Call visit for every reference that counts: recorded and implied ones except those that are left
 * out, a loader's hold on classes, and what threads hold.  from HEAP_NONE: `to` is a root.  Ends
 * early when the check was asked to stop. */
typedef void tree_edge(void *context, uint32_t from, uint32_t to);
/* They come in so many parts, which several threads may walk, each with a context of its own. */
unsigned tree_parts(const struct tree *t);
void tree_edges(const struct tree *t, unsigned part, tree_edge *visit, void *context);

/* Add the checks that addresses ascend and lead back to their objects.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int check_addresses(
    struct checks *to, const struct heap *h, struct progress *progress, struct err *err);
/* Add the check that no object dominates a sibling.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int check_siblings(struct checks *to, const struct tree *t, struct err *err);

#endif
