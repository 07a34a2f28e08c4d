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

#include "algorithms/parallel.h"
#include "analysis/check/check.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	uint32_t from, to;
};

struct siblings {
	const struct tree *t;
	struct bits known;   /* by id: no sibling dominates it */
	struct bits unknown; /* by id: those that not even their parents settle; sealed */
	uint32_t *holder;    /* by id: a known sibling that it is below + 1; 0: none */
	uint32_t *list;      /* newly known */
	size_t n_list, cap_list;
	struct pair *pair;   /* an unknown sibling leads to another */
	size_t n_pairs;
	struct found_part *part;
	uint32_t n_direct, n_double;
};

/* What one task found. */
struct found_part {
	struct siblings *s;
	uint32_t *list;
	size_t n_list, cap_list;
	struct pair *pair;
	size_t n_pairs, cap_pairs;
	int code;            /* ERR_NOMEM once a list could not grow, with *err */
	struct err *err;
};

/* The child of an object that has another one below it; children are in the order of numbers.  Most often it is
 * a few steps up. */
static uint32_t child_above(const struct tree *t, uint32_t parent, uint32_t below)
{
	uint32_t n, low = 0, at = below;
	for (int steps = 0; steps < 4 && at < t->h->n_objects; steps++) {
		uint32_t up = t->r->dominators.immediate[at];
		if (up == parent)
			return at;
		at = up;
	}
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

/* A known sibling leads to an object: the second one settles it.  Which of several comes first does not
 * matter: two make it known, and else there is but one. */
static void held_by(struct found_part *p, uint32_t known, uint32_t to)
{
	uint32_t none = 0, *holder = &p->s->holder[to];
	if (tree_marked(&p->s->known, to))
		return;
	if (__atomic_compare_exchange_n(holder, &none, known + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
	    none == known + 1 || !tree_mark(&p->s->known, to))
		return;
	uint32_t *at = BIG_PUSH(p->list, p->n_list, p->cap_list, p->err);
	if (at)
		*at = to;
	else
		p->code = ERR_NOMEM;
}

static void lead_to(struct found_part *p, uint32_t from, uint32_t to)
{
	struct pair *at = BIG_PUSH(p->pair, p->n_pairs, p->cap_pairs, p->err);
	if (at)
		*at = (struct pair){from, to};
	else
		p->code = ERR_NOMEM;
}

static void from_beside(void *context, uint32_t from, uint32_t to)
{
	struct found_part *p = context;
	const struct tree *t = p->s->t;
	if (p->code || tree_marked(&p->s->known, to) || from == HEAP_NONE || tree_holds(t, to, from))
		return;
	uint32_t above = child_above(t, t->r->dominators.immediate[to], from);
	if (tree_marked(&p->s->known, above))
		held_by(p, above, to);
	else
		lead_to(p, above, to);
}

static int beside_of_part(void *context, unsigned part, struct err *err)
{
	struct siblings *s = context;
	s->part[part].err = err;
	tree_edges(s->t, part, from_beside, &s->part[part]);
	return s->part[part].code;
}

/* What is not known after the first look. */
static int find_unknown(struct siblings *s, struct err *err)
{
	int code = bits_init(&s->unknown, s->known.n, err);
	for (uint32_t id = 0; !code && id < s->t->h->n_objects; id++) {
		if (progress_stops(s->t->progress, id))
			code = err_cancelled(err);
		if (!s->t->span[id].from)
			continue;
		if (bits_get(&s->t->direct, id)) {
			bits_set(&s->known, id);
			s->n_direct++;
		} else {
			bits_set(&s->unknown, id);
		}
	}
	return code ? code : bits_seal(&s->unknown, err);
}

/* What the parts found, one behind the other. */
static int join_parts(struct siblings *s, unsigned parts, struct err *err)
{
	for (unsigned i = 0; i < parts; i++) {
		s->n_list += s->part[i].n_list;
		s->n_pairs += s->part[i].n_pairs;
	}
	s->cap_list = s->n_list;
	s->list = big_alloc(s->n_list, sizeof *s->list, err);
	s->pair = big_alloc(s->n_pairs, sizeof *s->pair, err);
	if (!s->list || !s->pair)
		return ERR_NOMEM;
	size_t list = 0, pair = 0;
	for (unsigned i = 0; i < parts; i++) {
		struct found_part *p = &s->part[i];
		if (p->n_list)
			memcpy(s->list + list, p->list, p->n_list * sizeof *s->list);
		if (p->n_pairs)
			memcpy(s->pair + pair, p->pair, p->n_pairs * sizeof *s->pair);
		list += p->n_list;
		pair += p->n_pairs;
		big_free(p->pair);
		p->pair = NULL;
	}
	s->n_double = (uint32_t)s->n_list;
	return 0;
}

/* --- pairs by one of their ends ------------------------------------------------------------------- */

/* Of v the other ends are end[start[v]] … end[start[v + 1] - 1]. */
struct ends {
	size_t *start;
	uint32_t *end;
};

static void ends_release(struct ends *e)
{
	big_free(e->start);
	big_free(e->end);
}

/* For n numbers.  back: by `to`.  numbers: a pair's `from` is counted as its rank there; NULL: as it is. */
static int ends_find(struct ends *out, const struct pair *pair, size_t n_pairs, uint32_t n, bool back,
    const struct bits *numbers, struct progress *progress, struct err *err)
{
	*out = (struct ends){big_alloc((uint64_t)n + 2, sizeof *out->start, err),
	    big_alloc(n_pairs, sizeof *out->end, err)};
	if (!out->start || !out->end)
		return ERR_NOMEM;
	for (int place = 0; place < 2; place++) {
		for (size_t i = 0; i < n_pairs; i++) {
			if (progress_stops(progress, i))
				return err_cancelled(err);
			uint32_t by = back ? pair[i].to : numbers ? bits_rank(numbers, pair[i].from) : pair[i].from;
			if (!place)
				out->start[by + 2]++;
			else
				out->end[out->start[by + 1]++] = back ? pair[i].from : pair[i].to;
		}
		for (uint32_t v = 0; !place && v < n; v++) {
			if (progress_stops(progress, v))
				return err_cancelled(err);
			out->start[v + 1] += out->start[v];
		}
	}
	return 0;
}

/* Of what is reported about pairs: a sorting, a walk, two more sortings, two rounds. */
enum { STAGES = 6, LOOK_EVERY = 1 << 12 };

/* What is newly known leads to others. */
static int spread(struct siblings *s, uint32_t n_unknown, struct err *err)
{
	struct ends leads;
	struct found_part all = {.s = s, .list = s->list, .n_list = s->n_list, .cap_list = s->cap_list, .err = err};
	uint64_t rounds = 0;
	int code = ends_find(&leads, s->pair, s->n_pairs, n_unknown, false, &s->unknown, s->t->progress, err);
	progress_add(s->t->progress, s->n_pairs);
	while (!code && all.n_list > 0 && !progress_stops(s->t->progress, 8 * rounds++)) {
		uint32_t known = all.list[--all.n_list], number = bits_rank(&s->unknown, known);
		size_t before = all.n_list;
		for (size_t i = leads.start[number]; i < leads.start[number + 1]; i++)
			held_by(&all, known, leads.end[i]);
		s->n_double += (uint32_t)(all.n_list - before);
		code = all.code;
	}
	s->list = all.list;
	ends_release(&leads);
	return code;
}

/* --- what is left --------------------------------------------------------------------------------- */

/* A small graph: 0 leads to all known ones, these and the unknown ones to unknown ones. */
struct rest {
	struct pair *edge;
	size_t n_edges;
	struct bits node;     /* by id: it has a number, from 1 on in the order of ids; sealed */
	uint32_t n;
	uint32_t *order, *place, *parent; /* in the order of a depth-first walk, and back */
	struct progress *progress;
	size_t stage;                     /* what a part of the work counts as */
	uint32_t *semi, *label, *ancestor, *bucket, *next, *dominator, *stack;
};

static uint32_t node_of(const struct rest *g, uint32_t id)
{
	return bits_rank(&g->node, id) + 1;
}

static uint32_t id_of(const struct rest *g, uint32_t node)
{
	struct bits_walk walk = bits_walk(&g->node);
	uint64_t id = HEAP_NONE;
	while (node && bits_next(&walk, &id))
		node--;
	return (uint32_t)id;
}

/* The next object that is still not known, from *id on. */
static bool next_left(const struct siblings *s, struct bits_walk *walk, uint32_t *id)
{
	uint64_t at;
	while (bits_next(walk, &at)) {
		*id = (uint32_t)at;
		if (!bits_get(&s->known, at))
			return true;
	}
	return false;
}

static bool both_left(const struct siblings *s, const struct pair *p)
{
	return !bits_get(&s->known, p->from) && !bits_get(&s->known, p->to);
}

/* Its nodes; *edges: how many edges there are. */
static int collect_nodes(struct rest *g, const struct siblings *s, uint64_t *edges, struct err *err)
{
	struct bits_walk left = bits_walk(&s->unknown);
	uint64_t rounds = 0;
	uint32_t id;
	int code = bits_init(&g->node, s->known.n, err);
	*edges = 0;
	while (!code && next_left(s, &left, &id)) {
		if (progress_stops(g->progress, rounds++))
			code = err_cancelled(err);
		bits_set(&g->node, id);
		if (!s->holder[id])
			continue;
		bits_set(&g->node, s->holder[id] - 1);
		*edges += 2;
	}
	for (size_t i = 0; !code && i < s->n_pairs; i++) {
		if (progress_stops(g->progress, i))
			code = err_cancelled(err);
		*edges += both_left(s, &s->pair[i]);
	}
	if (!code)
		code = bits_seal(&g->node, err);
	struct bits_walk all = bits_walk(&g->node);
	for (uint64_t w = 0; !code && w < (g->node.n + 63) / 64; w++)
		g->n += bits_ones(all.b->word[w]);
	return code;
}

static int collect(struct rest *g, const struct siblings *s, struct err *err)
{
	uint64_t edges, rounds = 0;
	uint32_t id;
	int code = collect_nodes(g, s, &edges, err);
	if (code)
		return code;
	g->edge = big_alloc(edges, sizeof *g->edge, err);
	if (!g->edge)
		return ERR_NOMEM;
	struct bits_walk left = bits_walk(&s->unknown);
	while (!code && next_left(s, &left, &id)) {
		if (progress_stops(g->progress, rounds++))
			code = err_cancelled(err);
		if (!s->holder[id])
			continue;
		uint32_t holder = node_of(g, s->holder[id] - 1);
		g->edge[g->n_edges++] = (struct pair){0, holder};
		g->edge[g->n_edges++] = (struct pair){holder, node_of(g, id)};
	}
	for (size_t i = 0; !code && i < s->n_pairs; i++) {
		if (progress_stops(g->progress, i))
			code = err_cancelled(err);
		if (both_left(s, &s->pair[i]))
			g->edge[g->n_edges++] = (struct pair){node_of(g, s->pair[i].from), node_of(g, s->pair[i].to)};
	}
	return code;
}

/* Depth first from 0; *met: how many it met, itself included. */
static int walk_rest(struct rest *g, uint32_t *met, struct err *err)
{
	struct ends leads;
	size_t *at = big_alloc((uint64_t)g->n + 1, sizeof *at, err);
	uint32_t n = 1;
	int code = ends_find(&leads, g->edge, g->n_edges, g->n + 1, false, NULL, g->progress, err);
	if (!at)
		code = ERR_NOMEM;
	if (!code)
		memcpy(at, leads.start, ((size_t)g->n + 1) * sizeof *at);
	uint64_t rounds = 0;
	for (uint32_t v = 0; !code;) {
		if (progress_stops(g->progress, rounds++))
			code = err_cancelled(err);
		if (at[v] < leads.start[v + 1]) {
			uint32_t to = leads.end[at[v]++];
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
	ends_release(&leads);
	big_free(at);
	*met = n;
	return code;
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
	struct ends back;
	int code = ends_find(&back, g->edge, g->n_edges, g->n + 1, true, NULL, g->progress, err);
	if (!code && !progress_add(g->progress, g->stage))
		code = err_cancelled(err);
	if (code) {
		ends_release(&back);
		return code;
	}
	for (uint32_t v = 0; v < n; v++) {
		g->semi[v] = g->label[v] = v;
		g->ancestor[v] = UNLINKED;
	}
	for (uint32_t w = n - 1; w > 0; w--) {
		if (w % LOOK_EVERY == 0 &&
		    !progress_add(g->progress, 2 * g->stage / (n / LOOK_EVERY + 1)))
			break; /* stopped: nobody asks for the answer */
		for (size_t k = back.start[g->order[w]]; k < back.start[g->order[w] + 1]; k++) {
			uint32_t u = eval(g, g->place[back.end[k]]);
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
	ends_release(&back);
	*bad = HEAP_NONE;
	if ((code = progress_check(g->progress, err)))
		return code;
	for (uint32_t w = 1; w < n && *bad == HEAP_NONE; w++) {
		if (g->dominator[w] != g->semi[w])
			g->dominator[w] = g->dominator[g->dominator[w]];
		if (g->dominator[w])
			*bad = id_of(g, g->order[w]);
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
			*bad = id_of(&g, v); /* only through a sibling that is no longer in question */
	progress_add(g.progress, g.stage);
	if (!code && *bad == HEAP_NONE && !progress_cancelled(g.progress))
		code = find_dominated(&g, met, bad, err);
	for (size_t i = 0; i < n_arrays; i++)
		big_free(*arrays[i]);
	big_free(g.edge);
	bits_release(&g.node);
	return code;
}

/* Settle what two looks at all references and a list settle; *left: how many objects are not settled. */
static int settle(struct siblings *s, uint32_t *left, struct err *err)
{
	const struct tree *t = s->t;
	unsigned parts = tree_parts(t);
	progress_phase(t->progress, PHASE_CHECK_SIBLINGS, t->h->n_objects);
	for (unsigned i = 0; i < parts; i++)
		s->part[i].s = s;
	int code = find_unknown(s, err);
	if (!code)
		code = parallel_run(0, parts, beside_of_part, s, err);
	if (!code)
		code = progress_check(t->progress, err);
	if (!code)
		code = join_parts(s, parts, err);
	if (code)
		return code;
	progress_phase(t->progress, PHASE_CHECK_CYCLES, STAGES * (uint64_t)s->n_pairs);
	code = spread(s, t->n - s->n_direct, err);
	*left = t->n - s->n_direct - s->n_double;
	return code ? code : progress_check(t->progress, err);
}

static void release(struct siblings *s)
{
	for (unsigned i = 0; s->part && i < tree_parts(s->t); i++) {
		big_free(s->part[i].list);
		big_free(s->part[i].pair);
	}
	big_free(s->part);
	bits_release(&s->known);
	bits_release(&s->unknown);
	big_free(s->holder);
	big_free(s->list);
	big_free(s->pair);
}

int check_siblings(struct checks *to, const struct tree *t, struct err *err)
{
	const char *name = "no sibling dominates another";
	struct siblings s = {.t = t};
	uint32_t n_objects = t->h->n_objects, bad = HEAP_NONE, left = 0;
	int code = bits_init(&s.known, n_objects, err);
	s.holder = big_alloc(n_objects, sizeof *s.holder, err);
	s.part = big_alloc(tree_parts(t), sizeof *s.part, err);
	if (!s.holder || !s.part)
		code = ERR_NOMEM;
	if (!code)
		code = settle(&s, &left, err);
	if (!code && left)
		code = look_at_rest(&s, &bad, err);
	if (!code)
		code = progress_check(t->progress, err);
	if (code)
		;
	else if (bad == HEAP_NONE)
		checks_add(to, name, CHECK_OK, "%" PRIu32 " objects are referenced by their parents, %" PRIu32
		    " from two siblings' subtrees, %" PRIu32 " are in cycles", s.n_direct, s.n_double, left);
	else
		checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " is too high in the tree: a sibling "
		    "dominates it", heap_address(t->h, bad));
	release(&s);
	return code;
}
