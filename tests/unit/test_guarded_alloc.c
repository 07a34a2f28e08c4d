/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_guarded_alloc.c - under address sanitizer, one byte too far is seen: behind blocks of big memory, pieces of
 * arenas, the bytes of a dump.  Each look is a child's, which must die of a wrong one and of no right one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "dump/source/source.h"
#include "memory/arena.h"
#include "memory/big.h"
#include "memory/guarded_alloc.h"

/* Does a child that reads p[at] live to tell? */
static bool can_read(const void *p, size_t at)
{
	fflush(NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		int nowhere = open("/dev/null", O_WRONLY);
		dup2(nowhere, STDERR_FILENO);
		volatile uint8_t byte = ((const volatile uint8_t *)p)[at];
		(void)byte;
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The last of n bytes can be read, the one behind it cannot. */
static void assert_exact(const void *p, size_t n)
{
	if (n)
		assert_true(can_read(p, n - 1));
	assert_false(can_read(p, n));
}

static void only_with_sanitizer(void)
{
	if (!CAIRN_ADDRESS_SANITIZER)
		skip();
}

static void test_big_blocks(void **state)
{
	(void)state;
	only_with_sanitizer();
	static const size_t sizes[] = {0, 1, 5, 4096, (128 << 10) - 1, 128 << 10, (5 << 20) + 3};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct err err = ERR_INIT;
		uint8_t *p = big_alloc(sizes[i], 1, &err);
		assert_non_null(p);
		assert_exact(p, sizes[i]);
		p = big_resize(p, sizes[i] + 7, 1, &err);
		assert_non_null(p);
		assert_exact(p, sizes[i] + 7);
		p = big_fit(p, sizes[i] / 2, 1);
		assert_exact(p, sizes[i] / 2);
		big_free(p);
	}
}

static void test_arena_pieces(void **state)
{
	(void)state;
	only_with_sanitizer();
	struct arena a = ARENA_INIT, b = ARENA_INIT;
	const void *first = arena_alloc(&a, 5), *second = arena_alloc(&a, 16);
	const void *text = arena_strndup(&a, "text", 4), *large = arena_alloc(&b, 100001);
	struct err err = ERR_INIT;
	const void *tried = arena_try(&b, 3, 7, &err);
	arena_move(&a, &b);
	assert_exact(first, 5);
	assert_exact(second, 16);
	assert_exact(text, 5);
	assert_exact(large, 100001);
	assert_exact(tried, 21);
	arena_release(&a);
}

/* A file of n bytes, gzipped or not, as a dump is opened. */
static void try_file(size_t n, bool zipped)
{
	char path[] = "/tmp/cairn-exact-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	if (zipped) {
		gzFile f = gzdopen(fd, "wb");
		for (size_t i = 0; i < n; i++)
			gzputc(f, 'x');
		assert_int_equal(gzclose(f), Z_OK);
	} else {
		for (size_t i = 0; i < n; i++)
			assert_int_equal(write(fd, "x", 1), 1);
		close(fd);
	}
	struct source *s;
	struct err err = ERR_INIT;
	int code = source_open(&s, path, NULL, &err);
	unlink(path);
	assert_int_equal(code, 0);
	assert_int_equal(s->size, n);
	assert_int_equal(s->compressed, zipped);
	assert_exact(s->bytes, n);
	source_close(s);
}

static void test_bytes_of_a_dump(void **state)
{
	(void)state;
	only_with_sanitizer();
	try_file(1, false);
	try_file(5000, false);
	try_file(8192, false); /* whole pages: behind a mapping there might be another */
	try_file(5000, true);
	try_file(200001, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_big_blocks),
		cmocka_unit_test(test_arena_pieces),
		cmocka_unit_test(test_bytes_of_a_dump),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
