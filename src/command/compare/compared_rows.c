/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compared_rows.c - tables whose rows are those of a comparison: diff and trend. */
#include "command/compare/comparing.h"

#include "command/session/session.h"
#include "memory/big.h"
#include "result/plot.h"

#include <stdlib.h>

/* The figure that a column shows, or whose change; NULL: none. */
static const struct amount *figure(const struct compared_amounts *a, enum column_id column)
{
	switch (column) {
	case COL_OBJECTS:
	case COL_D_OBJECTS:
		return &a->objects;
	case COL_SHALLOW:
	case COL_D_SHALLOW:
		return &a->shallow;
	case COL_RETAINED:
	case COL_D_RETAINED:
		return &a->retained;
	default:
		return NULL;
	}
}

static bool is_change(enum column_id column)
{
	return cell_is_signed(column_kinds[column].type);
}

static struct cell figure_cell(
    const struct compared_amounts *before, const struct compared_amounts *now, enum column_id column)
{
	struct amount a = *figure(before, column), b = *figure(now, column);
	bool bytes = column_kinds[column].type == CELL_BYTES || column_kinds[column].type == CELL_BYTES_DELTA;
	if (is_change(column))
		return bytes ? cell_bytes_delta(a, b) : cell_delta(a, b);
	return bytes ? cell_bytes(b) : cell_count(b);
}

bool comparing_blames_figure(const struct comparison *c, uint32_t row, size_t base, enum column_id column,
    enum reason reason, size_t dump)
{
	const struct amount *a = figure(compared(c, row, dump), column);
	bool made_of = dump == c->n - 1 || (dump == base && is_change(column));
	return a && made_of && comparing_blames(*a, reason);
}

uint64_t comparing_most(const struct comparison *c, uint32_t row)
{
	uint64_t most = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct amount a = compared(c, row, i)->retained;
		most = a.certainty != UNKNOWN && a.n > most ? a.n : most;
	}
	return most;
}

/* A block for each dump, as high as its part of the most bytes that the row ever retained. */
static void plot(const struct compared_rows *t, uint32_t row, struct text *to)
{
	const struct comparison *c = &t->comparing->comparison;
	struct text all = TEXT_INIT;
	uint64_t most = comparing_most(c, row);
	for (size_t i = 0; i < t->comparing->n_all; i++) {
		size_t at = t->comparing->all[i].at;
		const struct compared_amounts *a = at == COMPARING_LEFT_OUT ? NULL : compared(c, row, at);
		if (!a || a->retained.certainty == UNKNOWN)
			text_add(&all, PLOT_UNKNOWN);
		else if (!a->objects.n)
			text_add(&all, PLOT_ABSENT);
		else
			plot_add(&all, a->retained.n, most);
	}
	plot_squeeze(to, all.s, COMPARING_PLOT);
	text_release(&all);
}

/* When, or else in which of them, as dumps numbers them. */
static struct cell seen_cell(const struct comparing *comparing, size_t at, struct text *scratch)
{
	const char *created = comparing->comparison.profile[at]->created;
	if (*created && !comparing->interactive)
		return cell_text(created);
	if (*created) {
		comparing_add_short_time(created, scratch);
		return cell_text(scratch->s);
	}
	for (size_t i = 0; i < comparing->n_all; i++)
		if (comparing->all[i].at == at)
			text_addf(scratch, "dump %zu", comparing->all[i].dump->number);
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

static void rows_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct compared_rows *t = r->data;
	const struct comparison *c = &t->comparing->comparison;
	uint32_t at = t->row[row];
	const struct trend *trend = t->trend ? &t->trend[at] : NULL;
	text_clear(scratch);
	switch (r->shape->columns[column].id) {
	case COL_OBJECTS:
	case COL_D_OBJECTS:
	case COL_SHALLOW:
	case COL_D_SHALLOW:
	case COL_RETAINED:
	case COL_D_RETAINED:
		*out = figure_cell(compared(c, at, t->base), compared(c, at, c->n - 1), r->shape->columns[column].id);
		break;
	case COL_GREW:
		text_addf(scratch, "%u/%zu", t->comparing->other_words ? compare_objects(c, at).up : compare_retained(c, at).up,
		    c->n - 1);
		*out = cell_text(scratch->s);
		break;
	case COL_COURSE:
		*out = comparing_course_cell(t->comparing, at, scratch);
		break;
	case COL_PLOT:
		plot(t, at, scratch);
		*out = cell_text(scratch->s);
		break;
	case COL_SLOPE:
		*out = trend->known ? slope_cell(trend->slope) : cell_blank();
		break;
	case COL_STEADY:
		*out = trend->known ? cell_flag(trend->steady) : cell_blank();
		break;
	case COL_FIRST_SEEN:
		*out = seen_cell(t->comparing, trend->first, scratch);
		break;
	case COL_LAST_SEEN:
		*out = seen_cell(t->comparing, trend->last, scratch);
		break;
	default:
		comparing_words(c, at, column, out, scratch);
	}
}

/* A slope is of all dumps from the first on that has objects, the rest of the newest one, a change of the base, too. */
static bool rows_blamed(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump)
{
	const struct compared_rows *t = r->data;
	const struct comparison *c = &t->comparing->comparison;
	uint32_t at = t->row[row];
	if (r->shape->columns[column].id == COL_SLOPE)
		return dump >= t->trend[at].first && !profile_in_part(c->profile[dump]) &&
		    comparing_blames(compared(c, at, dump)->retained, reason);
	return comparing_blames_figure(c, at, t->base, r->shape->columns[column].id, reason, dump);
}

/* Of a trend its history is opened, and of what no dump has objects of. */
static void rows_target(const struct result *r, size_t row, struct target *out)
{
	struct compared_rows *t = r->data;
	*out = (struct target){.kind = t->comparing->objects ? TARGET_GROUP : TARGET_COMMAND};
	if (!t->trend && t->comparing->objects)
		return;
	text_clear(&t->line);
	comparing_add_course_line(&t->comparing->comparison, t->row[row], &t->line);
	out->command = t->line.s;
}

static int rows_members(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct compared_rows *t = r->data;
	return comparing_rows_members(t->comparing, r->opened, t->row, rows, to, err);
}

static void rows_free(void *rows)
{
	struct compared_rows *t = rows;
	comparing_free(t->comparing);
	big_free(t->trend);
	big_free(t->row);
	bits_release(&t->only);
	text_release(&t->line);
	free(t);
}

static const struct result_ops rows_ops = {
    .cell = rows_cell, .target = rows_target, .release = rows_free, .members = rows_members};
/* a profile's rows count nothing that could be shown */
static const struct result_ops profile_ops = {
    .cell = rows_cell, .target = rows_target, .release = rows_free};

struct result *compared_rows_result(struct compared_rows *t, const struct comparing_form *forms, size_t n)
{
	struct comparing *c = t->comparing;
	const struct comparing_form *form = &forms[c->comparison.by];
	struct result *r = result_new(form->title, c->opened, form->shape, c->objects ? &rows_ops : &profile_ops, t, n);
	comparing_tell(r, c, rows_blamed);
	result_mark(r, RESULT_FAILED, !n);
	return r;
}
