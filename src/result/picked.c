/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * picked.c - some columns of a result, in another order: a result whose rows and cells are those of the one it was
 * made of.
 */
#include "result/result.h"

#include "base/mem.h"
#include "base/progress.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct picked {
	struct result *from;
	unsigned *map;
};

static void picked_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct picked *p = r->data;
	result_read(p->from, row, p->map[column], out, scratch);
}

static void picked_target(const struct result *r, size_t row, struct target *out)
{
	const struct picked *p = r->data;
	result_target(p->from, row, out);
}

static enum row_heading picked_heading(const struct result *r, size_t row)
{
	enum row_heading heading = result_heading(((const struct picked *)r->data)->from, row);
	return heading == HEADING_OF_ROWS ? heading : NO_HEADING;
}

static void picked_release(void *data)
{
	struct picked *p = data;
	result_free(p->from);
	free(p->map);
	free(p);
}

static int picked_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct picked *p = r->data;
	return result_members(p->from, rows, to, err);
}

static const struct result_ops picked_ops = {
    .cell = picked_cell, .target = picked_target, .heading = picked_heading, .release = picked_release,
    .members = picked_members};

struct result *result_source(const struct result *r)
{
	while (r->ops == &picked_ops)
		r = ((const struct picked *)r->data)->from;
	return (struct result *)r;
}

const struct result_dumps *result_dumps(const struct result *r)
{
	return result_source(r)->dumps;
}

bool result_blames(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump)
{
	for (;; r = ((const struct picked *)r->data)->from) {
		row = r->order ? r->order[row] : row;
		if (r->ops != &picked_ops)
			return r->dumps->blamed(r, row, column, reason, dump);
		column = ((const struct picked *)r->data)->map[column];
	}
}

/* Does it say itself what its rows count?  Then these are sets, whatever opening one asks for. */
static bool tells_members(const struct result *r)
{
	if (r->ops == &picked_ops)
		return tells_members(((const struct picked *)r->data)->from);
	return r->ops && r->ops->members;
}

bool result_has_sets(const struct result *r)
{
	struct target target = {.kind = TARGET_NONE};
	size_t row = 0;
	if (!r->n_columns || result_is(r, RESULT_PLAIN_TEXT))
		return false;
	if (tells_members(r))
		return true;
	while (row < r->n_rows && (target.kind == TARGET_NONE || target.kind == TARGET_COMMAND) &&
	    !progress_own_stops(8 * row))
		result_target(r, row++, &target);
	return !r->n_rows || (target.kind != TARGET_NONE && target.kind != TARGET_COMMAND);
}

struct result *result_pick(struct result *r, const unsigned *pick, unsigned n)
{
	struct picked *p = xcalloc(1, sizeof *p);
	p->from = r;
	p->map = xcalloc(n ? n : 1, sizeof *p->map);
	struct result *out = result_new(r->title, r->opened, NULL, &picked_ops, p, 0);
	struct column *columns = arena_alloc(&out->arena, (n ? n : 1) * sizeof *columns);
	for (unsigned i = 0; i < n; i++) {
		if (pick[i] < r->n_columns) {
			p->map[out->n_columns] = pick[i];
			columns[out->n_columns] = r->columns[pick[i]];
			columns[out->n_columns++].hidden = false;
		} else {
			const struct field *f = &r->head[UINT_MAX - pick[i]];
			result_head_named(out, f->name, f->cell);
			out->head[out->n_head - 1].column = f->column;
		}
	}
	out->columns = columns;
	out->named_by = r->named_by;
	out->apart = r->apart;
	if (out->n_columns)
		out->n_source = out->n_rows = r->n_rows;
	out->note = r->note;
	out->shares = r->shares;
	if (r->n_rows == r->n_source)
		memcpy(out->known_sum, r->known_sum, sizeof out->known_sum);
	out->state = r->state & ~(unsigned)(RESULT_NONE_ANSWERS | RESULT_OF_PATHS | RESULT_NO_PANES);
	out->warning = r->warning;
	out->note_first = r->note_first;
	return out;
}
