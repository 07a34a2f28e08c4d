/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if.c - see what_if.h.
 *
 * To find out whether w hangs below v, we climb from w while the object above retains no more than
 * v does: a step or two on ordinary heaps.  Some heaps have long ways up; then the tree is numbered
 * once from top to bottom, and two comparisons tell.
 */
#include "analysis/what_if/what_if.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "analysis/maybe_live.h"
#include "base/amount.h"
#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* --- below whom --------------------------------------------------------------------------------- */

int what_if_init(struct what_if *c, const struct retained *r, struct err *err)
{
	const struct heap *h = r->heap;
	*c = (struct what_if){ .retained = r };
	int code = members_init(&c->members, h, err);
	if (!code)
		code = bits_init(&c->special, h->n_objects, err);
	if (code)
		return code;
	for (size_t i = 0; i < h->n_roots && !progress_own_stops(i); i++)
		bits_set(&c->special, h->roots[i].object);
	for (uint32_t k = 0; k < h->n_classes && !progress_own_stops(k); k++) {
		if (h->classes[k].object != HEAP_NONE)
			bits_set(&c->special, h->classes[k].object);
		if (h->classes[k].object != HEAP_NONE && h->classes[k].loader != HEAP_NONE)
			bits_set(&c->special, h->classes[k].loader);
	}
	return progress_check(progress_own(), err);
}

void what_if_release(struct what_if *c)
{
	if (!c->retained)
		return;
	members_release(&c->members);
	bits_release(&c->special);
	big_free(c->span);
	*c = (struct what_if){ .retained = NULL };
}

/* The stack holds places in the list of children; the next place is the next sibling.  False: stopped. */
static bool number(struct what_if_span *span, const struct retained *r, uint32_t *stack)
{
	uint32_t depth = 0, n = 0, top = r->dominators.n_objects;
	uint32_t at = retained_first_child(r, top), end = retained_first_child(r, top + 1);
	for (;;) {
		if (at < end) {
			uint32_t id = r->children.target[at];
			if (at + 8 < end)
				retained_ask_children(r, r->children.target[at + 8]);
			span[id].from = n++;
			if (progress_own_stops(n))
				return false;
			stack[depth++] = at;
			at = retained_first_child(r, id);
			end = retained_first_child(r, id + 1);
		} else if (depth > 0) {
			at = stack[--depth];
			uint32_t id = r->children.target[at++], parent = r->dominators.immediate[id];
			span[id].to = n - 1;
			end = retained_first_child(r, (parent == DOMINATED_BY_ROOTS ? top : parent) + 1);
		} else {
			return true;
		}
	}
}

int what_if_number(struct what_if *c, struct err *err)
{
	const struct dominators *d = &c->retained->dominators;
	if (c->span)
		return 0;
	if (!c->retained->children.target)
		return err_set(err, ERR_NOMEM, "not enough memory for the lists of children");
	uint32_t *stack = big_alloc(d->n_reachable, sizeof *stack, err);
	struct what_if_span *span = stack ? big_alloc(d->n_objects, sizeof *span, err) : NULL;
	bool stopped = span && !number(span, c->retained, stack);
	big_free(stack);
	if (stopped) {
		big_free(span);
		return err_cancelled(err);
	}
	c->span = span;
	return span ? 0 : ERR_NOMEM;
}

bool what_if_below(struct what_if *c, uint32_t id, uint32_t above)
{
	const struct dominators *d = &c->retained->dominators;
	if (!c->span && c->climbed > d->n_objects && what_if_number(c, NULL) < 0)
		c->climbed = 0; /* without memory for numbers it goes on climbing */
	if (c->span)
		return c->span[id].from >= c->span[above].from && c->span[id].from <= c->span[above].to;
	uint64_t most = dominators_retained(d, above);
	for (; id != above; id = d->immediate[id], c->climbed++)
		if (id == DOMINATED_BY_ROOTS || dominators_retained(d, id) > most)
			return false;
	return true;
}

/* --- one reference ------------------------------------------------------------------------------ */

struct tally {
	struct what_if *cut;
	uint32_t target;
	struct what_if_outside *o;
};

/* One reference to the target; false: enough is known, whichever of them is cut. */
static inline bool held_from(struct tally *t, uint32_t from)
{
	struct what_if_outside *o = t->o;
	o->n += t->cut->retained->dominators.immediate[from] != NOT_REACHABLE &&
	    !what_if_below(t->cut, from, t->target);
	return o->n - o->by_stacks <= WHAT_IF_COUNTED;
}

static void held_from_roots(struct tally *t)
{
	const struct heap *h = t->cut->retained->heap;
	size_t first, n = heap_roots_of(h, t->target, &first);
	uint32_t before = t->o->n;
	for (size_t i = first; i < first + n; i++) {
		uint32_t owner = dominators_stack_owner(h, &h->roots[i]);
		if (owner == HEAP_NONE)
			t->o->by_vm = true;
		else
			held_from(t, owner);
	}
	t->o->by_stacks = t->o->n - before;
}

/* Class objects of these classes; false: enough is known. */
static bool held_from_class_objects(struct tally *t, struct members_walk classes)
{
	const struct heap *h = t->cut->retained->heap;
	uint32_t k;
	while (members_next(&t->cut->members, &classes, &k)) {
		if (h->classes[k].object != HEAP_NONE && !held_from(t, h->classes[k].object))
			return false;
	}
	return true;
}

/* What the dump implies: classes hold their loader and superclass, a loader its classes, instances
 * their class. */
static void held_from_classes(struct tally *t)
{
	const struct heap *h = t->cut->retained->heap;
	struct members *m = &t->cut->members;
	uint32_t class = heap_class_mirrored(h, t->target), id;
	if (!held_from_class_objects(t, members_loaded(m, t->target)) || class == HEAP_NONE)
		return;
	if (!held_from_class_objects(t, members_subclasses(m, class)))
		return;
	if (heap_loader_holds(h, class) && !held_from(t, h->classes[class].loader))
		return;
	if (heap_array_keeper(h, class) != HEAP_NONE && !held_from(t, heap_array_keeper(h, class)))
		return;
	struct members_walk instances = members_instances(m, class);
	while (members_next(m, &instances, &id)) {
		if (!held_from(t, id))
			return;
	}
}

static struct what_if_figure figure(const struct heap *h, bool held, struct amount freed, uint32_t others)
{
	return (struct what_if_figure){ .held = held, .freed = freed,
		.others = amount_weaken(
		    heap_held(h, others), others == WHAT_IF_COUNTED ? LOWER_BOUND : EXACT, REASON_MORE) };
}

/* How many of the references to a target come from this holder; they are sorted by holder. */
static uint32_t recorded(const struct heap *h, uint32_t holder, uint32_t target)
{
	uint64_t begin = adjacency_start(&h->in, target), n_in = adjacency_degree(&h->in, target);
	const uint32_t *from = h->in.target + begin;
	uint64_t at, end;
	BISECT(at, n_in, from[at] < holder);
	BISECT(end, n_in, from[end] <= holder);
	return (uint32_t)(end - at);
}

/* How many of the target's roots are on the stack of the holder, a thread? */
static uint32_t on_stack(const struct heap *h, uint32_t holder, uint32_t target)
{
	size_t first, n_roots = heap_roots_of(h, target, &first);
	uint32_t n = 0;
	for (size_t i = first; holder != HEAP_NONE && i < first + n_roots; i++)
		n += dominators_stack_owner(h, &h->roots[i]) == holder;
	return n;
}

/* How many references of the model lead from the holder to the target, with so many from its stack? */
static uint32_t references(const struct model *m, uint32_t holder, uint32_t target, uint32_t from_stack)
{
	const struct heap *h = m->heap;
	struct implied_reference implied[HEAP_IMPLIED];
	uint32_t class = heap_class_mirrored(h, target);
	if (holder == HEAP_NONE)
		return heap_is_root(h, target);
	uint32_t n = from_stack + (weak_is(m->left_out, holder, target) ? 0 : recorded(h, holder, target));
	for (unsigned i = heap_implied(h, holder, implied); i-- > 0;)
		n += implied[i].target == target;
	if (class != HEAP_NONE && heap_loader_holds(h, class))
		n += h->classes[class].loader == holder;
	return n;
}

/* Where the target is held from; found anew only if it is not the one asked about before. */
static const struct what_if_outside *outside(struct what_if *c, uint32_t target)
{
	const struct retained *r = c->retained;
	const struct heap *h = r->heap;
	struct tally t = { .cut = c, .target = target, .o = &c->outside };
	if (c->outside.known && c->outside.target == target)
		return &c->outside;
	c->outside = (struct what_if_outside){ .known = true, .target = target };
	uint64_t end = adjacency_start(&h->in, target + 1);
	bool more = true;
	for (uint64_t k = adjacency_start(&h->in, target); more && k < end; k++)
		if (!weak_is(r->model.left_out, h->in.target[k], target))
			more = held_from(&t, h->in.target[k]);
	if (more && bits_get(&c->special, target)) {
		held_from_roots(&t);
		held_from_classes(&t);
	}
	return &c->outside;
}

struct what_if_figure what_if_one(struct what_if *c, uint32_t holder, uint32_t target)
{
	const struct heap *h = c->retained->heap;
	const struct dominators *d = &c->retained->dominators;
	struct amount nothing = heap_held_sized(h, 0, 0);
	if (d->immediate[target] == NOT_REACHABLE)
		return figure(h, false, nothing, 0);
	const struct what_if_outside *o = outside(c, target);
	bool garbage = holder != HEAP_NONE && d->immediate[holder] == NOT_REACHABLE; /* it keeps nothing */
	uint32_t own = garbage ? 0 :
	    references(&c->retained->model, holder, target, on_stack(h, holder, target));
	uint32_t others = o->n + o->by_vm;
	if (holder == HEAP_NONE)
		others = o->n - o->by_stacks; /* the roots' hold is cut with that of stacks */
	else if (own && !what_if_below(c, holder, target))
		others -= 1; /* a second reference of the same holder keeps it as well */
	if (others > WHAT_IF_COUNTED)
		others = WHAT_IF_COUNTED;
	return figure(h, own > 0, own && !others ? retained_of(c->retained, target) : nothing, others);
}

/* --- several at once ---------------------------------------------------------------------------- */

int what_if_edges_add(struct what_if_edges *to, uint32_t holder, uint32_t target, struct err *err)
{
	if (to->n == to->cap) {
		size_t cap = to->cap ? 2 * to->cap : 64;
		struct what_if_edge *more = big_resize(to->edge, cap, sizeof *more, err);
		if (!more)
			return ERR_NOMEM;
		to->edge = more;
		to->cap = cap;
	}
	to->edge[to->n++] = (struct what_if_edge){ holder, target };
	return 0;
}

void what_if_edges_release(struct what_if_edges *e)
{
	big_free(e->edge);
	*e = (struct what_if_edges){ .edge = NULL };
}

static int by_ends(const void *x, const void *y)
{
	const struct what_if_edge *a = x, *b = y;
	if (a->holder != b->holder)
		return a->holder < b->holder ? -1 : 1;
	return (a->target > b->target) - (a->target < b->target);
}

struct loss_walk {
	const struct model *model;
	const struct heap *heap; /* the model's */
	const struct what_if_edges *edges;
	struct what_if_edges stacks;     /* what stacks hold, sorted: an object may be on many */
	struct bits alive;
	struct bits barred, holders; /* of the references */
	struct bits met;             /* what something alive leads to, but that is barred or cut off */
	struct reach_filter filter;
	uint32_t *stack;
	struct progress *progress;
};

/* How many of the edges are from this holder to this target? */
static size_t among(const struct what_if_edges *e, uint32_t holder, uint32_t target)
{
	struct what_if_edge wanted = { holder, target };
	size_t at, end;
	BISECT(at, e->n, by_ends(&e->edge[at], &wanted) < 0);
	BISECT(end, e->n, by_ends(&e->edge[end], &wanted) <= 0);
	return end - at;
}

/* Is some reference left from the holder to the target? */
static bool passes(const void *context, uint32_t holder, uint32_t target)
{
	const struct loss_walk *w = context;
	size_t n = among(w->edges, holder, target);
	if (!n)
		return true;
	bool with_stack = !among(w->edges, HEAP_NONE, target);
	uint32_t from_stack = with_stack ? (uint32_t)among(&w->stacks, holder, target) : 0;
	return references(w->model, holder, target, from_stack) > n;
}

/* False: stopped. */
static bool reach(struct loss_walk *w, uint32_t id, struct bits *seen)
{
	heap_reach_without(w->model, id, seen->word, w->stack, &w->filter);
	return !progress_cancelled(w->progress);
}

/* Everything that is left.  What a thread's stack holds is walked once the thread is; its object may be
 * found late. */
static int walk_alive(struct loss_walk *w, struct err *err)
{
	const struct heap *h = w->heap;
	size_t n_late = 0;
	size_t *late = big_alloc(h->n_roots, sizeof *late, err);
	if (!late)
		return ERR_NOMEM;
	bool going = true;
	for (size_t i = 0; going && i < h->n_roots; i++) {
		uint32_t id = h->roots[i].object, owner = dominators_stack_owner(h, &h->roots[i]);
		if (!passes(w, HEAP_NONE, id))
			continue;
		if (owner == HEAP_NONE)
			going = reach(w, id, &w->alive);
		else if (passes(w, owner, id))
			late[n_late++] = i;
	}
	for (bool again = true; again && going;) {
		size_t left = 0;
		again = false;
		for (size_t i = 0; going && i < n_late; i++) {
			const struct heap_root *root = &h->roots[late[i]];
			bool held = bits_get(&w->alive, dominators_stack_owner(h, root));
			if (!held)
				late[left++] = late[i];
			else if (!bits_get(&w->alive, root->object))
				again = going = reach(w, root->object, &w->alive);
		}
		n_late = left;
	}
	big_free(late);
	return going ? 0 : err_cancelled(err);
}

/* What else was reached: from the roots and from where the walk was kept out, on without hindrance. */
static int walk_dead(struct loss_walk *w, struct bits *dead, struct err *err)
{
	const struct heap *h = w->heap;
	uint64_t words = ((uint64_t)h->n_objects + 63) / 64;
	bool going = true;
	memset(w->barred.word, 0, words * sizeof *w->barred.word);
	memset(w->holders.word, 0, words * sizeof *w->holders.word);
	memcpy(dead->word, w->alive.word, words * sizeof *dead->word);
	for (size_t i = 0; going && i < h->n_roots; i++)
		going = reach(w, h->roots[i].object, dead);
	for (uint64_t at = 0; going && at < words; at++) {
		uint64_t left = w->met.word[at];
		for (; going && left; left &= left - 1)
			going = reach(w, (uint32_t)(at * 64) + (uint32_t)__builtin_ctzll(left), dead);
	}
	for (uint64_t at = 0; at < words; at++)
		dead->word[at] &= ~w->alive.word[at];
	return going ? 0 : err_cancelled(err);
}

/* False: stopped. */
static bool count_dead(struct what_if_loss *out, const struct heap *h, struct progress *progress)
{
	uint64_t objects = 0, bytes = 0;
	unsigned doubts = 0;
	for (uint64_t at = 0; at * 64 < h->n_objects; at++) {
		if (at % 256 == 255 && progress_cancelled(progress))
			return false;
		for (uint64_t left = out->dead.word[at]; left; left &= left - 1) {
			uint32_t id = (uint32_t)(at * 64) + (uint32_t)__builtin_ctzll(left);
			objects++;
			bytes += heap_shallow(h, id);
			doubts |= heap_size_doubts(h, id);
		}
	}
	out->objects = heap_held(h, objects);
	out->bytes = heap_held_sized(h, bytes, doubts);
	out->doubts = (uint8_t)doubts;
	return true;
}

static int loss_walk_init(struct loss_walk *w, const uint32_t *ids, size_t n_ids, struct err *err)
{
	uint32_t n = w->heap->n_objects;
	w->stack = big_alloc(n, sizeof *w->stack, err);
	if (!w->stack || bits_init(&w->alive, n, err) || bits_init(&w->barred, n, err) ||
	    bits_init(&w->holders, n, err) || bits_init(&w->met, n, err))
		return ERR_NOMEM;
	w->filter = (struct reach_filter){ &w->barred, &w->holders, passes, w, &w->met, w->progress };
	int code = 0;
	bool going = true;
	for (size_t i = 0; w->edges->n && !code && i < w->heap->n_roots; i++) {
		uint32_t owner = dominators_stack_owner(w->heap, &w->heap->roots[i]);
		if (owner != HEAP_NONE)
			code = what_if_edges_add(&w->stacks, owner, w->heap->roots[i].object, err);
		if (progress_stops(w->progress, i))
			code = err_cancelled(err);
	}
	if (!code)
		code = sort(w->stacks.edge, w->stacks.n, sizeof *w->stacks.edge, by_ends, err);
	if (code)
		return code;
	for (size_t i = 0; going && i < w->edges->n; i++) {
		going = !progress_stops(w->progress, i);
		if (w->edges->edge[i].holder != HEAP_NONE)
			bits_set(&w->holders, w->edges->edge[i].holder);
	}
	for (size_t i = 0; going && i < n_ids; i++) {
		going = !progress_stops(w->progress, i);
		bits_set(&w->barred, ids[i]);
	}
	return going ? 0 : err_cancelled(err);
}

static void loss_walk_release(struct loss_walk *w)
{
	bits_release(&w->alive);
	bits_release(&w->barred);
	bits_release(&w->holders);
	bits_release(&w->met);
	what_if_edges_release(&w->stacks);
	big_free(w->stack);
}

/* held: NULL, or gets what was met. */
static int find(struct what_if_loss *out, struct bits *held, const struct model *m, struct what_if_edges *edges,
    const uint32_t *ids, size_t n_ids, struct progress *progress, struct err *err)
{
	struct what_if_edges none = { .edge = NULL };
	const struct heap *h = m->heap;
	struct loss_walk w = { .model = m, .heap = h, .edges = edges ? edges : &none, .progress = progress };
	*out = (struct what_if_loss){ .objects = 0 };
	progress_phase(progress, PHASE_WALK_WHAT_IS_LEFT, h->n_objects);
	int code = w.edges->n ? sort(edges->edge, edges->n, sizeof *edges->edge, by_ends, err) : 0;
	if (!code)
		code = bits_init(&out->dead, h->n_objects, err);
	if (!code)
		code = loss_walk_init(&w, ids, n_ids, err);
	if (!code)
		code = walk_alive(&w, err);
	if (!code)
		code = walk_dead(&w, &out->dead, err);
	if (!code && !count_dead(out, h, progress))
		code = err_cancelled(err);
	if (!code && n_ids && !out->objects.n) { /* no root reaches them: as retained_of_nothing_reached */
		enum reason reason = maybe_live_reason(h, NULL);
		out->bytes = amount_weaken(out->bytes, reason == REASON_NONE ? EXACT : INFERRED, reason);
	}
	if (code) {
		what_if_loss_release(out);
	} else if (held) {
		*held = w.met;
		w.met.word = NULL;
	}
	loss_walk_release(&w);
	return code;
}

int what_if_find(struct what_if_loss *out, const struct model *m, struct what_if_edges *edges,
    const uint32_t *ids, size_t n_ids, struct progress *progress, struct err *err)
{
	return find(out, NULL, m, edges, ids, n_ids, progress, err);
}

int what_if_find_held(struct what_if_loss *out, struct bits *held, const struct model *m, const uint32_t *ids,
    size_t n_ids, struct progress *progress, struct err *err)
{
	return find(out, held, m, NULL, ids, n_ids, progress, err);
}

void what_if_loss_release(struct what_if_loss *l)
{
	bits_release(&l->dead);
	*l = (struct what_if_loss){ .objects = 0 };
}
