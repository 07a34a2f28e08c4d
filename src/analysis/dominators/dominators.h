/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators.h - who keeps what alive, and how much.
 *
 * An object d dominates an object o when every path from a GC root to o leads through d.  The
 * nearest such d is o's immediate dominator; they form a tree under one virtual root.  The retained
 * size of d is the sum of the shallow sizes of its subtree: what would be freed with it.
 *
 * References are those of heap_reach: recorded and implied ones, all of them strong unless
 * heap_left_out says otherwise.  What a thread's stack holds hangs under the thread's object, where
 * that is a root of its own; the same objects are reached either way.
 *
 * Pure functions of a heap, any thread.  Time is m log n for n objects and m references whatever the
 * heap's shape; memory while it runs 17 bytes an object, 20 more for one that several objects refer to, and
 * one or two, at most five, for one whose class object is no root; afterwards 12.
 */
#ifndef CAIRN_ANALYSIS_DOMINATORS_DOMINATORS_H
#define CAIRN_ANALYSIS_DOMINATORS_DOMINATORS_H

#include "base/err.h"
#include "base/progress.h"
#include "heap/heap.h"

#include <stdint.h>

#define DOMINATED_BY_ROOTS UINT32_MAX       /* in immediate: several roots reach it, or it is one */
#define NOT_REACHABLE (UINT32_MAX - 1)      /* in immediate */

struct dominators {
	uint32_t n_objects;
	uint32_t *immediate; /* by object id: id of the immediate dominator, or one of the above */
	uint64_t *retained;  /* by object id: bytes; 0 for what is not reachable */
	uint32_t n_reachable;
	uint64_t shallow_reachable;
};

/* The object of the thread that holds this root in place of the VM, or HEAP_NONE: it stands on that
 * thread's stack, and the thread is a root by more than some stack. */
uint32_t dominators_stack_owner(const struct heap *h, const struct heap_root *root);

/* 0, ERR_NOMEM or ERR_CANCELLED. */
int dominators_find(struct dominators *out, const struct heap *h, struct progress *progress,
    struct err *err);
void dominators_release(struct dominators *d);

#endif
