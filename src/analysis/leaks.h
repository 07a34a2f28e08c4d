/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leaks.h - who keeps a large part of the heap, and where it piles up.
 *
 * A suspect is an object at the top of the dominator tree that retains more than a share of what is
 * reachable, or all objects of one class at the top that do so together.  From a suspect the way
 * leads down the tree as long as one child keeps nearly all; where it parts, the memory has
 * piled up: the accumulation point.  Where it parts into classes and loaders, or below one of these,
 * each large part is a suspect of its own, because these hold everything there is; nor are class objects
 * together a suspect.  A chain of objects
 * of one class has no such place; it piles up with who holds its first link.
 *
 * Pure functions of struct retained, any thread.
 */
#ifndef CAIRN_ANALYSIS_LEAKS_H
#define CAIRN_ANALYSIS_LEAKS_H

#include "analysis/dominators/dominators.h"

struct suspect {
	uint32_t id;         /* the object; of a group the one that retains most */
	uint32_t piles_up;   /* the accumulation point; of a group the same as id */
	bool chain;          /* a chain of objects of one class hangs there */
	uint32_t n;          /* objects of a group; 1 */
	uint32_t *ids;       /* of a group, ascending; NULL */
	struct amount retained; /* bytes; of a group the sum, a lower bound until someone puts what all free in
	                        its place */
};

struct leaks {
	struct suspect *suspect; /* the largest first */
	size_t n, cap;
	uint64_t least;          /* bytes that make one */
};

/* share: in percent, above 0.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int leaks_find(struct leaks *out, const struct retained *r, double share,
    struct progress *progress, struct err *err);
/* The largest first again, after sizes have changed. */
void leaks_sort(struct leaks *l);
void leaks_release(struct leaks *l);

#endif
