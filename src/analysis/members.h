/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * members.h - which objects hold a class object or a loader though no record lists them: instances
 * of the class, its direct subclasses, and the classes that the loader made.
 *
 * The heap knows the class of each object, but keeps no lists of instances.  A few classes are looked
 * up by going through all objects; once that has taken some turns over the heap, all lists are made
 * at once, 4 bytes an object.  So however many classes are asked for, the work stays linear in the
 * heap.  Each struct members belongs to one thread.
 */
#ifndef CAIRN_ANALYSIS_MEMBERS_H
#define CAIRN_ANALYSIS_MEMBERS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

/* A list of ids or class indices for each class, one after another. */
struct member_lists {
	uint32_t *first; /* by class, n_classes + 1: where its list begins; NULL: not made */
	uint32_t *member;
};

struct members {
	const struct heap *heap;
	struct member_lists instances, subclasses;
	uint64_t scanned; /* objects gone through, class by class */
	bool refused;     /* there is no memory for lists: go on object by object */
};

/* The members of one class or loader; ask members_next for each. */
struct members_walk {
	const uint32_t *at, *end; /* of a list */
	uint32_t class, id, left; /* object by object: instances of class from id on, so many left */
};

/* 0 or ERR_NOMEM.  Takes 8 bytes a class, and 4 bytes an object more once it is asked much. */
MUST_CHECK int members_init(struct members *m, const struct heap *heap, struct err *err);
void members_release(struct members *m);

/* Ids of all instances of exactly this class, ascending. */
struct members_walk members_instances(struct members *m, uint32_t class);
/* Class indices of its direct subclasses, ascending. */
struct members_walk members_subclasses(const struct members *m, uint32_t class);
/* Class indices of the classes that this object is said to have loaded, ascending. */
struct members_walk members_loaded(const struct members *m, uint32_t loader);

bool members_next(struct members *m, struct members_walk *w, uint32_t *member);

#endif
