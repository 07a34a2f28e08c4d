/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core.h - the heap of an OpenJ9 VM in a core file, as the VM's own description tells.
 */
#ifndef CAIRN_DUMP_J9CORE_J9CORE_H
#define CAIRN_DUMP_J9CORE_J9CORE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core;
struct j9core;

struct reader;
extern const struct reader j9_core_reader; /* all that the rest of the program knows of this folder */
extern uint64_t j9_part_bytes; /* how large parts of the heap are at least; fuzz targets make them small */

/* Where the J9RAS of a VM is; UINT64_MAX: it is not there.  Looks through the memory below 4 GB. */
uint64_t j9core_find(const struct core *core);
/* Is it the core of such a VM?  By the library that it had mapped, or by J9RAS. */
bool j9core_is_vms(const struct core *core);
/* The core stays open as long.  ERR_UNSUPPORTED: a VM without its description; ERR_FORMAT; ERR_TRUNCATED: the core does
 * not have what is needed; ERR_NOMEM.  The caller closes it. */
MUST_CHECK int j9core_open(struct j9core **out, const struct core *core, struct err *err);
void j9core_close(struct j9core *j); /* NULL is fine */

/* Where the VM's description of its structures is, of which the core does not have all; 0: it has, or there is none. */
uint64_t j9core_description(const struct core *core);
/* Is the description that the core has now that of its VM?  Then J9RAS has the size that it says.  False with an error:
 * ERR_NOMEM. */
bool j9core_describes(const struct core *core, struct err *err);
/* The first mapped file from an address on in which the ROM classes are of classes without names; NULL: there is
 * none. */
struct core_mapping;
const struct core_mapping *j9core_nameless_mapping(const struct j9core *j, uint64_t from);
/* Have the classes whose ROM classes are between two addresses the superclasses that are named there? */
bool j9core_classes_fit(const struct j9core *j, uint64_t begin, uint64_t end);

/* --- regions ----------------------------------------------------------------------------------------------- */

/* A stretch of the heap in which objects follow one another. */
struct j9_region {
	uint64_t low, high; /* addresses */
	bool marked;        /* only what is marked there is an object */
	uint64_t cell;      /* an object in each so many bytes; 0: they follow one another */
	uint64_t before;    /* bytes of the regions before it, and 1 */
};

const struct j9_region *j9core_regions(const struct j9core *j, uint32_t *n); /* by ascending address */

/* --- objects ----------------------------------------------------------------------------------------------- */

struct j9_class;

/* Where the elements of an array are. */
enum j9_array_form {
	J9_BEHIND_HEAD,
	J9_IN_LEAVES,     /* in leaves, whose addresses follow the head; also of none */
	J9_LAST_IN_SPINE, /* the same, and the last leaf follows these addresses */
	J9_OUTSIDE,       /* in one piece outside of the heap */
};

struct j9_object {
	uint64_t address;
	const struct j9_class *class;
	uint64_t size;      /* bytes at its address, with a hash code that was put behind it */
	uint64_t elsewhere; /* bytes of elements elsewhere, if the core has them */
	uint64_t length;    /* elements of an array; UINT64_MAX: none */
	enum j9_array_form form;
	uint64_t flags;       /* of its class slot: is its hash code made, is it in the object */
	const uint8_t *bytes; /* n_bytes from its address on, borrowed: of other objects, too, or not all of its own */
	uint64_t n_bytes;
};

enum { J9_RECENT = 128 };

/* Walks over a region: from an address on, where an object or a hole begins. */
struct j9_walk {
	const struct j9core *image;
	const struct j9_region *region;
	uint64_t at, high;
	uint64_t end;       /* objects from here on are left out: the region's end, or the caller's */
	uint32_t range;     /* the next of the ranges without objects */
	uint64_t n_skipped; /* bytes that were neither objects nor holes */
	uint64_t n_missing; /* bytes that are not in the core */
	const struct j9_class *recent[J9_RECENT]; /* that objects had, by address */
	const uint8_t *bytes; /* from the address `base` to `there` */
	uint64_t base, there;
	uint64_t clear;     /* up to here there is no range without objects */
};
void j9core_walk(struct j9_walk *w, const struct j9core *j, const struct j9_region *region, uint64_t from);
/* The next object that is no class object of j9core_class_facts; false: there is none. */
bool j9core_next(struct j9_walk *w, struct j9_object *out);
/* The class object at an address; false: it is not there. */
bool j9core_class_object(const struct j9core *j, uint64_t address, struct j9_object *out);
/* An address of the region at or behind `from` where an object or a hole seems to begin; its end: there is none. */
uint64_t j9core_object_from(const struct j9core *j, const struct j9_region *region, uint64_t from);

/* Offsets of the references of an object, in bytes, in the order of its fields or elements.  What is elsewhere is at
 * offsets beyond its size, counted modulo 2^64. */
struct j9_slots {
	const struct j9core *image;
	uint64_t bits, base;         /* what is left of the current word of the bitmap; slots before it */
	const uint8_t *map;          /* the current word, where there are more */
	uint64_t left;               /* slots of the object */
	uint64_t next, end, from;    /* of an array: offsets of a piece of its elements; bytes of elements before its end */
	const struct j9_object *array; /* NULL: it is none */
};
void j9core_slots(struct j9_slots *s, const struct j9core *j, const struct j9_object *o);
bool j9core_next_slot(struct j9_slots *s, uint64_t *offset);
/* The address that a reference at an address holds; 0: null, or it is not there. */
uint64_t j9core_reference(const struct j9core *j, uint64_t address);
/* The addresses that the next references of an object hold, at most `room` of them, without null; fewer: these were the
 * last. */
uint32_t j9core_take(struct j9_slots *s, const struct j9_object *o, uint64_t *to, uint32_t room);

/* How many references an object holds, without null, and their targets where `to` is not NULL.  False: it has many, or
 * is in pieces, and they are counted only. */
enum { J9_GATHERED = 64 };
bool j9core_references(const struct j9core *j, const struct j9_object *o, uint64_t to[J9_GATHERED], uint64_t *n);
/* Do its class, its length and these rules tell its size? */
bool j9core_size_follows(const struct j9core *j, const struct j9_object *o);
struct recorded_arrays; /* dump/facts.h */
void j9core_array_sizes(const struct j9core *j, struct recorded_arrays *to);

/* May an object have an identity hash code? */
enum { J9_MOVED = 2, J9_HASHED = 8 }; /* of j9_object.flags */
static inline bool j9core_may_hash(const struct j9_object *o)
{
	return o->flags & (J9_MOVED | J9_HASHED);
}
/* The identity hash code of an object, as Java sees it; false: nothing has asked for it. */
bool j9core_hash(const struct j9core *j, const struct j9_object *o, uint32_t *hash);

/* Fields that a class declares, in the order of its class file. */
struct j9_field {
	const char *name;  /* modified UTF-8, n_name bytes of the core, borrowed */
	size_t n_name;
	char type;         /* as in a signature, "Z": arrays are 'L' as all references */
	bool is_static;
	unsigned kind;     /* the reader's own */
	uint64_t at;       /* bytes from behind an object's header; of a static field its address: a reference is a word */
};
struct j9_fields {
	struct j9_field *field; /* big memory, the caller's */
	uint32_t n, cap;
	bool instance_known, statics_known; /* false: of these fields `at` means nothing */
};
/* Of one class, in place of what was there.  ERR_NOMEM. */
MUST_CHECK int j9core_fields(const struct j9core *j, const struct j9_class *c, struct j9_fields *to, struct err *err);
uint64_t j9core_fields_size(const struct j9_class *c); /* bytes of an instance without its header; not of arrays */
unsigned j9core_reference_bytes(const struct j9core *j); /* in an object: also its header has so many */
unsigned j9core_reference_shift(const struct j9core *j);

/* All classes, by number. */
uint32_t j9core_n_classes(const struct j9core *j);
const struct j9_class *j9core_class_at(const struct j9core *j, uint32_t i); /* NULL behind the last */
uint32_t j9core_class_number(const struct j9core *j, const struct j9_class *c);
/* Of a class: addresses of its class object, of that of its superclass, of its loader's object; 0: none. */
struct j9_class_facts {
	uint64_t object, superclass, loader;
	uint32_t taken; /* bytes of an instance that are no gap; 0 of arrays */
};
void j9core_class_facts(const struct j9core *j, const struct j9_class *c, struct j9_class_facts *out);
/* What a class refers to: addresses of objects, and how often.  ERR_NOMEM. */
struct j9_links {
	uint64_t *target; /* big memory, used again by the next call */
	uint32_t n, cap;
};
MUST_CHECK int j9core_links(const struct j9core *j, const struct j9_class *c, struct j9_links *to, struct err *err);
void j9_links_release(struct j9_links *l);
/* Where byte `from` of the elements of an array is, and how many of them follow there in one piece; 0: nowhere. */
uint64_t j9core_elements(const struct j9core *j, const struct j9_object *o, uint64_t from, uint64_t *n);
uint64_t j9core_instance_size(const struct j9_class *c); /* bytes; not of arrays */
bool j9core_holds_references(const struct j9_class *c); /* of an array: are its elements? */
bool j9core_is_array(const struct j9_class *c);
unsigned j9core_word(const struct j9core *j);

/* Threads and roots, into the sink of a survey.  0, its code, or ERR_NOMEM. */
struct sink;
MUST_CHECK int j9core_roots(const struct j9core *j, struct sink *sink, struct err *err);

/* A class, by the address of its J9Class; NULL: there is none.  Any thread. */
const struct j9_class *j9core_class(const struct j9core *j, uint64_t address);
/* java/lang/Class, as class objects tell; NULL: none does. */
const struct j9_class *j9core_class_of_hubs(const struct j9core *j);
/* Its name as the VM has it, "java/lang/String", "[I": n bytes, borrowed; NULL: it is not there. */
const char *j9core_class_name(const struct j9core *j, const struct j9_class *c, size_t *n);

#endif
