/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/holes.h"

#include "base/progress.h"
#include "dump/facts.h"
#include "heap/heap.h"
#include "heap/index.h"

enum {
	PAGE = 4096,
	LEAST_OBJECT = 16 /* less room is part of the object before it: alignment, or a slot for its hash code */
};

uint64_t holes_count(const struct heap *h)
{
	enum { BLOCK = 1024 };
	uint64_t size[BLOCK], at, end = 0, found = 0;
	struct index_walk walk;
	index_walk_init(&walk, h->index);
	for (uint32_t first = 0; first < h->n_objects && !progress_own_stops(first); first += BLOCK) {
		uint32_t n = h->n_objects - first < BLOCK ? h->n_objects - first : BLOCK;
		heap_sizes(h, first, n, size);
		for (uint32_t i = 0; i < n; i++) {
			index_walk_next(&walk, &at);
			uint64_t room = end && at > end ? at - end : 0;
			found += room >= LEAST_OBJECT && at % PAGE;
			end = size[i] == SIZE_UNKNOWN || at + size[i] < at ? 0 : at + size[i];
		}
	}
	return found;
}
