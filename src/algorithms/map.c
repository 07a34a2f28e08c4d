/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map.c - the slots of a hash table; see map.h. */
#include "algorithms/map.h"

enum { LEAST_SLOTS = 1024 };
#define MOST_SLOTS (UINT32_C(1) << 31)

int map_room(struct map *m, uint32_t n, struct err *err)
{
	m->n_slots = LEAST_SLOTS;
	while (n >= m->n_slots / 2) {
		if (m->n_slots >= MOST_SLOTS)
			return big_refused(2 * (uint64_t)m->n_slots, sizeof *m->slots, err);
		m->n_slots *= 2;
	}
	m->slots = big_alloc(m->n_slots, sizeof *m->slots, err);
	return m->slots ? 0 : ERR_NOMEM;
}
