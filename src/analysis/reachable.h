/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reachable.h - what the roots keep.
 *
 * Followed are recorded references, those the dump implies (heap_implied), and a loader's hold on
 * its classes, as Eclipse MAT has them; less what the model leaves out.
 */
#ifndef CAIRN_ANALYSIS_REACHABLE_H
#define CAIRN_ANALYSIS_REACHABLE_H

#include "heap/amounts.h"

struct reachable {
	struct bits objects;  /* not sealed */
	struct amount n;
	struct amount shallow;     /* bytes */
	struct amount unreachable_n;
	struct amount unreachable_shallow;
	uint32_t maybe_n; /* of the unreachable: what heap.in_frames leads to, which may be alive */
};

/* 0, ERR_NOMEM, or ERR_CANCELLED.  4 bytes and 1 bit an object while it runs, 1 bit kept. */
MUST_CHECK int reachable_from_roots(struct reachable *out, const struct model *model,
    struct progress *progress, struct err *err);
void reachable_release(struct reachable *r);

#endif
