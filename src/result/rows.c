/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.c - results whose rows are kept as they were added, and the texts that results keep.
 */
#include "result/result.h"

#include "analysis/search.h"
#include "analysis/what_if/what_if.h"
#include "base/assert.h"
#include "base/mem.h"
#include "base/progress.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "opened/opened.h"

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
	if (c.beside)
		c.beside = keep_text(r, c.beside);
	if ((c.type == CELL_TEXT || c.type == CELL_NUMBER) && c.name)
		c.name = keep_text(r, c.name);
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
	struct row_members {
		struct what_if_member *at;
		size_t n, cap;
	} counted, freed; /* of result_add_member, result_add_freed */
	struct bits among; /* of result_rows_among; word NULL: none */
	struct retained_sum *retained; /* by row, of these; NULL: not summed yet */
};

static void kept_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct kept_rows *k = r->data;
	(void)scratch;
	*out = k->cells[row * k->n_columns + column];
	for (unsigned i = 0; i < k->n_late; i++)
		if (column == k->late[i].column && out->type == CELL_NONE)
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
	bits_release(&k->among);
	big_free(k->counted.at);
	big_free(k->freed.at);
	big_free(k->retained);
	free(k);
}

/* Of the objects those of the rows' classes. */
static int mark_among(const struct result *r, const struct kept_rows *k, const struct bits *rows, struct bits *to,
    struct err *err)
{
	struct bits classes;
	int code = bits_init(&classes, r->heap->n_classes, err);
	for (size_t row = 0; !code && row < k->n && !progress_own_stops(row); row++)
		if (bits_get(rows, row) && k->targets[row].kind == TARGET_CLASS)
			bits_set(&classes, k->targets[row].id);
	if (!code)
		objects_mark(r->heap, &classes, &k->among, to);
	bits_release(&classes);
	return code;
}

static int kept_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct kept_rows *k = r->data;
	if (k->members)
		return k->members(r, k->data, rows, to, err);
	if (k->among.word)
		return mark_among(r, k, rows, to, err);
	for (size_t i = 0; i < k->counted.n && !progress_own_stops(i); i++)
		if (bits_get(rows, k->counted.at[i].row))
			bits_set(to, k->counted.at[i].object);
	return 0;
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

static void add_member(struct result *r, struct row_members *m, size_t row, uint32_t id)
{
	struct err err = ERR_INIT;
	struct what_if_member *to = BIG_PUSH(m->at, m->n, m->cap, &err);
	if (to)
		*to = (struct what_if_member){(uint32_t)row, id};
	else
		result_lost(r, &err);
}

void result_add_member(struct result *r, size_t row, uint32_t id)
{
	r->ops = &kept_ops_with_members;
	add_member(r, &((struct kept_rows *)r->data)->counted, row, id);
}

void result_add_freed(struct result *r, size_t row, uint32_t id)
{
	add_member(r, &((struct kept_rows *)r->data)->freed, row, id);
}

void result_rows_among(struct result *r, struct bits *objects)
{
	r->ops = &kept_ops_with_members;
	((struct kept_rows *)r->data)->among = *objects;
	*objects = (struct bits){.word = NULL};
}

/* result_later */
static int sum_members(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct kept_rows *k = r->data;
	(void)progress;
	if (!k->retained && !(k->retained = big_alloc(k->n, sizeof *k->retained, err)))
		return ERR_NOMEM;
	struct row_members *m = k->freed.n ? &k->freed : &k->counted;
	return what_if_sum_members(k->retained, (uint32_t)k->n, m->at, m->n, known, err);
}

static struct cell retained_by_members(const struct result *r, void *data, size_t row)
{
	const struct kept_rows *k = r->data;
	const struct retained *known = result_known(r);
	(void)data;
	return known ? cell_bytes(retained_of_members(known, 1, &k->retained[row])) : cell_unknown(REASON_NOT_FOUND_YET);
}

void result_sum_members(struct result *r)
{
	result_rows_late(r, COL_RETAINED, retained_by_members);
	r->later = sum_members;
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
