/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.c - counters between a worker and whoever watches it.  Any thread.
 */
#include "base/progress.h"

#include <stddef.h>

void progress_phase(struct progress *p, const char *phase, uint64_t total)
{
	if (!p)
		return;
	atomic_store(&p->done, 0);
	atomic_store(&p->total, total);
	atomic_store(&p->phase, phase);
}

bool progress_add(struct progress *p, uint64_t n)
{
	if (!p)
		return true;
	atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed);
	return !atomic_load_explicit(&p->cancel, memory_order_relaxed);
}

bool progress_cancelled(struct progress *p)
{
	return p && atomic_load_explicit(&p->cancel, memory_order_relaxed);
}
