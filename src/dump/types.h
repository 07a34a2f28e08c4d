/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * types.h - the types of a program, from its debug information.
 *
 * A type says what a value consists of and how wide it is, so that its bytes can be read.  It is an
 * index into types.type; TYPE_NONE is not a type.  Names are as the program's language writes them,
 * escaped.
 *
 * types_settle makes these promises true, whatever the file said:
 *     an index of a type is below n, or TYPE_NONE;
 *     a field lies within its struct (offset + size of the field's type <= size of the struct);
 *     the size of an array is its count times the size of its element;
 *     no type contains itself by value, and none is nested deeper than TYPE_DEPTH.
 * Pointers may lead in circles.
 *
 * Any thread may read the types once the dump is open.
 */
#ifndef CAIRN_DUMP_TYPES_H
#define CAIRN_DUMP_TYPES_H

#include "memory/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define TYPE_NONE UINT32_MAX
#define TYPE_DEPTH 24 /* structs and arrays by value inside one another */

enum type_kind {
	TYPE_UNKNOWN, /* only its size is known; also a type that broke the promises */
	TYPE_BOOL, TYPE_INT, TYPE_UINT, TYPE_UINTPTR, TYPE_FLOAT, TYPE_COMPLEX,
	TYPE_STRING,          /* a pointer to bytes and their number */
	TYPE_POINTER,         /* to element; element TYPE_NONE: to anything (unsafe.Pointer) */
	TYPE_SLICE,           /* a pointer to elements, length, capacity */
	TYPE_ARRAY,           /* count elements in place */
	TYPE_STRUCT,
	TYPE_INTERFACE,       /* a pointer to an itab, and the data word */
	TYPE_EMPTY_INTERFACE, /* a pointer to a type descriptor, and the data word */
	TYPE_MAP,             /* a pointer to layout; key and element */
	TYPE_CHAN,            /* a pointer to layout; element */
	TYPE_FUNC,            /* a pointer to a closure, whose first word is the address of its code */
};

struct type_field {
	const char *name;
	uint64_t offset; /* bytes from the start of the struct */
	uint32_t type;   /* never TYPE_NONE */
	bool embedded;
};

struct type {
	const char *name;    /* "main.Order", "map[string]int"; never NULL */
	enum type_kind kind;
	uint64_t size;       /* bytes */
	uint64_t count;      /* of an array's elements */
	uint32_t element;    /* what a pointer leads to; what a slice, array, map or channel
	                        holds; else TYPE_NONE */
	uint32_t key;        /* what the keys of a map are */
	uint32_t layout;     /* the struct in memory that a map or channel points to, or TYPE_NONE */
	uint32_t first_field, n_fields; /* a struct's fields: where they stand in types.field */
	uint64_t descriptor; /* address in the dump of the run-time descriptor; 0: none or unknown */
};

/* All arrays are big memory. */
struct types {
	struct type *type;
	uint32_t n, cap;
	struct type_field *field;
	uint32_t n_fields, cap_fields;
	unsigned word; /* bytes of a pointer */
	bool big_endian;
	uint32_t *by_descriptor; /* the types with a descriptor, by its ascending address */
	uint32_t n_by_descriptor;
	uint32_t *by_name;       /* all types, by name, then by index */
	struct arena arena;      /* names */
};

static inline const struct type_field *types_fields(const struct types *t, const struct type *of)
{
	return t->field + of->first_field;
}

/* The type whose run-time descriptor stands at this address of the dump, or TYPE_NONE. */
uint32_t types_by_descriptor(const struct types *t, uint64_t address);
/* The first type of this name, or TYPE_NONE. */
uint32_t types_by_name(const struct types *t, const char *name);
/* Index (in types.field) of a struct's field, or UINT32_MAX. */
uint32_t types_field(const struct types *t, uint32_t type, const char *name);
/* Is a value of this type nothing but one pointer, so that an interface's data word is the value
 * itself and not a pointer to it? */
bool types_is_direct(const struct types *t, uint32_t type);

/* The code that fills the table calls this at the end: it makes the promises above true, then makes
 * by_descriptor and by_name.  ERR_NOMEM: the table can only be released. */
MUST_CHECK int types_settle(struct types *t, struct err *err);
void types_release(struct types *t);

#endif
