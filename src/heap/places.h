/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * places.h - where in the dump the record of an object lies.
 *
 * Object records are numbered in the dump's order, and the offset of every 16th is kept: from there
 * it is at most 15 steps to any record.  What is left is which number an id has.  A dump written
 * from one end of the heap to the other has long runs in which both count up together, so the
 * beginnings of runs are enough; where they are short, every object's number is kept.
 *
 * Memory: half a byte an object and 8 bytes a run, or 4 1/2 bytes an object.  Immutable once built.
 */
#ifndef CAIRN_HEAP_PLACES_H
#define CAIRN_HEAP_PLACES_H

#include <stdint.h>

/* Readers leave the offset of every PLACE_STEP-th object record. */
#define PLACE_STEP 16

struct places {
	uint64_t *offset; /* of every 16th record; each part of the dump begins with a new one */
	uint64_t n_offsets;
	struct place_run {
		uint32_t id, number; /* from here on both count up together */
	} *runs; /* by id; NULL: numbers */
	uint64_t n_runs, cap_runs;
	uint32_t *numbers; /* of each id */
	uint32_t n_numbers;
};

void places_release(struct places *p); /* NULL is fine */

#endif
