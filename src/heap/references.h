/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * references.h - references that the dump implies, which of all references hold, and what they reach.
 *
 * The recorded ones are heap->out and heap->in (heap.h).
 */
#ifndef CAIRN_HEAP_REFERENCES_H
#define CAIRN_HEAP_REFERENCES_H

#include <stdbool.h>
#include <stdint.h>

struct bits;
struct heap;
struct progress;
struct weak_references; /* heap/weak.h */

/*
 * A heap, and which of its references keep objects alive.  Whatever depends on that (reachability,
 * dominators, retained sizes, cuts) is asked of a model.
 */
struct model {
	const struct heap *heap;
	const struct weak_references *left_out; /* these do not hold: heap->weak in the VM's model; NULL: all references
	                                           hold, as in Eclipse MAT's */
};

/* Is it the one with which the heap is opened: the VM's, or with MAT's sizes MAT's? */
bool model_is_default(const struct model *m);

/*
 * References that the dump implies: as Eclipse MAT's model has them an object to its class, a class object to its
 * superclass and its loader; beyond MAT's a class object to the class objects of arrays of it.  At most
 * HEAP_IMPLIED; field names "<class>", "<super>", "<loader>", "<array>".
 */
enum { HEAP_IMPLIED = 15 };
struct implied_reference {
	uint32_t target;
	const char *field;
};
unsigned heap_implied(const struct heap *h, uint32_t id, struct implied_reference out[HEAP_IMPLIED]);

/*
 * Everything that can be reached from a start over recorded and implied references, but those that
 * the model leaves out.  seen: one bit an object (n_objects bits); stack: room for n_objects ids.
 * Adds to seen, and returns the number of objects newly seen.  A start that is seen already is
 * skipped.
 */
uint32_t heap_reach(const struct model *m, uint32_t start, uint64_t *seen, uint32_t *stack);

/*
 * The same, but without some objects and references.  Gives up early when progress is cancelled, which
 * may be NULL; every other member must be set.
 */
struct reach_filter {
	const struct bits *barred; /* objects never to be entered */
	const struct bits *asked;  /* objects whose references follows() decides on, one by one */
	bool (*follows)(const void *context, uint32_t holder, uint32_t target);
	const void *context;
	struct bits *met;          /* gets what was kept out though something reached leads there */
	struct progress *progress;
};
uint32_t heap_reach_without(const struct model *m, uint32_t start, uint64_t *seen, uint32_t *stack,
    const struct reach_filter *filter);

#endif
