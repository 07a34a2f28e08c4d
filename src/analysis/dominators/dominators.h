/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators.h - the dominator tree and retained sizes.
 *
 * An object d dominates an object o when every path from a GC root to o leads through d.  The
 * nearest such d is o's immediate dominator; they form a tree under one virtual root.  The retained
 * size of d is the sum of the shallow sizes of its subtree: what would be freed with it.
 *
 * References are those of heap_reach: recorded and implied ones.  All of them count as strong,
 * except those that the model leaves out.  What a thread's stack holds hangs under the thread's
 * object if that object is a root by itself; the same objects are reachable either way.
 *
 * Pure functions of a model, any thread.  Finding the tree takes m log n steps for n objects and m
 * references, whatever the heap's shape.  While it runs it takes 5 bytes an object, 12 more for one that is not closed
 * (dominance.h), 8 more for one that several others reference, and one or two (at most five) for an
 * object whose class object is not a root; before that, 16 for each object on the deepest way that has more than
 * one reference to follow.  The result takes 8 bytes an object, one more for more than 4 GiB, four for more than 1 TiB,
 * and at most 5 more while it is summed up.
 */
#ifndef CAIRN_ANALYSIS_DOMINATORS_DOMINATORS_H
#define CAIRN_ANALYSIS_DOMINATORS_DOMINATORS_H

#include "algorithms/bits.h"
#include "algorithms/narrow.h"
#include "base/amount.h"
#include "base/err.h"
#include "base/progress.h"
#include "heap/adjacency.h"
#include "heap/references.h"

#include <stdint.h>

struct heap_root;
struct model;

#define DOMINATED_BY_ROOTS UINT32_MAX       /* in immediate: no single object dominates it, or it is
                                               a root */
#define NOT_REACHABLE (UINT32_MAX - 1)      /* in immediate */

struct dominators {
	uint32_t n_objects;
	uint32_t *immediate; /* by object id: id of the immediate dominator, or one of the two above */
	struct narrow retained; /* by object id: see dominators_retained */
	uint32_t n_reachable;
	uint64_t shallow_reachable; /* bytes */
};

/* What an object retains, in bytes; 0 for what is not reachable. */
static inline uint64_t dominators_retained(const struct dominators *d, uint32_t id)
{
	return narrow_get(&d->retained, id);
}

/* It is asked for soon. */
static inline void dominators_look_ahead(const struct dominators *d, uint32_t id)
{
	narrow_look_ahead(&d->retained, id);
}

/* The id of the thread object under which this root hangs in the tree: the root stands on that
 * thread's stack, and the thread object is a root by more than some stack.  HEAP_NONE: there is no
 * such thread, so the VM itself holds the root. */
uint32_t dominators_stack_owner(const struct heap *h, const struct heap_root *root);

/* Find the tree and the retained sizes.  0: *out is the caller's (dominators_release).  ERR_NOMEM
 * or ERR_CANCELLED: *out is empty. */
MUST_CHECK int dominators_find(struct dominators *out, const struct model *m,
    struct progress *progress, struct err *err);
void dominators_release(struct dominators *d);

/* --- the tree from top to bottom, and what classes and other groups retain (retained.c) ---------- */

/*
 * The retained size of a group (a class, a package, a loader, a set) is summed over its topmost
 * members: those with no other member above them in the tree, so that nothing counts twice.  Some
 * objects may be held by several members *jointly*: none of the members dominates them, but they
 * would be freed if all members went.  The sum leaves these objects out.  With one topmost member
 * the sum is exact, since it is that member's retained size.  With several it is a lower bound, as
 * in Eclipse MAT's histogram, unless joint.h proves that their classes hold nothing jointly.
 * what_if_find and what_if_classes (what_if/what_if.h) compute exactly what is freed with all members, by a walk
 * through the heap.
 *
 * retained_find gives the sizes of objects.  retained_list adds the lists of children (6 bytes
 * an object), retained_complete the sums by class, for those who need them.  Whoever finds exactly what a class
 * retains notes it.  Nothing else changes a struct retained; any thread may read it and note.
 */
struct retained_sum {
	uint64_t bytes;   /* retained by the topmost members */
	uint64_t topmost; /* how many topmost members there are */
	bool joint;       /* they may hold something jointly */
	uint8_t doubts;   /* enum size_doubt of what they retain */
};

struct retained {
	const struct heap *heap; /* of the model */
	struct model model; /* what the sizes are true of */
	enum reason doubt;  /* why unreachable objects may be alive, and retain an unknown size: maybe_live.h */
	uint64_t serial;    /* different for each struct retained that was found: a sum keeps it, so that a sum
	                       of an older one is recognised */
	struct dominators dominators;
	struct bits unsure; /* objects that retain one of unsure size; word NULL: all do, or none (heap->size_doubts) */
	struct adjacency children; /* their ids ascend; those of the roots are those of id n_objects.  target NULL: not
	                       complete */
	struct retained_sum *by_class; /* by class index: of its instances; NULL: not complete */
	_Atomic uint64_t *exact; /* by class index: what retained_note_class noted; NULL: no room for notes */
	struct bits joint;  /* by class index: its instances may hold something jointly, among
	                       themselves or with others */
};

/* Find the retained sizes of objects.  0: *out is the caller's (retained_release); ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int retained_find(struct retained *out, const struct model *m,
    struct progress *progress, struct err *err);
/* Add lists of children, unless they are there.  0, ERR_NOMEM or ERR_CANCELLED; the sizes stay true in any case. */
MUST_CHECK int retained_list(struct retained *r, struct progress *progress, struct err *err);
/* Add lists of children and sums by class, unless they are there.  As retained_list. */
MUST_CHECK int retained_complete(struct retained *r, struct progress *progress, struct err *err);
void retained_release(struct retained *r);

/* Retained sizes in an index (heap/index_file/index_file.h; retained_saved.c): retained_find takes them from there. */
struct chunks_writer;
MUST_CHECK int retained_write(const struct retained *r, struct chunks_writer *w, struct err *err);
/* Has the heap's index those of this model? */
bool retained_saved(const struct model *m);
/* Take them, checked, with the sums by class and without lists of children.  0, ERR_FORMAT where they are damaged,
 * ERR_IO, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int retained_read(struct retained *out, const struct model *m, struct progress *progress,
    struct err *err);
/* Take the sums by class alone: nothing of *out that is by object may be asked for. */
MUST_CHECK int retained_read_sums(struct retained *out, const struct model *m, struct err *err);

/* The objects that only the roots dominate, ids ascending.  0: *ids has *n entries and is the
 * caller's (big_free); or ERR_NOMEM. */
MUST_CHECK int retained_top(const struct retained *r, uint32_t **ids, uint32_t *n, struct err *err);

/* The children of an object (HEAP_NONE: of the roots), ids ascending; r owns them and must be
 * complete. */
const uint32_t *retained_children(const struct retained *r, uint32_t id, uint32_t *n);
/* The place in children.target of an object's first child; that of the next id is behind its last one. */
static inline uint32_t retained_first_child(const struct retained *r, uint32_t id)
{
	return (uint32_t)adjacency_start(&r->children, id);
}

/* It is asked for soon. */
static inline void retained_ask_children(const struct retained *r, uint32_t id)
{
	__builtin_prefetch(&r->children.offset[id]);
}

/* Count the children of each of n objects into counts; r need not be complete.  0, ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int retained_count_children(const struct retained *r, const uint32_t *ids, size_t n,
    uint32_t *counts, struct err *err);

/*
 * Fill sums[0 … n_groups - 1] with what groups of objects retain.  group: by class index, the group
 * that its instances are in (HEAP_NONE: none); NULL: each class is its own group.  only: the
 * objects that count; NULL: all.  within: by group, the group that it is a part of, which has a
 * smaller number (HEAP_NONE: it is part of none); NULL: no group is part of another.  0, ERR_NOMEM
 * or ERR_CANCELLED.
 */
MUST_CHECK int retained_by_group(const struct retained *r, const uint32_t *group,
    uint32_t n_groups, const uint32_t *within, const struct bits *only,
    struct retained_sum *sums, struct progress *progress, struct err *err);
/* The same for groups of objects: group by object id (HEAP_NONE: in none). */
MUST_CHECK int retained_by_objects(const struct retained *r, const uint32_t *group, uint32_t n_groups,
    struct retained_sum *sums, struct progress *progress, struct err *err);
/* The same for several ways to group them, in one walk. */
struct retained_grouping {
	const uint32_t *of_object;   /* a number by object id, HEAP_NONE: it is in no group; NULL: its class index */
	const uint32_t *group;       /* by this number the group, HEAP_NONE: none; NULL: the number is the group's */
	uint32_t n_groups;
	struct retained_sum *sums;   /* filled; the caller's */
	const uint32_t *within;      /* as for retained_by_group */
	const struct bits *only;     /* likewise */
};
MUST_CHECK int retained_by_groupings(const struct retained *r, const struct retained_grouping *groupings, size_t n,
    struct progress *progress, struct err *err);
/* Add a further topmost member to the sum. */
void retained_sum_add(const struct retained *r, struct retained_sum *sum, uint32_t id);
/* What the instances of a class retain: as noted, or else as by_class has it. */
struct retained_sum retained_of_class(const struct retained *r, uint32_t class);
/* All instances of the class together retain exactly so many bytes, of unsure sizes for these reasons. */
void retained_note_class(const struct retained *r, uint32_t class, uint64_t bytes, unsigned doubts);
/* Is the sum all that would be freed with all members?  False: it is a lower bound. */
bool retained_sum_exact(const struct retained *r, const struct retained_sum *sum);
/* The sum in bytes: a lower bound unless it is exact, and no surer than the sizes and the roots. */
struct amount retained_sum_bytes(const struct retained *r, const struct retained_sum *sum);
/* The same of n objects: where nothing reaches any of them it is no surer than that, and of none it is 0. */
struct amount retained_of_members(const struct retained *r, uint64_t n, const struct retained_sum *sum);

/* About how many bytes of big memory retained sizes take at their peak, in addition to a heap of so many objects and
 * references. */
uint64_t dominators_need(uint64_t objects, uint64_t references);
/* And what of the file they take where the heap lives there. */
uint64_t dominators_need_in_file(uint64_t objects, uint64_t references);

/* What an object retains, in bytes, as it was found; retained_of says how sure that is. */
static inline uint64_t retained_size(const struct retained *r, uint32_t id)
{
	return dominators_retained(&r->dominators, id);
}

/* What objects retain that no root reaches: 0, and no surer than that they are garbage. */
struct amount retained_of_nothing_reached(const struct retained *r);
/* What an object retains, in bytes: what would be freed with it. */
struct amount retained_of(const struct retained *r, uint32_t id);
/* How many objects an object retains, itself included; walks through them, so r must be
 * complete. */
MUST_CHECK int retained_objects_of(
    const struct retained *r, uint32_t id, struct amount *out, struct err *err);
/* The shallow sizes of all reachable objects together, in bytes. */
struct amount retained_of_all(const struct retained *r);

#endif
