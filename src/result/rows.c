/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.c - results whose rows are kept as they were added, and the texts that results keep.
 */
#include "result/result.h"

#include "base/assert.h"
#include "base/mem.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* --- texts ------------------------------------------------------------------------------------- */

enum { LONG_TEXT = 256 /* bytes: a shorter one is sooner copied than found */ };

/* A long text is looked for among the last ones: a class name of a megabyte would else be kept once for
 * each of its rows.  Without memory the text is empty, and the result remembers that. */
static const char *keep_text(struct result *r, const char *s)
{
	struct err err = ERR_INIT;
	size_t length = strlen(s);
	struct long_text *l = &r->long_texts[length % (sizeof r->long_texts / sizeof *r->long_texts)];

	if (length >= LONG_TEXT && l->length == length && !memcmp(l->text, s, length))
		return l->text;
	const char *kept = arena_try_strndup(&r->arena, s, length, &err);
	if (!kept) {
		result_lost(r, &err);
		return "";
	}
	if (length >= LONG_TEXT)
		*l = (struct long_text){kept, length};
	return kept;
}

struct cell result_keep_cell(struct result *r, struct cell c)
{
	if (c.type == CELL_TEXT || c.type == CELL_NUMBER)
		c.text = keep_text(r, c.text);
	return c;
}

/* --- rows -------------------------------------------------------------------------------------- */

enum { LATE_MOST = 2 }; /* columns whose cells are made when somebody looks */

struct kept_rows {
	struct cell *cells; /* n_columns a row */
	struct target *targets;
	size_t n, cap, cap_targets;
	unsigned n_columns;
	int (*members)(const struct result *r, void *data, const struct bits *rows, struct bits *to,
	    struct err *err);
	void (*release)(void *data);
	void *data; /* of members and late */
	struct late {
		struct cell (*cell)(const struct result *r, void *data, size_t row);
		unsigned column;
	} late[LATE_MOST];
	unsigned n_late;
};

static void kept_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct kept_rows *k = r->data;
	(void)scratch;
	*out = k->cells[row * k->n_columns + column];
	for (unsigned i = 0; i < k->n_late; i++)
		if (column == k->late[i].column)
			*out = k->late[i].cell(r, k->data, row);
}

static void kept_target(const struct result *r, size_t row, struct target *out)
{
	const struct kept_rows *k = r->data;
	*out = k->targets[row];
}

static void kept_release(void *data)
{
	struct kept_rows *k = data;
	if (k->release)
		k->release(k->data);
	big_free(k->cells);
	big_free(k->targets);
	free(k);
}

static int kept_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct kept_rows *k = r->data;
	return k->members(r, k->data, rows, to, err);
}

static const struct result_ops kept_ops = {
    .cell = kept_cell, .target = kept_target, .release = kept_release};
static const struct result_ops kept_ops_with_members = {
    .cell = kept_cell, .target = kept_target, .release = kept_release, .members = kept_members};

void result_rows_late(struct result *r, enum column_id column,
    struct cell (*cell)(const struct result *r, void *data, size_t row))
{
	struct kept_rows *k = r->data;
	int at = result_column_of(r, column);
	cairn_assert(at >= 0 && k->n_late < LATE_MOST);
	k->late[k->n_late++] = (struct late){cell, (unsigned)at};
}

void result_rows_members(struct result *r,
    int (*members)(const struct result *r, void *data, const struct bits *rows, struct bits *to,
        struct err *err),
    void (*release)(void *data), void *data)
{
	struct kept_rows *k = r->data;
	if (members)
		r->ops = &kept_ops_with_members;
	k->members = members;
	k->release = release;
	k->data = data;
}

void *result_rows_data(const struct result *r)
{
	return ((const struct kept_rows *)r->data)->data;
}

struct result *result_new_rows(
    const char *title, const struct opened *opened, const struct shape *shape)
{
	struct kept_rows *k = xcalloc(1, sizeof *k);
	k->n_columns = shape->n_columns;
	return result_new(title, opened, shape, &kept_ops, k, 0);
}

/* A row whose cells are not in the order of the columns would show wrong numbers. */
static bool is_of_column(struct result *r, const struct cell *cell, const struct column *column)
{
	struct err err = ERR_INIT;
	if (cell->type == CELL_NONE || cell->type == column_type(column))
		return true;
	err_set(&err, ERR_FAILED, "fault in cairn: the column %s has a cell of type %s, not %s", column_word(column),
	    cell_type_name(cell->type), cell_type_name(column_type(column)));
	result_lost(r, &err);
	return false;
}

void result_add_row(struct result *r, const struct cell *cells, const struct target *target)
{
	struct kept_rows *k = r->data;
	struct err err = ERR_INIT;
	size_t row_bytes = k->n_columns * sizeof *k->cells;
	if (k->n == k->cap) {
		k->cells = big_more(k->cells, k->cap, row_bytes, &err);
		k->cap = row_bytes ? big_bytes(k->cells) / row_bytes : SIZE_MAX;
	}
	size_t at = k->n;
	struct target *t = k->n < k->cap ? BIG_PUSH(k->targets, at, k->cap_targets, &err) : NULL;
	if (!t) {
		result_lost(r, &err);
		return;
	}
	for (unsigned c = 0; c < k->n_columns; c++)
		k->cells[k->n * k->n_columns + c] =
		    is_of_column(r, &cells[c], &r->columns[c]) ? result_keep_cell(r, cells[c]) : cell_none();
	*t = target ? *target : (struct target){.kind = TARGET_NONE};
	if (t->command)
		t->command = keep_text(r, t->command);
	k->n++;
	r->n_source = r->n_rows = k->n;
}
