/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * narrow.h - an array of numbers, none above a known one, in 4, 5 or 8 bytes each.
 *
 * The lower 32 bits of all numbers are one array, the bits above them, if any number may have some, another.  Any
 * thread reads; one thread at a time writes a number.
 */
#ifndef CAIRN_ALGORITHMS_NARROW_H
#define CAIRN_ALGORITHMS_NARROW_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct narrow {
	uint32_t *low;
	void *high; /* uint32_t if wide, else uint8_t; NULL: all are 0 */
	bool wide;
};

/* Make n numbers, of which none gets larger than most.  used: a block of big.h that is not needed any more, of which
 * the array is made; then numbers are whatever that held.  NULL: all are 0.  Returns 0, or ERR_NOMEM: all is
 * released. */
MUST_CHECK int narrow_init(struct narrow *a, uint64_t n, uint64_t most, void *used, struct err *err);
void narrow_release(struct narrow *a);
/* Nobody writes to it any more: see big_settle. */
void narrow_settle(const struct narrow *a);

/* The high bits of n numbers have so many bytes in all. */
uint64_t narrow_high_bytes(const struct narrow *a, uint64_t n);

/* Copy n numbers from this one on, out of the array or into it; where it is in the file, by reading and writing. */
void narrow_read(const struct narrow *a, uint64_t first, uint64_t n, uint64_t *to);
void narrow_write(struct narrow *a, uint64_t first, uint64_t n, const uint64_t *from);

static inline uint64_t narrow_get(const struct narrow *a, uint64_t i)
{
	if (!a->high)
		return a->low[i];
	uint64_t high = a->wide ? ((const uint32_t *)a->high)[i] : ((const uint8_t *)a->high)[i];
	return high << 32 | a->low[i];
}

static inline void narrow_set(const struct narrow *a, uint64_t i, uint64_t number)
{
	a->low[i] = (uint32_t)number;
	if (!a->high)
		return;
	if (a->wide)
		((uint32_t *)a->high)[i] = (uint32_t)(number >> 32);
	else
		((uint8_t *)a->high)[i] = (uint8_t)(number >> 32);
}

static inline void narrow_add(const struct narrow *a, uint64_t i, uint64_t number)
{
	if (a->high)
		narrow_set(a, i, narrow_get(a, i) + number);
	else
		a->low[i] += (uint32_t)number;
}

static inline void narrow_look_ahead(const struct narrow *a, uint64_t i)
{
	__builtin_prefetch(&a->low[i]);
}

#endif
