/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trend.c - how the rows of a comparison go over many dumps; see compare.h. */
#include "analysis/compare/compare.h"

#include "memory/big.h"

#include <math.h>

/* Move the k smallest to the front, the largest of these to [k - 1]. */
static void select_smallest(double *v, size_t n, size_t k)
{
	size_t from = 0, to = n; /* the k-th is within */
	while (to - from > 1) {
		double pivot = v[from + (to - from - 1) / 2];
		size_t i = from, j = to - 1;
		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			double swapped = v[i];
			v[i++] = v[j];
			v[j--] = swapped;
		}
		if (k <= j + 1)
			to = j + 1;
		else
			from = j + 1;
	}
}

static double median(double *v, size_t n)
{
	size_t k = n / 2 + 1;
	select_smallest(v, n, k);
	double upper = v[k - 1], lower = -INFINITY;
	if (n % 2)
		return upper;
	for (size_t i = 0; i + 1 < k; i++)
		lower = v[i] > lower ? v[i] : lower;
	return (lower + upper) / 2;
}

static int64_t rounded(double n)
{
	const double most = 0x1p62;
	if (n > most || n < -most)
		return n > 0 ? (int64_t)most : -(int64_t)most;
	return (int64_t)(n < 0 ? n - 0.5 : n + 0.5);
}

static struct trend trend_of(const struct comparison *c, uint32_t row, double *room)
{
	struct trend t = {.first = c->n, .slope = amount_exact(0)};
	size_t up = 0, rose = 0, pairs = 0;
	bool moves = false;
	for (size_t i = 0; i < c->n; i++) {
		if (!compared(c, row, i)->objects.n)
			continue;
		t.first = t.first == c->n ? i : t.first;
		t.last = i;
	}
	size_t from = t.first, whole = 0;
	while (from < c->n && profile_in_part(c->profile[from]))
		from++;
	uint64_t before = 0;
	for (size_t i = from; i < c->n; i++) {
		struct amount a = compared(c, row, i)->retained;
		if (profile_in_part(c->profile[i]))
			continue;
		if (a.certainty != EXACT) /* bounds of both ends make no bound of what is between them */
			t.slope = amount_weaken(t.slope, a.certainty == UNKNOWN ? UNKNOWN : INFERRED, a.reason);
		up += whole && a.n > before;
		moves |= whole && a.n != before;
		before = a.n;
		whole++;
	}
	t.known = whole > 1 && t.slope.certainty != UNKNOWN;
	if (!t.known || !moves) /* most rows never do, and of many dumps there are many pairs */
		return t;
	for (size_t i = from; i < c->n; i++) {
		for (size_t j = from; j < i && !profile_in_part(c->profile[i]); j++) {
			if (profile_in_part(c->profile[j]))
				continue;
			double change = (double)compared(c, row, i)->retained.n - (double)compared(c, row, j)->retained.n;
			rose += change > 0;
			room[pairs++] = change / (double)(i - j);
		}
	}
	size_t steps = whole - 1;
	t.steady = steps >= 2 && 2 * up >= steps && rose >= pairs - pairs / 4;
	t.slope.n = (uint64_t)rounded(median(room, pairs));
	return t;
}

int compare_trends(struct trend **out, const struct comparison *c, struct err *err)
{
	double *room = big_alloc((uint64_t)c->n * c->n / 2 + 1, sizeof *room, err);
	*out = room ? big_alloc(c->n_rows, sizeof **out, err) : NULL;
	int code = *out ? 0 : ERR_NOMEM;
	for (uint32_t row = 0; !code && row < c->n_rows; row++) {
		(*out)[row] = trend_of(c, row, room);
		if (progress_cancelled(progress_own()))
			code = err_cancelled(err);
	}
	big_free(room);
	if (code) {
		big_free(*out);
		*out = NULL;
	}
	return code;
}
