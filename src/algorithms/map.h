/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map.h - the hash table: finds elements 0 … n - 1 of a list by their keys.
 *
 * The list and its elements are the caller's, in any form that numbers them.  The map has a slot of four bytes
 * for a number; a power of two of them, at most half of them taken; the next free slot after its hash has it.
 * So an element costs 8 to 16 bytes and no allocation.  Elements are never removed.  The slots are big memory.
 * Any number of threads may search; none meanwhile enters.
 *
 *     MAP(pairs, struct pair *, uint64_t, pair_key, hash_number, map_same)
 *
 * makes these functions, in which key_of, hash and same are inlined:
 *
 *     uint32_t *pairs_enter(struct map *, struct pair *list, uint32_t n, uint64_t key, struct err *)
 *         The slot of a key among the n elements of a list: it has the element's number + 1, or 0 where there is
 *         none.  Then the caller appends the element and sets the slot to the number + 1, or leaves both.
 *         The slot is valid until the next call.  NULL: ERR_NOMEM, and the map is as it was.
 *     uint32_t pairs_get(const struct map *, struct pair *list, uint64_t key)
 *         The number + 1, or 0.
 *     int pairs_build(struct map *, struct pair *list, uint32_t n, struct err *)
 *         Enter all n elements of a list anew, whose keys differ: where n is known, or the order has changed.
 *
 * key_of(list, number) returns the key of an element, hash(key) a hash that depends on the process's seed (hash.h),
 * same(key, key) whether two are equal.  Where the element is its own key, key_of is map_element;
 * where equal keys are the same number or pointer, same is map_same.
 */
#ifndef CAIRN_ALGORITHMS_MAP_H
#define CAIRN_ALGORITHMS_MAP_H

#include "algorithms/hash.h"
#include "memory/big.h"

#include <stdbool.h>

struct map {
	uint32_t *slots; /* number + 1; 0: free */
	uint32_t n_slots;
};

static inline void map_release(struct map *m)
{
	big_free(m->slots);
	*m = (struct map){.n_slots = 0};
}

/* Free slots for n elements and one more, at least 1,024.  0 or ERR_NOMEM. */
MUST_CHECK int map_room(struct map *m, uint32_t n, struct err *err);

#define map_element(list, number) (&(list)[number])
#define map_same(a, b) ((a) == (b))

#define MAP(name, list_type, key_type, key_of, hash, same)                                                  \
	static inline uint32_t *name##_slot(const struct map *m, list_type list, key_type key)              \
	{                                                                                                   \
		uint32_t at = (uint32_t)hash(key) & (m->n_slots - 1);                                       \
		while (m->slots[at] && !same(key_of(list, m->slots[at] - 1), key))                          \
			at = (at + 1) & (m->n_slots - 1);                                                   \
		return &m->slots[at];                                                                       \
	}                                                                                                   \
                                                                                                            \
	__attribute__((unused)) static inline uint32_t name##_get(const struct map *m, list_type list,      \
	    key_type key)                                                                                   \
	{                                                                                                   \
		return m->n_slots ? *name##_slot(m, list, key) : 0;                                         \
	}                                                                                                   \
                                                                                                            \
	static int name##_build(struct map *m, list_type list, uint32_t n, struct err *err)                 \
	{                                                                                                   \
		struct map larger;                                                                          \
		if (map_room(&larger, n, err))                                                              \
			return ERR_NOMEM;                                                                   \
		for (uint32_t i = 0; i < n; i++) {                                                          \
			uint32_t at = (uint32_t)hash(key_of(list, i)) & (larger.n_slots - 1);               \
			while (larger.slots[at])                                                            \
				at = (at + 1) & (larger.n_slots - 1);                                       \
			larger.slots[at] = i + 1;                                                           \
		}                                                                                           \
		map_release(m);                                                                             \
		*m = larger;                                                                                \
		return 0;                                                                                   \
	}                                                                                                   \
                                                                                                            \
	__attribute__((unused)) static inline uint32_t *name##_enter(struct map *m, list_type list,         \
	    uint32_t n, key_type key, struct err *err)                                                      \
	{                                                                                                   \
		if (n >= m->n_slots / 2 && name##_build(m, list, n, err))                                   \
			return NULL;                                                                        \
		return name##_slot(m, list, key);                                                           \
	}

#endif
