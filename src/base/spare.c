/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spare.c - a short list of mappings; see spare.h. */
#include "base/spare.h"

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
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t spare_bytes(void)
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

void spare_give(void *at, uint64_t bytes)
{
	uint64_t head = -(uint64_t)(uintptr_t)at & (SPARE_PAGE - 1);
	uint64_t middle = head < bytes ? (bytes - head) & ~(SPARE_PAGE - 1) : 0;

	if (middle) {
		pthread_mutex_lock(&spare_lock);
		if (enter((char *)at + head, middle))
			atomic_fetch_add(&kept_bytes, middle);
		else
			middle = 0;
		pthread_mutex_unlock(&spare_lock);
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
	if (bytes > SPARE_PAGE) {
		uint64_t half = bytes / 2 & ~(SPARE_PAGE - 1);
		bool first = move(from, to, half);
		return move(from + half, to + half, bytes - half) && first;
	}
	munmap(from, bytes);
	return mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == to;
}

uint64_t spare_take(void *at, uint64_t bytes, bool *whole)
{
	uint64_t done = 0;

	*whole = true;
	bytes &= ~(SPARE_PAGE - 1);
	while (done < bytes && *whole) {
		uint64_t n = bytes - done;
		pthread_mutex_lock(&spare_lock);
		char *from = n_kept ? pick(&n) : NULL;
		pthread_mutex_unlock(&spare_lock);
		if (!from)
			break;
		*whole = move(from, (char *)at + done, n);
		done += n;
	}
	return done;
}

void spare_keep_at_most(uint64_t bytes)
{
	while (spare_bytes() > bytes) {
		pthread_mutex_lock(&spare_lock);
		uint64_t n = spare_bytes() > bytes ? (spare_bytes() - bytes + SPARE_PAGE - 1) & ~(SPARE_PAGE - 1) : 0;
		char *at = n && n_kept ? pick(&n) : NULL;
		pthread_mutex_unlock(&spare_lock);
		if (!at)
			break;
		munmap(at, n);
	}
}
