/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_tree.c - proves that a tree is the dominator tree, that its sums are right, and that paths
 * are paths, without the code that found them.
 *
 * Two properties together make a tree the dominator tree.  The parent property: whatever references
 * an object is the object's parent in the tree or hangs below that parent.  So every way to the
 * object leads through its parent, and parents dominate their children.  The sibling property
 * (check_siblings.c): no object dominates a sibling, so no nearer object than the parent dominates.
 * Any thread.
 */
#include "analysis/check/check_tree.h"

#include "algorithms/parallel.h"
#include "analysis/check/check.h"
#include "analysis/paths/paths.h"
#include "analysis/reachable.h"
#include "base/mem.h"
#include "base/text.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPORT_EVERY = 1 << 14, AHEAD = 8 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void checks_begin(struct checks *c)
{
	c->since = now();
}

void checks_add(struct checks *to, const char *name, enum check_outcome outcome, const char *format, ...)
{
	va_list arguments;
	double at = now();
	struct check_line line = {.name = name, .outcome = outcome,
	    .milliseconds = to->since > 0 ? (uint64_t)((at - to->since) * 1000 + 0.5) : 0};
	va_start(arguments, format);
	text_format(line.detail, sizeof line.detail, format, arguments);
	va_end(arguments);
	struct check_line *at_end = BIG_PUSH(to->line, to->n, to->cap, &to->lost);
	if (at_end)
		*at_end = line;
	to->n_broken += outcome == CHECK_BROKEN;
	to->since = at;
	progress_add(to->progress, 1);
}

int checks_lost(const struct checks *c, struct err *err)
{
	if (c->lost.code)
		*err = c->lost;
	return c->lost.code;
}

/* --- the tree ----------------------------------------------------------------------------------- */

/* What is needed of a child that comes soon is on its way into the cache. */
static inline void ask(const struct tree *t, uint32_t id)
{
	retained_ask_children(t->r, id);
	__builtin_prefetch(&t->r->dominators.immediate[id]);
	__builtin_prefetch(&t->span[id], 1);
}

/* Number the tree.  The stack has ids; next, by depth, says which child is to come.  Whoever says that it
 * hangs below another than the one that lists it as a child is not numbered. */
static int number(struct tree *t, struct err *err)
{
	uint32_t n_children, depth = 0, n = t->r->dominators.n_reachable;
	uint64_t rounds = 0;
	uint32_t *stack = big_alloc((uint64_t)n + 1, sizeof *stack, err);
	uint32_t *next = big_alloc((uint64_t)n + 1, sizeof *next, err); /* by depth */
	int code = stack && next ? 0 : ERR_NOMEM;
	stack ? stack[0] = HEAP_NONE : 0;
	for (bool over = false; !over && !code;) {
		uint32_t id = stack[depth];
		if (progress_stops(t->progress, rounds++))
			code = err_cancelled(err);
		const uint32_t *child = retained_children(t->r, id, &n_children);
		if (next[depth] < n_children && t->n < n) {
			if (next[depth] + AHEAD < n_children)
				ask(t, child[next[depth] + AHEAD]);
			uint32_t below = child[next[depth]++];
			if (t->r->dominators.immediate[below] != (depth ? id : DOMINATED_BY_ROOTS))
				continue;
			t->span[below].from = ++t->n;
			t->order[t->n] = below;
			stack[++depth] = below;
			next[depth] = 0;
		} else {
			if (id != HEAP_NONE)
				t->span[id].to = t->n;
			over = depth == 0;
			depth -= depth > 0;
		}
	}
	big_free(stack);
	big_free(next);
	return code;
}

/* The thread whose stack has this root, when that thread is a root by something else. */
static uint32_t holding_thread(const struct heap *h, const struct heap_root *root)
{
	uint32_t thread = root->thread == HEAP_NONE ? HEAP_NONE : h->threads[root->thread].object;
	if (thread == HEAP_NONE || thread == root->object)
		return HEAP_NONE;
	size_t first, n = heap_roots_of(h, thread, &first);
	for (size_t i = first; i < first + n; i++) {
		uint32_t of = h->roots[i].thread;
		if (of == HEAP_NONE || h->threads[of].object == HEAP_NONE || h->threads[of].object == thread)
			return thread;
	}
	return HEAP_NONE;
}

/* Objects of a part; the last part is what classes and roots say. */
enum { OBJECTS_A_PART = 1 << 17 };

unsigned tree_parts(const struct tree *t)
{
	return (unsigned)((uint64_t)t->h->n_objects + OBJECTS_A_PART - 1) / OBJECTS_A_PART + 1;
}

static void edges_of_objects(const struct tree *t, uint32_t begin, uint32_t end, tree_edge *visit, void *context)
{
	const struct heap *h = t->h;
	uint64_t edges = 0; /* since the last look */
	uint32_t told = begin;
	for (uint32_t id = begin; id < end; id++, edges++) {
		if (edges >= REPORT_EVERY) {
			if (!progress_add(t->progress, id - told))
				return;
			told = id;
			edges = 0;
		}
		if (t->span && !t->span[id].from)
			continue; /* what no root reaches holds nothing */
		uint64_t stop = adjacency_start(&h->out, id + 1);
		for (uint64_t k = adjacency_start(&h->out, id); k < stop && !progress_stops(t->progress, ++edges); k++)
			if (!weak_is(t->left_out, id, h->out.target[k]))
				visit(context, id, h->out.target[k]);
		struct implied_reference implied[HEAP_IMPLIED];
		for (unsigned k = heap_implied(h, id, implied); k-- > 0;)
			visit(context, id, implied[k].target);
	}
	progress_add(t->progress, end - told);
}

void tree_edges(const struct tree *t, unsigned part, tree_edge *visit, void *context)
{
	const struct heap *h = t->h;
	uint64_t begin = (uint64_t)part * OBJECTS_A_PART, end = begin + OBJECTS_A_PART;
	if (begin < h->n_objects) {
		edges_of_objects(
		    t, (uint32_t)begin, (uint32_t)(end < h->n_objects ? end : h->n_objects), visit, context);
		return;
	}
	for (uint32_t c = 0; c < h->n_classes && !progress_stops(t->progress, c); c++) {
		uint32_t loader = h->classes[c].loader;
		if (h->classes[c].object != HEAP_NONE && heap_loader_holds(h, c) &&
		    (!t->span || t->span[loader].from))
			visit(context, loader, h->classes[c].object);
	}
	for (size_t i = 0; i < h->n_roots && !progress_stops(t->progress, i); i++)
		visit(context, t->span ? holding_thread(h, &h->roots[i]) : HEAP_NONE, h->roots[i].object);
}

/* --- parents ------------------------------------------------------------------------------------ */

struct parents {
	const struct tree *t;
	uint64_t edges;
	uint32_t bad_from, bad_to; /* the first that breaks the property; bad_to HEAP_NONE: none */
};

static void leads(void *context, uint32_t from, uint32_t to)
{
	struct parents *p = context;
	const struct tree *t = p->t;
	uint32_t parent = t->r->dominators.immediate[to];
	p->edges++;
	bool ok = parent == DOMINATED_BY_ROOTS ||
	    (parent != NOT_REACHABLE && from != HEAP_NONE && tree_holds(t, parent, from));
	if (ok || p->bad_to != HEAP_NONE)
		return;
	p->bad_from = from;
	p->bad_to = to;
}

static int parents_of_part(void *context, unsigned part, struct err *err)
{
	struct parents *p = &((struct parents *)context)[part];
	(void)err;
	tree_edges(p->t, part, leads, p);
	return 0;
}

/* By all threads; *all gets the sum, and what the first part found that is bad. */
static int look_at_parents(struct parents *all, const struct tree *t, struct err *err)
{
	unsigned parts = tree_parts(t);
	struct parents *of = big_alloc(parts, sizeof *of, err);
	if (!of)
		return ERR_NOMEM;
	for (unsigned i = 0; i < parts; i++)
		of[i] = *all;
	int code = parallel_run(0, parts, parents_of_part, of, err);
	for (unsigned i = 0; i < parts; i++) {
		all->edges += of[i].edges;
		if (all->bad_to == HEAP_NONE) {
			all->bad_from = of[i].bad_from;
			all->bad_to = of[i].bad_to;
		}
	}
	big_free(of);
	return code;
}

static int check_parents(struct checks *to, const struct tree *t, struct err *err)
{
	const char *name = "parents dominate";
	const struct heap *h = t->h;
	struct parents p = {.t = t, .bad_to = HEAP_NONE};
	int code = look_at_parents(&p, t, err);
	if (code)
		return code;
	if (t->n != t->r->dominators.n_reachable)
		checks_add(to, name, CHECK_BROKEN, "%" PRIu32 " objects are in the tree, %" PRIu32
		    " are reachable", t->n, t->r->dominators.n_reachable);
	else if (p.bad_to != HEAP_NONE && p.bad_from == HEAP_NONE)
		checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " is a root, but below another object in the tree",
		    heap_address(h, p.bad_to));
	else if (p.bad_to != HEAP_NONE)
		checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " leads to 0x%" PRIx64
		    " past its parent", heap_address(h, p.bad_from), heap_address(h, p.bad_to));
	else
		checks_add(to, name, CHECK_OK, "%" PRIu64 " references and %zu roots lead to %" PRIu32
		    " objects through their parents", p.edges - h->n_roots, h->n_roots, t->n);
	return 0;
}

/* What hangs in the tree is what a walk from the roots reaches. */
static int check_reached(struct checks *to, const struct tree *t, struct err *err)
{
	const char *name = "the tree has all reachable objects";
	struct reachable reach;
	int code = reachable_from_roots(&reach, &t->r->model, t->progress, err);
	if (code)
		return code;
	uint32_t id = 0;
	while (id < t->h->n_objects && !progress_stops(t->progress, id) &&
	    bits_get(&reach.objects, id) == (t->span[id].from != 0))
		id++;
	if (id < t->h->n_objects)
		checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " is reachable or in the tree, not both",
		    heap_address(t->h, id));
	else
		checks_add(to, name, CHECK_OK, "%" PRIu64 " objects, %" PRIu64 " bytes", reach.n.n,
		    reach.shallow.n);
	reachable_release(&reach);
	return 0;
}

/* --- sums --------------------------------------------------------------------------------------- */

/* What an object's children retain, and itself. */
static uint64_t sum_of(const struct tree *t, uint32_t id)
{
	uint32_t n;
	const uint32_t *child = retained_children(t->r, id, &n);
	uint64_t sum = heap_shallow(t->h, id);
	for (uint32_t k = 0; k < n && !progress_stops(t->progress, k + 1); k++)
		sum += retained_size(t->r, child[k]);
	return sum;
}

struct sums {
	const struct tree *t;
	_Atomic uint32_t bad; /* the first object whose children do not sum up; HEAP_NONE: none */
};

static int sums_of_part(void *context, unsigned part, struct err *err)
{
	struct sums *s = context;
	const struct tree *t = s->t;
	uint64_t begin = (uint64_t)part * OBJECTS_A_PART, end = begin + OBJECTS_A_PART;
	(void)err;
	for (uint64_t id = begin; id < end && id < t->h->n_objects && !progress_stops(t->progress, id); id++) {
		if (!t->span[id].from || sum_of(t, (uint32_t)id) == retained_size(t->r, id))
			continue;
		uint32_t before = s->bad;
		while (id < before && !atomic_compare_exchange_weak(&s->bad, &before, (uint32_t)id))
			;
		break;
	}
	return 0;
}

static void check_sums(struct checks *to, const struct tree *t)
{
	const struct retained *r = t->r;
	const char *name = "retained sizes sum up";
	struct sums s = {.t = t, .bad = HEAP_NONE};
	uint64_t top = 0;
	uint32_t n;
	parallel_each(tree_parts(t), sums_of_part, &s);
	if (s.bad != HEAP_NONE) {
		checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 ": %" PRIu64 " stated, %" PRIu64 " found",
		    heap_address(t->h, s.bad), retained_size(r, s.bad), sum_of(t, s.bad));
		return;
	}
	const uint32_t *child = retained_children(r, HEAP_NONE, &n);
	for (uint32_t k = 0; k < n && !progress_stops(t->progress, k); k++)
		top += retained_size(r, child[k]);
	bool ok = top == r->dominators.shallow_reachable;
	checks_add(to, name, ok ? CHECK_OK : CHECK_BROKEN, "%" PRIu64 " bytes at the top, %" PRIu64
	    " are reachable", top, r->dominators.shallow_reachable);
}

/* From top to bottom an instance counts unless it lies within the last one of its class that did. */
static int check_classes(struct checks *to, const struct tree *t, struct err *err)
{
	const struct heap *h = t->h;
	const char *name = "classes retain the sum of their topmost objects";
	const struct retained_sum *stated = t->r->by_class;
	struct retained_sum *sum = big_alloc(h->n_classes, sizeof *sum, err);
	uint32_t *until = big_alloc(h->n_classes, sizeof *until, err), topmost = 0, c = 0;
	int code = sum && until ? 0 : ERR_NOMEM;
	for (uint32_t k = 1; !code && k <= t->n && !progress_stops(t->progress, k); k++) {
		uint32_t id = t->order[k], class = heap_class_index(h, id);
		if (k <= until[class])
			continue;
		until[class] = t->span[id].to;
		sum[class].bytes += retained_size(t->r, id);
		sum[class].topmost++;
		topmost++;
	}
	while (!code && c < h->n_classes && sum[c].bytes == stated[c].bytes &&
	    sum[c].topmost == stated[c].topmost)
		c++;
	if (code)
		;
	else if (c < h->n_classes)
		checks_add(to, name, CHECK_BROKEN, "%.100s: %" PRIu64 " by %" PRIu64 " objects stated, %"
		    PRIu64 " by %" PRIu64 " found", h->classes[c].name, stated[c].bytes,
		    stated[c].topmost, sum[c].bytes, sum[c].topmost);
	else
		checks_add(to, name, CHECK_OK, "%" PRIu32 " classes, %" PRIu32 " topmost objects",
		    h->n_classes, topmost);
	big_free(sum);
	big_free(until);
	return code;
}

/* --- paths -------------------------------------------------------------------------------------- */

struct steps {
	const struct path_tree *paths;
	uint32_t *length;  /* by id: steps from the root, from 1; 0: not known yet */
	struct bits held;  /* by id: its holder does hold it, or it is a root and begins the path */
	uint32_t shorter;  /* an object that a reference leads to in fewer steps; HEAP_NONE: none */
	const struct tree *all; /* all references */
	struct part_steps {
		struct steps *s;
		uint32_t shorter;
	} *part;
};

/* Lengths by going up until one is known; the way is remembered in the stack. */
static void measure(struct steps *s, uint32_t id, uint32_t *stack)
{
	uint32_t n = 0, parent = PATH_START;
	for (; !s->length[id]; id = parent - 1) {
		stack[n++] = id;
		parent = s->paths->parent[id];
		if (parent == PATH_START || n >= s->paths->reached)
			break;
	}
	uint32_t length = parent == PATH_START || !n ? 0 : s->length[id];
	while (n > 0)
		s->length[stack[--n]] = ++length;
}

static void step(void *context, uint32_t from, uint32_t to)
{
	struct part_steps *part = context;
	struct steps *s = part->s;
	uint32_t parent = s->paths->parent[to];
	bool begins = from == HEAP_NONE;
	if (!begins && !s->paths->parent[from])
		return;
	if (parent == (begins ? PATH_START : from + 1))
		__atomic_fetch_or(&s->held.word[to >> 6], UINT64_C(1) << (to & 63), __ATOMIC_RELAXED);
	if (s->length[to] > (begins ? 0 : s->length[from]) + 1)
		part->shorter = to;
}

static int steps_of_part(void *context, unsigned part, struct err *err)
{
	struct steps *s = context;
	(void)err;
	tree_edges(s->all, part, step, &s->part[part]);
	return 0;
}

static int look_at_steps(struct steps *s, struct err *err)
{
	unsigned parts = tree_parts(s->all);
	s->part = big_alloc(parts, sizeof *s->part, err);
	if (!s->part)
		return ERR_NOMEM;
	for (unsigned i = 0; i < parts; i++)
		s->part[i] = (struct part_steps){s, HEAP_NONE};
	int code = parallel_run(0, parts, steps_of_part, s, err);
	for (unsigned i = 0; i < parts && s->shorter == HEAP_NONE; i++)
		s->shorter = s->part[i].shorter;
	big_free(s->part);
	return code;
}

static void say_paths(struct checks *to, const struct tree *t, const struct steps *s)
{
	const char *name = "paths are valid and shortest";
	uint64_t all = 0;
	uint32_t longest = 0;
	for (uint32_t id = 0; id < t->h->n_objects && !progress_stops(t->progress, id); id++) {
		if (!s->paths->parent[id])
			continue;
		all += s->length[id];
		longest = s->length[id] > longest ? s->length[id] : longest;
		if (!bits_get(&s->held, id)) {
			checks_add(to, name, CHECK_BROKEN, "no reference leads to 0x%" PRIx64 " as in its path",
			    heap_address(t->h, id));
			return;
		}
	}
	if (s->shorter != HEAP_NONE)
		checks_add(to, name, CHECK_BROKEN, "a reference leads to 0x%" PRIx64 " in fewer steps",
		    heap_address(t->h, s->shorter));
	else
		checks_add(to, name, CHECK_OK, "to %" PRIu32 " objects, %" PRIu64 " steps, %" PRIu32
		    " at most", s->paths->reached, all, longest);
}

static int check_paths(struct checks *to, const struct tree *t, struct err *err)
{
	/* paths go over all references, whatever the tree leaves out */
	const struct tree all = {.h = t->h, .progress = t->progress};
	struct path_rules rules;
	struct path_tree paths = {.n = 0};
	struct steps s = {.paths = &paths, .shorter = HEAP_NONE, .all = &all};
	uint32_t n = t->h->n_objects;
	int code = path_rules_init(&rules, t->h, true, err);
	if (code)
		return code;
	code = path_tree_grow(&paths, &rules, HEAP_NONE, t->progress, err);
	if (!code)
		code = bits_init(&s.held, n, err);
	s.length = big_alloc(n, sizeof *s.length, err);
	uint32_t *stack = big_alloc(n, sizeof *stack, err);
	if (!code && s.length && stack) {
		for (uint32_t id = 0; id < n && !progress_stops(t->progress, id); id++)
			if (paths.parent[id])
				measure(&s, id, stack);
		progress_phase(t->progress, PHASE_CHECK_PATHS, n);
		code = look_at_steps(&s, err);
		if (!code)
			code = progress_check(t->progress, err);
		if (!code)
			say_paths(to, t, &s);
	} else if (!code) {
		code = ERR_NOMEM;
	}
	big_free(s.length);
	big_free(stack);
	bits_release(&s.held);
	if (paths.parent)
		path_tree_release(&paths);
	path_rules_release(&rules);
	return code;
}

/* --- all ---------------------------------------------------------------------------------------- */

int check_tree(struct checks *to, const struct retained *r, struct err *err)
{
	struct tree t = {.h = r->heap, .r = r, .left_out = r->model.left_out,
	    .progress = to->progress};
	uint64_t n = r->heap->n_objects, n_order = (uint64_t)r->dominators.n_reachable + 1;
	size_t broken = to->n_broken;
	checks_begin(to);
	t.span = big_alloc(n, sizeof *t.span, err);
	t.order = big_alloc(n_order, sizeof *t.order, err);
	progress_phase(t.progress, PHASE_CHECK_PARENTS, n);
	int code = t.span && t.order ? 0 : ERR_NOMEM;
	if (!code)
		code = number(&t, err);
	if (!code)
		code = check_parents(to, &t, err);
	if (!code)
		code = progress_check(t.progress, err);
	/* the proof about siblings goes by their parents */
	if (!code && to->n_broken == broken)
		code = check_siblings(to, &t, err);
	if (!code)
		code = check_reached(to, &t, err);
	if (!code) {
		progress_phase(t.progress, PHASE_CHECK_RETAINED, 0);
		check_sums(to, &t);
		code = check_classes(to, &t, err);
		if (!code)
			code = progress_check(t.progress, err);
	}
	if (!code)
		code = check_paths(to, &t, err);
	if (!code)
		code = progress_check(t.progress, err);
	if (!code)
		code = checks_lost(to, err);
	big_free(t.span);
	big_free(t.order);
	return code;
}
