/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - finds classes by name and objects by address.
 *
 * A name index is built once per heap; afterwards any thread may read it.
 */
#ifndef CAIRN_ANALYSIS_SEARCH_H
#define CAIRN_ANALYSIS_SEARCH_H

#include "base/text.h"

struct bits;
struct err;

struct name_index {
	const struct heap *heap;
	uint32_t *by_name; /* class indices in strcmp order of their names, then by index */
	uint32_t n;
};

struct name_index *name_index_new(const struct heap *heap, struct err *err); /* NULL: ERR_NOMEM */
void name_index_free(struct name_index *ix); /* NULL is fine */

/* How many classes have exactly this name, or a name that begins so.  *first gets the position of
 * the first one in by_name; the others follow it. */
uint32_t name_index_exact(const struct name_index *ix, const char *name, uint32_t *first);
uint32_t name_index_prefix(const struct name_index *ix, const char *prefix, uint32_t *first);
const char *name_index_name(const struct name_index *ix, uint32_t position);
/* Has the class at this position the name of the one before it?  Without a look at the names, which may be
 * long: who tests all names tests each once. */
bool name_index_repeats(const struct name_index *ix, uint32_t position);

/* The part of a class name after its last dot: "Map$Entry", "String[]".  Points into name. */
const char *class_last_part(const char *name);
/* The part of that after the last $: "Entry", "Entry[]"; NULL when there is no $. */
const char *class_inner_part(const char *name);

/*
 * Append a class name of any spelling ("java/lang/String", "[C", "[Ljava.lang.String;", "char[]")
 * in the spelling of Java source.  False: the word was not in the VM's spelling, and was appended
 * as it is.
 */
bool class_name_as_source(const char *word, struct text *to);

/* Does s match the pattern?  '*' stands for any characters, '?' for one byte, all else for
 * itself. */
bool glob_match(const char *pattern, const char *s);

/* Find up to NEAREST names that are nearest to a mistyped one, by edit distance to the name or to
 * its last part; returns how many.  Upper and lower case count as the same letter. */
#define NEAREST 3
unsigned name_index_nearest(const struct name_index *ix, const char *word, const char *out[NEAREST]);
/*
 * The package of a pattern ("com.acme.shp" in "com.acme.shp.*") that no class has: *n bytes of the name returned are
 * the nearest package that some have.  NULL: none is near, or some class has the package.
 */
const char *name_index_nearest_package(const struct name_index *ix, const char *pattern, size_t *n);
/* The number of edits (insert, delete, replace, swap neighbours) that turn a into b; limit + 1
 * stands for anything above limit. */
unsigned edit_distance(const char *a, const char *b, unsigned limit);

/* The object whose bytes hold the address, or HEAP_NONE. */
uint32_t object_around(const struct heap *heap, uint64_t address);

/* The ids of all objects of the given classes, ascending; the caller's (big_free).  NULL:
 * ERR_NOMEM. */
uint32_t *objects_of_classes(const struct heap *heap, const uint32_t *classes, size_t n_classes,
    size_t *n, struct err *err);

/* The class whose objects these are, all of them and no others; HEAP_NONE: that is not so. */
uint32_t class_of_all(const struct heap *heap, const uint32_t *ids, size_t n);

/* Set the bits in `to` of all objects of these classes (classes: a bit for each) that are in `only`
 * (NULL: of all of them). */
void objects_mark(const struct heap *heap, const struct bits *classes, const struct bits *only,
    struct bits *to);

#endif
