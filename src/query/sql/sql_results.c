/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_results.c - relations of what commands answer, and of what collections contain.
 */
#include "query/sql/sql_relation.h"

#include "base/mem.h"
#include "result/cursor.h"
#include "result/objects.h"

#include <stdlib.h>

/* --- rows of a result --------------------------------------------------------------------------- */

struct result_rows {
	struct rows rows;
	struct cursor cursor;
};

void sql_result_columns(const struct result *r, struct sql_columns *to)
{
	struct text hidden = TEXT_INIT;
	for (unsigned i = 0; i < r->n_columns; i++)
		sql_columns_add(to, column_word(&r->columns[i]), sql_type_of(column_type(&r->columns[i])), false);
	for (unsigned i = 0; i < r->n_columns; i++) {
		text_clear(&hidden);
		text_addf(&hidden, "%s_certainty", column_word(&r->columns[i]));
		sql_columns_add(to, hidden.s, "TEXT", true);
	}
	text_release(&hidden);
}

static int open_result(struct relation *r)
{
	const struct result *of = r->of;
	sql_result_columns(of, &r->columns);
	sql_relation_settle(r, NULL, 0);
	for (unsigned i = 0; i < 2 * of->n_columns; i++) {
		if (i >= of->n_columns)
			r->column[i].certainty_of = (int)(i - of->n_columns);
		if (of->columns[i % of->n_columns].id == COL_RETAINED)
			r->column[i].needs = NEEDS_WHOLE; /* which is looked for only when somebody asks */
	}
	r->n = of->n_rows;
	return SQLITE_OK;
}

static void begin_result(struct rows *c)
{
	cursor_init(&((struct result_rows *)c)->cursor, c->of->of);
}

static void end_result(struct rows *c)
{
	cursor_release(&((struct result_rows *)c)->cursor);
}

/* Of some rows what they retain is found once retained sizes are known: a command does it, if they are in time. */
static int find_late(struct rows *c, const struct sql_ask *ask)
{
	(void)ask;
	struct result *r = c->of->of;
	struct err err = ERR_INIT;
	if (r->opened != c->of->sql->opened || !result_is_late(r))
		return SQLITE_OK;
	int code = result_find_late(r, c->of->sql->now.progress, &err);
	result_take_late(r, code);
	return code == ERR_CANCELLED ? sql_keep(c->of->sql, &err) : SQLITE_OK;
}

static void result_cell_of(struct rows *c, sqlite3_context *to, int i)
{
	struct cursor *cursor = &((struct result_rows *)c)->cursor;
	struct sql *q = c->of->sql;
	struct cell cell;
	cursor_cell(cursor, c->at, (unsigned)i, &cell);
	bool unknown = cell.type == CELL_NONE && cell.amount.certainty == UNKNOWN;
	enum cell_type type = unknown ? column_type(&cursor->result->columns[i]) : cell.type;
	if (type != CELL_NONE && type != CELL_TEXT && type != CELL_ADDRESS)
		sql_doubt(q, &c->of->doubts->of[i], cell.amount);
	if (cell.amount.certainty == UNKNOWN && cell.amount.reason == REASON_DUMP_AWAY)
		sql_unknown(q, &c->of->doubts->of[i]);
	sql_result_cell(q, to, &cell);
}

static struct amount result_amount(struct rows *c, int i)
{
	struct cell cell;
	cursor_cell(&((struct result_rows *)c)->cursor, c->at, (unsigned)i, &cell);
	return cell.amount;
}

static void forget_result(void *result)
{
	result_free(result);
}

#define OF_RESULTS .size = sizeof(struct relation), .rows_size = sizeof(struct result_rows), .open = open_result, \
	.begin = begin_result, .end = end_result, .find = find_late, .cell = result_cell_of, .amount = result_amount
static const struct relation_kind results = {OF_RESULTS, .forget = forget_result}, borrowed = {OF_RESULTS};

int sql_add_result(struct sql *q, const char *name, struct result *r)
{
	return sql_add_relation(q, name, &results, r);
}

int sql_add_rows_of(struct sql *q, const char *name, struct result *r)
{
	int state = sql_add_relation(q, name, &borrowed, r);
	if (!state)
		(void)sql_declared(q, name);
	return state;
}

/* --- entries(address) --------------------------------------------------------------------------- */

enum { E_INDEX, E_KEY, E_VALUE, E_KEY_ADDRESS, E_VALUE_ADDRESS, E_OF };

struct entries_rows {
	struct rows rows;
	struct entries *entries; /* NULL: it is no collection, or there are none */
	struct object_parts *elements; /* of an array that is no collection */
	struct sql_reader reader, keys; /* of values, and of keys */
};

static bool guess_entries(const struct relation *r, const struct sql_ask *ask, double *rows, double *cost)
{
	(void)r, (void)ask;
	*rows = 10;
	*cost = 100;
	return false;
}

static void close_collection(struct entries_rows *c)
{
	inspect_entries_close(c->entries);
	inspect_parts_close(c->elements);
	c->entries = NULL;
	c->elements = NULL;
}

static void end_entries(struct rows *c)
{
	struct entries_rows *e = (struct entries_rows *)c;
	close_collection(e);
	text_release(&e->reader.scratch);
	text_release(&e->keys.scratch);
}

/* What is no collection has no rows, as it is in a join; it is said which one was the first. */
static int no_collection(struct entries_rows *c, struct sql *q, uint32_t id, struct err *err)
{
	struct range all = {0, UINT64_MAX, false};
	int code = err->code;
	c->entries = NULL;
	if (code == ERR_NOT_FOUND && object_is_array(q->heap, id) &&
	    !inspect_parts(&c->elements, q->heap, id, &all, NULL)) {
		c->rows.n = c->elements->n;
		return SQLITE_OK;
	}
	c->elements = NULL;
	if (code != ERR_NOT_FOUND && code != ERR_USAGE && code != ERR_UNSUPPORTED)
		return sql_keep(q, err);
	if (values_away(q->heap) && code == ERR_UNSUPPORTED) /* no rows would mean that it is empty */
		return sql_keep(q, err);
	if (!q->now.told_entries)
		sql_note(q, err->message);
	q->now.told_entries = true;
	return SQLITE_OK;
}

static int find_entries(struct rows *rows, const struct sql_ask *ask)
{
	struct entries_rows *c = (struct entries_rows *)rows;
	struct sql *q = rows->of->sql;
	struct range all = {0, UINT64_MAX, false};
	struct err err = ERR_INIT;
	close_collection(c);
	rows->n = 0;
	if (!ask->n) {
		err_set(&err, ERR_USAGE, "entries needs a collection: entries(address)");
		return sql_keep(q, &err);
	}
	uint32_t id = sql_object_around(q, ask->bound[0].value);
	if (id == HEAP_NONE)
		return SQLITE_OK;
	if (inspect_entries(&c->entries, q->heap, id, &all, &err))
		return no_collection(c, q, id, &err);
	rows->n = c->entries->n;
	return SQLITE_OK;
}

/* The key or the value of an entry, or the address of that object. */
static void result_entry(const struct sql *q, sqlite3_context *to, const struct any_value *v, bool address,
    struct sql_reader *reader)
{
	struct value_target target = inspect_target(v);
	text_clear(&reader->scratch);
	if (address && target.address)
		sqlite3_result_int64(to, (sqlite3_int64)target.address);
	else if (address)
		sqlite3_result_null(to);
	else if (target.id != HEAP_NONE && !sql_is_value(q, target.id) && !inspect_string(v, &reader->scratch))
		sql_result_place(to, q->heap, target.id); /* among texts a number would be none of an address */
	else
		sql_result_value(q, to, v, true, reader);
}

static void entry_cell(struct rows *rows, sqlite3_context *to, int i)
{
	struct entries_rows *c = (struct entries_rows *)rows;
	struct any_value key, value;
	struct object_part part;
	bool is_key = i == E_KEY || i == E_KEY_ADDRESS;
	if (c->entries) {
		inspect_entry(c->entries, rows->at, &key, &value);
	} else {
		inspect_part(c->elements, rows->at, &part);
		value = part.value;
	}
	if (i == E_INDEX)
		sqlite3_result_int64(to, (sqlite3_int64)((c->entries ? c->entries->start : 0) + rows->at));
	else if (i != E_OF && (!is_key || (c->entries && c->entries->map)) && (c->entries || !part.missing))
		result_entry(rows->of->sql, to, is_key ? &key : &value, i == E_KEY_ADDRESS || i == E_VALUE_ADDRESS,
		    is_key ? &c->keys : &c->reader);
}

static const struct relation_kind entries = {
    .size = sizeof(struct relation), .rows_size = sizeof(struct entries_rows), .table = SQL_ENTRIES,
    .guess = guess_entries, .end = end_entries, .find = find_entries, .cell = entry_cell};

int sql_add_entries(struct sql *q)
{
	return sql_add_relation(q, SQL_ENTRIES, &entries, NULL);
}
