/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_keys.c - print the signatures of a dump's objects: objects, bytes, retained bytes, class, words.
 *
 *     signatures DUMP
 *     signatures -t DUMP    seconds it takes instead
 */
#include "analysis/path_keys/path_keys.h"
#include "heap/classes.h"
#include "heap/open.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print(const struct path_keys *s, const struct path_key_sum *sums)
{
	struct text words = TEXT_INIT;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct path_key *at = &s->list[i];
		text_clear(&words);
		path_key_add(s, i, &words);
		printf("%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\n", sums[i].n_objects, sums[i].shallow,
		    sums[i].retained.bytes, at->class == HEAP_NONE ? "?" : s->retained->heap->classes[at->class].name, words.s);
	}
	text_release(&words);
}

int main(int argc, char **argv)
{
	bool timed = argc == 3 && !strcmp(argv[1], "-t");
	struct err err = ERR_INIT;
	struct heap *h;
	struct retained r;
	struct path_keys s;
	struct heap_options options = {.path = argv[argc - 1], .dump.exe = getenv("CAIRN_EXE")};
	if (argc != 2 + timed || heap_open(&h, &options, NULL, &err) ||
	    retained_find(&r, &(struct model){.heap = h, .left_out = h->weak}, NULL, &err) ||
	    retained_complete(&r, NULL, &err)) {
		fprintf(stderr, "signatures: %s\n", err.message);
		return 2;
	}
	double began = now();
	if (path_keys_find(&s, &r, h->soft_and_weak, NULL, &err)) {
		fprintf(stderr, "signatures: %s\n", err.message);
		return 2;
	}
	struct path_key_sum *sums = big_alloc(s.n, sizeof *sums, &err);
	double middle = now();
	if (!sums || path_key_sums(s.retained, s.of, s.n, sums, NULL, &err))
		return 2;
	if (timed)
		printf("%.3f s and %.3f s, %" PRIu32 " objects, %" PRIu32 " signatures\n", middle - began,
		    now() - middle, h->n_objects, s.n);
	else
		print(&s, sums);
	big_free(sums);
	path_keys_release(&s);
	retained_release(&r);
	heap_close(h);
	return 0;
}
