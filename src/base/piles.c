/* SPDX-License-Identifier: GPL-3.0-or-later */
/* piles.c - see piles.h. */
#include "base/piles.h"

#include "base/big.h"
#include "base/near.h"

enum { SLAB = 128 }; /* chunks: 4 MB */

#define CHUNK_BYTES (PILES_CHUNK * sizeof(uint64_t))

int piles_init(struct piles *p, size_t n, struct err *err)
{
	*p = (struct piles){ .n_piles = n, .pile = big_alloc(n, sizeof *p->pile, err) };
	p->read = p->pile ? big_alloc(PILES_CHUNK, sizeof *p->read, err) : NULL;
	uint32_t *none = p->read ? BIG_PUSH(p->before, p->n_chunks, p->cap_chunks, err) : NULL;
	if (none)
		return 0;
	piles_release(p);
	return ERR_NOMEM;
}

void piles_release(struct piles *p)
{
	for (size_t i = 0; p->pile && i < p->n_piles; i++)
		big_free(p->pile[i].open);
	for (size_t i = 0; i < p->n_slabs; i++)
		big_free(p->slab[i]);
	big_free(p->slab);
	big_free(p->before);
	big_free(p->read);
	big_free(p->pile);
	*p = (struct piles){ .pile = NULL };
}

static uint64_t *slab_of(const struct piles *p, uint32_t chunk)
{
	return p->slab[chunk / SLAB];
}

static uint64_t place_of(uint32_t chunk)
{
	return chunk % SLAB * CHUNK_BYTES;
}

/* A chunk that nobody uses, or 0. */
static uint32_t take_chunk(struct piles *p, struct err *err)
{
	uint32_t chunk = p->free;
	if (chunk) {
		p->free = p->before[chunk];
		return chunk;
	}
	if (p->n_chunks >= p->n_slabs * SLAB) {
		uint64_t *slab = big_alloc((uint64_t)SLAB * PILES_CHUNK, sizeof *slab, err);
		uint64_t **at = slab ? BIG_PUSH(p->slab, p->n_slabs, p->cap_slabs, err) : NULL;
		if (!at) {
			big_free(slab);
			return 0;
		}
		*at = slab;
		big_hint(slab, BIG_NEAR);
	}
	uint32_t *before = BIG_PUSH(p->before, p->n_chunks, p->cap_chunks, err);
	return before ? (uint32_t)(before - p->before) : 0;
}

int piles_more(struct piles *p, size_t pile, struct err *err)
{
	struct pile *to = &p->pile[pile];
	if (!to->open) {
		to->open = big_alloc(PILES_CHUNK, sizeof *to->open, err);
		return to->open ? 0 : ERR_NOMEM;
	}
	uint32_t chunk = take_chunk(p, err);
	if (!chunk)
		return ERR_NOMEM;
	big_write(slab_of(p, chunk), place_of(chunk), to->open, CHUNK_BYTES);
	p->before[chunk] = to->last;
	to->last = chunk;
	to->n = 0;
	return 0;
}

/* All full ones at once, so that nobody waits for each. */
static void ask(const struct piles *p, uint32_t chunk)
{
	for (; chunk; chunk = p->before[chunk])
		near_all(slab_of(p, chunk), chunk % SLAB, 1, CHUNK_BYTES);
}

const uint64_t *piles_next(const struct piles *p, size_t pile, uint32_t *at, uint32_t *n)
{
	const struct pile *from = &p->pile[pile];
	if (*at == PILES_FIRST) {
		ask(p, from->last);
		*at = from->last;
		*n = from->n;
		return from->open;
	}
	uint32_t chunk = *at;
	if (!chunk)
		return NULL;
	*at = p->before[chunk];
	*n = PILES_CHUNK;
	big_read(p->read, slab_of(p, chunk), place_of(chunk), CHUNK_BYTES);
	return p->read;
}

void piles_clear(struct piles *p, size_t pile)
{
	struct pile *of = &p->pile[pile];
	for (uint32_t chunk = of->last, before; chunk; chunk = before) {
		before = p->before[chunk];
		p->before[chunk] = p->free;
		p->free = chunk;
	}
	big_free(of->open);
	*of = (struct pile){ .open = NULL };
}
