/* SPDX-License-Identifier: GPL-3.0-or-later */
/* placing.h - how heap->places (heap/places.h) is made from what the survey met; private to heap/build. */
#ifndef CAIRN_HEAP_BUILD_PLACING_H
#define CAIRN_HEAP_BUILD_PLACING_H

#include "base/err.h"

#include <stdbool.h>

struct build;

/* If runs are shorter than this on average, places keeps the number of every object instead. */
#define LEAST_PLACE_RUN 32

/*
 * The runs of one slice of records.  While records become objects, the slice's thread calls
 * places_note for each of its object records in their order (class records are not object records),
 * with the id of the object or HEAP_NONE for a record that does not count.
 */
struct place_notes {
	struct place_run *runs; /* their numbers count from the slice's first object record */
	uint32_t n, cap, most; /* most: with more runs than this, they are given up */
	uint32_t number;   /* of the next record */
	uint64_t expected; /* the id of the next record, if the run goes on */
	bool too_many;     /* runs were given up: there are more than most, or no memory for them */
};

/* A run begins with the next record, which has this id; none begins for HEAP_NONE. */
void places_note_run(struct place_notes *notes, uint32_t id);

static inline void places_note(struct place_notes *notes, uint32_t id)
{
	if (__builtin_expect(id != notes->expected || notes->number == 0, 0))
		places_note_run(notes, id);
	notes->expected = id == UINT32_MAX ? UINT64_MAX : (uint64_t)id + 1;
	notes->number++;
}

/* So many more of the run, whose ids follow. */
static inline void places_note_more(struct place_notes *notes, uint32_t n)
{
	notes->expected += n;
	notes->number += n;
}

/* Make heap->places of the survey's records, after objects_scatter.  It stays NULL where the format
 * holds no values.  Returns 0, ERR_NOMEM, or ERR_UNSUPPORTED for too many records. */
MUST_CHECK int places_build(struct build *b, struct err *err);

#endif
