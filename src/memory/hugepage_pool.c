/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hugepage_pool.c - a short list of mappings; see hugepage_pool.h. */
#include "memory/hugepage_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define MOST_KEPT 256 /* mappings; blocks are few and large */

static struct {
	char *at;
	uint64_t bytes;
} kept[MOST_KEPT];
static unsigned n_kept;
static _Atomic uint64_t kept_bytes; /* their sum */
static pthread_mutex_t hugepage_pool_lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t hugepage_pool_bytes(void)
{
	return atomic_load_explicit(&kept_bytes, memory_order_relaxed);
}

/* Neighbours, as blocks made one after the other mostly are, become one. */
static bool enter(char *at, uint64_t bytes)
{
	for (unsigned i = 0; i < n_kept; i++) {
		bool behind = kept[i].at + kept[i].bytes == at, before = at + bytes == kept[i].at;
		if (before)
			kept[i].at = at;
		if (before || behind) {
			kept[i].bytes += bytes;
			return true;
		}
	}
	if (n_kept == MOST_KEPT)
		return false;
	kept[n_kept].at = at;
	kept[n_kept++].bytes = bytes;
	return true;
}

void hugepage_pool_give(void *at, uint64_t bytes)
{
	uint64_t head = -(uint64_t)(uintptr_t)at & (HUGEPAGE_POOL_PAGE - 1);
	uint64_t middle = head < bytes ? (bytes - head) & ~(HUGEPAGE_POOL_PAGE - 1) : 0;

	if (middle) {
		pthread_mutex_lock(&hugepage_pool_lock);
		if (enter((char *)at + head, middle))
			atomic_fetch_add(&kept_bytes, middle);
		else
			middle = 0;
		pthread_mutex_unlock(&hugepage_pool_lock);
	}
	if (!middle) {
		munmap(at, bytes);
		return;
	}
	if (head)
		munmap(at, head);
	if (head + middle < bytes)
		munmap((char *)at + head + middle, bytes - head - middle);
}

/* Of what was kept last: at most so many bytes from its end. */
static char *pick(uint64_t *bytes)
{
	uint64_t n = kept[n_kept - 1].bytes;

	*bytes = *bytes < n ? *bytes : n;
	n -= *bytes;
	char *at = kept[n_kept - 1].at + n;
	if (n)
		kept[n_kept - 1].bytes = n;
	else
		n_kept--;
	atomic_fetch_sub(&kept_bytes, *bytes);
	return at;
}

/* What came from several blocks is several mappings, which older kernels move one by one only.  What cannot be moved
 * becomes fresh pages. */
static bool move(char *from, char *to, uint64_t bytes)
{
	if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to)
		return true;
	if (bytes > HUGEPAGE_POOL_PAGE) {
		uint64_t half = bytes / 2 & ~(HUGEPAGE_POOL_PAGE - 1);
		bool first = move(from, to, half);
		return move(from + half, to + half, bytes - half) && first;
	}
	munmap(from, bytes);
	return mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == to;
}

uint64_t hugepage_pool_take(void *at, uint64_t bytes, bool *whole)
{
	uint64_t done = 0;

	*whole = true;
	bytes &= ~(HUGEPAGE_POOL_PAGE - 1);
	while (done < bytes && *whole) {
		uint64_t n = bytes - done;
		pthread_mutex_lock(&hugepage_pool_lock);
		char *from = n_kept ? pick(&n) : NULL;
		pthread_mutex_unlock(&hugepage_pool_lock);
		if (!from)
			break;
		*whole = move(from, (char *)at + done, n);
		done += n;
	}
	return done;
}

void hugepage_pool_keep_at_most(uint64_t bytes)
{
	while (hugepage_pool_bytes() > bytes) {
		pthread_mutex_lock(&hugepage_pool_lock);
		uint64_t has = hugepage_pool_bytes(), page = HUGEPAGE_POOL_PAGE;
		uint64_t n = has > bytes ? (has - bytes + page - 1) & ~(page - 1) : 0;
		char *at = n && n_kept ? pick(&n) : NULL;
		pthread_mutex_unlock(&hugepage_pool_lock);
		if (!at)
			break;
		munmap(at, n);
	}
}
