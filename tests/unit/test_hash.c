/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hash.c - no keys that anybody could choose without the seed collide much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "algorithms/hash.h"
#include "algorithms/map.h"
#include "dump/idmap.h"

enum { KEYS = 4096, SLOTS = 2 * KEYS };

/* The most keys that fall into one slot.  4096 balls thrown into 8192 bins: hardly ever more than 8. */
static unsigned fullest(const uint64_t *key)
{
	static uint8_t n[SLOTS];
	unsigned most = 0;

	memset(n, 0, sizeof n);
	for (unsigned i = 0; i < KEYS; i++) {
		unsigned here = ++n[hash_number(key[i]) & (SLOTS - 1)];
		most = here > most ? here : most;
	}
	return most;
}

/* Multiples of powers of two in all places of the word, and of inverses of well-known factors. */
static void spread(void **state)
{
	static uint64_t key[KEYS];
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		for (unsigned shift = 0; shift <= 52; shift++) {
			for (uint64_t i = 0; i < KEYS; i++)
				key[i] = i << shift;
			assert_in_range(fullest(key), 1, 32);
			for (uint64_t i = 0; i < KEYS; i++)
				key[i] = (i << shift) * UINT64_C(0xF1DE83E19937733D);
			assert_in_range(fullest(key), 1, 32);
		}
		for (uint64_t i = 0; i < KEYS; i++)
			key[i] = (i << 32 | i) * UINT64_C(0xF1DE83E19937733D); /* what tables of 2026 fell for */
		assert_in_range(fullest(key), 1, 32);
		hash_seed_anew();
	}
}

/* The factor above is the inverse of the one that is meant. */
static void inverse(void **state)
{
	(void)state;
	assert_true(UINT64_C(0xF1DE83E19937733D) * UINT64_C(0x9E3779B97F4A7C15) == 1);
}

static void bytes(void **state)
{
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		char zeros[sizeof text] = { 0 }, copy[sizeof text + 1];
		memcpy(copy + 1, text, n);
		assert_true(hash_bytes(text, n) == hash_bytes(copy + 1, n)); /* wherever it lies */
		for (size_t i = 0; i < n; i++) {
			copy[1 + i] ^= 1;
			assert_true(hash_bytes(text, n) != hash_bytes(copy + 1, n));
			copy[1 + i] ^= 1;
		}
		for (size_t k = 0; k < n; k++)
			assert_true(hash_bytes(zeros, n) != hash_bytes(zeros, k)); /* its length counts */
	}
}

static bool share_a_hash(struct fingerprint a, struct fingerprint b)
{
	return a.hash[0] == b.hash[0] || a.hash[1] == b.hash[1] || a.hash[0] == b.hash[1];
}

/* Each of its two hashes depends on each byte, on how many there are, and on the number. */
static void fingerprints(void **state)
{
	enum { LENGTHS = 40 };
	(void)state;
	for (size_t n = 0; n < LENGTHS; n++) {
		uint8_t zeros[LENGTHS] = { 0 }, copy[LENGTHS + 1] = { 0 };
		struct fingerprint f = hash_fingerprint(zeros, n, 7), same = hash_fingerprint(copy + 1, n, 7);
		assert_memory_equal(&f, &same, sizeof f);
		assert_true(f.hash[0] != f.hash[1]);
		assert_false(share_a_hash(f, hash_fingerprint(zeros, n, 8)));
		for (size_t i = 0; i < n; i++) {
			copy[1 + i] = 1;
			assert_false(share_a_hash(f, hash_fingerprint(copy + 1, n, 7)));
			copy[1 + i] = 0;
		}
		for (size_t k = 0; k < n; k++)
			assert_false(share_a_hash(f, hash_fingerprint(zeros, k, 7)));
	}
}

static void seeds(void **state)
{
	uint64_t before = hash_number(1), words[2] = { hash_seed[0], hash_seed[1] };
	(void)state;
	hash_seed_anew();
	assert_true(words[0] != hash_seed[0] && words[1] != hash_seed[1]);
	assert_true(before != hash_number(1));
}

static void identifiers(void **state)
{
	struct idmap m = { .slots = NULL };
	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(idmap_put(&m, (i << 32 | i) * UINT64_C(0xF1DE83E19937733D), i, NULL), 0);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(idmap_get(&m, (i << 32 | i) * UINT64_C(0xF1DE83E19937733D)), i);
	assert_true(idmap_get(&m, 1) == IDMAP_NONE);
	idmap_release(&m);
}

/* Few hashes, so that slots next to each other are asked for again and again. */
static uint64_t poor_hash(uint64_t key)
{
	return key % 7;
}

#define number_at(list, i) ((list)[i])
MAP(numbers, const uint64_t *, uint64_t, number_at, hash_number, map_same)
MAP(crowded, const uint64_t *, uint64_t, number_at, poor_hash, map_same)

static void elements(void **state)
{
	enum { N = 20000 };
	static uint64_t list[N];
	struct map m = {.n_slots = 0};
	(void)state;
	assert_int_equal(numbers_get(&m, list, 5), 0);
	for (uint32_t n = 0; n < N; n++) {
		uint64_t key = (uint64_t)n << 32 | n;
		uint32_t *slot = numbers_enter(&m, list, n, key, NULL);
		assert_non_null(slot);
		assert_int_equal(*slot, 0);
		list[n] = key;
		*slot = n + 1;
		assert_true(2 * (n + 1) <= m.n_slots);
	}
	for (uint32_t n = 0; n < N; n++) {
		assert_int_equal(numbers_get(&m, list, list[n]), n + 1);
		assert_int_equal(*numbers_enter(&m, list, N, list[n], NULL), n + 1);
	}
	assert_int_equal(numbers_get(&m, list, 1), 0);
	assert_int_equal(*numbers_enter(&m, list, N, 1, NULL), 0);
	for (uint32_t n = 0; n < N / 2; n++) { /* the other way round */
		uint64_t one = list[n];
		list[n] = list[N - 1 - n];
		list[N - 1 - n] = one;
	}
	assert_int_equal(numbers_build(&m, list, N, NULL), 0);
	for (uint32_t n = 0; n < N; n++)
		assert_int_equal(numbers_get(&m, list, (uint64_t)(N - 1 - n) << 32 | (N - 1 - n)), n + 1);
	map_release(&m);
}

static void crowd(void **state)
{
	uint64_t list[600];
	struct map m = {.n_slots = 0};
	(void)state;
	for (uint32_t n = 0; n < 600; n++) {
		uint32_t *slot = crowded_enter(&m, list, n, n, NULL);
		assert_non_null(slot);
		assert_int_equal(*slot, 0);
		list[n] = n;
		*slot = n + 1;
	}
	for (uint32_t n = 0; n < 600; n++)
		assert_int_equal(crowded_get(&m, list, n), n + 1);
	assert_int_equal(crowded_get(&m, list, 600), 0);
	map_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread), cmocka_unit_test(inverse), cmocka_unit_test(bytes), cmocka_unit_test(fingerprints),
		cmocka_unit_test(seeds),  cmocka_unit_test(identifiers), cmocka_unit_test(elements), cmocka_unit_test(crowd),
	};
	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
