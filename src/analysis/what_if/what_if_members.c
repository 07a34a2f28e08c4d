/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_members.c - what the objects of rows retain together; see what_if.h. */
#include "analysis/what_if/what_if.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "memory/big.h"

#include <string.h>

enum { FEW = 64 }; /* of so many objects one is a member at most: then it is quicker to climb than to number all */

/* By row, then by place in the tree; without numbers by object. */
static int by_place(const void *x, const void *y, void *spans)
{
	const struct what_if_member *a = x, *b = y;
	const struct what_if_span *span = spans;
	uint32_t from = span ? span[a->object].from : a->object, other = span ? span[b->object].from : b->object;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return (from > other) - (from < other);
}

/* Up from each member to another one of its row.  *left: steps; 0 afterwards: they were not enough. */
static int climb(struct retained_sum *sums, const struct what_if_member *member, size_t n, const struct retained *r,
    uint64_t *left, struct err *err)
{
	const uint32_t *immediate = r->dominators.immediate;
	uint32_t *row_of = big_alloc(r->dominators.n_objects, sizeof *row_of, err); /* + 1 */
	for (size_t i = 0, end; row_of && i < n && *left; i = end) {
		for (end = i; end < n && member[end].row == member[i].row; end++)
			row_of[member[end].object] = member[i].row + 1;
		for (size_t k = i; k < end && *left && !progress_own_stops(k); k++) {
			uint32_t at = immediate[member[k].object];
			bool again = k > i && member[k].object == member[k - 1].object;
			while (at < NOT_REACHABLE && row_of[at] != member[i].row + 1 && --*left && !progress_own_stops(*left))
				at = immediate[at];
			if (!again && at == DOMINATED_BY_ROOTS)
				retained_sum_add(r, &sums[member[i].row], member[k].object);
		}
	}
	big_free(row_of);
	return row_of ? progress_check(progress_own(), err) : ERR_NOMEM;
}

/* In the order of the tree each that is not below the one before. */
static int walk(struct retained_sum *sums, struct what_if_member *member, size_t n, const struct retained *r,
    struct err *err)
{
	struct what_if cut;
	const struct what_if_member *top = NULL;
	int code = what_if_init(&cut, r, err);
	if (!code)
		code = what_if_number(&cut, err);
	if (!code)
		code = sort_with(member, n, sizeof *member, by_place, cut.span, err);
	for (size_t i = 0; !code && i < n && !progress_own_stops(i); i++) {
		const struct what_if_member *m = &member[i];
		if (r->dominators.immediate[m->object] == NOT_REACHABLE ||
		    (top && top->row == m->row && cut.span[m->object].from <= cut.span[top->object].to))
			continue;
		top = m;
		retained_sum_add(r, &sums[m->row], m->object);
	}
	what_if_release(&cut);
	return code ? code : progress_check(progress_own(), err);
}

int what_if_sum_members(struct retained_sum *sums, uint32_t n_rows, struct what_if_member *member, size_t n,
    const struct retained *r, struct err *err)
{
	uint64_t left = n < r->dominators.n_objects / FEW ? r->dominators.n_objects : 0;
	int code = 0;
	memset(sums, 0, n_rows * sizeof *sums);
	if (left)
		code = sort_with(member, n, sizeof *member, by_place, NULL, err);
	if (!code && left)
		code = climb(sums, member, n, r, &left, err);
	if (code || left)
		return code;
	memset(sums, 0, n_rows * sizeof *sums);
	return walk(sums, member, n, r, err);
}
