/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.h - which addresses hold objects, and the rank of each.
 *
 * The address space is divided into pages of 65,536 granules, a granule being the largest power of two
 * (at most 256) that divides every address.  A page with many objects keeps a bit for each granule
 * and a count for each word of 64 bits; a page with few keeps a sorted list.  Pages are found by
 * their numbers, by hashing these where they lie far apart.  So a lookup costs one probe and one
 * popcount and never depends on how far regions of the heap lie apart; a real heap takes about one
 * byte an object, and no heap more than some 30.
 *
 * Building: index_note every address, index_layout once, index_insert every address, index_seal.
 * Several threads may note into indexes of their own, to be joined, and insert into one.  Lookups:
 * any thread after index_seal.
 */
#ifndef CAIRN_HEAP_INDEX_H
#define CAIRN_HEAP_INDEX_H

#include "algorithms/bits.h"
#include "algorithms/map.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX
#define INDEX_PAGE_WORDS 1024 /* of bits, in a page that has them */

struct index_page {
	uint64_t number;    /* address >> (granule_shift + 16) */
	uint32_t first_id;  /* objects in all pages before this one */
	uint32_t n_objects; /* exact after index_seal; before, at least as many as there will be */
	uint64_t *bits;     /* 1024 words, followed by 1024 16-bit ranks; NULL: listed */
	uint16_t *list;     /* n_objects granules, ascending; NULL: bits */
};

struct address_index {
	unsigned granule_shift;
	struct index_page *pages; /* ascending by number once laid out */
	uint32_t n_pages, cap_pages;
	struct map map;           /* of pages by number */
	struct index_page **direct; /* the page of each number from that of the first to that of the last, where few are
	                               missing; else NULL */
	uint64_t first_number, n_direct;
	uint32_t n_objects;
	void *store;     /* bits and lists of all pages, one big allocation */
	uint64_t store_size;
};

void index_init(struct address_index *x, unsigned granule_shift);
void index_release(struct address_index *x);

/* The number of the page that an address lies in.  Pass 1 of building counts n objects in that page. */
static inline uint64_t index_page_number(const struct address_index *x, uint64_t address)
{
	return address >> x->granule_shift >> 16;
}
MUST_CHECK int index_note(struct address_index *x, uint64_t number, uint32_t n, struct err *err);
/* Add what another index of the same granule has noted. */
MUST_CHECK int index_join(struct address_index *x, const struct address_index *other,
    struct err *err);
/* Between the passes: sort the pages, choose bits or a list for each, allocate.  0 or ERR_NOMEM. */
MUST_CHECK int index_layout(struct address_index *x, struct err *err);
/* Pass 2: enter an address; entering one twice is harmless.  Each thread has a writer, which gathers
 * the bits of a word; flush it behind the last. */
struct index_writer {
	struct address_index *x;
	uint64_t number;         /* the number of `page` */
	struct index_page *page; /* that the last address went into, or NULL */
	struct bits_writer bits;
};
static inline void index_insert(struct index_writer *w, uint64_t address);
static inline void index_flush(struct index_writer *w)
{
	bits_flush(&w->bits);
}
/* Rank everything: lookups work from here on.  ERR_UNSUPPORTED beyond 2^32-2 objects. */
MUST_CHECK int index_seal(struct address_index *x, struct err *err);

/* Make an index of pages that were laid out and sealed before, and are read back: number, n_objects, and
 * for a listed page any list, and of their store, which is x's.  ERR_FORMAT where the store is not
 * what such pages take; what stands in it is not looked at. */
MUST_CHECK int index_adopt(struct address_index *x, struct err *err);

struct index_page *index_page_slow(const struct address_index *x, uint64_t number);
uint32_t index_rank_listed(const struct index_page *p, uint16_t granule);

static inline const struct index_page *index_page_of(const struct address_index *x, uint64_t number)
{
	if (__builtin_expect(x->n_direct > 0, 1))
		return number - x->first_number < x->n_direct ? x->direct[number - x->first_number] : NULL;
	uint32_t slot = (uint32_t)hash_number(number) & (x->map.n_slots - 1);
	uint32_t at = x->map.slots[slot];
	if (__builtin_expect(at && x->pages[at - 1].number == number, 1))
		return &x->pages[at - 1];
	return at ? index_page_slow(x, number) : NULL;
}

static inline void index_insert(struct index_writer *w, uint64_t address)
{
	uint64_t granule = address >> w->x->granule_shift;
	if (!w->page || granule >> 16 != w->number) {
		w->number = granule >> 16;
		w->page = (struct index_page *)index_page_of(w->x, w->number);
	}
	struct index_page *p = w->page;
	uint16_t g = (uint16_t)granule;
	if (p->bits)
		bits_gather(&w->bits, &p->bits[g >> 6], UINT64_C(1) << (g & 63));
	else
		p->list[__atomic_fetch_add(&p->n_objects, 1, __ATOMIC_RELAXED)] = g;
}

/* The id of the object at exactly this address, or INDEX_NONE.  native: see bits_ones_by. */
static inline __attribute__((always_inline)) uint32_t index_find_by(const struct address_index *x, uint64_t address,
    const bool native)
{
	uint64_t granule = address >> x->granule_shift;
	const struct index_page *p = index_page_of(x, granule >> 16);
	if (!p || granule << x->granule_shift != address)
		return INDEX_NONE;
	uint16_t g = (uint16_t)granule;
	if (!p->bits)
		return index_rank_listed(p, g);
	uint64_t word = p->bits[g >> 6];
	if (!(word >> (g & 63) & 1))
		return INDEX_NONE;
	const uint16_t *rank = (const uint16_t *)(p->bits + 1024);
	uint64_t below = word & ((UINT64_C(1) << (g & 63)) - 1);
	return p->first_id + rank[g >> 6] + bits_ones_by(below, native);
}

static inline uint32_t index_find(const struct address_index *x, uint64_t address)
{
	return index_find_by(x, address, false);
}

/* The id of the last object at or below the address, or INDEX_NONE. */
uint32_t index_find_below(const struct address_index *x, uint64_t address);

/* The same, and *start gets that object's address.  Quick where an object begins at or below the address
 * in the same page; else the pages are searched. */
uint32_t index_covering(const struct address_index *x, uint64_t address, uint64_t *start);

/* The address of object id < n_objects. */
uint64_t index_address(const struct address_index *x, uint32_t id);

/* Walk all addresses in ascending order, from the start. */
struct index_walk {
	const struct address_index *x;
	uint32_t page, at; /* at: word, or place in the list */
	uint64_t word;     /* bits of the word not yet given */
	uint64_t first;    /* address of the word's lowest bit */
};
void index_walk_init(struct index_walk *w, const struct address_index *x);
/* The same from the address of object id < n_objects on. */
void index_walk_seek(struct index_walk *w, const struct address_index *x, uint32_t id);
bool index_walk_beyond(struct index_walk *w, uint64_t *address); /* beyond the word */
static inline bool index_walk_next(struct index_walk *w, uint64_t *address)
{
	if (!w->word)
		return index_walk_beyond(w, address);
	*address = w->first + ((uint64_t)__builtin_ctzll(w->word) << w->x->granule_shift);
	w->word &= w->word - 1;
	return true;
}

/*
 * Ids of addresses that come mostly in ascending order without gaps, as dumps have them: then each
 * is the one that a walk gives next, and costs less than looking it up.
 */
struct index_cursor {
	struct index_walk walk; /* stands behind `address` */
	uint64_t address;       /* the address expected next; behind the last object, that of object 0 */
	uint32_t id;            /* the id of the object there */
};
void index_cursor_init(struct index_cursor *c, const struct address_index *x);
bool index_cursor_seek(struct index_cursor *c, uint64_t address);
/* As index_find. */
static inline uint32_t index_follow(struct index_cursor *c, uint64_t address)
{
	if (address != c->address && !index_cursor_seek(c, address))
		return INDEX_NONE;
	uint32_t id = c->id++;
	if (!index_walk_next(&c->walk, &c->address))
		index_cursor_init(c, c->walk.x);
	return id;
}

#endif
