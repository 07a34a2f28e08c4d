/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.h - finds the references by which an object is reached from a root, or from another object.
 *
 * Paths follow the references of reachable.h: recorded ones, implied ones, and a loader's hold on
 * its classes.  They follow soft and weak references (heap/weak.h) only if the rules say so.
 *
 * If there are several shortest paths, both searches give the same one: going backward from the
 * object, each holder is the one with the lowest id of those that stand on a shortest path.
 *
 * Any thread may call these functions, each with its own struct path_rules.
 */
#ifndef CAIRN_ANALYSIS_PATHS_PATHS_H
#define CAIRN_ANALYSIS_PATHS_PATHS_H

#include "analysis/dominators/dominators.h"
#include "analysis/members.h"
#include "base/text.h"

struct path_rules {
	const struct heap *heap;
	bool weak;                   /* follow weak references, too */
	bool relaxed;                /* by path_rules_relax */
	uint32_t from;               /* paths begin at this object; HEAP_NONE: at any root */
	bool not_itself;             /* the path must have a holder, even if the object is a root */
	bool not_directly;           /* the path must not consist of one reference of `from` */
	struct bits barred;          /* by id: no path begins at the object or leads through it */
	bool bars;                   /* some object is barred */
	const struct weak_references *not_followed; /* soft and weak ones, unless `weak`; NULL: all are followed */
	struct bits starts, loaders; /* by id: roots (or `from`); loaders of classes */
	struct first_names *names;   /* for path_field */
};

/* Rules for paths from the roots, with nothing barred.  0 or ERR_NOMEM.  Takes 3 bits an object, of
 * which only the pages that are used cost memory. */
MUST_CHECK int path_rules_init(struct path_rules *r, const struct heap *h, bool weak,
    struct err *err);
void path_rules_release(struct path_rules *r);
/* Release what searches need.  Afterwards the rules serve only path_field and path_line. */
void path_rules_give_back(struct path_rules *r);
/* Let paths begin at this object instead of the roots. */
void path_rules_from(struct path_rules *r, uint32_t id);
/* Let no path begin at this object or lead through it. */
void path_rules_bar(struct path_rules *r, uint32_t id);
/* Follow soft references, too, and those that are inactive: all that hold in the VM.  False: that changes nothing. */
bool path_rules_relax(struct path_rules *r);
/* Is the holder's reference to the target a weak one that these rules do not follow? */
bool path_is_weak(const struct path_rules *r, uint32_t holder, uint32_t target);

struct path {
	uint32_t *step; /* object ids from the root to the object; path_release frees them */
	size_t n;       /* number of steps; 0: no path was found */
	bool gave_up;   /* n is 0 because the search reached the limit of its effort */
};
void path_release(struct path *p);

/*
 * Search the shortest path to an object, from the object backward.  effort: the search gives up
 * after about so many references; 0: no limit.  0: *out is the caller's (path_release), also when
 * there is no path; ERR_NOMEM or ERR_CANCELLED.
 */
MUST_CHECK int path_search(struct path *out, const struct path_rules *r, uint32_t to,
    uint64_t effort, struct progress *progress, struct err *err);

/* Shortest paths to all objects at once, searched forward. */
struct path_tree {
	uint32_t *parent; /* by id: id + 1 of the holder; 0: not reached; PATH_START: the path begins
	                     here */
	uint32_t n;       /* objects of the heap */
	uint32_t reached; /* objects reached */
};
#define PATH_START UINT32_MAX

/* Search forward.  to: the one object that is asked for; not_itself and not_directly apply to it,
 * and the search ends when it is reached.  HEAP_NONE: search all.  Takes 4 bytes an object, and 4
 * more and 2 bits while it runs.  0: *out is the caller's (path_tree_release); ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int path_tree_grow(struct path_tree *out, const struct path_rules *r, uint32_t to,
    struct progress *progress, struct err *err);
void path_tree_release(struct path_tree *t);
/* Read the path to an object off the tree.  0: *out is the caller's (path_release); or
 * ERR_NOMEM. */
int path_tree_path(const struct path_tree *t, uint32_t to, struct path *out, struct err *err);

/* Append the field by which the holder holds the target: "table", "[17]", "static INSTANCE",
 * "<class>".  False: unknown, and nothing was appended. */
bool path_field(const struct path_rules *r, uint32_t holder, uint32_t target, struct text *to);

/* The name of a static field as path_field has it, without "static "; NULL: it is none. */
const char *path_static_name(const char *field);

/* Append what makes an object a root: "Java local, thread "main", … (and 2 more)", a global variable by its name
 * alone.  Appends nothing if it is not a root. */
void path_root_words(const struct heap *h, uint32_t id, struct text *to);
/* The same of one root. */
void path_one_root_words(const struct heap *h, const struct heap_root *root, struct text *to);

/* Append a path in one line: "static com.acme.Cache.INSTANCE > table > [17] > this".  The line
 * begins with the last static field of the path, since before it stand only a class and what loaded
 * it.  Without a static field it begins with the root: the variable that holds it, or its class.
 * Of a long path only the end is appended.  True: it begins with a static field or a variable. */
bool path_line(const struct path_rules *r, const struct path *p, struct text *to);

/* Append the variable that holds a root, where the dump's program names it.  False: nothing was appended. */
bool path_add_variable(const struct heap *h, uint32_t id, struct text *to);

/* --- plumbing, folded (path_fold.c) ------------------------------------------------------------- */

/*
 * Steps of a path that say nothing to a person are folded into the next one that does:
 * - What a collection is made of, its arrays and nodes and the collection that it wraps (inspect_is_made_of).
 * - What a class loader has its class objects in.
 * - Before a static field the class object, and the class objects, loaders and lists of classes that lead there, with
 *   the first object of the path, if that holds but these; and before a class object these where the path begins with
 *   them.
 * The last object of the path is always seen, and the first one where it was asked for (rules.from).
 */
struct path_plumbing { /* what is known of classes; one thread at a time */
	const struct heap *heap;
	uint8_t *make; /* by class */
};
/* 0: path_plumbing_release; or ERR_NOMEM.  A byte for each class. */
MUST_CHECK int path_plumbing_init(struct path_plumbing *f, const struct heap *h, struct err *err);
void path_plumbing_release(struct path_plumbing *f);
/* Is an object, which the holder references, what a collection is made of? */
bool path_plumbing_is(struct path_plumbing *f, uint32_t holder, uint32_t id);
/* Is it a static field of a class object that holds the target? */
bool path_reference_is_static(const struct path_rules *r, uint32_t holder, uint32_t target);

/* The steps that are seen, ascending; each has folded into it those after the one before it. */
struct path_fold {
	size_t *step;
	size_t n;
};
/* 0: *out is the caller's (path_fold_release); or ERR_NOMEM. */
MUST_CHECK int path_fold(struct path_fold *out, struct path_plumbing *f, const struct path_rules *r,
    const struct path *p, struct err *err);
void path_fold_release(struct path_fold *f);
/* Append by what the step `to` is reached from the step `from`, seen before it: "static com.acme.Shop.INSTANCE",
 * "orders", "[17]" of a list, ["session-7"] of a map by its key, else the fields, "first.next*.item".  A static field
 * may begin the path: `from` is the first step then.  False: unknown, and nothing was appended. */
bool path_fold_label(const struct path_rules *r, const uint32_t *step, size_t from, size_t to, struct text *text);
/* Append what was folded: "3 steps: table[4].next.val"; begins: the step `from` as well, whose class comes first.
 * Nothing of a step without. */
void path_fold_through(const struct path_rules *r, const uint32_t *step, size_t from, size_t to, bool begins,
    struct text *text);
/* The last static field on the path, among the steps that are seen: where a short line begins.  0: there is none. */
size_t path_fold_last_static(const struct path_fold *f, const struct path_rules *r, const struct path *p);
/* As path_line, with plumbing folded: "static com.acme.Cache.INSTANCE > sessions["session-7"] > this".  *named: what
 * path_line returns.  0 or ERR_NOMEM. */
MUST_CHECK int path_fold_line(bool *named, struct path_plumbing *plumbing, const struct path_rules *r,
    const struct path *p, struct text *to, struct err *err);

/* --- many paths, merged by class ---------------------------------------------------------------- */

struct what_if; /* analysis/what_if/what_if.h */
enum { MERGED_SAMPLES = 4 };
struct merged_row {
	uint32_t depth;  /* 0: where the paths begin */
	uint32_t class;
	bool is_class;    /* the row is a class object, and `class` is the class that it stands for */
	uint32_t root;    /* an object at which paths begin here; HEAP_NONE: none does */
	bool other_roots; /* and at others of that class */
	struct amount objects; /* how many objects of the set have a path through this row */
	struct amount shallow; /* bytes of these objects */
	struct retained_sum retained; /* what these objects retain */
	uint32_t sample[MERGED_SAMPLES]; /* ids + 1 of some objects of the row on these paths; 0: there are fewer */
	uint32_t node;    /* the row's number while paths were merged, for merged_members */
};
struct merged_paths {
	struct merged_row *row; /* a tree, each row before those below it, siblings with the most
	                           objects first */
	size_t n;
	uint32_t found, missing; /* objects of the set that are reached, and that are not */
	bool retained;           /* row[].retained is known */
	bool deep, many;         /* steps beyond MERGED_DEPTH, or rows beyond MERGED_ROWS, are left
	                            out */
};
enum { MERGED_DEPTH = 64, MERGED_ROWS = 100000 };

/* Merge the paths of n objects (ids ascending) into a tree of classes.  backward: the tree begins
 * with the objects and ends with the roots.  plumbing: it is folded, but the objects themselves are not (NULL: every
 * step is a row; then 4 bits an object less while it works).  cut: knows what is below what in the dominator tree;
 * NULL: what rows retain stays unknown.  0: *out is the caller's (merged_paths_release); or
 * ERR_NOMEM. */
MUST_CHECK int paths_merge(struct merged_paths *out, const struct path_tree *t,
    const struct heap *h, struct path_plumbing *plumbing, const uint32_t *ids, size_t n, bool backward,
    struct what_if *cut, struct err *err);
/* Set the bits in `to` of the objects that these rows count.  Pass all other arguments as they were
 * passed to paths_merge.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int merged_members(const struct merged_paths *merged, const uint32_t *rows,
    size_t n_rows, const struct path_tree *t, const struct heap *h, struct path_plumbing *plumbing,
    const uint32_t *ids, size_t n, bool backward, struct bits *to, struct err *err);
void merged_paths_release(struct merged_paths *m);

#endif
