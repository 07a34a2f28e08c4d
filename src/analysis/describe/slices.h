/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.h - the slices and strings that hold an array in memory.
 *
 * An array of a Go program is as long as the memory that was allocated for it.  How many elements are
 * in use, and where they begin, only its holders know: slices and strings that point to it.  The same
 * holds for small values that share a block of memory; there plain pointers count too.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_SLICES_H
#define CAIRN_ANALYSIS_DESCRIBE_SLICES_H

#include "heap/typed/typed.h"

struct collection_size;

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

/* Of what no slice, string or pointer to a part of a block leads to, n is 0.  Looks at up to 64 holders. */
void slices_of(struct slices *out, const struct heap *h, uint32_t id);
/* The elements of an array that only slices lead to: from the first one's begin to the last one's end.  False: it is
 * held in other ways too, or by more of them. */
bool slices_size(const struct heap *h, uint32_t id, struct collection_size *out);
/* Append them, or nothing where n is 0:
 * "len 50 cap 100 at +7200 of main.SubSlice; int64 4242 at +8 of main.p; and others" */
void slices_add(const struct slices *s, const struct heap *h, struct text *to);

#endif
