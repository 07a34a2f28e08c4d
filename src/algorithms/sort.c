/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.c - stretches that the library sorts at once, merged with looks at the cancel flag.
 */
#include "algorithms/sort.h"

#include "base/progress.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

#define STRETCH (UINT64_C(1) << 14)

struct sorting {
	size_t size;
	int (*compare)(const void *, const void *, void *);
	void *context;
	struct progress *work;
	uint64_t rounds;
};

static inline void copy(char *to, const char *from, size_t size)
{
	if (size == sizeof(uint32_t))
		memcpy(to, from, sizeof(uint32_t));
	else if (size == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else
		memcpy(to, from, size);
}

/* [0, middle) and [middle, n) of from, each sorted, to the n elements of to.  False: cancelled. */
static bool merge(struct sorting *s, const char *from, uint64_t middle, uint64_t n, char *to)
{
	const size_t size = s->size;
	const char *a = from, *a_end = from + middle * size, *b = a_end, *b_end = from + n * size;

	while (a < a_end && b < b_end) {
		if (progress_stops(s->work, 8 * s->rounds++))
			return false;
		const char **least = s->compare(b, a, s->context) < 0 ? &b : &a;
		copy(to, *least, size);
		*least += size;
		to += size;
	}
	memcpy(to, a, (size_t)(a_end - a));
	memcpy(to + (a_end - a), b, (size_t)(b_end - b));
	return !progress_cancelled(s->work);
}

/* Merge neighbours, each of `width` elements, from one array into the other. */
static bool merge_all(struct sorting *s, const char *from, uint64_t n, uint64_t width, char *to)
{
	for (uint64_t at = 0; at < n; at += 2 * width) {
		uint64_t left = n - at, both = left < 2 * width ? left : 2 * width;
		if (!merge(s, from + at * s->size, both < width ? both : width, both, to + at * s->size))
			return false;
	}
	return true;
}

static bool sort_stretches(struct sorting *s, char *array, uint64_t n)
{
	for (uint64_t at = 0; at < n; at += STRETCH) {
		if (progress_cancelled(s->work))
			return false;
		qsort_r(array + at * s->size, n - at < STRETCH ? n - at : STRETCH, s->size, s->compare, s->context);
	}
	return true;
}

int sort_with(void *array, uint64_t n, size_t size,
    int (*compare)(const void *, const void *, void *context), void *context, struct err *err)
{
	struct sorting s = {
		.size = size, .compare = compare, .context = context, .work = progress_own()};
	char *from = array, *to = NULL;
	bool done = sort_stretches(&s, from, n);

	if (done && n > STRETCH) {
		to = big_alloc(n, size, err);
		if (!to)
			return ERR_NOMEM;
	}
	char *copy = to;
	for (uint64_t width = STRETCH; done && width < n; width *= 2) {
		done = merge_all(&s, from, n, width, to);
		char *other = from;
		from = to;
		to = other;
	}
	if (done && from != array)
		memcpy(array, from, n * size);
	big_free(copy);
	return done ? 0 : err_cancelled(err);
}

struct plain {
	int (*compare)(const void *, const void *);
};

static int compare_plain(const void *a, const void *b, void *context)
{
	return ((struct plain *)context)->compare(a, b);
}

int sort(void *array, uint64_t n, size_t size, int (*compare)(const void *, const void *),
    struct err *err)
{
	struct plain plain = {compare};

	return sort_with(array, n, size, compare_plain, &plain, err);
}
