/* SPDX-License-Identifier: GPL-3.0-or-later */
/* referents.c - see referents.h. */
#include "analysis/referents.h"

#include "algorithms/sort.h"
#include "analysis/maybe_live.h"
#include "analysis/reachable.h"
#include "heap/heap.h"
#include "memory/big.h"

/* The classes that a referent may have, with the three that stand in place of one: null, lost, unread. */
static uint32_t class_place(const struct heap *h, uint32_t referent)
{
	return referent >= REFERENT_UNREAD ? h->n_classes + (REFERENT_NULL - referent) :
	    heap_class_index(h, referent);
}

static uint32_t class_at(const struct heap *h, uint32_t place)
{
	return place < h->n_classes ? place : REFERENT_NULL - (place - h->n_classes);
}

/* --- rows ----------------------------------------------------------------------------------------- */

static int by_kind_and_objects(const void *x, const void *y)
{
	const struct referents_row *a = x, *b = y;
	uint64_t m = a->end - a->first, n = b->end - b->first;
	return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind) : (n > m) - (n < m);
}

static int by_row_and_referent(const void *x, const void *y)
{
	const struct referent *a = x, *b = y;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->referent != b->referent)
		return a->referent < b->referent ? -1 : 1;
	return (a->holder > b->holder) - (a->holder < b->holder);
}

/* Count each kind and class into count[], then make rows of those that there are; the count of each becomes its
 * row's number.  Until the rows are filled `end` is what was counted. */
static int make_rows(struct referents *out, const struct heap *h, uint32_t *count, const struct reference_objects *o,
    struct err *err)
{
	uint32_t classes = h->n_classes + 3;
	uint64_t cap = 0, n = 0;
	for (size_t i = 0; i < o->n && !progress_own_stops(i); i++)
		count[o->at[i].kind * classes + class_place(h, o->at[i].referent)]++;
	for (uint32_t i = 0; i < WEAK_KINDS * classes; i++) {
		struct referents_row *row = count[i] ? BIG_PUSH(out->row, n, cap, err) : NULL;
		if (count[i] && !row)
			return ERR_NOMEM;
		if (count[i])
			*row = (struct referents_row){.kind = i / classes, .class = class_at(h, i % classes), .end = count[i]};
	}
	out->n = (uint32_t)n;
	int code = sort(out->row, n, sizeof *out->row, by_kind_and_objects, err);
	for (uint32_t i = 0; !code && i < n; i++) {
		uint32_t class = out->row[i].class;
		uint32_t place = class >= REFERENT_UNREAD ? h->n_classes + (REFERENT_NULL - class) : class;
		count[out->row[i].kind * classes + place] = i;
	}
	return code;
}

static int fill_rows(struct referents *out, const struct heap *h, const uint32_t *row_of,
    const struct reference_objects *o, const uint8_t *by, struct err *err)
{
	uint32_t classes = h->n_classes + 3;
	out->at = big_alloc(o->n, sizeof *out->at, err);
	if (!out->at)
		return ERR_NOMEM;
	out->n_at = o->n;
	for (size_t i = 0; i < o->n && !progress_own_stops(i); i++)
		out->at[i] = (struct referent){.row = row_of[o->at[i].kind * classes + class_place(h, o->at[i].referent)],
		    .referent = o->at[i].referent, .holder = o->at[i].holder, .only = by[i] == o->at[i].kind};
	int code = sort(out->at, o->n, sizeof *out->at, by_row_and_referent, err);
	for (uint64_t i = 0; !code && i < out->n_at; i++) {
		const struct referent *at = &out->at[i];
		struct referents_row *row = &out->row[at->row];
		bool first = !i || at[-1].row != at->row;
		if (progress_own_stops(i))
			return err_cancelled(err);
		if (first)
			row->first = i;
		row->end = i + 1;
		if (at->referent >= REFERENT_UNREAD || (!first && at[-1].referent == at->referent))
			continue;
		row->referents++;
		row->only += at->only;
	}
	return code;
}

/* What the dump leaves out may hold an object that counts here, or one that would count if something did. */
static int find_doubts(struct referents *out, const struct heap *h, const struct bits *strongly, struct err *err)
{
	struct model strong = {.heap = h, .left_out = h->soft_and_weak};
	struct maybe_live maybe;
	int code = maybe_live_find(&maybe, &strong, strongly, err);
	if (code)
		return code;
	for (uint64_t i = 0; i < out->n_at && !progress_own_stops(i); i++) {
		uint32_t id = out->at[i].referent;
		if (id < REFERENT_UNREAD && (maybe_live_has(&maybe, id) || (!bits_get(strongly, id) &&
		    maybe_live_has(&maybe, out->at[i].holder))))
			out->row[out->at[i].row].doubt = maybe.reason;
	}
	maybe_live_release(&maybe);
	return progress_check(progress_own(), err);
}

int referents_find(struct referents *out, const struct heap *h, struct progress *progress, struct err *err)
{
	struct reference_objects o = {.n = 0};
	struct bits strongly = {.word = NULL};
	*out = (struct referents){.n = 0};
	int code = reference_objects_find(&o, h, progress, err);
	uint8_t *by = code ? NULL : big_alloc(o.n, sizeof *by, err);
	uint32_t *row_of = by ? big_alloc(((uint64_t)h->n_classes + 3) * WEAK_KINDS, sizeof *row_of, err) : NULL;
	out->only_held = o.only_held;
	if (!code && !row_of)
		code = ERR_NOMEM;
	if (!code && o.n)
		code = reachable_by_kinds(by, &strongly, h, &o, progress, err);
	if (!code)
		code = make_rows(out, h, row_of, &o, err);
	if (!code)
		code = fill_rows(out, h, row_of, &o, by, err);
	if (!code && o.n)
		code = find_doubts(out, h, &strongly, err);
	bits_release(&strongly);
	big_free(by);
	big_free(row_of);
	reference_objects_release(&o);
	if (code)
		referents_release(out);
	return code;
}

void referents_release(struct referents *r)
{
	big_free(r->row);
	big_free(r->at);
	*r = (struct referents){.n = 0};
}
