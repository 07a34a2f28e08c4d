/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_plan.c - see what_if.h.
 *
 * Candidates are the objects that retain enough to matter.  Once other objects are freed, a
 * candidate frees what is still alive in its subtree; prefix sums in the order of the numbered tree
 * tell that.
 */
#include "analysis/what_if/what_if.h"

#include "analysis/describe/describe.h"
#include "analysis/what_if/what_if_groups.h"
#include "analysis/what_if/what_if_owner.h"
#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum {
	FINE = 1024,   /* candidates keep at least this part of what is wanted, or of the largest */
	FINEST = 1 << 20, /* and this one of what is reachable */
	LOOK_EVERY = 1 << 12, /* candidates weighed between two looks at the cancel flag */
	TRIES = 64,    /* choices that free nothing count, too */
};
static const double ALIKE = 1.01; /* a static field may free so much more than the reference below it */
static const double CHAINED = 0.9; /* a link of a chain retains so much of the one before */
static const double NEARLY = 1.25; /* a field that the program names, than an internal of a collection */

struct candidate {
	uint32_t id;
	uint32_t cost;  /* references that keep it; 0: it cannot be let go */
	uint64_t bytes; /* that go with it */
};

struct planning {
	const struct retained *r;
	struct what_if *cut;
	struct what_if_plan *plan;
	uint64_t wanted, least; /* choices free at least so much */
	struct candidate *candidate;
	size_t n, cap;
	struct bits unloads;  /* by object: classes go with it */
	struct what_if_loss loss; /* of all chosen; objects 0: nothing is */
	struct progress *progress;
	struct what_if_owner owner;
	struct what_if_groups groups;
	bool grouped;         /* the groups are those of now */
	bool pruned;          /* totals are to be found anew */
};

/* --- candidates --------------------------------------------------------------------------------- */

/* What is not an array class, nor one that the VM made for a lambda and that lives with its instance. */
static bool is_loaded_class(const struct heap_class *c)
{
	return c->object != HEAP_NONE && c->kind == CLASS_PLAIN && !strchr(c->name, '/');
}

/* Mark what stands above classes and loaders, up to where that is marked already. */
static int mark_unloading(struct planning *p, struct err *err)
{
	const struct heap *h = p->r->heap;
	const uint32_t *immediate = p->r->dominators.immediate;
	if (bits_init(&p->unloads, h->n_objects, err))
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes && !progress_stops(p->progress, c); c++) {
		uint32_t id = is_loaded_class(&h->classes[c]) ? h->classes[c].object : HEAP_NONE;
		for (; id < h->n_objects && !bits_get(&p->unloads, id); id = immediate[id])
			bits_set(&p->unloads, id);
	}
	return 0;
}

static bool is_dead(const struct planning *p, uint32_t id)
{
	return p->loss.objects.n && bits_get(&p->loss.dead, id);
}

/* References that keep an object from outside of what hangs below it: their number, up to
 * PLAN_TOGETHER; 0: more, or one that nobody can clear.  to: gets them, or NULL. */
static uint32_t keepers(struct planning *p, uint32_t id, struct what_if_edges *to, int *code, struct err *err)
{
	const struct heap *h = p->r->heap;
	const uint32_t *immediate = p->r->dominators.immediate;
	size_t first, n_roots = bits_get(&p->cut->special, id) ? heap_roots_of(h, id, &first) : 0;
	uint32_t n = n_roots > 0;
	if (n && !what_if_clearable(h, HEAP_NONE, id))
		return 0;
	if (n && to && !*code)
		*code = what_if_edges_add(to, HEAP_NONE, id, err);
	uint64_t end = adjacency_start(&h->in, id + 1);
	for (uint64_t k = adjacency_start(&h->in, id); k < end; k++) {
		uint32_t from = h->in.target[k];
		if (immediate[from] == NOT_REACHABLE || is_dead(p, from) ||
		    weak_is(p->r->model.left_out, from, id) || what_if_below(p->cut, from, id))
			continue;
		if (++n > PLAN_TOGETHER || !what_if_clearable(h, from, id))
			return 0;
		if (to && !*code)
			*code = what_if_edges_add(to, from, id, err);
	}
	return n;
}

static bool is_candidate(struct planning *p, uint32_t id, uint64_t least)
{
	const struct heap *h = p->r->heap;
	if (retained_size(p->r, id) < least || p->r->dominators.immediate[id] == NOT_REACHABLE)
		return false;
	return !bits_get(&p->unloads, id) && heap_class_index(h, id) != h->java_lang_class &&
	    !heap_class_of(h, id)->makes_loaders && !what_if_owner_internal(&p->owner, id);
}

/* The same for all that want more than the largest choice frees, so that who wants more gets more. */
static uint64_t least_of(struct planning *p)
{
	uint64_t all = p->r->dominators.shallow_reachable, largest = 0;
	for (uint32_t id = 0; id < p->r->heap->n_objects && !progress_stops(p->progress, id); id++)
		if (is_candidate(p, id, largest + 1) && keepers(p, id, NULL, NULL, NULL))
			largest = retained_size(p->r, id);
	uint64_t whole = largest ? largest : all;
	uint64_t least = (p->wanted < whole ? p->wanted : whole) / FINE;
	if (least < all / FINEST)
		least = all / FINEST;
	return least ? least : 1;
}

static int list_candidates(struct planning *p, struct err *err)
{
	const struct heap *h = p->r->heap;
	uint64_t least = p->least = least_of(p);
	size_t n = 0;
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(p->progress, id); id++)
		n += is_candidate(p, id, least);
	int code = what_if_owner_check(&p->owner, err); /* else other objects might be found below */
	if (code)
		return code;
	p->candidate = big_alloc(n, sizeof *p->candidate, err);
	if (!p->candidate)
		return ERR_NOMEM;
	p->cap = n;
	for (uint32_t id = 0; p->n < n && !progress_stops(p->progress, id); id++)
		if (is_candidate(p, id, least))
			p->candidate[p->n++] = (struct candidate){ .id = id };
	return progress_check(p->progress, err);
}

/* What of each candidate's subtree is alive: sums in the order of the numbers. */
static int weigh_alive(struct planning *p, struct err *err)
{
	const struct dominators *d = &p->r->dominators;
	uint64_t *before = big_alloc((uint64_t)d->n_reachable + 1, sizeof *before, err);
	if (!before)
		return ERR_NOMEM;
	for (uint32_t id = 0; id < d->n_objects && !progress_stops(p->progress, id); id++)
		if (d->immediate[id] != NOT_REACHABLE && !is_dead(p, id))
			before[p->cut->span[id].from + 1] = heap_shallow(p->r->heap, id);
	for (uint32_t k = 0; k < d->n_reachable && !progress_stops(p->progress, k); k++)
		before[k + 1] += before[k];
	for (size_t i = 0; i < p->n && !progress_stops(p->progress, i); i++) {
		const struct what_if_span *span = &p->cut->span[p->candidate[i].id];
		p->candidate[i].bytes = before[span->to + 1] - before[span->from];
	}
	big_free(before);
	return 0;
}

static int weigh(struct planning *p, struct err *err)
{
	int code = 0;
	progress_phase(p->progress, PHASE_WEIGH_REFERENCES, p->n);
	if (p->loss.objects.n)
		code = weigh_alive(p, err);
	for (size_t i = 0; !code && i < p->n; i++) {
		struct candidate *c = &p->candidate[i];
		if (!p->loss.objects.n)
			c->bytes = retained_size(p->r, c->id);
		c->cost = is_dead(p, c->id) ? 0 : keepers(p, c->id, NULL, NULL, NULL);
		if (i % LOOK_EVERY == 0 && !progress_add(p->progress, LOOK_EVERY))
			code = err_cancelled(err);
	}
	return code;
}

/* --- choosing ----------------------------------------------------------------------------------- */

/* How much of what is left a choice frees for each reference; ties go to the one that frees less. */
static bool better(uint64_t left, uint64_t bytes, uint32_t cost, uint64_t best_bytes, uint32_t best_cost)
{
	double value = (double)(bytes < left ? bytes : left) / cost;
	double best = best_cost ? (double)(best_bytes < left ? best_bytes : left) / best_cost : 0;
	if (value != best)
		return value > best;
	return cost != best_cost ? cost < best_cost : bytes < best_bytes;
}

static const struct candidate *best_candidate(const struct planning *p, uint64_t left)
{
	const struct candidate *best = NULL;
	for (size_t i = 0; i < p->n && !progress_stops(p->progress, i); i++) {
		const struct candidate *c = &p->candidate[i];
		if (c->cost && c->bytes && better(left, c->bytes, c->cost, best ? best->bytes : 0,
		    best ? best->cost : 0))
			best = c;
	}
	return best;
}

/* A link of a chain of one class is let go with the whole chain: nobody clears a link in the middle. */
static uint32_t chain_begin(struct planning *p, uint32_t id)
{
	const struct heap *h = p->r->heap;
	const struct dominators *d = &p->r->dominators;
	for (uint32_t up = d->immediate[id]; up < h->n_objects; id = up, up = d->immediate[id])
		if (heap_class_index(h, up) != heap_class_index(h, id) ||
		    (double)dominators_retained(d, id) < CHAINED * (double)dominators_retained(d, up) ||
		    !is_candidate(p, up, 0) || keepers(p, up, NULL, NULL, NULL) != 1)
			break;
	return id;
}

/* A static field that frees hardly more than the reference below it says more; so does a field that
 * the program gave a name, or a root, than one inside of a collection. */
static uint32_t named_above(struct planning *p, const struct candidate *c)
{
	const struct heap *h = p->r->heap;
	const struct dominators *d = &p->r->dominators;
	uint32_t begin = chain_begin(p, c->id);
	double bytes = (double)dominators_retained(d, begin), slack = bytes + (double)p->wanted / 64;
	double nearly = NEARLY * bytes > slack ? NEARLY * bytes : slack;
	bool inside = true; /* of a collection, as far as we came */
	for (uint32_t id = begin, best = id;;) {
		uint32_t up = d->immediate[id];
		if (up >= h->n_objects)
			return inside ? id : best;
		if (heap_class_index(h, up) == h->java_lang_class)
			return id;
		if (inside && what_if_owner_names(&p->owner, heap_class_index(h, up))) {
			inside = false;
			best = id;
		}
		double above = (double)dominators_retained(d, up);
		if (above > (inside ? nearly : ALIKE * bytes) || !is_candidate(p, up, 0))
			return best;
		uint32_t n = keepers(p, up, NULL, NULL, NULL);
		if (n != 1) /* nobody clears what a collection is made of: rather all references to it */
			return inside && n && inspect_is_collection(h, up) ? up : best;
		id = up;
	}
}

static int edges_between_classes(
    struct what_if_edges *to, const struct model *m, const struct what_if_group *g, struct err *err)
{
	const struct heap *h = m->heap;
	int code = 0;
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(id); id++) {
		if (heap_class_index(h, id) != g->class)
			continue;
		uint64_t end = adjacency_start(&h->out, id + 1);
		for (uint64_t k = adjacency_start(&h->out, id); !code && k < end; k++)
			if (heap_class_index(h, h->out.target[k]) == g->to_class &&
			    !weak_is(m->left_out, id, h->out.target[k]))
				code = what_if_edges_add(to, id, h->out.target[k], err);
	}
	return code;
}

static int take_group(
    struct planning *p, struct plan_item *item, const struct what_if_group *g, struct err *err)
{
	unsigned found;
	*item = (struct plan_item){
		.target = HEAP_NONE, .class = g->class, .field = g->field, .to_class = g->to_class };
	if (!g->field)
		return edges_between_classes(&item->edges, &p->r->model, g, err);
	return what_if_edges_add_field(&item->edges, p->r->heap, g->class, g->field, true, &found, err);
}

static int take_candidate(
    struct planning *p, struct plan_item *item, const struct candidate *c, struct err *err)
{
	int code = 0;
	uint32_t target = c->cost == 1 ? named_above(p, c) : c->id;
	*item = (struct plan_item){ .target = target, .class = HEAP_NONE, .to_class = HEAP_NONE };
	keepers(p, item->target, &item->edges, &code, err);
	return code;
}

/* The next choice; *found false: there is none. */
static int choose(struct planning *p, struct plan_item *item, bool *found, struct err *err)
{
	uint64_t left = p->wanted - p->loss.bytes.n;
	const struct candidate *c = best_candidate(p, left);
	*found = c != NULL;
	/* one reference that does it needs no comparing */
	if (!(c && c->cost == 1 && c->bytes >= left) && !p->grouped) {
		what_if_groups_release(&p->groups);
		int code = what_if_groups_find(&p->groups, p->cut, p->loss.objects.n ? &p->loss.dead : NULL,
		    left / FINE < p->least ? left / FINE : p->least, p->progress, err);
		if (code)
			return code;
		p->grouped = true;
	}
	struct what_if_group *best = NULL;
	for (size_t i = 0; p->grouped && i < p->groups.n; i++) {
		struct what_if_group *g = &p->groups.group[i];
		uint64_t bytes = best ? best->bytes : c ? c->bytes : 0;
		if (g->bytes && better(left, g->bytes, 1, bytes, best ? 1 : c ? c->cost : 0))
			best = g;
	}
	uint64_t most = best ? best->bytes : c ? c->bytes / c->cost : 0;
	if (most < p->least && most < left) { /* not worth a row */
		*found = false;
		return 0;
	}
	/* where both are enough a single reference is the smaller thing */
	if (best && c && c->cost == 1 && c->bytes >= left)
		best = NULL;
	if (best) {
		*found = true;
		int code = take_group(p, item, best, err);
		best->bytes = 0; /* once is enough */
		return code;
	}
	if (!c)
		return 0;
	int code = take_candidate(p, item, c, err);
	p->candidate[c - p->candidate].cost = 0; /* once is enough */
	return code;
}

/* --- walking ------------------------------------------------------------------------------------ */

/* What all items but one free together; extra: one more, or NULL. */
static int walk_without(struct planning *p, size_t but, const struct plan_item *extra,
    struct what_if_loss *loss, struct err *err)
{
	struct what_if_edges all = { .edge = NULL };
	int code = 0;
	for (size_t i = 0; i <= p->plan->n; i++) {
		const struct plan_item *item = i < p->plan->n ? &p->plan->item[i] : extra;
		if (i == but || !item)
			continue;
		for (size_t k = 0; !code && k < item->edges.n && !progress_stops(p->progress, k); k++)
			code = what_if_edges_add(&all, item->edges.edge[k].holder, item->edges.edge[k].target, err);
	}
	if (!code)
		code = what_if_find(loss, &p->r->model, &all, NULL, 0, p->progress, err);
	what_if_edges_release(&all);
	return code;
}

static int walk_alone(struct planning *p, struct plan_item *item, struct err *err)
{
	struct what_if_loss loss;
	if (item->edges.n == 1) { /* the tree tells */
		item->freed = what_if_one(p->cut, item->edges.edge[0].holder, item->edges.edge[0].target).freed;
		return 0;
	}
	int code = what_if_find(&loss, &p->r->model, &item->edges, NULL, 0, p->progress, err);
	if (code)
		return code;
	item->freed = loss.bytes;
	what_if_loss_release(&loss);
	return 0;
}

static int try_item(struct planning *p, struct plan_item *item, bool *kept, struct err *err)
{
	struct what_if_loss loss;
	*kept = false;
	int code = walk_without(p, SIZE_MAX, item, &loss, err);
	if (code)
		return code;
	if (loss.bytes.n <= p->loss.bytes.n) {
		what_if_loss_release(&loss);
		return 0;
	}
	*kept = true;
	what_if_loss_release(&p->loss);
	p->loss = loss;
	p->grouped = false;
	item->total = loss.bytes;
	return 0;
}

static int choose_all(struct planning *p, struct err *err)
{
	int code = weigh(p, err);
	for (unsigned tries = 0; !code && tries < TRIES && p->plan->n < PLAN_MOST &&
	    p->loss.bytes.n < p->wanted; tries++) {
		struct plan_item item = { .edges = { .edge = NULL } };
		bool found, kept = false;
		code = choose(p, &item, &found, err);
		if (!code && found)
			code = try_item(p, &item, &kept, err);
		struct plan_item *to = kept ? BIG_PUSH(p->plan->item, p->plan->n, p->plan->cap, err) : NULL;
		if (to)
			*to = item;
		else
			what_if_edges_release(&item.edges);
		if (kept && !to)
			code = ERR_NOMEM;
		if (!found)
			break;
		if (!code && kept && p->loss.bytes.n < p->wanted)
			code = weigh(p, err);
	}
	return code;
}

/* Leave out what the others make unnecessary, the least first. */
static int prune(struct planning *p, struct err *err)
{
	struct what_if_plan *plan = p->plan;
	uint64_t enough = p->loss.bytes.n < p->wanted ? p->loss.bytes.n : p->wanted;
	int code = 0;
	for (size_t i = plan->n; !code && plan->n > 1 && i-- > 0;) {
		struct what_if_loss loss;
		code = walk_without(p, i, NULL, &loss, err);
		if (code || loss.bytes.n < enough) {
			if (!code)
				what_if_loss_release(&loss);
			continue;
		}
		what_if_loss_release(&p->loss);
		p->loss = loss;
		what_if_edges_release(&plan->item[i].edges);
		memmove(&plan->item[i], &plan->item[i + 1], (plan->n - i - 1) * sizeof *plan->item);
		plan->n--;
		p->pruned = true;
	}
	return code;
}

/* What each frees alone, and the totals as they stand now. */
static int settle(struct planning *p, struct err *err)
{
	struct what_if_plan *plan = p->plan;
	size_t n = plan->n;
	int code = 0;
	for (size_t i = 0; !code && i < n; i++) {
		struct what_if_loss loss;
		code = walk_alone(p, &plan->item[i], err);
		plan->n = i + 1; /* those up to here */
		if (!code && p->pruned && i + 1 < n && i > 0) {
			code = walk_without(p, SIZE_MAX, NULL, &loss, err);
			if (!code) {
				plan->item[i].total = loss.bytes;
				what_if_loss_release(&loss);
			}
		}
	}
	plan->n = n;
	if (!code && n) {
		plan->item[0].total = plan->item[0].freed;
		plan->item[n - 1].total = p->loss.bytes;
	}
	plan->objects = p->loss.objects;
	plan->bytes = p->loss.bytes;
	plan->reached = p->loss.bytes.n >= p->wanted;
	return code;
}

int what_if_plan_find(struct what_if_plan *out, const struct retained *r, uint64_t wanted,
    struct progress *progress, struct err *err)
{
	struct what_if cut = { .retained = NULL };
	struct planning p = {
		.r = r, .cut = &cut, .plan = out, .wanted = wanted, .progress = progress,
		.loss = { .objects = heap_held(r->heap, 0), .bytes = heap_held_sized(r->heap, 0, 0) } };
	*out = (struct what_if_plan){ .n = 0 };
	progress_phase(progress, PHASE_NUMBER_TREE, 0);
	int code = what_if_init(&cut, r, err);
	if (!code)
		code = what_if_number(&cut, err);
	if (!code)
		code = mark_unloading(&p, err);
	if (!code)
		code = what_if_owner_init(&p.owner, r, err);
	if (!code)
		code = list_candidates(&p, err);
	if (!code)
		code = choose_all(&p, err);
	if (!code)
		code = prune(&p, err);
	if (!code)
		code = settle(&p, err);
	if (!code)
		code = what_if_owner_check(&p.owner, err);
	if (!code)
		code = progress_check(p.progress, err);
	what_if_groups_release(&p.groups);
	what_if_owner_release(&p.owner);
	what_if_loss_release(&p.loss);
	bits_release(&p.unloads);
	big_free(p.candidate);
	what_if_release(&cut);
	if (code)
		what_if_plan_release(out);
	return code;
}

void what_if_plan_release(struct what_if_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		what_if_edges_release(&p->item[i].edges);
	big_free(p->item);
	*p = (struct what_if_plan){ .n = 0 };
}
