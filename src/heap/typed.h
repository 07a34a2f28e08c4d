/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed.h - values of objects that are memory as the process had it, read by the types of its program.
 *
 * Formats whose classes declare fields have value.h; here an object is a stretch of bytes.  Its class
 * may have a type (heap_class.type, an index in the types of the dump's program): then the object
 * holds one value of it, or as many as its length says.  Without a type there are words, and the dump
 * tells which of them are pointers (slots).
 *
 * Nothing is allocated; every read is checked against the bytes at hand, and types promise that what
 * they are made of lies within them (dump/types.h).  Any thread.
 */
#ifndef CAIRN_HEAP_TYPED_H
#define CAIRN_HEAP_TYPED_H

#include "base/text.h"
#include "dump/types.h"
#include "heap/heap.h"

/* A value in memory. */
struct typed {
	const struct heap *heap;
	uint32_t type;        /* index in the program's types, or TYPE_NONE */
	const uint8_t *bytes; /* in the dump's byte order */
	uint64_t size;        /* of them: at least what the type says */
	uint64_t address;     /* of the first of them */
};

/* An object: count values of one type behind one another. */
struct typed_object {
	struct typed value; /* the first; all of the object's bytes */
	uint64_t count;     /* 1 for what is no array; 0 without a type */
	uint64_t stride;    /* bytes from one to the next */
	bool array;
	uint32_t id;
	struct object_view view;
};

/* False: its bytes cannot be read.  Without a type, or with one that is larger than the object,
 * value.type is TYPE_NONE. */
bool typed_open(struct typed_object *out, const struct heap *h, uint32_t id);
bool typed_open_along(struct typed_object *out, const struct heap *h, uint32_t id,
    struct view_walk *walk); /* one of many: heap_view_along */
struct typed typed_element(const struct typed_object *o, uint64_t i); /* i < count */

/* NULL for TYPE_NONE. */
const struct type *typed_type(const struct typed *v);
const char *typed_type_name(const struct heap *h, uint32_t type); /* "?" for TYPE_NONE */
unsigned typed_word_size(const struct heap *h);

/* An unsigned number of width bytes (1 to 8) at an offset; 0 where there are none. */
uint64_t typed_number(const struct typed *v, uint64_t offset, unsigned width);
uint64_t typed_word(const struct typed *v, unsigned i); /* the i-th word of the value */

/* Parts of it; false: there is no such part. */
bool typed_part(const struct typed *v, uint64_t offset, uint32_t type, struct typed *out);
bool typed_field(const struct typed *v, const char *name, struct typed *out);
/* Number in a field of that name; 0 where there is none. */
uint64_t typed_field_number(const struct typed *v, const char *name);
/* What lies at an address: in an object, or where the dump or program holds other memory.  False:
 * nowhere, or less than the type needs. */
bool typed_at(const struct heap *h, uint64_t address, uint32_t type, struct typed *out);

/* The innermost part of a value that has the byte at an offset: structs and arrays are looked into.
 * False: there is none. */
bool typed_inner(const struct typed *v, uint64_t offset, struct typed *out);
/* The same of the global variable of the program that an address lies in. */
bool typed_variable(const struct heap *h, uint64_t address, struct typed *out);

/*
 * A global variable or a part of it as the program writes it: "main.conf", "main.conf.Ports[2]";
 * pointers and slices on the way are followed.  0, ERR_NOT_FOUND (no variable), ERR_USAGE (no such
 * part of it), ERR_UNSUPPORTED (the dump does not have the variable's memory).
 */
int typed_named(struct typed *out, const struct heap *h, const char *word, struct err *err);

/* Call back with the name of each variable that begins like a word; where none does, and the variable in
 * front of the word's last dot is a struct or points to one, with that and each of its fields that begins
 * like the rest. */
void typed_names(const struct heap *h, const char *word,
    void (*found)(void *context, const char *name), void *context);

/* Where a pointer leads. */
struct typed_reference {
	uint64_t address; /* as it stands there; 0: nil */
	uint32_t id;      /* the object that covers it, or HEAP_NONE */
	uint64_t offset;  /* into that object */
};
struct typed_reference typed_resolve(const struct heap *h, uint64_t address);
/* The pointer that a value of this kind is or holds (a string's characters, the data of an
 * interface); false: it is no single pointer. */
bool typed_pointer(const struct typed *v, struct typed_reference *out);

/* What an interface holds: false for nil, and where nobody knows the dynamic type.  Its name goes to
 * name (may be NULL); where only that is known out->type is TYPE_NONE. */
bool typed_dynamic(const struct typed *v, struct typed *out, struct text *name);

/* The words of an object that are pointers, in the order of its references; begin zeroed. */
bool typed_next_slot(const struct typed_object *o, struct slot_walk *w);
/* Append by what name one gets to the byte at an offset of an object: "Cart[3].Item", "[7].Key";
 * "+0x10" without a type. */
void typed_path(const struct typed_object *o, uint64_t offset, struct text *to);

/* The innermost parts that make a value: structs and arrays of pointers or structs taken apart, numbers
 * that stand together not.  Calls back for each with its name; structs without fields are parts. */
typedef void typed_part_found(void *context, const struct typed *part, const char *name);
void typed_parts(const struct typed *v, typed_part_found *found, void *context);

/*
 * The text that an object is: bytes of the type of characters, without the zeros at their end (objects
 * are larger than what was asked for); or of no type and without pointers, then up to the first NUL and
 * at least four.  Only whether the first TEXT_LOOKED_AT of them are UTF-8 without
 * controls decides.  False: it is none.
 */
#define TEXT_LOOKED_AT 256
bool typed_text(const struct typed_object *o, const uint8_t **text, uint64_t *n);
/* Are these bytes UTF-8 without control characters but \n, \t and \r?  The last character may be cut. */
bool typed_printable(const uint8_t *bytes, uint64_t n);

/* Is there a pointer in values of this type? */
bool types_has_pointers(const struct types *t, uint32_t type);

/* --- contents of slices, maps, channels (typed_contents.c) -------------------------------------- */

/*
 * Begin with typed_contents_open, then typed_contents_next until false.  Maps by the layout that the
 * program's types tell, in no order; channels: what is buffered, oldest first.
 */
struct typed_contents {
	const struct heap *heap;
	bool map;          /* entries have a key */
	uint64_t size;     /* entries there should be */
	uint64_t capacity; /* 0: does not apply */
	bool broken;       /* the structure runs in a circle or leads astray */
	struct typed key, value; /* of the entry found last */
	/* its own */
	enum { CONTENTS_ROW, CONTENTS_BUCKETS } how;
	uint32_t key_type, value_type, bucket_type;
	uint64_t first;             /* address of the row, of the buckets */
	uint64_t found;             /* entries so far */
	uint64_t begin;             /* of a ring: index of its first element */
	uint64_t buckets, next;     /* in the array of buckets: how many, the next one */
	uint64_t old_first, old_buckets; /* the array that a growing map is still taken from; 0: none */
	struct typed row, old_row;  /* the memory at first and old_first, once it was looked up */
	struct typed bucket;        /* the one looked at, bytes NULL: none */
	unsigned slot;              /* the next in it */
	unsigned chain;             /* buckets that overflowed into it */
};

/* Of a slice, array, map, channel or a pointer to one, or of the memory of a map or channel; what an
 * array object holds.  0, or ERR_NOT_FOUND with what it is instead. */
int typed_contents_open(struct typed_contents *c, const struct typed *v, struct err *err);
int typed_contents_of_object(
    struct typed_contents *c, const struct heap *h, uint32_t id, struct err *err);
/* Of elements without bytes, which any number can be of, the first TYPED_MOST_EMPTY. */
#define TYPED_MOST_EMPTY 65536
bool typed_contents_next(struct typed_contents *c);

#endif
