/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_places.c - heap_view finds every object's own bytes, in whatever order the dump has them.
 *
 * Dumps of int[] are written to a file; each array's length and first element follow from its
 * address, so that a view of a wrong record shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/parallel.h"
#include "base/text.h"
#include "bytes.h"
#include "dump/hprof/hprof_dump.h"
#include "heap/build/build.h"
#include "heap/heap.h"
#include "heap/places.h"

enum { N = 6000, SEGMENT = 500, FIRST = 0x10000, STEP = 16 };

static uint32_t length_at(uint64_t address)
{
	return 1 + (uint32_t)(address / STEP % 5);
}

static void add_array(struct text *t, uint64_t address)
{
	add_be(t, SUB_PRIMITIVE_ARRAY, 1);
	add_be(t, address, 4);
	add_be(t, 1, 4);
	add_be(t, length_at(address), 4);
	add_be(t, VALUE_INT, 1);
	for (uint32_t i = 0; i < length_at(address); i++)
		add_be(t, address ^ 0x5a5a5a5au, 4);
}

/* Segments with a class record and roots strewn among the arrays. */
static void write_dump(const char *path, const uint64_t *addresses, size_t n)
{
	struct text t = TEXT_INIT;

	text_add_n(&t, "JAVA PROFILE 1.0.2", 19);
	add_be(&t, 4, 4);
	add_be(&t, 0, 8);
	for (size_t i = 0; i < n;) {
		struct text body = TEXT_INIT;
		for (size_t end = i + SEGMENT; i < end && i < n; i++) {
			if (i % 101 == 50) {
				add_be(&body, SUB_STICKY_CLASS, 1);
				add_be(&body, addresses[i], 4);
			}
			if (i % 1001 == 500) { /* between two arrays; of those in order, also between their records */
				add_be(&body, SUB_CLASS, 1);
				add_be(&body, FIRST + STEP * i + STEP / 2 - (i % 2002 == 500 ? STEP : 0), 4);
				for (int k = 0; k < 8; k++)
					add_be(&body, 0, 4);
				add_be(&body, 0, 6);
			}
			add_array(&body, addresses[i]);
		}
		add_be(&t, HPROF_HEAP_SEGMENT, 1);
		add_be(&t, 0, 4);
		add_be(&t, body.len, 4);
		text_add_n(&t, body.s, body.len);
		text_release(&body);
	}
	add_be(&t, HPROF_HEAP_END, 1);
	add_be(&t, 0, 8);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(t.s, 1, t.len, f), t.len);
	assert_int_equal(fclose(f), 0);
	text_release(&t);
}

/* One walk over all objects by steps of so many ids, which begins anew at its end: the same views as
 * without a walk, and each of the object's own address. */
static void check_walk(const struct heap *h, uint32_t step)
{
	struct view_walk walk = { 0 };
	for (uint32_t begin = 0; begin < step; begin++) {
		for (uint32_t id = begin; id < h->n_objects; id += step) {
			struct object_view v, alone;
			uint64_t address = heap_address(h, id);
			if (address % STEP)
				continue;
			assert_int_equal(heap_view_along(h, id, &walk, &v, NULL), 0);
			assert_int_equal(heap_view(h, id, &alone, NULL), 0);
			assert_int_equal(v.address, address);
			assert_ptr_equal(v.bytes, alone.bytes);
			assert_int_equal(v.next, alone.next);
		}
	}
}

/* Write, open, look at every object; whether runs were enough. */
static bool check(const uint64_t *addresses, size_t n, size_t n_different)
{
	char path[] = "/tmp/cairn-places-XXXXXX";
	struct heap *h;
	struct err err = ERR_INIT;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_dump(path, addresses, n);
	struct heap_options options = { .path = path, .dump = { .no_companion = true } };
	int code = heap_open(&h, &options, NULL, &err);
	unlink(path);
	if (code < 0)
		fail_msg("%s", err.message);
	assert_false(h->damaged);
	assert_int_equal(h->n_primitive_arrays, n_different);
	for (uint32_t id = 0; id < h->n_objects; id++) {
		struct object_view v;
		uint64_t address = heap_address(h, id);
		code = heap_view(h, id, &v, &err);
		if (address % STEP) {
			assert_int_equal(code, ERR_NOT_FOUND); /* a class */
			continue;
		}
		assert_int_equal(code, 0);
		assert_int_equal(v.address, address);
		assert_int_equal(v.kind, PRIMITIVE_ARRAY);
		assert_int_equal(v.length, length_at(address));
		assert_int_equal(heap_length(h, id), v.length);
		assert_int_equal(v.n_bytes, 4 * v.length);
		assert_int_equal(load_be32(v.bytes), (uint32_t)address ^ 0x5a5a5a5au);
	}
	check_walk(h, 1);
	check_walk(h, 3);
	check_walk(h, 101);
	bool runs = h->places->runs != NULL;
	heap_close(h);
	return runs;
}

static uint64_t addresses[N];

static void ascending(void)
{
	for (size_t i = 0; i < N; i++)
		addresses[i] = FIRST + STEP * i;
}

static void in_order(void **state)
{
	(void)state;
	ascending();
	assert_true(check(addresses, N, N));
}

/* The halves of the heap the other way round, and a stretch moved to the front. */
static void in_runs(void **state)
{
	uint64_t moved[N];
	(void)state;
	ascending();
	for (size_t i = 0; i < N; i++)
		moved[i] = addresses[(i + N / 2) % N];
	assert_true(check(moved, N, N));
	memcpy(addresses, moved, sizeof addresses);
	memcpy(moved, addresses + 4000, 777 * sizeof *moved);
	memcpy(moved + 777, addresses, 4000 * sizeof *moved);
	assert_true(check(moved, N, N));
}

static void backwards(void **state)
{
	uint64_t reversed[N];
	(void)state;
	ascending();
	for (size_t i = 0; i < N; i++)
		reversed[i] = addresses[N - 1 - i];
	assert_false(check(reversed, N, N));
}

static void at_random(void **state)
{
	uint32_t random = 1;
	(void)state;
	ascending();
	for (size_t i = N - 1; i > 0; i--) {
		random = random * 1664525 + 1013904223;
		size_t k = (random >> 8) % (i + 1);
		uint64_t swap = addresses[i];
		addresses[i] = addresses[k];
		addresses[k] = swap;
	}
	assert_false(check(addresses, N, N));
}

/* Records whose address an earlier one has: at the start of the heap, of a part, in a row. */
static void twice(void **state)
{
	(void)state;
	ascending();
	static const struct { size_t at, from, n; } copies[] = {
		{ 1, 0, 1 }, { 700, 0, 3 }, { 1500, 699, 1 }, { 3000, 2990, 5 }, { 5999, 0, 1 },
	};
	size_t n_copied = 0;
	for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
		for (size_t k = 0; k < copies[i].n; k++, n_copied++)
			addresses[copies[i].at + k] = addresses[copies[i].from + k];
	assert_true(check(addresses, N, N - n_copied));
}

static void few(void **state)
{
	(void)state;
	ascending();
	for (size_t n = 1; n < 40; n++)
		check(addresses, n, n);
}

static int one_thread(void **state)
{
	(void)state;
	parallel_set_threads(1);
	return 0;
}

static int two_threads(void **state)
{
	(void)state;
	parallel_set_threads(2);
	return 0;
}

static int many_slices(void **state)
{
	slice_records = 100;
	return two_threads(state);
}

static int one_part_many_slices(void **state)
{
	slice_records = 777;
	return one_thread(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_order, one_thread),
		cmocka_unit_test_setup(in_runs, one_thread),
		cmocka_unit_test_setup(backwards, one_thread),
		cmocka_unit_test_setup(at_random, one_thread),
		cmocka_unit_test_setup(twice, one_thread),
		cmocka_unit_test_setup(few, one_thread),
		cmocka_unit_test_setup(in_order, two_threads),
		cmocka_unit_test_setup(in_runs, two_threads),
		cmocka_unit_test_setup(backwards, two_threads),
		cmocka_unit_test_setup(at_random, two_threads),
		cmocka_unit_test_setup(twice, two_threads),
		cmocka_unit_test_setup(few, two_threads),
		cmocka_unit_test_setup(in_order, many_slices),
		cmocka_unit_test_setup(in_runs, many_slices),
		cmocka_unit_test_setup(backwards, many_slices),
		cmocka_unit_test_setup(at_random, many_slices),
		cmocka_unit_test_setup(twice, many_slices),
		cmocka_unit_test_setup(in_order, one_part_many_slices),
		cmocka_unit_test_setup(in_runs, one_part_many_slices),
		cmocka_unit_test_setup(backwards, one_part_many_slices),
		cmocka_unit_test_setup(at_random, one_part_many_slices),
		cmocka_unit_test_setup(twice, one_part_many_slices),
	};
	return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
