/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_trend.c - trend: how rows go over a series of dumps, each with a plot. */
#include "command/compare/comparing.h"

#include "algorithms/sort.h"
#include "base/mem.h"
#include "command/session/session.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

#define TREND_COLUMNS                                                  \
	{.id = COL_PLOT},                                              \
	{.id = COL_SLOPE, .bar = true},                                \
	{.id = COL_STEADY, .room = COLUMN_EARLY},                      \
	{.id = COL_OBJECTS, .total = true, .room = COLUMN_EARLY},      \
	{.id = COL_RETAINED},                                          \
	{.id = COL_FIRST_SEEN, .room = COLUMN_EARLY},                  \
	{.id = COL_LAST_SEEN, .room = COLUMN_EARLY},                   \
	{.id = COL_COURSE, .hidden = true}

COMPARING_FORMS("trends", TREND_COLUMNS);

enum { PLOT_LEAST = 12 }; /* columns of a plot on a narrow screen */

struct ordering {
	const struct compared_rows *d;
	uint32_t *rank; /* by row of the comparison among what grows; UINT32_MAX: it does not */
};

static int by_slope(const void *x, const void *y, void *ordering)
{
	const struct ordering *o = ordering;
	const struct compared_rows *d = o->d;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct trend *a = &d->trend[i], *b = &d->trend[j];
	int64_t p = a->known ? amount_signed(a->slope) : 0, q = b->known ? amount_signed(b->slope) : 0;
	const struct comparison *c = &d->comparing->comparison;
	if (c->n == 1) { /* nothing goes anywhere: what retains most */
		p = (int64_t)(compared(c, i, 0)->retained.n / 2);
		q = (int64_t)(compared(c, j, 0)->retained.n / 2);
	}
	if (o->rank[i] != o->rank[j])
		return o->rank[i] < o->rank[j] ? -1 : 1;
	if (a->steady != b->steady)
		return a->steady ? -1 : 1;
	return p != q ? (p < q) - (p > q) : (i > j) - (i < j);
}

/* What grows and is in nothing else that grows has a rank: where that compares at all. */
static int rank_rows(uint32_t *rank, const struct comparing *c, struct err *err)
{
	struct growth growth;
	memset(rank, 0xff, c->comparison.n_rows * sizeof *rank);
	if (c->n < 2 || c->other_words || c->other_program)
		return 0;
	int code = comparing_growth(&growth, c, c->opened, err);
	if (code)
		return code;
	for (uint32_t i = 0; i < growth.n; i++)
		if (amount_signed(growth.list[i].more) > 0)
			rank[growth.list[i].row] = i;
	growth_release(&growth);
	return 0;
}

/* The rows that are shown: first what grows, as growth has it, then the steady ones, of these and of the others those
 * with the largest slope. */
static int order_rows(struct compared_rows *d, bool steady, size_t *n, struct err *err)
{
	const struct comparison *c = &d->comparing->comparison;
	int code = compare_trends(&d->trend, c, err);
	*n = 0;
	if (code)
		return code;
	struct ordering o = {d, big_alloc(c->n_rows, sizeof *o.rank, err)};
	if (!o.rank || !(d->row = big_alloc(c->n_rows, sizeof *d->row, err)))
		code = ERR_NOMEM;
	else
		code = rank_rows(o.rank, d->comparing, err);
	if (code) {
		big_free(o.rank);
		return code;
	}
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (d->trend[i].first < c->n && (!steady || d->trend[i].steady))
			d->row[(*n)++] = i;
	sort_array_with(d->row, *n, sizeof *d->row, by_slope, &o);
	big_free(o.rank);
	return 0;
}

/* A single one goes nowhere. */
static void hide_course(struct result *r)
{
	static const enum column_id of_several[] = {COL_PLOT, COL_SLOPE, COL_STEADY, COL_FIRST_SEEN, COL_LAST_SEEN};
	for (size_t i = 0; i < sizeof of_several / sizeof *of_several; i++)
		result_show_column(r, of_several[i], false);
}

static void say_what_it_takes(struct result *r, const struct session *s, const struct comparing *c)
{
	if (c->n < 3)
		result_add_note(r, "steady growth needs three dumps");
	if (c->n_all > (s->interactive ? PLOT_LEAST : COMPARING_PLOT))
		result_notef(r, "with %zu dumps a column of the plot may show the maximum of several", c->n_all);
}

static int run_trend(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct comparing *comparing;
	size_t n;
	int code = comparing_begin(&comparing, s, comparing_by(call), false, err);
	if (code)
		return code;
	struct compared_rows *d = xcalloc(1, sizeof *d);
	d->comparing = comparing;
	code = order_rows(d, call_has(call, DASH_STEADY), &n, err);
	*out = compared_rows_result(d, forms, n);
	say_what_it_takes(*out, s, comparing);
	if (comparing->n_all == 1)
		hide_course(*out);
	return code;
}

const struct command cmd_trend = {
    .name = "trend",
    .options = OPTIONS(COMPARING_BY("group by (default path)"),
	{DASH_STEADY, OPT_FLAG, NULL, "only rows that rise steadily"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_OF_PROFILES |
	COMMAND_COMPARES,
    .group = "compare",
    .summary = "plot the retained size of paths or classes over all dumps",
    .shapes = COMPARING_SHAPES,
    .description = "For a series of dumps or profiles (cairn profiles/*.profile): one row per path or class.\n"
	"plot\tretained size in each dump, from 0 to its maximum; a dot: not there; ?: unknown, as in a dump read in "
	"part; with over 60 dumps a column shows the maximum of several\n"
	"slope\tbytes per dump: the median change between any two dumps since the first one with this row (Theil-Sen), "
	"which a single leap does not move; dumps read in part do not count\n"
	"steady\ttrue if it rises rather than leapt once: it is in three dumps or more, in three of four pairs the "
	"later dump retains more, and half of the steps rise\n"
	"first_seen, last_seen\tfirst and last dump with this row\n"
	"First what growth lists, then rows that rise steadily, then the others, by slope.",
    .examples = {{"trend", ON_SERIES, "which paths grow?"},
	{"trend -steady", ON_SERIES, "only those that rise steadily"},
	{"trend -by class | head 5", ON_SERIES, "the five classes that grow most"}},
    .run = run_trend,
};
