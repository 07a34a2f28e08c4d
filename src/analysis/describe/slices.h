/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.h - through which slices and strings an array in memory is known.
 *
 * An array of a Go program is as long as the memory that was allocated; how many elements it has, and
 * where they begin, stands in whoever points to it.  So it is with the small values that share a
 * block of memory: there plain pointers tell too.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_SLICES_H
#define CAIRN_ANALYSIS_DESCRIBE_SLICES_H

#include "heap/typed.h"

enum { SLICES_KNOWN = 4 };

struct slices {
	struct slice_known {
		struct typed value; /* a slice, string or pointer that means a part of it */
		uint32_t holder;    /* the object that it stands in; HEAP_NONE: a global variable */
		uint64_t begin;     /* bytes into the array */
	} known[SLICES_KNOWN];
	unsigned n;
	bool others; /* it is held in other ways too, or by more of them */
};

/* Where the dump is not memory, and for what no slice leads to, n is 0. */
void slices_of(struct slices *out, const struct heap *h, uint32_t id);
/* "len 50 cap 100 at +7200 of main.SubSlice; int64 4242 at +8 of main.p; and others" */
void slices_add(const struct slices *s, const struct heap *h, struct text *to);

#endif
