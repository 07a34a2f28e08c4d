/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bits.h - a bit vector that can count the ones before a position.
 *
 * 64 bits a word and one 32-bit counter for every 512 bits: 6 % on top of the bits.  Built once
 * (set bits, then bits_seal), read by any thread afterwards.
 */
#ifndef CAIRN_ALGORITHMS_BITS_H
#define CAIRN_ALGORITHMS_BITS_H

#include "base/assert.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Ones in a word, without a call where the processor's own instruction may not be assumed. */
static inline unsigned bits_ones(uint64_t w)
{
#ifdef __POPCNT__
	return (unsigned)__builtin_popcountll(w);
#else
	w -= w >> 1 & UINT64_C(0x5555555555555555);
	w = (w & UINT64_C(0x3333333333333333)) + (w >> 2 & UINT64_C(0x3333333333333333));
	w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(w * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/*
 * The same by the processor's own instruction, in a function that is BITS_NATIVE and called where bits_native()
 * says so.  `native` is known when it is compiled: a hot loop stands in an inline function that both kinds of
 * functions call.
 */
#if defined __x86_64__ && !defined __POPCNT__
#define BITS_NATIVE __attribute__((target("popcnt")))
static inline bool bits_native(void)
{
	return __builtin_cpu_supports("popcnt");
}
#else
#define BITS_NATIVE
static inline bool bits_native(void)
{
	return false;
}
#endif

static inline __attribute__((always_inline)) unsigned bits_ones_by(uint64_t w, const bool native)
{
	return native ? (unsigned)__builtin_popcountll(w) : bits_ones(w);
}

struct bits {
	uint64_t *word;
	uint32_t *rank; /* ones before each block of 512 bits; NULL until sealed */
	uint64_t n;     /* bits */
};

/* Make n bits, all 0.  Returns 0 or ERR_NOMEM. */
MUST_CHECK int bits_init(struct bits *b, uint64_t n, struct err *err);
void bits_release(struct bits *b);
/* Make the counters; call it after the last bit is set, of at most 2^32-1 ones.  0 or ERR_NOMEM. */
MUST_CHECK int bits_seal(struct bits *b, struct err *err);

/* The words that hold the bits.  What bits_init makes has one more, what stands in a file has not. */
static inline uint64_t bits_words(const struct bits *b)
{
	return (b->n + 63) >> 6;
}

/* All bits 0 again; not of a sealed vector. */
static inline void bits_clear(struct bits *b)
{
	for (uint64_t w = 0; w < bits_words(b); w++)
		b->word[w] = 0;
}

/* How many are 1; bits_count is faster where the counters were made. */
static inline uint64_t bits_ones_of(const struct bits *b)
{
	uint64_t n = 0;
	for (uint64_t w = 0; w < bits_words(b); w++)
		n += bits_ones(b->word[w]);
	return n;
}

static inline bool bits_get(const struct bits *b, uint64_t i)
{
	cairn_assert(i < b->n);
	return b->word[i >> 6] >> (i & 63) & 1;
}

static inline void bits_set(struct bits *b, uint64_t i)
{
	cairn_assert(i < b->n);
	b->word[i >> 6] |= UINT64_C(1) << (i & 63);
}

/* Not of a sealed vector. */
static inline void bits_unset(struct bits *b, uint64_t i)
{
	cairn_assert(i < b->n);
	b->word[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}

/*
 * For setting bits while other threads set bits of the same words.  Each thread has a writer of its
 * own, which gathers the bits of a word before it stores them, because the atomic store costs more
 * than all else.  Call bits_flush after the last bit.
 */
struct bits_writer {
	uint64_t *word; /* where bits belong */
	uint64_t bits;
};

static inline void bits_flush(struct bits_writer *w)
{
	if (w->bits)
		__atomic_fetch_or(w->word, w->bits, __ATOMIC_RELAXED);
	w->bits = 0;
}

/* Set in a word of the vector the bits that are set in `bits`. */
static inline void bits_gather(struct bits_writer *w, uint64_t *word, uint64_t bits)
{
	if (word != w->word) {
		bits_flush(w);
		w->word = word;
	}
	w->bits |= bits;
}

/* The number of ones before bit i, which must be below n.  The vector must be sealed. */
static inline uint32_t bits_rank(const struct bits *b, uint64_t i)
{
	cairn_assert(b->rank && i < b->n);
	uint32_t count = b->rank[i >> 9];
	for (uint64_t w = i >> 9 << 3; w < i >> 6; w++)
		count += bits_ones(b->word[w]);
	uint64_t below = (UINT64_C(1) << (i & 63)) - 1;
	return count + bits_ones(b->word[i >> 6] & below);
}

/* A walk over the positions of all ones, in ascending order. */
struct bits_walk {
	const struct bits *b;
	uint64_t at, word; /* the word's number; its ones not yet given */
};

static inline struct bits_walk bits_walk(const struct bits *b)
{
	return (struct bits_walk){ .b = b, .word = b->n ? b->word[0] : 0 };
}

static inline bool bits_next(struct bits_walk *w, uint64_t *i)
{
	while (!w->word) {
		if (++w->at >= bits_words(w->b))
			return false;
		w->word = w->b->word[w->at];
	}
	*i = w->at * 64 + (unsigned)__builtin_ctzll(w->word);
	w->word &= w->word - 1;
	return true;
}

/* The position of the k-th one, counted from 0; k must be below the number of ones.  Sealed. */
uint64_t bits_select(const struct bits *b, uint32_t k);
/* The number of ones.  Sealed. */
uint64_t bits_count(const struct bits *b);

#endif
