/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators_semi.c - semidominators with path compression, then dominators (Georgiadis' SEMI-NCA), of junctions.
 *
 * First from the last junction to the first.  When the algorithm is at number w, all objects with a
 * number above w are *linked*.  For a linked object u it asks for the least semidominator on the
 * way from u up to the first object that is not linked.  The semidominator of an object that is no
 * junction is its parent.  As long as the junction of the object's group is linked too, that never
 * is the least.  If the junction is not linked, the topmost linked object of the group offers its
 * parent: the nearest ancestor of u with a number of at most w (nearest()).  So ways lead from
 * junction to junction, and only their last piece leads through a group.
 *
 * Then from the first junction to the last.  A junction's dominator is the nearest dominator of its
 * parent whose number is at most that of its semidominator.  To climb there one step after another
 * would be quadratic where a long list's elements are held from its end, so each junction has a
 * *jump* besides: to a junction further up, so far that some 2 log n steps lead anywhere (Myers,
 * "An applicative random-access stack").
 *
 * Most of the time goes into waiting for memory, so the referrers of many junctions are turned into
 * numbers at once, in steps that each ask for what the next one needs (struct batch).
 */
#include "analysis/dominators/dominance.h"

#include "algorithms/sort.h"
#include "base/assert.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <stdlib.h>

enum { BATCH = 128, ROOM = 1024, STEPS = 3, AHEAD = 16, REPORT_EVERY = 1 << 12 };

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

/* Shorten the way up from the linked junction v: afterwards its value is the least semidominator on
 * the way up to the last linked junction.  What has a number above w is linked.  On the way up each
 * link is turned round, so that it leads back down. */
static inline void compress(struct dominance *d, uint32_t v, uint32_t w)
{
	struct place *place = d->place;
	uint32_t below = 0, at = v;
	for (;;) {
		uint32_t parent = place[at].up;
		cairn_assert(parent < at);
		if (parent <= w)
			break;
		uint32_t group = group_of(d, parent);
		if (group <= w) {
			uint32_t offered = nearest(place, parent, w);
			if (offered < place[at].value)
				place[at].value = offered;
			break;
		}
		place[at].up = below;
		below = at;
		at = group;
	}
	while (below) {
		struct place *p = &place[below];
		uint32_t next = p->up;
		if (place[at].value < p->value)
			p->value = place[at].value;
		p->up = place[at].up;
		at = below;
		below = next;
	}
}

/* The object with number k above w references the junction w: what it has for w's semidominator. */
static inline uint32_t offered_by(struct dominance *d, uint32_t w, uint32_t k)
{
	LOOK(d, place, k);
	uint32_t group = group_of(d, k);
	if (group < w)
		return nearest(d->place, k, w);
	if (group == w) /* below it */
		return w;
	LOOK(d, place, group);
	compress(d, group, w);
	return d->place[group].value;
}

/* The same for an object with any number. */
static inline void reached_from(struct dominance *d, uint32_t *least, uint32_t w, uint32_t k)
{
	if (!k)
		return; /* not reachable itself */
	uint32_t offered = k > w ? offered_by(d, w, k) : k;
	if (offered < *least)
		*least = offered;
}

static void reached_from_instances(struct dominance *d, uint32_t *least, uint32_t w, uint32_t class)
{
	const struct instances *all = &d->instances[class];
	reached_from(d, least, w, all->first);
	reached_from(d, least, w, all->last);
	for (uint32_t block = all->block; block; block = d->block[block].before) {
		const struct instance_block *b = &d->block[block];
		uint32_t k = b->first, distance = 0;
		reached_from(d, least, w, k);
		for (unsigned at = 0, shift = 0; at < sizeof b->further && b->further[at]; at++) {
			distance |= (uint32_t)(b->further[at] & 127) << shift;
			shift += 7;
			if (b->further[at] & 128)
				continue;
			k += distance;
			distance = shift = 0;
			reached_from(d, least, w, k);
		}
	}
}

static void reached_from_referrers(struct dominance *d, uint32_t *least, uint32_t w, uint32_t id)
{
	const struct adjacency *in = &d->h->in;
	uint64_t end = adjacency_start(in, id + 1);
	for (uint64_t k = adjacency_start(in, id); k < end; k++) {
		if (k + 8 < end)
			__builtin_prefetch(&d->number[in->target[k + 8]]);
		if (!weak_is(d->left_out, in->target[k], id))
			reached_from(d, least, w, d->number[in->target[k]]);
	}
}

/* --- ahead of the work ---------------------------------------------------------------------------- */

/* Junctions that come next, and what references them. */
struct batch {
	uint32_t n, n_holders;
	struct batch_item {
		uint32_t w, id;
		uint32_t least;         /* number of a referrer before it */
		bool alone;             /* there are too many behind it: they are not listed here */
		const uint32_t *holder; /* numbers of n referrers behind it */
		uint64_t n;
	} item[BATCH];
	uint32_t room[ROOM]; /* ids, then numbers */
	uint32_t way[ROOM];
};

/* The last number below k whose bit is set; 0: none. */
static uint32_t last_before(const uint64_t *a, uint32_t k)
{
	uint64_t word = k >> 6, bits = a[word] & ((UINT64_C(1) << (k & 63)) - 1);
	while (!bits && word)
		bits = a[--word];
	return bits ? (uint32_t)(word * 64 + 63 - (unsigned)__builtin_clzll(bits)) : 0;
}

/* The same for referrers that were partitioned. */
static int take_dealt(struct dominance *d, struct batch *b, uint32_t w, struct err *err)
{
	const struct partition *t = d->partition;
	int code = 0;
	b->n = 0;
	while (b->n < BATCH && (w = last_before(d->at.word, w)) && (!b->n || w >= t->begin)) {
		if (!b->n && (code = partition_take(d, w, err)))
			return code;
		uint64_t begin = t->end[w - t->begin + 1];
		b->item[b->n++] = (struct batch_item){ .w = w, .least = t->least[w - t->begin],
			.holder = t->holder + begin, .n = t->end[w - t->begin + 2] - begin };
	}
	return 0;
}

/* The junctions before w, the last first. */
static void take_junctions(struct dominance *d, struct batch *b, uint32_t w)
{
	const struct adjacency *in = &d->h->in;
	b->n = 0;
	while (b->n < BATCH && (w = last_before(d->at.word, w))) {
		uint32_t id = d->object[w];
		__builtin_prefetch(&in->offset[id]);
		b->item[b->n++] = (struct batch_item){ .w = w, .id = id, .least = w };
	}
	for (uint32_t i = 0; i < b->n; i++)
		__builtin_prefetch(&in->target[adjacency_start(in, b->item[i].id)]);
}

/* Their referrers, as far as there is room.  Roots need none. */
static void list_holders(struct dominance *d, struct batch *b)
{
	const struct adjacency *in = &d->h->in;
	b->n_holders = 0;
	for (uint32_t i = 0; i < b->n; i++) {
		struct batch_item *item = &b->item[i];
		uint64_t start = adjacency_start(in, item->id), n = adjacency_degree(in, item->id);
		item->alone = n > ROOM;
		if (n > ROOM || !d->place[item->w].value)
			n = 0;
		if (n > ROOM - b->n_holders) {
			b->n = i;
			return;
		}
		for (uint64_t k = start; k < start + n; k++) {
			uint32_t holder = in->target[k];
			if (weak_is(d->left_out, holder, item->id))
				continue;
			b->room[b->n_holders++] = holder;
			item->n++;
			__builtin_prefetch(&d->number[holder]);
		}
	}
}

/* Ids become numbers; those that are smaller than the junction's are done with. */
static void number_holders(struct dominance *d, struct batch *b)
{
	const uint32_t *from = b->room;
	uint32_t *to = b->room;
	for (uint32_t i = 0; i < b->n; i++) {
		struct batch_item *item = &b->item[i];
		const uint32_t *end = from + item->n;
		item->holder = to;
		for (; from < end; from++) {
			uint32_t k = d->number[*from];
			if (k > item->w) {
				__builtin_prefetch(&d->place[k]);
				*to++ = k;
			} else if (k && k < item->least) {
				item->least = k;
			}
		}
		item->n = (uint64_t)(to - item->holder);
	}
}

/* The first steps of the ways up that will be gone. */
static void look_up_ways(struct dominance *d, struct batch *b)
{
	uint32_t *way = b->way, last = b->item[b->n - 1].w, left = 0;
	for (uint32_t i = 0; i < b->n; i++)
		for (uint64_t k = 0; k < b->item[i].n && left < ROOM; k++)
			way[left++] = b->item[i].holder[k];
	for (unsigned step = 0; step < STEPS; step++) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < left; i++) {
			LOOK(d, place, way[i]);
			const struct place *p = &d->place[way[i]];
			uint32_t up = bits_get(&d->at, way[i]) ? p->up : p->value;
			if (up <= last)
				continue;
			__builtin_prefetch(&d->place[up]);
			way[n++] = up;
		}
		left = n;
	}
}

static int take_batch(struct dominance *d, struct batch *b, uint32_t w, struct err *err)
{
	int code = 0;
	if (d->partition) {
		code = take_dealt(d, b, w, err);
	} else {
		take_junctions(d, b, w);
		list_holders(d, b);
		number_holders(d, b);
	}
	if (!code)
		look_up_ways(d, b);
	return code;
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

static void find_semidominator(struct dominance *d, struct special *s, const struct batch_item *item,
    struct junction *j)
{
	uint32_t w = item->w, least = item->least;
	LOOK(d, place, w);
	for (uint64_t i = 0; i < item->n && d->place[w].value; i++) {
		uint32_t offered = offered_by(d, w, item->holder[i]);
		least = offered < least ? offered : least;
	}
	if (!d->place[w].value) /* a root has the smallest there is */
		least = 0;
	else if (item->alone)
		reached_from_referrers(d, &least, w, item->id);
	for (; s->edge < d->n_edges && d->edges[s->edge].to == w; s->edge++)
		reached_from(d, &least, w, d->edges[s->edge].from);
	for (; s->class < s->n_classes && s->classes[s->class].to == w; s->class++)
		reached_from_instances(d, &least, w, s->classes[s->class].from);
	d->place[w].value = least;
	*j = (struct junction){ .semi = least, .above = d->place[w].up };
}

static int find_semidominators(struct dominance *d, struct special *s, struct err *err)
{
	struct batch b;
	uint32_t j = d->m, reported = j;
	for (uint32_t w = d->n + 1; j > 0; w = b.item[b.n - 1].w) {
		int code = take_batch(d, &b, w, err);
		if (code)
			return code;
		cairn_assert(b.n > 0 && b.n <= j);
		for (uint32_t i = 0; i < b.n; i++)
			find_semidominator(d, s, &b.item[i], &d->junction[--j]);
		if (reported - j >= REPORT_EVERY) {
			if (!progress_add(d->progress, reported - j))
				return err_cancelled(err);
			reported = j;
		}
	}
	return 0;
}

/* --- dominators ----------------------------------------------------------------------------------- */

static uint32_t jump_length(const struct dominance *d, uint32_t w)
{
	return w ? d->junction[bits_rank(&d->at, w)].above : 0;
}

/* The dominator of a junction that has this parent and this semidominator. */
static inline uint32_t dominator_from(const struct dominance *d, uint32_t parent, uint32_t semi)
{
	const struct place *place = d->place;
	uint32_t at = semi ? group_of(d, parent) : 0;
	if (at <= semi) /* what is above the parent in its group dominates it */
		return semi;
	for (;;) {
		uint32_t above = group_of(d, place[at].up);
		if (above <= semi)
			break;
		at = place[at].value > semi ? place[at].value : above;
	}
	/* where the dominator is in the same group as semi, and below, semi dominates as well */
	return place[at].up < semi ? place[at].up : semi;
}

/* place.up of a junction becomes its dominator, value its jump. */
static void find_dominators(struct dominance *d)
{
	struct bits_walk walk = bits_walk(&d->at);
	uint64_t w;
	d->place[0] = (struct place){ 0, 0 };
	for (uint32_t i = 0; bits_next(&walk, &w) && !progress_stops(d->progress, i); i++) {
		struct junction *j = &d->junction[i];
		LOOK(d, place, w);
		uint32_t dominator = dominator_from(d, j->above, j->semi), above = group_of(d, dominator);
		uint32_t jump = d->place[above].value, length = jump_length(d, above);
		bool both = length == jump_length(d, jump);
		d->place[w] = (struct place){ dominator, both ? d->place[jump].value : above };
		*j = (struct junction){ .semi = dominator, .above = both ? 2 * length + 1 : 1 };
	}
}

int dominance_of_junctions(struct dominance *d, struct err *err)
{
	struct special s = { .classes = NULL };
	progress_phase(d->progress, PHASE_FIND_DOMINATORS, d->m);
	struct bits_walk walk = bits_walk(&d->at);
	uint64_t w;
	for (uint32_t i = 0; bits_next(&walk, &w) && !progress_stops(d->progress, i); i++)
		d->place[w].value = UINT32_MAX;
	for (size_t i = 0; i < d->h->n_roots && !progress_stops(d->progress, i); i++)
		if (d->is_root[i])
			d->place[d->number[d->h->roots[i].object]].value = 0;
	for (uint32_t c = 0; c < d->h->n_classes && !progress_stops(d->progress, c); c++)
		if (d->instances[c].top)
			d->place[d->number[d->h->classes[c].object]].value = 0;
	int code = number_edges(d, err);
	if (code == 0)
		code = list_class_objects(d, &s.classes, &s.n_classes, err);
	if (code == 0) /* some loop was left early */
		code = progress_check(d->progress, err);
	if (code == 0)
		code = find_semidominators(d, &s, err);
	if (code == 0)
		find_dominators(d);
	big_free(s.classes);
	return code;
}
