/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_siblings.c - checks that no object of a dominator tree dominates a sibling.
 *
 * Parents dominate their children: check_tree.c has shown that.  Here Lengauer and Tarjan's simple algorithm, as in
 * their paper, finds all immediate dominators anew: where one of them is another object than the parent, that is
 * nearer, and so a sibling or below one.  Nodes are ids + 1; node 0 leads to all roots.
 */
#include "analysis/check/check_tree.h"

#include "heap/heap.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

enum { LOOK_EVERY = 1 << 9 };
#define UNLINKED UINT32_MAX

/* Of node v the other ends of its references are end[start[v]] … end[start[v + 1] - 1]. */
struct ends {
	uint64_t *start, n;
	uint32_t *end;
	bool back; /* references that lead to v; else those from v */
};

/* What is found, by the place of a node in a depth-first walk, from 0 on; `place` and `at` are by node. */
struct search {
	const struct tree *t;
	struct progress *progress;
	uint32_t n;         /* nodes that were met */
	uint32_t *order, *place, *parent, *semi, *label, *ancestor, *bucket, *next, *dominator, *stack;
	uint64_t *at;       /* the next reference to follow */
};

static void take_edge(void *context, uint32_t from, uint32_t to)
{
	struct ends *e = context;
	uint32_t by = (e->back ? to : from) + 1, other = (e->back ? from : to) + 1;
	if (e->end)
		e->end[e->start[by + UINT64_C(1)]++] = other;
	else
		e->start[by + UINT64_C(2)]++;
	e->n++;
}

static void ends_release(struct ends *e)
{
	big_free(e->start);
	big_free(e->end);
}

/* First counted, then filled.  0: the caller's (ends_release), as after an error. */
static int ends_find(struct ends *out, const struct search *s, bool back, struct err *err)
{
	uint32_t n = s->t->h->n_objects;
	*out = (struct ends){.start = big_alloc(n + UINT64_C(3), sizeof *out->start, err), .back = back};
	if (!out->start)
		return ERR_NOMEM;
	for (unsigned part = 0; part < tree_parts(s->t); part++)
		tree_edges(s->t, part, take_edge, out);
	for (uint64_t v = 0; v <= n && !progress_stops(s->progress, v); v++)
		out->start[v + 1] += out->start[v];
	if (!(out->end = big_alloc(out->n, sizeof *out->end, err)))
		return ERR_NOMEM;
	int code = progress_check(s->progress, err);
	for (unsigned part = 0; !code && part < tree_parts(s->t); part++)
		tree_edges(s->t, part, take_edge, out);
	return code ? code : progress_check(s->progress, err);
}

/* Depth first from node 0. */
static int walk(struct search *s, struct err *err)
{
	struct ends leads;
	uint64_t rounds = 0;
	int code = ends_find(&leads, s, false, err);
	if (!code)
		memcpy(s->at, leads.start, (s->t->h->n_objects + UINT64_C(1)) * sizeof *s->at);
	s->n = 1;
	for (uint32_t v = 0; !code;) {
		if (progress_stops(s->progress, rounds++))
			code = err_cancelled(err);
		if (s->at[v] < leads.start[v + UINT64_C(1)]) {
			uint32_t to = leads.end[s->at[v]++];
			if (!to || s->place[to])
				continue;
			s->place[to] = s->n;
			s->parent[s->n] = s->place[v];
			s->order[s->n++] = to;
			v = to;
		} else if (!v) {
			break;
		} else {
			v = s->order[s->parent[s->place[v]]];
		}
	}
	ends_release(&leads);
	return code;
}

static uint32_t eval(struct search *s, uint32_t v)
{
	uint32_t n = 0, at = v;
	if (s->ancestor[v] == UNLINKED)
		return v;
	for (; s->ancestor[s->ancestor[at]] != UNLINKED; at = s->ancestor[at])
		s->stack[n++] = at;
	while (n-- > 0) {
		uint32_t u = s->stack[n], up = s->ancestor[u];
		if (s->semi[s->label[up]] < s->semi[s->label[u]])
			s->label[u] = s->label[up];
		s->ancestor[u] = s->ancestor[up];
	}
	return s->label[v];
}

static int find_dominators(struct search *s, struct err *err)
{
	struct ends back;
	int code = ends_find(&back, s, true, err);
	for (uint32_t v = 0; v < s->n; v++) {
		s->semi[v] = s->label[v] = v;
		s->ancestor[v] = UNLINKED;
	}
	for (uint32_t w = s->n - 1; !code && w > 0; w--) {
		if (w % LOOK_EVERY == 0 && !progress_add(s->progress, LOOK_EVERY))
			code = err_cancelled(err);
		for (uint64_t k = back.start[s->order[w]]; k < back.start[s->order[w] + UINT64_C(1)]; k++) {
			uint32_t u = eval(s, s->place[back.end[k]]);
			if (!code && k % LOOK_EVERY == 0)
				code = progress_check(s->progress, err);
			if (s->semi[u] < s->semi[w])
				s->semi[w] = s->semi[u];
		}
		s->next[w] = s->bucket[s->semi[w]];
		s->bucket[s->semi[w]] = w;
		uint32_t p = s->ancestor[w] = s->parent[w];
		for (uint32_t v = s->bucket[p]; v; v = s->next[v]) {
			uint32_t u = eval(s, v);
			s->dominator[v] = s->semi[u] < s->semi[v] ? u : p;
		}
		s->bucket[p] = 0;
	}
	ends_release(&back);
	if (!code)
		code = progress_check(s->progress, err);
	for (uint32_t w = 1; !code && w < s->n; w++)
		if (s->dominator[w] != s->semi[w])
			s->dominator[w] = s->dominator[s->dominator[w]];
	return code;
}

/* The first object that something nearer than its parent dominates, or that no reference leads to; HEAP_NONE. */
static uint32_t first_bad(const struct search *s)
{
	const struct tree *t = s->t;
	for (uint32_t id = 0; id < t->h->n_objects && !progress_stops(s->progress, id); id++) {
		uint32_t place = s->place[id + UINT64_C(1)], found = s->order[s->dominator[place]];
		if (t->span[id].from && (!place ||
		    t->r->dominators.immediate[id] != (found ? found - 1 : DOMINATED_BY_ROOTS)))
			return id;
	}
	return HEAP_NONE;
}

int check_siblings(struct checks *to, const struct tree *t, struct err *err)
{
	const char *name = "no sibling dominates another";
	struct search s = {.t = t, .progress = t->progress};
	uint64_t nodes = t->h->n_objects + UINT64_C(1);
	uint32_t **arrays[] = {&s.order, &s.place, &s.parent, &s.semi, &s.label, &s.ancestor, &s.bucket, &s.next,
	    &s.dominator, &s.stack};
	size_t n_arrays = sizeof arrays / sizeof *arrays;
	s.at = big_alloc(nodes, sizeof *s.at, err);
	int code = s.at ? 0 : ERR_NOMEM;
	for (size_t i = 0; !code && i < n_arrays; i++)
		if (!(*arrays[i] = big_alloc(nodes, sizeof **arrays[i], err)))
			code = ERR_NOMEM;
	progress_phase(t->progress, PHASE_CHECK_SIBLINGS, 5 * (nodes - 1)); /* references four times, then all nodes */
	if (!code)
		code = walk(&s, err);
	big_free(s.at);
	if (!code)
		code = find_dominators(&s, err);
	uint32_t bad = code ? HEAP_NONE : first_bad(&s);
	code = code ? code : progress_check(t->progress, err);
	for (size_t i = 0; i < n_arrays; i++)
		big_free(*arrays[i]);
	if (code)
		return code;
	if (bad == HEAP_NONE)
		checks_add(to, name, CHECK_OK, "a second algorithm finds the parents of all %" PRIu32 " objects", t->n);
	else
		checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " is too high in the tree: a sibling "
		    "dominates it", heap_address(t->h, bad));
	return 0;
}
