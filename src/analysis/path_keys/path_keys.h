/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_keys.h - objects grouped by the path on which the program reaches them.
 *
 * From one dump to the next objects move and addresses are used again, so an object has no identity.  What
 * stays is the way to it: "static com.acme.Shop.INSTANCE > sessions > table[] > value".  All objects with the
 * same signature of their shortest way are one group, which may be compared with that of another dump.
 *
 * Ways begin at class objects (their static fields), class loaders, threads and all other roots: at all of these that
 * are reachable, be it over weak references.  They begin at what a thread's stack holds only for objects to which no
 * other way leads.  They follow recorded references, but no weak ones.  A way is the way of an object that is one step
 * nearer, and this step: the name of the field, and the class of what it leads to.  Of several such the one with the
 * fewest steps is taken, and of those the one that comes first by its words, then its classes, from the first step on;
 * so addresses decide nothing.
 *
 * Classes of one name are one start if their loaders are of one class and have one name, else each is its own.
 *
 * What is folded: which element of an array it is does not count, nor the digits in the names of threads and loaders.
 * An object that is held by one of its own class is in that one's group (a chain, or a tree of nodes).  If the last two
 * to eight steps are the same as those before them, the object is in the group that it came to the first time.  What is
 * more than 48 steps away is one group.
 *
 * A group is a chain if an object of it holds another of its class that is farther, or in the same group, or that the
 * same holder holds, itself or by an array.  All ways by which one holder gets to objects of the class of a chain are
 * one ("first" or "last", "head" or "table[]"): see path_labels.h.
 *
 * Pure functions of struct retained, any thread.
 */
#ifndef CAIRN_ANALYSIS_PATH_KEYS_PATH_KEYS_H
#define CAIRN_ANALYSIS_PATH_KEYS_PATH_KEYS_H

#include "analysis/dominators/dominators.h"
#include "analysis/path_labels/path_labels.h"
#include "base/text.h"

#define PATH_KEY_NONE PATH_LABEL_NONE /* no signature: not reached over strong references */

struct path_key {
	uint32_t parent;      /* the signature it continues, which comes before it; or PATH_KEY_NONE, and */
	enum way_start start;
	const char *words;    /* the field of the last step; of a start what it is called: of a class by its loader,
	                         "" if that is one that every program has; of a loader its name, "": it has none */
	uint32_t field;       /* their number (numbered_name) */
	uint32_t class;       /* a class index; all its objects are of classes of this name.  HEAP_NONE: of the
	                         steps beyond PATH_KEY_DEPTH, which are one */
	uint32_t depth;       /* steps; 0: a start */
	bool chain;           /* objects of it hold others of it */
	bool shared;          /* of a class: there are others of its name, but with other loaders */
};
enum { PATH_KEY_DEPTH = 48 };

struct path_keys {
	const struct retained *retained; /* borrowed */
	struct path_key *list;
	uint32_t n;
	uint32_t *of;            /* by object id: its signature or PATH_KEY_NONE */
	struct numbered_names *names; /* has the words */
};

/* r: need not be complete for this, but for path_key_sums.  weak: these references are not followed; NULL: all
 * are.  Takes 4 bytes an object, and 4 more and a bit while it runs.
 * 0: *out is the caller's (path_keys_release); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int path_keys_find(struct path_keys *out, const struct retained *r,
    const struct weak_references *weak, struct progress *progress, struct err *err);
void path_keys_release(struct path_keys *s);

/* What a signature's objects amount to. */
struct path_key_sum {
	uint32_t n_objects, n_unknown; /* objects, and those of them that count 0 bytes */
	uint64_t shallow;              /* bytes */
	uint8_t doubts;                /* enum size_doubt of them */
	struct retained_sum retained;  /* of the topmost of them */
};
/* Fill sums[0 … n - 1].  group: by object id, below n, as of path_keys; PATH_KEY_NONE: in none.  0, ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int path_key_sums(const struct retained *r, const uint32_t *group, uint32_t n,
    struct path_key_sum *sums, struct progress *progress, struct err *err);
/* The same without what they retain. */
MUST_CHECK int path_key_counts(const struct heap *h, const uint32_t *group, uint32_t n,
    struct path_key_sum *sums, struct progress *progress, struct err *err);

/* Append a signature as people read it: "static com.acme.Shop.INSTANCE > sessions > table[] > value". */
void path_key_add(const struct path_keys *s, uint32_t signature, struct text *to);

#endif
