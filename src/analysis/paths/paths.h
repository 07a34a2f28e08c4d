/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.h - by which references an object is reached from a root, or from another object.
 *
 * Followed are the references of reachable.h: recorded ones, implied ones, and a loader's hold on its
 * classes.  Weak ones (heap/weak.h) are left out unless they are asked for.
 *
 * Of several shortest paths it is always the same one, whichever way it is found: seen from the object
 * backward, each holder is the one of the lowest id that stands on a shortest path.
 *
 * Any thread, each with its own struct path_rules.
 */
#ifndef CAIRN_ANALYSIS_PATHS_PATHS_H
#define CAIRN_ANALYSIS_PATHS_PATHS_H

#include "analysis/dominators/dominators.h"
#include "base/text.h"
#include "heap/value.h"
#include "heap/weak.h"

struct path_rules {
	const struct heap *heap;
	bool weak;                   /* follow weak references, too */
	uint32_t from;               /* paths begin at this object; HEAP_NONE: at any root */
	bool not_itself;             /* that the object is a root is not enough */
	bool not_directly;           /* nor that from holds it */
	struct bits barred;          /* by object: no path begins at it or leads through it */
	bool bars;                   /* any is barred */
	struct weak_references weak_references; /* not to be followed, unless weak */
	struct bits starts, loaders; /* by object: roots (or from), loaders of classes */
};

/* Paths from roots, nothing barred.  0 or ERR_NOMEM; 3 bits an object, touched where needed. */
MUST_CHECK int path_rules_init(struct path_rules *r, const struct heap *h, bool weak,
    struct err *err);
void path_rules_release(struct path_rules *r);
/* The rules can from now on name fields only. */
void path_rules_give_back(struct path_rules *r);
void path_rules_from(struct path_rules *r, uint32_t id);
void path_rules_bar(struct path_rules *r, uint32_t id);
/* Is the reference of the holder to the target a weak one, and not to be followed? */
bool path_is_weak(const struct path_rules *r, uint32_t holder, uint32_t target);

struct path {
	uint32_t *step; /* object ids from the root to the object; free() by path_release */
	size_t n;       /* 0: there is none */
	bool gave_up;   /* n is 0 because the search was not to go on */
};
void path_release(struct path *p);

/*
 * The shortest path to an object, searched from it backward.  effort: about so many references are
 * looked at before it gives up; 0: no limit.  0, ERR_NOMEM or ERR_CANCELLED.
 */
MUST_CHECK int path_search(struct path *out, const struct path_rules *r, uint32_t to,
    uint64_t effort, struct progress *progress, struct err *err);

/* Shortest paths to all objects at once, searched forward. */
struct path_tree {
	uint32_t *parent; /* id + 1 of the holder; 0: not reached; PATH_START: the path begins here */
	uint32_t n;       /* objects */
	uint32_t reached;
};
#define PATH_START UINT32_MAX

/* to: of interest, so that the rules about it hold, and enough when it is reached; HEAP_NONE: all.
 * 4 bytes an object kept, 4 more and 2 bits while it runs.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int path_tree_grow(struct path_tree *out, const struct path_rules *r, uint32_t to,
    struct progress *progress, struct err *err);
void path_tree_release(struct path_tree *t);
int path_tree_path(const struct path_tree *t, uint32_t to, struct path *out, struct err *err);

/* The field by which the holder holds the target: "table", "[17]", "static INSTANCE", "<class>".
 * False, nothing appended: the dump does not tell. */
bool path_field(const struct path_rules *r, uint32_t holder, uint32_t target, struct text *to);

/* "static com.acme.Cache.INSTANCE > table > [17] > this": from the last static field on, before which
 * stand only a class and what loaded it; otherwise from the root, by the variable that holds it or
 * by its class; of a long path the end. */
void path_line(const struct path_rules *r, const struct path *p, struct text *to);

/* --- many paths, merged by class ---------------------------------------------------------------- */

struct cut; /* analysis/cut.h */
struct merged_row {
	uint32_t depth;  /* 0: where the paths begin */
	uint32_t class;
	bool is_class;    /* a class object: class is the one that it stands for */
	struct amount objects; /* of the set, whose paths lead through this row */
	struct amount shallow; /* bytes of these */
	struct retained_sum retained; /* of the same */
	uint32_t node;    /* its number while they were merged */
};
struct merged_paths {
	struct merged_row *row; /* a tree in the order of reading, the most objects first; free() */
	size_t n;
	uint32_t found, missing; /* objects of the set that are reached, and that are not */
	bool retained;           /* what the rows' objects retain is known */
	bool deep, many;         /* cut: steps after MERGED_DEPTH, rows after MERGED_ROWS */
};
enum { MERGED_DEPTH = 64, MERGED_ROWS = 100000 };

/* ids ascending.  backward: the tree begins with the objects and ends with the roots.  cut: asked
 * about the dominator tree, or NULL: what they retain is not known.  0 or ERR_NOMEM. */
MUST_CHECK int paths_merge(struct merged_paths *out, const struct path_tree *t,
    const struct heap *h, const uint32_t *ids, size_t n, bool backward, struct cut *cut,
    struct err *err);
/* The objects that some rows count; all else as it was merged.  Sets bits in to.  0 or ERR_NOMEM. */
MUST_CHECK int merged_members(const struct merged_paths *merged, const uint32_t *rows,
    size_t n_rows, const struct path_tree *t, const struct heap *h, const uint32_t *ids,
    size_t n, bool backward, struct bits *to, struct err *err);
void merged_paths_release(struct merged_paths *m);

#endif
