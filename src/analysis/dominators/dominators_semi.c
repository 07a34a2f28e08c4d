/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators_semi.c - Lengauer and Tarjan's algorithm with path compression, on junctions.
 *
 * The variant that looks for common ancestors instead of keeping buckets is a little faster on
 * ordinary heaps and quadratic on some (long lists whose elements an array holds too): we keep the
 * buckets.
 *
 * The algorithm looks at the numbers from the last to the first.  When it is at number w, all
 * objects with a number above w are *linked*.  For a linked object u it asks for the least
 * semidominator on the way from u up to the first object that is not linked.  The semidominator of
 * an object that is no junction is its parent.  As long as the junction of the object's group is
 * linked too, that never is the least.  If the junction is not linked, the topmost linked object of
 * the group offers its parent: the nearest ancestor of u with a number of at most w (nearest()).
 * So ways lead from junction to junction, and only their last piece leads through a group.
 *
 * Most of the time goes into waiting for memory, so what later junctions need is prefetched
 * (look_ahead).
 */
#include "analysis/dominators/dominance.h"

#include "base/assert.h"
#include "base/big.h"
#include "base/sort.h"

#include <stdlib.h>

enum { AHEAD = 12, STAGES = 4, REPORT_EVERY = 1 << 12 };

/* The nearest ancestor of k in its group whose number is at most w.  There is one: the group's
 * junction must have such a number. */
static uint32_t nearest(struct place *place, uint32_t k, uint32_t w)
{
	for (;;) {
		uint32_t up = place[k].up;
		cairn_assert(up < k);
		if (up <= w)
			return up;
		uint32_t above = place[up].up;
		if (above <= w)
			return above;
		k = place[k].up = above;
	}
}

/* Shorten the way up from the linked junction v: afterwards v's label and least tell the least
 * semidominator on the way up to the last linked junction.  Junctions above i are linked; w is the
 * number of i.  On the way up each link is turned round, so that it leads back down. */
static void compress(struct dominance *d, uint32_t v, uint32_t i, uint32_t w)
{
	struct junction *junction = d->junction;
	uint32_t below = 0, at = v;
	while (junction[at].above > i) {
		uint32_t above = junction[at].above;
		cairn_assert(above < at);
		junction[at].above = below;
		below = at;
		at = above;
	}
	struct junction *up = &junction[at];
	if (up->parent > w) {
		uint32_t offered = nearest(d->place, up->parent, w);
		if (offered < up->least) {
			up->least = offered;
			up->label = 0;
		}
	}
	while (below) {
		struct junction *j = &junction[below];
		if (up->least < j->least) {
			j->least = up->least;
			j->label = up->label;
		}
		below = j->above;
		j->above = up->above;
		j->parent = up->parent;
		up = j;
	}
}

/* The object with number k references junction i, whose number is w: a candidate for i's
 * semidominator. */
static inline void reached_from(struct dominance *d, uint32_t i, uint32_t w, uint32_t k)
{
	uint32_t semi = k;
	if (!k)
		return; /* not reachable itself */
	if (k > w) {
		LOOK(d, place, k);
		uint32_t group = d->place[k].group;
		LOOK(d, junction, group);
		if (group > i) {
			compress(d, group, i, w);
			semi = d->junction[group].least;
		} else if (group < i) {
			semi = nearest(d->place, k, w);
		} else {
			return; /* below it */
		}
	}
	if (semi < d->junction[i].least)
		d->junction[i].least = semi;
}

static void reached_from_instances(struct dominance *d, uint32_t i, uint32_t w, uint32_t class)
{
	const struct instances *all = &d->instances[class];
	reached_from(d, i, w, all->first);
	reached_from(d, i, w, all->last);
	for (uint32_t block = all->block; block; block = d->block[block].before) {
		const struct instance_block *b = &d->block[block];
		uint32_t k = b->first, distance = 0;
		reached_from(d, i, w, k);
		for (unsigned at = 0, shift = 0; at < sizeof b->further && b->further[at]; at++) {
			distance |= (uint32_t)(b->further[at] & 127) << shift;
			shift += 7;
			if (b->further[at] & 128)
				continue;
			k += distance;
			distance = shift = 0;
			reached_from(d, i, w, k);
		}
	}
}

static void reached_from_referrers(struct dominance *d, uint32_t i, uint32_t w, uint32_t id)
{
	const struct adjacency *in = &d->h->in;
	LOOK(d, in_offset, id);
	uint64_t end = adjacency_start(in, id + 1);
	for (uint64_t k = adjacency_start(in, id); k < end; k++) {
		LOOK(d, in_target, k);
		LOOK(d, number, in->target[k]);
		if (k + 8 < end)
			__builtin_prefetch(&d->number[in->target[k + 8]]);
		if (!weak_is(d->left_out, in->target[k], id))
			reached_from(d, i, w, d->number[in->target[k]]);
	}
}

/* --- buckets -------------------------------------------------------------------------------------- */

/* Put junction i into the bucket of its semidominator.  The bucket is a list through "dominator"
 * that begins in object[semi]; the last junction in it keeps the id that stood there. */
static void into_bucket(struct dominance *d, uint32_t i)
{
	uint32_t semi = d->junction[i].least;
	cairn_assert(i <= d->m && semi <= d->n);
	if (!bits_get(&d->has_bucket, semi)) {
		bits_set(&d->has_bucket, semi);
		bits_set(&d->ends, i);
	}
	d->junction[i].dominator = d->object[semi];
	d->object[semi] = i;
}

/* Find the dominators of all junctions whose semidominator is w; all numbers above w are linked.
 * Either w dominates the junction, or what dominates the junction with the least semidominator on
 * the way up to w does. */
static void empty_bucket(struct dominance *d, uint32_t i, uint32_t w)
{
	bool last;
	uint32_t v = d->object[w];
	do {
		struct junction *j = &d->junction[v];
		uint32_t next = j->dominator;
		last = bits_get(&d->ends, v);
		compress(d, v, i, w);
		j->dominator = j->least == w ? w : j->label ? j->label : j->least;
		if (j->least < w && j->label)
			bits_set(&d->as_label, v);
		v = next;
	} while (!last);
	d->object[w] = v;
}

/* --- ahead of the work ---------------------------------------------------------------------------- */

/* The next junctions, whose memory is asked for in stages, each of which needs what the one before
 * fetched: the offset, the referrers, the referrers' numbers, the places of these. */
struct ahead {
	uint32_t next;                   /* number of the junction that was taken last */
	uint32_t object[STAGES * AHEAD]; /* ids of the last ones taken, a ring */
	uint32_t n;                      /* how many were taken in all */
};

/* The last number below k whose bit is set in a or b (NULL: a alone); 0: none. */
static uint32_t last_before(const uint64_t *a, const uint64_t *b, uint32_t k)
{
	uint64_t word = k >> 6, bits = (a[word] | (b ? b[word] : 0)) & ((UINT64_C(1) << (k & 63)) - 1);
	while (!bits && word) {
		word--;
		bits = a[word] | (b ? b[word] : 0);
	}
	return bits ? (uint32_t)(word * 64 + 63 - (unsigned)__builtin_clzll(bits)) : 0;
}

static inline uint32_t ahead_by(const struct ahead *a, uint32_t stage)
{
	return a->object[(a->n + STAGES * AHEAD - stage * AHEAD) % (STAGES * AHEAD)];
}

static void look_ahead(struct dominance *d, struct ahead *a)
{
	const struct adjacency *in = &d->h->in;
	a->next = a->next ? last_before(d->at.word, NULL, a->next) : 0;
	LOOK(d, object, a->next);
	/* a number with a bucket keeps another one there: as good as any for this purpose, but the last
	 * number may be that of no object */
	uint32_t ahead = d->object[a->next] < d->h->n_objects ? d->object[a->next] : 0;
	a->object[a->n % (STAGES * AHEAD)] = ahead;
	LOOK(d, in_offset, ahead);
	LOOK(d, number, ahead); /* of its referrers: they mostly lie near */
	__builtin_prefetch(&in->offset[ahead]);
	__builtin_prefetch(&in->target[adjacency_start(in, ahead_by(a, 1))]);
	for (uint32_t stage = 2; stage < STAGES; stage++) {
		uint32_t id = ahead_by(a, stage);
		uint64_t start = adjacency_start(in, id), n = adjacency_start(in, id + 1) - start;
		for (uint64_t k = 0; k < n && k < 4; k++) {
			const uint32_t *number = &d->number[in->target[start + k]];
			__builtin_prefetch(stage == 2 ? (const void *)number : (const void *)&d->place[*number]);
		}
	}
	a->n++;
}

/* --- all ------------------------------------------------------------------------------------------ */

static int by_to_descending(const void *x, const void *y)
{
	uint32_t a = ((const struct edge *)x)->to, b = ((const struct edge *)y)->to;
	return (a < b) - (a > b);
}

static int number_edges(struct dominance *d, struct err *err)
{
	for (size_t i = 0; i < d->n_edges && !progress_stops(d->progress, i); i++)
		d->edges[i] = (struct edge){ d->number[d->edges[i].from], d->number[d->edges[i].to] };
	return sort(d->edges, d->n_edges, sizeof *d->edges, by_to_descending, err);
}

/* The class objects that instances hold, sorted by number, the last first: "to" is the object's
 * number, "from" the class index. */
static int list_class_objects(const struct dominance *d, struct edge **out, size_t *n, struct err *err)
{
	const struct heap *h = d->h;
	struct edge *list = big_alloc(h->n_classes, sizeof *list, err);
	*n = 0;
	*out = list;
	if (!list)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes && !progress_stops(d->progress, c); c++)
		if (d->instances[c].hold && d->number[h->classes[c].object])
			list[(*n)++] = (struct edge){ c, d->number[h->classes[c].object] };
	return sort(list, *n, sizeof *list, by_to_descending, err);
}

/* Holders that stand in no array of references.  Both lists are sorted by what is held, the last
 * number first; class and edge are the places in them that come next. */
struct special {
	struct edge *classes;
	size_t class, n_classes, edge;
};

static void find_semidominator(struct dominance *d, struct special *s, uint32_t i, uint32_t w)
{
	struct junction *j = &d->junction[i];
	LOOK(d, junction, i);
	LOOK(d, object, w);
	if (j->least) { /* a root has the smallest there is */
		j->least = w;
		reached_from_referrers(d, i, w, d->object[w]);
	}
	for (; s->edge < d->n_edges && d->edges[s->edge].to == w; s->edge++)
		reached_from(d, i, w, d->edges[s->edge].from);
	for (; s->class < s->n_classes && s->classes[s->class].to == w; s->class++)
		reached_from_instances(d, i, w, s->classes[s->class].from);
	j->label = i;
	if (j->least)
		into_bucket(d, i);
}

static int find_semidominators(struct dominance *d, struct special *s, struct err *err)
{
	struct ahead ahead = { .next = d->n + 1 };
	uint32_t i = d->m;
	for (uint32_t k = 0; k < STAGES * AHEAD; k++)
		ahead.object[k] = d->object[d->n] < d->h->n_objects ? d->object[d->n] : 0;
	for (uint32_t k = 0; k < STAGES * AHEAD; k++)
		look_ahead(d, &ahead);
	for (uint32_t w = d->n + 1; (w = last_before(d->at.word, d->has_bucket.word, w));) {
		if (bits_get(&d->has_bucket, w))
			empty_bucket(d, i, w);
		if (!bits_get(&d->at, w))
			continue;
		look_ahead(d, &ahead);
		find_semidominator(d, s, i--, w);
		if (i % REPORT_EVERY == 0 && !progress_add(d->progress, REPORT_EVERY))
			return err_cancelled(err);
	}
	return 0;
}

int dominance_of_junctions(struct dominance *d, struct err *err)
{
	struct special s = { .classes = NULL };
	progress_phase(d->progress, PHASE_FIND_DOMINATORS, d->m);
	for (uint32_t i = 1; i <= d->m && !progress_stops(d->progress, i); i++)
		d->junction[i].least = UINT32_MAX;
	for (size_t i = 0; i < d->h->n_roots && !progress_stops(d->progress, i); i++)
		if (d->is_root[i])
			d->junction[d->place[d->number[d->h->roots[i].object]].group].least = 0;
	int code = number_edges(d, err);
	if (code == 0)
		code = list_class_objects(d, &s.classes, &s.n_classes, err);
	if (code == 0) /* some loop was left early */
		code = progress_check(d->progress, err);
	if (code == 0 && d->n)
		code = find_semidominators(d, &s, err);
	for (uint32_t i = 1; code == 0 && i <= d->m && !progress_stops(d->progress, i); i++)
		if (bits_get(&d->as_label, i))
			d->junction[i].dominator = d->junction[d->junction[i].dominator].dominator;
	big_free(s.classes);
	return code;
}
