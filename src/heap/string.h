/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * string.h - the text of java.lang.String objects, and of arrays of characters.
 *
 * A String keeps its characters in an array of their own.  Before Java 9 that is a char[]; before Java
 * 7u6 the String's fields offset and count say which part of it is meant.  Since Java 9 it is a byte[],
 * and the field coder says whether it holds Latin-1 or UTF-16.  HPROF writes a char[] big-endian, but the
 * bytes of a byte[] as they lay in memory.  So UTF-16 in a byte[] has the byte order of the machine,
 * which the static field java.lang.StringUTF16.HI_BYTE_SHIFT tells.
 *
 * Texts of dumps whose objects are memory are found elsewhere (inspect_text in
 * analysis/describe/describe.h); they too are a struct string_view.  Any thread may read.
 */
#ifndef CAIRN_HEAP_STRING_H
#define CAIRN_HEAP_STRING_H

#include "base/text.h"
#include "heap/ids.h"
#include "heap/value.h"

/* Where the fields of a String lie.  The heap's arena owns it. */
struct string_layout {
	uint32_t class; /* java.lang.String */
	struct field_place value, coder, offset, count;
	bool has_coder;
	bool has_slice;  /* Strings have the fields offset and count */
	bool big_endian; /* byte order of UTF-16 in a byte[] */
};

/* The characters of a text as the dump has them.  The bytes are the dump's. */
struct string_view {
	const uint8_t *bytes;
	uint64_t length; /* units: UTF-16 units, Latin-1 characters, or bytes of UTF-8 */
	unsigned width;  /* bytes of a unit: 2 for UTF-16, else 1 */
	bool big_endian; /* byte order of UTF-16 */
	bool utf8;       /* the bytes are UTF-8, not Latin-1; then width is 1 */
	uint32_t array;  /* id of the object that holds the bytes */
};

/* Find out where Strings keep their text and set heap->strings, once the classes are known.  It stays
 * NULL where the dump holds no values or no class java.lang.String. */
void string_layout_find(struct heap *h);

bool heap_is_string(const struct heap *h, uint32_t id);

/* Find the characters of a String.  Returns false if the object is no String, or has no characters yet
 * (its field value is null). */
bool heap_string(const struct heap *h, uint32_t id, struct string_view *out);
/* The same for a caller that reads many Strings: quickest in the order of ids.  A walk begins zeroed and
 * belongs to one thread. */
struct string_walk {
	struct view_walk string, array;
};
bool heap_string_along(
    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out);
/* Take the elements of an opened char[] as UTF-16, or of a byte[] as Latin-1.  Returns false for any
 * other object. */
bool heap_array_string(const struct values *array, struct string_view *out);

/* Append n units from unit `start` on as escaped UTF-8 (text_add_escaped); half a surrogate pair becomes
 * \uXXXX.  Units behind the end of the text are left out. */
void string_add(const struct string_view *s, uint64_t start, uint64_t n, struct text *to);
/* Append all of it as it is: for comparing, never for a screen.  Half a pair is three bytes as of a character, bytes
 * that were to be UTF-8 stay what they are. */
void string_add_raw(const struct string_view *s, struct text *to);

/* Append the text of the String that a value refers to; of a longer one `limit` units and "…".  Returns
 * false and appends nothing if the value refers to no String. */
bool heap_add_string(const struct heap *h, const struct value *v, uint64_t limit, struct text *to);

#endif
