/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.h - sorting and searching arrays, which may be empty.
 *
 * An array that grew by pushes is NULL until the first one, and the C library's functions must not be
 * given NULL, not even with no elements.  So they are called here and nowhere else.
 */
#ifndef CAIRN_ALGORITHMS_SORT_H
#define CAIRN_ALGORITHMS_SORT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * For as many elements as a dump wants, because it can be cancelled, and its memory is counted.
 * Sort n elements of so many bytes in ascending order; equal ones keep their order.  n may be 0, with array
 * NULL.  Beyond 16,384 elements that takes big memory for a copy of them.  0, ERR_NOMEM, or ERR_CANCELLED when
 * the work of the calling thread was cancelled (progress_own); then they stand in any order.
 */
MUST_CHECK int sort(void *array, uint64_t n, size_t size, int (*compare)(const void *, const void *),
    struct err *err);
MUST_CHECK int sort_with(void *array, uint64_t n, size_t size,
    int (*compare)(const void *, const void *, void *context), void *context, struct err *err);

/* The library's sort: for few elements, or where nothing can fail. */
static inline void sort_array(void *array, size_t n, size_t size,
    int (*compare)(const void *, const void *))
{
	if (n > 1)
		qsort(array, n, size, compare);
}

static inline void sort_array_with(void *array, size_t n, size_t size,
    int (*compare)(const void *, const void *, void *context), void *context)
{
	if (n > 1)
		qsort_r(array, n, size, compare, context);
}

/* An element that compares equal to key, or NULL. */
static inline void *find_sorted(const void *key, const void *array, size_t n, size_t size,
    int (*compare)(const void *key, const void *element))
{
	return n ? bsearch(key, array, n, size, compare) : NULL;
}

/* Are the n bytes of both the same?  Of none either may be NULL. */
static inline bool same_bytes(const void *a, const void *b, size_t n)
{
	return !n || !memcmp(a, b, n);
}

#endif
