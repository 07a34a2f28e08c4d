/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * places.h - where in the dump the record of an object lies.
 *
 * Object records are numbered in the dump's order.  Two things lead from an object's id to its
 * record:
 *
 *   - from the id to the number.  A dump that was written from one end of the heap to the other has
 *     long runs of records in which ids and numbers count up together, so it is enough to keep
 *     where each run begins.  If runs are short, the number of every object is kept instead.
 *   - from the number to the offset.  The offset of every 16th record is kept; the reader finds the
 *     others from there, in at most 15 steps.
 *
 * Memory: half a byte an object and 8 bytes a run, or 4 1/2 bytes an object.  Immutable once built:
 * any thread.  heap_view (heap/heap.h) looks objects up.
 */
#ifndef CAIRN_HEAP_PLACES_H
#define CAIRN_HEAP_PLACES_H

#include <stddef.h>
#include <stdint.h>

/* Readers leave the offset of every PLACE_STEP-th object record. */
#define PLACE_STEP 16

struct places {
	uint64_t *offset; /* offset[k]: of record 16 k.  Each part of the dump begins at such a
	                     number, so some numbers stand for no record */
	uint64_t n_offsets;
	struct place_run {
		uint32_t id, number; /* of the run's first object */
	} *runs; /* sorted by id; NULL: `numbers` is used instead */
	uint64_t n_runs, cap_runs;
	uint32_t *numbers; /* the number of each id's record; NULL: `runs` is used instead */
	uint32_t n_numbers;
};

void places_release(struct places *p); /* NULL is fine */

struct err;
struct heap;
/*
 * The ids of all objects in the order of their records.  Who looks at the bytes of most objects looks at them in this
 * order: a dump that is not written in the order of addresses (ZGC) is then read once, not jumped through.  NULL: that
 * is about the order of the ids, or there is no memory for it.  4 bytes an object; the caller's (big_free).
 */
uint32_t *heap_record_order(const struct heap *h);
/* Put some ids, which ascend, in that order, or back.  0, ERR_NOMEM or ERR_CANCELLED. */
int heap_sort_by_record(const struct heap *h, uint32_t *ids, size_t n, struct err *err);
int heap_sort_by_id(const struct heap *h, uint32_t *ids, size_t n, struct err *err);

#endif
