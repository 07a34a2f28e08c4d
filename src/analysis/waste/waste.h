/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waste.h - wasted memory: equal texts and arrays, empty collections, boxed numbers, and the like; the door of
 * analysis/waste.
 *
 * A table (waste.c) describes the kinds.  Kinds partition the objects of a heap: which of them an object
 * can be of follows from what it is alone (a String with its characters, a collection with what it is made of, a box,
 * another array, another object), and where several kinds of a family would fit, the first one in the table has it.
 * So the sum over kinds counts no byte twice, and a kind's own figures are the same whether it is asked for alone or
 * with all others.  The exceptions are kinds of classes (fields, alignment): they count a few bytes of every instance,
 * and stay out of the sum.
 *
 * All objects of the dump count, garbage included.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_WASTE_WASTE_H
#define CAIRN_ANALYSIS_WASTE_WASTE_H

#include "algorithms/bits.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct heap;

enum waste_kind {
	WASTE_STRINGS, WASTE_WIDE,
	WASTE_UNUSED, WASTE_EMPTIED, WASTE_SINGLE, WASTE_CHAINS, WASTE_OVERSIZED,
	WASTE_EMPTY_ARRAYS, WASTE_ONE_ELEMENT, WASTE_SPARSE, WASTE_CONSTANT, WASTE_TAILS, WASTE_ARRAYS,
	WASTE_BOXES, WASTE_BOXED,
	WASTE_OBJECTS,
	WASTE_FIELDS, WASTE_ALIGNMENT,
	WASTE_KINDS
};

struct waste_kind_info {
	const char *word;   /* for machines and command lines */
	const char *name;   /* for people */
	const char *of;     /* what its objects are, in the plural */
	const char *wasted; /* what the bytes are */
	bool judged;        /* whether they can be saved is a judgement, so they are inferred */
	bool of_classes;    /* what it counts is a part of every instance: not in the sum */
	bool by_length;     /* found without the values of objects */
};
extern const struct waste_kind_info waste_kinds[WASTE_KINDS];

struct waste_sum {
	uint64_t objects;
	uint64_t shallow, wasted; /* bytes */
};

/* Every kind.  0: *out is the caller's (waste_all_release); ERR_UNSUPPORTED, ERR_NOMEM, ERR_CANCELLED. */
struct waste_all {
	struct waste_sum sum[WASTE_KINDS];
	bool told[WASTE_KINDS]; /* the dump shows this kind */
	uint32_t *kinds;        /* of each object a bit for each kind, but for those of classes */
	struct bits classes[WASTE_KINDS]; /* of kinds of classes: which of them */
};
MUST_CHECK int waste_find_all(struct waste_all *out, const struct heap *h, struct err *err);
void waste_all_release(struct waste_all *w);

enum waste_by { WASTE_BY_FIELD, WASTE_BY_CLASS, WASTE_BY_HOLDER };

/* Objects of one class that one field holds, or that have this class, or that one object holds. */
struct waste_group {
	uint32_t class;       /* of the objects */
	uint32_t declared_in; /* by field: the class with the field; HEAP_NONE: no field holds them */
	const char *field;    /* or NULL */
	unsigned deep;        /* arrays between the field and them; 8 stands for any more */
	uint32_t holder;      /* by holder: the object with the field; else HEAP_NONE */
	struct waste_sum sum;
	uint64_t first, end;  /* waste_groups.object[first] to before end, ascending; of kinds of classes none: all
	                         instances of the class that has the field, and of its subclasses */
};
struct waste_groups {
	struct waste_group *group; /* the most wasteful first */
	size_t n;
	uint32_t *object;
	struct numbered_names *names; /* what fields are called that no class declares, or NULL */
};
/* One kind.  The same codes. */
MUST_CHECK int waste_find(struct waste_groups *out, const struct heap *h, enum waste_kind kind, enum waste_by by,
    struct err *err);
/* Set the bits of all objects that a kind of classes is about, of these classes (a bit for each).  0 or ERR_NOMEM. */
MUST_CHECK int waste_mark_classes(const struct heap *h, enum waste_kind kind, const struct bits *classes,
    struct bits *to, struct err *err);
void waste_groups_release(struct waste_groups *g);

/* Does the dump show this kind? */
bool waste_told(const struct heap *h, enum waste_kind kind);

#endif
