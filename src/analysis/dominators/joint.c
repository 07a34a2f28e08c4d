/* SPDX-License-Identifier: GPL-3.0-or-later */
/* joint.c - see joint.h. */
#include "analysis/dominators/joint.h"

#include "base/progress.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <stdlib.h>

enum { LOOK_AFTER = 1 << 15 }; /* references */

struct joint {
	const struct heap *h;
	const struct weak_references *left_out;
	const uint32_t *immediate;
	struct bits open; /* by id: reachable, and its immediate dominator does not hold it itself */
	int64_t *ways;
};

/* An edge of those that are not recorded; from HEAP_NONE: the VM. */
typedef void edge_visit(struct joint *j, uint32_t from, uint32_t to);

static void implied_edges(struct joint *j, edge_visit *visit)
{
	const struct heap *h = j->h;
	struct implied_reference implied[HEAP_IMPLIED];
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(4 * (uint64_t)c); c++) {
		uint32_t object = h->classes[c].object;
		if (object == HEAP_NONE)
			continue;
		for (unsigned k = heap_implied(h, object, implied); k-- > 0;)
			visit(j, object, implied[k].target);
		if (heap_loader_holds(h, c))
			visit(j, h->classes[c].loader, object);
	}
	for (size_t i = 0; i < h->n_roots && !progress_own_stops(i); i++)
		visit(j, dominators_stack_owner(h, &h->roots[i]), h->roots[i].object);
}

static void close_held(struct joint *j, uint32_t from, uint32_t to)
{
	if (j->immediate[to] == (from == HEAP_NONE ? DOMINATED_BY_ROOTS : from))
		bits_unset(&j->open, to);
}

static bool recorded_holder(const struct joint *j, uint32_t id, uint32_t holder)
{
	const struct heap *h = j->h;
	uint64_t end = adjacency_start(&h->in, id + 1);
	for (uint64_t k = adjacency_start(&h->in, id); k < end; k++)
		if (h->in.target[k] == holder && !weak_is(j->left_out, holder, id))
			return true;
	return false;
}

static void find_open(struct joint *j)
{
	const struct heap *h = j->h;
	uint64_t looked = 0;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		if (j->immediate[id] != NOT_REACHABLE && !recorded_holder(j, id, j->immediate[id]))
			bits_set(&j->open, id);
		looked += 1 + adjacency_degree(&h->in, id);
		if (looked < LOOK_AFTER)
			continue;
		looked = 0;
		if (progress_cancelled(progress_own()))
			break;
	}
	implied_edges(j, close_held);
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(c); c++) {
		uint32_t object = h->classes[c].object;
		uint32_t up = object == HEAP_NONE ? NOT_REACHABLE : j->immediate[object];
		if (up < NOT_REACHABLE && heap_class_index(h, up) == c)
			close_held(j, up, object);
	}
}

static void add_way(struct joint *j, uint32_t from, uint32_t to)
{
	if (from == HEAP_NONE || !bits_get(&j->open, to) || j->immediate[from] == NOT_REACHABLE)
		return;
	j->ways[from]++;
	if (j->immediate[to] != DOMINATED_BY_ROOTS)
		j->ways[j->immediate[to]]--;
}

/* Returns how many references were looked at. */
static uint64_t add_recorded(struct joint *j, uint32_t id)
{
	const struct heap *h = j->h;
	uint64_t end = adjacency_start(&h->in, id + 1);
	for (uint64_t k = adjacency_start(&h->in, id); k < end; k++)
		if (!weak_is(j->left_out, h->in.target[k], id))
			add_way(j, h->in.target[k], id);
	return end - adjacency_start(&h->in, id);
}

/* Every instance holds its class: many references, so only where it matters. */
static int add_instances(struct joint *j, struct err *err)
{
	const struct heap *h = j->h;
	bool *held = big_alloc(h->n_classes, sizeof *held, err), any = false;
	if (!held)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(c); c++) {
		uint32_t object = h->classes[c].object;
		held[c] = object != HEAP_NONE && bits_get(&j->open, object);
		any |= held[c];
	}
	for (uint32_t id = 0; any && id < h->n_objects && !progress_own_stops(id); id++)
		if (held[heap_class_index(h, id)])
			add_way(j, id, h->classes[heap_class_index(h, id)].object);
	big_free(held);
	return 0;
}

int joint_ways(const struct retained *r, int64_t **ways, struct progress *progress, struct err *err)
{
	const struct heap *h = r->heap;
	struct joint j = { .h = h, .left_out = r->model.left_out,
		.immediate = r->dominators.immediate };
	int code = bits_init(&j.open, h->n_objects, err);
	*ways = NULL;
	if (code)
		return code;
	find_open(&j);
	bool any = false;
	for (uint64_t w = 0; !any && w <= j.open.n / 64; w++)
		any = j.open.word[w] != 0;
	if (any && !(j.ways = big_alloc(h->n_objects, sizeof *j.ways, err)))
		code = ERR_NOMEM;
	for (uint64_t w = 0, looked = 0; j.ways && !code && w <= j.open.n / 64; w++) {
		looked++;
		for (uint64_t left = j.open.word[w]; left; left &= left - 1)
			looked += add_recorded(&j, (uint32_t)(w * 64 + (unsigned)__builtin_ctzll(left)));
		if (looked < LOOK_AFTER)
			continue;
		looked = 0;
		code = progress_cancelled(progress) ? err_cancelled(err) : 0;
	}
	if (j.ways && !code) {
		implied_edges(&j, add_way);
		code = add_instances(&j, err);
	}
	if (!code) /* some loop was left early */
		code = progress_check(progress, err);
	bits_release(&j.open);
	if (code) {
		big_free(j.ways);
		j.ways = NULL;
	}
	*ways = j.ways;
	return code;
}
