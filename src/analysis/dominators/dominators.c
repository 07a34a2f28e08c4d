/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators.c - from a heap to immediate dominators and retained sizes.
 *
 * This file decides the order of the steps and owns their memory: 4 bytes an object, 12 a number and 8 a junction, with
 * a partition 4 more a number and what its buckets hold; then 8 an object (9 or 12 from 4 GiB or 1 TiB of heap
 * on) and 4 for each number whose place in the order still matters.  The array of numbers is reused for the
 * immediate dominators.
 */
#include "analysis/dominators/dominance.h"

#include "algorithms/parallel.h"
#include "base/assert.h"
#include "memory/big.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { STRETCH = 1 << 18, AHEAD = 16, SIZES = 512 /* looked at together */ };
/* What is summed up together stays in a cache.  Of a small heap it is a part, too: so each has something far. */
enum { SUMMED_MOST = 1 << 16, SUMMED_PARTS = 256 };

struct results {
	struct dominance *d;
	struct narrow retained;
	_Atomic uint64_t shallow;
	_Atomic uint32_t closed; /* that are reachable */
	uint32_t summed;         /* objects whose sizes are added up together: whole words of bits */
	struct bits inner;       /* by id: it may dominate objects that have a number */
	struct bits far;         /* by id: what it retains is not yet added to what it hangs below */
	uint32_t n_inner;        /* so many ids stand in d->object, those of smaller numbers first */
};

static uint32_t stretch_end(const struct dominance *d, uint32_t begin)
{
	return d->h->n_objects - begin < STRETCH ? d->h->n_objects : begin + STRETCH;
}

/* Is what a closed object hangs below reachable? */
static inline bool hangs(const struct dominance *d, uint32_t above)
{
	while (bits_get(&d->closed, above))
		above = dominance_referrer(d, above);
	return bits_get(&d->seen, above);
}

/* Numbers become dominators, except those of junctions. */
static int name_stretch(void *context, unsigned task, struct err *err)
{
	struct results *r = context;
	const struct dominance *d = r->d;
	uint32_t *number = d->number, begin = task * (uint32_t)STRETCH, end = stretch_end(d, begin), closed = 0;
	(void)err;
	for (uint32_t id = begin; id < end && !progress_stops(d->progress, id); id++) {
		if (number[id]) {
			if (!bits_get(&d->at, number[id]))
				number[id] = dominance_referrer(d, id);
		} else if (bits_get(&d->closed, id) && hangs(d, dominance_referrer(d, id))) {
			number[id] = dominance_referrer(d, id);
			closed++;
		} else {
			number[id] = NOT_REACHABLE;
		}
	}
	atomic_fetch_add(&r->closed, closed);
	return 0;
}

static void name_junctions(struct dominance *d)
{
	struct bits_walk walk = bits_walk(&d->at);
	uint64_t k;
	for (uint32_t i = 0; bits_next(&walk, &k) && !progress_stops(d->progress, i); i++) {
		uint32_t dominator = d->junction[i].semi;
		cairn_assert(i < d->m && dominator < k);
		d->number[d->object[k]] = dominator ? d->object[dominator] : DOMINATED_BY_ROOTS;
		bits_set(&d->inner, dominator);
	}
}

/* Sums need only those numbers' order that have sums to wait for: the room of the others is given back. */
static int keep_inner(struct dominance *d, struct results *r, struct err *err)
{
	if (bits_init(&r->inner, d->h->n_objects, err))
		return ERR_NOMEM;
	for (uint32_t k = 1; k <= d->n && !progress_stops(d->progress, k); k++) {
		if (!bits_get(&d->inner, k))
			continue;
		bits_set(&r->inner, d->object[k]);
		d->object[r->n_inner++] = d->object[k];
	}
	d->object = big_fit(d->object, r->n_inner, sizeof *d->object);
	return 0;
}

/* --- sums ---------------------------------------------------------------------------------------- */

/* Retained begins with the object's own size. */
static uint64_t weigh(const struct results *r, uint32_t begin, uint32_t end)
{
	const struct dominance *d = r->d;
	uint64_t shallow = 0, size[SIZES];
	for (uint32_t id = begin, n; id < end && !progress_cancelled(d->progress); id += n) {
		n = end - id < SIZES ? end - id : SIZES;
		heap_sizes(d->h, id, n, size);
		for (uint32_t i = 0; i < n; i++) {
			if (d->number[id + i] == NOT_REACHABLE || size[i] == SIZE_UNKNOWN)
				size[i] = 0;
			narrow_set(&r->retained, id + i, size[i]);
			shallow += size[i];
		}
	}
	return shallow;
}

/* What is added to others before those are: closed objects that lead nowhere, then other closed ones, then what waits
 * for no object that has a number. */
enum { LEAVES, LEADING, OUTER, ROUNDS };

/* 64 objects as bits: those of a round. */
static inline uint64_t of_round(const struct results *r, unsigned round, uint64_t word)
{
	const struct dominance *d = r->d;
	uint64_t leaf = d->leaf.word[word], closed = d->closed.word[word];
	return round == LEAVES ? leaf : round == LEADING ? closed & ~leaf : ~(closed | r->inner.word[word]);
}

/* What an object of the stretch retains is added to what dominates it, if that is there, too; else it waits. */
static void sum_round(struct results *r, unsigned round, uint32_t begin, uint32_t end)
{
	const struct dominance *d = r->d;
	for (uint64_t w = begin / 64; w < (end + UINT64_C(63)) / 64 && !progress_stops(d->progress, w); w++) {
		for (uint64_t left = of_round(r, round, w); left; left &= left - 1) {
			uint32_t id = (uint32_t)(w * 64 + (unsigned)__builtin_ctzll(left));
			if (id >= end || d->number[id] >= NOT_REACHABLE)
				continue;
			if (d->number[id] >= begin && d->number[id] < end)
				narrow_add(&r->retained, d->number[id], narrow_get(&r->retained, id));
			else
				bits_set(&r->far, id);
		}
	}
}

static int sum_stretch(void *context, unsigned task, struct err *err)
{
	struct results *r = context;
	uint32_t n = r->d->h->n_objects, begin = task * r->summed;
	uint32_t end = n - begin < r->summed ? n : begin + r->summed;
	(void)err;
	for (uint64_t w = begin / 64; w < (end + UINT64_C(63)) / 64; w++)
		r->far.word[w] = 0;
	atomic_fetch_add(&r->shallow, weigh(r, begin, end));
	for (unsigned round = 0; round < ROUNDS; round++)
		sum_round(r, round, begin, end);
	return 0;
}

/* What waited is added to all that was added to others meanwhile.  Later rounds come first, while what they retain is
 * what they had then. */
static void sum_far(const struct results *r)
{
	const struct dominance *d = r->d;
	for (unsigned round = ROUNDS; round-- > 0;) {
		for (uint64_t w = 0; w < bits_words(&r->far) && !progress_stops(d->progress, w); w++) {
			for (uint64_t left = r->far.word[w] & of_round(r, round, w); left; left &= left - 1) {
				uint32_t id = (uint32_t)(w * 64 + (unsigned)__builtin_ctzll(left)), at = d->number[id];
				uint64_t bytes = narrow_get(&r->retained, id);
				for (bool inner = false; at != DOMINATED_BY_ROOTS && !inner; at = d->number[at]) {
					narrow_add(&r->retained, at, bytes);
					inner = bits_get(&r->inner, at);
				}
			}
		}
	}
}

static inline void pass_on(const struct results *r, uint32_t id)
{
	uint32_t above = r->d->number[id];
	cairn_assert(above == DOMINATED_BY_ROOTS || above < r->d->h->n_objects);
	if (above != DOMINATED_BY_ROOTS)
		narrow_add(&r->retained, above, narrow_get(&r->retained, id));
}

/* From the last number on: an object's dominator has a smaller one. */
static void sum_inner(const struct results *r)
{
	const struct dominance *d = r->d;
	const uint32_t *immediate = d->number, *object = d->object;
	for (uint32_t k = r->n_inner; k-- > 0 && !progress_stops(d->progress, k);) {
		if (k >= 2 * AHEAD) {
			uint32_t far = object[k - 2 * AHEAD], near = immediate[object[k - AHEAD]];
			__builtin_prefetch(&immediate[far]);
			narrow_look_ahead(&r->retained, far);
			if (near != DOMINATED_BY_ROOTS)
				narrow_look_ahead(&r->retained, near);
		}
		pass_on(r, object[k]);
	}
}

static int allocate(struct dominance *d, struct err *err)
{
	d->number = big_alloc(d->size, sizeof *d->number, err);
	if (!d->number || bits_init(&d->meets, d->size, err) || bits_init(&d->seen, d->size, err))
		return ERR_NOMEM;
	return bits_init(&d->leaf, d->size, err) || bits_init(&d->closed, d->size, err) ? ERR_NOMEM : 0;
}

/* What has an entry for each number, now that it is known how many there are at most. */
static int allocate_numbered(struct dominance *d, struct err *err)
{
	d->room = d->size - d->n_closed;
	d->object = big_alloc(d->room, sizeof *d->object, err);
	d->place = big_alloc(d->room, sizeof *d->place, err);
	if (!d->object || !d->place || bits_init(&d->inner, d->room, err))
		return ERR_NOMEM;
	return bits_init(&d->at, d->room, err);
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
	bool any = readahead_init(&w->out_offset, h->out.offset, sizeof *h->out.offset, false);
	any |= readahead_init(&w->out_target, h->out.target, sizeof *h->out.target, false);
	any |= readahead_init(&w->class_low, h->class_low, sizeof *h->class_low, false);
	any |= readahead_init(&w->class_high, h->class_high, sizeof *h->class_high, false);
	any |= readahead_init(&w->object, d->object, sizeof *d->object, filled);
	any |= readahead_init(&w->place, d->place, sizeof *d->place, filled);
	d->near = any ? w : NULL;
	if (!any)
		big_free(w);
	return 0;
}

/* From now on they are read by others. */
static void look_no_more(const struct dominance *d, const struct dominators *out)
{
	const struct heap *h = d->h;
	void *arrays[] = { h->out.offset, h->out.target, h->class_low, h->class_high };
	for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++)
		readahead_over(arrays[i]);
	big_settle(out->immediate);
	narrow_settle(&out->retained);
}

/* Release what only the walk needed, and allocate what only comes after it. */
static int allocate_junctions(struct dominance *d, struct err *err)
{
	bits_release(&d->meets);
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
	partition_release(d);
	release_junctions(d);
	big_free(d->place);
	big_free(d->number);
	big_free(d->object);
	bits_release(&d->meets);
	bits_release(&d->seen);
	bits_release(&d->leaf);
	bits_release(&d->closed);
	bits_release(&d->inner);
	bits_release(&d->at);
	big_free(d->instances);
	big_free(d->is_root);
	big_free(d->leads);
	big_free(d->edges);
}

/* Numbers become dominators.  Of what is by number only an order stays. */
static int name_all(struct dominance *d, struct results *r, unsigned stretches, struct err *err)
{
	parallel_each(stretches, name_stretch, r);
	if (progress_cancelled(d->progress))
		return err_cancelled(err);
	name_junctions(d);
	int code = keep_inner(d, r, err);
	release_junctions(d);
	r->far = d->seen;
	d->seen = (struct bits){ .word = NULL };
	bits_release(&d->inner);
	bits_release(&d->at);
	return code;
}

/* Sums stand where the places were: memory that the kernel need not clear again. */
static int sum_all(struct dominance *d, struct results *r, struct err *err)
{
	uint32_t n = d->h->n_objects, part = n / SUMMED_PARTS;
	int code = narrow_init(&r->retained, n, d->h->shallow, d->place, err);
	d->place = NULL;
	if (code)
		return code;
	r->summed = part < SUMMED_MOST ? (part | 63) + 1 : SUMMED_MOST;
	parallel_each((unsigned)((n + (uint64_t)r->summed - 1) / r->summed), sum_stretch, r);
	sum_far(r);
	sum_inner(r);
	return progress_check(d->progress, err);
}

static int sum_where_it_stands(struct dominance *d, struct dominators *out, struct err *err)
{
	unsigned stretches = (unsigned)(((uint64_t)d->h->n_objects + STRETCH - 1) / STRETCH);
	struct results r = { .d = d };
	int code = name_all(d, &r, stretches, err);
	if (code == 0)
		code = sum_all(d, &r, err);
	bits_release(&r.inner);
	bits_release(&r.far);
	*out = (struct dominators){ .n_objects = d->h->n_objects, .immediate = d->number, .retained = r.retained,
		.n_reachable = d->n + r.closed, .shallow_reachable = r.shallow };
	d->number = NULL;
	return code;
}

int dominators_find(struct dominators *out, const struct model *m, struct progress *progress,
    struct err *err)
{
	const struct heap *h = m->heap;
	*out = (struct dominators){ .n_objects = h->n_objects };
	struct dominance d = { .h = h, .left_out = m->left_out, .progress = progress,
		.size = h->n_objects + 1 };
	int code = allocate(&d, err);
	if (code == 0)
		code = dominance_prepare(&d, err);
	if (code == 0)
		code = allocate_numbered(&d, err);
	if (code == 0)
		code = allocate_blocks(&d, err);
	if (code == 0)
		code = look_around(&d, true, err);
	if (code == 0 && (d.near || !h->in.offset))
		code = partition_init(&d, err);
	if (code == 0)
		code = dominance_walk(&d, err);
	if (code == 0 && d.partition)
		code = partition_by_number(&d, err);
	if (code == 0)
		code = allocate_junctions(&d, err);
	if (code == 0 && d.near)
		code = look_around(&d, false, err);
	if (code == 0)
		code = dominance_of_junctions(&d, err);
	if (code == 0)
		code = progress_check(progress, err);
	progress_phase(progress, PHASE_SUM_RETAINED, 0);
	if (code == 0)
		code = d.partition ? partition_sum(&d, out, err) : sum_where_it_stands(&d, out, err);
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
	narrow_release(&d->retained);
	*d = (struct dominators){ .immediate = NULL };
}

/* As measured on heaps of HotSpot, Go and at random: an object's own numbers, and what grows with the junctions, of
 * which there are the more the more references there are. */
uint64_t dominators_need(uint64_t objects, uint64_t references)
{
	uint64_t counting = references / 4 < objects ? references : 4 * objects;

	return 6 * objects + 4 * counting;
}

/* Measured as well, within a fifth: what is partitioned into buckets stands there beside what it is made of. */
uint64_t dominators_need_in_file(uint64_t objects, uint64_t references)
{
	return dominators_need(objects, references) / 2 * 5;
}
