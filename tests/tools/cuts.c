/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cuts.c - what references free, compared with a naive second algorithm.
 *
 *     cuts DUMP          take away every reference, one after another, many sets of them, and what
 *                        plans propose, and see what can still be reached; 0 when cut.h and cut_plan.h
 *                        say the same, and no single reference does what a plan takes several for.
 *                        -s N: every N-th reference; -w: without weak references
 *
 * The naive side has its own list of the references, written from the rules and not from the code.
 */
#include "analysis/cut_plan.h"
#include "base/mem.h"
#include "heap/weak.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference {
	uint32_t from, to; /* from HEAP_NONE: the VM */
	bool root;         /* a root, if on a thread's stack */
	bool fixed;        /* nobody can clear it */
	bool gone;
	uint64_t frees;    /* alone, naively */
	bool unloads;      /* classes go with it */
};

struct naive {
	const struct heap *h;
	struct reference *edge; /* by from, HEAP_NONE last */
	size_t n, cap;
	size_t *first; /* by object, n_objects + 1: the last is the VM's */
	char *seen;
	uint32_t *stack;
	unsigned wrong, plans, several;
	uint64_t random, compared, freeing;
};

static uint32_t number(struct naive *w, uint32_t below)
{
	w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((w->random >> 33) % below);
}

static void lead(struct naive *w, uint32_t from, uint32_t to, bool root, bool fixed)
{
	if (to != HEAP_NONE)
		VEC_PUSH(w->edge, w->n, w->cap) =
		    (struct reference){ .from = from, .to = to, .root = root, .fixed = fixed };
}

/* The thread that holds what is on its stack: one that is a root by itself. */
static uint32_t stack_holder(const struct heap *h, const struct heap_root *r)
{
	if (r->thread == HEAP_NONE || h->threads[r->thread].object == r->object)
		return HEAP_NONE;
	uint32_t thread = h->threads[r->thread].object;
	for (size_t i = 0; thread != HEAP_NONE && i < h->n_roots; i++) {
		const struct heap_root *other = &h->roots[i];
		if (other->object == thread && (other->thread == HEAP_NONE ||
		    h->threads[other->thread].object == thread ||
		    h->threads[other->thread].object == HEAP_NONE))
			return thread;
	}
	return HEAP_NONE;
}

static int by_from(const void *x, const void *y)
{
	const struct reference *a = x, *b = y;
	return (a->from > b->from) - (a->from < b->from);
}

static void list(struct naive *w)
{
	const struct heap *h = w->h;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		for (uint64_t k = adjacency_start(&h->out, id); k < adjacency_start(&h->out, id + 1); k++)
			if (!weak_is(heap_left_out(h), id, h->out.target[k]))
				lead(w, id, h->out.target[k], false, false);
		lead(w, id, heap_class_of(h, id)->object, false, true);
	}
	for (uint32_t c = 0; c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->object == HEAP_NONE)
			continue;
		if (class->superclass != HEAP_NONE)
			lead(w, class->object, h->classes[class->superclass].object, false, true);
		lead(w, class->object, class->loader, false, true);
		if (strcmp(h->facts.format, "hprof") && class->loader != HEAP_NONE)
			lead(w, class->loader, class->object, false, true);
	}
	for (size_t i = 0; i < h->n_roots; i++)
		lead(w, stack_holder(h, &h->roots[i]), h->roots[i].object, true,
		    h->roots[i].kind == ROOT_SYSTEM_CLASS || h->roots[i].kind == ROOT_THREAD ||
		    h->roots[i].kind == ROOT_UNKNOWN || h->roots[i].kind == ROOT_VM_INTERNAL);
	qsort(w->edge, w->n, sizeof *w->edge, by_from);
	w->first = xcalloc((size_t)h->n_objects + 2, sizeof *w->first);
	size_t at = 0;
	for (uint32_t id = 0; id <= h->n_objects; id++) {
		while (at < w->n && w->edge[at].from < id)
			at++;
		w->first[id] = at;
	}
	w->first[h->n_objects + 1] = w->n;
	w->seen = xcalloc((size_t)h->n_objects + 1, 1);
	w->stack = xcalloc((size_t)h->n_objects + 1, sizeof *w->stack);
}

/* Bytes that can be reached by the references that are not gone. */
static uint64_t kept(struct naive *w)
{
	const struct heap *h = w->h;
	uint32_t n = 0, at = h->n_objects;
	uint64_t bytes = 0;
	memset(w->seen, 0, h->n_objects);
	for (;;) {
		for (size_t k = w->first[at]; k < w->first[at + 1]; k++) {
			uint32_t to = w->edge[k].to;
			if (w->edge[k].gone || w->seen[to])
				continue;
			w->seen[to] = 1;
			w->stack[n++] = to;
		}
		if (!n)
			return bytes;
		at = w->stack[--n];
		bytes += heap_shallow(h, at);
	}
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
	    h->class_of[target] == h->java_lang_class;
}

static void compare_one(struct naive *w, struct cut *c, struct reference *e, uint64_t all)
{
	uint32_t holder = e->root ? HEAP_NONE : e->from;
	e->gone = true;
	take(w, holder, e->to, true);
	uint64_t naive = all - kept(w);
	e->frees = naive;
	e->unloads = unloads(w, c->retained, e->to);
	struct cut_figure f = cut_one(c, holder, e->to);
	/* nothing else keeps it exactly when it goes */
	bool dies = w->seen[e->to] == 0 && c->retained->dominators.immediate[e->to] != NOT_REACHABLE;
	if (f.freed != naive || (dies && f.others) || (!dies && !f.others && f.held))
		differ(w, holder, e->to, f.freed, naive);
	e->gone = false;
	take(w, holder, e->to, false);
	w->compared++;
	w->freeing += naive > 0;
}

/* Some references, and every one to some objects. */
static void compare_many(struct naive *w, const struct retained *r, uint64_t all)
{
	struct cut_edges edges = { .edge = NULL };
	struct cut_loss loss;
	uint32_t ids[4], n_ids = number(w, 4), n_edges = number(w, 12);
	for (uint32_t i = 0; i < n_ids; i++) {
		ids[i] = number(w, w->h->n_objects);
		for (size_t k = 0; k < w->n; k++)
			if (w->edge[k].to == ids[i])
				w->edge[k].gone = true;
	}
	for (uint32_t i = 0; i < n_edges; i++) {
		struct reference *e = &w->edge[number(w, (uint32_t)w->n)];
		uint32_t holder = e->root ? HEAP_NONE : e->from;
		if (!e->root && e->gone)
			continue; /* by itself: each reference is taken once */
		e->gone = true;
		take(w, holder, e->to, true);
		if (cut_edges_add(&edges, holder, e->to, NULL))
			w->wrong++;
	}
	uint64_t naive = all - kept(w);
	if (cut_find(&loss, r, &edges, ids, n_ids, NULL, NULL)) {
		w->wrong++;
	} else {
		if (loss.bytes != naive)
			differ(w, n_edges ? edges.edge[0].holder : 0, n_ids ? ids[0] : 0, loss.bytes, naive);
		for (uint32_t id = 0; id < w->h->n_objects; id++)
			w->wrong += bits_get(&loss.dead, id) !=
			    (!w->seen[id] && r->dominators.immediate[id] != NOT_REACHABLE);
		cut_loss_release(&loss);
	}
	cut_edges_release(&edges);
	for (size_t k = 0; k < w->n; k++)
		w->edge[k].gone = false;
	w->compared++;
	w->freeing += naive > 0;
}

static void take_edges(struct naive *w, const struct cut_edges *edges)
{
	for (size_t i = 0; i < edges->n; i++) {
		const struct cut_edge *e = &edges->edge[i];
		size_t k = 0;
		take(w, e->holder, e->target, true);
		while (k < w->n && (w->edge[k].gone || w->edge[k].from != e->holder ||
		    w->edge[k].to != e->target || w->edge[k].fixed))
			k++;
		if (k == w->n && e->holder != HEAP_NONE)
			w->wrong++; /* no such reference that can be cleared */
		else if (k < w->n)
			w->edge[k].gone = true;
	}
}

static void give_back(struct naive *w)
{
	for (size_t k = 0; k < w->n; k++)
		w->edge[k].gone = false;
}

/* Does one reference that can be cleared free so much, and no classes with it? */
static bool one_does(const struct naive *w, uint64_t wanted)
{
	for (size_t k = 0; k < w->n; k++)
		if (!w->edge[k].fixed && !w->edge[k].unloads && w->edge[k].frees >= wanted)
			return true;
	return false;
}

static void compare_plan(struct naive *w, const struct retained *r, uint64_t all, uint64_t wanted,
    bool every)
{
	struct cut_plan plan;
	if (cut_plan_find(&plan, r, wanted, NULL, NULL)) {
		w->wrong++;
		return;
	}
	for (size_t i = 0; i < plan.n; i++) {
		take_edges(w, &plan.item[i].edges);
		uint64_t alone = all - kept(w);
		give_back(w);
		for (size_t k = 0; k <= i; k++)
			take_edges(w, &plan.item[k].edges);
		uint64_t total = all - kept(w);
		give_back(w);
		if (alone != plan.item[i].freed || total != plan.item[i].total)
			differ(w, HEAP_NONE, plan.item[i].target, plan.item[i].total, total);
	}
	uint64_t total = plan.n ? plan.item[plan.n - 1].total : 0;
	w->wrong += plan.bytes != total || plan.reached != (total >= wanted);
	if (every && one_does(w, wanted) && !(plan.n == 1 && plan.reached)) {
		w->wrong++;
		printf("%zu references for %" PRIu64 " where one does\n", plan.n, wanted);
	}
	w->plans++;
	w->several += plan.reached && plan.n > 1;
	cut_plan_release(&plan);
}

static unsigned compare(const struct heap *h, const struct retained *r, uint32_t step)
{
	struct naive w = { .h = h, .random = h->n_objects };
	struct cut climbing, numbered;
	if (!h->n_objects)
		return 0;
	list(&w);
	uint64_t all = kept(&w);
	if (cut_init(&climbing, r, NULL) || cut_init(&numbered, r, NULL) || cut_number(&numbered, NULL))
		return 1;
	for (size_t k = 0; k < w.n; k += step)
		compare_one(&w, k % 2 ? &climbing : &numbered, &w.edge[k], all);
	for (uint32_t times = 0; w.n && times < 40; times++)
		compare_many(&w, r, all);
	for (uint32_t part = 2; all && part < 12; part++)
		compare_plan(&w, r, all, 1 + all / (part * part), step == 1);
	printf("%" PRIu64 " compared, %" PRIu64 " free something; %u plans, %u of several references\n",
	    w.compared, w.freeing, w.plans, w.several);
	cut_release(&climbing);
	cut_release(&numbered);
	free(w.edge);
	free(w.first);
	free(w.seen);
	free(w.stack);
	return w.wrong;
}

int main(int argc, char **argv)
{
	struct heap_options o = { .path = argv[argc - 1] };
	struct heap *h;
	struct retained r;
	struct weak_references weak;
	struct err err = ERR_INIT;
	uint32_t step = 1;
	bool strong = false, usage = argc < 2;
	for (int i = 1; i < argc - 1; i++) {
		if (!strcmp(argv[i], "-s") && i + 1 < argc - 1)
			step = (uint32_t)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "-w"))
			strong = true;
		else
			usage = true;
	}
	if (usage || !step) {
		fprintf(stderr, "cuts [-s N] [-w] DUMP\n");
		return 2;
	}
	if (heap_open(&h, &o, NULL, &err) || (strong && weak_find(&weak, h, NULL, &err))) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	if (strong)
		*h->left_out = &weak;
	if (retained_find(&r, h, NULL, &err) || retained_complete(&r, NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	unsigned wrong = compare(h, &r, step);
	if (strong)
		weak_release(&weak);
	retained_release(&r);
	heap_close(h);
	return wrong != 0;
}
