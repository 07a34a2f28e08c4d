/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mappings.c - see mappings.h. */
#include "memory/mappings.h"

#include "memory/guarded_alloc.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#if CAIRN_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

uint64_t mapping_page(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

#define BUCKETS 512

static struct mapping *table[BUCKETS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static struct mapping **bucket(const void *at)
{
	return &table[((uintptr_t)at >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 55];
}

struct mapping *mapping_find(const void *at)
{
	if ((uintptr_t)at & (mapping_page() - 1))
		return NULL;
	pthread_mutex_lock(&table_lock);
	struct mapping *m = *bucket(at);
	while (m && m->at != at)
		m = m->next;
	pthread_mutex_unlock(&table_lock);
	return m;
}

void mapping_enter(struct mapping *m)
{
	pthread_mutex_lock(&table_lock);
	m->next = *bucket(m->at);
	*bucket(m->at) = m;
	pthread_mutex_unlock(&table_lock);
}

void mapping_leave(struct mapping *m)
{
	pthread_mutex_lock(&table_lock);
	struct mapping **at = bucket(m->at);
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	pthread_mutex_unlock(&table_lock);
}

void mapping_told(const struct mapping *m, bool is_there)
{
#if CAIRN_ADDRESS_SANITIZER
	if (is_there)
		__lsan_register_root_region(m->at, m->bytes);
	else
		__lsan_unregister_root_region(m->at, m->bytes);
#else
	(void)m, (void)is_there;
#endif
}

uint64_t whole_pages(uint64_t bytes)
{
	uint64_t page = mapping_page(), whole = (bytes + page - 1) & ~(page - 1);

	return whole ? whole : page;
}

void mapping_advise(const struct mapping *m)
{
	if (m->owner == BIG_ANONYMOUS) {
		if (m->bytes >= BIG_HUGE_PAGE)
			madvise(m->at, m->bytes, MADV_HUGEPAGE); /* only a wish, like the others */
	} else {
		bool alone = m->use == BIG_NEAR || m->owner == BIG_MAPPED;
		madvise(m->at, m->bytes, m->use == BIG_FORWARD ? MADV_SEQUENTIAL : alone ? MADV_RANDOM : MADV_NORMAL);
	}
}
