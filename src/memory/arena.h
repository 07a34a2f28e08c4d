/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.h - strings and small structs with one lifetime, freed as a whole. */
#ifndef CAIRN_MEMORY_ARENA_H
#define CAIRN_MEMORY_ARENA_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* What it hands out stays valid until arena_release; one thread at a time.  Its bytes count as big
 * memory (big.h). */
struct arena {
	struct arena_block *first;
	size_t used; /* bytes handed out, all blocks */
};
#define ARENA_INIT { .first = NULL }

/* Zeroed bytes, 16-byte aligned. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
/* A copy of n bytes, whatever they are; arena_strndup ends at a NUL. */
void *arena_copy(struct arena *a, const void *bytes, size_t n) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));

/* The same for what a dump decides the size or the number of: NULL and ERR_NOMEM in *err when there
 * is no memory for it or --mem does not allow it.  A NULL s is an empty string. */
void *arena_try(struct arena *a, uint64_t count, size_t size, struct err *err)
    __attribute__((warn_unused_result));
char *arena_try_strndup(struct arena *a, const char *s, size_t n, struct err *err)
    __attribute__((warn_unused_result));
void arena_release(struct arena *a);
void arena_move(struct arena *to, struct arena *from); /* all of from; from is empty then */

#endif
