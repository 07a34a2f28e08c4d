/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * adjacency.h - the references of every object, one object after another.
 *
 * Those of object i are target[start(i)] … target[start(i + 1) - 1].  A start is a base that a block of neighbouring
 * objects shares, plus an offset of 16 bits.  A block with more than 65,535 references is wide: its base has the bit
 * ADJACENCY_WIDE, and base plus offset is the place of the start in `wide`.  So no start is searched for, and more
 * than 2^32 references take no more bytes an object.
 *
 * Memory: 2 + 1/16 bytes an object, 4 a reference; a wide block takes 1 KB more.
 */
#ifndef CAIRN_HEAP_ADJACENCY_H
#define CAIRN_HEAP_ADJACENCY_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { ADJACENCY_SHIFT = 7, ADJACENCY_BLOCK = 1 << ADJACENCY_SHIFT };
#define ADJACENCY_WIDE (UINT64_C(1) << 63)

struct adjacency {
	uint32_t *target;
	uint64_t n;       /* targets */
	uint16_t *offset; /* n_objects + 1; of a wide block: 0, 1, 2, … */
	uint64_t *base;   /* by block */
	uint64_t *wide;   /* ADJACENCY_BLOCK starts a wide block */
};

/* A base plus an offset as a start. */
static inline uint64_t adjacency_resolve(const struct adjacency *a, uint64_t at)
{
	return __builtin_expect(at & ADJACENCY_WIDE, 0) ? a->wide[at ^ ADJACENCY_WIDE] : at;
}
static inline uint64_t adjacency_start(const struct adjacency *a, uint32_t i)
{
	return adjacency_resolve(a, a->base[i >> ADJACENCY_SHIFT] + a->offset[i]);
}
/* How many there are: none where the index file with them was cut a moment ago. */
static inline uint64_t adjacency_degree(const struct adjacency *a, uint32_t i)
{
	uint64_t start = adjacency_start(a, i), end = adjacency_start(a, i + 1);
	return end > start ? end - start : 0;
}
/* Blocks of so many objects and of the end after the last one. */
static inline uint64_t adjacency_blocks(uint32_t n_objects)
{
	return (n_objects >> ADJACENCY_SHIFT) + UINT64_C(1);
}

/* Where each start is still an end (adjacency_place): the place of the last target that is not there yet, before which
 * the list ends then. */
static inline uint64_t adjacency_take_last(struct adjacency *a, uint32_t i)
{
	uint64_t end = a->base[i >> ADJACENCY_SHIFT] + a->offset[i];
	if (__builtin_expect(end & ADJACENCY_WIDE, 0))
		return --a->wide[end ^ ADJACENCY_WIDE];
	a->offset[i]--;
	return end - 1;
}

/* How many references each object has: each[id], and what the entries of `more` for this id say. */
struct degrees {
	const void *each;
	unsigned width; /* bytes of a number: 1, 2 or 4 */
	const struct more_degree {
		uint32_t id, degree;
	} *more; /* by id */
	size_t n_more;
};

/* Those of `more` by id.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int more_degrees_sort(struct more_degree *more, size_t n, struct err *err);

/* Memory for the offsets, all 0, and bases of so many objects.  0 or ERR_NOMEM. */
MUST_CHECK int adjacency_init(struct adjacency *a, uint32_t n_objects, struct err *err);

/*
 * The starts by degrees, and the number of targets, for which the caller allocates memory.  Numbers of 2 bytes are
 * a->offset itself, and then each start is that of the next object: an end, from which lists are filled downwards.
 */
MUST_CHECK int adjacency_place(struct adjacency *a, uint32_t n_objects, const struct degrees *d, struct err *err);

/* Drop the targets that are HEAP_NONE. */
void adjacency_compact(struct adjacency *a, uint32_t n_objects);
void adjacency_release(struct adjacency *a);

#endif
