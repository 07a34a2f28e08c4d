/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reachable.h - which objects the roots keep alive.
 *
 * The walk follows the recorded references, those that the dump implies (heap_implied), and a
 * loader's hold on its classes, as Eclipse MAT does; but not the references that the model leaves
 * out: in the VM's an object that only weak, final or phantom references lead to is unreachable.
 */
#ifndef CAIRN_ANALYSIS_REACHABLE_H
#define CAIRN_ANALYSIS_REACHABLE_H

#include "algorithms/bits.h"
#include "base/amount.h"
#include "base/err.h"

#include <stdint.h>

struct err;
struct heap;
struct model;
struct progress;

struct reachable {
	struct bits objects;  /* by id: reachable; not sealed (algorithms/bits.h) */
	struct amount n;
	struct amount shallow;     /* bytes */
	struct amount unreachable_n;
	struct amount unreachable_shallow;
	struct amount weakly_n;       /* those of them that only references which the model leaves out lead to */
	struct amount weakly_shallow;
	uint64_t weakly_unknown;      /* of these: objects of unknown size */
	unsigned weakly_doubts;       /* enum size_doubt of these */
};

/* 0: *out is the caller's (reachable_release); ERR_NOMEM or ERR_CANCELLED.  Takes 4 bytes and 1 bit
 * an object while it runs; the result takes 1 or 2 bits an object. */
MUST_CHECK int reachable_from_roots(struct reachable *out, const struct model *model,
    struct progress *progress, struct err *err);
void reachable_release(struct reachable *r);

/*
 * By which references the referents of reference objects are reached: strong ones; else, as the collector clears them,
 * through soft ones besides, then through weak, final and phantom ones, then through cleaners.  by[i] of the referent
 * of objects->at[i]: the first kind of these that suffices, or one of the two below.
 */
#define REACHED_STRONGLY WEAK_KINDS
#define REACHED_BY_NONE (WEAK_KINDS + 1) /* or there is no such object */
struct reference_objects; /* heap/weak.h */
/* strongly: gets the objects that are reached without them, by id
 * (bits_release).  0, ERR_NOMEM or ERR_CANCELLED; takes 4 bytes and a bit an object while it runs. */
MUST_CHECK int reachable_by_kinds(uint8_t *by, struct bits *strongly, const struct heap *h,
    const struct reference_objects *objects, struct progress *progress, struct err *err);
/* Add it to an index (heap/index_file/index_file.h), from which reachable_from_roots takes it; only
 * where the model is the default. */
struct chunks_writer;
MUST_CHECK int reachable_write(const struct reachable *r, const struct heap *h, struct chunks_writer *w,
    struct err *err);

#endif
