/* SPDX-License-Identifier: GPL-3.0-or-later */
/* levels.c - see levels.h.  Small levels are sorted, large ones are read off the bits. */
#include "analysis/levels.h"

#include "algorithms/sort.h"
#include "memory/big.h"

enum { SCAN_WORDS = 4 }; /* a level is read off the bits when it has an object for so many words */

int levels_init(struct levels *l, uint32_t n_objects, struct err *err)
{
	*l = (struct levels){.queue = big_alloc(n_objects, sizeof *l->queue, err)};
	return l->queue ? bits_init(&l->next, n_objects, err) : ERR_NOMEM;
}

void levels_release(struct levels *l)
{
	bits_release(&l->next);
	big_free(l->queue);
	l->queue = NULL;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

void levels_order(struct levels *l, uint32_t start)
{
	uint64_t words = (l->next.n + 63) / 64;
	uint32_t *level = l->queue + start, n = l->n - start;
	if (n < words / SCAN_WORDS) {
		for (uint32_t i = 0; i < n; i++)
			l->next.word[level[i] >> 6] = 0;
		sort_array(level, n, sizeof *level, by_id);
		return;
	}
	for (uint64_t w = 0, k = 0; w < words; w++) {
		for (uint64_t left = l->next.word[w]; left; left &= left - 1)
			level[k++] = (uint32_t)(w * 64 + (unsigned)__builtin_ctzll(left));
		l->next.word[w] = 0;
	}
}
