/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mem.c - small allocations that do not fail.  Any thread.
 */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void (*mem_before_exit)(void);

_Noreturn void mem_exhausted(size_t size)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&once) && mem_before_exit)
		mem_before_exit();
	fprintf(stderr, "cairn: out of memory: %zu bytes wanted\n", size);
	_exit(3);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		mem_exhausted(size);
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		mem_exhausted(count > SIZE_MAX / (size ? size : 1) ? SIZE_MAX : count * size);
	return p;
}

void *xrealloc(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		mem_exhausted(SIZE_MAX);
	void *p = realloc(old, bytes ? bytes : 1);
	if (!p)
		mem_exhausted(bytes);
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *p = xmalloc(length + 1);

	memcpy(p, s, length);
	p[length] = '\0';
	return p;
}
