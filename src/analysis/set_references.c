/* SPDX-License-Identifier: GPL-3.0-or-later */
/* set_references.c - see set_references.h. */
#include "analysis/set_references.h"

#include "algorithms/map.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "heap/heap.h"
#include "memory/big.h"

struct pair {
	uint32_t group, object;
};

struct finding {
	struct set_references *out;
	const struct heap *heap;
	enum references_by by;
	const struct bits *only;
	struct bits set;        /* the objects whose references these are */
	size_t cap_groups;
	struct map map;
	uint32_t *met;          /* by group: the object that was counted last, + 1 */
	size_t n_met, cap_met;
	struct pair *pair;
	size_t n_pairs, cap_pairs;
};

static uint64_t hash_group(const struct references_group *g)
{
	return hash_step(hash_step(hash_number(g->class), g->field), g->holder);
}

static bool same_group(const struct references_group *a, const struct references_group *b)
{
	return a->class == b->class && a->field == b->field && a->holder == b->holder;
}

MAP(groups, const struct references_group *, const struct references_group *, map_element, hash_group, same_group)

static int find_group(struct finding *f, const struct references_group *like, uint32_t *number, struct err *err)
{
	struct set_references *out = f->out;
	uint32_t *slot = groups_enter(&f->map, out->group, out->n, like, err);
	if (!slot)
		return ERR_NOMEM;
	if (!*slot) {
		size_t n = out->n;
		struct references_group *to = BIG_PUSH(out->group, n, f->cap_groups, err);
		uint32_t *met = to ? BIG_PUSH(f->met, f->n_met, f->cap_met, err) : NULL;
		if (!met)
			return ERR_NOMEM;
		*to = *like;
		*met = 0;
		*slot = ++out->n;
	}
	*number = *slot - 1;
	return 0;
}

/* One reference; other: the object on the side that is not the set's. */
static int count(struct finding *f, uint32_t holder, uint32_t other, uint32_t field, struct err *err)
{
	struct references_group like = {.class = heap_class_index(f->heap, other),
	    .field = f->by == REFERENCES_BY_CLASS ? NAME_NOT_TOLD : field,
	    .holder = f->by == REFERENCES_BY_HOLDER ? holder : HEAP_NONE};
	uint32_t group;
	if (f->only && !bits_get(f->only, other))
		return 0;
	if (find_group(f, &like, &group, err))
		return ERR_NOMEM;
	f->out->group[group].references++;
	if (f->met[group] == other + 1) /* of those that follow each other one is enough */
		return 0;
	f->met[group] = other + 1;
	return BIG_ADD(f->pair, f->n_pairs, f->cap_pairs, err, (struct pair){group, other});
}

/* The references of one holder, all of them or those into the set. */
static int count_holder(struct finding *f, uint32_t holder, bool in, struct err *err)
{
	const struct adjacency *out = &f->heap->out;
	uint64_t start = adjacency_start(out, holder), end = adjacency_start(out, holder + 1);
	struct numbered names;
	int code = start < end ? numbered_names_of(f->out->names, holder, &names, err) : 0;
	for (uint64_t i = start; !code && i < end; i++) {
		uint32_t target = out->target[i];
		if (!in || bits_get(&f->set, target))
			code = count(f, holder, in ? holder : target, names.each ? names.each[i - start] : names.all, err);
	}
	return code;
}

/* Every holder once, in the order of ids. */
static int count_all(struct finding *f, const uint32_t *ids, size_t n, bool in, struct progress *progress,
    struct err *err)
{
	const struct heap *h = f->heap;
	struct bits holders = {.word = NULL};
	int code = bits_init(&f->set, h->n_objects, err) | bits_init(&holders, h->n_objects, err) ? ERR_NOMEM : 0;
	for (size_t i = 0; !code && i < n; i++) {
		if (progress_stops(progress, i))
			code = err_cancelled(err);
		bits_set(&f->set, ids[i]);
		if (!in)
			bits_set(&holders, ids[i]);
		for (uint64_t at = adjacency_start(&h->in, ids[i]); in && at < adjacency_start(&h->in, ids[i] + 1); at++)
			bits_set(&holders, h->in.target[at]);
	}
	for (uint32_t id = 0; !code && id < h->n_objects; id++) {
		if (progress_stops(progress, id))
			code = err_cancelled(err);
		else if (bits_get(&holders, id))
			code = count_holder(f, id, in, err);
	}
	bits_release(&holders);
	return code;
}

static int by_group(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

/* Each object once in its group. */
static int list_objects(struct finding *f, struct err *err)
{
	struct set_references *out = f->out;
	size_t n = 0;
	int code = sort(f->pair, f->n_pairs, sizeof *f->pair, by_group, err);
	if (!code && !(out->object = big_alloc(f->n_pairs, sizeof *out->object, err)))
		code = ERR_NOMEM;
	for (size_t i = 0; !code && i < f->n_pairs && !progress_own_stops(i); i++) {
		const struct pair *p = &f->pair[i];
		if (i && !by_group(p, p - 1))
			continue;
		if (!i || p->group != p[-1].group)
			out->group[p->group].first = n;
		out->object[n++] = p->object;
		out->group[p->group].end = n;
	}
	return code;
}

int set_references_find(struct set_references *out, const struct heap *h, const uint32_t *ids, size_t n, bool in,
    enum references_by by, const struct bits *only, struct progress *progress, struct err *err)
{
	struct finding f = {.out = out, .heap = h, .by = by, .only = only};
	*out = (struct set_references){.n = 0};
	progress_phase(progress, PHASE_FOLLOW_REFERENCES, 0);
	int code = numbered_names_new(&out->names, h, err);
	if (!code)
		code = count_all(&f, ids, n, in, progress, err);
	if (!code)
		code = list_objects(&f, err);
	bits_release(&f.set);
	map_release(&f.map);
	big_free(f.met);
	big_free(f.pair);
	if (code)
		set_references_release(out);
	return code;
}

void set_references_release(struct set_references *s)
{
	big_free(s->group);
	big_free(s->object);
	numbered_names_free(s->names);
	*s = (struct set_references){.n = 0};
}
