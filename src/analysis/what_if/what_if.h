/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if.h - what is freed when references are cleared.
 *
 * Clearing the reference of u to v frees what v retains, if nothing else keeps v: u has no second
 * reference to v, v is not a root, and every other holder of v is below v itself in the dominator
 * tree.  Otherwise it frees nothing.  This is exact, because any other path from the roots to v must
 * arrive by a holder that is not below v.  Several references together may free more than
 * the sum of what each frees alone, so for several the heap is walked without them.
 *
 * A reference is what struct retained counts as one: each field or element, what the dump implies
 * (object to class, class to superclass and loader, loader to class), and what a thread's stack
 * holds.  References that the model leaves out do not count.  The roots' hold on an object is one
 * reference, however many roots hold it: people ask what goes when the VM lets go of the object.
 *
 * Any thread may call these functions, each with its own struct what_if.
 */
#ifndef CAIRN_ANALYSIS_WHAT_IF_WHAT_IF_H
#define CAIRN_ANALYSIS_WHAT_IF_WHAT_IF_H

#include "analysis/dominators/dominators.h"
#include "analysis/members.h"

/* An object's number when the tree is numbered from top to bottom, and the last number below it. */
struct what_if_span {
	uint32_t from, to;
};

/* The references to an object from what does not hang below it. */
struct what_if_outside {
	uint32_t target;
	bool known, by_vm;  /* by_vm: a root that no thread's stack holds */
	uint32_t n;         /* without by_vm; beyond WHAT_IF_COUNTED not all are counted */
	uint32_t by_stacks; /* of n, those of threads' stacks */
};

struct what_if {
	const struct retained *retained; /* borrowed */
	struct bits special;   /* by id: roots, class objects, loaders: they are held by more than what
	                          heap->in lists */
	struct members members; /* these other holders of class objects and loaders */
	struct what_if_span *span; /* by id; NULL: the tree is not numbered yet, and what is below what is
	                          found by climbing */
	struct what_if_outside outside; /* of the last object that was asked about */
	uint64_t climbed;      /* steps climbed so far; when they cost as much, the tree is numbered */
};

/* 0 or ERR_NOMEM.  Takes a bit an object, and 8 bytes an object more once the tree is numbered. */
MUST_CHECK int what_if_init(struct what_if *c, const struct retained *r, struct err *err);
void what_if_release(struct what_if *c);
/* Number the tree at once, for callers with many questions.  The retained sizes must be complete
 * (retained_complete).  0 or ERR_NOMEM. */
MUST_CHECK int what_if_number(struct what_if *c, struct err *err);

/* An object of a row, of a group and the like; it may be in several, and several times in one. */
struct what_if_member {
	uint32_t row, object;
};
/* What the objects of each row retain together: those that are below another of the row are left out.  Sorts the
 * members.  The retained sizes must be complete.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int what_if_sum_members(struct retained_sum *sums, uint32_t n_rows, struct what_if_member *member, size_t n,
    const struct retained *r, struct err *err);

/* Are id and above the same object, or does every way from the roots to id lead through above? */
bool what_if_below(struct what_if *c, uint32_t id, uint32_t above);

enum { WHAT_IF_COUNTED = 1000 }; /* other references are counted up to this many */

struct what_if_figure {
	struct amount freed;  /* bytes */
	struct amount others; /* other references that keep the target; counted up to WHAT_IF_COUNTED */
	bool held;       /* the holder references the target at all */
};
/* What happens if one reference of the holder to the target is cleared.  holder HEAP_NONE: the
 * roots' hold. */
struct what_if_figure what_if_one(struct what_if *c, uint32_t holder, uint32_t target);

/* Can the program be changed so that it clears the references of the holder to the target?  Not those
 * that the dump implies, nor those of a class's constants, of its loader, domain and signers, nor what
 * the VM's queue of finalizers holds, nor stacks of virtual threads.  holder HEAP_NONE: the roots' hold. */
bool what_if_clearable(const struct heap *h, uint32_t holder, uint32_t target);

/* What something of a Java program leads to, found as it is asked for (what_if_program.c). */
struct what_if_program {
	const struct model *model;  /* NULL: of another program */
	struct bits barred_classes; /* by class: no path leads through their instances */
	struct bits barred;         /* by id: class objects that no path leads through */
	struct bits starts;         /* by id: what roots and class objects of the program hold */
	struct bits leads, none;    /* by id: something of the program leads there; nothing does */
	struct what_if_step {
		uint32_t id, to; /* to: the place of what it references */
	} *list;                    /* what a search came to */
	size_t n_list, cap_list;
	uint64_t effort;            /* references to look at until a walk over the heap costs less */
	bool complete;              /* leads has them all */
	struct err err;             /* why an answer is missing */
};

/* Which objects are inside the JDK or Go's library, whose references no program clears (what_if_owner.h). */
struct what_if_owner {
	const struct retained *r;
	struct what_if_program program;
	struct bits library;         /* by id: the roots lead there without the program; NULL: not asked yet */
	struct bits by_globals;      /* by id: what_if_held_by_globals; NULL: not asked yet */
	struct bits own, runtime;    /* by class: the program's own; what Go's runtime needs itself */
	struct bits known, internal; /* by id: the answer is known; it is yes */
};

/* 0, ERR_NOMEM or ERR_CANCELLED.  Takes six bits an object, most of them untouched. */
MUST_CHECK int what_if_owner_init(struct what_if_owner *o, const struct retained *r, struct err *err);
void what_if_owner_release(struct what_if_owner *o);
/* Were all answers since the last call found?  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int what_if_owner_check(struct what_if_owner *o, struct err *err);

/* Is the object inside?  All calls together take linear time, and 4 bytes and 3 bits an object at most. */
bool what_if_owner_internal(struct what_if_owner *o, uint32_t id);
/* Is this reference?  holder HEAP_NONE: the roots' hold. */
bool what_if_owner_inside(struct what_if_owner *o, uint32_t holder, uint32_t target);
/* Does something of the program hold it: of Java on any way, be it through a loader; of Go as a root? */
bool what_if_owner_reached(struct what_if_owner *o, uint32_t id);
/* Is the object alive without any reference of a Java program's?  The first call walks the heap; of other heaps
 * *keeps is true.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int what_if_owner_library_keeps(struct what_if_owner *o, uint32_t id, bool *keeps, struct err *err);

/* How familiar a reference is to the authors of the program: one inside of a library's class, a field that a class of
 * the program declares, a static field or a global variable.  holder HEAP_NONE: the roots' hold. */
enum what_if_fame { FAME_NONE, FAME_OWN, FAME_GLOBAL };
enum what_if_fame what_if_fame(const struct heap *h, uint32_t holder, uint32_t target);

/* Of the references along a path, the one that a person would clear to free its end. */
struct what_if_choice {
	size_t step;         /* the reference that holds this step; the path's length: there is none */
	struct amount freed; /* what clearing it frees */
	enum what_if_fame fame;
	bool untold;         /* step 0 is a root only because nothing in the dump holds it */
	/* why other references of the path do not count */
	bool vm_holds;       /* the program cannot clear it */
	bool internal;       /* it is inside the JDK or Go's library */
	struct amount others; /* references besides the path's last one that keep its end */
};
/* Of those that free the end: a static field or a global variable rather than a field of the program's own classes,
 * that rather than one inside of a library's class, and of several the last.  step: n ids from the root on. */
struct what_if_choice what_if_choose(struct what_if *c, struct what_if_owner *owner, const uint32_t *step, size_t n);

/* --- several at once ---------------------------------------------------------------------------- */

/* One reference.  If the same holder has two references to the same target, both are listed. */
struct what_if_edge {
	uint32_t holder, target; /* holder HEAP_NONE: the roots' hold */
};
struct what_if_edges {
	struct what_if_edge *edge; /* owned: what_if_edges_release */
	size_t n, cap;
};
/* Each of these adds references to the list and returns 0 or ERR_NOMEM. */
MUST_CHECK int what_if_edges_add(struct what_if_edges *to, uint32_t holder, uint32_t target,
    struct err *err);
/* What this field holds in every instance of the class and its subclasses, or what this static
 * field holds.  *found: how many fields of this name the class has that can hold references.  Of
 * several, as obfuscated classes have them, each is added if all is set, else none. */
MUST_CHECK int what_if_edges_add_field(struct what_if_edges *to, const struct heap *h, uint32_t class,
    const char *field, bool all, unsigned *found, struct err *err);
/* What one field of one object holds: a field ("table"), a static field of a class object, or an
 * element ("[17]"); all and *found as above.  Also ERR_UNSUPPORTED if the dump holds no values. */
MUST_CHECK int what_if_edges_add_field_of(struct what_if_edges *to, const struct heap *h, uint32_t holder,
    const char *field, bool all, unsigned *found, struct err *err);
/* Every reference of any of these holders to any of these targets. */
MUST_CHECK int what_if_edges_add_between(struct what_if_edges *to, const struct heap *h,
    const uint32_t *holders, size_t n_holders, const uint32_t *targets, size_t n_targets,
    struct err *err);
void what_if_edges_release(struct what_if_edges *e);

struct what_if_loss {
	struct bits dead; /* by object */
	struct amount objects;
	struct amount bytes;
	uint8_t doubts; /* enum size_doubt of the bytes */
};
/*
 * Find what dies when these edges are cleared (NULL: none), and when every reference to the objects
 * of ids is cleared.  The objects of ids die themselves; some may have been unreachable before.  If
 * the roots' hold on an object is among the edges, what stacks hold goes with it; an edge from a
 * thread to the same object then means a field of the thread.  Sorts the edges.  Walks the whole
 * heap and needs no retained sizes.  0: *out is the caller's (what_if_loss_release).  ERR_NOMEM or
 * ERR_CANCELLED: *out is empty.
 */
MUST_CHECK int what_if_find(struct what_if_loss *out, const struct model *m, struct what_if_edges *edges,
    const uint32_t *ids, size_t n_ids, struct progress *progress, struct err *err);
/* The same of the objects of ids alone.  *held, by object: those of them that something alive leads to; the caller's
 * (bits_release) if it returns 0. */
MUST_CHECK int what_if_find_held(struct what_if_loss *out, struct bits *held, const struct model *m,
    const uint32_t *ids, size_t n_ids, struct progress *progress, struct err *err);
void what_if_loss_release(struct what_if_loss *l);

/* What is freed with all instances of each of n classes, exactly, by one walk for all of them: usually less than two
 * steps an object, never more than one for each class.  effort: after so many steps it gives up.  Takes 12 bytes and a
 * bit an object.  0, ERR_NOMEM or ERR_CANCELLED. */
enum { WHAT_IF_CLASSES = 64 };
struct what_if_class {
	uint32_t class; /* its index */
	uint64_t bytes; /* found */
	uint8_t doubts; /* enum size_doubt of them */
};
MUST_CHECK int what_if_classes(struct what_if_class *classes, unsigned n, const struct retained *r, uint64_t effort,
    struct progress *progress, struct err *err);
/* The same of a few of their instances, all of them among ids; n is at least 1.  It is what_if_find, which takes
 * 4 bytes and 5 bits an object, and if n is more than 1 then a walk through what that finds: 8 bytes and 4 bits an
 * object, and 4 bytes for each that dies. */
MUST_CHECK int what_if_some_of_classes(struct what_if_class *classes, unsigned n, const uint32_t *ids, size_t n_ids,
    const struct retained *r, struct progress *progress, struct err *err);

/*
 * The fewest references, at most WHAT_IF_TOGETHER, that a person would clear to free all of these n objects (ids): of
 * equally few static fields and global variables rather than fields of the program's own classes or local
 * variables, and these rather than others; none of less fame than `least`, none that what_if_clearable excludes or
 * that is inside the JDK or Go's library.  *freed: what clearing them frees, exactly (what_if_find).
 *
 * effort: so many references are looked at, at most.  Takes two bits an object, and 12 bytes for each that hangs
 * below the cut.  0: *out is the caller's (what_if_edges_release), empty if there are none; ERR_NOMEM or
 * ERR_CANCELLED: it is empty.
 */
enum { WHAT_IF_TOGETHER = 3 };
MUST_CHECK int what_if_together(struct what_if_edges *out, struct amount *freed, struct what_if *c,
    struct what_if_owner *owner, const uint32_t *ids, size_t n, enum what_if_fame least, uint64_t effort,
    struct progress *progress, struct err *err);

/*
 * Those of n objects (ids) that static fields and global variables alone hold, of those that what_if_together may
 * choose: clearing all of them would free these.  to: room for n ids.  The first call walks the heap.  0, ERR_NOMEM or
 * ERR_CANCELLED.
 */
MUST_CHECK int what_if_held_by_globals(uint32_t *to, size_t *n_to, struct what_if *c, struct what_if_owner *owner,
    const uint32_t *ids, size_t n, struct progress *progress, struct err *err);

/* --- a plan (what_if_plan.c) -------------------------------------------------------------------------- */

/*
 * A plan names few references such that clearing them frees a wanted number of bytes.
 *
 * The search is greedy.  Each time it chooses the candidate that frees most of what is still
 * wanted, divided by the number of references it takes; of candidates that free enough, the one
 * that frees least.  A candidate is a reference that alone keeps an object, up to PLAN_TOGETHER
 * references that keep one together, or a field in all instances of a class (if the dump names no
 * fields: what instances of one class hold of another).  After each choice the heap is walked
 * without all chosen references, so the total is exact.  At the end, choices that turn out not to
 * be needed are dropped.  A smaller plan may exist where only several choices together free
 * something that none frees alone.
 *
 * A plan never names what cannot be cleared: references that the dump implies, roots that the VM
 * keeps (system classes, threads), and references whose end would unload classes.  Nor does it name
 * a field of the JDK's own classes in all instances.
 *
 * Any thread.  Near-linear for each choice.  Takes, besides the tree's memory, 8 bytes an object,
 * and 8 more from the second choice on.
 */
enum { PLAN_TOGETHER = 8, PLAN_MOST = 32 };

struct plan_item {
	struct what_if_edges edges; /* what is cleared */
	uint32_t target;        /* the object that the references keep; HEAP_NONE: a field in all
	                           instances */
	uint32_t class;         /* of a field in all instances: the class that declares it */
	const char *field;      /* its name; NULL: what instances of class hold of instances of
	                           to_class */
	uint32_t to_class;
	struct amount freed;    /* bytes that this item frees alone */
	struct amount total;    /* bytes that it frees with all items before it */
};

struct what_if_plan {
	struct plan_item *item; /* in the order of choice */
	size_t n, cap;
	struct amount objects;  /* freed by all items together, as a walk found it */
	struct amount bytes;
	bool reached;           /* bytes is at least what was wanted */
};

/* wanted: bytes.  0: *out is the caller's (what_if_plan_release), also when the plan does not reach
 * what was wanted.  ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int what_if_plan_find(struct what_if_plan *out, const struct retained *r, uint64_t wanted,
    struct progress *progress, struct err *err);
void what_if_plan_release(struct what_if_plan *p);

#endif
