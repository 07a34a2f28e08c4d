/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phd_walk.h - a walk over the records of one part, as phd_read.c (the walk, and small records) and
 * phd_large.c (all other records) share it.
 *
 * A record's address is relative to that of the record before it; its references are relative to
 * its own address; short object records name their class by one of four cache slots.  So a part can
 * begin in the middle of the dump if it knows the address before and the four slots.
 */
#ifndef CAIRN_DUMP_PHD_PHD_WALK_H
#define CAIRN_DUMP_PHD_PHD_WALK_H

#include "algorithms/hash.h"
#include "dump/cursor.h"
#include "dump/phd/phd_dump.h"

enum {
	PHD_BATCH = 4096,   /* references delivered at once */
	PHD_KNOWN_BITS = 9,
};

/* Inlined at each call: that saves 10 % of the time of both passes. */
#define HOT static inline __attribute__((always_inline))

/* What the first records show of the first references of instances and object arrays. */
struct phd_evidence {
	uint32_t n_records;
	uint32_t instances, odd_instances; /* odd: without references, or the first is another object */
	uint32_t arrays, odd_arrays;
	uint32_t n_lengths, n_refuted; /* of short primitive arrays of version 6: those above 3; those that sizes refute */
};

/* The handle of a class that this walk has met; the tables of these are caches by a hash of
 * address. */
struct known {
	uint64_t address;
	uint32_t handle;
	bool valid;
};

struct walk {
	const struct phd *phd;
	struct sink *sink;
	struct err *err;
	const uint8_t *first, *end; /* of the whole source */
	const uint8_t *p;           /* the record being read */
	const uint8_t *refs;        /* its references, once they are known to be there */
	bool fill;                  /* the second pass, which delivers references */
	bool ended;                 /* the end tag was there */
	struct phd_evidence *look;  /* only this is wanted (phd_look); else NULL */

	uint64_t prev;              /* address of the record before */
	uint64_t cache[4];          /* the four slots: addresses of classes */
	uint32_t cache_handle[4];   /* their handles */
	unsigned next, filled;      /* next slot to use; bits: slots in use */

	uint32_t primitive_handle[8]; /* of the arrays of each primitive type */
	unsigned primitive_known; /* a bit for each of them that has its handle */
	enum class_naming array_naming;
	struct known instances[1u << PHD_KNOWN_BITS], arrays[1u << PHD_KNOWN_BITS];
	uint64_t batch[PHD_BATCH];
};

/* --- addresses and classes ---------------------------------------------------------------------- */

static inline uint64_t offset_of(const struct walk *w, const uint8_t *p)
{
	return (uint64_t)(p - w->first);
}

/* The address that lies a gap, as stored, from another.  The gap is shifted as an unsigned number,
 * since a hostile one may lose bits at the top. */
static inline uint64_t relative(const struct phd *phd, uint64_t from, int64_t gap)
{
	return (from + ((uint64_t)gap << phd->shift)) & phd->mask;
}

HOT uint32_t handle_of(struct walk *w, struct known *table, enum class_naming how,
    uint64_t address)
{
	struct known *k = &table[hash_number(address) >> (64 - PHD_KNOWN_BITS)];

	if (!k->valid || k->address != address) {
		k->address = address;
		k->handle = w->sink->class_handle(w->sink, how, address, NULL, 0);
		k->valid = true;
	}
	return k->handle;
}

/* The next of the four cache slots now names this class. */
static inline void remember_class(struct walk *w, uint64_t class, uint32_t handle)
{
	w->cache[w->next] = class;
	w->cache_handle[w->next] = handle;
	w->filled |= 1u << w->next;
	w->next = (w->next + 1) & 3;
}

/* --- what both files say ------------------------------------------------------------------------ */

/* The record at w->p, "a class", is not whole: ERR_TRUNCATED, described. */
int phd_cut_short(struct walk *w, const char *kind) __attribute__((cold));

/* Decode n references of 1 << code bytes at p, all of them inside the dump, into out. */
void phd_decode(const struct walk *w, const uint8_t *p, uint64_t n, unsigned code, uint64_t address,
    uint64_t *out);

/* Decode the same references and deliver them to the sink in batches.  The sink's code. */
int phd_deliver(struct walk *w, const uint8_t *p, uint64_t n, unsigned code, uint64_t address);

/* The look of phd_look at one object. */
void phd_note(struct walk *w, enum object_kind kind, bool class_first) __attribute__((cold));

/*
 * Announce an object whose n references of 1 << code bytes stand at w->refs.  Some J9 releases wrote
 * an object's class as its first reference (class_first): that one goes.
 */
HOT int announce(struct walk *w, struct object_record *r, uint64_t n, unsigned code,
    bool class_first)
{
	const uint8_t *refs = w->refs;

	if (__builtin_expect(w->look != NULL, 0))
		phd_note(w, r->kind, class_first);
	if (class_first) {
		n--;
		refs += (size_t)1 << code;
	}
	r->n_references = n;
	int result = w->sink->object(w->sink, r);
	if (result < 0)
		return result;
	w->prev = r->address;
	return w->fill && n ? phd_deliver(w, refs, n, code, r->address) : 0;
}

/* The hash as Java sees it, of the 16 bits that every record of an old dump has at p. */
static inline uint32_t hash_of_16(const uint8_t *p)
{
	uint32_t bits = load_be16(p) & 0x7FFF;
	return bits << 16 | bits;
}

/* Footprint of an array in bytes; the field holds a quarter of it, and 0 where it was not known. */
static inline uint64_t footprint(uint32_t field)
{
	return field ? (uint64_t)field * 4 : SIZE_UNKNOWN;
}

/* Announce a primitive array of which address, length, size and hash are filled; a length that Java cannot
 * make counts as unknown.  The sink's code. */
int phd_primitive_array(struct walk *w, struct object_record *r, unsigned type);

/* phd_large.c: the record at w->p, which is not small; w->p moves behind it.  The sink's code, or
 * ERR_FORMAT, ERR_TRUNCATED, described. */
int phd_large_record(struct walk *w);

#endif
