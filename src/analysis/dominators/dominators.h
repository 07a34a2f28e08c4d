/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators.h - who keeps what alive, and how much.
 *
 * An object d dominates an object o when every path from a GC root to o leads through d.  The
 * nearest such d is o's immediate dominator; they form a tree under one virtual root.  The retained
 * size of d is the sum of the shallow sizes of its subtree: what would be freed with it.
 *
 * References are those of heap_reach: recorded and implied ones, all of them strong unless
 * the model leaves some out.  What a thread's stack holds hangs under the thread's object, where
 * that is a root of its own; the same objects are reached either way.
 *
 * Pure functions of a heap, any thread.  Time is m log n for n objects and m references whatever the
 * heap's shape; memory while it runs 17 bytes an object, 20 more for one that several objects refer to, and
 * one or two, at most five, for one whose class object is no root; afterwards 12.
 */
#ifndef CAIRN_ANALYSIS_DOMINATORS_DOMINATORS_H
#define CAIRN_ANALYSIS_DOMINATORS_DOMINATORS_H

#include "base/bits.h"
#include "heap/amounts.h"
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
MUST_CHECK int dominators_find(struct dominators *out, const struct model *m,
    struct progress *progress, struct err *err);
void dominators_release(struct dominators *d);

/* --- the tree from top to bottom, and what classes and other groups retain (retained.c) ---------- */

/*
 * What a group (a class, a package, a loader, a set) retains is the sum over its topmost members, those
 * that have no other member above them in the tree, so that nothing counts twice.  What several members
 * hold jointly, so that none of them dominates it, is not in it, but would be freed with all of them.
 * So with several topmost members it is a lower bound, as in Eclipse MAT's histogram, unless joint.h's
 * proof says that their classes hold nothing jointly; with one it is exact: that one's retained size.
 * cut_find tells exactly what goes with all members, by a walk through the heap.
 *
 * Sizes come first; what asks for nothing else can do without the lists of children, 8 bytes an
 * object, and the sums by class, which retained_complete adds.  Immutable otherwise; any thread.
 */
struct retained_sum {
	uint64_t bytes;   /* retained by the topmost members */
	uint64_t topmost; /* how many these are */
	bool joint;       /* they may hold something jointly */
};

struct retained {
	const struct heap *heap; /* of the model */
	struct model model; /* what it is true of */
	uint64_t serial;    /* another one for each that was found: what is summed from it goes with it */
	struct dominators dominators;
	struct bits maybe;  /* unreachable, but the bytes of stack frames lead there (heap.in_frames);
	                       word NULL: none */
	uint32_t *first;    /* by id, n_objects + 2: children of id are child[first[id]] …
	                       child[first[id + 1] - 1]; of the roots likewise with n_objects; NULL: not
	                       complete */
	uint32_t *child;    /* ids, ascending among the children of one object */
	struct retained_sum *by_class; /* by class index: its instances; NULL: not complete */
	struct bits joint;  /* by class index: its instances may hold something jointly, or with others */
};

/* 0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int retained_find(struct retained *out, const struct model *m,
    struct progress *progress, struct err *err);
/* Lists and sums, unless they are there.  The same codes; the sizes stay in any case. */
MUST_CHECK int retained_complete(struct retained *r, struct progress *progress, struct err *err);
void retained_release(struct retained *r);

/* The objects at the top of the tree, ids ascending: *ids is big memory of *n.  0 or ERR_NOMEM. */
MUST_CHECK int retained_top(const struct retained *r, uint32_t **ids, uint32_t *n, struct err *err);

/* Children of an object, or of the roots with HEAP_NONE, ids ascending; of a complete one. */
const uint32_t *retained_children(const struct retained *r, uint32_t id, uint32_t *n);
/* How many each of a few objects has, without making lists.  0 or ERR_NOMEM. */
MUST_CHECK int retained_count_children(const struct retained *r, const uint32_t *ids, size_t n,
    uint32_t *counts, struct err *err);

/*
 * What groups of objects retain: group is by class index (HEAP_NONE: in none; NULL: each class is its
 * own), only (NULL: all) limits them to some objects.  within: by group, the one that it is a part of,
 * of a smaller number, or HEAP_NONE; NULL: there are no parts.  sums: n_groups, filled.
 */
MUST_CHECK int retained_by_group(const struct retained *r, const uint32_t *group,
    uint32_t n_groups, const uint32_t *within, const struct bits *only,
    struct retained_sum *sums, struct progress *progress, struct err *err);
/* Adds what a topmost member retains. */
void retained_sum_add(const struct retained *r, struct retained_sum *sum, uint32_t id);
/* Is the sum just what would be freed with all members?  false: at least it. */
bool retained_sum_exact(const struct retained *r, const struct retained_sum *sum);
/* Its bytes: a lower bound where it is not, and less sure where sizes or roots are. */
struct amount retained_sum_bytes(const struct retained *r, const struct retained_sum *sum);

/* What an object retains, in bytes: what would be freed with it. */
struct amount retained_of(const struct retained *r, uint32_t id);
/* How many objects these are, found by a walk through them; of a complete one. */
struct amount retained_objects_of(const struct retained *r, uint32_t id);
/* All that is reachable, in bytes. */
struct amount retained_of_all(const struct retained *r);

#endif
