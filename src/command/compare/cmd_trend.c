/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_trend.c - trend: how rows go over a series of dumps, each with a plot. */
#include "command/compare/comparing.h"

#include "base/big.h"
#include "base/mem.h"
#include "base/sort.h"
#include "command/session/session.h"

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
enum { T_PLOT, T_SLOPE, T_STEADY, T_OBJECTS, T_RETAINED, T_FIRST_SEEN, T_LAST_SEEN, T_COURSE };

COMPARING_FORMS("trends", TREND_COLUMNS);

struct trends {
	struct comparing *comparing;
	struct trend *of; /* by row of the comparison */
	uint32_t *row;    /* the comparison's, of each row */
};

enum { PLOT_MOST = 40 }; /* columns; of more dumps some are left out, never the first and the last one */

/* A block for each dump, as high as its part of the most bytes that the row ever retained. */
static void plot(const struct comparison *c, uint32_t row, struct text *to)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	enum { LEVELS = sizeof blocks / sizeof *blocks };
	size_t n = c->n < PLOT_MOST ? c->n : PLOT_MOST;
	uint64_t most = 0;
	for (size_t i = 0; i < c->n; i++)
		if (compared(c, row, i)->retained.n > most)
			most = compared(c, row, i)->retained.n;
	for (size_t i = 0; i < n; i++) {
		const struct compared_amounts *a = compared(c, row, n > 1 ? i * (c->n - 1) / (n - 1) : 0);
		unsigned level = most ? (unsigned)((double)a->retained.n / (double)most * (LEVELS - 1) + 0.5) : 0;
		text_add(to, !a->objects.n ? "_" : a->retained.certainty == UNKNOWN ? "?" : blocks[level]);
	}
}

/* When, or else in which of them. */
static struct cell seen_cell(const struct comparison *c, size_t at, struct text *scratch)
{
	if (*c->profile[at]->created)
		return cell_text(c->profile[at]->created);
	text_addf(scratch, "dump %zu", at + 1);
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
	switch (column - forms[c->by].words) {
	case T_PLOT:
		plot(c, at, scratch);
		*out = cell_text(scratch->s);
		break;
	case T_SLOPE:
		*out = t->known ? slope_cell(t->slope) : cell_blank();
		break;
	case T_STEADY:
		*out = t->known ? cell_flag(t->steady) : cell_blank();
		break;
	case T_OBJECTS:
		*out = cell_count(compared(c, at, c->n - 1)->objects);
		break;
	case T_RETAINED:
		*out = cell_bytes(compared(c, at, c->n - 1)->retained);
		break;
	case T_FIRST_SEEN:
		*out = seen_cell(c, t->first, scratch);
		break;
	case T_LAST_SEEN:
		*out = seen_cell(c, t->last, scratch);
		break;
	case T_COURSE:
		comparing_course(c, at, scratch);
		*out = cell_text(scratch->s);
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
	switch (column - forms[c->by].words) {
	case T_SLOPE:
		return dump >= d->of[at].first && comparing_blames(a->retained, reason);
	case T_OBJECTS:
		return dump == c->n - 1 && comparing_blames(a->objects, reason);
	case T_RETAINED:
		return dump == c->n - 1 && comparing_blames(a->retained, reason);
	}
	return false;
}

static void trend_target(const struct result *r, size_t row, struct target *out)
{
	(void)r, (void)row;
	*out = (struct target){.kind = TARGET_GROUP};
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
	free(d);
}

static const struct result_ops trend_ops = {
    .cell = trend_cell, .target = trend_target, .release = trend_release, .members = trend_members};
static const struct result_ops trend_profile_ops = {.cell = trend_cell, .release = trend_release};

static int by_slope(const void *x, const void *y, void *trends)
{
	const struct trends *d = trends;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct trend *a = &d->of[i], *b = &d->of[j];
	int64_t p = a->known ? amount_signed(a->slope) : 0, q = b->known ? amount_signed(b->slope) : 0;
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

static int run_trend(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	enum profile_by by = comparing_by(call);
	struct comparing *comparing;
	size_t n;
	int code = comparing_begin(&comparing, s, by, err);
	if (code)
		return code;
	struct trends *d = xcalloc(1, sizeof *d);
	d->comparing = comparing;
	code = order_rows(d, call_has(call, DASH_STEADY), &n, err);
	if (code) {
		trend_release(d);
		return code;
	}
	struct result *r = result_new(forms[by].title, comparing->opened, forms[by].shape,
	    comparing->objects ? &trend_ops : &trend_profile_ops, d, n);
	r->note = comparing_note(r, comparing);
	comparing_tell_dumps(r, comparing, trend_blamed);
	if (comparing->n < 3)
		result_add_note(r, "what rises steadily takes three dumps to tell");
	r->failed = !n;
	code = command_sort(s, r, call, "slope", true, err);
	if (code)
		result_free(r);
	else
		*out = r;
	return code;
}

static const struct option_spec trend_options[] = {
    COMPARING_BY("what the rows are (default path)"),
    {DASH_STEADY, OPT_FLAG, NULL, "only what rises steadily"},
    {DASH_SORT, OPT_COLUMN, "COL", "order by a column (default steady first, then by slope)"},
    {DASH_R, OPT_FLAG, NULL, "the other way round"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_trend = {
    .name = "trend",
    .options = trend_options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_OF_PROFILES |
	COMMAND_COMPARES,
    .group = "compare",
    .summary = "how each path or class went over all the dumps, plotted",
    .shapes = COMPARING_SHAPES,
    .description = "For a series of dumps or profiles (cairn profiles/*.profile): a row for each path, or class, with "
	"what it retained in each dump as a plot from 0 to its most (_ where it was not there; of more than 40 dumps some "
	"are left out), and when it was first and last seen. slope is bytes per dump by the rule of Theil and Sen: the "
	"median of the changes between any two dumps since it was first seen, which a single leap does not move. steady "
	"says whether it rises rather than leapt once: it was there for three dumps or more, of any two of them the later "
	"one retains more in at least three of four cases, and at least half of the steps rise.",
    .examples = {{NULL}},
    .key = "",
    .run = run_trend,
};
