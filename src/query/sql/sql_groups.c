/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_groups.c - see sql_groups.h. */
#include "query/sql/sql_groups.h"

#include "algorithms/sort.h"
#include "memory/big.h"

#include <string.h>

static uint64_t hash_key(const struct group_key *key)
{
	uint64_t hash = hash_number(key->number[0]);
	for (unsigned i = 1; i < GROUP_KEYS; i++)
		hash = hash_step(hash, key->number[i]);
	return hash;
}

static bool same_key(const struct group_key *a, const struct group_key *b)
{
	return !memcmp(a->number, b->number, sizeof a->number);
}

#define key_at(groups, i) (&(groups)->list[i].key)
MAP(keys, const struct groups *, const struct group_key *, key_at, hash_key, same_key)

/* The group of a row, made if it is the first one. */
static int find(struct groups *g, const struct group_key *key, struct err *err)
{
	size_t n = g->n;
	uint32_t *slot = keys_enter(&g->map, g, g->n, key, err);
	if (!slot)
		return ERR_NOMEM;
	if (!*slot) {
		struct counted_group *to = BIG_PUSH(g->list, n, g->cap, err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct counted_group){.key = *key};
		*slot = g->n = (uint32_t)n;
	}
	g->newest = *slot - 1;
	return 0;
}

int groups_add(struct groups *g, const struct group_key *key, struct err *err)
{
	if ((!g->n || !same_key(&g->list[g->newest].key, key)) && find(g, key, err)) /* most are like the one before */
		return ERR_NOMEM;
	g->list[g->newest].rows++;
	return 0;
}

/* As SQL orders texts: what is NULL comes first. */
static int by_names(const void *x, const void *y, void *groups)
{
	const struct groups *g = groups;
	const struct group_key *a = &((const struct counted_group *)x)->key, *b = &((const struct counted_group *)y)->key;
	for (unsigned i = 0; i < g->n_orders; i++) {
		unsigned k = g->order[i].key;
		if (a->number[k] == b->number[k])
			continue;
		int order = a->name[k] && b->name[k] ? strcmp(a->name[k], b->name[k]) : a->name[k] ? 1 : -1;
		return g->order[i].down ? -order : order;
	}
	return 0;
}

int groups_arrange(struct groups *g, struct err *err)
{
	g->at = 0;
	g->row = 0;
	return sort_with(g->list, g->n, sizeof *g->list, by_names, g, err);
}

void groups_release(struct groups *g)
{
	big_free(g->list);
	map_release(&g->map);
	*g = (struct groups){.n = 0};
}
