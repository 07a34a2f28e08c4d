/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * records.h - what the survey remembers of each record, packed.
 *
 * Nearly every record begins at most 2040 bytes behind the one before, in steps of 8, and has few references, one of
 * the first 65,536 class handles and the kind that its class has: such a record takes 4 bytes.  What another needs
 * besides follows in a second list.  The size and length of a record that carries them take a byte for 7 bits each.
 * Packing saves time as well, because fresh memory costs more than packing does.
 *
 * One thread writes; afterwards any thread walks over them (records_walk, records_next).
 */
#ifndef CAIRN_HEAP_BUILD_RECORDS_H
#define CAIRN_HEAP_BUILD_RECORDS_H

#include "base/err.h"
#include "dump/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct object_record;

enum record_kind { RECORD_INSTANCE, RECORD_OBJECT_ARRAY, RECORD_PRIMITIVE_ARRAY, RECORD_CLASS };

struct record {
	uint64_t address;
	uint32_t number;       /* class handle of an object; of a class record, which one it is
	                          among those of its part */
	uint32_t n_references;
	enum record_kind kind;
	bool sized;            /* size and length are kept for this record; else both are unknown */
	uint64_t size, length; /* bytes and elements, or SIZE_UNKNOWN, LENGTH_UNKNOWN */
};

/* What one part's records say about the class of one handle. */
struct part_class {
	uint64_t common_size; /* bytes of its first instance, 0: none yet.  Others of the same size need not
	                         record theirs */
	uint64_t first;        /* number within the part of the first record that names the class */
	enum record_kind kind; /* of that record; RECORD_CLASS: no record names the class */
};

enum { GROUP_RECORDS = 64, STEP_BYTES = 8, DEGREE_MANY = UINT8_MAX };

struct records {
	struct record_group {
		uint16_t number[GROUP_RECORDS];
		uint8_t step[GROUP_RECORDS];   /* this address less that of the record before, in STEP_BYTES; 0: far */
		uint8_t degree[GROUP_RECORDS]; /* n_references; DEGREE_MANY: far */
		uint64_t sized;        /* a bit for each, the lowest first */
	} *groups;
	uint8_t *far;     /* of each far record its step in bytes; with DEGREE_MANY number, n_references and kind.  In
	                     these two lists numbers take 7 bits in a byte, the lowest first, with the eighth bit where
	                     more follow */
	uint8_t *extents; /* of each sized record its length; or size, length or both, see records.c */
	uint64_t n, cap, n_far, cap_far, n_extents, cap_extents; /* cap: records; far, extents: bytes */
	uint64_t last_address;
	uint64_t all_addresses; /* the lowest bit set is that of all addresses or-ed: it tells the alignment */
	bool other_extents;     /* some sized record has something else than a length */
	bool any_size;          /* namely a size */
};

/* Some n records will come: make room for them and for a byte of extents for every second, if memory can be
 * had.  More or fewer may come.  Before the first. */
void records_expect(struct records *r, uint64_t n);

/* Add a record behind the others; usual: it has the kind that its class has.  Returns 0 or ERR_NOMEM. */
MUST_CHECK int records_add(struct records *r, const struct record *record, bool usual, struct err *err);

/* What is added up of all records. */
struct record_sums {
	uint32_t n_kind[4]; /* by enum record_kind */
	uint64_t n_references;
};

/*
 * Add the first of n objects, as far as they are near, usual and sized by a length only, and there is room.  classes:
 * what is known of each handle.  hashed_too: also those that have a hash.  Returns how many, at most GROUP_RECORDS.
 */
size_t records_add_usual(struct records *r, const struct object_record *objects, size_t n,
    const struct part_class *classes, uint32_t n_classes, bool hashed_too, struct record_sums *sums);

/* Give the unused rest of the arrays back. */
void records_trim(struct records *r);
void records_release(struct records *r);

/* A walk over all records, in the order in which they were added. */
struct records_walk {
	const struct records *r;
	const struct part_class *classes; /* of the part */
	uint64_t at, far, extent; /* index of the next one in each list */
	uint64_t address;         /* of the record before */
};

static inline struct records_walk records_walk(const struct records *r, const struct part_class *classes)
{
	return (struct records_walk){ .r = r, .classes = classes };
}

/* The records from the next on, at most so many, whose addresses ascend: how many, and the addresses of the first and
 * the last of them.  All but the first are near.  0: there are no more records. */
uint64_t records_ascent(const struct records_walk *w, uint64_t most, uint64_t *first, uint64_t *last);

/* Of n records, `ahead` behind the next, the first *n_here: they stand from the *i-th of this group on. */
static inline const struct record_group *records_group(const struct records_walk *w, uint64_t ahead, uint64_t n,
    unsigned *i, unsigned *n_here)
{
	*i = (w->at + ahead) % GROUP_RECORDS;
	*n_here = n < GROUP_RECORDS - *i ? (unsigned)n : GROUP_RECORDS - *i;
	return &w->r->groups[(w->at + ahead) / GROUP_RECORDS];
}

/* Go on by n near records, the last of which has this address. */
static inline void records_skip_near(struct records_walk *w, uint64_t n, uint64_t last)
{
	w->at += n;
	w->address = last;
}

/* Go on by n records that records_ascent found, the last of which has this address. */
void records_skip(struct records_walk *w, uint64_t n, uint64_t last);

/* For records_next: a far record; a size or length that is no plain length. */
void records_next_far(struct records_walk *w, unsigned degree, struct record *out);
void records_next_other(struct records_walk *w, struct record *out);

/* The next number of a list. */
static inline uint64_t records_take(const uint8_t *list, uint64_t *at)
{
	uint64_t number = 0;
	uint8_t byte;
	unsigned shift = 0;
	do {
		byte = list[(*at)++];
		number |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return number;
}

/* The size and length of the next sized record; *out has neither. */
static inline void records_next_extent(struct records_walk *w, struct record *out)
{
	uint64_t number = records_take(w->r->extents, &w->extent);
	if (__builtin_expect(number == 0, 0))
		records_next_other(w, out);
	else
		out->length = number - 1;
}

/* Go on to the next record, and leave its size and length open: for a walk that asks for none.  Returns false when
 * there are no more. */
static inline bool records_next_bare(struct records_walk *w, struct record *out)
{
	if (w->at == w->r->n)
		return false;
	const struct record_group *g = &w->r->groups[w->at / GROUP_RECORDS];
	unsigned i = w->at++ % GROUP_RECORDS;
	w->address += (uint64_t)g->step[i] * STEP_BYTES;
	out->number = g->number[i];
	out->n_references = g->degree[i];
	out->sized = g->sized >> i & 1;
	out->size = SIZE_UNKNOWN;
	out->length = LENGTH_UNKNOWN;
	if (__builtin_expect(!g->step[i], 0))
		records_next_far(w, out->n_references, out);
	else
		out->kind = w->classes[out->number].kind;
	out->address = w->address;
	return true;
}

/* The same with size and length. */
static inline bool records_next(struct records_walk *w, struct record *out)
{
	if (!records_next_bare(w, out))
		return false;
	if (out->sized)
		records_next_extent(w, out);
	return true;
}

#endif
