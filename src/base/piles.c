/* SPDX-License-Identifier: GPL-3.0-or-later */
/* piles.c - see piles.h.  The first number of a chunk is the address of the chunk before it in its chain. */
#include "base/piles.h"

#include "base/big.h"
#include "base/near.h"

#include <string.h>

enum { SLAB = 64 }; /* chunks: 4 MB */

int piles_init(struct piles *p, size_t n, struct err *err)
{
	*p = (struct piles){ .pile = big_alloc(n, sizeof *p->pile, err) };
	return p->pile ? 0 : ERR_NOMEM;
}

void piles_release(struct piles *p)
{
	for (size_t i = 0; i < p->n_slabs; i++)
		big_free(p->slab[i]);
	big_free(p->slab);
	big_free(p->pile);
	*p = (struct piles){ .pile = NULL };
}

static uint64_t *before(const uint64_t *chunk)
{
	uint64_t *p;
	memcpy(&p, chunk, sizeof p);
	return p;
}

static void set_before(uint64_t *chunk, uint64_t *p)
{
	memcpy(chunk, &p, sizeof p);
}

/* A chunk that nobody uses, or NULL. */
static uint64_t *take_chunk(struct piles *p, struct err *err)
{
	uint64_t *chunk = p->free;
	if (chunk) {
		p->free = before(chunk);
		return chunk;
	}
	if (!p->n_slabs || p->cut == SLAB) {
		uint64_t *slab = big_alloc((uint64_t)SLAB * PILES_CHUNK, sizeof *slab, err);
		uint64_t **at = slab ? BIG_PUSH(p->slab, p->n_slabs, p->cap_slabs, err) : NULL;
		if (!at) {
			big_free(slab);
			return NULL;
		}
		*at = slab;
		p->cut = 0;
		p->away |= big_owner(slab) == BIG_SPILLED;
		big_hint(slab, BIG_NEAR);
	}
	return p->slab[p->n_slabs - 1] + (size_t)PILES_CHUNK * p->cut++;
}

int piles_more(struct piles *p, size_t pile, struct err *err)
{
	struct pile *to = &p->pile[pile];
	uint64_t *chunk = take_chunk(p, err);
	if (!chunk)
		return ERR_NOMEM;
	set_before(chunk, to->last);
	*to = (struct pile){ .last = chunk, .n = 1 };
	return 0;
}

const uint64_t *piles_next(const struct piles *p, size_t pile, const uint64_t **at, uint32_t *n)
{
	const struct pile *from = &p->pile[pile];
	*n = *at ? PILES_CHUNK - 1 : from->n - 1;
	*at = *at ? before(*at) : from->last;
	if (*at && p->away)
		near_bytes(*at, PILES_CHUNK * sizeof **at);
	return *at ? *at + 1 : NULL;
}

void piles_clear(struct piles *p, size_t pile)
{
	uint64_t *chunk = p->pile[pile].last;
	while (chunk) {
		uint64_t *next = before(chunk);
		set_before(chunk, p->free);
		p->free = chunk;
		chunk = next;
	}
	p->pile[pile] = (struct pile){ .last = NULL };
}
