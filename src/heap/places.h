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

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct build;

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

/*
 * While records become objects, each slice tells the ids of its object records in their order (class
 * records are none); HEAP_NONE for one that does not count.  Runs are given up once they take more
 * room than numbers would.  Each slice its own thread.
 */
struct place_notes {
	struct place_run *runs; /* numbers count from the slice's first record */
	uint32_t n, cap, most;
	uint32_t number;   /* of the next record */
	uint64_t expected; /* its id, if the run goes on */
	bool too_many;
};

void places_note_run(struct place_notes *notes, uint32_t id);

static inline void places_note(struct place_notes *notes, uint32_t id)
{
	if (__builtin_expect(id != notes->expected || notes->number == 0, 0))
		places_note_run(notes, id);
	notes->expected = id == UINT32_MAX ? UINT64_MAX : (uint64_t)id + 1;
	notes->number++;
}

/* From the survey's records, after objects_scatter; heap->places stays NULL where the format holds
 * no values. */
int places_build(struct build *b, struct err *err);
void places_release(struct places *p); /* NULL is fine */

#endif
