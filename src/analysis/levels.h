/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * levels.h - the objects of a heap in the order of a walk that goes level by level, and through each level by id.
 *
 * So neither addresses of roots nor the order of fields decide which object comes first, and values are read in the
 * order of the dump's file.  Takes 4 bytes and a bit an object.  One thread.
 */
#ifndef CAIRN_ANALYSIS_LEVELS_H
#define CAIRN_ANALYSIS_LEVELS_H

#include "algorithms/bits.h"

struct levels {
	uint32_t *queue; /* levels one behind another */
	uint32_t n;      /* objects in it */
	struct bits next; /* those of the level that is being met */
};

/* For n_objects objects.  0 or ERR_NOMEM; levels_release in either case. */
MUST_CHECK int levels_init(struct levels *l, uint32_t n_objects, struct err *err);
void levels_release(struct levels *l);

/* Put an object into the level that is being met; once. */
static inline void levels_meet(struct levels *l, uint32_t id)
{
	cairn_assert(l->n < l->next.n);
	l->queue[l->n++] = id;
	bits_set(&l->next, id);
}

/* The level that is being met begins in the queue at start: put it in order, and begin the next one. */
void levels_order(struct levels *l, uint32_t start);

#endif
