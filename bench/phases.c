/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phases.c - opens one dump as the program does and says when each thing was true.
 *
 *     phases [-t THREADS] DUMP
 *
 * Tab-separated: objects, references, file bytes; seconds to the first histogram and to the whole
 * graph, and from the file on to retained sizes; big memory in use and at its peak (anonymous bytes sized by the dump), and the process's own
 * anonymous memory now, from the kernel.
 */
#include "analysis/dominators/dominators.h"
#include "base/big.h"
#include "base/parallel.h"
#include "heap/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double began, ready;

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void objects_ready(void *context, const struct heap *heap)
{
	(void)context, (void)heap;
	if (!ready) /* again when types are found */
		ready = seconds() - began;
}

static uint64_t anonymous_bytes(void)
{
	char line[256];
	unsigned long long kilobytes = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "RssAnon: %llu kB", &kilobytes) == 1)
			break;
	}
	if (f)
		fclose(f);
	return kilobytes * 1024;
}

int main(int argc, char **argv)
{
	int option;
	while ((option = getopt(argc, argv, "t:")) == 't')
		parallel_set_threads((unsigned)strtoul(optarg, NULL, 10));
	if (option != -1 || optind + 1 != argc) {
		fprintf(stderr, "usage: phases [-t THREADS] DUMP\n");
		return 2;
	}
	const struct heap_watcher watcher = { .objects_ready = objects_ready };
	struct heap_options options = { .path = argv[optind], .watcher = &watcher };
	struct heap *heap;
	struct err err = ERR_INIT;
	began = seconds();
	if (heap_open(&heap, &options, NULL, &err) < 0) {
		fprintf(stderr, "phases: %s\n", err.message);
		return 3;
	}
	double whole = seconds() - began;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("objects\t%" PRIu32 "\nreferences\t%" PRIu64 "\nbytes\t%" PRIu64 "\nfirst_histogram\t%.3f\n"
	       "whole_graph\t%.3f\ncpu_seconds\t%.3f\nbig_in_use\t%" PRIu64 "\nbig_peak\t%" PRIu64
	       "\nanonymous\t%" PRIu64 "\npeak_rss\t%" PRIu64 "\n",
	    heap->n_objects, heap->n_references, heap->source->size, ready, whole,
	    (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
	        (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec,
	    big_in_use(), big_peak(), anonymous_bytes(), (uint64_t)usage.ru_maxrss * 1024);
	struct dominators found;
	if (dominators_find(&found, &(struct model){ .heap = heap }, NULL, &err) < 0) {
		fprintf(stderr, "phases: %s\n", err.message);
		return 3;
	}
	printf("retained_sizes\t%.3f\nretained_peak\t%" PRIu64 "\n", seconds() - began, big_peak());
	dominators_release(&found);
	heap_close(heap);
	return 0;
}
