/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cuts.c - what references free, compared with a naive second algorithm.
 *
 *     cuts DUMP          take away every reference, one after another, many sets of them, and what
 *                        plans propose, and see what can still be reached; 0 when what_if.h
 *                        say the same, and no single reference does what a plan takes several for.
 *                        -s N: every N-th reference; -m: weak references hold, as in Eclipse MAT
 */
#include "heap/heap.h"
#include "heap/open.h"
#include "naive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct heap_options o = { .path = argv[argc - 1] };
	struct heap *h;
	struct retained r;
	struct err err = ERR_INIT;
	uint32_t step = 1;
	bool mat = false, usage = argc < 2;
	for (int i = 1; i < argc - 1; i++) {
		if (!strcmp(argv[i], "-s") && i + 1 < argc - 1)
			step = (uint32_t)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "-m"))
			mat = true;
		else
			usage = true;
	}
	if (usage || !step) {
		fprintf(stderr, "cuts [-s N] [-m] DUMP\n");
		return 2;
	}
	if (heap_open(&h, &o, NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	const struct model model = { .heap = h, .left_out = mat ? NULL : h->weak };
	if (retained_find(&r, &model, NULL, &err) || retained_complete(&r, NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	struct naive naive;
	naive_init(&naive, &model);
	unsigned wrong = h->n_objects ? naive_compare_cuts(&naive, &r, step, 40) : 0;
	printf("%" PRIu64 " compared, %" PRIu64 " free something; %u plans, %u of several references\n",
	    naive.compared, naive.freeing, naive.plans, naive.several);
	naive_release(&naive);
	retained_release(&r);
	heap_close(h);
	return wrong != 0;
}
