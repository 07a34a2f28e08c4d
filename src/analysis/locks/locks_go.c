/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locks_go.c - the channels that goroutines wait for.
 *
 * Go's runtime leads from a goroutine to the channels of its wait (heap/waits.h).
 */
#include "analysis/locks/locks_find.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/heap.h"
#include "heap/threads.h"
#include "heap/typed/typed.h"
#include "heap/waits.h"
#include "memory/big.h"

struct channel_wait {
	uint64_t channel;
	uint32_t thread;
	enum wait_for how;
};

static int by_channel(const void *x, const void *y)
{
	const struct channel_wait *a = x, *b = y;
	if (a->channel != b->channel)
		return a->channel < b->channel ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (int)a->how - (int)b->how;
}

static void add_channel(struct finding *f, const struct channel_wait *wait, size_t n)
{
	const struct heap *h = f->heap;
	uint32_t object = heap_target(h, wait->channel), at = lock_add(f, object, object, LOCK_CHANNEL);
	if (at == HEAP_NONE)
		return;
	f->locks->lock[at].address = wait->channel;
	f->locks->lock[at].owner_is = EXACT; /* nobody owns a channel */
	for (size_t i = 0; i < n && !f->lost; i++)
		if (!i || by_channel(&wait[i - 1], &wait[i]))
			lock_add_wait(f, &(struct lock_wait){ .lock = at, .thread = wait[i].thread,
			    .object = h->threads[wait[i].thread].object, .how = wait[i].how });
}

int locks_find_go(struct finding *f)
{
	const struct heap *h = f->heap;
	struct channel_wait *all = NULL;
	size_t n = 0, cap = 0;
	uint64_t steps = 0;
	for (uint32_t t = 0; t < h->n_threads && !f->lost; t++) {
		struct waits_walk walk = { .next = 0 };
		for (struct wait w; !f->lost && steps++ < h->n_objects && waits_next(h, t, &walk, &w) &&
		     !progress_stops(f->progress, steps);) {
			if (!w.channel)
				continue;
			struct channel_wait *to = BIG_PUSH(all, n, cap, f->err);
			f->lost |= !to;
			if (to)
				*to = (struct channel_wait){ w.channel, t, w.how == WAIT_SENDS ? WAIT_TO_SEND :
				    w.how == WAIT_RECEIVES ? WAIT_TO_RECEIVE : WAIT_FOR_EITHER };
		}
	}
	int code = f->lost ? ERR_NOMEM : sort(all, n, sizeof *all, by_channel, f->err);
	for (size_t i = 0, end; !code && i < n && !progress_stops(f->progress, i); i = end) {
		for (end = i + 1; end < n && all[end].channel == all[i].channel; end++)
			;
		add_channel(f, all + i, end - i);
	}
	big_free(all);
	return code;
}
