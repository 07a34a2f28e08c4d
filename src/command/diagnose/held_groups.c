/* SPDX-License-Identifier: GPL-3.0-or-later */
/* held_groups.c - see held_groups.h. */
#include "command/diagnose/held_groups.h"

#include "algorithms/hash.h"
#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "heap/ids.h"
#include "memory/big.h"

int held_groups_init(struct held_groups *g, const struct heap *h, size_t members, struct err *err)
{
	*g = (struct held_groups){.members = members};
	int code = field_holders_init(&g->holders, h, err);
	if (!code && !(g->of = big_alloc(members, sizeof *g->of, err)))
		code = ERR_NOMEM;
	for (size_t i = 0; !code && i < members; i++)
		if (progress_own_stops(i))
			code = err_cancelled(err);
		else
			g->of[i] = HELD_IN_NONE;
	return code;
}

void held_groups_release(struct held_groups *g)
{
	field_holders_release(&g->holders);
	big_free(g->of);
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

static int find_group(struct held_groups *g, const struct held_group *like, uint32_t *number, struct err *err)
{
	uint32_t own = 0, *slot = g->apart ? &own : groups_enter(&g->map, g->group, g->n, like, err);
	size_t n = g->n;
	if (!slot)
		return ERR_NOMEM;
	if (!*slot) {
		struct held_group *to = BIG_PUSH(g->group, n, g->cap, err);
		if (!to)
			return ERR_NOMEM;
		*to = *like;
		*slot = ++g->n;
	}
	*number = *slot - 1;
	return 0;
}

int held_groups_put(struct held_groups *g, size_t member, unsigned kind, uint32_t class, uint32_t held,
    struct err *err)
{
	struct held_group like = {.kind = kind, .class = class, .first = (uint32_t)member,
	    .holder = {.class = HEAP_NONE, .field = NAME_NOT_TOLD}};
	uint32_t number;
	int code = held == HEAP_NONE ? 0 : field_holder_of(&g->holders, held, &like.holder, err);
	if (code || (code = find_group(g, &like, &number, err)))
		return code;
	g->group[number].n++;
	g->of[member] = number;
	return 0;
}

int held_groups_members(const struct held_groups *g, const struct bits *groups, held_object *object_of,
    const void *context, struct bits *to, struct err *err)
{
	for (size_t i = 0; i < g->members && !progress_own_stops(i); i++)
		if (g->of[i] != HELD_IN_NONE && bits_get(groups, g->of[i]))
			bits_set(to, object_of(context, i));
	return progress_check(progress_own(), err);
}
