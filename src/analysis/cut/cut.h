/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut.h - what dies when references are cleared.
 *
 * Clearing the one reference of u to v frees what v retains if nothing else keeps v: u has no second
 * reference to it, no root is it, and whatever else holds it hangs below v itself in the dominator
 * tree.  Else it frees nothing.  This is exact: a way to v that does not go through v before must
 * come by some holder that does not hang below v.  What several references free together is
 * more than the sum of what each one does, and is found by walking without them.
 *
 * A reference is what struct retained counts as one: each field or element, what the dump implies
 * (object to class, class to superclass and loader, loader to class), and what a thread's stack holds;
 * but not those that the model leaves out.
 * The roots' hold on an object counts as one reference, however many roots it is: a person asks
 * what goes when the VM lets go of it.
 *
 * Any thread, each with its own struct cut.
 */
#ifndef CAIRN_ANALYSIS_CUT_CUT_H
#define CAIRN_ANALYSIS_CUT_CUT_H

#include "analysis/dominators/dominators.h"

struct cut_span {
	uint32_t from, to; /* place in the tree from top to bottom, and the last one below */
};

struct cut {
	const struct retained *retained;
	struct bits special;   /* by object: roots, class objects, loaders: held by more than references */
	struct cut_span *span; /* by id; NULL: who hangs below whom is found by climbing, until that has
	                          cost as much as numbering all */
	uint64_t climbed;
};

/* 0 or ERR_NOMEM; a bit an object, and 8 bytes an object more when the tree gets numbered. */
MUST_CHECK int cut_init(struct cut *c, const struct retained *r, struct err *err);
void cut_release(struct cut *c);
/* Number the tree now, for those who will ask much; a complete one (retained_complete). */
MUST_CHECK int cut_number(struct cut *c, struct err *err);

/* Does every way from the roots to the object lead through this other one, or is it that one? */
bool cut_below(struct cut *c, uint32_t id, uint32_t above);

enum { CUT_COUNTED = 1000 }; /* so many other references are counted */

struct cut_figure {
	struct amount freed;  /* bytes */
	struct amount others; /* references that keep the target without this one; counted to CUT_COUNTED */
	bool held;       /* the holder references the target at all */
};
/* If one reference of the holder to the target were cleared; holder HEAP_NONE: the roots' hold. */
struct cut_figure cut_one(struct cut *c, uint32_t holder, uint32_t target);

/* --- several at once ---------------------------------------------------------------------------- */

/* One reference; two of the same holder and target stand there twice. */
struct cut_edge {
	uint32_t holder, target; /* holder HEAP_NONE: the roots' hold */
};
struct cut_edges {
	struct cut_edge *edge;
	size_t n, cap;
};
/* All 0 or ERR_NOMEM. */
MUST_CHECK int cut_edges_add(struct cut_edges *to, uint32_t holder, uint32_t target,
    struct err *err);
/* That field of every instance of the class and its subclasses, or that static field.  found: there is
 * such a field, of a type that can hold references. */
MUST_CHECK int cut_edges_add_field(struct cut_edges *to, const struct heap *h, uint32_t class,
    const char *field, bool *found, struct err *err);
/* A field of one object ("table"), a static field of a class object, or an element ("[17]").  Also
 * ERR_UNSUPPORTED where the dump holds no values. */
MUST_CHECK int cut_edges_add_field_of(struct cut_edges *to, const struct heap *h, uint32_t holder,
    const char *field, bool *found, struct err *err);
/* Every reference of any of these holders to any of these targets. */
MUST_CHECK int cut_edges_add_between(struct cut_edges *to, const struct heap *h,
    const uint32_t *holders, size_t n_holders, const uint32_t *targets, size_t n_targets,
    struct err *err);
void cut_edges_release(struct cut_edges *e);

struct cut_loss {
	struct bits dead; /* by object */
	struct amount objects;
	struct amount bytes;
};
/*
 * What dies when these references are cleared (NULL: none), and every one to the objects of ids, those
 * included, of whom any may be unreachable.  Where the roots' hold on an object is among them, so is
 * what stacks hold: others of a thread to it are then its fields.  Sorts the edges.  One walk over
 * everything; needs no retained sizes.  0, ERR_NOMEM or ERR_CANCELLED.
 */
MUST_CHECK int cut_find(struct cut_loss *out, const struct model *m, struct cut_edges *edges,
    const uint32_t *ids, size_t n_ids, struct progress *progress, struct err *err);
void cut_loss_release(struct cut_loss *l);

/* --- a plan (cut_plan.c) -------------------------------------------------------------------------- */

/*
 * The fewest references to clear so that so much is freed.
 *
 * Chosen one after another: what frees most of what is still wanted for each reference, and of those
 * that free enough the one that frees least beyond it.  A choice is a reference that alone keeps an
 * object, up to PLAN_TOGETHER references that do so together, or a field in all instances of a class
 * (where the dump names no fields: what instances of one class hold of another).  After each choice
 * the heap is walked without all chosen, so the total is exact, and in the end those go that are not
 * needed.  The number is the fewest this finds; fewer may do where only several choices together
 * free something that none frees alone.
 *
 * Never chosen is what nobody can clear: what the dump implies, roots that the VM keeps (system
 * classes, threads), references whose end unloads classes; nor, in all instances, a field of the
 * JDK's own classes.
 *
 * Any thread.  Near-linear for each choice.  Memory besides the tree's: 8 bytes an object, 8 more from
 * the second choice on.
 */
enum { PLAN_TOGETHER = 8, PLAN_MOST = 32 };

struct plan_item {
	struct cut_edges edges; /* what is cleared */
	uint32_t target;        /* of a single one, or several together: the object; else HEAP_NONE */
	uint32_t class;         /* of a field: the class that declares it */
	const char *field;      /* NULL: what instances of class hold of those of to_class */
	uint32_t to_class;
	struct amount freed;    /* bytes, by this one alone */
	struct amount total;    /* with those before it */
};

struct cut_plan {
	struct plan_item *item; /* in the order of choice */
	size_t n, cap;
	struct amount objects;  /* freed by all, by a walk */
	struct amount bytes;
	bool reached;           /* bytes is what was wanted, or more */
};

/* 0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int cut_plan_find(struct cut_plan *out, const struct retained *r, uint64_t wanted,
    struct progress *progress, struct err *err);
void cut_plan_release(struct cut_plan *p);

#endif
