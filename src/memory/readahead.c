/* SPDX-License-Identifier: GPL-3.0-or-later */
/* readahead.c - asking for pages of blocks in the file; see readahead.h. */
#include "memory/readahead.h"

#include "memory/big.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Where nothing is read from the disk although we ask, the pages are in the system's cache: then asking is given up
 * for a while, each time for longer.
 */
enum { ASKS_TO_TELL = 512, LEAST_PAUSE = 1 << 14, MOST_PAUSE = 1 << 22 };
static _Thread_local struct {
	uint64_t asks, pause, next_pause;
	long reads; /* when asks was 0 */
} patience;

static bool in_vain(void)
{
	if (patience.pause) {
		patience.pause--;
		return true;
	}
	if (++patience.asks < ASKS_TO_TELL)
		return false;
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	bool none = usage.ru_inblock == patience.reads;
	uint64_t next = 2 * patience.next_pause;
	patience.next_pause = !none || next < LEAST_PAUSE ? LEAST_PAUSE : next < MOST_PAUSE ? next : MOST_PAUSE;
	patience.pause = none ? patience.next_pause : 0;
	patience.reads = usage.ru_inblock;
	patience.asks = 0;
	return false;
}

static void ask(const char *array, uint64_t begin, uint64_t end)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	begin &= ~(page - 1);
	if (begin < end) /* a wish */
		madvise((void *)((uintptr_t)array + begin), end - begin, MADV_WILLNEED);
}

bool readahead_init(struct readahead *n, void *block, size_t size, bool filled)
{
	*n = (struct readahead){ .array = NULL };
	if (!block || big_owner(block) != BIG_SPILLED)
		return false;
	big_hint(block, BIG_NEAR);
	n->array = block;
	n->size = size;
	n->filled = filled;
	n->bytes = big_bytes(block);
	return true;
}

static bool is_recent(const struct readahead *n, uint64_t stretch)
{
	return n->recent[stretch % READAHEAD_RECENT] == stretch + 1;
}

static void ask_stretch(struct readahead *n, uint64_t stretch)
{
	uint64_t begin = stretch << READAHEAD_SHIFT, end = begin + (UINT64_C(1) << READAHEAD_SHIFT);
	if (begin >= n->bytes)
		return;
	n->recent[stretch % READAHEAD_RECENT] = stretch + 1;
	ask(n->array, begin, end < n->bytes ? end : n->bytes);
}

/* Who comes from one side goes on to the other. */
void readahead_ask(struct readahead *n, uint64_t stretch)
{
	bool before = stretch && is_recent(n, stretch - 1), behind = is_recent(n, stretch + 1);
	if (!n->filled && in_vain()) {
		n->recent[stretch % READAHEAD_RECENT] = stretch + 1;
		return;
	}
	ask_stretch(n, stretch);
	if (before && !behind)
		ask_stretch(n, stretch + 1);
	else if (behind && !before && stretch)
		ask_stretch(n, stretch - 1);
}

void readahead_over(void *block)
{
	if (block && big_owner(block) == BIG_SPILLED && big_use(block) == BIG_NEAR)
		big_hint(block, BIG_RANDOM);
}

void readahead_all(const void *block, uint64_t first, uint64_t count, size_t size)
{
	if (!block || big_owner(block) != BIG_SPILLED)
		return;
	uint64_t all = big_bytes(block), end = (first + count) * size;
	ask(block, first * size, end < all ? end : all);
}
