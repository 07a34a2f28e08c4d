/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sites.h - where objects were allocated, as far as the dump's program sampled it.
 *
 * A site is a stack that allocated objects of one size; a sample says that an object came from one.
 * Objects without a sample are those that the program did not pick (or made before it began to).
 *
 * Memory: 8 bytes a sample.  Immutable once the heap is open; any thread.
 */
#ifndef CAIRN_HEAP_SITES_H
#define CAIRN_HEAP_SITES_H

#include "heap/heap.h"

struct heap_site {
	const char **frames;  /* "main.visit gocart/main.go:131", escaped, the allocating function first */
	uint32_t n_frames;
	uint64_t object_size; /* bytes of each object, as the program asked for them */
	uint64_t allocs, frees; /* as of the last collection, scaled by nothing */
	uint32_t n_objects;   /* sampled ones in the dump */
	uint64_t shallow;     /* of these */
};

struct heap_sites {
	struct heap_site *site;
	uint32_t n, cap;
	struct site_sample {
		uint32_t object, site;
	} *sample;            /* by object; the first of several */
	size_t n_samples, cap_samples;
	uint64_t n_lost;      /* samples of no object, or of no site */
};

/* The site of an object, or NULL. */
const struct heap_site *heap_site_of(const struct heap *h, uint32_t id);

/* For the builder: fills h->sites, which stays NULL where the dump has none.  0 or an error. */
MUST_CHECK int sites_collect(struct heap *h, struct err *err);
void sites_free(struct heap_sites *s); /* NULL is fine */

#endif
