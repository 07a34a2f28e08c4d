/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holes.h - room between objects, which shows whether the VM compacted the heap before it wrote the dump.
 *
 * A compacted heap has its objects side by side; only regions of the heap have room between them, and a region
 * begins at a page.  So room before an object that does not begin a page is a hole: the collector freed objects
 * there, or a thread had reserved it.  Real OpenJ9 dumps have none after a compaction, and 1 to 87 without one.
 */
#ifndef CAIRN_ANALYSIS_HOLES_H
#define CAIRN_ANALYSIS_HOLES_H

#include <stdint.h>

struct heap;

/* The number of holes; one pass over all objects. */
uint64_t holes_count(const struct heap *h);

#endif
