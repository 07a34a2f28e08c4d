/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_trend.c - trend: how rows go over a series of dumps, each with a plot. */
#include "command/compare/comparing.h"

#include "algorithms/sort.h"
#include "base/mem.h"
#include "command/session/session.h"
#include "memory/big.h"
#include "result/plot.h"

#include <stdlib.h>

#define TREND_COLUMNS                               \
	{.id = COL_PLOT},                           \
	{.id = COL_SLOPE},                          \
	{.id = COL_STEADY},                         \
	{.id = COL_OBJECTS, .total = true},         \
	{.id = COL_RETAINED},                       \
	{.id = COL_FIRST_SEEN},                     \
	{.id = COL_LAST_SEEN},                      \
	{.id = COL_COURSE, .hidden = true}

COMPARING_FORMS("trends", TREND_COLUMNS);

struct trends {
	struct comparing *comparing;
	struct trend *of; /* by row of the comparison */
	uint32_t *row;    /* the comparison's, of each row */
	struct text line; /* of the row that was asked for last */
};

enum { PLOT_MOST = 60, PLOT_LEAST = 12 }; /* columns; of more dumps several share one; on a narrow screen */

/* A block for each dump, as high as its part of the most bytes that the row ever retained. */
static void plot(const struct trends *d, uint32_t row, struct text *to)
{
	const struct comparison *c = &d->comparing->comparison;
	struct text all = TEXT_INIT;
	uint64_t most = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct amount a = compared(c, row, i)->retained;
		most = a.certainty != UNKNOWN && a.n > most ? a.n : most;
	}
	for (size_t i = 0; i < d->comparing->n_all; i++) {
		size_t at = d->comparing->all[i].at;
		const struct compared_amounts *a = at == COMPARING_LEFT_OUT ? NULL : compared(c, row, at);
		if (!a || a->retained.certainty == UNKNOWN)
			text_add(&all, PLOT_UNKNOWN);
		else if (!a->objects.n)
			text_add(&all, PLOT_ABSENT);
		else
			plot_add(&all, a->retained.n, most);
	}
	plot_squeeze(to, all.s, PLOT_MOST);
	text_release(&all);
}

/* When, or else in which of them, as dumps numbers them. */
static struct cell seen_cell(const struct trends *d, size_t at, struct text *scratch)
{
	const struct comparison *c = &d->comparing->comparison;
	if (*c->profile[at]->created)
		return cell_text(c->profile[at]->created);
	for (size_t i = 0; i < d->comparing->n_all; i++)
		if (d->comparing->all[i].at == at)
			text_addf(scratch, "dump %zu", d->comparing->all[i].dump->number);
	return cell_text(scratch->s);
}

static struct cell slope_cell(struct amount slope)
{
	const struct amount none = amount_exact(0);
	if (amount_signed(slope) >= 0)
		return cell_bytes_delta(none, slope);
	slope.n = 0 - slope.n;
	return cell_bytes_delta(slope, none);
}

static void trend_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct trends *d = r->data;
	const struct comparison *c = &d->comparing->comparison;
	uint32_t at = d->row[row];
	const struct trend *t = &d->of[at];
	if (column < forms[c->by].words) {
		comparing_words(c, at, column, out, scratch);
		return;
	}
	text_clear(scratch);
	switch (r->shape->columns[column].id) {
	case COL_PLOT:
		plot(d, at, scratch);
		*out = cell_text(scratch->s);
		break;
	case COL_SLOPE:
		*out = t->known ? slope_cell(t->slope) : cell_blank();
		break;
	case COL_STEADY:
		*out = t->known ? cell_flag(t->steady) : cell_blank();
		break;
	case COL_OBJECTS:
		*out = cell_count(compared(c, at, c->n - 1)->objects);
		break;
	case COL_RETAINED:
		*out = cell_bytes(compared(c, at, c->n - 1)->retained);
		break;
	case COL_FIRST_SEEN:
		*out = seen_cell(d, t->first, scratch);
		break;
	case COL_LAST_SEEN:
		*out = seen_cell(d, t->last, scratch);
		break;
	case COL_COURSE:
		comparing_course(c, at, scratch);
		*out = cell_text(scratch->s);
		break;
	default:
		break;
	}
}

/* A slope is of all dumps from the first on that has objects, the rest of the newest one. */
static bool trend_blamed(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump)
{
	const struct trends *d = r->data;
	const struct comparison *c = &d->comparing->comparison;
	uint32_t at = d->row[row];
	const struct compared_amounts *a = compared(c, at, dump);
	if (column < forms[c->by].words)
		return false;
	switch (r->shape->columns[column].id) {
	case COL_SLOPE:
		return dump >= d->of[at].first && !profile_in_part(c->profile[dump]) && comparing_blames(a->retained, reason);
	case COL_OBJECTS:
		return dump == c->n - 1 && comparing_blames(a->objects, reason);
	case COL_RETAINED:
		return dump == c->n - 1 && comparing_blames(a->retained, reason);
	default:
		break;
	}
	return false;
}

static void trend_target(const struct result *r, size_t row, struct target *out)
{
	struct trends *d = r->data;
	text_clear(&d->line);
	comparing_add_course_line(&d->comparing->comparison, d->row[row], &d->line);
	*out = (struct target){.kind = d->comparing->objects ? TARGET_GROUP : TARGET_COMMAND, .command = d->line.s};
}

static int trend_members(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct trends *d = r->data;
	return comparing_rows_members(d->comparing, r->opened, d->row, rows, to, err);
}

static void trend_release(void *data)
{
	struct trends *d = data;
	comparing_free(d->comparing);
	big_free(d->of);
	big_free(d->row);
	text_release(&d->line);
	free(d);
}

static const struct result_ops trend_ops = {
    .cell = trend_cell, .target = trend_target, .release = trend_release, .members = trend_members};
static const struct result_ops trend_profile_ops = {
    .cell = trend_cell, .target = trend_target, .release = trend_release};

static int by_slope(const void *x, const void *y, void *trends)
{
	const struct trends *d = trends;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct trend *a = &d->of[i], *b = &d->of[j];
	int64_t p = a->known ? amount_signed(a->slope) : 0, q = b->known ? amount_signed(b->slope) : 0;
	const struct comparison *c = &d->comparing->comparison;
	if (c->n == 1) { /* nothing goes anywhere: what retains most */
		p = (int64_t)(compared(c, i, 0)->retained.n / 2);
		q = (int64_t)(compared(c, j, 0)->retained.n / 2);
	}
	if (a->steady != b->steady)
		return a->steady ? -1 : 1;
	return p != q ? (p < q) - (p > q) : (i > j) - (i < j);
}

/* The rows that are shown: the steady ones first, of these and of the others those with the largest slope. */
static int order_rows(struct trends *d, bool steady, size_t *n, struct err *err)
{
	const struct comparison *c = &d->comparing->comparison;
	int code = compare_trends(&d->of, c, err);
	*n = 0;
	if (code)
		return code;
	if (!(d->row = big_alloc(c->n_rows, sizeof *d->row, err)))
		return ERR_NOMEM;
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (d->of[i].first < c->n && (!steady || d->of[i].steady))
			d->row[(*n)++] = i;
	sort_array_with(d->row, *n, sizeof *d->row, by_slope, d);
	return 0;
}

/* A single one goes nowhere. */
static void hide_course(struct result *r)
{
	static const enum column_id of_several[] = {COL_PLOT, COL_SLOPE, COL_STEADY, COL_FIRST_SEEN, COL_LAST_SEEN};
	for (size_t i = 0; i < sizeof of_several / sizeof *of_several; i++)
		result_show(r, (unsigned)result_column_of(r, of_several[i]), false);
}

static void say_what_it_takes(struct result *r, const struct session *s, const struct trends *d)
{
	struct text said = TEXT_INIT;
	if (d->comparing->n < 3)
		result_add_note(r, "steady growth needs three dumps");
	if (d->comparing->n_all > (s->interactive ? PLOT_LEAST : PLOT_MOST)) {
		text_addf(&said, "with %zu dumps a column of the plot may show the maximum of several",
		    d->comparing->n_all);
		result_add_note(r, said.s);
	}
	text_release(&said);
}

static int run_trend(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	enum profile_by by = comparing_by(call);
	struct comparing *comparing;
	size_t n;
	int code = comparing_begin(&comparing, s, by, false, err);
	if (code)
		return code;
	struct trends *d = xcalloc(1, sizeof *d);
	d->comparing = comparing;
	d->line = (struct text)TEXT_INIT;
	code = order_rows(d, call_has(call, DASH_STEADY), &n, err);
	if (code) {
		trend_release(d);
		return code;
	}
	struct result *r = result_new(forms[by].title, comparing->opened, forms[by].shape,
	    comparing->objects ? &trend_ops : &trend_profile_ops, d, n);
	r->note = comparing_note(r, comparing);
	comparing_tell_dumps(r, comparing, trend_blamed);
	say_what_it_takes(r, s, d);
	if (comparing->n_all == 1)
		hide_course(r);
	result_mark(r, RESULT_FAILED, !n);
	if (code)
		result_free(r);
	else
		*out = r;
	return code;
}

static const struct option_spec trend_options[] = {
    COMPARING_BY("group by (default path)"),
    {DASH_STEADY, OPT_FLAG, NULL, "only rows that rise steadily"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_trend = {
    .name = "trend",
    .options = trend_options,
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
	"first_seen, last_seen\tfirst and last dump with this row",
    .examples = {{"trend", ON_SERIES, "which paths grow?"},
	{"trend -steady", ON_SERIES, "only those that rise steadily"},
	{"trend -by class | head 5", ON_SERIES, "the five classes that grow most"}},
    .key = "",
    .run = run_trend,
};
