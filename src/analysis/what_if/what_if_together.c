/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_together.c - the few references that together keep something (what_if.h).
 *
 * They are a smallest cut between the roots and the targets, found as a largest flow: references that a person
 * would clear carry one unit, all others any number.  Each search goes backward from the targets, by what still
 * carries more, to a root, a class object or a loader (nobody clears what holds those).  The last search, which
 * finds none, sees just what hangs below the cut, so it is small where the answer is.
 */
#include "analysis/what_if/what_if_owner.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"

#define NO_PLACE UINT32_MAX

/* A reference that carries something.  from HEAP_NONE: the roots' hold. */
struct carrier {
	uint32_t from, to, units;
	bool one; /* it carries one unit at most */
};

/* An object that a search came to, from the one of this place in the list. */
struct reached {
	uint32_t id, from;
	bool undoes; /* by taking back what the reference of that one to this one carries */
};

struct together {
	struct what_if *cut;
	struct what_if_owner *owner;
	const struct heap *heap;
	const uint32_t *immediate;
	const uint32_t *ids;
	size_t n_ids;
	enum what_if_fame least;      /* of a reference that carries one unit */
	struct carrier *carrier;  /* the first n_sorted by their end */
	size_t n, cap, n_sorted;
	uint32_t *by_holder;      /* places of the sorted ones */
	struct bits carries;      /* by id: one of these ends or begins there */
	struct bits seen;
	struct reached *list;
	size_t n_list, cap_list;
	uint64_t effort;          /* left: references to look at */
	bool tired;
	struct progress *progress;
};

/* --- what carries something --------------------------------------------------------------------- */

static int by_end(const void *x, const void *y)
{
	const struct carrier *a = x, *b = y;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static int by_holder(const void *x, const void *y, void *carriers)
{
	const struct carrier *c = carriers;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	if (c[i].from != c[k].from)
		return c[i].from < c[k].from ? -1 : 1;
	return (i > k) - (i < k);
}

static struct carrier *carrier_of(struct together *t, uint32_t from, uint32_t to)
{
	struct carrier wanted = {.from = from, .to = to};
	size_t at;
	if (!bits_get(&t->carries, to))
		return NULL;
	BISECT(at, t->n_sorted, by_end(&t->carrier[at], &wanted) < 0);
	return at < t->n_sorted && !by_end(&t->carrier[at], &wanted) ? &t->carrier[at] : NULL;
}

static bool is_full(struct together *t, uint32_t from, uint32_t to)
{
	const struct carrier *c = carrier_of(t, from, to);
	return c && c->one && c->units;
}

/* How many references lead from the one to the other. */
static size_t references(const struct heap *h, uint32_t from, uint32_t to)
{
	size_t n = 0;
	uint64_t end = adjacency_start(&h->in, to + 1);
	for (uint64_t k = adjacency_start(&h->in, to); k < end; k++)
		n += h->in.target[k] == from;
	return n;
}

/* Is it one reference, and one that a person would clear? */
static bool carries_one(struct together *t, uint32_t from, uint32_t to)
{
	const struct heap *h = t->heap;
	enum what_if_fame fame = from == HEAP_NONE && t->least == FAME_OWN ? FAME_OWN : what_if_fame(h, from, to);
	return fame >= t->least && !what_if_untold(h, from, to) && what_if_clearable(h, from, to) &&
	    (from == HEAP_NONE || references(h, from, to) == 1) && !what_if_owner_inside(t->owner, from, to);
}

static int sort_carriers(struct together *t, struct err *err)
{
	uint32_t *order = big_resize(t->by_holder, t->n, sizeof *order, err);
	if (!order)
		return ERR_NOMEM;
	t->by_holder = order;
	sort_array(t->carrier, t->n, sizeof *t->carrier, by_end);
	for (size_t i = 0; i < t->n; i++) {
		order[i] = (uint32_t)i;
		bits_set(&t->carries, t->carrier[i].to);
		if (t->carrier[i].from != HEAP_NONE)
			bits_set(&t->carries, t->carrier[i].from);
	}
	sort_array_with(order, t->n, sizeof *order, by_holder, t->carrier);
	t->n_sorted = t->n;
	return 0;
}

/* --- a way -------------------------------------------------------------------------------------- */

/* Nobody clears what holds classes: ways from the roots begin there. */
static bool begins_ways(const struct heap *h, uint32_t id)
{
	return heap_class_mirrored(h, id) != HEAP_NONE || heap_class_of(h, id)->makes_loaders;
}

static int come_to(struct together *t, uint32_t id, uint32_t from, bool undoes, struct err *err)
{
	if (bits_get(&t->seen, id))
		return 0;
	if (BIG_ADD(t->list, t->n_list, t->cap_list, err, (struct reached){id, from, undoes}))
		return ERR_NOMEM;
	bits_set(&t->seen, id);
	return 0;
}

static int come_to_holders(struct together *t, uint32_t place, struct err *err)
{
	const struct heap *h = t->heap;
	uint32_t id = t->list[place].id;
	uint64_t end = adjacency_start(&h->in, id + 1);
	int code = 0;
	for (uint64_t k = adjacency_start(&h->in, id); !code && k < end && !t->tired; k++) {
		uint32_t from = h->in.target[k];
		t->tired = !t->effort--;
		if (t->immediate[from] != NOT_REACHABLE && !weak_is(t->cut->retained->model.left_out, from, id) &&
		    !is_full(t, from, id))
			code = come_to(t, from, place, false, err);
	}
	if (code || !bits_get(&t->carries, id))
		return code;
	size_t at;
	BISECT(at, t->n_sorted, t->carrier[t->by_holder[at]].from < id);
	for (; !code && at < t->n_sorted && t->carrier[t->by_holder[at]].from == id; at++) {
		const struct carrier *c = &t->carrier[t->by_holder[at]];
		if (c->units)
			code = come_to(t, c->to, place, true, err);
	}
	return code;
}

/* Where a way begins on which one unit more can be carried: *place, or NO_PLACE; *by_root: from the roots' hold on
 * that object. */
static int search(struct together *t, uint32_t *place, bool *by_root, struct err *err)
{
	int code = 0;
	*place = NO_PLACE;
	for (size_t i = 0; i < t->n_list; i++)
		t->seen.word[t->list[i].id / 64] = 0;
	t->n_list = 0;
	for (size_t i = 0; !code && i < t->n_ids; i++)
		code = come_to(t, t->ids[i], NO_PLACE, false, err);
	for (uint32_t at = 0; !code && !t->tired && at < t->n_list; at++) {
		uint32_t id = t->list[at].id;
		if (progress_stops(t->progress, at))
			return err_cancelled(err);
		bool beginning = begins_ways(t->heap, id);
		*by_root = !beginning && heap_is_root(t->heap, id) && !is_full(t, HEAP_NONE, id);
		if (*by_root || beginning) {
			*place = at;
			return 0;
		}
		code = come_to_holders(t, at, err);
	}
	return code;
}

/* *bounded is set if it carries one unit at most. */
static int carry(struct together *t, uint32_t from, uint32_t to, bool *bounded, struct err *err)
{
	struct carrier *c = carrier_of(t, from, to);
	if (!c && (c = BIG_PUSH(t->carrier, t->n, t->cap, err)))
		*c = (struct carrier){from, to, 0, carries_one(t, from, to)};
	if (!c)
		return ERR_NOMEM;
	*bounded |= c->one;
	c->units++;
	return 0;
}

/* Carry one unit more from that beginning to the targets.  *bounded: the way has a limit. */
static int carry_all_the_way(struct together *t, uint32_t place, bool by_root, bool *bounded, struct err *err)
{
	int code = 0;
	*bounded = false;
	if (by_root)
		code = carry(t, HEAP_NONE, t->list[place].id, bounded, err);
	for (uint32_t rounds = 0; !code && t->list[place].from != NO_PLACE; rounds++) {
		const struct reached *at = &t->list[place], *next = &t->list[at->from];
		if (progress_stops(t->progress, rounds))
			return err_cancelled(err);
		if (at->undoes) {
			carrier_of(t, next->id, at->id)->units--;
			*bounded = true;
		} else {
			code = carry(t, at->id, next->id, bounded, err);
		}
		place = at->from;
	}
	return code ? code : sort_carriers(t, err);
}

/* The full references that lead out of what the last search saw. */
static int take_cut(const struct together *t, struct what_if_edges *to, struct err *err)
{
	int code = 0;
	for (size_t i = 0; !code && i < t->n; i++) {
		const struct carrier *c = &t->carrier[i];
		if (c->one && c->units && bits_get(&t->seen, c->to) &&
		    (c->from == HEAP_NONE || !bits_get(&t->seen, c->from)))
			code = what_if_edges_add(to, c->from, c->to, err);
	}
	return code;
}

/* A smallest cut of at most so many references of that fame; none added: there is none. */
static int find(struct together *t, size_t most, struct what_if_edges *to, struct err *err)
{
	uint32_t place;
	bool by_root, bounded = true;
	int code = 0;
	for (size_t i = 0; i < t->n; i++) {
		t->carries.word[t->carrier[i].to / 64] = 0;
		if (t->carrier[i].from != HEAP_NONE)
			t->carries.word[t->carrier[i].from / 64] = 0;
	}
	t->n = t->n_sorted = 0;
	for (size_t n = 0; !code && bounded && n <= most; n++) {
		code = search(t, &place, &by_root, err);
		if (code || t->tired)
			return code;
		if (place == NO_PLACE)
			return take_cut(t, to, err);
		code = carry_all_the_way(t, place, by_root, &bounded, err);
	}
	return code;
}

static void together_release(struct together *t)
{
	bits_release(&t->seen);
	bits_release(&t->carries);
	big_free(t->carrier);
	big_free(t->by_holder);
	big_free(t->list);
}

/* What dies, if that is all of them. */
static int find_freed(struct together *t, struct what_if_edges *edges, struct amount *freed, struct err *err)
{
	struct what_if_loss loss;
	int code = what_if_find(&loss, &t->cut->retained->model, edges, NULL, 0, t->progress, err);
	if (code)
		return code;
	bool all = true;
	for (size_t i = 0; all && i < t->n_ids; i++)
		all = bits_get(&loss.dead, t->ids[i]);
	*freed = loss.bytes;
	what_if_loss_release(&loss);
	if (!all)
		what_if_edges_release(edges);
	return 0;
}

int what_if_together(struct what_if_edges *out, struct amount *freed, struct what_if *c, struct what_if_owner *owner,
    const uint32_t *ids, size_t n, enum what_if_fame least, uint64_t effort, struct progress *progress, struct err *err)
{
	const struct heap *h = c->retained->heap;
	struct together t = {.cut = c, .owner = owner, .heap = h, .immediate = c->retained->dominators.immediate,
	    .ids = ids, .n_ids = n, .effort = effort, .progress = progress};
	*out = (struct what_if_edges){.edge = NULL};
	int code = bits_init(&t.seen, h->n_objects, err);
	if (!code)
		code = bits_init(&t.carries, h->n_objects, err);
	size_t most = WHAT_IF_TOGETHER;
	for (enum what_if_fame fame = FAME_GLOBAL + 1; !code && !t.tired && most && fame-- > least;) {
		struct what_if_edges found = {.edge = NULL};
		t.least = fame;
		code = find(&t, most, &found, err);
		if (!code && found.n) {
			what_if_edges_release(out);
			*out = found;
			most = found.n - 1; /* another is better only if it is smaller */
		} else {
			what_if_edges_release(&found);
		}
	}
	if (!code && out->n)
		code = find_freed(&t, out, freed, err);
	if (code)
		what_if_edges_release(out);
	together_release(&t);
	return code;
}

/* --- what globals alone hold -------------------------------------------------------------------- */

static int add_global(struct together *t, struct what_if_edges *to, uint32_t from, uint32_t id, struct err *err)
{
	bool counts = t->immediate[id] != NOT_REACHABLE && carries_one(t, from, id);
	return counts ? what_if_edges_add(to, from, id, err) : 0;
}

static int add_globals(struct together *t, struct what_if_edges *to, struct err *err)
{
	const struct heap *h = t->heap;
	int code = 0;
	for (size_t i = 0; !code && i < h->n_roots && !progress_stops(t->progress, i); i++)
		if (!i || h->roots[i].object != h->roots[i - 1].object)
			code = add_global(t, to, HEAP_NONE, h->roots[i].object, err);
	for (uint32_t c = 0; !code && c < h->n_classes && !progress_stops(t->progress, c); c++) {
		uint32_t holder = h->classes[c].object;
		uint64_t end = holder == HEAP_NONE ? 0 : adjacency_start(&h->out, holder + 1);
		for (uint64_t k = end ? adjacency_start(&h->out, holder) : 0; !code && k < end; k++)
			code = add_global(t, to, holder, h->out.target[k], err);
	}
	return code ? code : progress_check(t->progress, err);
}

/* What they free when all are cleared, found once. */
static int free_globals(struct together *t, struct err *err)
{
	struct what_if_edges globals = {.edge = NULL};
	struct what_if_loss loss;
	int code = add_globals(t, &globals, err);
	if (!code && !globals.n)
		return bits_init(&t->owner->by_globals, t->heap->n_objects, err);
	if (!code)
		code = what_if_find(&loss, &t->cut->retained->model, &globals, NULL, 0, t->progress, err);
	if (!code) {
		t->owner->by_globals = loss.dead;
		loss.dead.word = NULL;
		what_if_loss_release(&loss);
	}
	what_if_edges_release(&globals);
	return code;
}

int what_if_held_by_globals(uint32_t *to, size_t *n_to, struct what_if *c, struct what_if_owner *owner,
    const uint32_t *ids, size_t n, struct progress *progress, struct err *err)
{
	struct together t = {.cut = c, .owner = owner, .heap = c->retained->heap, .least = FAME_GLOBAL,
	    .immediate = c->retained->dominators.immediate, .progress = progress};
	*n_to = 0;
	int code = owner->by_globals.word ? 0 : free_globals(&t, err);
	for (size_t i = 0; !code && i < n; i++)
		if (bits_get(&owner->by_globals, ids[i]))
			to[(*n_to)++] = ids[i];
	return code;
}
