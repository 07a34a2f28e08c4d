/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * piles.h - numbers dealt into piles, so that what would jump through a large array goes through it piece by piece.
 *
 * A pile is a chain of chunks, which are written from their beginning to their end and read likewise; so piles may live
 * in the file of big.h without anybody waiting for it.  Chunks that were read are used again.  One thread.
 */
#ifndef CAIRN_BASE_PILES_H
#define CAIRN_BASE_PILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PILES_CHUNK = 8192 }; /* numbers, the first of which is the chunk's own */

struct piles {
	struct pile {
		uint64_t *last; /* chunk that is filled; NULL: the pile is empty */
		uint32_t n;     /* of its numbers that are taken */
	} *pile;
	uint64_t **slab;    /* which chunks are cut from */
	size_t n_slabs, cap_slabs;
	uint32_t cut;       /* chunks cut from the last slab */
	uint64_t *free;     /* a chain of chunks */
	bool away;          /* some slab lives in the file */
};

/* 0: piles_release gives back what it takes; or ERR_NOMEM. */
MUST_CHECK int piles_init(struct piles *p, size_t n, struct err *err);
void piles_release(struct piles *p);

/* For piles_add: begin a chunk. */
MUST_CHECK int piles_more(struct piles *p, size_t pile, struct err *err);

/* 0 or ERR_NOMEM. */
MUST_CHECK static inline int piles_add(struct piles *p, size_t pile, uint64_t number, struct err *err)
{
	struct pile *to = &p->pile[pile];
	if (to->n == PILES_CHUNK || !to->last) {
		int code = piles_more(p, pile, err);
		if (code)
			return code;
	}
	to->last[to->n++] = number;
	return 0;
}

/* One chunk after another, in any order: begin with *at NULL.  Returns the numbers and how many; NULL behind the
 * last. */
const uint64_t *piles_next(const struct piles *p, size_t pile, const uint64_t **at, uint32_t *n);
/* The pile is empty again. */
void piles_clear(struct piles *p, size_t pile);

#endif
