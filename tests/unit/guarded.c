/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guarded.c - bytes right before a page that must not be touched. */
#include "guarded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

void guard(struct guarded *g, const char *path, const void *bytes, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (n + page - 1) / page * page;

	g->map_size = room + page;
	g->map = mmap(NULL, g->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(g->map != MAP_FAILED);
	assert_int_equal(mprotect(g->map + room, page, PROT_NONE), 0);
	uint8_t *copy = g->map + room - n;
	if (n)
		memcpy(copy, bytes, n);
	g->source = (struct source){ .path = path, .bytes = copy, .size = n, .file_size = n };
}

void guarded_release(struct guarded *g)
{
	munmap(g->map, g->map_size);
}
