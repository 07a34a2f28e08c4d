/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed.h - values of objects that are memory as the process had it, read by the types of its program.
 *
 * This is the way of Go dumps; value.h is that of dumps whose classes declare fields.  An object is a
 * stretch of bytes.  If its class has a type (heap_class.type, an index in the types of the dump's
 * program), the object holds one value of that type, or of an array as many as its length says.  If not,
 * it holds words, and the dump tells which of them are pointers.
 *
 * A struct typed borrows the dump's bytes and owns nothing.  Nothing is allocated.  Every read is checked
 * against the bytes of the value, and types promise that their parts lie within them (dump/types.h).  Call
 * these functions for a heap whose facts.values is TYPED_MEMORY.  Any thread may.
 */
#ifndef CAIRN_HEAP_TYPED_TYPED_H
#define CAIRN_HEAP_TYPED_TYPED_H

#include "base/err.h"
#include "base/text.h"
#include "dump/facts.h"

struct err;
struct slot_walk;
struct types;
struct view_walk;

const char *typed_by_name(enum typed_by by); /* "interface", "pointer", … */

/* A value in memory. */
struct typed {
	const struct heap *heap;
	uint32_t type;        /* index in the program's types, or TYPE_NONE */
	const uint8_t *bytes; /* in the dump's byte order */
	uint64_t size;        /* of the bytes: at least the size of the type */
	uint64_t address;     /* of the first byte, in the process */
};

/* An opened object: `count` values of one type, one behind another. */
struct typed_object {
	struct typed value; /* the first value, but with all the bytes of the object */
	uint64_t count;     /* values: 1 for an object that is not an array, 0 for one without a type */
	uint64_t stride;    /* bytes from one value to the next */
	uint64_t head;      /* bytes of the object before the first value; 0 where there is no type */
	bool array;
	uint32_t id;
	struct object_view view;
};

/* Open an object.  Returns false if its bytes cannot be read.  value.type is TYPE_NONE if its class has no
 * type, or one that is larger than the object. */
bool typed_open(struct typed_object *out, const struct heap *h, uint32_t id);
/* The same for a caller that opens many objects: quickest in the dump's order (heap_view_along). */
bool typed_open_along(struct typed_object *out, const struct heap *h, uint32_t id,
    struct view_walk *walk);
/* Value i of an opened object, which must be below its count. */
struct typed typed_element(const struct typed_object *o, uint64_t i);

/* The type of a value; NULL if it has none. */
const struct type *typed_type(const struct typed *v);
const char *typed_type_name(const struct heap *h, uint32_t type); /* "?" for TYPE_NONE */
unsigned typed_word_size(const struct heap *h); /* bytes of a pointer: 4 or 8 */

/* Read an unsigned number of `width` bytes (1 to 8) at an offset; 0 where the value has no such bytes. */
uint64_t typed_number(const struct typed *v, uint64_t offset, unsigned width);
uint64_t typed_word(const struct typed *v, unsigned i); /* the i-th word of the value, from 0 */

/* Take the part of a value that lies at an offset and has this type, or the field of a struct by its name.
 * Both return false if there is no such part. */
bool typed_part(const struct typed *v, uint64_t offset, uint32_t type, struct typed *out);
bool typed_field(const struct typed *v, const char *name, struct typed *out);
/* The number in the field of a struct; 0 if it has no such field. */
uint64_t typed_field_number(const struct typed *v, const char *name);
/* Take the value of a type at an address, be it in an object or in other memory that the dump or the
 * program holds.  Returns false if neither has that address, or has too few bytes there. */
bool typed_at(const struct heap *h, uint64_t address, uint32_t type, struct typed *out);

/* Take the innermost part of a value that has the byte at an offset; structs and arrays are looked into.
 * Returns false if no part has it. */
bool typed_inner(const struct typed *v, uint64_t offset, struct typed *out);
/* The same for an address in one of the program's global variables. */
bool typed_variable(const struct heap *h, uint64_t address, struct typed *out);

/*
 * Take a global variable, or a part of one, by what the program would write: "main.conf",
 * "main.conf.Ports[2]".  Pointers and slices on the way are followed.  Returns 0; ERR_NOT_FOUND if no
 * variable is called so; ERR_USAGE if it has no such part; ERR_UNSUPPORTED if the dump does not have
 * the variable's memory.
 */
MUST_CHECK int typed_named(struct typed *out, const struct heap *h, const char *word,
    struct err *err);

/* Call back with the name of each global variable that begins with this word.  If there is none, look at
 * what stands before the word's last dot: if that is a variable that is a struct or points to one, call
 * back with each of its fields that begins like the rest ("main.conf.Ports"). */
void typed_names(const struct heap *h, const char *word,
    void (*found)(void *context, const char *name), void *context);

/* Where a pointer leads. */
struct typed_reference {
	uint64_t address; /* the pointer itself; 0: nil */
	uint32_t id;      /* the object that has this address in its memory, or HEAP_NONE */
	uint64_t offset;  /* bytes from the beginning of its value: 0 of an object that begins with a header */
};
struct typed_reference typed_resolve(const struct heap *h, uint64_t address);
/* Find the one pointer that a value is or holds: that of a string to its characters, that of an interface
 * to its data.  Returns false for a value that is not one pointer (a number, a struct). */
bool typed_pointer(const struct typed *v, struct typed_reference *out);

/* Take the value that an interface holds, and append the name of its type to name (may be NULL).  Returns
 * false for nil, and if nobody knows the dynamic type.  If only the type's name is known, out->type is
 * TYPE_NONE. */
bool typed_dynamic(const struct typed *v, struct typed *out, struct text *name);

/* Go on to the next word of an object that is a pointer; w->offset tells where, in bytes from o->value.  They
 * come in the order of the object's references.  A walk begins zeroed.  Returns false when there are no
 * more. */
bool typed_next_slot(const struct typed_object *o, struct slot_walk *w);
/* Append the name of the part of an object that has the byte at an offset: "Cart[3].Item", "[7].Key";
 * "+0x10" of an object without a type. */
void typed_path(const struct typed_object *o, uint64_t offset, struct text *to);

/* Call back for each part that makes a value, with its name.  Structs are taken apart, and so are arrays of
 * what holds pointers; an array of plain numbers is one part, and so is a struct without fields. */
typedef void typed_part_found(void *context, const struct typed *part, const char *name);
void typed_parts(const struct typed *v, typed_part_found *found, void *context);

/*
 * Find the text that an object is; *text borrows the dump's bytes, *n is their number.  An array of bytes
 * is a text without the zeros at its end, because objects are larger than what the program asked for.
 * An object of no type and without pointers is a text up to its first NUL, if that has at least four
 * bytes.  The first TEXT_LOOKED_AT bytes decide: they must be UTF-8 without control characters.
 * Returns false if the object is not a text.
 */
#define TEXT_LOOKED_AT 256
bool typed_text(const struct typed_object *o, const uint8_t **text, uint64_t *n);
/* Are these bytes UTF-8 without control characters other than \n, \t and \r?  The last character may be
 * cut off. */
bool typed_printable(const uint8_t *bytes, uint64_t n);

/* --- contents of slices, maps, channels (typed_contents.c) -------------------------------------- */

/*
 * A walk over the contents.  Call typed_contents_open, then typed_contents_next until it returns false.
 * Nothing has to be released.  Entries of a map come in no order; of a channel what is buffered comes,
 * the oldest first.
 */
struct typed_contents {
	const struct heap *heap;
	bool map;          /* entries have a key */
	uint64_t size;     /* number of entries, as the structure itself says */
	uint64_t capacity; /* entries that there is room for; 0: does not apply */
	bool broken;       /* the structure runs in a circle or leads to memory that the dump lacks */
	struct typed key, value; /* of the entry found last */
	/* only for typed_contents_next */
	enum { CONTENTS_ROW, CONTENTS_BUCKETS, CONTENTS_SWISS } how;
	uint32_t key_type, value_type, bucket_type;
	bool key_indirect, value_indirect; /* of a map: pointers to them stand there */
	uint64_t first;             /* address of the row, of the buckets */
	uint64_t found;             /* entries so far */
	uint64_t begin;             /* of a ring: index of its first element */
	uint64_t buckets, next;     /* in the array of buckets, or in the directory: how many, the next one */
	uint64_t old_first, old_buckets; /* the array that a growing map is still taken from; 0: none */
	struct typed row, old_row;  /* the memory at first and old_first, once it was looked up */
	struct typed bucket;        /* the one looked at, bytes NULL: none */
	uint64_t slot;              /* the next in it */
	unsigned chain;             /* buckets that overflowed into it */
	struct contents_swiss {
		uint32_t pointer_type, table_type;   /* of the directory's elements, of what they lead to */
		uint64_t places;                     /* of a group */
		uint64_t control, key, value;        /* bytes into a group: control bytes, the first key and elem */
		uint64_t key_stride, value_stride;
		uint64_t groups_at, groups, group;   /* the table's: address, how many, the next one */
		uint64_t groups_left;                /* that may still be visited */
		struct typed row;                    /* the memory of the table's groups */
	} swiss;
};

/* Begin with a slice, array, map or channel, with a pointer to one, or with the memory that a map or
 * channel itself is.  Returns 0, or ERR_NOT_FOUND; then *err says what it is instead. */
MUST_CHECK int typed_contents_open(struct typed_contents *c, const struct typed *v,
    struct err *err);
/* The same for an object; what is an array object contains its elements. */
MUST_CHECK int typed_contents_of_object(struct typed_contents *c, const struct heap *h,
    uint32_t id, struct err *err);
/* Go on to the next entry: key and value.  Returns false when there are no more.  Of elements that have
 * no bytes a slice can claim any number; only the first TYPED_MOST_EMPTY are given. */
#define TYPED_MOST_EMPTY 65536
bool typed_contents_next(struct typed_contents *c);

#endif
