/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * string.h - the text of java.lang.String objects, and of arrays of characters.
 *
 * A String's characters lie in an array of their own: a char[] (before Java 9; with offset and count
 * before Java 7u6), or a byte[] whose coder says whether it holds Latin-1 or UTF-16.  HPROF writes a
 * char[] big-endian, but the bytes of a byte[] as they lie in memory: UTF-16 in the byte order of the
 * machine, which the static java.lang.StringUTF16.HI_BYTE_SHIFT tells.
 *
 * Where objects are memory (typed.h) the bytes of a text are an object, and who points to them and how
 * many he means stands elsewhere: there an object is a string when it holds a text, which is UTF-8.
 *
 * Any thread.
 */
#ifndef CAIRN_HEAP_STRING_H
#define CAIRN_HEAP_STRING_H

#include "base/text.h"
#include "heap/value.h"

/* Where the fields of a String lie; made once for a heap. */
struct string_layout {
	uint32_t class; /* java.lang.String */
	struct field_place value, coder, offset, count;
	bool has_coder, has_slice; /* offset and count */
	bool big_endian;           /* UTF-16 in byte[] */
};

/* Characters as the dump has them, borrowed from it. */
struct string_view {
	const uint8_t *bytes;
	uint64_t length; /* in UTF-16 units, or Latin-1 characters */
	unsigned width;  /* bytes of each: 1 Latin-1, 2 UTF-16 */
	bool big_endian; /* of UTF-16 */
	bool utf8;       /* width is 1, and the bytes are UTF-8 */
	uint32_t array;  /* the object that holds them */
};

/* After the classes are known: fills heap->strings; stays NULL where there are no values or Strings. */
void string_layout_find(struct heap *h);

static inline bool heap_is_string(const struct heap *h, uint32_t id)
{
	return h->strings && h->class_of[id] == h->strings->class;
}

/* The characters of a String, or of bytes that are text.  False: it is none, or has no characters yet
 * (value is null). */
bool heap_string(const struct heap *h, uint32_t id, struct string_view *out);
/* The same of many, quickest in the order of ids (heap_view_along). */
struct string_walk {
	struct view_walk string, array;
};
bool heap_string_along(
    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out);
/* The same of a char[] or byte[] (taken as Latin-1). */
bool heap_array_string(const struct values *array, struct string_view *out);

/* n units from unit start on, as UTF-8, escaped (text_add_escaped; half a surrogate pair as \uXXXX);
 * what lies behind the end is nothing. */
void string_add(const struct string_view *s, uint64_t start, uint64_t n, struct text *to);

/* The whole text of the String that a value leads to; false: it leads to none. */
bool heap_add_string(const struct heap *h, const struct value *v, uint64_t limit, struct text *to);

#endif
