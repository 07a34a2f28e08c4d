/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_frames.c - objects whose address stands in a stack frame; see heap.in_frames. */
#include "heap/build/build.h"

#include "algorithms/sort.h"
#include "memory/big.h"

#include <stdlib.h>

struct met {
	struct heap *heap;
	uint32_t *ids;
	size_t n, cap;
	uint32_t last;
	struct err lost;
};

static void note(struct met *m, uint32_t id)
{
	uint32_t *at = BIG_PUSH(m->ids, m->n, m->cap, &m->lost);
	if (at)
		*at = id;
}

static void meet(void *context, uint64_t word)
{
	struct met *m = context;
	uint32_t id = word ? heap_target(m->heap, word) : HEAP_NONE;
	if (id != HEAP_NONE && id != m->last)
		note(m, m->last = id);
}

static int ascending(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

int in_frames_find(struct heap *h, struct err *err)
{
	struct met m = { .heap = h, .last = HEAP_NONE };
	if (!h->dump->reader->memory || h->no_references)
		return 0;
	h->dump->reader->memory->stack_words(h->dump, meet, &m);
	if (!m.lost.code)
		m.lost.code = sort(m.ids, m.n, sizeof *m.ids, ascending, &m.lost);
	size_t n = 0;
	for (size_t i = 0; i < m.n; i++) {
		if (!n || m.ids[n - 1] != m.ids[i])
			m.ids[n++] = m.ids[i];
	}
	h->in_frames = m.ids;
	h->n_in_frames = n;
	if (m.lost.code)
		*err = m.lost;
	return m.lost.code;
}
