/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.c - what counts as a step of a path, and the search backward from an object.
 *
 * The search is breadth first and takes the holders of each object in the order of their ids, so
 * the first root that it meets begins the path that paths.h promises.  A bit vector tells which
 * objects it has seen, and each entry of the queue tells which object it holds.  Any thread.
 */
#include "analysis/paths/paths.h"

#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { CANCEL_EVERY = 1 << 12 };

/* --- rules -------------------------------------------------------------------------------------- */

int path_rules_init(struct path_rules *r, const struct heap *h, bool weak, struct err *err)
{
	*r = (struct path_rules){.heap = h, .weak = weak, .not_followed = weak ? NULL : h->soft_and_weak,
		.from = HEAP_NONE, .names = first_names_new()};
	int code = bits_init(&r->barred, h->n_objects, err);
	if (!code)
		code = bits_init(&r->starts, h->n_objects, err);
	if (!code)
		code = bits_init(&r->loaders, h->n_objects, err);
	if (code) {
		path_rules_release(r);
		return code;
	}
	for (size_t i = 0; i < h->n_roots && !progress_own_stops(i); i++)
		bits_set(&r->starts, h->roots[i].object);
	for (uint32_t i = 0; i < h->n_defined_classes && !progress_own_stops(i); i++) {
		if (h->classes[i].loader != HEAP_NONE)
			bits_set(&r->loaders, h->classes[i].loader);
	}
	return 0;
}

void path_rules_release(struct path_rules *r)
{
	first_names_free(r->names);
	r->names = NULL;
	path_rules_give_back(r);
	r->heap = NULL; /* they are no rules any more */
}

void path_rules_give_back(struct path_rules *r)
{
	bits_release(&r->barred);
	bits_release(&r->starts);
	bits_release(&r->loaders);
}

void path_rules_from(struct path_rules *r, uint32_t id)
{
	for (size_t i = 0; i < r->heap->n_roots; i++)
		r->starts.word[r->heap->roots[i].object >> 6] = 0;
	r->from = id;
	bits_set(&r->starts, id);
}

void path_rules_bar(struct path_rules *r, uint32_t id)
{
	bits_set(&r->barred, id);
	r->bars = true;
}

bool path_rules_relax(struct path_rules *r)
{
	bool more = r->not_followed && !r->relaxed;
	if (more)
		r->not_followed = r->heap->weak;
	r->relaxed |= more;
	return more;
}

bool path_is_weak(const struct path_rules *r, uint32_t holder, uint32_t target)
{
	return weak_is(r->not_followed, holder, target);
}

void path_release(struct path *p)
{
	big_free(p->step);
	*p = (struct path){.n = 0};
}

/* --- backward ----------------------------------------------------------------------------------- */

struct visited {
	uint32_t id, holds; /* holds: place in the queue */
};

struct search {
	const struct path_rules *rules;
	const struct heap *heap;
	struct bits seen;
	struct visited *queue;
	size_t n, cap;
	size_t at;               /* the one whose holders are looked for */
	uint64_t effort, limit, looked; /* looked: referrers */
	bool found;              /* the last of the queue begins the path */
	uint32_t *holders;       /* of a class or loader, collected */
	size_t n_holders, cap_holders;
	struct members members;
	struct err lost;         /* memory that was refused, or cancelled: the search is over */
};

static bool begins(const struct search *s, uint32_t id)
{
	return bits_get(&s->rules->starts, id) &&
	    (!s->rules->bars || !bits_get(&s->rules->barred, id));
}

/* True: the search is over. */
static bool visit(struct search *s, uint32_t id)
{
	if (bits_get(&s->seen, id) || (s->rules->bars && bits_get(&s->rules->barred, id)))
		return false;
	if (s->rules->not_directly && s->at == 0 && id == s->rules->from)
		return false;
	bits_set(&s->seen, id);
	struct visited *at = BIG_PUSH(s->queue, s->n, s->cap, &s->lost);
	if (!at)
		return true;
	*at = (struct visited){id, (uint32_t)s->at};
	s->found = begins(s, id);
	return s->found;
}

static void add_holder(struct search *s, uint32_t id)
{
	uint32_t *at = id == HEAP_NONE || bits_get(&s->seen, id) ? NULL
	    : BIG_PUSH(s->holders, s->n_holders, s->cap_holders, &s->lost);
	if (at)
		*at = id;
}

static void add_instances(struct search *s, uint32_t class)
{
	const struct heap *h = s->heap;
	s->effort += h->classes[class].n_objects + h->n_objects / 64;
	if (s->limit && s->effort > s->limit)
		return; /* visit_special gives up */
	struct members_walk instances = members_instances(&s->members, class);
	for (uint32_t id; members_next(&s->members, &instances, &id);)
		add_holder(s, id);
}

static void add_class_objects(struct search *s, struct members_walk classes)
{
	for (uint32_t c; members_next(&s->members, &classes, &c);)
		add_holder(s, s->heap->classes[c].object);
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* The holders of a class object or loader, in order: recorded and implied ones. */
static bool visit_special(struct search *s, uint32_t id, uint32_t class)
{
	const struct heap *h = s->heap;
	s->n_holders = 0;
	uint64_t end = adjacency_start(&h->in, id + 1);
	for (uint64_t k = adjacency_start(&h->in, id); k < end; k++) {
		if (!path_is_weak(s->rules, h->in.target[k], id))
			add_holder(s, h->in.target[k]);
	}
	add_class_objects(s, members_loaded(&s->members, id));
	if (class != HEAP_NONE)
		add_class_objects(s, members_subclasses(&s->members, class));
	s->effort += h->n_defined_classes / 16 + (end - adjacency_start(&h->in, id));
	if (class != HEAP_NONE) {
		if (heap_loader_holds(h, class))
			add_holder(s, h->classes[class].loader);
		if (heap_array_keeper(h, class) != HEAP_NONE)
			add_holder(s, heap_array_keeper(h, class));
		add_instances(s, class);
	}
	if (s->limit && s->effort > s->limit)
		return false; /* not all are there: the first root among them need not be the one */
	if (sort(s->holders, s->n_holders, sizeof *s->holders, by_id, &s->lost))
		return true;
	for (size_t i = 0; i < s->n_holders && !progress_own_stops(i); i++) {
		if (visit(s, s->holders[i]))
			return true;
	}
	return false;
}

static bool visit_holders(struct search *s, uint32_t id)
{
	const struct heap *h = s->heap;
	uint32_t class = heap_class_mirrored(h, id);
	if (class != HEAP_NONE || bits_get(&s->rules->loaders, id))
		return visit_special(s, id, class);
	uint64_t k = adjacency_start(&h->in, id), end = adjacency_start(&h->in, id + 1);
	s->effort += 1 + end - k;
	for (; k < end && !progress_own_stops(s->looked++); k++) {
		uint32_t holder = h->in.target[k];
		if (!bits_get(&s->seen, holder) && !path_is_weak(s->rules, holder, id) &&
		    visit(s, holder))
			return true;
	}
	return false;
}

/* The queue leads from the last one found to the object. */
static int found_path(const struct search *s, struct path *out, struct err *err)
{
	size_t n = 1, at = s->n - 1;
	for (; at; at = s->queue[at].holds)
		n++;
	out->step = big_alloc(n, sizeof *out->step, err);
	for (at = s->n - 1; out->step && out->n < n; at = s->queue[at].holds)
		out->step[out->n++] = s->queue[at].id;
	return out->step ? 0 : ERR_NOMEM;
}

int path_search(struct path *out, const struct path_rules *r, uint32_t to, uint64_t effort,
    struct progress *progress, struct err *err)
{
	struct search s = {.rules = r, .heap = r->heap, .limit = effort};
	*out = (struct path){.n = 0};
	progress_phase(progress, PHASE_FIND_PATH, 0);
	int code = bits_init(&s.seen, r->heap->n_objects, err);
	if (!code)
		code = members_init(&s.members, r->heap, err);
	if (code) {
		bits_release(&s.seen);
		return code;
	}
	bits_set(&s.seen, to);
	struct visited *first = BIG_PUSH(s.queue, s.n, s.cap, err);
	if (first)
		*first = (struct visited){to, 0};
	else
		code = ERR_NOMEM;
	s.found = !r->not_itself && bits_get(&r->starts, to);
	for (; s.at < s.n && !s.found && !out->gave_up && !code; s.at++) {
		visit_holders(&s, s.queue[s.at].id);
		out->gave_up = s.limit && s.effort > s.limit && !s.found;
		if (s.at % CANCEL_EVERY == 0 && !progress_add(progress, CANCEL_EVERY))
			code = err_cancelled(err);
		if (s.lost.code) {
			*err = s.lost;
			code = s.lost.code;
		}
	}
	if (s.found && !code)
		code = found_path(&s, out, err);
	big_free(s.queue);
	big_free(s.holders);
	members_release(&s.members);
	bits_release(&s.seen);
	return code;
}
