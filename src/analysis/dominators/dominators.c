/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators.c - from a heap to immediate dominators and retained sizes.
 *
 * This file decides the order of the steps and owns their memory: 16 bytes an object and 8 a
 * junction.  The array of numbers is reused for the immediate dominators and the array of places
 * for the retained sizes, because the kernel takes longer to clear new pages than we take to fill
 * them.
 */
#include "analysis/dominators/dominance.h"

#include "base/assert.h"
#include "base/big.h"
#include "base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { STRETCH = 1 << 18, AHEAD = 16 };

struct results {
	struct dominance *d;
	uint64_t *retained;
	_Atomic uint64_t shallow;
};

/* Numbers become dominators, except those of junctions; retained begins with the object's own size. */
static int begin_stretch(void *context, unsigned task, struct err *err)
{
	struct results *r = context;
	const struct heap *h = r->d->h;
	uint32_t *number = r->d->number;
	uint32_t begin = task * (uint32_t)STRETCH;
	uint32_t end = h->n_objects - begin < STRETCH ? h->n_objects : begin + STRETCH;
	uint64_t shallow = 0;
	(void)err;
	uint64_t first_in = adjacency_start(&h->in, begin), in = adjacency_start(&h->in, end) - first_in;
	near_all(number, begin, end - begin, sizeof *number);
	near_all(r->retained, begin, end - begin, sizeof *r->retained);
	near_all(h->class_of, begin, end - begin, sizeof *h->class_of);
	near_all(h->in.offset, begin, end - begin, sizeof *h->in.offset);
	near_all(h->in.target, first_in, in, sizeof *h->in.target);
	for (uint32_t id = begin; id < end && !progress_stops(r->d->progress, id); id++) {
		r->retained[id] = number[id] ? heap_shallow(h, id) : 0;
		shallow += r->retained[id];
		if (!number[id])
			number[id] = NOT_REACHABLE;
		else if (!bits_get(&r->d->at, number[id]))
			number[id] = h->in.target[adjacency_start(&h->in, id)];
	}
	atomic_fetch_add(&r->shallow, shallow);
	return 0;
}

static void name_junctions(struct dominance *d)
{
	struct bits_walk walk = bits_walk(&d->at);
	uint64_t k;
	for (uint32_t i = 0; bits_next(&walk, &k) && !progress_stops(d->progress, i); i++) {
		uint32_t dominator = d->junction[i].semi;
		cairn_assert(i < d->m && dominator < k);
		LOOK(d, object, k);
		LOOK(d, object, dominator);
		LOOK(d, number, d->object[k]);
		d->number[d->object[k]] = dominator ? d->object[dominator] : DOMINATED_BY_ROOTS;
	}
}

/* From the last number on: an object's dominator has a smaller one. */
static void sum_retained(const struct dominance *d, uint64_t *retained)
{
	const uint32_t *immediate = d->number, *object = d->object;
	if (d->near)
		near_init(&d->near->place, retained, sizeof *retained, false);
	for (uint32_t k = d->n; k > 0 && !progress_stops(d->progress, k); k--) {
		LOOK(d, object, k);
		LOOK(d, number, object[k]);
		LOOK(d, place, object[k]);
		if (k > 2 * AHEAD) {
			uint32_t far = object[k - 2 * AHEAD], near = immediate[object[k - AHEAD]];
			__builtin_prefetch(&immediate[far]);
			__builtin_prefetch(&retained[far]);
			if (near != DOMINATED_BY_ROOTS)
				__builtin_prefetch(&retained[near]);
		}
		uint32_t above = immediate[object[k]];
		cairn_assert(above == DOMINATED_BY_ROOTS || above < d->h->n_objects);
		if (above != DOMINATED_BY_ROOTS)
			retained[above] += retained[object[k]];
	}
}

static int allocate(struct dominance *d, struct err *err)
{
	d->number = big_alloc(d->size, sizeof *d->number, err);
	d->object = big_alloc(d->size, sizeof *d->object, err);
	d->place = big_alloc(d->size, sizeof *d->place, err);
	if (!d->number || !d->object || !d->place)
		return ERR_NOMEM;
	if (bits_init(&d->meets, d->size, err) || bits_init(&d->seen, d->size, err))
		return ERR_NOMEM;
	return bits_init(&d->at, d->size, err);
}

/* What notes the instances of classes. */
static int allocate_blocks(struct dominance *d, struct err *err)
{
	d->cap_blocks = d->h->n_classes + 2;
	d->n_blocks = 1;
	d->block = big_alloc(d->cap_blocks, sizeof *d->block, err);
	return d->block ? 0 : ERR_NOMEM;
}

/* The heap's arrays and our own that are jumped through.  filled: ours are still being filled. */
static int look_around(struct dominance *d, bool filled, struct err *err)
{
	const struct heap *h = d->h;
	struct whereabouts *w = d->near ? d->near : big_alloc(1, sizeof *w, err);
	if (!w)
		return ERR_NOMEM;
	bool any = near_init(&w->out_offset, h->out.offset, sizeof *h->out.offset, false);
	any |= near_init(&w->out_target, h->out.target, sizeof *h->out.target, false);
	any |= near_init(&w->class_of, h->class_of, sizeof *h->class_of, false);
	any |= near_init(&w->in_offset, h->in.offset, sizeof *h->in.offset, false);
	any |= near_init(&w->in_target, h->in.target, sizeof *h->in.target, false);
	any |= near_init(&w->number, d->number, sizeof *d->number, filled);
	any |= near_init(&w->object, d->object, sizeof *d->object, filled);
	any |= near_init(&w->place, d->place, sizeof *d->place, filled);
	d->near = any ? w : NULL;
	if (!any)
		big_free(w);
	return 0;
}

/* From now on they are read by others. */
static void look_no_more(const struct dominance *d, const struct dominators *out)
{
	const struct heap *h = d->h;
	void *arrays[] = { h->out.offset, h->out.target, h->class_of, h->in.offset, h->in.target, out->immediate,
		out->retained };
	for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++)
		near_over(arrays[i]);
	big_settle(out->immediate);
	big_settle(out->retained);
}

/* Release what only the walk needed, and allocate what only comes after it. */
static int allocate_junctions(struct dominance *d, struct err *err)
{
	bits_release(&d->meets);
	bits_release(&d->seen);
	d->junction = big_alloc(d->m, sizeof *d->junction, err);
	d->place = big_hold(d->place); /* all that is jumped through from now on */
	return d->junction ? bits_seal(&d->at, err) : ERR_NOMEM;
}

static void release_junctions(struct dominance *d)
{
	big_free(d->junction);
	big_free(d->block);
	d->junction = NULL;
	d->block = NULL;
}

static void release(struct dominance *d)
{
	dealt_release(d);
	release_junctions(d);
	big_free(d->place);
	big_free(d->number);
	big_free(d->object);
	bits_release(&d->meets);
	bits_release(&d->seen);
	bits_release(&d->at);
	big_free(d->instances);
	big_free(d->is_root);
	big_free(d->leads);
	big_free(d->edges);
}

/* When it is stopped, out is of no use. */
static void finish(struct dominance *d, struct dominators *out)
{
	uint32_t n = d->h->n_objects;
	out->retained = big_fit(d->place, n, sizeof *out->retained);
	d->place = NULL;
	struct results r = { .d = d, .retained = out->retained };
	progress_phase(d->progress, PHASE_SUM_RETAINED, 0);
	parallel_each((unsigned)(((uint64_t)n + STRETCH - 1) / STRETCH), begin_stretch, &r);
	if (!progress_cancelled(d->progress))
		name_junctions(d);
	if (progress_cancelled(d->progress))
		return;
	release_junctions(d);
	sum_retained(d, out->retained);
	out->n_reachable = d->n;
	out->shallow_reachable = r.shallow;
	out->immediate = d->number;
	d->number = NULL;
}

int dominators_find(struct dominators *out, const struct model *m, struct progress *progress,
    struct err *err)
{
	_Static_assert(sizeof(struct place) == sizeof *out->retained, "the one becomes the other");
	const struct heap *h = m->heap;
	*out = (struct dominators){ .n_objects = h->n_objects };
	struct dominance d = { .h = h, .left_out = m->left_out, .progress = progress,
		.size = h->n_objects + 1 };
	int code = allocate(&d, err);
	if (code == 0)
		code = dominance_prepare(&d, err);
	if (code == 0)
		code = allocate_blocks(&d, err);
	if (code == 0)
		code = look_around(&d, true, err);
	if (code == 0 && d.near)
		code = dealt_init(&d, err);
	if (code == 0)
		code = dominance_walk(&d, err);
	if (code == 0 && d.dealt)
		code = dealt_by_number(&d, err);
	if (code == 0)
		code = allocate_junctions(&d, err);
	if (code == 0)
		code = look_around(&d, false, err);
	if (code == 0)
		code = dominance_of_junctions(&d, err);
	if (code == 0)
		code = progress_check(progress, err);
	dealt_release(&d);
	if (code == 0)
		finish(&d, out);
	if (code == 0) /* there are not all sums */
		code = progress_check(progress, err);
	look_no_more(&d, out);
	big_free(d.near);
	release(&d);
	if (code < 0)
		dominators_release(out);
	return code;
}

void dominators_release(struct dominators *d)
{
	big_free(d->immediate);
	big_free(d->retained);
	*d = (struct dominators){ .immediate = NULL };
}

/* As measured on heaps of HotSpot, Go and at random: an object's own numbers, and what grows with the junctions, of
 * which there are the more the more references there are. */
uint64_t dominators_need(uint64_t objects, uint64_t references)
{
	uint64_t counting = references / 4 < objects ? references : 4 * objects;

	return 13 * objects + 6 * counting;
}
