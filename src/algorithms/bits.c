/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bits.c - rank counters and select.
 *
 * The vector has one word more than its bits need, and one counter more than it has blocks of 512
 * bits.  That last counter holds the number of all ones.
 */
#include "algorithms/bits.h"

#include "base/assert.h"
#include "memory/big.h"

#include <inttypes.h>

#define BLOCK_BITS 512
#define BLOCK_WORDS (BLOCK_BITS / 64)

static uint64_t n_words(uint64_t n)
{
	return n / 64 + 1;
}

static uint64_t n_ranks(uint64_t n)
{
	return n / BLOCK_BITS + 2;
}

int bits_init(struct bits *b, uint64_t n, struct err *err)
{
	*b = (struct bits){ .n = n };
	b->word = big_alloc(n_words(n), sizeof *b->word, err);
	return b->word ? 0 : ERR_NOMEM;
}

void bits_release(struct bits *b)
{
	big_free(b->word);
	big_free(b->rank);
	*b = (struct bits){ .word = NULL };
}

int bits_seal(struct bits *b, struct err *err)
{
	if (!b->rank)
		b->rank = big_alloc(n_ranks(b->n), sizeof *b->rank, err);
	if (!b->rank)
		return ERR_NOMEM;
	uint64_t count = 0, words = bits_words(b);
	for (uint64_t block = 0; block < n_ranks(b->n); block++) {
		b->rank[block] = (uint32_t)count;
		uint64_t end = (block + 1) * BLOCK_WORDS;
		for (uint64_t w = block * BLOCK_WORDS; w < end && w < words; w++)
			count += (uint64_t)__builtin_popcountll(b->word[w]);
	}
	if (count > UINT32_MAX)
		return err_set(err, ERR_UNSUPPORTED,
		    "more than %" PRIu32 " things to number (%" PRIu64 ")", UINT32_MAX, count);
	return 0;
}

uint64_t bits_count(const struct bits *b)
{
	cairn_assert(b->rank);
	return b->rank[n_ranks(b->n) - 1];
}

/* Position of the k-th one in a word that has more than k. */
static unsigned select_in_word(uint64_t word, unsigned k)
{
	unsigned at = 0;

	for (unsigned half = 32; half; half /= 2) {
		uint64_t low = word & ((UINT64_C(1) << half) - 1);
		unsigned ones = bits_ones(low);
		if (k >= ones) {
			k -= ones;
			word >>= half;
			at += half;
		} else {
			word = low;
		}
	}
	return at;
}

uint64_t bits_select(const struct bits *b, uint32_t k)
{
	cairn_assert(k < bits_count(b));
	uint64_t low = 0, high = n_ranks(b->n) - 1; /* rank[low] <= k < rank[high] */

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		if (b->rank[middle] <= k)
			low = middle;
		else
			high = middle;
	}
	k -= b->rank[low];
	for (uint64_t w = low * BLOCK_WORDS;; w++) {
		unsigned ones = bits_ones(b->word[w]);
		if (k < ones)
			return w * 64 + select_in_word(b->word[w], k);
		k -= ones;
	}
}
