/* SPDX-License-Identifier: GPL-3.0-or-later */
/* narrow.c - see narrow.h. */
#include "algorithms/narrow.h"

#include "memory/big.h"

enum { COPIED_AT_ONCE = 2048 };

int narrow_init(struct narrow *a, uint64_t n, uint64_t most, void *used, struct err *err)
{
	*a = (struct narrow){ .wide = most >> 40 };
	a->low = big_resize(used, n, sizeof *a->low, err);
	if (!a->low)
		big_free(used);
	else if (most >> 32 && !(a->high = big_alloc(n, a->wide ? sizeof(uint32_t) : sizeof(uint8_t), err)))
		narrow_release(a);
	return a->low ? 0 : ERR_NOMEM;
}

void narrow_release(struct narrow *a)
{
	big_free(a->low);
	big_free(a->high);
	*a = (struct narrow){ .low = NULL };
}

void narrow_settle(const struct narrow *a)
{
	big_settle(a->low);
	big_settle(a->high);
}

static uint64_t high_size(const struct narrow *a)
{
	return !a->high ? 0 : a->wide ? sizeof(uint32_t) : sizeof(uint8_t);
}

uint64_t narrow_high_bytes(const struct narrow *a, uint64_t n)
{
	return n * high_size(a);
}

/* Up to COPIED_AT_ONCE numbers stand here, in an array of their own. */
struct copied {
	uint32_t low[COPIED_AT_ONCE], high[COPIED_AT_ONCE];
};

void narrow_read(const struct narrow *a, uint64_t first, uint64_t n, uint64_t *to)
{
	struct copied c;
	const struct narrow some = { .low = c.low, .high = a->high ? c.high : NULL, .wide = a->wide };
	for (uint64_t i = 0, stretch; i < n; i += stretch) {
		stretch = n - i < COPIED_AT_ONCE ? n - i : COPIED_AT_ONCE;
		big_read(c.low, a->low, (first + i) * sizeof *a->low, stretch * sizeof *a->low);
		if (a->high)
			big_read(c.high, a->high, (first + i) * high_size(a), stretch * high_size(a));
		for (uint64_t k = 0; k < stretch; k++)
			to[i + k] = narrow_get(&some, k);
	}
}

void narrow_write(struct narrow *a, uint64_t first, uint64_t n, const uint64_t *from)
{
	struct copied c;
	const struct narrow some = { .low = c.low, .high = a->high ? c.high : NULL, .wide = a->wide };
	for (uint64_t i = 0, stretch; i < n; i += stretch) {
		stretch = n - i < COPIED_AT_ONCE ? n - i : COPIED_AT_ONCE;
		for (uint64_t k = 0; k < stretch; k++)
			narrow_set(&some, k, from[i + k]);
		big_write(a->low, (first + i) * sizeof *a->low, c.low, stretch * sizeof *a->low);
		if (a->high)
			big_write(a->high, (first + i) * high_size(a), c.high, stretch * high_size(a));
	}
}
