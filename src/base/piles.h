/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * piles.h - buckets of numbers: a walk that would jump through a large array goes through it piece by piece.
 *
 * A bucket (pile) is a chain of chunks.  The one that is being filled is memory of its own; full ones may live in the
 * file of big.h, where each is written and read as a whole.  Chunks that were read are used again.  One thread.
 */
#ifndef CAIRN_BASE_PILES_H
#define CAIRN_BASE_PILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PILES_CHUNK = 4096 }; /* numbers */

struct piles {
	struct pile {
		uint64_t *open; /* chunk that is filled; NULL: the pile is empty */
		uint32_t n;     /* its numbers */
		uint32_t last;  /* full chunk filled last; 0: none */
	} *pile;
	size_t n_piles;
	uint64_t **slab;      /* which full chunks are cut from; chunk 0 is not used */
	size_t n_slabs, cap_slabs;
	uint32_t *before;     /* by chunk: the one before it in its chain; 0: none */
	size_t n_chunks, cap_chunks;
	uint32_t free;        /* a chain of chunks */
	uint64_t *read;       /* the chunk that piles_next handed out */
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
	if (to->n == PILES_CHUNK || !to->open) {
		int code = piles_more(p, pile, err);
		if (code)
			return code;
	}
	to->open[to->n++] = number;
	return 0;
}

/* One chunk after another, in any order: begin with *at PILES_FIRST.  Returns the numbers and how many; NULL behind
 * the last.  They stay until the next call.  Other piles may be added to meanwhile. */
#define PILES_FIRST UINT32_MAX
const uint64_t *piles_next(const struct piles *p, size_t pile, uint32_t *at, uint32_t *n);
/* The pile is empty again. */
void piles_clear(struct piles *p, size_t pile);

#endif
