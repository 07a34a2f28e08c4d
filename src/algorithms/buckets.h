/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * buckets.h - buckets of numbers: a walk that would jump through a large array goes through it piece by piece.
 *
 * A bucket is a chain of chunks.  The one that is being filled is memory of its own; full ones may live in the
 * file of big.h, where each is written and read as a whole.  Chunks that were read are used again.  Without them
 * `top` in a small control group may take more than twice as long (doc/performance.md).  One thread.
 */
#ifndef CAIRN_ALGORITHMS_BUCKETS_H
#define CAIRN_ALGORITHMS_BUCKETS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUCKETS_CHUNK = 4096 }; /* numbers */

struct buckets {
	struct bucket {
		uint64_t *open; /* chunk that is filled; NULL: the bucket is empty */
		uint32_t n;     /* its numbers */
		uint32_t last;  /* full chunk filled last; 0: none */
	} *bucket;
	size_t n_buckets;
	uint64_t **slab;      /* which full chunks are cut from; chunk 0 is not used */
	size_t n_slabs, cap_slabs;
	uint32_t *before;     /* by chunk: the one before it in its chain; 0: none */
	size_t n_chunks, cap_chunks;
	uint32_t free;        /* a chain of chunks */
	uint64_t *read;       /* the chunk that buckets_next handed out */
};

/* 0: buckets_release gives back what it takes; or ERR_NOMEM. */
MUST_CHECK int buckets_init(struct buckets *p, size_t n, struct err *err);
void buckets_release(struct buckets *p);

/* For buckets_add: begin a chunk. */
MUST_CHECK int buckets_more(struct buckets *p, size_t bucket, struct err *err);

/* 0 or ERR_NOMEM. */
MUST_CHECK static inline int buckets_add(struct buckets *p, size_t bucket, uint64_t number, struct err *err)
{
	struct bucket *to = &p->bucket[bucket];
	if (to->n == BUCKETS_CHUNK || !to->open) {
		int code = buckets_more(p, bucket, err);
		if (code)
			return code;
	}
	to->open[to->n++] = number;
	return 0;
}

/* One chunk after another, in any order: begin with *at BUCKETS_FIRST.  Returns the numbers and how many; NULL behind
 * the last.  They stay until the next call.  Other buckets may be added to meanwhile. */
#define BUCKETS_FIRST UINT32_MAX
const uint64_t *buckets_next(const struct buckets *p, size_t bucket, uint32_t *at, uint32_t *n);
/* The bucket is empty again. */
void buckets_clear(struct buckets *p, size_t bucket);

#endif
