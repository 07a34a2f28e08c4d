/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leaks.h - finds leak suspects: objects that retain a large part of the heap, and their accumulation points.
 *
 * A suspect is an object at the top of the dominator tree that retains more than a given share of
 * what is reachable, or all objects of one class at the top that do so together.  From a suspect we
 * go down the tree as long as one child keeps nearly all.  Where that ends, the memory has piled
 * up: this is the accumulation point.
 *
 * Three rules differ from this.  Class objects and loaders hold everything, so they are
 * opened instead of suspected: if the path ends in some of them, or below one of them, each large
 * part is a suspect of its own; in a loader's list of classes the one class that keeps nearly all is the suspect;
 * and class objects are never a suspect together.  A chain of objects
 * of one class has no accumulation point of its own; the memory counts as piled up at the holder of
 * its first link.  Roots of the VM itself, like the array of all that its class archive names, are opened
 * as well, and of what they hold only class objects and loaders are looked at: no program can clear the rest.
 *
 * Pure functions of struct retained, any thread.
 */
#ifndef CAIRN_ANALYSIS_LEAKS_H
#define CAIRN_ANALYSIS_LEAKS_H

#include "analysis/dominators/dominators.h"

struct suspect {
	uint32_t id;         /* the object; for a group, its member that retains most */
	uint32_t piles_up;   /* the accumulation point; for a group, the same as id */
	bool chain;          /* a chain of objects of one class hangs there */
	uint32_t n;          /* members of the group; 1 for a single object */
	uint32_t *ids;       /* the members, ascending; NULL for a single object */
	struct amount retained; /* bytes; for a group the members' sum, a lower bound until leaks_size_groups */
};

struct leaks {
	struct suspect *suspect; /* the largest first */
	size_t n, cap;
	struct amount vms_own;   /* bytes that roots of the VM keep which retain more than that, without
	                            what is looked at below them */
	uint64_t least;          /* bytes that an object must retain to be a suspect */
};

/* share: in percent of what is reachable, above 0.  0: *out is the caller's (leaks_release);
 * ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int leaks_find(struct leaks *out, const struct retained *r, double share,
    struct progress *progress, struct err *err);
/* Where that finds none: the largest holders by the same rules, at most so many, of those that retain a smaller share.
 * A group's size is its sum.  The same codes. */
MUST_CHECK int leaks_find_holders(struct leaks *out, const struct retained *r, double share, size_t most,
    struct progress *progress, struct err *err);
/* The fewest of an object's children in the dominator tree, the largest first, at most `most`, that keep nearly all
 * of what it retains below itself.  to: gets their ids.  0: it takes more of them. */
size_t leaks_largest_children(const struct retained *r, uint32_t id, uint32_t *to, size_t most);
/* In place of a group's sum, what all its members free together: what they hold jointly goes with them as well.  Walks
 * the heap, once for all groups.  The largest is first again.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int leaks_size_groups(struct leaks *l, const struct retained *r, struct progress *progress,
    struct err *err);
void leaks_release(struct leaks *l);

#endif
