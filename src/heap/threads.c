/* SPDX-License-Identifier: GPL-3.0-or-later */
/* threads.c - see threads.h. */
#include "heap/threads.h"

#include "algorithms/bisect.h"
#include "heap/heap.h"

uint32_t heap_thread_of(const struct heap *h, uint32_t id)
{
	const uint32_t *by_object = h->threads_by_object;
	uint32_t at = 0;
	if (by_object)
		BISECT(at, h->n_threads, h->threads[by_object[at]].object < id);
	else
		while (at < h->n_threads && h->threads[at].object != id)
			at++;
	uint32_t thread = at == h->n_threads ? HEAP_NONE : by_object ? by_object[at] : at;
	return thread != HEAP_NONE && h->threads[thread].object == id ? thread : HEAP_NONE;
}
