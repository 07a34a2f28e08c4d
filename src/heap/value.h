/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * value.h - the values that an object holds, as its dump has them.
 *
 * An object is opened once (values_open), then its fields or elements are read straight from the
 * dump's bytes: nothing is allocated, every read is checked against the bytes the record has.
 * Fields come as HPROF has them: those of the object's own class first, in the order the class
 * declares them, then those of each superclass.  A class object holds its static fields.
 *
 * Any thread.
 */
#ifndef CAIRN_HEAP_VALUE_H
#define CAIRN_HEAP_VALUE_H

#include "heap/heap.h"

/* VALUE_OBJECT: an address, 0 for null.  VALUE_FLOAT and VALUE_DOUBLE: the bits of the number.
 * Else the number, sign-extended (boolean and char are not signed). */
struct value {
	enum value_type type;
	uint64_t bits;
};

struct values {
	const struct heap *heap;
	uint32_t id;
	uint32_t class;      /* of the object; of a class object the class that it stands for */
	bool is_class;       /* its values are the statics of that class */
	uint32_t as;         /* fields are looked up by name from this class on (values_as) */
	uint64_t as_offset;  /* bytes of the fields of the classes below it */
	struct object_view view;
};

/* Does the dump hold values at all?  Where not, heap_view says why. */
bool values_held(const struct heap *h);

/* 0, or what heap_view says (ERR_UNSUPPORTED where the format holds none); err may be NULL. */
int values_open(struct values *out, const struct heap *h, uint32_t id, struct err *err);
int values_open_along(struct values *out, const struct heap *h, uint32_t id, struct view_walk *walk,
    struct err *err); /* one of many: heap_view_along */

/* One after another; begin with { .values = v }. */
struct field_walk {
	const struct values *values;
	const struct heap_field *field;
	uint32_t declared_in; /* class index */
	struct value value;
	bool missing;         /* the record is too short to hold it */
	/* the walk's own */
	bool begun;
	uint32_t next, class, classes_seen;
	uint64_t offset;
};
/* The next field of an instance, or static field of a class object.  False: there are no more. */
bool values_next_field(struct field_walk *w);

/* Look up fields as code of this class would: those that subclasses declare are passed over.  False
 * (nothing changed): the object is not of this class or a subclass. */
bool values_as(struct values *v, uint32_t class);
bool values_as_named(struct values *v, const char *class);

/* The first field of this name ("value"), own class (values_as) first; false: there is none. */
bool values_field(const struct values *v, const char *name, struct value *out);

/* Elements of an array that the record really has; 0 for other objects. */
uint64_t values_length(const struct values *v);
enum value_type values_element_type(const struct values *v);
/* Element i < values_length(). */
struct value values_element(const struct values *v, uint64_t i);
/* Bytes that an element of this type takes in this dump. */
unsigned values_size_of(const struct heap *h, enum value_type type);

/* Where a field of this name lies in the record of every instance of a class.  For those who look at
 * millions of objects.  False: no such field. */
struct field_place {
	uint64_t offset;
	enum value_type type;
};
bool values_place(const struct heap *h, uint32_t class, const char *name, struct field_place *out);
/* False: the record is too short. */
bool values_at(const struct values *v, const struct field_place *place, struct value *out);

/* Static field of a class by its names; false: there is no such class (of the boot loader, if several
 * have the name) or field. */
bool values_static(const struct heap *h, const char *class, const char *field, struct value *out);
/* A class of this name as Java source writes it, preferably the boot loader's; or HEAP_NONE.  Looks
 * at every class. */
uint32_t values_class_named(const struct heap *h, const char *name);

/* The object that a reference leads to; HEAP_NONE for null, for what is no reference, and for an
 * address where no object is. */
uint32_t value_object_id(const struct heap *h, const struct value *v);

const char *value_type_name(enum value_type type); /* "int", "object" */

#endif
