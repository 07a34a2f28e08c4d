/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive.h - who keeps what, by the slowest way: take something away and see what can still be reached.
 *
 * It has its own list of the references, written from the rules and not from the code: what the dump
 * records but weak references where those are left out; object to class, class to superclass and
 * loader; outside of HPROF loader to class; a thread that is a root by itself to what its stack holds;
 * the VM to all other roots.  Needs a walk through everything for each question.
 *
 * The comparisons print the first few differences and return how many there are.  One thread.
 */
#ifndef CAIRN_TESTS_NAIVE_H
#define CAIRN_TESTS_NAIVE_H

#include "analysis/dominators/dominators.h"

struct reference {
	uint32_t from, to; /* from HEAP_NONE: the VM */
	bool root;         /* it is a root, maybe on a thread's stack */
	bool fixed;        /* nobody can clear it */
	bool gone;         /* it is taken away at the moment */
	uint64_t frees;    /* bytes that it frees alone, found naively */
	bool unloads;      /* clearing it unloads classes */
};

struct naive {
	const struct model *m;
	const struct heap *h; /* of the model */
	struct reference *edge; /* by from, HEAP_NONE last */
	size_t n, cap;
	size_t *first;   /* n_objects + 2 entries: edges of id are edge[first[id]] … edge[first[id + 1]
	                    - 1]; the VM's edges likewise with id n_objects */
	char *seen;      /* by id: naive_kept reached it */
	char *programs;  /* by id: something of the program leads there; while cuts are compared */
	uint32_t *stack;
	uint64_t all;    /* bytes that can be reached */
	unsigned wrong, plans, several;
	uint64_t random, compared, freeing;
};

void naive_init(struct naive *w, const struct model *m);
void naive_release(struct naive *w);
/* Bytes that can be reached without these objects, by the references that are not gone. */
uint64_t naive_kept(struct naive *w, const uint32_t *without, size_t n_without);

/* Retained sizes of every step-th object, of sets and classes; the same with several threads. */
unsigned naive_compare_dominators(struct naive *w, const struct dominators *d, uint32_t step);
/* What references free, every step-th alone and, so many times, some together; a quarter as many plans.
 * r is complete. */
unsigned naive_compare_cuts(struct naive *w, const struct retained *r, uint32_t step, uint32_t rounds);

#endif
