/* SPDX-License-Identifier: GPL-3.0-or-later */
/* idmap.c - a hash table from numbers of the dump to ours; see idmap.h. */
#include "dump/idmap.h"

#include "algorithms/hash.h"
#include "memory/big.h"

#include <stddef.h>

static struct idmap_slot *find(const struct idmap *m, uint64_t key)
{
	uint64_t i = hash_number(key) & (m->n_slots - 1);

	while (m->slots[i].value_plus_1 && m->slots[i].key != key)
		i = (i + 1) & (m->n_slots - 1);
	return &m->slots[i];
}

static int grow(struct idmap *m, struct err *err)
{
	struct idmap larger = { .n = m->n, .n_slots = m->n_slots ? 2 * m->n_slots : 256 };

	larger.slots = big_alloc(larger.n_slots, sizeof *larger.slots, err);
	if (!larger.slots)
		return ERR_NOMEM;
	for (uint64_t i = 0; i < m->n_slots; i++)
		if (m->slots[i].value_plus_1)
			*find(&larger, m->slots[i].key) = m->slots[i];
	big_free(m->slots);
	*m = larger;
	return 0;
}

int idmap_put(struct idmap *m, uint64_t key, uint64_t value, struct err *err)
{
	if (2 * m->n >= m->n_slots) {
		int code = grow(m, err);
		if (code < 0)
			return code;
	}
	struct idmap_slot *s = find(m, key);
	m->n += s->value_plus_1 == 0;
	*s = (struct idmap_slot){ key, value + 1 };
	return 0;
}

uint64_t idmap_get(const struct idmap *m, uint64_t key)
{
	return m->n_slots ? find(m, key)->value_plus_1 - 1 : IDMAP_NONE;
}

void idmap_release(struct idmap *m)
{
	big_free(m->slots);
	*m = (struct idmap){ .slots = NULL };
}
