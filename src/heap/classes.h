/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classes.h - the classes of a heap, their fields, names and loaders.
 *
 * A class is named by its index in heap->classes.  heap.h and ids.h come with it.
 */
#ifndef CAIRN_HEAP_CLASSES_H
#define CAIRN_HEAP_CLASSES_H

#include "dump/facts.h"
#include "heap/heap.h"

struct bits;

enum class_kind { CLASS_PLAIN, CLASS_OBJECT_ARRAY, CLASS_PRIMITIVE_ARRAY, CLASS_PRIMITIVE };

/* A field that a class declares; for a static one its value (an address for VALUE_OBJECT). */
struct heap_field {
	const char *name; /* UTF-8, escaped */
	enum value_type type;
	uint32_t offset;  /* not of statics: in an object's record, behind fields_size of the subclasses; bytes */
	uint64_t value;   /* statics only */
};

struct heap_class {
	const char *name;       /* as Java source writes it, UTF-8, escaped: "java.util.Map$Entry", "char[]" */
	uint32_t name_rank;     /* orders classes by name; equal for equal names: see heap_class_order */
	uint64_t address;       /* of the class object; 0 when the dump has none */
	uint32_t object;        /* id of the class object, or HEAP_NONE */
	uint32_t superclass;    /* class index or HEAP_NONE */
	uint32_t loader;        /* id of the loader object, or HEAP_NONE: unknown or none */
	bool loader_lost;       /* HEAP_NONE, but that is not the boot loader: the dump has no record of the
	                           class, or the loader that it states is not an object of it */
	uint32_t component;     /* class index of an array's component, or HEAP_NONE */
	/* The VM keeps the class of an array with that of its elements (heap_keep_arrays); class indices + 1, 0 none: */
	uint32_t kept_with;     /* of an array class: the class it is kept with */
	uint32_t keeps;         /* the first array class that is kept with this one */
	uint32_t next_kept;     /* of an array class: the next that is kept with the same */
	enum class_kind kind;
	bool defined;           /* the dump has a record of it; false: made up from a mention */
	bool makes_loaders;     /* its instances are class loaders */
	bool name_shared;       /* several classes have this name, and object records give no more than the
	                           name: the first of these classes has all the objects */
	bool objects_inferred;  /* which objects are of this class is not recorded: see build/fillers.c */
	unsigned element_size;  /* bytes of an element of a primitive array; 0 otherwise */
	unsigned stride;        /* bytes of an element where lengths follow from sizes; else 0 */
	unsigned array_base;    /* where sizes follow from lengths: first byte of the elements; else 0 */
	bool size_measured;     /* instance_size is not what the rules give, but how far the next objects lie */
	bool size_doubtful;     /* instances may be larger: there is room behind each, which proves nothing */
	bool sizes_vary;        /* some plain instances do not have instance_size: see heap->odd */
	uint64_t instance_size; /* bytes of a plain instance, rounded; SIZE_UNKNOWN if unknown */
	const struct heap_field *fields; /* declared by this very class, in the dump's order */
	const struct heap_field *statics;
	uint32_t n_fields, n_statics;    /* 0 where the format tells none */
	uint32_t fields_size;   /* bytes of an instance's record before the fields of the superclass */
	uint32_t taken;         /* bytes that header and fields of an instance take; 0: to be counted */
	uint32_t type;          /* index in dump->types, or HEAP_NONE */
	uint32_t n_objects;     /* instances of exactly this class */
	uint32_t n_unknown;     /* instances of unknown size; they count 0 bytes */
	uint64_t shallow;       /* bytes of all instances */
};

/* The class of arrays that Android's dumper writes for the room of static fields and tables in a class object
 * (build/classes.c): the program has no such arrays. */
#define CLASS_OVERHEAD "<class overhead>"

/* The arrays with which a collector fills gaps: cairn gives them a class of their own, which the VM did not load
 * (build/fillers.c). */
static inline bool heap_class_is_filler(const struct heap_class *c)
{
	return c->objects_inferred && !c->defined;
}

/* Made by no loader that is an object, as far as the dump tells. */
static inline bool heap_class_has_no_loader(const struct heap_class *c)
{
	return c->loader == HEAP_NONE && !c->loader_lost;
}

/* Order of two classes by name, those of one name by index.  It does not look at the names, which may be
 * long and shared by any number of classes. */
static inline int heap_class_order(const struct heap_class *classes, uint32_t a, uint32_t b)
{
	uint32_t x = classes[a].name_rank, y = classes[b].name_rank;
	return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

static inline const struct heap_class *heap_class_of(const struct heap *h, uint32_t id)
{
	cairn_assert(id < h->n_objects && heap_class_index(h, id) < h->n_classes);
	return &h->classes[heap_class_index(h, id)];
}

/* What people see for a class loader: the name of its class, "<boot>" of HEAP_NONE where that is the boot loader,
 * "<unknown>" where it is not in the dump (lost, as heap_class.loader_lost); NULL: the dump does not say. */
static inline const char *heap_loader_class_name(const struct heap *h, uint32_t loader, bool lost)
{
	if (loader != HEAP_NONE)
		return heap_class_of(h, loader)->name;
	return lost ? "<unknown>" : h->facts.boot_loader_is_null ? "<boot>" : NULL;
}

/* The size of an array in bytes by the heap's rule; SIZE_UNKNOWN without a rule or a length. */
static inline uint64_t heap_array_size(const struct heap *h, const struct heap_class *c, uint64_t length)
{
	const struct array_rule *r = &h->array_rule;
	uint64_t width = c->kind == CLASS_PRIMITIVE_ARRAY ? c->element_size : r->reference;
	if (!c->array_base || length > (UINT64_MAX >> 1) / 8)
		return SIZE_UNKNOWN;
	if (!length && r->empty)
		return r->empty;
	uint64_t size = (c->array_base + length * width + r->alignment - 1) & -(uint64_t)r->alignment;
	return size < r->minimum ? r->minimum : size;
}

/* The class that this object is the class object of, or HEAP_NONE for ordinary objects. */
uint32_t heap_class_mirrored(const struct heap *h, uint32_t id);

enum { HEAP_ARRAYS_KEPT = 12 }; /* array classes that are kept with one class, at most */
/* The class object that keeps this class's object because it is of an array of that class; HEAP_NONE: none does. */
uint32_t heap_array_keeper(const struct heap *h, uint32_t class);
/* Find which array classes are kept with which class (facts.array_classes_kept): HotSpot's loader data holds them,
 * no reference of a dump does.  Not where shallow sizes are MAT's.  Arrays of primitives, which never go, are kept
 * with java.lang.Object.  Call it once classes and their components are known. */
void heap_keep_arrays(struct heap *h);

/* Does this class's loader keep it, though no reference says so (facts.loaders_hold_classes)? */
bool heap_loader_holds(const struct heap *h, uint32_t class);
/* The number of classes that this object is said to have loaded; *classes gets their indices,
 * ascending. */
uint32_t heap_classes_of(const struct heap *h, uint32_t loader, const uint32_t **classes);
/* The number of classes that a loader keeps in this way; *classes gets their indices.  0 for an
 * object that is not a loader. */
uint32_t heap_loaded_classes(const struct heap *h, uint32_t id, const uint32_t **classes);

/* Have two of these classes (a bit for each) one name, as those of several loaders may?  Without memory: no. */
bool heap_names_repeat(const struct heap *h, const struct bits *classes);
/* Fill name_rank of all classes.  Whoever makes or changes a heap's classes calls it (name_order.c). */
MUST_CHECK int heap_order_names(struct heap *h, struct err *err);

#endif
