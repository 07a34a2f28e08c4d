/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * need.c - what memory a dump was said to take, and what it took.
 *
 *     need DUMP
 *
 * Tab-separated: what, estimated, counted; for objects, references, bytes to load, bytes with retained sizes.
 */
#include "analysis/dominators/dominators.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>

static void told(void *context, const struct heap_need *need)
{
	*(struct heap_need *)context = *need;
}

static void line(const char *what, uint64_t estimated, uint64_t counted)
{
	printf("%s\t%" PRIu64 "\t%" PRIu64 "\n", what, estimated, counted);
}

int main(int argc, char **argv)
{
	struct heap_need need = {.objects = 0};
	struct heap_options options = {.path = argv[1], .no_index = true, .needs = told, .needs_context = &need};
	struct heap *heap;
	struct err err = ERR_INIT;
	struct dominators found;

	if (argc != 2) {
		fprintf(stderr, "usage: need DUMP\n");
		return 2;
	}
	if (heap_open(&heap, &options, NULL, &err)) {
		fprintf(stderr, "need: %s\n", err.message);
		return 3;
	}
	uint64_t retained = need.objects ? need.bytes + dominators_need(need.objects, need.references) : 0;
	line("objects", need.objects, heap->n_objects);
	line("references", need.references, heap->n_references);
	line("load", need.bytes, big_peak());
	if (dominators_find(&found, &(struct model){.heap = heap}, NULL, &err)) {
		fprintf(stderr, "need: %s\n", err.message);
		return 3;
	}
	line("retained", retained, big_peak());
	dominators_release(&found);
	heap_close(heap);
	return 0;
}
