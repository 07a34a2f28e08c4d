/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_model.h - a small logical heap in memory, written as PHD or classic text with its truth.
 *
 * Objects and classes are numbered; references are numbers of objects, so that addresses can be
 * given last.  The class object of a class is an object of the model like any other.
 */
#ifndef CAIRN_TESTS_MKDUMP_MODEL_H
#define CAIRN_TESTS_MKDUMP_MODEL_H

#include "mkdump.h"

#define NOTHING UINT32_MAX            /* a null reference; no class; no object */
#define OUTSIDE(i) (UINT32_C(1) << 31 | (i)) /* a reference to outside[i], where no object is */

enum model_kind { M_INSTANCE, M_ARRAY, M_PRIMITIVES, M_CLASS };

struct model_class {
	const char *name;       /* the VM's spelling, modified UTF-8 */
	const char *java_name;  /* as Java source has it, UTF-8 */
	uint32_t superclass, component; /* class numbers or NOTHING */
	uint32_t loader;        /* object number or NOTHING */
	uint32_t instance_size; /* as the class record has it */
	int element;            /* enum element of a primitive array, else -1 */
	uint32_t object;        /* the class object */
	uint32_t pool[4];       /* classes that its constant pool names */
	uint32_t n_pool;
};

struct model_object {
	enum model_kind kind;
	uint32_t class; /* its class; for a class object the class it stands for */
	uint64_t length; /* elements of an array */
	uint32_t *references;
	uint32_t n_references, capacity; /* null ones included */
	uint64_t address, size;
	int64_t hash; /* -1: none */
};

struct model {
	struct model_class *classes;
	struct model_object *objects;
	uint64_t *outside;
	uint32_t n_classes, n_objects, n_outside;
	uint32_t object_class, class_class; /* java/lang/Object and java/lang/Class */
	unsigned array_header, reference_size, minimum_size;
};

/* java_name NULL: made from name, which must then be plain UTF-8. */
uint32_t model_class(struct model *m, const char *name, const char *java_name, uint32_t superclass,
    uint32_t loader, uint32_t instance_size);
/* The array class of a component (made on first use); of a primitive type. */
uint32_t model_array_class(struct model *m, uint32_t component);
uint32_t model_primitive_class(struct model *m, enum element element);

uint32_t model_instance(struct model *m, uint32_t class);
uint32_t model_array(struct model *m, uint32_t component, uint64_t length);
uint32_t model_primitives(struct model *m, enum element element, uint64_t length);
void model_refer(struct model *m, uint32_t from, uint32_t to); /* one reference more */
uint32_t model_outside(struct model *m, uint64_t address);

void model_sizes(struct model *m); /* fill in size from class, length and the layout */
void model_release(struct model *m);

/* How a dump is written. */
struct style {
	struct phd_options phd;
	struct classic_options classic;
	bool text;        /* classic */
	bool class_first; /* each instance's first reference is its class (an old J9 defect) */
	bool array_class; /* array records name the array class (Java 6) */
	bool leaf_array;  /* version 4 with J9: leaf class, and the array class as first reference */
	bool lengths_lost; /* version 4: an array's length is its number of references */
	bool sizes_lost;  /* before version 6: array sizes are not in the dump */
};

/* order: object numbers as they stand in the file. */
void model_write(const struct model *m, const char *path, const struct style *style,
    const uint32_t *order);
/* What a reader must find in it; tab-separated, see the head of the file written. */
void model_write_truth(const struct model *m, const char *path, const struct style *style);

#endif
