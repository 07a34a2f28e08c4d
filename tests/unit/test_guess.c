/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_guess.c - a heap dump record without segments is divided at guesses, and wrong ones do no harm.
 *
 * The dump holds a chain of instances, and byte[] whose bytes look like rows of such instances: what
 * is guessed inside of one must leave no trace.
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
#include "heap/heap.h"

enum {
	N = 20000, BLOCK = 50, DECOYS = 40, CLASS = 0x500, FIRST = 0x10000, DECOY = 0x900000, STEP = 16,
	FIELDS = 8, /* next:L value:I */
};

static uint64_t offsets[N]; /* of the records */

static void add_instance(struct text *t, uint64_t address, uint64_t next)
{
	add_be(t, SUB_INSTANCE, 1);
	add_be(t, address, 4);
	add_be(t, 1, 4);
	add_be(t, CLASS, 4);
	add_be(t, FIELDS, 4);
	add_be(t, next, 4);
	add_be(t, address, 4);
}

static void add_class(struct text *t)
{
	add_be(t, SUB_CLASS, 1);
	add_be(t, CLASS, 4);
	for (int k = 0; k < 7; k++)
		add_be(t, 0, 4);
	add_be(t, FIELDS, 4);
	add_be(t, 0, 4);
	add_be(t, 2, 2);
	add_be(t, 0, 4);
	add_be(t, VALUE_OBJECT, 1);
	add_be(t, 0, 4);
	add_be(t, VALUE_INT, 1);
}

static void add_decoys(struct text *t, uint64_t address)
{
	struct text bytes = TEXT_INIT;
	for (unsigned i = 0; i < DECOYS; i++)
		add_instance(&bytes, DECOY + STEP * i, DECOY);
	add_be(t, SUB_PRIMITIVE_ARRAY, 1);
	add_be(t, address, 4);
	add_be(t, 1, 4);
	add_be(t, bytes.len, 4);
	add_be(t, VALUE_BYTE, 1);
	text_add_n(t, bytes.s, bytes.len);
	text_release(&bytes);
}

static bool is_array(size_t i)
{
	return i % BLOCK == BLOCK - 1;
}

static void write_dump(const char *path, size_t n_lost)
{
	struct text t = TEXT_INIT, body = TEXT_INIT;
	text_add_n(&t, "JAVA PROFILE 1.0.1", 19);
	add_be(&t, 4, 4);
	add_be(&t, 0, 8);
	add_class(&body);
	uint64_t body_at = t.len + RECORD_HEAD;
	for (size_t i = 0; i < N; i++) {
		offsets[i] = body_at + body.len;
		if (is_array(i))
			add_decoys(&body, FIRST + STEP * i);
		else
			add_instance(&body, FIRST + STEP * i, i ? FIRST + STEP * (i - 1) : 0);
	}
	add_be(&t, HPROF_HEAP_DUMP, 1);
	add_be(&t, 0, 4);
	add_be(&t, body.len, 4);
	text_add_n(&t, body.s, body.len);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(t.s, 1, t.len - n_lost, f), t.len - n_lost);
	assert_int_equal(fclose(f), 0);
	text_release(&t);
	text_release(&body);
}

static struct heap *open_dump(unsigned n_threads, size_t n_lost)
{
	char path[] = "/tmp/cairn-guess-XXXXXX";
	struct heap *h = NULL;
	struct err err = ERR_INIT;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	write_dump(path, n_lost);
	parallel_set_threads(n_threads);
	struct heap_options options = { .path = path, .dump = { .no_companion = true } };
	int code = heap_open(&h, &options, NULL, &err);
	unlink(path);
	if (code < 0)
		fail_msg("%s", err.message);
	return h;
}

/* Both kinds of guesses were made, or this test tells nothing. */
static void see_guesses(const struct heap *h)
{
	struct part parts[16];
	unsigned n_right = 0, n_wrong = 0;
	unsigned n = h->dump->reader->parts(h->dump, 16, parts);
	for (unsigned i = 1; i < n; i++) {
		size_t k = 0;
		while (k < N && offsets[k] != parts[i].begin)
			k++;
		n_right += k < N;
		n_wrong += k == N;
	}
	assert_true(n_right > 0);
	assert_true(n_wrong > 0);
}

static void check(const struct heap *h)
{
	assert_false(h->damaged);
	assert_int_equal(h->n_warnings, 0);
	assert_int_equal(h->n_instances, N - N / BLOCK);
	assert_int_equal(h->n_primitive_arrays, N / BLOCK);
	assert_int_equal(heap_find(h, DECOY), HEAP_NONE);
	for (size_t i = 0; i < N; i++) {
		uint32_t id = heap_find(h, FIRST + STEP * i);
		assert_int_not_equal(id, HEAP_NONE);
		uint64_t at = adjacency_start(&h->out, id);
		assert_int_equal(adjacency_start(&h->out, id + 1) - at, !is_array(i) && i > 0);
		if (is_array(i))
			assert_int_equal(heap_length(h, id), DECOYS * 25);
		else if (i > 0)
			assert_int_equal(heap_address(h, h->out.target[at]), FIRST + STEP * (i - 1));
	}
}

static void whole(void **state)
{
	(void)state;
	for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
		struct heap *h = open_dump(n_threads, 0);
		see_guesses(h);
		check(h);
		heap_close(h);
	}
}

/* Cut in the last array, in its decoys, in an instance, half-way: threads make no difference. */
static void cut(void **state)
{
	static const size_t lost[] = { 1, 500, 1010, 1030, 200001, 300000 };
	(void)state;
	for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
		struct heap *one = open_dump(1, lost[i]), *two = open_dump(2, lost[i]);
		assert_true(one->damaged);
		assert_true(two->damaged);
		assert_int_equal(one->damage.code, two->damage.code);
		assert_int_equal(one->damage.offset, two->damage.offset);
		assert_int_equal(one->n_objects, two->n_objects);
		assert_int_equal(one->out.n, two->out.n);
		assert_int_equal(one->n_warnings, two->n_warnings);
		heap_close(one);
		heap_close(two);
	}
}

static int small_parts(void **state)
{
	(void)state;
	hprof_part_bytes = 4099;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(whole, small_parts),
		cmocka_unit_test_setup(cut, small_parts),
	};
	return cmocka_run_group_tests_name("guess", tests, NULL, NULL);
}
