/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_hprof.h - a heap with values, written as HotSpot 17 writes one with compressed references.
 *
 * Objects get their address when they are made, one behind the other at the distances that the VM's
 * layout gives them; a reference is the index of an object.  A class's fields are said in one string,
 * in the dump's order: "next:L hash:I".
 */
#ifndef CAIRN_TESTS_MKDUMP_HPROF_H
#define CAIRN_TESTS_MKDUMP_HPROF_H

#include "mkdump.h"

#define HP_NONE UINT32_MAX

struct hp_field {
	char name[40];
	char type; /* L, or as in a signature */
	uint64_t value; /* of a static: address or bits */
};

struct hp_class {
	const char *name; /* internal: "java/lang/String", "[B" */
	uint32_t super, loader; /* class, object; HP_NONE */
	struct hp_field *fields, *statics;
	unsigned n_fields, n_statics;
	uint32_t object;
	char element; /* of an array class: L or the type; 0 */
	uint32_t n_objects;
	uint64_t shallow;
};

struct hp_object {
	uint64_t address, size;
	uint32_t class;    /* of a class object: the class it stands for */
	bool is_class;
	uint32_t length;   /* of an array */
	uint64_t *value;   /* of each field of the class chain, or each element: address or bits */
	const void *bytes; /* of a byte[] */
};

struct hp_frame {
	const char *method, *signature, *source;
	uint32_t class;
	int32_t line;
};

struct hp_root {
	unsigned tag;
	uint32_t object, thread, frame; /* thread: from 1; 0 none */
};

struct hp {
	struct hp_class *classes;
	struct hp_object *objects;
	struct hp_root *roots;
	uint32_t n_classes, n_objects, n_roots;
	uint64_t next;    /* free address; set it before anything is made */
	uint64_t seconds; /* when it is dumped, since 1970; set it as well */
	struct hp_thread {
		uint32_t object, n_frames;
		struct hp_frame frame[8];
	} thread[16];
	uint32_t n_threads;
	uint64_t n_references;
};

/* loader: an object or HP_NONE; the same name may be made once for each loader.  fields and statics:
 * "name:T name:T", NULL none. */
uint32_t hp_class(struct hp *h, const char *name, uint32_t super, uint32_t loader, const char *fields,
    const char *statics);
uint32_t hp_find_class(const struct hp *h, const char *name); /* the first of that name; dies */
uint32_t hp_array_class(struct hp *h, const char *name);      /* made when it is not there yet */

uint32_t hp_new(struct hp *h, const char *class);
uint32_t hp_new_of(struct hp *h, uint32_t class);
void hp_set(struct hp *h, uint32_t object, const char *field, uint64_t bits);
void hp_refer(struct hp *h, uint32_t object, const char *field, uint32_t target);
void hp_set_static(struct hp *h, uint32_t class, const char *field, uint64_t bits);
void hp_refer_static(struct hp *h, uint32_t class, const char *field, uint32_t target);
/* class: "[Ljava/lang/Object;", "[I" */
uint32_t hp_array(struct hp *h, const char *class, uint32_t length);
void hp_element(struct hp *h, uint32_t array, uint32_t i, uint64_t bits);
void hp_refer_element(struct hp *h, uint32_t array, uint32_t i, uint32_t target);
uint32_t hp_bytes(struct hp *h, const void *bytes, uint32_t n); /* kept by the heap */
uint32_t hp_string(struct hp *h, const char *utf8);             /* half a pair: in three bytes */
uint32_t hp_string_hash(const char *utf8);                      /* String.hashCode */

void hp_root(struct hp *h, unsigned tag, uint32_t object, uint32_t thread, uint32_t frame);
void hp_write(struct hp *h, const char *path);
void hp_release(struct hp *h);

/* The samples data/shop*.hprof, and beside each what a test should find in it (mkdump_shop.c). */
void shop_write(const char *directory, bool truth);

#endif
