/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holders.h - the holders of a set of objects: their immediate dominators, summed by class.
 *
 * If the class of a dominator is to be skipped (a list's node, a map's entry, the list itself), the
 * next dominator up the tree whose class is not skipped takes its place.  A holder may be an object
 * of the set itself; what it holds is counted as held by it all the same.
 */
#ifndef CAIRN_ANALYSIS_HOLDERS_H
#define CAIRN_ANALYSIS_HOLDERS_H

#include "analysis/dominators/dominators.h"

struct holders_row {
	uint32_t class;             /* of the holders; HEAP_NONE: only the roots hold these objects */
	struct amount holders, held; /* objects, each once */
	struct amount holders_shallow, held_shallow; /* bytes */
	struct retained_sum retained; /* what the holders retain */
};

struct holders {
	struct holders_row *rows; /* in the order of class indices, the row of the roots last */
	size_t n;
	struct bits objects;      /* by id: the holders */
	uint64_t unreachable;     /* number of objects of the set that no root reaches */
};

/* Find the holders of n objects (ids ascending).  skip: a bit for each class; NULL: skip none.  0:
 * *out is the caller's (holders_release); or ERR_NOMEM.  Takes 4 bytes an object while it runs, and
 * each step up the tree once, so a chain of skipped objects costs no more than its length.  Any
 * thread. */
MUST_CHECK int holders_find(struct holders *out, const struct retained *r, const uint32_t *ids,
    size_t n, const struct bits *skip, struct err *err);
void holders_release(struct holders *h);

#endif
