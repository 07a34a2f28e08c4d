/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * value.h - the values that an object holds, as its dump has them.
 *
 * For dumps whose classes declare fields (HPROF).  values_open finds the object's record
 * in the dump; after that fields and elements are read straight from the record's bytes.  A struct
 * values borrows those bytes and owns nothing: it may be copied and needs no release.  Nothing is
 * allocated, and every read is checked against the bytes that the record has.
 *
 * Fields come in HPROF's order: first those of the object's own class, as the class declares them, then
 * those of each superclass.  Where they lie is the reader's word (heap_field.offset).  A class object holds its static
 * fields.  Any thread may read.
 */
#ifndef CAIRN_HEAP_VALUE_H
#define CAIRN_HEAP_VALUE_H

#include "base/err.h"
#include "dump/facts.h"

#include <stdbool.h>
#include <stdint.h>

struct view_walk;

/* One field or element. */
struct value {
	enum value_type type;
	uint64_t bits; /* VALUE_OBJECT: an address, 0 for null.  VALUE_FLOAT, VALUE_DOUBLE: the bits of
	                  the number.  Else the number, sign-extended (boolean and char have no sign). */
};

/* An opened object. */
struct values {
	const struct heap *heap;
	uint32_t id;
	uint32_t class;      /* index of the object's class; of a class object the class it stands for */
	bool is_class;       /* it is a class object: its values are the static fields of `class` */
	uint32_t as;         /* index of the class where looking up a field by name begins (values_as) */
	uint64_t as_offset;  /* bytes of the fields of the subclasses below `as` */
	struct object_view view; /* the record's bytes; empty for a class object */
};

/* A copy by redact holds the references; what it leaves out is as if it was in no record: fields without a value,
 * arrays of numbers without elements, texts that are not known. */

/* Does the dump hold values of objects at all?  Where not, heap_holds_no_values says why. */
bool values_held(const struct heap *h);
/* And are those that are not references what they were? */
bool values_whole(const struct heap *h);
/* Are at least the numbers in fields? */
bool values_of_fields(const struct heap *h);
/* Or does it, and is not here?  Then they are unknown (REASON_DUMP_AWAY). */
bool values_away(const struct heap *h);

/* Open an object.  Returns 0; ERR_UNSUPPORTED where the dump holds no values; ERR_FORMAT or ERR_IO
 * where the record cannot be read.  err may be NULL. */
MUST_CHECK int values_open(struct values *out, const struct heap *h, uint32_t id, struct err *err);
/* The same for a caller that opens many objects: quickest in the dump's order (heap_view_along). */
MUST_CHECK int values_open_along(struct values *out, const struct heap *h, uint32_t id,
    struct view_walk *walk, struct err *err);

/* A walk over the fields of an opened object.  Begin with { .values = v }. */
struct field_walk {
	const struct values *values;
	const struct heap_field *field;
	uint32_t declared_in; /* index of the class that declares it */
	struct value value;
	bool missing;         /* the record ends before it: the value means nothing */
	uint64_t offset;      /* not of static fields: as in struct field_place */
	/* only for values_next_field and values_next_reference */
	bool begun;
	uint32_t next, class, classes_seen;
	uint64_t below;
};
/* Go on to the next field of an instance, or to the next static field of a class object.  Returns false
 * when there are no more; an array has none. */
bool values_next_field(struct field_walk *w);
/* The same for references only, null or not, in the order in which the graph has those of an object: of its record. */
bool values_next_reference(struct field_walk *w);

/* From now on look up fields as the code of this class would, which does not see the fields that
 * subclasses declare.  Returns false and changes nothing if the object is not an instance of the class. */
bool values_as(struct values *v, uint32_t class);
bool values_as_named(struct values *v, const char *class);

/* Read the first field of this name ("value"); the class chosen by values_as comes first, then its
 * superclasses.  Returns false if there is none. */
bool values_field(const struct values *v, const char *name, struct value *out);

/* The number of elements that an array's record really has, which may be fewer than its length; 0 for
 * objects that are not arrays. */
uint64_t values_length(const struct values *v);
enum value_type values_element_type(const struct values *v);
/* Read element i, which must be below values_length(). */
struct value values_element(const struct values *v, uint64_t i);
/* The bytes that a value of this type takes in this dump. */
unsigned values_size_of(const struct heap *h, enum value_type type);

/* Where a field lies in the record of every instance of a class.  For loops over millions of objects:
 * find the place once and read there. */
struct field_place {
	uint64_t offset; /* bytes from the record's first value */
	enum value_type type;
};
/* Find a field by its name.  Returns false if neither the class nor a superclass declares it. */
bool values_place(const struct heap *h, uint32_t class, const char *name, struct field_place *out);
/* Read the field at a place.  Returns false if the record is too short or is not an instance. */
bool values_at(const struct values *v, const struct field_place *place, struct value *out);

/* Read a static field by the names of its class and of itself.  If several classes have the name, the boot
 * loader's is meant.  Returns false if there is no such class or field. */
bool values_static(const struct heap *h, const char *class, const char *field, struct value *out);
/* The index of a class by its name as Java source writes it, preferably the boot loader's; HEAP_NONE if
 * there is none.  Compares with every class's name. */
uint32_t values_class_named(const struct heap *h, const char *name);

/* The id of the object that a value refers to.  Returns HEAP_NONE for null, for a value that is no
 * reference, and for an address where no object begins. */
uint32_t value_object_id(const struct heap *h, const struct value *v);

const char *value_type_name(enum value_type type); /* "int", "object" */

#endif
