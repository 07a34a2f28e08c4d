/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readahead.h - readahead for walks that jump through an array, but mostly near the last places.
 *
 * If the array is in the file of big.h and its pages were dropped, each page costs a wait for the disk.  The walk
 * announces where it will look, and the pages around are read at once: sixteen cost hardly more than one.
 * Without it `top` in a small control group may take more than twice as long (doc/performance.md).
 *
 * One thread.  The array must not be freed, grown or moved meanwhile.
 */
#ifndef CAIRN_MEMORY_READAHEAD_H
#define CAIRN_MEMORY_READAHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READAHEAD_SHIFT = 16, READAHEAD_RECENT = 1024 }; /* bytes asked for at once; such stretches remembered */

struct readahead {
	const char *array;            /* NULL: in memory, there is nothing to do */
	uint64_t bytes, size;         /* of all, of an element */
	bool filled;                  /* is being filled: asking pays although nothing is read from the disk */
	uint64_t recent[READAHEAD_RECENT]; /* their numbers + 1 */
};

/* A block of big.h with elements of this size.  False: it is in memory. */
bool readahead_init(struct readahead *n, void *block, size_t size, bool filled);
void readahead_ask(struct readahead *n, uint64_t stretch);

/* The element of this index is about to be looked at. */
static inline void readahead_look(struct readahead *n, uint64_t index)
{
	if (n->array) {
		uint64_t stretch = index * n->size >> READAHEAD_SHIFT;
		if (n->recent[stretch % READAHEAD_RECENT] != stretch + 1)
			readahead_ask(n, stretch);
	}
}

/* The walk is over: the next one does not announce its places. */
void readahead_over(void *block);

/* All elements of a stretch will be looked at. */
void readahead_all(const void *block, uint64_t first, uint64_t count, size_t size);

#endif
