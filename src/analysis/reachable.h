/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reachable.h - which objects the roots keep alive.
 *
 * The walk follows the recorded references, those that the dump implies (heap_implied), and a
 * loader's hold on its classes, as Eclipse MAT does; but not the references that the model leaves
 * out.
 */
#ifndef CAIRN_ANALYSIS_REACHABLE_H
#define CAIRN_ANALYSIS_REACHABLE_H

#include "heap/amounts.h"

struct reachable {
	struct bits objects;  /* by id: reachable; not sealed (base/bits.h) */
	struct amount n;
	struct amount shallow;     /* bytes */
	struct amount unreachable_n;
	struct amount unreachable_shallow;
};

/* 0: *out is the caller's (reachable_release); ERR_NOMEM or ERR_CANCELLED.  Takes 4 bytes and 1 bit
 * an object while it runs; the result takes 1 or 2 bits an object. */
MUST_CHECK int reachable_from_roots(struct reachable *out, const struct model *model,
    struct progress *progress, struct err *err);
void reachable_release(struct reachable *r);
/* Add it to an index (heap/saved/saved.h), from which reachable_from_roots takes it; not where references were left
 * out. */
struct chunks_writer;
MUST_CHECK int reachable_write(const struct reachable *r, const struct heap *h, struct chunks_writer *w,
    struct err *err);

#endif
