/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * records.h - what the survey remembers of each record, packed.
 *
 * Nearly every record has an address within 2 GB of the one before it, at most 255 references and
 * one of the first 65,536 class handles: such a record takes 8 bytes.  Any other stands in full in
 * a second list.  The size and length of a record that carries them take a byte for 7 bits each.  Packing
 * saves time as well, because fresh memory costs more than packing does.
 *
 * One thread writes; afterwards any thread walks over them (records_walk, records_next).
 */
#ifndef CAIRN_HEAP_BUILD_RECORDS_H
#define CAIRN_HEAP_BUILD_RECORDS_H

#include "base/err.h"
#include "dump/facts.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

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

struct records {
	struct packed_record {
		int32_t step;         /* this address less that of the record before, bytes; with PACKED_FULL 0 */
		uint16_t number;
		uint8_t n_references;
		uint8_t what;         /* kind and PACKED_… bits */
	} *packed;
	struct full_record {
		uint64_t address;
		uint32_t number, n_references;
	} *full; /* of each record with PACKED_FULL; of its packed_record else only `what` counts */
	uint8_t *extents; /* of each record the size with PACKED_SIZE, the length with PACKED_LENGTH: 7 bits in
	                     a byte, the lowest first, with the eighth bit where more follow */
	uint64_t n, cap, n_full, cap_full, n_extents, cap_extents; /* extents: bytes */
	uint64_t last_address;
	uint64_t all_addresses; /* all addresses or-ed: the lowest bit set tells the alignment */
	bool other_extents;     /* some sized record has something else than a length */
};
enum { PACKED_KIND = 3, PACKED_SIZED = 4, PACKED_FULL = 8, PACKED_SIZE = 16, PACKED_LENGTH = 32 };
enum { LONGEST_EXTENT = 20 }; /* bytes */

/* Some n records will come: make room for them and for a byte of extents for every second, if memory can be
 * had.  More or fewer may come.  Before the first. */
void records_expect(struct records *r, uint64_t n);

/* For records_add.  All return 0 or ERR_NOMEM. */
MUST_CHECK int records_grow(struct records *r, struct err *err);
MUST_CHECK int records_add_full(struct records *r, uint64_t address, uint32_t number, uint32_t n_references,
    struct err *err);

/* For records_add: add a size or a length; extents has room for it. */
static inline void records_add_number(struct records *r, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		r->extents[r->n_extents++] = (uint8_t)(number | 0x80);
	r->extents[r->n_extents++] = (uint8_t)number;
}

/* For records_add: add what is known of a record's size and length.  Returns its PACKED_ bits. */
static inline unsigned records_add_extent(struct records *r, const struct record *record)
{
	unsigned what = PACKED_SIZED;
	if (record->size != SIZE_UNKNOWN) {
		records_add_number(r, record->size);
		what |= PACKED_SIZE;
	}
	if (record->length != LENGTH_UNKNOWN) {
		records_add_number(r, record->length);
		what |= PACKED_LENGTH;
	}
	r->other_extents |= what != (PACKED_SIZED | PACKED_LENGTH);
	return what;
}

/* Add a record behind the others.  Returns 0 or ERR_NOMEM.  It is inline because handing the record
 * over in memory would cost more than packing it. */
static inline __attribute__((always_inline)) int records_add(struct records *r, const struct record *record,
    struct err *err)
{
	int code = 0;
	unsigned what = record->kind;
	if (__builtin_expect(r->n == r->cap || r->cap_extents - r->n_extents < LONGEST_EXTENT, 0))
		code = records_grow(r, err);
	int64_t step = (int64_t)(record->address - r->last_address);
	bool full = step != (int32_t)step || record->number > UINT16_MAX ||
	    record->n_references > UINT8_MAX;
	if (code == 0 && __builtin_expect(full, 0))
		code = records_add_full(r, record->address, record->number, record->n_references, err);
	if (code < 0)
		return code;
	if (record->sized)
		what |= records_add_extent(r, record);
	r->packed[r->n++] = (struct packed_record){
		.step = full ? 0 : (int32_t)step,
		.number = (uint16_t)record->number,
		.n_references = (uint8_t)record->n_references,
		.what = (uint8_t)(what | (full ? PACKED_FULL : 0)),
	};
	r->last_address = record->address;
	r->all_addresses |= record->address;
	return 0;
}

/* Give the unused rest of the arrays back. */
void records_trim(struct records *r);
void records_release(struct records *r);

/* A walk over all records, in the order in which they were added. */
struct records_walk {
	const struct records *r;
	uint64_t at, full, extent; /* index of the next one in each list */
	uint64_t address;                /* of the record before */
};

static inline struct records_walk records_walk(const struct records *r)
{
	return (struct records_walk){ .r = r };
}

/* The records from the next on, at most so many, whose addresses ascend: how many, and the addresses of the first and
 * the last of them.  0: there are no more records.  Of one it is 1. */
uint64_t records_ascent(const struct records_walk *w, uint64_t most, uint64_t *first, uint64_t *last);

/* The next number of the extents. */
static inline uint64_t records_walk_number(struct records_walk *w)
{
	uint64_t number = 0;
	uint8_t byte;
	unsigned shift = 0;
	do {
		byte = w->r->extents[w->extent++];
		number |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return number;
}

/* Go on to the next record, and leave its size and length open: for a walk that asks for none.  Returns false when
 * there are no more. */
static inline bool records_next_bare(struct records_walk *w, struct record *out)
{
	if (w->at == w->r->n)
		return false;
	const struct packed_record *p = &w->r->packed[w->at++];
	if (__builtin_expect(p->what & PACKED_FULL, 0)) {
		const struct full_record *f = &w->r->full[w->full++];
		out->address = f->address;
		out->number = f->number;
		out->n_references = f->n_references;
	} else {
		out->address = w->address + (uint64_t)(int64_t)p->step;
		out->number = p->number;
		out->n_references = p->n_references;
	}
	w->address = out->address;
	out->kind = (enum record_kind)(p->what & PACKED_KIND);
	out->sized = p->what & PACKED_SIZED;
	out->size = SIZE_UNKNOWN;
	out->length = LENGTH_UNKNOWN;
	return true;
}

/* The same with size and length. */
static inline bool records_next(struct records_walk *w, struct record *out)
{
	if (!records_next_bare(w, out))
		return false;
	if (!out->sized)
		return true;
	unsigned what = w->r->packed[w->at - 1].what;
	if (what & PACKED_SIZE)
		out->size = records_walk_number(w);
	if (what & PACKED_LENGTH)
		out->length = records_walk_number(w);
	return true;
}

#endif
