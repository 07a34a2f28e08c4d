/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phases.c - opens one dump as the program does and says when each thing was true.
 *
 *     phases [-t THREADS] DUMP
 *
 * Tab-separated: objects, references, file bytes; from the file on to the first histogram, to the whole graph and to
 * retained sizes: seconds of the clock, processor seconds of all threads, and the peak of big memory (anonymous bytes sized by
 * the dump); big memory in use, and the process's own anonymous memory once loaded, from the kernel.
 */
#include "algorithms/parallel.h"
#include "analysis/dominators/dominators.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* What it took from the beginning to some point. */
struct taken {
	double wall, processor;
	uint64_t peak;
};

static double began;
static struct taken histogram;

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct taken taken(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (struct taken){ .wall = seconds() - began, .peak = big_peak(),
		.processor = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) };
}

static void objects_ready(void *context, const struct heap *heap)
{
	(void)context, (void)heap;
	if (histogram.wall <= 0) /* again when types are found */
		histogram = taken();
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
	struct taken whole = taken();
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("objects\t%" PRIu32 "\nreferences\t%" PRIu64 "\nbytes\t%" PRIu64 "\nfirst_histogram\t%.3f\n"
	       "histogram_cpu\t%.3f\nhistogram_peak\t%" PRIu64 "\nwhole_graph\t%.3f\ncpu_seconds\t%.3f\nbig_in_use\t%" PRIu64
	       "\nbig_peak\t%" PRIu64 "\nanonymous\t%" PRIu64 "\npeak_rss\t%" PRIu64 "\n",
	    heap->n_objects, heap->n_references, heap->source->size, histogram.wall, histogram.processor, histogram.peak,
	    whole.wall, whole.processor, big_in_use(), whole.peak, anonymous_bytes(), (uint64_t)usage.ru_maxrss * 1024);
	struct dominators found;
	if (dominators_find(&found, &(struct model){ .heap = heap }, NULL, &err) < 0) {
		fprintf(stderr, "phases: %s\n", err.message);
		return 3;
	}
	struct taken retained = taken();
	printf("retained_sizes\t%.3f\nretained_cpu\t%.3f\nretained_peak\t%" PRIu64 "\n", retained.wall, retained.processor,
	    retained.peak);
	dominators_release(&found);
	heap_close(heap);
	return 0;
}
