/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hashes.h - identity hashes (System.identityHashCode), where records of a dump hold them.
 *
 * Nothing is kept of them: the parts of the dump in which an object's record may stand are read again.
 * Of one object that is a part or two, of a hash all of the dump, in parallel.  Any thread.
 */
#ifndef CAIRN_HEAP_HASHES_H
#define CAIRN_HEAP_HASHES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct heap;
struct progress;

/* 0, or a sentence: the format holds none (ERR_UNSUPPORTED), or references did not fit into memory (ERR_NOMEM). */
MUST_CHECK int hashes_recorded(const struct heap *h, struct err *err);

/* The hash that the record of an object holds.  0; ERR_NOT_FOUND: it holds none; ERR_UNSUPPORTED as
 * above; ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int heap_hash_of(const struct heap *h, uint32_t id, uint32_t *hash, struct err *err);

/* The ids of all objects with this hash, ascending; the caller's (big_free).  0, or the same codes but
 * ERR_NOT_FOUND: none is *n == 0. */
MUST_CHECK int hashes_find(const struct heap *h, uint32_t hash, uint32_t **ids, size_t *n,
    struct progress *progress, struct err *err);

#endif
