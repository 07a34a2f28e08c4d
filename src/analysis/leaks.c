/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks.c - see leaks.h. */
#include "analysis/leaks.h"

#include "algorithms/sort.h"
#include "analysis/search.h"
#include "analysis/what_if/what_if.h"
#include "base/amount.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* The way goes on to a child that retains so much of its parent: Eclipse MAT's ratio. */
static const double NEARLY_ALL = 0.7;
static const double SMALLEST_SHARE = 0.01; /* percent */
enum { CHAIN = 4 }; /* so many objects of one class in a row are a chain */

struct search {
	const struct retained *r;
	struct leaks *out;
	uint32_t *open; /* objects whose children are to be looked at: HEAP_NONE the top, then classes … */
	size_t n_open, cap_open;
	struct piece {
		uint32_t class, id;
	} *piece; /* too small by themselves */
	size_t n_pieces, cap_pieces;
};

/* The child that retains most; HEAP_NONE: there is none. */
static uint32_t largest_child(const struct search *s, uint32_t id)
{
	uint32_t n, best = HEAP_NONE;
	const uint32_t *child = retained_children(s->r, id, &n);
	for (uint32_t i = 0; i < n && !progress_own_stops(i); i++)
		if (best == HEAP_NONE || retained_size(s->r, child[i]) > retained_size(s->r, best))
			best = child[i];
	return best;
}

/* Does it hold classes, or what static fields hold? */
static bool holds_everything(const struct heap *h, uint32_t id)
{
	return heap_class_mirrored(h, id) != HEAP_NONE || heap_class_of(h, id)->makes_loaders;
}

/* A root of the VM, like the array of all that its class archive names. */
static bool is_vms_own(const struct heap *h, uint32_t id)
{
	size_t first, n = heap_roots_of(h, id, &first);
	while (n && !h->roots[first + n - 1].vms_own)
		n--;
	return n > 0;
}

/* Do the ways part here into suspects of their own? */
static bool parts(const struct search *s, uint32_t id)
{
	const struct heap *h = s->r->heap;
	uint32_t n, large = 0, special = 0;
	const uint32_t *child = retained_children(s->r, id, &n);
	for (uint32_t i = 0; i < n && !progress_own_stops(i); i++) {
		if (retained_size(s->r, child[i]) <= s->out->least)
			continue;
		large++;
		special += holds_everything(h, child[i]);
	}
	return special || (large && holds_everything(h, id));
}

static int add(struct search *s, const struct suspect *suspect, struct err *err)
{
	return BIG_ADD(s->out->suspect, s->out->n, s->out->cap, err, *suspect);
}

static int open_children(struct search *s, uint32_t id, struct err *err)
{
	return BIG_ADD(s->open, s->n_open, s->cap_open, err, id);
}

/* Does a loader or a class object hold it, which is none itself: a loader's own list of its classes? */
static bool is_list_of_loader(const struct search *s, uint32_t id)
{
	uint32_t above = s->r->dominators.immediate[id];
	return above != DOMINATED_BY_ROOTS && holds_everything(s->r->heap, above) && !holds_everything(s->r->heap, id);
}

/* Down the tree as long as one child keeps nearly all; a chain of one class counts at the holder of its first link. */
static void pile_up(const struct search *s, struct suspect *one)
{
	const struct heap *h = s->r->heap;
	uint32_t at = one->id, above = at, alike = 1, before_chain = at;
	bool list = is_list_of_loader(s, at);
	for (uint64_t steps = 0; !progress_own_stops(steps); steps++) {
		uint32_t child = largest_child(s, at);
		if (child == HEAP_NONE || retained_size(s->r, child) <= s->out->least ||
		    (double)retained_size(s->r, child) < NEARLY_ALL * (double)retained_size(s->r, at))
			break;
		bool same = heap_class_index(h, child) == heap_class_index(h, at) && !holds_everything(h, at);
		if (same && alike == 1)
			before_chain = above;
		alike = same ? alike + 1 : 1;
		if (alike == CHAIN) {
			one->piles_up = before_chain;
			one->chain = true;
			return;
		}
		if (list && heap_class_mirrored(h, child) != HEAP_NONE) { /* the class is to blame */
			one->id = child;
			one->retained = retained_of(s->r, child);
		}
		above = at;
		at = child;
	}
	one->piles_up = at;
}

static int follow(struct search *s, uint32_t id, struct err *err)
{
	struct suspect one = { .id = id, .n = 1, .retained = retained_of(s->r, id) };
	if (is_vms_own(s->r->heap, id)) {
		s->out->vms_own = amount_add(s->out->vms_own, one.retained);
		return open_children(s, id, err);
	}
	pile_up(s, &one);
	return !one.chain && parts(s, one.piles_up) ? open_children(s, one.piles_up, err) : add(s, &one, err);
}

static int add_piece(struct search *s, uint32_t id, struct err *err)
{
	return BIG_ADD(s->piece, s->n_pieces, s->cap_pieces, err,
	    (struct piece){ heap_class_index(s->r->heap, id), id });
}

static int by_class(const void *x, const void *y)
{
	const struct piece *a = x, *b = y;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int by_retained(const void *x, const void *y)
{
	const struct suspect *a = x, *b = y;
	if (a->retained.n != b->retained.n)
		return a->retained.n > b->retained.n ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int add_group(
    struct search *s, const struct piece *piece, size_t n, uint64_t bytes, struct err *err)
{
	struct suspect group = { .id = piece[0].id, .n = (uint32_t)n,
		.retained = amount_weaken(heap_held_sized(s->r->heap, bytes, 0), LOWER_BOUND, REASON_JOINT) };
	group.ids = big_alloc(n, sizeof *group.ids, err);
	if (!group.ids)
		return ERR_NOMEM;
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		group.ids[i] = piece[i].id;
		group.retained = amount_as_sure(group.retained, retained_of(s->r, piece[i].id));
		if (retained_size(s->r, piece[i].id) > retained_size(s->r, group.id))
			group.id = piece[i].id;
	}
	group.piles_up = group.id;
	int code = add(s, &group, err);
	if (code)
		big_free(group.ids);
	return code;
}

static int find_groups(struct search *s, struct err *err)
{
	int code = 0;
	if (!s->n_pieces)
		return 0;
	code = sort(s->piece, s->n_pieces, sizeof *s->piece, by_class, err);
	for (size_t i = 0, end; !code && i < s->n_pieces; i = end) {
		uint64_t bytes = 0;
		if (progress_own_stops(i))
			code = err_cancelled(err);
		for (end = i; end < s->n_pieces && s->piece[end].class == s->piece[i].class; end++)
			bytes += retained_size(s->r, s->piece[end].id);
		if (bytes > s->out->least)
			code = add_group(s, s->piece + i, end - i, bytes, err);
	}
	return code;
}

int leaks_find(struct leaks *out, const struct retained *r, double share, struct progress *progress,
    struct err *err)
{
	struct search s = { .r = r, .out = out };
	*out = (struct leaks){ .least = (uint64_t)((double)r->dominators.shallow_reachable * share / 100),
		.vms_own = amount_exact(0) };
	progress_phase(progress, PHASE_FIND_SUSPECTS, 0);
	int code = open_children(&s, HEAP_NONE, err);
	while (!code && s.n_open) {
		uint32_t n, id = s.open[--s.n_open];
		const uint32_t *child = retained_children(r, id, &n);
		bool own = id != HEAP_NONE && is_vms_own(r->heap, id), vms = own && !holds_everything(r->heap, id);
		for (uint32_t i = 0; !code && i < n && !progress_stops(progress, i); i++) {
			if (vms && !holds_everything(r->heap, child[i]))
				continue;
			if (own) /* a suspect of its own, or too small for one */
				out->vms_own.n -= retained_size(s.r, child[i]);
			if (retained_size(s.r, child[i]) > out->least)
				code = follow(&s, child[i], err);
			else if (heap_class_mirrored(r->heap, child[i]) == HEAP_NONE)
				code = add_piece(&s, child[i], err);
		}
		if (!code && !progress_add(progress, n))
			code = err_cancelled(err);
	}
	if (!code)
		code = find_groups(&s, err);
	sort_array(out->suspect, out->n, sizeof *out->suspect, by_retained);
	big_free(s.open);
	big_free(s.piece);
	if (code)
		leaks_release(out);
	return code;
}

size_t leaks_largest_children(const struct retained *r, uint32_t id, uint32_t *to, size_t most)
{
	uint32_t n_children;
	const uint32_t *child = retained_children(r, id, &n_children);
	size_t n = 0;
	for (uint32_t i = 0; i < n_children && !progress_own_stops(i); i++) {
		size_t at = n < most ? n++ : most;
		for (; at && retained_size(r, child[i]) > retained_size(r, to[at - 1]); at--)
			if (at < most)
				to[at] = to[at - 1];
		if (at < most)
			to[at] = child[i];
	}
	double all = (double)(retained_size(r, id) - heap_shallow(r->heap, id)), sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += (double)retained_size(r, to[i]);
		if (sum >= NEARLY_ALL * all)
			return i + 1;
	}
	return 0;
}

int leaks_find_holders(struct leaks *out, const struct retained *r, double share, size_t most,
    struct progress *progress, struct err *err)
{
	int code = 0;
	*out = (struct leaks){.n = 0};
	for (share /= 2; !code && out->n < most && share > SMALLEST_SHARE; share /= 2) {
		leaks_release(out);
		code = leaks_find(out, r, share, progress, err);
	}
	while (!code && out->n > most)
		big_free(out->suspect[--out->n].ids);
	return code;
}

void leaks_release(struct leaks *l)
{
	for (size_t i = 0; i < l->n; i++)
		big_free(l->suspect[i].ids);
	big_free(l->suspect);
	*l = (struct leaks){ .n = 0 };
}

/* --- what groups free ----------------------------------------------------------------------------- */

/* Several in one walk, or each by its own where memory does not allow that. */
static int size_few(struct what_if_class *class, struct suspect **group, unsigned n, const uint32_t *ids,
    size_t n_ids, const struct retained *r, struct progress *progress, struct err *err)
{
	int code = what_if_some_of_classes(class, n, ids, n_ids, r, progress, err);
	if (code != ERR_NOMEM || n == 1)
		return code;
	if (err)
		*err = (struct err)ERR_INIT;
	code = 0;
	for (unsigned i = 0; !code && i < n; i++)
		code = what_if_some_of_classes(&class[i], 1, group[i]->ids, group[i]->n, r, progress, err);
	return code;
}

/* Of the groups from suspect *at on, as many as one walk sizes; no two are of one class.  to: room for all members. */
static int size_next(struct leaks *l, size_t *at, uint32_t *to, const struct retained *r, struct progress *progress,
    struct err *err)
{
	struct what_if_class class[WHAT_IF_CLASSES];
	struct suspect *group[WHAT_IF_CLASSES];
	unsigned n = 0;
	size_t n_ids = 0;
	for (; *at < l->n && n < WHAT_IF_CLASSES; (*at)++) {
		struct suspect *one = &l->suspect[*at];
		if (!one->ids)
			continue;
		memcpy(to + n_ids, one->ids, one->n * sizeof *to);
		n_ids += one->n;
		class[n].class = heap_class_index(r->heap, one->id);
		group[n++] = one;
	}
	int code = n ? size_few(class, group, n, to, n_ids, r, progress, err) : 0;
	for (unsigned i = 0; !code && i < n; i++) {
		group[i]->retained = heap_held_sized(r->heap, class[i].bytes, class[i].doubts);
		if (class_of_all(r->heap, group[i]->ids, group[i]->n) != HEAP_NONE)
			retained_note_class(r, class[i].class, class[i].bytes, class[i].doubts);
	}
	return code;
}

int leaks_size_groups(struct leaks *l, const struct retained *r, struct progress *progress, struct err *err)
{
	uint64_t members = 0;
	for (size_t i = 0; i < l->n; i++)
		members += l->suspect[i].ids ? l->suspect[i].n : 0;
	uint32_t *to = big_alloc(members, sizeof *to, err);
	int code = to ? 0 : ERR_NOMEM;
	for (size_t at = 0; !code && at < l->n;)
		code = size_next(l, &at, to, r, progress, err);
	sort_array(l->suspect, l->n, sizeof *l->suspect, by_retained);
	big_free(to);
	return code;
}
