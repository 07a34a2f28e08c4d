/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graphs.c - thousands of small heaps of all shapes, made in memory, against the naive algorithm.
 *
 *     graphs [-n N] [-seed S]    N heaps from number S on: dominators, retained sizes of objects, sets,
 *                                classes and groups, the same with one thread and with several; what
 *                                each reference frees, what several free together, plans; and the
 *                                checker's own proof.  0 when all agree
 *
 * CAIRN_GRAPHS gives another N than 3000 (CAIRN_QUICK: 1000).  Speaks TAP.
 */
#include "made_heap.h"
#include "naive.h"

#include "analysis/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums {
	uint64_t objects, references, cuts, freeing, plans, several, stacks, weak, wrong;
};

static unsigned proofs_broken(const struct retained *r)
{
	struct checks checks = { .n = 0 };
	unsigned wrong = check_tree(&checks, r, NULL) != 0;
	for (size_t i = 0; i < checks.n; i++) {
		if (checks.line[i].outcome != CHECK_BROKEN)
			continue;
		printf("# %s: %s\n", checks.line[i].name, checks.line[i].detail);
		wrong++;
	}
	checks_release(&checks);
	return wrong;
}

static void try_one(uint64_t seed, struct sums *s)
{
	struct made_heap made;
	struct naive naive;
	struct retained r;
	made_heap_fill(&made, seed);
	const struct heap *h = &made.heap;
	naive_init(&naive, &made.model);
	unsigned wrong = 1;
	if (!retained_find(&r, &made.model, NULL, NULL) && !retained_complete(&r, NULL, NULL))
		wrong = naive_compare_dominators(&naive, &r.dominators, 1) +
		    naive_compare_cuts(&naive, &r, 1, 8) + proofs_broken(&r);
	if (wrong)
		printf("# %u differences in heap %" PRIu64 ": %s of %" PRIu32 " objects\n", wrong, seed,
		    made.shape, h->n_objects);
	s->objects += h->n_objects;
	s->references += h->out.n;
	s->cuts += naive.compared;
	s->freeing += naive.freeing;
	s->plans += naive.plans;
	s->several += naive.several;
	s->stacks += made.stacks;
	s->weak += made.weak.n;
	s->wrong += wrong > 0;
	retained_release(&r);
	naive_release(&naive);
	made_heap_release(&made);
}

int main(int argc, char **argv)
{
	struct sums s = { .objects = 0 };
	uint64_t n = getenv("CAIRN_QUICK") ? 1000 : 3000, seed = 1;
	const char *said = getenv("CAIRN_GRAPHS");
	if (said)
		n = strtoull(said, NULL, 10);
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "-n"))
			n = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "-seed"))
			seed = strtoull(argv[i + 1], NULL, 10);
	}
	printf("1..3\n");
	for (uint64_t i = 0; i < n && s.wrong < 10; i++)
		try_one(seed + i, &s);
	printf("%sok 1 - %" PRIu64 " heaps of %" PRIu64 " objects and %" PRIu64 " references as the naive"
	    " algorithm has them\n", s.wrong ? "not " : "", n, s.objects, s.references);
	bool telling = s.freeing * 20 > s.cuts && s.several > n / 200;
	printf("%sok 2 - of %" PRIu64 " cuts %" PRIu64 " free something, of %" PRIu64 " plans %" PRIu64
	    " take several\n", telling ? "" : "not ", s.cuts, s.freeing, s.plans, s.several);
	bool planted = s.stacks > n && s.weak > n / 10;
	printf("%sok 3 - %" PRIu64 " objects on stacks of threads, %" PRIu64 " weak references left out\n",
	    planted ? "" : "not ", s.stacks, s.weak);
	return s.wrong || !telling || !planted;
}
