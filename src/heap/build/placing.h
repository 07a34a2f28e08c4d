/* SPDX-License-Identifier: GPL-3.0-or-later */
/* placing.h - how heap->places (heap/places.h) is made from what the survey met; private to heap/build. */
#ifndef CAIRN_HEAP_BUILD_PLACING_H
#define CAIRN_HEAP_BUILD_PLACING_H

#include "base/err.h"
#include "heap/places.h"

#include <stdbool.h>

struct build;

/* Runs shorter than this on average take more room than a number for every object. */
#define LEAST_PLACE_RUN 32

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
MUST_CHECK int places_build(struct build *b, struct err *err);

#endif
