/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_span.h - what Go 1.22 and later keep in spans besides the objects.
 *
 * In spans of small objects with pointers the end of each page is the bitmap of their pointers, and
 * with the garbage collector of 1.26 mark bits follow it, in spans without pointers too.  The writer
 * of dumps divides a page into objects all the same, so that the last records of a page are not objects.
 * Larger objects with pointers begin with the address of their type's descriptor.
 *
 * Rules: runtime/mheap.go (initSpan, nelems), mbitmap.go (heapBitsInSpan), malloc.go (mallocHeaderSize),
 * mgcmark_greenteagc.go (spanInlineMarkBits, gcUsesSpanInlineMarkBits), heapdump.go (dumpobjs).
 */
#ifndef CAIRN_DUMP_GO_GO_SPAN_H
#define CAIRN_DUMP_GO_GO_SPAN_H

#include <stdbool.h>
#include <stdint.h>

enum { GO_PAGE = 8192, GO_LARGEST_SMALL = 32768 /* larger objects have spans of their own */ };

/* Bytes; all 0: before 1.22, or nothing is known. */
struct go_layout {
	unsigned small;  /* objects of up to so many bytes have no header */
	unsigned bitmap; /* at the end of a page of them, if they hold pointers */
	unsigned marks;  /* at the end of a page of those of at least LEAST_MARKED bytes, more */
	unsigned header; /* of larger objects with pointers */
};
enum { GO_LEAST_MARKED = 16 };
#define GO_NO_PAGE UINT64_MAX

/* The layout of a release 1.X (0: unknown), with pointers of `word` bytes; version: the runtime's own
 * words, which name the experiments that were on ("go1.25.1 X:greenteagc"). */
struct go_layout go_layout_of(unsigned release, unsigned word, const char *version);

/* What else it may be, if the dump's own count of objects contradicts: the first time with mark bits if
 * it was without and the other way round, then with neither, which leaves nothing out.  False: that was
 * tried too, or the release had only one. */
bool go_layout_next(struct go_layout *l, unsigned *n_tried);

/* How far into a page objects of this size are surely objects; GO_PAGE: everywhere. */
static inline uint64_t go_sure_below(const struct go_layout *l, uint64_t size)
{
	uint64_t reserve = l->bitmap + l->marks + size;
	return reserve == size || size > l->small ? GO_PAGE : GO_PAGE - reserve;
}

/* Is a record after that point not an object?  pointers: the page holds objects with pointers. */
static inline bool go_is_artefact(const struct go_layout *l, uint64_t address, uint64_t size, bool pointers)
{
	uint64_t reserve = (pointers ? l->bitmap : 0) + (size >= GO_LEAST_MARKED ? l->marks : 0);
	return reserve && size <= l->small && address % GO_PAGE + size > GO_PAGE - reserve;
}

/* Bytes before the value in an object of this size. */
static inline uint64_t go_header(const struct go_layout *l, uint64_t size, bool pointers)
{
	return pointers && size > l->small && size <= GO_LARGEST_SMALL ? l->header : 0;
}

#endif
