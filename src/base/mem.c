/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mem.c - small allocations that do not fail, big ones that may, and arenas.
 *
 * Big memory is mapped anonymously: the kernel zeroes it page by page as it is touched, grows it
 * without copying (mremap) and takes it back at once.  What is counted is whole pages.  Any thread,
 * except that one arena belongs to one thread at a time.
 */
#include "base/mem.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_FROM (4u << 20) /* below this a huge page wastes more than it saves */

void (*mem_before_exit)(void);

static _Noreturn void out_of_memory(size_t size)
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
		out_of_memory(size);
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory(count > SIZE_MAX / (size ? size : 1) ? SIZE_MAX : count * size);
	return p;
}

void *xrealloc(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory(SIZE_MAX);
	void *p = realloc(old, bytes ? bytes : 1);
	if (!p)
		out_of_memory(bytes);
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

/* --- big memory -------------------------------------------------------------------------------- */

static _Atomic uint64_t in_use, peak, limit;

uint64_t big_in_use(void)
{
	return atomic_load(&in_use);
}

uint64_t big_peak(void)
{
	return atomic_load(&peak);
}

void big_set_limit(uint64_t bytes)
{
	atomic_store(&limit, bytes);
}

/* Bytes of whole pages for count elements, at least one page; false on overflow. */
static bool page_bytes(uint64_t count, uint64_t size, uint64_t *bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (__builtin_mul_overflow(count, size, bytes) ||
	    __builtin_add_overflow(*bytes, page - 1, bytes))
		return false;
	*bytes &= ~(page - 1);
	if (!*bytes)
		*bytes = page;
	return *bytes <= PTRDIFF_MAX;
}

static int reserve(uint64_t bytes, struct err *err)
{
	uint64_t now = atomic_fetch_add(&in_use, bytes) + bytes;
	uint64_t most = atomic_load(&limit);

	if (most && now > most) {
		atomic_fetch_sub(&in_use, bytes);
		return err_set(err, ERR_NOMEM,
		    "memory: %" PRIu64 " more bytes are needed, %" PRIu64
		    " are in use and --mem allows %" PRIu64 "; give a larger --mem",
		    bytes, now - bytes, most);
	}
	uint64_t highest = atomic_load(&peak);
	while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now))
		;
	return 0;
}

static int refused(uint64_t count, uint64_t size, struct err *err)
{
	return err_set(err, ERR_NOMEM,
	    "memory: the system refuses %" PRIu64 " times %" PRIu64 " bytes", count, size);
}

static void ask_huge(void *p, uint64_t bytes)
{
	if (bytes >= HUGE_FROM)
		madvise(p, bytes, MADV_HUGEPAGE); /* only a wish */
}

void *big_alloc(uint64_t count, uint64_t size, struct err *err)
{
	uint64_t bytes;

	if (!page_bytes(count, size, &bytes)) {
		refused(count, size, err);
		return NULL;
	}
	if (reserve(bytes, err) < 0)
		return NULL;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		atomic_fetch_sub(&in_use, bytes);
		refused(count, size, err);
		return NULL;
	}
	ask_huge(p, bytes);
	return p;
}

void *big_resize(void *old, uint64_t old_count, uint64_t new_count, uint64_t size, struct err *err)
{
	uint64_t old_bytes, new_bytes;

	if (!old)
		return big_alloc(new_count, size, err);
	if (!page_bytes(old_count, size, &old_bytes) || !page_bytes(new_count, size, &new_bytes)) {
		refused(new_count, size, err);
		return NULL;
	}
	if (new_count < old_count) {
		/* the rest of the last page kept must be zero should it grow again */
		uint64_t kept = new_count * size;
		uint64_t was = old_count * size;
		uint64_t end = was < new_bytes ? was : new_bytes;
		memset((char *)old + kept, 0, end - kept);
	}
	if (new_bytes == old_bytes)
		return old;
	if (new_bytes > old_bytes && reserve(new_bytes - old_bytes, err) < 0)
		return NULL;
	void *p = mremap(old, old_bytes, new_bytes, MREMAP_MAYMOVE);
	if (p == MAP_FAILED) {
		if (new_bytes > old_bytes)
			atomic_fetch_sub(&in_use, new_bytes - old_bytes);
		refused(new_count, size, err);
		return NULL;
	}
	if (new_bytes < old_bytes)
		atomic_fetch_sub(&in_use, old_bytes - new_bytes);
	else
		ask_huge(p, new_bytes);
	return p;
}

void big_free(void *p, uint64_t count, uint64_t size)
{
	uint64_t bytes;

	if (!p || !page_bytes(count, size, &bytes))
		return;
	munmap(p, bytes);
	atomic_fetch_sub(&in_use, bytes);
}

void big_touch(void *p, uint64_t count, uint64_t size)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t)p & ~(page - 1), end = (uintptr_t)p + count * size;
	/* a wish: a kernel before 5.14 does not know it */
	if (count)
		madvise((void *)begin, ((end + page - 1) & ~(page - 1)) - begin, MADV_POPULATE_WRITE);
#else
	(void)p, (void)count, (void)size;
#endif
}

/* --- arenas ------------------------------------------------------------------------------------ */

#define ARENA_BLOCK ((size_t)64 << 10)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX - ARENA_BLOCK)
		out_of_memory(size);
	size = (size + 15) & ~(size_t)15;
	struct arena_block *b = a->first;
	if (!b || size > b->size - b->used) {
		bool own = size > ARENA_BLOCK / 4 && b; /* a large one goes behind the current block */
		size_t room = size > ARENA_BLOCK / 4 ? size : ARENA_BLOCK;
		struct arena_block *fresh = xmalloc(sizeof *fresh + room);
		fresh->used = 0;
		fresh->size = room;
		if (own) {
			fresh->next = b->next;
			b->next = fresh;
		} else {
			fresh->next = b;
			a->first = fresh;
		}
		b = fresh;
	}
	void *p = b->bytes + b->used;
	b->used += size;
	a->used += size;
	return memset(p, 0, size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *p = arena_alloc(a, length + 1);

	memcpy(p, s, length);
	return p;
}

void arena_release(struct arena *a)
{
	for (struct arena_block *b = a->first, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct arena)ARENA_INIT;
}

void arena_move(struct arena *to, struct arena *from)
{
	struct arena_block **last = &to->first;

	while (*last)
		last = &(*last)->next;
	*last = from->first;
	to->used += from->used;
	*from = (struct arena)ARENA_INIT;
}
