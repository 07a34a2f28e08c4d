/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opened.h - an opened dump: its heap, what counts in it, what was found of it, the sets kept of it.
 *
 * The heap is immutable.  All that changes while somebody looks at a dump stands here: whether weak
 * references count (the model), and what is dear to find and therefore found once (findings).  It is
 * made and dropped as one; there may be several, and none knows of another.
 *
 * Findings are made by opened_find_…, on the main thread, which lets a runner do the long part.  Nothing
 * is published before it is whole, so what draws the screen meanwhile sees either nothing or the truth.
 */
#ifndef CAIRN_OPENED_OPENED_H
#define CAIRN_OPENED_OPENED_H

#include "analysis/dominators/dominators.h"
#include "analysis/paths/paths.h"
#include "analysis/reachable.h"
#include "analysis/search.h"
#include "base/parallel.h"
#include "heap/weak.h"

/* Objects that a user keeps under a name. */
struct kept_set {
	char *name; /* without the $ */
	uint32_t *ids; /* ascending */
	size_t n;
};

struct opened {
	const struct heap *heap;
	struct heap *own;         /* the same, closed with it; NULL: somebody else closes it */
	struct model model;       /* of the heap: which references count */

	/* findings: ask the functions below */
	struct weak_references weak;
	bool weak_found;
	struct retained retained; /* heap NULL: not found */
	bool retained_whole;      /* with lists of children and sums by class */
	struct reachable reachable;
	bool reachable_found;
	struct path_tree paths[2]; /* strong; with weak references.  parent NULL: not found */
	struct name_index *names;

	bool refused; /* somebody asked for retained sizes while they are being found elsewhere */

	struct kept_set *sets;
	size_t n_sets, cap_sets;
};

/* What somebody else keeps open, for instance while it is still being read. */
struct opened *opened_new(const struct heap *heap);
/* From now on the heap is closed with it. */
void opened_own(struct opened *o, struct heap *heap);
void opened_free(struct opened *o); /* NULL is fine */

/* Are the references there?  0, or ERR_UNSUPPORTED with why not. */
int opened_references(const struct opened *o, struct err *err);

/* What objects and classes retain, if that is known by now; else NULL.  o may be NULL. */
const struct retained *opened_retained(const struct opened *o);
/* The tree of shortest paths from the roots, if it is known by now; else NULL. */
const struct path_tree *opened_path_tree(const struct opened *o, bool weak);

/*
 * Find something out, unless it is known: *out is the opened dump's and stays until the model changes
 * or it is dropped.  All give 0, ERR_UNSUPPORTED where there are no references, ERR_NOMEM, or
 * ERR_CANCELLED; after an error nothing has changed.
 */
int opened_find_sizes(struct opened *o, const struct runner *runner, const struct retained **out,
    struct err *err); /* retained sizes of objects alone */
int opened_find_retained(struct opened *o, const struct runner *runner, const struct retained **out,
    struct err *err); /* with lists of children and sums by class */
int opened_find_reachable(struct opened *o, const struct runner *runner, struct reachable *out,
    struct err *err);
int opened_find_path_tree(struct opened *o, bool weak, const struct runner *runner,
    const struct path_tree **out, struct err *err);
/* The names of its classes; of those there are now, while a dump is being read.  NULL: ERR_NOMEM. */
const struct name_index *opened_names(struct opened *o, struct err *err);

/* Take over retained sizes that were found elsewhere, lists and sums included. */
void opened_take_retained(struct opened *o, struct retained *found);

/*
 * Shall soft, weak, phantom and final references count for what is reachable and retained?  At first
 * they do, as in Eclipse MAT.  A change drops what was found about it; the caller sees to it that
 * nobody looks at that any more.  0, ERR_UNSUPPORTED where the dump cannot tell them from others,
 * ERR_NOMEM.
 */
int opened_count_weak(struct opened *o, bool counts, struct err *err);
static inline bool opened_counts_weak(const struct opened *o)
{
	return !o->model.left_out;
}
/* Can this be asked of it?  0, or ERR_UNSUPPORTED with why not. */
int opened_may_count_weak(const struct opened *o, struct err *err);

#endif
