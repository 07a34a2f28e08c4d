/* SPDX-License-Identifier: GPL-3.0-or-later */
/* held_groups.c - see held_groups.h. */
#include "command/diagnose/held_groups.h"

#include "algorithms/hash.h"
#include "analysis/describe/describe.h"
#include "heap/ids.h"
#include "memory/big.h"

int held_groups_init(struct held_groups *g, const struct heap *h, struct err *err)
{
	*g = (struct held_groups){.n = 0};
	return field_holders_init(&g->holders, h, err);
}

void held_groups_release(struct held_groups *g)
{
	field_holders_release(&g->holders);
	big_free(g->group);
	map_release(&g->map);
	*g = (struct held_groups){.n = 0};
}

static uint64_t hash_group(const struct held_group *g)
{
	uint64_t h = hash_step(hash_number(g->kind), g->class);
	return hash_step(hash_step(h, g->holder.class), g->holder.field * 2 + g->holder.elements);
}

static bool same_group(const struct held_group *a, const struct held_group *b)
{
	return a->kind == b->kind && a->class == b->class && a->holder.class == b->holder.class &&
	    a->holder.field == b->holder.field && a->holder.elements == b->holder.elements;
}

MAP(groups, const struct held_group *, const struct held_group *, map_element, hash_group, same_group)

struct held_group *held_groups_put(struct held_groups *g, size_t member, unsigned kind, uint32_t class, uint32_t held,
    struct err *err)
{
	struct held_group like = {.kind = kind, .class = class, .first = member,
	    .holder = {.class = HEAP_NONE, .field = NAME_NOT_TOLD}};
	if (held != HEAP_NONE && field_holder_of(&g->holders, held, &like.holder, err))
		return NULL;
	uint32_t own = 0, *slot = g->apart ? &own : groups_enter(&g->map, g->group, (uint32_t)g->n, &like, err);
	struct held_group *to = !slot ? NULL : *slot ? &g->group[*slot - 1] : BIG_PUSH(g->group, g->n, g->cap, err);
	if (!to)
		return NULL;
	if (!*slot) {
		*to = like;
		*slot = (uint32_t)g->n;
	}
	to->n++;
	return to;
}
