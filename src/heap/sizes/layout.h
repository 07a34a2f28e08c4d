/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layout.h - how a HotSpot VM lays objects out, so that sizes follow from declared fields.
 *
 * HPROF dumps hold every field but no size.  A layout_model says how wide headers and references
 * are and in which way fields are packed.  With it the functions here compute the shallow size that
 * the VM's own histogram shows.  The dump does not say which model its VM used: layout_choose finds
 * out by comparing computed sizes with the distances between neighbouring objects.
 *
 * No function keeps anything between calls: any thread.
 */
#ifndef CAIRN_HEAP_SIZES_LAYOUT_H
#define CAIRN_HEAP_SIZES_LAYOUT_H

#include "base/err.h"
#include "dump/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct heap_class;

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
	bool gapped;         /* LAYOUT_OLD: no field fills the gap before 8-byte ones (-XX:-CompactFields) */
};

/*
 * Which releases of the VM wrote the dump.  They differ in what they put into objects beside the
 * declared fields.  Dumps do not state the release; layout_release_of tells it from the classes
 * that each release loads at its start.
 */
enum layout_release {
	LAYOUT_PLAIN,  /* nothing but the declared fields, in instances and class objects alike */
	LAYOUT_JDK_6,  /* 6 and before: static fields are not in class objects */
	LAYOUT_JDK_7,
	LAYOUT_JDK_8,
	LAYOUT_JDK_11, /* 9 to 11 */
	LAYOUT_JDK_17, /* 12 to 18 */
	LAYOUT_JDK_21, /* 19 to 23 */
	LAYOUT_JDK_25, /* 24 and on */
	LAYOUT_JDK_28,
	LAYOUT_RELEASES,
};
enum layout_release layout_release_of(const struct heap_class *classes, uint32_t n);

/* Bytes of a field of this type; a reference has `reference` bytes. */
unsigned layout_width(enum value_type type, unsigned reference);

/* The offset in bytes at which an array's elements begin.  width: bytes of an element; references:
 * the elements are references. */
unsigned layout_array_base(const struct layout_model *m, bool references, unsigned width);

/* Bytes of an array whose elements begin at base; SIZE_UNKNOWN when the product overflows. */
uint64_t layout_array_size(unsigned base, unsigned width, uint64_t length, unsigned alignment);

/*
 * Compute the bytes of a plain instance of each class into size[n]: SIZE_UNKNOWN for arrays,
 * primitives and classes that the dump does not define.  Superclass chains may be of any length;
 * one that comes back to itself is cut.  measured: by class, the bytes that its instances are known to
 * take whatever the rules say, 0 for most; subclasses go on from there.  NULL: of no class.
 * Returns 0 or ERR_NOMEM.
 */
MUST_CHECK int layout_instances(const struct heap_class *classes, uint32_t n,
    const struct layout_model *m, enum layout_release release, const uint64_t *measured, uint64_t *size,
    struct err *err);

/* The least that an instance takes, of a class without fields.  No gap between objects is smaller. */
uint64_t layout_least(const struct layout_model *m);

/* Bytes of the class object of c with its static fields; a class object without any takes base. */
uint64_t layout_class_object(const struct heap_class *c, uint64_t base, const struct layout_model *m,
    enum layout_release release);

/* Bytes of a jdk.internal.vm.StackChunk that holds a stack of so many words; instance: the bytes of
 * an instance of that class without any stack. */
uint64_t layout_stack_chunk(uint64_t instance, uint64_t words, const struct layout_model *m);

/* --- fields that only the VM knows (layout_injected.c) ------------------------------------------- */

/* How many fields there are of each width. */
struct layout_fields {
	uint32_t n[4]; /* primitives of 1, 2, 4, 8 bytes */
	uint32_t references;
};

/* Add to the counts the fields that the VM injects into instances of this class; word: its bytes. */
void layout_add_injected(const struct heap_class *c, enum layout_release release, unsigned word,
    struct layout_fields *to);

/* Which of a class's own fields the VM keeps apart from all others by padding (@Contended): all of
 * them, or a group of some.  The result is an or of these bits. */
enum layout_padding { PADS_NOTHING = 0, PADS_CLASS = 1, PADS_GROUP = 2 };
unsigned layout_padding_of(const struct heap_class *c, enum layout_release release);
/* Is this field in the padded group of its class?  For classes with PADS_GROUP. */
bool layout_pads_field(const struct heap_class *c, enum layout_release release, const char *field);
/* Do fields of a padded group fill holes that alignment leaves in it? */
bool layout_fills_groups(enum layout_release release);

/* --- what the VM states (layout_stated.c) -------------------------------------------------------- */

/* Bytes of a machine word and of a reference, and where elements of byte[], long[] and Object[] begin; or, header
 * not being 0, the bytes of a header alone. */
struct layout_stated {
	unsigned word; /* 0: not stated */
	unsigned reference, base[3];
	unsigned header;
};
struct layout_stated layout_stated_of(const struct heap_class *classes, uint32_t n);
/* Does the model agree with it? */
bool layout_is_stated(const struct layout_model *m, const struct layout_stated *s);

/* --- the model of a dump (layout_models.c) ------------------------------------------------------- */

/* An object and its neighbour: how far the next object lies behind it. */
struct layout_pair {
	uint32_t class;    /* index of the object's class */
	uint64_t length;   /* elements, if it is an array */
	uint64_t distance; /* bytes from its address to the next object's */
};

struct layout_choice {
	struct layout_model model;
	uint64_t n_pairs;      /* pairs compared */
	uint64_t n_exact;      /* pairs in which the object would end just where the next begins */
	uint64_t n_violations; /* pairs in which it would reach into the next one */
	bool guessed;          /* too few pairs to compare: this is the usual model */
	bool stated;           /* the VM states header and references, see below */
	bool reference_guessed; /* too few pairs tell how wide references are */
};

/* Choose the model that fits the pairs best: one with few violations, and of those the one with
 * most exact pairs.  Returns 0 or ERR_NOMEM. */
MUST_CHECK int layout_choose(const struct heap_class *classes, uint32_t n_classes,
    const struct layout_pair *pairs, size_t n_pairs, unsigned word_bits, unsigned alignment,
    struct layout_choice *out, struct err *err);

/* Write a sentence about the model into text, which has room for size bytes. */
void layout_describe(const struct layout_choice *choice, char *text, size_t size);

/* The model by which Eclipse MAT computes sizes.  pointer: bytes of an identifier in the dump;
 * reference: bytes of a reference; alignment: of objects, in bytes. */
struct layout_model layout_mat_model(unsigned pointer, unsigned reference, unsigned alignment);

#endif
