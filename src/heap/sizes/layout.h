/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layout.h - how a HotSpot VM lays objects out, so that sizes follow from declared fields.
 *
 * HPROF dumps hold every field but no size.  A layout_model says how wide headers and references are
 * and in which way fields are packed; with it the functions here compute the shallow size that the VM's
 * own histogram shows.  Which model a dump was written under is found by comparing computed sizes
 * with the distances between neighbouring objects (layout_choose).
 *
 * Pure functions: nothing is kept, any thread.
 */
#ifndef CAIRN_HEAP_SIZES_LAYOUT_H
#define CAIRN_HEAP_SIZES_LAYOUT_H

#include "heap/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum layout_rule {
	LAYOUT_OLD, /* up to JDK 14: superclasses end on a reference boundary, gaps are seldom filled */
	LAYOUT_NEW, /* from JDK 15 on: holes of superclasses are filled */
	LAYOUT_MAT, /* Eclipse MAT's HPROF reader: the sum of the widths, rounded up class by class */
};

struct layout_model {
	const char *name;    /* "compressed references" */
	enum layout_rule rule;
	unsigned header;     /* bytes before an instance's first field, and before an array's length */
	unsigned reference;  /* bytes of a reference: 4 or 8 */
	unsigned word;       /* bytes of a machine word: 4 or 8 */
	unsigned alignment;  /* of objects: 8 … 256 */
	bool relaxed;        /* arrays begin right behind their length (from JDK 23 on) */
};

/*
 * Which generation of the VM: what it puts into objects beside the declared fields.  Told from the
 * classes that it loads at its start, as dumps carry no release.
 */
enum layout_release {
	LAYOUT_PLAIN,  /* nothing but the declared fields, in instances and class objects alike */
	LAYOUT_JDK_6,  /* 6 and before: statics stand elsewhere */
	LAYOUT_JDK_7,
	LAYOUT_JDK_8,
	LAYOUT_JDK_11, /* 9 to 11 */
	LAYOUT_JDK_17, /* 12 to 18 */
	LAYOUT_JDK_21, /* 19 to 24 */
	LAYOUT_JDK_25,
};
enum layout_release layout_release_of(const struct heap_class *classes, uint32_t n);

/* Bytes of a field. */
unsigned layout_width(enum value_type type, unsigned reference);

/* First byte of the elements, of this width in bytes; references: of an object array. */
unsigned layout_array_base(const struct layout_model *m, bool references, unsigned width);

/* Bytes of an array whose elements begin at base; SIZE_UNKNOWN when that overflows. */
uint64_t layout_array_size(unsigned base, unsigned width, uint64_t length, unsigned alignment);

/*
 * Bytes of a plain instance of each class, into size[n].  SIZE_UNKNOWN for arrays, primitives and
 * classes that the dump does not define.  Superclass chains may be of any length; one that comes
 * back to itself is cut.  0 or ERR_NOMEM.
 */
MUST_CHECK int layout_instances(const struct heap_class *classes, uint32_t n,
    const struct layout_model *m, enum layout_release release, uint64_t *size, struct err *err);

/* Bytes of the class object of c, when instances of java.lang.Class without statics take base. */
uint64_t layout_class_object(const struct heap_class *c, uint64_t base, const struct layout_model *m,
    enum layout_release release);

/* Bytes of a jdk.internal.vm.StackChunk that holds a stack of this many words. */
uint64_t layout_stack_chunk(uint64_t instance, uint64_t words, const struct layout_model *m);

/* --- fields that only the VM knows (layout_injected.c) ------------------------------------------- */

/* Fields counted by width. */
struct layout_fields {
	uint32_t n[4]; /* primitives of 1, 2, 4, 8 bytes */
	uint32_t references;
};

/* Add what the VM injects into the instances of this class. */
void layout_add_injected(const struct heap_class *c, enum layout_release release, unsigned word,
    struct layout_fields *to);

/* What of a class's own fields stands apart from all others (@Contended), as bits: the class as a
 * whole, or a group of some fields. */
enum layout_padding { PADS_NOTHING = 0, PADS_CLASS = 1, PADS_GROUP = 2 };
unsigned layout_padding_of(const struct heap_class *c, enum layout_release release);
/* Of a class that has a padded group: is this field in it? */
bool layout_pads_field(const struct heap_class *c, enum layout_release release, const char *field);

/* --- the model of a dump (layout_models.c) ------------------------------------------------------- */

/* An object, and how far the next one lies behind it. */
struct layout_pair {
	uint32_t class;
	uint64_t length;   /* of an array */
	uint64_t distance;
};

struct layout_choice {
	struct layout_model model;
	uint64_t n_pairs;      /* neighbours compared */
	uint64_t n_exact;      /* of these: the object reaches just to the next one */
	uint64_t n_violations; /* its size would reach into the next one */
	bool guessed;          /* too little to compare: the usual model */
};

/* The model that fits best: few violations, then most exact. */
MUST_CHECK int layout_choose(const struct heap_class *classes, uint32_t n_classes,
    const struct layout_pair *pairs, size_t n_pairs, unsigned word_bits, unsigned alignment,
    struct layout_choice *out, struct err *err);

/* The model in a sentence for people, into text. */
void layout_describe(const struct layout_choice *choice, char *text, size_t size);

/* What Eclipse MAT makes of a dump with identifiers of pointer bytes and such references. */
struct layout_model layout_mat_model(unsigned pointer, unsigned reference, unsigned alignment);

#endif
