/* SPDX-License-Identifier: GPL-3.0-or-later */
/* placing.c - from the runs of each slice to heap->places; see placing.h. */
#include "heap/build/build.h"

#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "heap/places.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

struct placing {
	struct build *build;
	struct places *places;
	uint32_t *first_number; /* of each slice */
};

/* A record that does not count begins nothing; what comes behind it begins anew. */
void places_note_run(struct place_notes *notes, uint32_t id)
{
	if (id == HEAP_NONE || notes->too_many)
		return;
	if (notes->n == notes->most) {
		notes->too_many = true;
		return;
	}
	struct place_run *run = BIG_PUSH(notes->runs, notes->n, notes->cap, NULL);
	if (run)
		*run = (struct place_run){ id, notes->number };
	else /* the other way takes its memory at once, and can say that there is none */
		notes->too_many = true;
}

static int by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct place_run *)x)->id, b = ((const struct place_run *)y)->id;
	return (a > b) - (a < b);
}

static int join_runs(struct placing *placing, struct err *err)
{
	struct places *places = placing->places;
	const struct build *b = placing->build;
	for (unsigned i = 0; i < b->n_slices; i++)
		places->n_runs += b->slices[i]->place_notes.n;
	places->cap_runs = places->n_runs;
	places->runs = big_alloc(places->cap_runs, sizeof *places->runs, err);
	if (!places->runs)
		return ERR_NOMEM;
	struct place_run *to = places->runs;
	for (unsigned i = 0; i < b->n_slices; i++) {
		const struct place_notes *notes = &b->slices[i]->place_notes;
		for (uint32_t k = 0; k < notes->n; k++) {
			*to = notes->runs[k];
			to++->number += placing->first_number[i];
		}
	}
	return sort(places->runs, places->n_runs, sizeof *places->runs, by_id, err);
}

static int number_slice(void *context, unsigned task, struct err *err)
{
	struct placing *placing = context;
	uint32_t number = placing->first_number[task];
	struct objects_walk w = objects_walk(placing->build, placing->build->slices[task]);
	uint32_t id;
	(void)err;
	for (struct record record; objects_next(&w, &record, &id, false);) {
		if (record.kind == RECORD_CLASS)
			continue;
		if (id != HEAP_NONE)
			placing->places->numbers[id] = number;
		number++;
	}
	return 0;
}

/* Every part's records are numbered from a multiple of PLACE_STEP on. */
static int keep_offsets(struct placing *placing, struct err *err)
{
	struct places *places = placing->places;
	const struct build *b = placing->build;
	struct slice *const *slice = b->slices;
	uint32_t *first = placing->first_number;
	for (unsigned i = 0; i < b->n_parts; i++) {
		uint64_t number = places->n_offsets * PLACE_STEP;
		for (size_t k = 0; k < b->parts[i].n_slices; k++) {
			*first++ = (uint32_t)number;
			number += (*slice++)->place_notes.number;
		}
		places->n_offsets += b->parts[i].n_places;
	}
	if (places->n_offsets * PLACE_STEP > UINT32_MAX)
		return err_set(err, ERR_UNSUPPORTED, "more than %u object records", UINT32_MAX);
	places->offset = big_alloc(places->n_offsets, sizeof *places->offset, err);
	if (!places->offset)
		return ERR_NOMEM;
	uint64_t at = 0;
	for (unsigned i = 0; i < b->n_parts; i++) {
		if (b->parts[i].n_places)
			memcpy(places->offset + at, b->parts[i].places,
			    b->parts[i].n_places * sizeof *places->offset);
		at += b->parts[i].n_places;
	}
	return 0;
}

int places_build(struct build *b, struct err *err)
{
	uint64_t n_placed = 0;
	for (unsigned i = 0; i < b->n_parts; i++)
		n_placed += b->parts[i].n_placed;
	if (!n_placed || b->heap->facts.values == NO_VALUES)
		return 0;
	struct places *places = xcalloc(1, sizeof *places);
	struct placing placing = { b, places, big_alloc(b->n_slices, sizeof *placing.first_number, err) };
	bool too_many = false;
	for (unsigned i = 0; i < b->n_slices; i++)
		too_many |= b->slices[i]->place_notes.too_many;
	int code = placing.first_number ? keep_offsets(&placing, err) : ERR_NOMEM;
	if (code == 0 && !too_many) {
		code = join_runs(&placing, err);
	} else if (code == 0) {
		places->n_numbers = b->heap->n_objects;
		places->numbers = big_alloc(places->n_numbers, sizeof *places->numbers, err);
		code = places->numbers ? parallel_run(0, b->n_slices, number_slice, &placing, err) : ERR_NOMEM;
	}
	big_free(placing.first_number);
	if (code == 0)
		b->heap->places = places;
	else
		places_release(places); /* the heap may stay without any, not with half of them */
	return code;
}
