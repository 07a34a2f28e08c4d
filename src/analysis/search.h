/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - classes by name, objects by address.
 *
 * A name index is built once per heap and read by any thread afterwards.
 */
#ifndef CAIRN_ANALYSIS_SEARCH_H
#define CAIRN_ANALYSIS_SEARCH_H

#include "base/text.h"
#include "heap/heap.h"

struct name_index {
	const struct heap *heap;
	uint32_t *by_name; /* class indices in strcmp order of their names, then by index */
	uint32_t n;
};

struct name_index *name_index_new(const struct heap *heap, struct err *err); /* NULL: ERR_NOMEM */
void name_index_free(struct name_index *ix); /* NULL is fine */

/* Classes whose name is exactly, or begins with, this: number and, in *first, position in by_name. */
uint32_t name_index_exact(const struct name_index *ix, const char *name, uint32_t *first);
uint32_t name_index_prefix(const struct name_index *ix, const char *prefix, uint32_t *first);
const char *name_index_name(const struct name_index *ix, uint32_t position);

/* What stands after the last dot that belongs to the name: "Map$Entry", "String[]". */
const char *class_last_part(const char *name);
/* And after the last $ of that: "Entry", "Entry[]"; NULL when there is none. */
const char *class_inner_part(const char *name);

/*
 * A class name in any spelling ("java/lang/String", "[C", "[Ljava.lang.String;", "char[]") as Java
 * source writes it, appended.  False when it is not the VM's spelling: then the word is copied.
 */
bool class_name_as_source(const char *word, struct text *to);

/* '*' any characters, '?' one byte; all else is itself. */
bool glob_match(const char *pattern, const char *s);

/* The up to 3 names nearest to a mistyped one, by edit distance to the name or its last part;
 * returns their number.  Upper and lower case count as the same letter. */
#define NEAREST 3
unsigned name_index_nearest(const struct name_index *ix, const char *word, const char *out[NEAREST]);
/* Edits (insert, delete, replace, swap neighbours) from a to b; anything above limit is limit + 1. */
unsigned edit_distance(const char *a, const char *b, unsigned limit);

/* The object whose bytes hold the address, or HEAP_NONE. */
uint32_t object_around(const struct heap *heap, uint64_t address);

/* Ids of all objects of the given classes, ascending; big memory: big_free(ids).  NULL and
 * ERR_NOMEM. */
uint32_t *objects_of_classes(const struct heap *heap, const uint32_t *classes, size_t n_classes,
    size_t *n, struct err *err);

/* Set the bits of all objects of these classes (a bit for each), of those in only where that is not
 * NULL. */
void objects_mark(const struct heap *heap, const struct bits *classes, const struct bits *only,
    struct bits *to);

#endif
