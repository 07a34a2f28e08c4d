/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * overlaps.c - warn of objects that reach into the next one.  No heap has such; a damaged dump may.
 *
 * They are looked for only in formats with pointers into objects: there it matters which of the two
 * objects a pointer means.
 */
#include "heap/build/build.h"

#include "algorithms/parallel.h"
#include "heap/index.h"

#include <stdatomic.h>

enum { TASKS = 64 };

struct overlaps {
	const struct heap *heap;
	atomic_uint_least64_t n;
	atomic_uint_least32_t first; /* the lowest id */
};

static int look(void *context, unsigned task, struct err *err)
{
	struct overlaps *o = context;
	const struct heap *h = o->heap;
	uint32_t begin = (uint32_t)((uint64_t)h->n_objects * task / TASKS);
	uint32_t end = (uint32_t)((uint64_t)h->n_objects * (task + 1) / TASKS);
	uint64_t address, next, n = 0;
	uint32_t first = HEAP_NONE;
	struct index_walk walk;
	struct progress *work = progress_own();
	if (begin == end)
		return 0;
	index_walk_seek(&walk, h->index, begin);
	index_walk_next(&walk, &address);
	for (uint32_t id = begin; id < end && index_walk_next(&walk, &next); id++, address = next) {
		if (progress_stops(work, id))
			return err_cancelled(err);
		if (heap_shallow(h, id) <= next - address)
			continue;
		n++;
		first = first < id ? first : id;
	}
	o->n += n;
	uint32_t lowest = o->first;
	while (first < lowest && !atomic_compare_exchange_weak(&o->first, &lowest, first))
		continue;
	return 0;
}

int overlaps_warn(struct build *b, struct err *err)
{
	const struct heap *h = b->heap;
	struct overlaps o = { .heap = h, .first = HEAP_NONE };
	if (!h->facts.interior_pointers)
		return 0;
	int code = parallel_run(0, TASKS, look, &o, err);
	if (code == 0 && o.n)
		build_warn(b, "%llu object%s the next, first 0x%llx of %llu bytes: cairn assigns an ambiguous "
		    "pointer to the later object", (unsigned long long)o.n, o.n == 1 ? " overlaps" : "s overlap",
		    (unsigned long long)heap_address(h, o.first), (unsigned long long)heap_shallow(h, o.first));
	return code;
}
