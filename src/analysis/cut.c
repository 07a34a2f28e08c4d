/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut.c - see cut.h.
 *
 * That w hangs below v is found by climbing from w as long as what one climbs to retains no more than
 * v does: a step or two on ordinary heaps.  Some shapes make it long; then the tree is numbered from
 * top to bottom once, and two comparisons tell.
 */
#include "analysis/cut.h"

#include "base/mem.h"
#include "heap/weak.h"

#include <stdlib.h>

/* --- below whom --------------------------------------------------------------------------------- */

int cut_init(struct cut *c, const struct retained *r, struct err *err)
{
	const struct heap *h = r->heap;
	*c = (struct cut){ .retained = r };
	if (bits_init(&c->special, h->n_objects, err))
		return ERR_NOMEM;
	for (size_t i = 0; i < h->n_roots; i++)
		bits_set(&c->special, h->roots[i].object);
	for (uint32_t k = 0; k < h->n_classes; k++) {
		if (h->classes[k].object != HEAP_NONE)
			bits_set(&c->special, h->classes[k].object);
		if (h->classes[k].object != HEAP_NONE && h->classes[k].loader != HEAP_NONE)
			bits_set(&c->special, h->classes[k].loader);
	}
	return 0;
}

void cut_release(struct cut *c)
{
	if (!c->retained)
		return;
	bits_release(&c->special);
	big_free(c->span, c->retained->dominators.n_objects, sizeof *c->span);
	*c = (struct cut){ .retained = NULL };
}

/* The stack holds places in the list of children; the next place is the next sibling. */
static void number(struct cut_span *span, const struct retained *r, uint32_t *stack)
{
	uint32_t depth = 0, n = 0, top = r->dominators.n_objects;
	uint32_t at = r->first[top], end = r->first[top + 1];
	for (;;) {
		if (at < end) {
			uint32_t id = r->child[at];
			if (at + 8 < end)
				__builtin_prefetch(&r->first[r->child[at + 8]]);
			span[id].from = n++;
			stack[depth++] = at;
			at = r->first[id];
			end = r->first[id + 1];
		} else if (depth > 0) {
			at = stack[--depth];
			uint32_t id = r->child[at++], parent = r->dominators.immediate[id];
			span[id].to = n - 1;
			end = r->first[(parent == DOMINATED_BY_ROOTS ? top : parent) + 1];
		} else {
			return;
		}
	}
}

int cut_number(struct cut *c, struct err *err)
{
	const struct dominators *d = &c->retained->dominators;
	if (c->span)
		return 0;
	if (!c->retained->first)
		return err_set(err, ERR_NOMEM, "the tree is not complete");
	uint32_t *stack = big_alloc(d->n_reachable, sizeof *stack, err);
	struct cut_span *span = stack ? big_alloc(d->n_objects, sizeof *span, err) : NULL;
	if (span)
		number(span, c->retained, stack);
	big_free(stack, d->n_reachable, sizeof *stack);
	c->span = span;
	return span ? 0 : ERR_NOMEM;
}

bool cut_below(struct cut *c, uint32_t id, uint32_t above)
{
	const struct dominators *d = &c->retained->dominators;
	if (!c->span && c->climbed > d->n_objects) {
		c->climbed = 0; /* without memory for numbers it goes on climbing */
		cut_number(c, NULL);
	}
	if (c->span)
		return c->span[id].from >= c->span[above].from && c->span[id].from <= c->span[above].to;
	uint64_t most = d->retained[above];
	for (; id != above; id = d->immediate[id], c->climbed++)
		if (id == DOMINATED_BY_ROOTS || d->retained[id] > most)
			return false;
	return true;
}

/* --- one reference ------------------------------------------------------------------------------ */

struct tally {
	struct cut *cut;
	uint32_t holder, target;
	uint32_t own, others;
};

/* One reference to the target; false: enough is known. */
static inline bool held_from(struct tally *t, uint32_t from)
{
	if (from == t->holder)
		t->own++;
	else if (t->cut->retained->dominators.immediate[from] != NOT_REACHABLE &&
	    !cut_below(t->cut, from, t->target))
		t->others++;
	return t->others < CUT_COUNTED;
}

static void held_from_roots(struct tally *t)
{
	const struct heap *h = t->cut->retained->heap;
	size_t first, n = heap_roots_of(h, t->target, &first);
	bool by_vm = false;
	if (t->holder == HEAP_NONE) {
		t->own += n > 0;
		return;
	}
	for (size_t i = first; i < first + n; i++) {
		uint32_t owner = dominators_stack_owner(h, &h->roots[i]);
		if (owner == HEAP_NONE)
			by_vm = true;
		else
			held_from(t, owner);
	}
	t->others += by_vm;
}

/* What the dump implies: classes hold their loader and superclass, a loader its classes, instances
 * their class. */
static void held_from_classes(struct tally *t)
{
	const struct heap *h = t->cut->retained->heap;
	uint32_t class = heap_class_mirrored(h, t->target);
	for (uint32_t k = 0; k < h->n_classes; k++) {
		uint32_t object = h->classes[k].object;
		if (object == HEAP_NONE)
			continue;
		if (class != HEAP_NONE && h->classes[k].superclass == class && !held_from(t, object))
			return;
		if (h->classes[k].loader == t->target && !held_from(t, object))
			return;
	}
	if (class == HEAP_NONE)
		return;
	if (heap_loader_holds(h, class) && !held_from(t, h->classes[class].loader))
		return;
	uint32_t left = h->classes[class].n_objects;
	for (uint32_t id = 0; left && id < h->n_objects; id++) {
		if (h->class_of[id] != class)
			continue;
		left--;
		if (!held_from(t, id))
			return;
	}
}

struct cut_figure cut_one(struct cut *c, uint32_t holder, uint32_t target)
{
	const struct heap *h = c->retained->heap;
	const struct dominators *d = &c->retained->dominators;
	struct tally t = { .cut = c, .holder = holder, .target = target };
	if (d->immediate[target] == NOT_REACHABLE)
		return (struct cut_figure){ .freed = 0 };
	if (holder != HEAP_NONE && d->immediate[holder] == NOT_REACHABLE)
		t.holder = target; /* garbage keeps nothing: only the others count */
	uint64_t end = adjacency_start(&h->in, target + 1);
	bool more = true;
	for (uint64_t k = adjacency_start(&h->in, target); more && k < end; k++)
		if (!weak_is(heap_left_out(h), h->in.target[k], target))
			more = held_from(&t, h->in.target[k]);
	if (bits_get(&c->special, target)) {
		held_from_roots(&t);
		if (t.others < CUT_COUNTED)
			held_from_classes(&t);
	}
	if (holder != t.holder)
		return (struct cut_figure){ .others = t.others };
	/* a second reference of the same holder keeps it as well */
	uint32_t others = t.others;
	if (t.own > 1 && !cut_below(c, holder, target))
		others += t.own - 1;
	if (others > CUT_COUNTED)
		others = CUT_COUNTED;
	return (struct cut_figure){ .held = t.own > 0, .others = others,
		.freed = t.own && !others ? d->retained[target] : 0 };
}

/* --- several at once ---------------------------------------------------------------------------- */

int cut_edges_add(struct cut_edges *to, uint32_t holder, uint32_t target, struct err *err)
{
	if (to->n == to->cap) {
		size_t cap = to->cap ? 2 * to->cap : 64;
		struct cut_edge *more = big_resize(to->edge, to->cap, cap, sizeof *more, err);
		if (!more)
			return ERR_NOMEM;
		to->edge = more;
		to->cap = cap;
	}
	to->edge[to->n++] = (struct cut_edge){ holder, target };
	return 0;
}

void cut_edges_release(struct cut_edges *e)
{
	big_free(e->edge, e->cap, sizeof *e->edge);
	*e = (struct cut_edges){ .edge = NULL };
}

/* How many of the references to a target come from this holder; they are sorted by holder. */
static uint32_t recorded(const struct heap *h, uint32_t holder, uint32_t target)
{
	uint64_t low = adjacency_start(&h->in, target), end = adjacency_start(&h->in, target + 1);
	uint64_t high = end;
	uint32_t n = 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (h->in.target[middle] < holder)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < end && h->in.target[low] == holder; low++)
		n++;
	return n;
}

/* How many references of the model lead from the holder to the target. */
static uint32_t references(const struct heap *h, uint32_t holder, uint32_t target)
{
	struct implied_reference implied[3];
	size_t first, n_roots = heap_roots_of(h, target, &first);
	uint32_t class = heap_class_mirrored(h, target);
	if (holder == HEAP_NONE)
		return n_roots > 0;
	uint32_t n = weak_is(heap_left_out(h), holder, target) ? 0 : recorded(h, holder, target);
	for (unsigned i = heap_implied(h, holder, implied); i-- > 0;)
		n += implied[i].target == target;
	if (class != HEAP_NONE && heap_loader_holds(h, class))
		n += h->classes[class].loader == holder;
	for (size_t i = first; i < first + n_roots; i++)
		n += dominators_stack_owner(h, &h->roots[i]) == holder;
	return n;
}

static int by_ends(const void *x, const void *y)
{
	const struct cut_edge *a = x, *b = y;
	if (a->holder != b->holder)
		return a->holder < b->holder ? -1 : 1;
	return (a->target > b->target) - (a->target < b->target);
}

/* Index of the first edge not before this one. */
static size_t first_edge(const struct cut_edges *e, struct cut_edge wanted)
{
	size_t low = 0, high = e->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_ends(&e->edge[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct without {
	const struct heap *heap;
	const struct cut_edges *edges;
};

/* Is some reference left from the holder to the target? */
static bool passes(const void *context, uint32_t holder, uint32_t target)
{
	const struct without *w = context;
	struct cut_edge edge = { holder, target };
	size_t at = first_edge(w->edges, edge), n = 0;
	while (at + n < w->edges->n && !by_ends(&w->edges->edge[at + n], &edge))
		n++;
	return !n || references(w->heap, holder, target) > n;
}

/* What a thread's stack holds is walked once the thread is; its object may be found late. */
static int walk(const struct without *w, const struct bits *barred, const struct reach_filter *filter,
    struct bits *seen, uint32_t *stack, struct progress *progress, struct err *err)
{
	const struct heap *h = w->heap;
	size_t n_late = 0;
	size_t *late = xcalloc(h->n_roots + 1, sizeof *late);
	bool stopped = !progress_add(progress, 0);
	for (size_t i = 0; !stopped && i < h->n_roots; i++) {
		uint32_t id = h->roots[i].object, owner = dominators_stack_owner(h, &h->roots[i]);
		if (!passes(w, HEAP_NONE, id))
			continue;
		if (owner == HEAP_NONE)
			heap_reach_without(h, id, seen->word, stack, filter);
		else if (passes(w, owner, id))
			late[n_late++] = i;
		stopped = !progress_add(progress, 0);
	}
	for (bool again = true; again && !stopped;) {
		size_t left = 0;
		again = false;
		for (size_t i = 0; i < n_late; i++) {
			uint32_t owner = dominators_stack_owner(h, &h->roots[late[i]]);
			if (!bits_get(seen, owner) || bits_get(barred, owner)) {
				late[left++] = late[i];
				continue;
			}
			again |= heap_reach_without(
			    h, h->roots[late[i]].object, seen->word, stack, filter) > 0;
		}
		n_late = left;
	}
	free(late);
	return stopped ? err_set(err, ERR_CANCELLED, "stopped") : 0;
}

static void count_dead(struct cut_loss *out, const struct retained *r, const struct bits *alive,
    const struct bits *barred)
{
	const struct heap *h = r->heap;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		if (r->dominators.immediate[id] == NOT_REACHABLE)
			continue;
		if (bits_get(alive, id) && !bits_get(barred, id))
			continue;
		bits_set(&out->dead, id);
		out->objects++;
		out->bytes += heap_shallow(h, id);
	}
}

int cut_find(struct cut_loss *out, const struct retained *r, struct cut_edges *edges,
    const uint32_t *ids, size_t n_ids, struct progress *progress, struct err *err)
{
	const struct heap *h = r->heap;
	struct without w = { h, edges };
	struct bits alive = { .word = NULL }, barred = { .word = NULL }, holders = { .word = NULL };
	struct reach_filter filter = { &holders, passes, &w };
	uint32_t *stack = big_alloc(h->n_objects, sizeof *stack, err);
	*out = (struct cut_loss){ .objects = 0 };
	progress_phase(progress, "walking without the references", 0);
	int code = stack ? 0 : ERR_NOMEM;
	if (!code)
		code = bits_init(&alive, h->n_objects, err) | bits_init(&barred, h->n_objects, err) |
		    bits_init(&holders, h->n_objects, err) | bits_init(&out->dead, h->n_objects, err);
	if (code) {
		code = ERR_NOMEM;
		goto out;
	}
	if (edges->n)
		qsort(edges->edge, edges->n, sizeof *edges->edge, by_ends);
	for (size_t i = 0; i < edges->n; i++)
		if (edges->edge[i].holder != HEAP_NONE)
			bits_set(&holders, edges->edge[i].holder);
	for (size_t i = 0; i < n_ids; i++) {
		bits_set(&barred, ids[i]);
		bits_set(&alive, ids[i]); /* as if seen: not entered */
	}
	code = walk(&w, &barred, &filter, &alive, stack, progress, err);
	if (!code)
		count_dead(out, r, &alive, &barred);
out:
	bits_release(&alive);
	bits_release(&barred);
	bits_release(&holders);
	big_free(stack, h->n_objects, sizeof *stack);
	if (code)
		cut_loss_release(out);
	return code;
}

void cut_loss_release(struct cut_loss *l)
{
	bits_release(&l->dead);
	*l = (struct cut_loss){ .objects = 0 };
}
