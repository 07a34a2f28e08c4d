/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holders.c - immediate dominators of a set, by class.
 *
 * For every object of a skipped class we remember the first object above it whose class is not
 * skipped, so a list of a million nodes is climbed only once.  Any thread.
 */
#include "analysis/holders.h"

#include "base/amount.h"
#include "base/progress.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <stdlib.h>

#define ROOTS UINT32_MAX /* nothing above */

struct climb {
	const struct retained *r;
	const struct bits *skip;
	uint32_t *above; /* by object of a skipped class: 1 + the holder above it, ROOTS, or 0: not known */
};

static bool skipped(const struct climb *c, uint32_t id)
{
	return c->skip && bits_get(c->skip, heap_class_index(c->r->heap, id));
}

/* The nearest dominator that is not skipped, or ROOTS. */
static uint32_t holder_of(struct climb *c, uint32_t id)
{
	const uint32_t *immediate = c->r->dominators.immediate;
	uint32_t at = immediate[id], found;
	while (at != DOMINATED_BY_ROOTS && skipped(c, at) && !c->above[at])
		at = immediate[at];
	if (at == DOMINATED_BY_ROOTS)
		found = ROOTS;
	else if (!skipped(c, at))
		found = at;
	else
		found = c->above[at] == ROOTS ? ROOTS : c->above[at] - 1;
	/* everything passed on the way leads there as well */
	for (uint32_t up = immediate[id]; up != at; up = immediate[up])
		c->above[up] = found == ROOTS ? ROOTS : found + 1;
	return found;
}

static int sum_up(struct holders *out, struct climb *c, struct holders_row *row,
    const uint32_t *ids, size_t n, struct err *err)
{
	const struct heap *h = c->r->heap;
	for (size_t i = 0; i < n; i++) {
		if (progress_own_stops(i))
			return err_cancelled(err);
		if (c->r->dominators.immediate[ids[i]] == NOT_REACHABLE) {
			out->unreachable++;
			continue;
		}
		uint32_t holder = holder_of(c, ids[i]);
		struct holders_row *to = &row[holder == ROOTS ? h->n_classes : heap_class_index(h, holder)];
		to->held.n++;
		to->held_shallow = amount_add(to->held_shallow, heap_size(h, ids[i]));
		if (holder == ROOTS || bits_get(&out->objects, holder))
			continue;
		bits_set(&out->objects, holder);
		to->holders.n++;
		to->holders_shallow = amount_add(to->holders_shallow, heap_size(h, holder));
	}
	return 0;
}

/* With the doubts about who dominates whom. */
static struct holders_row as_found(const struct heap *h, struct holders_row row)
{
	struct amount sure = heap_held(h, 0);
	row.held = amount_as_sure(row.held, sure);
	row.holders = amount_as_sure(row.holders, sure);
	row.held_shallow = amount_as_sure(row.held_shallow, sure);
	row.holders_shallow = amount_as_sure(row.holders_shallow, sure);
	return row;
}

int holders_find(struct holders *out, const struct retained *r, const uint32_t *ids, size_t n,
    const struct bits *skip, struct err *err)
{
	const struct heap *h = r->heap;
	struct climb c = {.r = r, .skip = skip};
	struct holders_row *row = big_alloc((uint64_t)h->n_classes + 1, sizeof *row, err);
	struct retained_sum *sums = big_alloc((uint64_t)h->n_classes + 1, sizeof *sums, err);
	*out = (struct holders){.rows = NULL};
	c.above = big_alloc(h->n_objects, sizeof *c.above, err);
	int code = row && sums && c.above ? bits_init(&out->objects, h->n_objects, err) : ERR_NOMEM;
	if (!code)
		code = sum_up(out, &c, row, ids, n, err);
	progress_phase(progress_own(), PHASE_SUM_CLASSES, r->dominators.n_reachable);
	if (!code)
		code = retained_by_group(
		    r, NULL, h->n_classes, NULL, &out->objects, sums, progress_own(), err);
	for (uint32_t i = 0; !code && i <= h->n_classes && !progress_own_stops(i); i++) {
		if (!row[i].held.n)
			continue;
		row[out->n] = as_found(h, row[i]);
		row[out->n].class = i < h->n_classes ? i : HEAP_NONE;
		row[out->n++].retained = i < h->n_classes ? sums[i] : (struct retained_sum){.bytes = 0};
	}
	out->rows = row;
	big_free(c.above);
	big_free(sums);
	if (code)
		holders_release(out);
	return code;
}

void holders_release(struct holders *h)
{
	big_free(h->rows);
	bits_release(&h->objects);
	*h = (struct holders){.rows = NULL};
}
