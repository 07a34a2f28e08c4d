/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collections.h - all collections of a heap, with their sizes.
 *
 * Only the outermost count: the HashMap of a HashSet is a part of the set, the list behind an unmodifiable one a
 * part of that.  Views of collections and the JDK's empty ones, which no program makes, are left out.  In dumps of Go
 * maps and channels count, and arrays that only slices lead to.
 */
#ifndef CAIRN_ANALYSIS_COLLECTIONS_H
#define CAIRN_ANALYSIS_COLLECTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits;
struct err;
struct heap;
struct progress;

struct collection_found {
	uint32_t id;
	bool sized;
	uint64_t size, capacity; /* 0 where that is unknown */
	uint64_t taken;          /* places of the capacity in use: by keys, of which a multimap has less than elements */
};

struct collections {
	struct collection_found *found; /* ids ascending; big memory */
	size_t n;
	uint64_t lying;   /* left out: the size that they state is impossible */
	uint64_t damaged; /* counted as far as they could be walked: their nodes run in a circle or lead astray */
	bool sizes_told;  /* the dump has values: else collections are known by their class alone */
};

/* only: the objects that count; NULL: all.  0: *out is the caller's (collections_release); ERR_NOMEM, ERR_CANCELLED.
 * Takes 40 bytes a collection and a bit for each object. */
MUST_CHECK int collections_find(struct collections *out, const struct heap *h, const struct bits *only,
    struct progress *progress, struct err *err);
void collections_release(struct collections *c);

#endif
