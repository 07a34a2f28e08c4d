/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_memory.c - big memory and its limit, the emergency reserve, refusals, arenas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/buckets.h"
#include "base/emergency_reserve.h"
#include "base/mem.h"
#include "base/memory_refusals.h"
#include "base/text.h"
#include "memory/arena.h"
#include "memory/big.h"
#include "memory/guarded_alloc.h"
#include "memory/spill.h"

static void big_limit(uint32_t *p, uint64_t page)
{
	struct err err = ERR_INIT;

	/* over the limit: refused, and what is there stays */
	big_set_limit(big_in_use() + page, "--mem");
	assert_null(big_alloc(2 * page, 1, &err));
	assert_int_equal(err.code, ERR_NOMEM);
	assert_null(big_resize(p, 4000000, sizeof *p, &err));
	assert_int_equal(p[9], 7);
	void *small = big_alloc(1, 1, &err);
	assert_non_null(small);
	assert_null(big_resize(small, 2 * page, 1, &err));
	big_free(small);
	big_set_limit(0, "--mem");
}

/* Numbers come back from the bucket they were put on, each once; chunks that were read are used again. */
static void buckets(void **state)
{
	enum { BUCKETS = 5, NUMBERS = 200000 };
	struct err err = ERR_INIT;
	struct buckets p;
	uint64_t before = big_in_use(), most = 0;

	(void)state;
	assert_int_equal(buckets_init(&p, BUCKETS, &err), 0);
	for (unsigned round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < NUMBERS; i++)
			assert_int_equal(buckets_add(&p, i % (BUCKETS - 1), i, &err), 0);
		for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
			const uint64_t *number;
			uint64_t sum = 0, count = 0;
			uint32_t at = BUCKETS_FIRST, n;
			while ((number = buckets_next(&p, bucket, &at, &n))) {
				for (uint32_t i = 0; i < n; i++) {
					assert_int_equal(number[i] % (BUCKETS - 1), bucket);
					sum += number[i] / (BUCKETS - 1);
				}
				count += n;
			}
			uint64_t want = bucket < BUCKETS - 1 ? NUMBERS / (BUCKETS - 1) : 0;
			assert_int_equal(count, want);
			assert_int_equal(sum, want ? want * (want - 1) / 2 : 0);
			buckets_clear(&p, bucket);
		}
		if (round == 0)
			most = big_in_use();
		assert_int_equal(big_in_use(), most);
	}
	buckets_release(&p);
	assert_int_equal(big_in_use(), before);
}

static void big_memory(void **state)
{
	struct err err = ERR_INIT;
	uint64_t before = big_in_use();
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	uint32_t *p = big_alloc(1000, sizeof *p, &err);
	assert_in_range(big_in_use() - before, 4000, 4100);
	assert_int_equal(big_bytes(p), 4000);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(p[i], 0);
		p[i] = 7;
	}
	p = big_resize(p, 10, sizeof *p, &err);
	p = big_resize(p, 100, sizeof *p, &err);
	p = big_resize(p, 3000000, sizeof *p, &err); /* from malloc to pages */
	p = big_resize(p, 1000000, sizeof *p, &err);
	p = big_resize(p, 3000000, sizeof *p, &err);
	for (int i = 0; i < 3000000; i++)
		assert_int_equal(p[i], i < 10 ? 7 : 0);
	assert_true(big_peak() >= big_in_use());
	assert_int_equal(big_owner(p), BIG_ANONYMOUS);
	assert_in_range(big_in_use() - before, 12000000, 12000000 + page);
	big_limit(p, page);
	big_free(p);

	assert_null(big_alloc(UINT64_MAX / 4, 8, &err)); /* the product overflows */
	assert_null(big_alloc(UINT64_MAX - 10, 1, &err));
	assert_null(big_alloc(UINT64_C(1) << 60, 1, &err));
	void *none = big_alloc(0, 16, &err);
	assert_non_null(none);
	big_free(none);
	big_free(NULL);
	assert_int_equal(big_in_use(), before);
}

/* What has no error to hand on goes on beyond the limit, or without, and the refusal is told. */
static void small_refusals(void **state)
{
	enum { MANY = 300000 };
	struct err err = ERR_INIT;
	struct arena arena = ARENA_INIT;
	struct text t = TEXT_INIT;
	uint64_t before = mem_refusals(), in_use = big_in_use();

	(void)state;
	assert_int_equal(memory_refusals_check(before, &err), 0);
	big_set_limit(in_use + 100000, "the test");
	for (int i = 0; i < MANY; i++)
		text_add_char(&t, 'x');
	assert_in_range(t.len, 32768, 131071);
	assert_int_equal(strlen(t.s), t.len);
	assert_int_equal(memory_refusals_check(before, &err), ERR_NOMEM);
	assert_non_null(strstr(err.message, "the test allows"));
	text_release(&t);

	before = mem_refusals();
	char *piece = arena_alloc(&arena, MANY);
	memset(piece, 1, MANY);
	assert_int_equal(memory_refusals_check(before, &err), ERR_NOMEM);
	assert_int_equal(memory_refusals_check(mem_refusals(), &err), 0);
	assert_null(arena_try(&arena, MANY, 1, &err));
	arena_release(&arena);
	big_set_limit(0, "--mem");
	assert_int_equal(big_in_use(), in_use);
}

static void stocks(void **state)
{
	void *taken[8];
	unsigned n = 0;

	(void)state;
	emergency_reserve_fill();
	while (n < 8 && (taken[n] = emergency_reserve_take(60000)) != NULL) {
		for (int i = 0; i < 60000; i++)
			assert_int_equal(((char *)taken[n])[i], 0);
		memset(taken[n++], 1, 60000);
	}
	assert_true(n > 1);
	assert_null(emergency_reserve_take(SIZE_MAX / 2));
	emergency_reserve_fill();
	void *again = emergency_reserve_take(60000);
	assert_non_null(again);
	free(again);
	while (n > 0)
		free(taken[--n]);
}

/* Grows one by one over malloc's blocks into pages; a refused growth leaves all as it was. */
static void big_growing(void **state)
{
	struct err err = ERR_INIT;
	uint64_t before = big_in_use(), *list = NULL, n = 0;
	uint32_t cap = 0;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t *at = BIG_PUSH(list, n, cap, &err);
		assert_non_null(at);
		*at = i;
	}
	n = cap;
	big_set_limit(big_in_use(), "a test");
	assert_null(BIG_PUSH(list, n, cap, &err));
	assert_int_equal(err.code, ERR_NOMEM);
	assert_int_equal(n, cap);
	big_set_limit(0, NULL);
	assert_non_null(BIG_PUSH(list, n, cap, &err));
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(list[i], i);
	big_free(list);
	assert_int_equal(big_in_use(), before);
}

static void big_files(void **state)
{
	struct err err = ERR_INIT;
	uint64_t before = big_in_use(), page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	/* spilled: written, grown, shrunk and grown again, and none of it counts as memory */
	uint32_t *p = big_spill(1000, sizeof *p, &err);
	assert_non_null(p);
	assert_int_equal(big_owner(p), BIG_SPILLED);
	assert_int_equal(big_spilled(), page);
	big_hint(p, BIG_FORWARD);
	for (uint32_t i = 0; i < 1000; i++)
		p[i] = i;
	p = big_resize(p, 300000, sizeof *p, &err);
	assert_int_equal(big_use(p), BIG_FORWARD);
	for (uint32_t i = 0; i < 300000; i++)
		assert_int_equal(p[i], i < 1000 ? i : 0);
	p[250000] = 5;
	p = big_resize(p, 10, sizeof *p, &err);
	p = big_resize(p, 300000, sizeof *p, &err);
	for (uint32_t i = 0; i < 300000; i++)
		assert_int_equal(p[i], i < 10 ? i : 0);
	assert_int_equal(big_in_use(), before);
	assert_int_equal(big_spilled(), (1200000 + page - 1) / page * page);
	big_free(p);
	assert_int_equal(big_spilled(), 0);

	/* mapped: the second page of a file of two and a half */
	FILE *f = tmpfile();
	assert_non_null(f);
	for (uint64_t i = 0; i < 5 * page / 2; i++)
		fputc((int)(i / page + 1), f);
	assert_int_equal(fflush(f), 0);
	assert_null(big_map(fileno(f), 8, 16, &err)); /* not at a page */
	assert_int_equal(err.code, ERR_IO);
	assert_null(big_map(fileno(f), page, 2 * page, &err)); /* longer than the file */
	const uint8_t *m = big_map(fileno(f), page, 3 * page / 2, &err);
	fclose(f);
	assert_non_null(m);
	assert_int_equal(big_owner(m), BIG_MAPPED);
	for (uint64_t i = 0; i < 3 * page / 2; i++)
		assert_int_equal(m[i], i / page + 2);
	big_free(m);
	assert_int_equal(big_in_use(), before);
}

/* Under a limit: what does not fit goes into the file, and what is settled makes room for what comes. */
static void big_spilling(void **state)
{
	enum { WORDS = 1 << 20 };
	struct err err = ERR_INIT;
	uint64_t before = big_in_use();

	(void)state;
	if (CAIRN_EXACT) /* then all blocks are malloc's, and none can move */
		skip();
	/* of which large blocks may have 30 %: two of these and a little */
	big_set_limit((before + sizeof(uint64_t) * WORDS * 17 / 8) * 10 / 3, "--mem");
	uint64_t *never = big_alloc(8 * WORDS, sizeof *never, &err);
	assert_null(never); /* nobody allowed it */
	assert_int_equal(err.code, ERR_NOMEM);
	spill_allow(true);
	never = big_alloc(8 * WORDS, sizeof *never, &err);
	assert_non_null(never);
	assert_int_equal(big_owner(never), BIG_SPILLED);
	big_free(never);

	uint64_t *old = big_alloc(WORDS, sizeof *old, &err), *more = NULL;
	assert_int_equal(big_owner(old), BIG_ANONYMOUS);
	for (uint64_t i = 0; i < WORDS; i++)
		old[i] = i * 3;
	big_settle(old);
	assert_int_equal(big_owner(old), BIG_ANONYMOUS); /* there is room */
	more = big_alloc(WORDS, sizeof *more, &err);
	more = big_resize(more, WORDS * 3 / 2, sizeof *more, &err);
	assert_non_null(more);
	assert_int_equal(big_owner(more), BIG_ANONYMOUS);
	assert_int_equal(big_owner(old), BIG_SPILLED);
	assert_true(big_in_use() - before <= (sizeof(uint64_t) * WORDS) * 2);
	for (uint64_t i = 0; i < WORDS; i++)
		assert_int_equal(old[i], i * 3);
	old[7] = 8; /* the file is as good to write to */
	old = big_resize(old, WORDS + 1, sizeof *old, &err);
	assert_int_equal(old[7], 8);
	assert_int_equal(old[WORDS], 0);
	assert_int_equal(old[WORDS - 1], (uint64_t)(WORDS - 1) * 3);

	/* growing beyond what fits moves a block, too; a small one comes from what is kept */
	for (uint64_t i = 0; i < WORDS; i++)
		more[i] = ~i;
	more = big_resize(more, 3 * WORDS, sizeof *more, &err);
	assert_int_equal(big_owner(more), BIG_SPILLED);
	for (uint64_t i = 0; i < 3 * WORDS; i++)
		assert_int_equal(more[i], i < WORDS ? ~i : 0);
	char *small = big_alloc(1000, 1, &err);
	assert_int_equal(big_owner(small), BIG_ANONYMOUS);

	/* what is jumped through may have nearly all there is, but no more */
	more = big_hold(more);
	assert_int_equal(big_owner(more), BIG_ANONYMOUS);
	assert_int_equal(big_bytes(more), 3 * WORDS * sizeof *more);
	for (uint64_t i = 0; i < 3 * WORDS; i++)
		assert_int_equal(more[i], i < WORDS ? ~i : 0);
	uint64_t *held = big_alloc_held(WORDS, sizeof *held, &err);
	assert_int_equal(big_owner(held), BIG_ANONYMOUS);
	big_free(held);
	held = big_alloc_held(8 * WORDS, sizeof *held, &err);
	assert_int_equal(big_owner(held), BIG_SPILLED);
	/* what is written and read as a whole is what stands there */
	const uint64_t word[] = { 77, 78 }, *look;
	uint64_t copy[2] = { 0 };
	big_write(held, 9 * sizeof *word, word, sizeof word);
	assert_int_equal(held[8] + held[9] + held[10] + held[11], 77 + 78);
	held[10] = 79;
	look = big_look(held, 9 * sizeof *held, sizeof copy, copy);
	assert_ptr_equal(look, copy);
	assert_int_equal(copy[0] + copy[1], 77 + 79);
	assert_ptr_equal(big_look(more, sizeof *more, sizeof copy, copy), more + 1);
	big_free(held);
	uint64_t *huge = big_alloc(8 * WORDS, sizeof *huge, &err), *where = big_hold(huge);
	assert_ptr_equal(huge, where);
	assert_int_equal(big_owner(huge), BIG_SPILLED);
	assert_null(big_hold(NULL));
	big_free(huge);
	big_free(small);
	big_free(more);
	big_free(old);
	assert_int_equal(big_spilled(), 0);
	assert_int_equal(big_in_use(), before);
	spill_allow(false);
	big_set_limit(0, "--mem");
}

static void big_no_folder(void **state)
{
	struct err err = ERR_INIT;
	const char *was = getenv("TMPDIR");
	char *kept = was ? xstrdup(was) : NULL;

	(void)state;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_null(big_spill(1, 1, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_non_null(strstr(err.message, "/nowhere/at/all"));
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}

static void arenas(void **state)
{
	struct arena a = ARENA_INIT;
	char *kept[2000];

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		size_t n = i * 37 % 1000 + (i % 500 ? 0 : 200000);
		kept[i] = arena_alloc(&a, n + 1);
		assert_int_equal((uintptr_t)kept[i] % 16, 0);
		assert_int_equal(kept[i][n], 0);
		memset(kept[i], (int)(i & 0x7F), n + 1);
	}
	for (size_t i = 0; i < 2000; i++) {
		size_t n = i * 37 % 1000 + (i % 500 ? 0 : 200000);
		assert_int_equal(kept[i][0], i & 0x7F);
		assert_int_equal(kept[i][n], i & 0x7F);
	}
	assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
	assert_true(a.used >= 800000);
	arena_release(&a);
	assert_null(a.first);

	int *list = NULL;
	size_t n = 0, cap = 0;
	for (int i = 0; i < 1000; i++)
		VEC_PUSH(list, n, cap) = i;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(list[i], i);
	free(list);
}

/* Blocks grow and shrink, and new bytes are zero. */
static void big_grows(void **state)
{
	struct err err = ERR_INIT;
	uint64_t before = big_in_use();

	(void)state;
	if (CAIRN_EXACT)
		skip();
	unsigned char *a = big_alloc(6 * BIG_HUGE_PAGE + 5, 1, &err);
	assert_int_equal((uintptr_t)a % BIG_HUGE_PAGE, 0);
	for (uint64_t i = 0; i < 6 * BIG_HUGE_PAGE + 5; i++)
		assert_int_equal(a[i], 0);
	memset(a, 0x77, 6 * BIG_HUGE_PAGE + 5);
	a = big_resize(a, 9 * BIG_HUGE_PAGE, 1, &err);
	for (uint64_t i = 0; i < 9 * BIG_HUGE_PAGE; i += 97)
		assert_int_equal(a[i], i < 6 * BIG_HUGE_PAGE + 5 ? 0x77 : 0);
	a = big_resize(a, 2 * BIG_HUGE_PAGE + 1, 1, &err);
	a = big_resize(a, 3 * BIG_HUGE_PAGE, 1, &err);
	for (uint64_t i = 0; i < 3 * BIG_HUGE_PAGE; i += 97)
		assert_int_equal(a[i], i <= 2 * BIG_HUGE_PAGE ? 0x77 : 0);
	big_free(a);
	assert_int_equal(big_in_use(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(big_memory),
		cmocka_unit_test(small_refusals),
		cmocka_unit_test(stocks),
		cmocka_unit_test(big_growing),
		cmocka_unit_test(big_grows),
		cmocka_unit_test(big_files),
		cmocka_unit_test(big_spilling),
		cmocka_unit_test(buckets),
		cmocka_unit_test(big_no_folder),
		cmocka_unit_test(arenas),
	};
	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
