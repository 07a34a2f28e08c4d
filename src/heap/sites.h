/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sites.h - where the program allocated the objects that it took samples of.
 *
 * A site is a call stack that allocated objects, in Go of one size.  A sample says which site an object
 * came from.  An object has no sample if the program did not pick it, or made it before sampling
 * began.
 *
 * Memory: 8 bytes a sample.  Immutable once the heap is open; any thread.
 */
#ifndef CAIRN_HEAP_SITES_H
#define CAIRN_HEAP_SITES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct heap;

struct heap_site {
	const char **frames;  /* "main.visit gocart/main.go:131", escaped; innermost first */
	uint32_t n_frames;
	uint64_t object_size; /* bytes of each object, as the program asked for them; or SITE_UNKNOWN */
	uint64_t allocs, frees; /* of sampled objects, up to the last collection; not scaled up;
	                            or SITE_UNKNOWN */
	uint32_t n_objects;   /* objects of the dump with a sample of this site */
	uint64_t shallow;     /* bytes of these objects together */
};

struct heap_sites {
	struct heap_site *site;
	uint32_t n, cap;
	struct site_sample {
		uint32_t object, site; /* object id, and index in `site` */
	} *sample;            /* sorted by object, one each: of several the lowest site is kept */
	size_t n_samples, cap_samples;
	uint64_t n_lost;      /* samples that name no object of the dump, or no site */
};

/* The site of an object; NULL if it has no sample. */
const struct heap_site *heap_site_of(const struct heap *h, uint32_t id);

/* For the builder: fill h->sites, which stays NULL where the dump has no sites.  Returns 0,
 * ERR_NOMEM, or an error of the reader. */
MUST_CHECK int sites_collect(struct heap *h, struct err *err);
void sites_free(struct heap_sites *s); /* NULL is fine */

#endif
