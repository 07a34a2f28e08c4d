/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * made_heap.h - heaps made in memory, of no dump: for graphs by the thousand and for very large ones.
 */
#ifndef CAIRN_TESTS_MADE_HEAP_H
#define CAIRN_TESTS_MADE_HEAP_H

#include "heap/heap.h"
#include "heap/index.h"
#include "heap/references.h"
#include "heap/weak.h"

struct made_edges {
	struct made_edge {
		uint32_t from, to;
	} *edge;
	size_t n, cap;
};

void made_edge(struct made_edges *e, uint32_t from, uint32_t to);
/* References both ways, those of an object in their order here; n_objects stands. */
void made_references(struct heap *h, const struct made_edges *edges);
void made_references_release(struct heap *h);

/* A small heap by a number: the same number, the same heap. */
struct made_heap {
	struct heap heap;
	const char *shape; /* in a word */
	struct address_index index;
	struct weak_references weak;
	struct model model; /* of the heap */
	uint64_t random;
	size_t stacks; /* roots that stand on a thread's stack */
};
void made_heap_fill(struct made_heap *m, uint64_t seed);
void made_heap_release(struct made_heap *m);

#endif
