/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * joint.h - where objects may hold something jointly, though none of them dominates it.
 *
 * What a group S retains in the tree is less than what goes with all of S only if there is an object o
 * outside of the members' subtrees of which all holders go with S.  Take the first such o from the
 * roots on that no other such object dominates: some holder p of it lies below a topmost member t,
 * so t stands between p and o's immediate dominator; and that dominator does not hold o itself,
 * since it stays.  So S holds nothing jointly if no topmost member stands on such a way: from a holder
 * up to, and without, the immediate dominator of an object that this dominator does not hold itself.
 */
#ifndef CAIRN_ANALYSIS_DOMINATORS_JOINT_H
#define CAIRN_ANALYSIS_DOMINATORS_JOINT_H

#include "analysis/dominators/dominators.h"

/*
 * By object: how many of these ways begin there, less those that end there.  Summed over a subtree:
 * how many lead through its top.  *ways is big memory of n_objects, or NULL when there are none.
 * Two passes over the references; 8 bytes and a bit an object.  0 or ERR_NOMEM.  Any thread.
 */
MUST_CHECK int joint_ways(const struct retained *r, int64_t **ways, struct err *err);

#endif
