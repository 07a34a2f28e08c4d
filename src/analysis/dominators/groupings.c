/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * groupings.c - what groups of objects retain, for several ways to group them in one walk; see dominators.h.
 *
 * The tree is walked from top to bottom without recursion.  The way through it costs more than what is done at each
 * object, so it is gone once.
 */
#include "analysis/dominators/joint.h"

#include "base/assert.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <string.h>

enum { REPORT_EVERY = 1 << 13, AHEAD = 8 };

struct walk {
	const struct retained *r;
	const struct retained_grouping *groupings;
	size_t n;
	uint32_t **inside; /* by grouping, by group: members on the way from the top to here */
	uint32_t *stack;   /* a position in the array of children for each level: the next one is the next sibling */
	int64_t *ways;     /* joint_ways; added up on the way back, for: */
	struct bits *joint; /* by class */
};

/* The group of an object, or HEAP_NONE. */
static inline uint32_t group_of(const struct retained_grouping *g, uint32_t id, uint32_t class)
{
	uint32_t number = g->of_object ? g->of_object[id] : class;
	if (g->only && !bits_get(g->only, id))
		return HEAP_NONE;
	return g->group && number != HEAP_NONE ? g->group[number] : number;
}

static inline uint32_t group_around(const struct retained_grouping *g, uint32_t group)
{
	return g->within ? g->within[group] : HEAP_NONE;
}

static inline void enter(const struct walk *w, uint32_t id)
{
	uint32_t class = heap_class_index(w->r->heap, id);
	for (size_t i = 0; i < w->n; i++) {
		const struct retained_grouping *g = &w->groupings[i];
		for (uint32_t group = group_of(g, id, class); group != HEAP_NONE; group = group_around(g, group))
			if (w->inside[i][group]++ == 0)
				retained_sum_add(w->r, &g->sums[group], id);
	}
}

static inline void leave(const struct walk *w, uint32_t id)
{
	uint32_t class = heap_class_index(w->r->heap, id);
	for (size_t i = 0; i < w->n; i++) {
		const struct retained_grouping *g = &w->groupings[i];
		for (uint32_t group = group_of(g, id, class); group != HEAP_NONE; group = group_around(g, group)) {
			cairn_assert(w->inside[i][group] > 0);
			w->inside[i][group]--;
		}
	}
}

/* All below this object is added up. */
static void pass_ways_on(const struct walk *w, uint32_t id, uint32_t parent)
{
	bits_set(w->joint, heap_class_index(w->r->heap, id));
	if (parent != DOMINATED_BY_ROOTS)
		w->ways[parent] += w->ways[id];
}

static inline void look_ahead(const struct walk *w, uint32_t id)
{
	retained_ask_children(w->r, id);
	heap_prefetch_class_index(w->r->heap, id);
	dominators_look_ahead(&w->r->dominators, id);
	for (size_t i = 0; i < w->n; i++)
		if (w->groupings[i].of_object)
			__builtin_prefetch(&w->groupings[i].of_object[id]);
}

static int go(struct walk *w, struct progress *progress, struct err *err)
{
	const struct dominators *d = &w->r->dominators;
	const struct retained *r = w->r;
	const uint32_t *child = r->children.target;
	uint32_t n = d->n_objects, done = 0, at = retained_first_child(r, n), end = retained_first_child(r, n + 1);
	size_t depth = 0, cap = 0;
	for (;;) {
		if (at < end) {
			uint32_t id = child[at];
			if (at + AHEAD < end)
				look_ahead(w, child[at + AHEAD]);
			enter(w, id);
			if (++done % REPORT_EVERY == 0 && !progress_add(progress, REPORT_EVERY))
				return err_cancelled(err);
			if (BIG_ADD(w->stack, depth, cap, err, at))
				return ERR_NOMEM;
			at = retained_first_child(r, id);
			end = retained_first_child(r, id + 1);
			continue;
		}
		if (depth == 0)
			return 0;
		at = w->stack[--depth];
		leave(w, child[at]);
		uint32_t parent = d->immediate[child[at]];
		if (w->ways && w->ways[child[at]])
			pass_ways_on(w, child[at], parent);
		at++;
		end = retained_first_child(r, (parent == DOMINATED_BY_ROOTS ? n : parent) + 1);
	}
}

int joint_sum(const struct retained *r, const struct retained_grouping *groupings, size_t n, int64_t *ways,
    struct bits *joint, struct progress *progress, struct err *err)
{
	struct walk w = {.r = r, .groupings = groupings, .n = n, .ways = ways, .joint = joint};
	w.inside = big_alloc(n, sizeof *w.inside, err);
	int code = w.inside ? 0 : ERR_NOMEM;
	for (size_t i = 0; !code && i < n; i++) {
		memset(groupings[i].sums, 0, groupings[i].n_groups * sizeof *groupings[i].sums);
		w.inside[i] = big_alloc(groupings[i].n_groups, sizeof *w.inside[i], err);
		code = w.inside[i] ? 0 : ERR_NOMEM;
	}
	if (!code)
		code = go(&w, progress, err);
	for (size_t i = 0; w.inside && i < n; i++)
		big_free(w.inside[i]);
	big_free(w.inside);
	big_free(w.stack);
	return code;
}

int retained_by_groupings(const struct retained *r, const struct retained_grouping *groupings, size_t n,
    struct progress *progress, struct err *err)
{
	return joint_sum(r, groupings, n, NULL, NULL, progress, err);
}

int retained_by_group(const struct retained *r, const uint32_t *group, uint32_t n_groups, const uint32_t *within,
    const struct bits *only, struct retained_sum *sums, struct progress *progress, struct err *err)
{
	const struct retained_grouping one = {.group = group, .n_groups = n_groups, .sums = sums, .within = within,
	    .only = only};
	return retained_by_groupings(r, &one, 1, progress, err);
}

int retained_by_objects(const struct retained *r, const uint32_t *group, uint32_t n_groups,
    struct retained_sum *sums, struct progress *progress, struct err *err)
{
	const struct retained_grouping one = {.of_object = group, .n_groups = n_groups, .sums = sums};
	return retained_by_groupings(r, &one, 1, progress, err);
}
