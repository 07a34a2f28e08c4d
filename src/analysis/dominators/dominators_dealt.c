/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators_dealt.c - who references junctions, where memory does not hold what would tell.
 *
 * To look up a junction's referrers and their numbers is to jump through three arrays in the order of the
 * walk.  Where these live in the file, each jump is a wait for the disk.  But the walk meets every
 * reference of the objects that it numbers: it notes (id of the junction, number of the referrer) in
 * piles by ids.  When all numbers are known, each pile is read with the few numbers that it needs, and
 * dealt anew by the junction's number; so when the algorithm comes to a stretch of numbers, all that
 * references it lies in one pile.
 */
#include "analysis/dominators/dominance.h"

#include "base/assert.h"
#include "base/big.h"
#include "base/budget.h"

#include <string.h>

enum { LEAST_SHIFT = 16, MOST_PILES = 256, WINDOW_PART = 4, LEAST_WINDOW = 1 << 16, ASKED = 1 << 16 };

/* Ids, or numbers, of a pile. */
static unsigned shift_of(const struct dominance *d)
{
	unsigned shift = LEAST_SHIFT;
	while (d->size >> shift >= MOST_PILES)
		shift++;
	return shift;
}

int dealt_init(struct dominance *d, struct err *err)
{
	d->dealt = big_alloc(1, sizeof *d->dealt, err);
	if (!d->dealt)
		return ERR_NOMEM;
	d->dealt->shift = shift_of(d);
	uint64_t window = budget_limit() / WINDOW_PART / sizeof *d->number;
	d->dealt->window = window > LEAST_WINDOW ? window : LEAST_WINDOW;
	return piles_init(&d->dealt->piles, 2 * ((size_t)(d->size >> d->dealt->shift) + 1), err);
}

static void release_stretch(struct dealt *t)
{
	big_free(t->end);
	big_free(t->least);
	big_free(t->holder);
	t->end = NULL;
	t->least = t->holder = NULL;
}

void dealt_release(struct dominance *d)
{
	if (!d->dealt)
		return;
	release_stretch(d->dealt);
	piles_release(&d->dealt->piles);
	big_free(d->dealt);
	d->dealt = NULL;
}

/* Piles of numbers stand behind those of ids. */
static size_t pile_of(const struct dominance *d, uint32_t number)
{
	return (size_t)(d->size >> d->dealt->shift) + 1 + (number >> d->dealt->shift);
}

/* From its own end: only so much of number[] is jumped through at once as memory holds. */
static int number_objects(struct dominance *d, struct err *err)
{
	for (uint64_t begin = 0; begin < d->h->n_objects; begin += d->dealt->window) {
		for (uint32_t k = 1; k <= d->n; k++) {
			if (k % ASKED == 1)
				near_all(d->object, k, 2 * ASKED, sizeof *d->object);
			if (progress_stops(d->progress, k))
				return err_cancelled(err);
			if (d->object[k] - begin < d->dealt->window)
				d->number[d->object[k]] = k;
		}
	}
	return 0;
}

int dealt_by_number(struct dominance *d, struct err *err)
{
	int code = number_objects(d, err);
	if (code)
		return code;
	struct piles *p = &d->dealt->piles;
	for (size_t pile = 0; pile <= d->size >> d->dealt->shift; pile++) {
		const uint64_t *at = NULL, *note;
		uint32_t n;
		near_all(d->number, (uint64_t)pile << d->dealt->shift, UINT64_C(1) << d->dealt->shift, sizeof *d->number);
		while ((note = piles_next(p, pile, &at, &n))) {
			for (uint32_t i = 0; i < n; i++) {
				uint32_t w = d->number[note[i] >> 32];
				cairn_assert(w && bits_get(&d->at, w));
				code = piles_add(p, pile_of(d, w), (uint64_t)w << 32 | (uint32_t)note[i], err);
				if (code)
					return code;
			}
			if (progress_cancelled(d->progress))
				return err_cancelled(err);
		}
		piles_clear(p, pile);
	}
	return 0;
}

/* Referrers with smaller numbers are done with: the least of them is kept.  The others are counted. */
static int count_holders(struct dominance *d, size_t pile, struct err *err)
{
	struct dealt *t = d->dealt;
	const uint64_t *at = NULL, *note;
	uint32_t n;
	while ((note = piles_next(&t->piles, pile, &at, &n))) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t w = (uint32_t)(note[i] >> 32), k = (uint32_t)note[i];
			if (k > w)
				t->end[w - t->begin]++;
			else if (k < t->least[w - t->begin])
				t->least[w - t->begin] = k;
		}
		if (progress_cancelled(d->progress))
			return err_cancelled(err);
	}
	return 0;
}

static int place_holders(struct dominance *d, size_t pile, struct err *err)
{
	struct dealt *t = d->dealt;
	const uint64_t *at = NULL, *note;
	uint32_t n;
	while ((note = piles_next(&t->piles, pile, &at, &n))) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t w = (uint32_t)(note[i] >> 32), k = (uint32_t)note[i];
			if (k > w)
				t->holder[--t->end[w - t->begin + 1]] = k;
		}
		if (progress_cancelled(d->progress))
			return err_cancelled(err);
	}
	return 0;
}

int dealt_take(struct dominance *d, uint32_t w, struct err *err)
{
	struct dealt *t = d->dealt;
	size_t pile = pile_of(d, w);
	uint32_t room = UINT32_C(1) << t->shift;
	if (t->end && w >= t->begin)
		return 0;
	release_stretch(t);
	t->begin = w >> t->shift << t->shift;
	t->end = big_alloc((uint64_t)room + 2, sizeof *t->end, err);
	t->least = big_alloc(room, sizeof *t->least, err);
	if (!t->end || !t->least)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < room; i++)
		t->least[i] = t->begin + i;
	int code = count_holders(d, pile, err);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < room; i++) {
		sum += t->end[i];
		t->end[i] = sum;
	}
	if (code)
		return code;
	/* filled from the ends down to the beginnings, which are the ends of those before */
	memmove(t->end + 1, t->end, (uint64_t)room * sizeof *t->end);
	t->holder = big_alloc(sum, sizeof *t->holder, err);
	code = t->holder ? place_holders(d, pile, err) : ERR_NOMEM;
	t->end[0] = 0;
	t->end[room + 1] = sum;
	piles_clear(&t->piles, pile);
	return code;
}
