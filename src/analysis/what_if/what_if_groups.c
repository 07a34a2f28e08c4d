/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_groups.c - see what_if_groups.h.
 *
 * One walk down the dominator tree sums the references that free something alone, by the pair of
 * classes of holder and target.  A reference below another one of the same pair is passed over.
 * Only for the pairs that free much is the field looked up in the dump, from a few samples.
 */
#include "analysis/what_if/what_if_groups.h"

#include "algorithms/map.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "analysis/what_if/what_if_owner.h"
#include "base/mem.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 16, PAIRS_MOST = 256, REPORT_EVERY = 1 << 12 };

struct pair {
	uint64_t key; /* class of the holder << 32 | class of the target */
	uint64_t bytes;
	uint32_t inside; /* references of this pair on the way from the top to where the walk is */
	uint32_t n;      /* samples */
	struct what_if_edge sample[SAMPLES];
};

struct sums {
	struct what_if *cut;
	const struct bits *dead;
	struct pair *pair;
	size_t n, cap;
	struct map map;
	uint64_t alive; /* bytes of the objects met so far that are not dead */
};

struct level {
	uint32_t at;     /* position in the list of children */
	uint64_t before; /* sums.alive before the object */
};

#define pair_key(list, number) ((list)[number].key)
MAP(pairs, const struct pair *, uint64_t, pair_key, hash_number, map_same)

/* NULL: ERR_NOMEM. */
static struct pair *pair_of(struct sums *s, uint64_t key, struct err *err)
{
	uint32_t *slot = pairs_enter(&s->map, s->pair, (uint32_t)s->n, key, err);
	if (!slot)
		return NULL;
	if (!*slot) {
		struct pair *to = BIG_PUSH(s->pair, s->n, s->cap, err);
		if (!to)
			return NULL;
		*to = (struct pair){ .key = key };
		*slot = (uint32_t)s->n;
	}
	return &s->pair[*slot - 1];
}

static bool is_dead(const struct sums *s, uint32_t id)
{
	return s->dead && bits_get(s->dead, id);
}

/* If one single reference still keeps the object, and it stands in a field of an instance: the key
 * of its pair, and *by is the holder.  Otherwise UINT64_MAX. */
static uint64_t key_of(const struct sums *s, uint32_t id, uint32_t *by)
{
	const struct retained *r = s->cut->retained;
	const struct heap *h = r->heap;
	uint32_t holder = HEAP_NONE;
	if (bits_get(&s->cut->special, id) || is_dead(s, id))
		return UINT64_MAX;
	uint64_t end = adjacency_start(&h->in, id + 1);
	for (uint64_t k = adjacency_start(&h->in, id); k < end; k++) {
		uint32_t from = h->in.target[k];
		if (weak_is(r->model.left_out, from, id) || r->dominators.immediate[from] == NOT_REACHABLE ||
		    is_dead(s, from) || what_if_below(s->cut, from, id))
			continue;
		if (holder != HEAP_NONE)
			return UINT64_MAX;
		holder = from;
	}
	if (holder == HEAP_NONE || heap_class_of(h, holder)->kind != CLASS_PLAIN ||
	    heap_class_index(h, holder) == h->java_lang_class)
		return UINT64_MAX;
	*by = holder;
	return (uint64_t)heap_class_index(h, holder) << 32 | heap_class_index(h, id);
}

static int enter(struct sums *s, uint32_t id, struct err *err)
{
	uint32_t holder;
	uint64_t key = key_of(s, id, &holder);
	if (!is_dead(s, id))
		s->alive += heap_shallow(s->cut->retained->heap, id);
	if (key == UINT64_MAX)
		return 0;
	struct pair *p = pair_of(s, key, err);
	if (!p)
		return ERR_NOMEM;
	if (p->n < SAMPLES)
		p->sample[p->n++] = (struct what_if_edge){ holder, id };
	p->inside++;
	return 0;
}

/* before: what was alive of all before this object. */
static int leave(struct sums *s, uint32_t id, uint64_t before, struct err *err)
{
	uint32_t holder;
	uint64_t key = key_of(s, id, &holder);
	if (key == UINT64_MAX)
		return 0;
	struct pair *p = pair_of(s, key, err);
	if (!p)
		return ERR_NOMEM;
	if (--p->inside == 0)
		p->bytes += s->alive - before;
	return 0;
}

static int sum_pairs(struct sums *s, struct progress *progress, struct err *err)
{
	const struct retained *r = s->cut->retained;
	uint32_t top = r->dominators.n_objects, depth = 0, done = 0;
	uint32_t at = retained_first_child(r, top), end = retained_first_child(r, top + 1);
	struct level *stack = big_alloc(r->dominators.n_reachable, sizeof *stack, err);
	int code = stack ? 0 : ERR_NOMEM;
	progress_phase(progress, PHASE_ADD_UP_FIELDS, r->dominators.n_reachable);
	while (!code && (at < end || depth > 0)) {
		if (at < end) {
			uint32_t id = r->children.target[at];
			if (at + 8 < end) {
				retained_ask_children(r, r->children.target[at + 8]);
				__builtin_prefetch(&r->heap->in.offset[r->children.target[at + 8]]);
			}
			uint64_t before = s->alive;
			code = enter(s, id, err);
			if (!code && ++done % REPORT_EVERY == 0 && !progress_add(progress, REPORT_EVERY))
				code = err_cancelled(err);
			stack[depth++] = (struct level){ at, before };
			at = retained_first_child(r, id);
			end = retained_first_child(r, id + 1);
		} else {
			at = stack[--depth].at;
			uint32_t id = r->children.target[at++], parent = r->dominators.immediate[id];
			code = leave(s, id, stack[depth].before, err);
			end = retained_first_child(r, (parent == DOMINATED_BY_ROOTS ? top : parent) + 1);
		}
	}
	big_free(stack);
	return code;
}

/* --- the field of a pair ------------------------------------------------------------------------ */

/* The field by which most of the samples are held, and their share of all. */
static bool usual_field(const struct retained *r, const struct pair *p, struct what_if_group *out)
{
	struct what_if_group found[SAMPLES];
	unsigned times[SAMPLES] = { 0 }, n = 0, best = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		found[n] = (struct what_if_group){ .to_class = HEAP_NONE };
		const struct what_if_edge *e = &p->sample[i];
		if (!inspect_declared_field(
		        r->heap, e->holder, e->target, &found[n].class, &found[n].field))
			continue;
		unsigned k = 0;
		while (k < n && (found[k].class != found[n].class || found[k].field != found[n].field))
			k++;
		n += k == n;
		if (++times[k] > times[best])
			best = k;
	}
	if (!n)
		return false;
	*out = found[best];
	out->bytes = p->bytes / p->n * times[best];
	return true;
}

static int add_group(struct what_if_groups *out, const struct what_if_group *group, struct err *err)
{
	for (size_t i = 0; group->field && i < out->n; i++) {
		if (out->group[i].class == group->class && out->group[i].field == group->field) {
			out->group[i].bytes += group->bytes;
			return 0;
		}
	}
	return BIG_ADD(out->group, out->n, out->cap, err, *group);
}

static int by_pair_bytes(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

static int by_bytes(const void *x, const void *y)
{
	const struct what_if_group *a = x, *b = y;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return (a->class > b->class) - (a->class < b->class);
}

static int name_pairs(struct what_if_groups *out, struct sums *s, uint64_t least, struct err *err)
{
	const struct retained *r = s->cut->retained;
	size_t named = 0;
	int sorted = sort(s->pair, s->n, sizeof *s->pair, by_pair_bytes, err);
	if (sorted)
		return sorted;
	for (size_t i = 0; i < s->n && named < PAIRS_MOST && s->pair[i].bytes >= least; i++) {
		struct what_if_group group = { .class = (uint32_t)(s->pair[i].key >> 32),
			.to_class = (uint32_t)s->pair[i].key, .bytes = s->pair[i].bytes };
		if (inspect_declares_fields(r->heap) && !usual_field(r, &s->pair[i], &group))
			continue;
		if (!library_programs_class(r->heap, group.class))
			continue;
		int code = add_group(out, &group, err);
		if (code)
			return code;
		named++;
	}
	sort_array(out->group, out->n, sizeof *out->group, by_bytes);
	return 0;
}

int what_if_groups_find(struct what_if_groups *out, struct what_if *cut, const struct bits *dead, uint64_t least,
    struct progress *progress, struct err *err)
{
	struct sums s = { .cut = cut, .dead = dead };
	*out = (struct what_if_groups){ .n = 0 };
	int code = sum_pairs(&s, progress, err);
	if (!code && s.n)
		code = name_pairs(out, &s, least ? least : 1, err);
	if (code)
		what_if_groups_release(out);
	big_free(s.pair);
	map_release(&s.map);
	return code;
}

void what_if_groups_release(struct what_if_groups *g)
{
	big_free(g->group);
	*g = (struct what_if_groups){ .n = 0 };
}
