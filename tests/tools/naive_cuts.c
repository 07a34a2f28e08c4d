/* SPDX-License-Identifier: GPL-3.0-or-later */
/* naive_cuts.c - what references free, compared; see naive.h. */
#include "naive.h"

#include "analysis/what_if/what_if.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t number(struct naive *w, uint32_t below)
{
	w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((w->random >> 33) % below);
}

/* The roots' hold goes as a whole. */
static void take(struct naive *w, uint32_t holder, uint32_t target, bool gone)
{
	for (size_t k = 0; holder == HEAP_NONE && k < w->n; k++)
		if (w->edge[k].to == target && w->edge[k].root)
			w->edge[k].gone = gone;
}

static void differ(struct naive *w, uint32_t holder, uint32_t target, uint64_t freed, uint64_t naive)
{
	if (w->wrong++ >= 5)
		return;
	if (holder == HEAP_NONE)
		printf("roots > ");
	else
		printf("0x%" PRIx64 " > ", heap_address(w->h, holder));
	printf("0x%" PRIx64 " frees %" PRIu64 ", naively %" PRIu64 "\n", heap_address(w->h, target), freed,
	    naive);
}

/* Has a class gone, other than of arrays or of a lambda, or is the target a class or a loader? */
static bool unloads(const struct naive *w, const struct retained *r, uint32_t target)
{
	const struct heap *h = w->h;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		uint32_t id = h->classes[c].object;
		if (id != HEAP_NONE && !w->seen[id] && r->dominators.immediate[id] != NOT_REACHABLE &&
		    h->classes[c].kind == CLASS_PLAIN && !strchr(h->classes[c].name, '/'))
			return true;
	}
	return heap_class_mirrored(h, target) != HEAP_NONE || heap_class_of(h, target)->makes_loaders ||
	    heap_class_index(h, target) == h->java_lang_class;
}

static void compare_one(struct naive *w, struct what_if *c, struct reference *e, uint32_t holder)
{
	e->gone = true;
	take(w, holder, e->to, true);
	uint64_t naive = w->all - naive_kept(w, NULL, 0);
	struct what_if_figure f = what_if_one(c, holder, e->to);
	/* nothing else keeps it exactly when it goes */
	bool dies = w->seen[e->to] == 0 && c->retained->dominators.immediate[e->to] != NOT_REACHABLE;
	if (f.freed.n != naive || (dies && f.others.n) || (!dies && !f.others.n && f.held))
		differ(w, holder, e->to, f.freed.n, naive);
	if (!e->root || holder == HEAP_NONE) {
		e->frees = naive;
		e->unloads = unloads(w, c->retained, e->to);
	}
	e->gone = false;
	take(w, holder, e->to, false);
	w->compared++;
	w->freeing += naive > 0;
}

/* Is one of the roots' holds on this object gone already? */
static bool root_gone(const struct naive *w, uint32_t target)
{
	for (size_t k = 0; k < w->n; k++)
		if (w->edge[k].to == target && w->edge[k].root && w->edge[k].gone)
			return true;
	return false;
}

/* Some references, and every one to some objects.  What a stack holds goes as the thread's or as the
 * roots'. */
static void compare_many(struct naive *w, const struct retained *r)
{
	const struct heap *h = w->h;
	struct what_if_edges edges = { .edge = NULL };
	struct what_if_loss loss;
	uint32_t ids[4], n_ids = number(w, 4), n_edges = number(w, 12);
	for (uint32_t i = 0; i < n_ids; i++) {
		ids[i] = number(w, h->n_objects);
		for (size_t k = 0; k < w->n; k++)
			if (w->edge[k].to == ids[i])
				w->edge[k].gone = true;
	}
	for (uint32_t i = 0; i < n_edges; i++) {
		struct reference *e = &w->edge[number(w, (uint32_t)w->n)];
		uint32_t holder = e->root && number(w, 2) ? HEAP_NONE : e->from;
		if (e->gone || (e->root && holder == HEAP_NONE && root_gone(w, e->to)))
			continue; /* by itself: each reference is taken once */
		e->gone = true;
		take(w, holder, e->to, true);
		if (what_if_edges_add(&edges, holder, e->to, NULL))
			w->wrong++;
	}
	uint64_t naive = w->all - naive_kept(w, NULL, 0);
	if (what_if_find(&loss, w->m, &edges, ids, n_ids, NULL, NULL)) {
		w->wrong++;
	} else {
		if (loss.bytes.n != naive)
			differ(w, edges.n ? edges.edge[0].holder : 0, n_ids ? ids[0] : 0, loss.bytes.n, naive);
		for (uint32_t id = 0; id < h->n_objects; id++)
			w->wrong += bits_get(&loss.dead, id) !=
			    (!w->seen[id] && r->dominators.immediate[id] != NOT_REACHABLE);
		what_if_loss_release(&loss);
	}
	what_if_edges_release(&edges);
	for (size_t k = 0; k < w->n; k++)
		w->edge[k].gone = false;
	w->compared++;
	w->freeing += naive > 0;
}

/* Each must be one that can be cleared; an earlier item of the plan may have it already. */
static void take_edges(struct naive *w, const struct what_if_edges *edges)
{
	for (size_t i = 0; i < edges->n; i++) {
		const struct what_if_edge *e = &edges->edge[i];
		bool there = e->holder == HEAP_NONE;
		take(w, e->holder, e->target, true);
		for (size_t k = 0; k < w->n; k++) {
			struct reference *of = &w->edge[k];
			if (of->from != e->holder || of->to != e->target || of->fixed)
				continue;
			there = true;
			if (of->gone)
				continue;
			of->gone = true;
			break;
		}
		if (there)
			continue;
		w->wrong++;
		printf("0x%" PRIx64 " > 0x%" PRIx64 " is no reference that can be cleared\n",
		    heap_address(w->h, e->holder), heap_address(w->h, e->target));
	}
}

static void give_back(struct naive *w)
{
	for (size_t k = 0; k < w->n; k++)
		w->edge[k].gone = false;
}

static bool of_jdk(const char *name)
{
	return !strncmp(name, "java.", 5) || !strncmp(name, "sun.", 4);
}

static bool is_own(const char *name)
{
	bool plain = strstr("boolean[]byte[]char[]short[]int[]long[]float[]double[]", name) ||
	    (strchr(name, '[') && strchr(name, '[')[1] == ']' && strchr(name, '[')[2] == '[' &&
	    !strchr(name, '.'));
	return !of_jdk(name) && !plain;
}

/* Does a class object that is not the program's hold it, with nothing of the program between? */
static bool jdk_holds(const struct retained *r, uint32_t id)
{
	const struct heap *h = r->heap;
	for (; id < h->n_objects; id = r->dominators.immediate[id]) {
		uint32_t mirrored = heap_class_mirrored(h, id);
		const char *name = h->classes[mirrored != HEAP_NONE ? mirrored : heap_class_index(h, id)].name;
		if (mirrored != HEAP_NONE)
			return !is_own(name);
		if (is_own(name))
			return false;
	}
	return false;
}

static bool runs_own_code(const struct heap_thread *t)
{
	bool own = t->n_frames == 0;
	for (uint32_t i = 0; i < t->n_frames; i++)
		own |= is_own(t->frames[i]);
	return own;
}

/* What a loader of the program holds: only its own fields count, where the dump has fields. */
static void mark_all(char *marked, const struct heap *h, uint32_t loader)
{
	uint64_t end = loader == HEAP_NONE ? 0 : adjacency_start(&h->out, loader + 1);
	for (uint64_t k = end ? adjacency_start(&h->out, loader) : 0; k < end; k++)
		marked[h->out.target[k]] = 1;
}

/* What the program's objects, static fields and stacks lead to: again and again, until nothing is new. */
static char *of_program(const struct naive *w)
{
	const struct heap *h = w->h;
	char *marked = calloc(h->n_objects, 1), *barred = calloc(h->n_objects, 1);
	for (uint32_t id = 0; id < h->n_objects; id++) {
		uint32_t mirrored = heap_class_mirrored(h, id);
		bool own = is_own(h->classes[mirrored != HEAP_NONE ? mirrored : heap_class_index(h, id)].name);
		barred[id] = heap_class_of(h, id)->makes_loaders || (mirrored != HEAP_NONE && !own);
		marked[id] |= own && !barred[id];
		mark_all(marked, h, heap_class_of(h, id)->makes_loaders && own ? id : HEAP_NONE);
	}
	for (uint32_t id = 0; id < h->n_objects; id++)
		marked[id] = marked[id] && !barred[id];
	for (size_t i = 0; i < h->n_roots; i++) {
		const struct heap_root *root = &h->roots[i];
		bool fixed = root->kind == ROOT_SYSTEM_CLASS || root->kind == ROOT_THREAD || root->vms_own ||
		    root->kind == ROOT_VM_INTERNAL;
		if (!fixed && !barred[root->object] && (root->kind == ROOT_UNKNOWN ||
		    root->thread == HEAP_NONE || runs_own_code(&h->threads[root->thread])))
			marked[root->object] = 1;
	}
	for (bool more = true; more;) {
		more = false;
		for (size_t k = 0; k < w->n; k++) {
			const struct reference *e = &w->edge[k];
			if (e->from >= h->n_objects || e->root || !marked[e->from] || marked[e->to] || barred[e->to])
				continue;
			marked[e->to] = 1;
			more = true;
		}
	}
	free(barred);
	return marked;
}

/* What the program leads to, by searches as by a walk.  The searches may look at so many references, then they
 * walk. */
static void compare_searches(struct naive *w, struct what_if_owner *walking, uint64_t effort)
{
	const struct heap *h = w->h;
	struct what_if_owner searching;
	if (what_if_owner_init(&searching, walking->r, NULL)) {
		w->wrong++;
		return;
	}
	if (searching.program.effort) /* else no search finds what the dump implies */
		searching.program.effort = effort;
	for (uint32_t i = 0; i < h->n_objects; i++) {
		uint32_t id = w->random % 2 ? i : h->n_objects - 1 - i;
		bool found = what_if_owner_reached(&searching, id);
		if (found != what_if_owner_reached(walking, id) && w->wrong++ < 5)
			printf("something of the program leads to 0x%" PRIx64 ": %s by searches of %" PRIu64
			    " references, not so by a walk\n", heap_address(h, id), found ? "yes" : "no", effort);
	}
	w->wrong += what_if_owner_check(&searching, NULL) != 0;
	what_if_owner_release(&searching);
}

static void compare_programs(struct naive *w, const struct retained *r)
{
	struct what_if_owner walking;
	if (w->h->java_lang_class == HEAP_NONE)
		return;
	if (what_if_owner_init(&walking, r, NULL)) {
		w->wrong++;
		return;
	}
	walking.program.effort = 0;
	compare_searches(w, &walking, UINT64_MAX);
	for (unsigned times = 0; w->h->n_objects && times < 8; times++)
		compare_searches(w, &walking, 1 + number(w, w->h->n_objects));
	w->wrong += what_if_owner_check(&walking, NULL) != 0;
	what_if_owner_release(&walking);
}

/* One reference that can be cleared and frees so much, and no classes with it; or NULL. */
static const struct reference *one_does(
    const struct naive *w, const struct retained *r, uint64_t wanted)
{
	for (size_t k = 0; k < w->n; k++)
		if (!w->edge[k].fixed && !w->edge[k].unloads && w->edge[k].frees >= wanted &&
		    w->programs[w->edge[k].to] && !jdk_holds(r, w->edge[k].to))
			return &w->edge[k];
	return NULL;
}

static void compare_plan(struct naive *w, const struct retained *r, uint64_t wanted, bool every)
{
	struct what_if_plan plan;
	if (what_if_plan_find(&plan, r, wanted, NULL, NULL)) {
		w->wrong++;
		return;
	}
	for (size_t i = 0; i < plan.n; i++) {
		take_edges(w, &plan.item[i].edges);
		uint64_t alone = w->all - naive_kept(w, NULL, 0);
		give_back(w);
		if (plan.item[i].target != HEAP_NONE && !w->programs[plan.item[i].target])
			differ(w, HEAP_NONE, plan.item[i].target, 1, 0); /* nothing of the program leads there */
		for (size_t k = 0; k <= i; k++)
			take_edges(w, &plan.item[k].edges);
		uint64_t total = w->all - naive_kept(w, NULL, 0);
		give_back(w);
		if (alone != plan.item[i].freed.n || total != plan.item[i].total.n)
			differ(w, HEAP_NONE, plan.item[i].target, plan.item[i].total.n, total);
	}
	uint64_t total = plan.n ? plan.item[plan.n - 1].total.n : 0;
	if (plan.bytes.n != total || plan.reached != (total >= wanted)) {
		w->wrong++;
		printf("a plan of %" PRIu64 " for %" PRIu64 " says %sreached, naively %" PRIu64 "\n", plan.bytes.n,
		    wanted, plan.reached ? "" : "not ", total);
	}
	const struct reference *one = every ? one_does(w, r, wanted) : NULL;
	if (one && !(plan.n == 1 && plan.reached)) {
		w->wrong++;
		printf("%zu references for %" PRIu64 " where one to 0x%" PRIx64 " does\n", plan.n, wanted,
		    heap_address(w->h, one->to));
	}
	w->plans++;
	w->several += plan.reached && plan.n > 1;
	what_if_plan_release(&plan);
}

unsigned naive_compare_cuts(struct naive *w, const struct retained *r, uint32_t step, uint32_t rounds)
{
	struct what_if climbing, numbered;
	if (what_if_init(&climbing, r, NULL) || what_if_init(&numbered, r, NULL) || what_if_number(&numbered, NULL))
		return 1;
	w->programs = of_program(w);
	compare_programs(w, r);
	for (size_t k = 0; k < w->n; k += step) {
		struct reference *e = &w->edge[k];
		struct what_if *c = k % 2 ? &climbing : &numbered;
		if (e->root)
			compare_one(w, c, e, HEAP_NONE);
		if (e->from != HEAP_NONE)
			compare_one(w, c, e, e->from);
	}
	for (uint32_t times = 0; w->n && times < rounds; times++)
		compare_many(w, r);
	for (uint32_t part = 2; w->all && part < 2 + rounds / 4; part++)
		compare_plan(w, r, 1 + w->all / (part * part), step == 1);
	what_if_release(&climbing);
	what_if_release(&numbered);
	free(w->programs);
	w->programs = NULL;
	return w->wrong;
}
