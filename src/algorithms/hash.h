/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hash.h - the one hash function of all tables whose keys come from a dump.
 *
 * The author of a dump must not be able to choose keys that collide.  So each hash depends on a seed
 * that only the process knows.  What is shown must therefore never depend on a hash or
 * on the order of a table.
 *
 * A step multiplies 64 by 64 bits, both of which depend on the word and on the seed, and folds the
 * 128 bits of the product.  Words at equal distances scatter like any others.
 */
#ifndef CAIRN_ALGORITHMS_HASH_H
#define CAIRN_ALGORITHMS_HASH_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Fixed numbers until hash_seed_anew, so that tests are reproducible. */
extern uint64_t hash_seed[4];

/* Take the seed from the kernel.  Once, before the first hash. */
void hash_seed_anew(void);

static inline uint64_t hash_step_of(uint64_t seed, uint64_t h, uint64_t word)
{
	__extension__ typedef unsigned __int128 product;
	product p = (product)(h ^ word) * ((word << 32 | word >> 32) ^ seed);
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* The hash of what h is the hash of, followed by a word. */
static inline uint64_t hash_step(uint64_t h, uint64_t word)
{
	return hash_step_of(hash_seed[1], h, word);
}

static inline uint64_t hash_number(uint64_t key)
{
	return hash_step(hash_seed[0], key);
}

/* Differs from machine to machine with the order of bytes in a word. */
uint64_t hash_bytes(const void *bytes, size_t n);

/*
 * Two hashes of bytes and a number, by seeds that have nothing to do with each other.  Two contents that differ have
 * both of them in common once in about 2^120 times, whatever they are: of 2^32 contents some do once in 2^56 times.
 * So contents with the same fingerprint are equal.
 */
struct fingerprint {
	uint64_t hash[2];
};
struct fingerprint hash_fingerprint(const void *bytes, size_t n, uint64_t with);

#endif
