/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_stats.c - the memory statistics of the runtime: runtime.MemStats, as runtime/mstats.go, readmemstats_m, adds
 * its members up.
 *
 * What counts allocations is left out: the last ones are counted in the caches of threads.
 */
#include "dump/gocore/gocore_read.h"

enum { ADDENDS = 12, DELTAS = 3 };

/* Which members are added up to which of MemStats; a list ends with 0, which is of a span and never here. */
#define HEAP AT_CONTROL_IN_USE, AT_CONTROL_FREE, AT_CONTROL_RELEASED
#define STACKS AT_STATS_STACKS, AT_DELTA_STACKS
#define COLLECTOR AT_STATS_COLLECTOR, AT_DELTA_WORK, AT_DELTA_MASKS
#define OTHERS AT_STATS_SPANS, AT_STATS_CACHES, AT_STATS_BUCKETS, AT_STATS_OTHER
static const struct sum {
	const char *name;
	enum gocore_member of[ADDENDS];
} sums[] = {
	{ "Sys", { HEAP, STACKS, COLLECTOR, OTHERS } },
	{ "HeapSys", { HEAP } },
	{ "HeapIdle", { AT_CONTROL_FREE, AT_CONTROL_RELEASED } },
	{ "HeapInuse", { AT_CONTROL_IN_USE } },
	{ "HeapReleased", { AT_CONTROL_RELEASED } },
	{ "StackInuse", { AT_DELTA_STACKS } },
	{ "StackSys", { STACKS } },
	{ "MSpanInuse", { AT_HEAP_SPANS_IN_USE } },
	{ "MSpanSys", { AT_STATS_SPANS } },
	{ "MCacheInuse", { AT_HEAP_CACHES_IN_USE } },
	{ "MCacheSys", { AT_STATS_CACHES } },
	{ "BuckHashSys", { AT_STATS_BUCKETS } },
	{ "GCSys", { COLLECTOR } },
	{ "OtherSys", { AT_STATS_OTHER } },
	{ "LastGC", { AT_STATS_LAST } },
	{ "PauseTotalNs", { AT_STATS_PAUSED } },
	{ "NumGC", { AT_STATS_COLLECTIONS } },
};
_Static_assert(sizeof sums / sizeof *sums == GOCORE_STATS, "each has its place");

/* The counts that change often stand in three places, whose sum they are. */
static uint64_t delta(const struct gocore *g, uint64_t stats, enum gocore_member member)
{
	uint64_t size = gocore_size_of(g, "runtime.heapStatsDelta"), sum = 0;

	for (unsigned i = 0; i < DELTAS; i++)
		sum += gocore_get(g, stats + g->at[AT_STATS_DELTAS].offset + i * size, member);
	return sum;
}

static uint64_t value(const struct gocore *g, enum gocore_member member)
{
	if (!gocore_has(g, member))
		return 0; /* not of this release */
	if (member >= AT_DELTA_STACKS && member <= AT_DELTA_MASKS)
		return delta(g, gocore_global(g, "runtime.memstats"), member);
	return gocore_get(g, gocore_global(g, member >= AT_CONTROL_IN_USE && member <= AT_CONTROL_RELEASED ?
	    "runtime.gcController" : member >= AT_HEAP_SPANS_IN_USE && member <= AT_HEAP_CACHES_IN_USE ? "runtime.mheap_" :
	    "runtime.memstats"), member);
}

/* The members that each release has. */
static bool is_known(const struct gocore *g)
{
	for (unsigned m = AT_STATS_STACKS; m <= AT_HEAP_CACHES_IN_USE; m++)
		if (m != AT_DELTA_MASKS && !gocore_has(g, m))
			return false;
	return gocore_global(g, "runtime.memstats") && gocore_global(g, "runtime.gcController");
}

size_t gocore_stats(const struct gocore *g, struct gocore_stat out[GOCORE_STATS])
{
	size_t n = is_known(g) ? GOCORE_STATS : 0;

	for (size_t i = 0; i < n; i++) {
		out[i] = (struct gocore_stat){ .name = sums[i].name };
		for (unsigned k = 0; k < ADDENDS && sums[i].of[k]; k++)
			out[i].value += value(g, sums[i].of[k]);
	}
	return n;
}
