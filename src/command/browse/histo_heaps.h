/* SPDX-License-Identifier: GPL-3.0-or-later */
/* histo_heaps.h - histo -by heap, for cmd_classes.c. */
#ifndef CAIRN_COMMAND_BROWSE_HISTO_HEAPS_H
#define CAIRN_COMMAND_BROWSE_HISTO_HEAPS_H

#include "analysis/histogram.h"
#include "command/commands.h"

extern const struct shape histo_heaps_shape;

/* One row for each heap of Android that has objects of the scope.  0: *out is the caller's; ERR_UNSUPPORTED: the dump
 * tells none; or another error. */
MUST_CHECK int histo_by_heap(struct session *s, const struct histogram_scope *scope, const char *title,
    struct result **out, struct err *err);

/* What each of them has, by number: objects, bytes, and how many are of unknown size.  sums: heap->n_spaces. */
struct heap_sum {
	uint64_t objects, shallow, n_unknown;
	unsigned doubts; /* enum size_doubt of them */
};
void heap_sums(const struct heap *h, struct heap_sum *sums);

#endif
