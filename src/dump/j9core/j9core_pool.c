/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_pool.c - the elements of the VM's pools and hash tables.
 *
 * A pool is a list of puddles, each with room for as many elements and a bitmap of those that are free
 * (omr/include_core/j9pool.h).  A hash table has its entries in a pool or two, or in an array
 * (omr/include_core/hashtable_api.h).
 */
#include "dump/j9core/j9core_roots.h"

#define SLOTS_MOST (UINT64_C(1) << 28) /* of a pool: looked at, whether in use or not */

/* --- pools ------------------------------------------------------------------------------------------------- */

/* What a member leads to that holds a signed distance of a word from itself (J9WSRP).  0: nothing. */
static uint64_t leads_to(const struct j9core *j, uint64_t structure, enum j9_member member)
{
	uint64_t distance = structure ? j9_get(j, structure, member) : 0;

	if (j->word == 4)
		distance = (uint64_t)(int64_t)(int32_t)distance;
	return distance ? structure + j->at[member].offset + distance : 0;
}

static void enter(struct j9_pool_walk *w, uint64_t puddle)
{
	w->puddle = j9_list_ends(&w->puddles, puddle) ? 0 : puddle;
	w->left = puddle ? j9_get(w->image, puddle, AT_PUDDLE_USED) : 0;
	w->slot = 0;
}

void j9_pool_walk(struct j9_pool_walk *w, const struct j9core *j, uint64_t pool)
{
	*w = (struct j9_pool_walk){.image = j};
	if (!pool)
		return;
	w->element = j9_get(j, pool, AT_POOL_ELEMENT);
	w->room = j9_get(j, pool, AT_POOL_PUDDLE_ELEMENTS);
	w->bitmap = ddr_size(j->ddr, "J9PoolPuddle");
	if (w->element && w->bitmap)
		enter(w, leads_to(j, leads_to(j, pool, AT_POOL_LIST), AT_PUDDLES_FIRST));
}

bool j9_pool_next(struct j9_pool_walk *w, uint64_t *element)
{
	const struct j9core *j = w->image;
	uint64_t free;

	while (w->puddle && w->n_seen++ < SLOTS_MOST && !progress_own_stops(w->n_seen)) {
		if (!w->left || w->slot >= w->room ||
		    !core_load(j->core, w->puddle + w->bitmap + w->slot / 32 * 4, 4, &free)) {
			enter(w, leads_to(j, w->puddle, AT_PUDDLE_NEXT));
			continue;
		}
		uint64_t slot = w->slot++;
		if (free >> (31 - slot % 32) & 1)
			continue;
		w->left--;
		*element = j9_relative(j, w->puddle, AT_PUDDLE_ELEMENTS) + slot * w->element;
		return true;
	}
	return false;
}

/* --- hash tables ------------------------------------------------------------------------------------------- */

void j9_table_walk(struct j9_table_walk *w, const struct j9core *j, uint64_t table)
{
	uint64_t lists = j9_get(j, table, AT_TABLE_LIST_NODES);

	*w = (struct j9_table_walk){.list = {.image = j}};
	if (!table)
		return;
	j9_pool_walk(&w->list, j, lists);
	j9_pool_walk(&w->trees, j, j9_get(j, table, AT_TABLE_TREE_NODES));
	if (!lists) {
		w->node = j9_get(j, table, AT_TABLE_NODES);
		w->n_nodes = j9_get(j, table, AT_TABLE_SIZE);
	}
}

bool j9_table_next(struct j9_table_walk *w, uint64_t *entry)
{
	const struct j9core *j = w->list.image;
	uint64_t word;

	if (j9_pool_next(&w->list, entry))
		return true;
	if (w->trees.image && j9_pool_next(&w->trees, entry)) {
		*entry += ddr_size(j->ddr, "J9AVLTreeNode");
		return true;
	}
	while (w->n_nodes && core_load(j->core, w->node, j->word, &word) && !progress_own_stops(w->n_nodes)) {
		*entry = w->node;
		w->node += j->word;
		w->n_nodes--;
		if (word)
			return true;
	}
	return false;
}
