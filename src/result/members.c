/* SPDX-License-Identifier: GPL-3.0-or-later */
/* members.c - the objects that rows stand for, and what these retain exactly; see result.h. */
#include "result/result.h"

#include "analysis/search.h"
#include "base/progress.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "opened/opened.h"
#include "result/tree.h"

int implied_begin(struct implied *m, const struct heap *h, struct bits *to, struct err *err)
{
	*m = (struct implied){.heap = h, .to = to};
	int code = bits_init(&m->classes, h->n_classes, err);
	return code ? code : bits_init(&m->threads, h->n_threads, err);
}

void implied_add(struct implied *m, const struct target *t)
{
	const struct heap *h = m->heap;
	if (t->kind == TARGET_OBJECT && t->id < h->n_objects) {
		bits_set(m->to, t->id);
	} else if (t->kind == TARGET_CLASS && t->id < h->n_classes) {
		bits_set(&m->classes, t->id);
		m->any_class = true;
	} else if (t->kind == TARGET_THREAD && h->threads[t->id].object != HEAP_NONE) {
		bits_set(m->to, h->threads[t->id].object);
	} else if (t->kind == TARGET_THREAD) {
		bits_set(&m->threads, t->id);
		m->any_thread = true;
	}
}

void implied_end(struct implied *m)
{
	const struct heap *h = m->heap;
	if (m->any_class)
		objects_mark(h, &m->classes, NULL, m->to);
	for (size_t i = 0; m->any_thread && i < h->n_roots && !progress_own_stops(i); i++) {
		if (h->roots[i].thread != HEAP_NONE && bits_get(&m->threads, h->roots[i].thread))
			bits_set(m->to, h->roots[i].object);
	}
	bits_release(&m->classes);
	bits_release(&m->threads);
}

static int implied_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	struct implied implied;
	int code = implied_begin(&implied, r->heap, to, err);
	for (size_t row = 0; !code && r->ops->target && row < r->n_source && !progress_own_stops(row); row++) {
		struct target t = {.kind = TARGET_NONE};
		if (!bits_get(rows, row))
			continue;
		r->ops->target(r, row, &t);
		implied_add(&implied, &t);
	}
	implied_end(&implied);
	return code;
}

int result_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	struct bits source;
	if (!r->ops || !r->heap)
		return 0;
	int code = bits_init(&source, r->n_source, err);
	for (size_t row = 0; !code && row < r->n_rows && !progress_own_stops(row); row++) {
		if (!rows || bits_get(rows, row))
			bits_set(&source, result_source_row(r, row));
	}
	if (!code && r->ops->members)
		code = r->ops->members(r, &source, to, err);
	else if (!code)
		code = implied_members(r, &source, to, err);
	bits_release(&source);
	return code;
}

/* Of a row: what stays when rows are sorted and trees open. */
static uint64_t key_of(const struct result *r, size_t row)
{
	return tree_is(r) ? UINT64_C(1) << 63 | tree_key(r, row) : result_source_row(r, row);
}

void result_sharpen(const struct result *r, size_t row, struct cell *c)
{
	uint64_t key = key_of(r, row);
	const struct exact_row *e = r->exact;
	while (e && e->key != key)
		e = e->next;
	if (e)
		c->amount = e->bytes;
}

void result_note_exact(struct result *r, size_t row, struct amount bytes)
{
	int column = result_column_of(r, COL_RETAINED);
	struct cell cell;
	if (column < 0 || tree_has_groups(r)) /* whose rows add up */
		return;
	result_cell(r, row, (unsigned)column, &cell);
	if (cell.type != CELL_BYTES || cell.amount.certainty != LOWER_BOUND || cell.amount.reason != REASON_JOINT ||
	    bytes.certainty == LOWER_BOUND || bytes.n < cell.amount.n)
		return;
	struct exact_row *e = arena_alloc(&r->arena, sizeof *e);
	*e = (struct exact_row){key_of(r, row), bytes, r->exact};
	r->exact = e;
}
