/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_blocks.c - gzip files of many members, inflated by several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/source/blocks.h"
#include "memory/big.h"

enum { BLOCK = 10000, N = 345678 };

static uint8_t content[N];

static void make_content(void)
{
	uint32_t state = 12345;

	for (size_t i = 0; i < N; i++) {
		state = state * 1664525 + 1013904223;
		content[i] = i % 7 ? (uint8_t)(i / 50) : (uint8_t)(state >> 24);
	}
}

/* A member as the VM writes it. */
static void add_member(struct text *t, const uint8_t *bytes, size_t n, bool comment, int level)
{
	static const char head[] = "\x1f\x8b\x08\0\0\0\0\0\0\xff";
	uint8_t out[2 * BLOCK + 100];
	z_stream z = { .zalloc = Z_NULL };

	assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (z_const Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = sizeof out;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size_t from = t->len;
	text_add_n(t, head, 10);
	if (comment) {
		t->s[from + 3] = 0x10;
		text_add_n(t, "HPROF BLOCKSIZE=10000", 22);
	}
	text_add_n(t, (const char *)out, sizeof out - z.avail_out);
	deflateEnd(&z);
	uint32_t crc = (uint32_t)crc32(0, bytes, (uInt)n);
	for (int i = 0; i < 4; i++)
		text_add_char(t, (char)(crc >> 8 * i));
	for (int i = 0; i < 4; i++)
		text_add_char(t, (char)(n >> 8 * i));
}

/* Blocks of uneven sizes, as after flushes; among them the comment again. */
static void make_file(struct text *t, int level)
{
	size_t at = 0, k = 0;

	while (at < N) {
		size_t n = k % 5 == 3 ? BLOCK / 3 : BLOCK;
		if (n > N - at)
			n = N - at;
		add_member(t, content + at, n, k == 0 || k == 4, level);
		at += n;
		k++;
	}
}

static int inflate_text(const struct text *t, uint8_t **out, uint64_t *size)
{
	/* a copy of its size, so that a sanitizer sees every byte too far */
	uint8_t *in = xmalloc(t->len);
	struct err err = ERR_INIT;

	memcpy(in, t->s, t->len);
	int code = blocks_inflate(in, t->len, out, size, NULL, &err);
	free(in);
	return code;
}

static void all_of_it(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct text t = TEXT_INIT;
		uint8_t *out;
		uint64_t size;
		parallel_set_threads(threads);
		make_file(&t, 6);
		assert_int_equal(inflate_text(&t, &out, &size), 1);
		assert_int_equal(size, N);
		assert_memory_equal(out, content, N);
		big_free(out);
		text_release(&t);
	}
}

/* What cannot be taken apart is left to the inflater that goes from front to back. */
static void doubtful(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	uint8_t *out;
	uint64_t size;

	make_file(&t, 6);
	size_t whole = t.len;
	for (size_t n = 0; n < whole; n += 97) {
		t.len = n;
		if (n && inflate_text(&t, &out, &size) == 1) { /* between two members: a whole file */
			assert_true(size < N);
			assert_memory_equal(out, content, size);
			big_free(out);
		}
	}
	t.len = whole;
	for (size_t at = 40; at < whole; at += 1013) {
		t.s[at] ^= 0x10;
		int code = inflate_text(&t, &out, &size);
		t.s[at] ^= 0x10;
		if (code == 1) { /* a byte of a head that means nothing */
			assert_int_equal(size, N);
			assert_memory_equal(out, content, N);
			big_free(out);
		} else {
			assert_int_equal(code, 0);
		}
	}
	text_add_n(&t, "\0\0\0\0\0\0\0", 7); /* padding */
	assert_int_equal(inflate_text(&t, &out, &size), 0);
	text_release(&t);
}

/* A stored block that contains what looks like the head of a member. */
static void false_head(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	uint8_t *out, bytes[200] = { 0 };
	uint64_t size;

	memcpy(bytes + 50, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	add_member(&t, bytes, sizeof bytes, true, 0);
	add_member(&t, bytes, sizeof bytes, false, 0);
	assert_int_equal(inflate_text(&t, &out, &size), 0);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(doubtful),
		cmocka_unit_test(false_head),
	};
	make_content();
	return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
