/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hash.c - the seed, and the hash of bytes; see hash.h. */
#include "algorithms/hash.h"

#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

uint64_t hash_seed[4] = { UINT64_C(0x9FB21C651E98DF25), UINT64_C(0xD6E8FEB86659FD93), UINT64_C(0xA0761D6478BD642F),
	UINT64_C(0xE7037ED1A0B428DB) };

void hash_seed_anew(void)
{
	uint64_t fresh[4];
	struct timespec now;

	if (getrandom(fresh, sizeof fresh, GRND_NONBLOCK) == (ssize_t)sizeof fresh) {
		memcpy(hash_seed, fresh, sizeof fresh);
		return;
	}
	/* No such call, or a machine that has just begun to run: better than nothing. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	hash_seed[0] ^= (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
	hash_seed[1] ^= (uint64_t)(uintptr_t)&now << 20;
	hash_seed[2] ^= hash_number(1);
	hash_seed[3] ^= hash_number(2);
}

/* The n < 8 bytes at p that are left of those that begin at `bytes`.  Bytes that were taken already come
 * along where that saves a loop: the same number of bytes always goes the same way. */
static uint64_t last_word(const uint8_t *bytes, const uint8_t *p, size_t n)
{
	uint64_t word = 0;

	if (p > bytes) {
		memcpy(&word, p + n - sizeof word, sizeof word);
		return word;
	}
	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)p[i] << 8 * i;
	return word;
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t h = hash_number(n), word;

	for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
		memcpy(&word, p, sizeof word);
		h = hash_step(h, word);
	}
	return hash_step(h, last_word(bytes, p, n));
}

struct fingerprint hash_fingerprint(const void *bytes, size_t n, uint64_t with)
{
	const uint8_t *p = bytes;
	uint64_t a = hash_step(hash_number(n), with), word;
	uint64_t b = hash_step_of(hash_seed[3], hash_step_of(hash_seed[3], hash_seed[2], n), with);

	for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
		memcpy(&word, p, sizeof word);
		a = hash_step(a, word);
		b = hash_step_of(hash_seed[3], b, word);
	}
	word = last_word(bytes, p, n);
	return (struct fingerprint){{hash_step(a, word), hash_step_of(hash_seed[3], b, word)}};
}
