/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut_plan.h - the fewest references to clear so that so much is freed.
 *
 * Chosen one after another: what frees most of what is still wanted for each reference, and of those
 * that free enough the one that frees least beyond it.  A choice is a reference that alone keeps an
 * object, up to PLAN_TOGETHER references that do so together, or a field in all instances of a class
 * (where the dump names no fields: what instances of one class hold of another).  After each choice
 * the heap is walked without all chosen, so the total is exact, and in the end those go that are not
 * needed.  The number is the fewest this finds; fewer may do where only several choices together
 * free something that none frees alone.
 *
 * Never chosen is what nobody can clear: what the dump implies, roots that the VM keeps (system
 * classes, threads), references whose end unloads classes; nor, in all instances, a field of the
 * JDK's own classes.
 *
 * Any thread.  Near-linear for each choice.  Memory besides the tree's: 8 bytes an object, 8 more from
 * the second choice on.
 */
#ifndef CAIRN_ANALYSIS_CUT_CUT_PLAN_H
#define CAIRN_ANALYSIS_CUT_CUT_PLAN_H

#include "analysis/cut/cut.h"

enum { PLAN_TOGETHER = 8, PLAN_MOST = 32 };

struct plan_item {
	struct cut_edges edges; /* what is cleared */
	uint32_t target;        /* of a single one, or several together: the object; else HEAP_NONE */
	uint32_t class;         /* of a field: the class that declares it */
	const char *field;      /* NULL: what instances of class hold of those of to_class */
	uint32_t to_class;
	uint64_t freed;         /* by this one alone, exact */
	uint64_t total;         /* with those before it, exact */
};

struct cut_plan {
	struct plan_item *item; /* in the order of choice */
	size_t n, cap;
	uint32_t objects;       /* freed by all, exact */
	uint64_t bytes;
	bool reached;           /* bytes is what was wanted, or more */
};

/* 0, ERR_NOMEM or ERR_CANCELLED. */
int cut_plan_find(struct cut_plan *out, const struct retained *r, uint64_t wanted,
    struct progress *progress, struct err *err);
void cut_plan_release(struct cut_plan *p);

#endif
