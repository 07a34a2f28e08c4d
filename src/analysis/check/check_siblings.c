/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_siblings.c - checks that no object of a dominator tree dominates a sibling.
 *
 * Parents dominate their children: check_tree.c has shown that.  An object is *settled* when we
 * know that no sibling dominates it.  It is settled if its parent itself references it.  It also is
 * settled if it is referenced from the subtrees of two settled siblings: a nearer dominator than
 * the parent would have to stand above both references.  Two passes over all references and a list
 * of what was newly settled settle nearly everything.  What is left are rings of objects that hold
 * each other (the inner nodes of doubly linked lists).  From these a graph is made, and the plain
 * algorithm of the paper must find that no sibling in it dominates another.
 */
#include "analysis/check/check_tree.h"

#include "base/big.h"
#include "base/bisect.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdlib.h>

struct pair {
	uint32_t from, to;
};

struct siblings {
	const struct tree *t;
	struct bits known;   /* by id: no sibling dominates it */
	uint32_t *holder;    /* by id: a known sibling that it is below + 1; 0: none */
	uint32_t *list;      /* newly known */
	size_t n_list, cap_list;
	struct pair *pair;   /* an unknown sibling leads to another */
	size_t n_pairs, cap_pairs;
	uint32_t n_direct, n_double;
	int code;            /* ERR_NOMEM once a list could not grow, with *err */
	struct err *err;
};

static void direct(void *context, uint32_t from, uint32_t to)
{
	struct siblings *s = context;
	uint32_t parent = s->t->r->dominators.immediate[to];
	if (from != (parent == DOMINATED_BY_ROOTS ? HEAP_NONE : parent) || bits_get(&s->known, to))
		return;
	bits_set(&s->known, to);
	s->n_direct++;
}

/* The child of an object that has another one below it; children are in the order of numbers. */
static uint32_t child_above(const struct tree *t, uint32_t parent, uint32_t below)
{
	uint32_t n, low = 0;
	const uint32_t *child = retained_children(t->r,
	    parent == DOMINATED_BY_ROOTS ? HEAP_NONE : parent, &n);
	while (low + 1 < n) {
		uint32_t middle = low + (n - low) / 2;
		if (t->span[child[middle]].from <= t->span[below].from)
			low = middle;
		else
			n = middle;
	}
	return child[low];
}

/* A known sibling leads to an object: the second one settles it. */
static void held_by(struct siblings *s, uint32_t known, uint32_t to)
{
	if (bits_get(&s->known, to))
		return;
	if (!s->holder[to])
		s->holder[to] = known + 1;
	if (s->holder[to] == known + 1)
		return;
	bits_set(&s->known, to);
	s->n_double++;
	uint32_t *at = BIG_PUSH(s->list, s->n_list, s->cap_list, s->err);
	if (at)
		*at = to;
	else
		s->code = ERR_NOMEM;
}

static void lead_to(struct siblings *s, uint32_t from, uint32_t to)
{
	struct pair *at = BIG_PUSH(s->pair, s->n_pairs, s->cap_pairs, s->err);
	if (at)
		*at = (struct pair){from, to};
	else
		s->code = ERR_NOMEM;
}

static void from_beside(void *context, uint32_t from, uint32_t to)
{
	struct siblings *s = context;
	if (s->code || bits_get(&s->known, to) || from == HEAP_NONE || tree_holds(s->t, to, from))
		return;
	uint32_t above = child_above(s->t, s->t->r->dominators.immediate[to], from);
	if (bits_get(&s->known, above))
		held_by(s, above, to);
	else
		lead_to(s, above, to);
}

static int by_from(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	return a->from != b->from ? (a->from > b->from) - (a->from < b->from)
	                          : (a->to > b->to) - (a->to < b->to);
}

static size_t first_pair(const struct siblings *s, uint32_t from)
{
	size_t at;
	BISECT(at, s->n_pairs, s->pair[at].from < from);
	return at;
}

/* Of what is told about pairs: two sortings, a walk, another sorting, two rounds. */
enum { STAGES = 6, LOOK_EVERY = 1 << 12 };

/* What is newly known leads to others. */
static void spread(struct siblings *s)
{
	uint64_t rounds = 0;
	s->code = sort(s->pair, s->n_pairs, sizeof *s->pair, by_from, s->err);
	progress_add(s->t->progress, s->n_pairs);
	while (!s->code && s->n_list > 0 && !progress_stops(s->t->progress, 8 * rounds++)) {
		uint32_t known = s->list[--s->n_list];
		for (size_t i = first_pair(s, known); i < s->n_pairs && s->pair[i].from == known; i++)
			held_by(s, known, s->pair[i].to);
	}
}

/* --- what is left --------------------------------------------------------------------------------- */

/* A small graph: 0 leads to all known ones, these and the unknown ones to unknown ones. */
struct rest {
	struct pair *edge;    /* by from; then by to */
	size_t n_edges;
	uint32_t *node;       /* by number from 1: the id, ascending */
	uint32_t n;
	uint32_t *order, *place, *parent; /* in the order of a depth-first walk, and back */
	struct progress *progress;
	size_t stage;                     /* what a part of the work counts as */
	uint32_t *semi, *label, *ancestor, *bucket, *next, *dominator, *stack;
};

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static uint32_t node_of(const struct rest *g, uint32_t id)
{
	const uint32_t *found = find_sorted(&id, g->node + 1, g->n, sizeof *g->node, by_id);
	return (uint32_t)(found - g->node);
}

/* How many nodes and edges there are at most. */
static void count_rest(const struct siblings *s, uint64_t *nodes, uint64_t *edges)
{
	*nodes = 1;
	*edges = 0;
	for (uint32_t id = 0; id < s->t->h->n_objects && !progress_stops(s->t->progress, id); id++) {
		if (!s->t->span[id].from || bits_get(&s->known, id))
			continue;
		*nodes += s->holder[id] ? 2 : 1;
		*edges += s->holder[id] ? 2 : 0;
	}
	for (size_t i = 0; i < s->n_pairs && !progress_stops(s->t->progress, i); i++)
		*edges += !bits_get(&s->known, s->pair[i].from) && !bits_get(&s->known, s->pair[i].to);
}

/* Its edges, first with ids; then with numbers. */
static int collect(struct rest *g, const struct siblings *s, struct err *err)
{
	uint64_t most_nodes, most_edges;
	size_t n = 0;
	count_rest(s, &most_nodes, &most_edges);
	if (progress_check(g->progress, err))
		return ERR_CANCELLED; /* they are not all counted */
	g->node = big_alloc(most_nodes, sizeof *g->node, err);
	g->edge = big_alloc(most_edges, sizeof *g->edge, err);
	if (!g->node || !g->edge)
		return ERR_NOMEM;
	g->node[n++] = HEAP_NONE;
	for (uint32_t id = 0; id < s->t->h->n_objects && !progress_stops(g->progress, id); id++) {
		if (!s->t->span[id].from || bits_get(&s->known, id))
			continue;
		g->node[n++] = id;
		if (!s->holder[id])
			continue;
		g->node[n++] = s->holder[id] - 1;
		g->edge[g->n_edges++] = (struct pair){HEAP_NONE, s->holder[id] - 1};
		g->edge[g->n_edges++] = (struct pair){s->holder[id] - 1, id};
	}
	for (size_t i = 0; i < s->n_pairs && !progress_stops(g->progress, i); i++)
		if (!bits_get(&s->known, s->pair[i].from) && !bits_get(&s->known, s->pair[i].to))
			g->edge[g->n_edges++] = s->pair[i];
	int code = sort(g->node + 1, n - 1, sizeof *g->node, by_id, err);
	for (size_t i = 1; i < n && !progress_stops(g->progress, i); i++)
		if (g->n == 0 || g->node[g->n] != g->node[i])
			g->node[++g->n] = g->node[i];
	if (!code) /* node_of wants to find them all */
		code = progress_check(g->progress, err);
	for (size_t i = 0; !code && i < g->n_edges; i++) {
		struct pair *e = &g->edge[i];
		if (progress_stops(g->progress, 8 * i))
			code = err_cancelled(err);
		*e = (struct pair){e->from == HEAP_NONE ? 0 : node_of(g, e->from), node_of(g, e->to)};
	}
	return code ? code : sort(g->edge, g->n_edges, sizeof *g->edge, by_from, err);
}

/* By number, where its edges begin; NULL: ERR_NOMEM. */
static size_t *starts(const struct rest *g, bool back, struct err *err)
{
	size_t *start = big_alloc((uint64_t)g->n + 2, sizeof *start, err);
	if (!start)
		return NULL;
	for (size_t i = 0; i < g->n_edges && !progress_stops(g->progress, i); i++)
		start[(back ? g->edge[i].to : g->edge[i].from) + 1]++;
	for (uint32_t v = 0; v <= g->n && !progress_stops(g->progress, v); v++)
		start[v + 1] += start[v];
	return start;
}

/* Depth first from 0; *met: how many it met, itself included. */
static int walk_rest(struct rest *g, uint32_t *met, struct err *err)
{
	size_t *start = starts(g, false, err), *at = big_alloc((uint64_t)g->n + 1, sizeof *at, err);
	uint32_t n = 1;
	int code = start && at ? 0 : ERR_NOMEM;
	if (!code) /* without whole starts there is no way */
		code = progress_check(g->progress, err);
	for (uint32_t v = 0; !code && v <= g->n; v++)
		at[v] = start[v];
	uint64_t rounds = 0;
	for (uint32_t v = 0; !code;) {
		if (progress_stops(g->progress, rounds++))
			code = err_cancelled(err);
		if (at[v] < start[v + 1]) {
			uint32_t to = g->edge[at[v]++].to;
			if (!to || g->place[to])
				continue;
			g->place[to] = n;
			g->parent[n] = g->place[v];
			g->order[n++] = to;
			v = to;
		} else if (v == 0) {
			break;
		} else {
			v = g->order[g->parent[g->place[v]]];
		}
	}
	big_free(start);
	big_free(at);
	*met = n;
	return code;
}

static int by_to(const void *x, const void *y)
{
	uint32_t a = ((const struct pair *)x)->to, b = ((const struct pair *)y)->to;
	return (a > b) - (a < b);
}

#define UNLINKED UINT32_MAX

static uint32_t eval(struct rest *g, uint32_t v)
{
	uint32_t n = 0, at = v;
	if (g->ancestor[v] == UNLINKED)
		return v;
	for (; g->ancestor[g->ancestor[at]] != UNLINKED; at = g->ancestor[at])
		g->stack[n++] = at;
	while (n-- > 0) {
		uint32_t u = g->stack[n], up = g->ancestor[u];
		if (g->semi[g->label[up]] < g->semi[g->label[u]])
			g->label[u] = g->label[up];
		g->ancestor[u] = g->ancestor[up];
	}
	return g->label[v];
}

/* Lengauer and Tarjan's simple algorithm, as in their paper, on places.  *bad: the first object that
 * something else than 0 dominates, or HEAP_NONE. */
static int find_dominated(struct rest *g, uint32_t n, uint32_t *bad, struct err *err)
{
	int code = sort(g->edge, g->n_edges, sizeof *g->edge, by_to, err);
	size_t *start = code ? NULL : starts(g, true, err);
	if (!start)
		return code ? code : ERR_NOMEM;
	if (!progress_add(g->progress, g->stage)) {
		big_free(start);
		return err_cancelled(err);
	}
	for (uint32_t v = 0; v < n; v++) {
		g->semi[v] = g->label[v] = v;
		g->ancestor[v] = UNLINKED;
	}
	for (uint32_t w = n - 1; w > 0; w--) {
		if (w % LOOK_EVERY == 0 &&
		    !progress_add(g->progress, 2 * g->stage / (n / LOOK_EVERY + 1)))
			break; /* stopped: nobody asks for the answer */
		for (size_t k = start[g->order[w]]; k < start[g->order[w] + 1]; k++) {
			uint32_t u = eval(g, g->place[g->edge[k].from]);
			if (g->semi[u] < g->semi[w])
				g->semi[w] = g->semi[u];
		}
		g->next[w] = g->bucket[g->semi[w]];
		g->bucket[g->semi[w]] = w;
		uint32_t p = g->ancestor[w] = g->parent[w];
		for (uint32_t v = g->bucket[p]; v; v = g->next[v]) {
			uint32_t u = eval(g, v);
			g->dominator[v] = g->semi[u] < g->semi[v] ? u : p;
		}
		g->bucket[p] = 0;
	}
	big_free(start);
	*bad = HEAP_NONE;
	if ((code = progress_check(g->progress, err)))
		return code;
	for (uint32_t w = 1; w < n && *bad == HEAP_NONE; w++) {
		if (g->dominator[w] != g->semi[w])
			g->dominator[w] = g->dominator[g->dominator[w]];
		if (g->dominator[w])
			*bad = g->node[g->order[w]];
	}
	return 0;
}

/* *bad: the first object that a sibling dominates, or HEAP_NONE. */
static int look_at_rest(const struct siblings *s, uint32_t *bad, struct err *err)
{
	struct rest g = {.edge = NULL};
	g.progress = s->t->progress;
	g.stage = s->n_pairs;
	int code = collect(&g, s, err);
	progress_add(g.progress, g.stage);
	uint32_t **arrays[] = {&g.order, &g.place, &g.parent, &g.semi, &g.label, &g.ancestor, &g.bucket,
	    &g.next, &g.dominator, &g.stack};
	size_t n_arrays = sizeof arrays / sizeof *arrays;
	for (size_t i = 0; !code && i < n_arrays; i++)
		if (!(*arrays[i] = big_alloc((uint64_t)g.n + 2, sizeof **arrays[i], err)))
			code = ERR_NOMEM;
	uint32_t met = 0;
	*bad = HEAP_NONE;
	if (!code)
		code = walk_rest(&g, &met, err);
	for (uint32_t v = 1; !code && v <= g.n && !progress_stops(g.progress, v) && *bad == HEAP_NONE; v++)
		if (!g.place[v])
			*bad = g.node[v]; /* only through a sibling that is no longer in question */
	progress_add(g.progress, g.stage);
	if (!code && *bad == HEAP_NONE && !progress_cancelled(g.progress))
		code = find_dominated(&g, met, bad, err);
	for (size_t i = 0; i < n_arrays; i++)
		big_free(*arrays[i]);
	big_free(g.edge);
	big_free(g.node);
	return code;
}

int check_siblings(struct checks *to, const struct tree *t, struct err *err)
{
	const char *name = "no sibling dominates another";
	struct siblings s = {.t = t, .err = err};
	uint32_t n_objects = t->h->n_objects, bad = HEAP_NONE;
	int code = bits_init(&s.known, n_objects, err);
	s.holder = big_alloc(n_objects, sizeof *s.holder, err);
	if (!code && s.holder) {
		progress_phase(t->progress, PHASE_CHECK_SIBLINGS, 2 * (uint64_t)n_objects);
		tree_edges(t, direct, &s);
		tree_edges(t, from_beside, &s);
		code = s.code ? s.code : progress_check(t->progress, err);
	} else {
		code = ERR_NOMEM;
	}
	if (!code) {
		progress_phase(t->progress, PHASE_CHECK_CYCLES, STAGES * (uint64_t)s.n_pairs);
		spread(&s);
		uint32_t left = t->n - s.n_direct - s.n_double;
		code = s.code;
		if (!code && left && !progress_cancelled(t->progress))
			code = look_at_rest(&s, &bad, err);
		if (!code)
			code = progress_check(t->progress, err);
		if (code)
			;
		else if (bad == HEAP_NONE)
			checks_add(to, name, CHECK_OK, "%" PRIu32 " objects are held by their parents, %" PRIu32
			    " by two siblings' subtrees, %" PRIu32 " are in rings of their own", s.n_direct,
			    s.n_double, left);
		else
			checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " hangs too high: something beside it "
			    "dominates it", heap_address(t->h, bad));
	}
	bits_release(&s.known);
	big_free(s.holder);
	big_free(s.list);
	big_free(s.pair);
	return code;
}
