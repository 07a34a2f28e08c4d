/* SPDX-License-Identifier: GPL-3.0-or-later */
/* buckets.c - see buckets.h. */
#include "algorithms/buckets.h"

#include "memory/big.h"
#include "memory/readahead.h"

enum { SLAB = 128 }; /* chunks: 4 MB */

#define CHUNK_BYTES (BUCKETS_CHUNK * sizeof(uint64_t))

int buckets_init(struct buckets *p, size_t n, struct err *err)
{
	*p = (struct buckets){ .n_buckets = n, .bucket = big_alloc(n, sizeof *p->bucket, err) };
	p->read = p->bucket ? big_alloc(BUCKETS_CHUNK, sizeof *p->read, err) : NULL;
	uint32_t *none = p->read ? BIG_PUSH(p->before, p->n_chunks, p->cap_chunks, err) : NULL;
	if (none)
		return 0;
	buckets_release(p);
	return ERR_NOMEM;
}

void buckets_release(struct buckets *p)
{
	for (size_t i = 0; p->bucket && i < p->n_buckets; i++)
		big_free(p->bucket[i].open);
	for (size_t i = 0; i < p->n_slabs; i++)
		big_free(p->slab[i]);
	big_free(p->slab);
	big_free(p->before);
	big_free(p->read);
	big_free(p->bucket);
	*p = (struct buckets){ .bucket = NULL };
}

static uint64_t *slab_of(const struct buckets *p, uint32_t chunk)
{
	return p->slab[chunk / SLAB];
}

static uint64_t place_of(uint32_t chunk)
{
	return chunk % SLAB * CHUNK_BYTES;
}

/* A chunk that nobody uses, or 0. */
static uint32_t take_chunk(struct buckets *p, struct err *err)
{
	uint32_t chunk = p->free;
	if (chunk) {
		p->free = p->before[chunk];
		return chunk;
	}
	if (p->n_chunks >= p->n_slabs * SLAB) {
		uint64_t *slab = big_alloc((uint64_t)SLAB * BUCKETS_CHUNK, sizeof *slab, err);
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

int buckets_more(struct buckets *p, size_t bucket, struct err *err)
{
	struct bucket *to = &p->bucket[bucket];
	if (!to->open) {
		to->open = big_alloc(BUCKETS_CHUNK, sizeof *to->open, err);
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
static void ask(const struct buckets *p, uint32_t chunk)
{
	for (; chunk; chunk = p->before[chunk])
		readahead_all(slab_of(p, chunk), chunk % SLAB, 1, CHUNK_BYTES);
}

const uint64_t *buckets_next(const struct buckets *p, size_t bucket, uint32_t *at, uint32_t *n)
{
	const struct bucket *from = &p->bucket[bucket];
	if (*at == BUCKETS_FIRST) {
		ask(p, from->last);
		*at = from->last;
		*n = from->n;
		return from->open;
	}
	uint32_t chunk = *at;
	if (!chunk)
		return NULL;
	*at = p->before[chunk];
	*n = BUCKETS_CHUNK;
	big_read(p->read, slab_of(p, chunk), place_of(chunk), CHUNK_BYTES);
	return p->read;
}

void buckets_clear(struct buckets *p, size_t bucket)
{
	struct bucket *of = &p->bucket[bucket];
	for (uint32_t chunk = of->last, before; chunk; chunk = before) {
		before = p->before[chunk];
		p->before[chunk] = p->free;
		p->free = chunk;
	}
	big_free(of->open);
	*of = (struct bucket){ .open = NULL };
}
