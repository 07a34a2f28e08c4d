/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * joint.h - where objects may hold something jointly, though none of them dominates it.
 *
 * The proof.  Let S be a group.  If more is freed with all of S than the tree says, there is an
 * object o outside of the members' subtrees all of whose holders go with S.  Of such objects, take
 * the first one from the roots on that no other such object dominates.  Some holder p of o lies in
 * the subtree of a topmost member t, so t stands between p and o's immediate dominator d.  And d
 * does not hold o itself, since d stays.
 *
 * Call a *way* the stretch of the tree from a holder of an object up to, and without, the object's
 * immediate dominator, where this dominator does not hold the object itself.  Then t stands on a
 * way.  So if no topmost member of S stands on any way, S holds nothing jointly.
 */
#ifndef CAIRN_ANALYSIS_DOMINATORS_JOINT_H
#define CAIRN_ANALYSIS_DOMINATORS_JOINT_H

#include "analysis/dominators/dominators.h"

/*
 * Count the ways.  (*ways)[id] is the number of ways that begin at the object, less the number of
 * those that end at it; summed over a subtree this is the number of ways that lead through the
 * subtree's top.  0: *ways has n_objects entries and is the caller's (big_free), or is NULL when
 * there are no ways.  ERR_NOMEM.  Takes two passes over the references, and 8 bytes and a bit an
 * object.  Any thread.
 */
MUST_CHECK int joint_ways(const struct retained *r, int64_t **ways,
    struct progress *progress, struct err *err);

/* retained_by_groupings (groupings.c), which also adds the ways up from the bottom to the top, and marks the classes of
 * objects through which some lead.  ways NULL: there are none. */
MUST_CHECK int joint_sum(const struct retained *r, const struct retained_grouping *groupings, size_t n, int64_t *ways,
    struct bits *joint, struct progress *progress, struct err *err);

#endif
