/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holders.h - who holds all these objects: their immediate dominators, summed by class.
 *
 * A dominator whose class is to be skipped (a list's node, a map's entry, the list itself) gives way
 * to its own dominator, and so on up the tree.  An object of the set stays its own holder's subject
 * even where that holder is of the set as well.
 */
#ifndef CAIRN_ANALYSIS_HOLDERS_H
#define CAIRN_ANALYSIS_HOLDERS_H

#include "analysis/dominators/dominators.h"

struct holders_row {
	uint32_t class;             /* of the holders; HEAP_NONE: nothing but the roots holds */
	struct amount holders, held; /* objects, each once */
	struct amount holders_shallow, held_shallow; /* bytes */
	struct retained_sum retained; /* by the holders */
};

struct holders {
	struct holders_row *rows; /* by class index, the roots last */
	size_t n;
	struct bits objects;      /* the holders */
	uint64_t unreachable;     /* objects of the set that nothing holds */
};

/* ids ascending, skip: a bit for each class, or NULL.  0 or ERR_NOMEM.  4 bytes an object while it
 * runs; every step up the tree is taken once, so chains of skipped classes cost no more than their
 * length.  Any thread. */
MUST_CHECK int holders_find(struct holders *out, const struct retained *r, const uint32_t *ids,
    size_t n, const struct bits *skip, struct err *err);
void holders_release(struct holders *h);

#endif
