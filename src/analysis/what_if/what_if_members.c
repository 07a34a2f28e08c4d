/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_members.c - what the objects of rows retain together; see what_if.h. */
#include "analysis/what_if/what_if.h"

#include "algorithms/sort.h"
#include "base/progress.h"

#include <string.h>

/* By row, then by place in the tree. */
static int by_place(const void *x, const void *y, void *spans)
{
	const struct what_if_member *a = x, *b = y;
	const struct what_if_span *span = spans;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return (span[a->object].from > span[b->object].from) - (span[a->object].from < span[b->object].from);
}

int what_if_sum_members(struct retained_sum *sums, uint32_t n_rows, struct what_if_member *member, size_t n,
    const struct retained *r, struct err *err)
{
	struct what_if cut;
	const struct what_if_member *top = NULL;
	int code = what_if_init(&cut, r, err);
	if (!code)
		code = what_if_number(&cut, err);
	if (!code)
		code = sort_with(member, n, sizeof *member, by_place, cut.span, err);
	memset(sums, 0, n_rows * sizeof *sums);
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
