/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_results.c - tables of what commands answer, and of what collections contain.
 */
#include "query/sql/sql_private.h"

#ifdef HAVE_SQLITE3

#include "base/mem.h"
#include "result/cursor.h"
#include "result/objects.h"

#include <stdlib.h>
#include <string.h>

/* --- rows of a result --------------------------------------------------------------------------- */

struct result_of {
	struct sql *sql;
	struct result *result;
	bool borrowed;
};

struct result_table {
	sqlite3_vtab base;
	const struct result_of *of;
	struct sql_doubts *doubts; /* by column */
};

struct result_cursor {
	sqlite3_vtab_cursor base;
	struct cursor cursor;
	size_t at;
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

static int connect_result(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	(void)db, (void)argc, (void)error;
	const struct result_of *of = aux;
	const struct result *r = of->result;
	struct sql_columns c = {.sql = TEXT_INIT};
	text_add(&c.sql, "CREATE TABLE x(");
	sql_result_columns(r, &c);
	text_add(&c.sql, ")");
	int state = sql_declare(of->sql, c.sql.s);
	struct sql_doubts *doubts = state ? NULL : sql_doubts_new(of->sql, argv[2], r->n_columns);
	for (unsigned i = 0; doubts && i < r->n_columns; i++)
		doubts->of[i].column = xstrdup(c.name[i]);
	sql_columns_release(&c);
	if (state)
		return state;
	struct result_table *t = xcalloc(1, sizeof *t);
	t->of = of;
	t->doubts = doubts;
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect_result(sqlite3_vtab *base)
{
	struct result_table *t = (struct result_table *)base;
	sql_doubts_free(t->doubts);
	free(t);
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

/* What rows retain is looked for only when somebody asks: does the statement use that column, or how sure it is? */
static bool uses_retained(const struct result *r, sqlite3_uint64 used)
{
	enum { LAST = 63 }; /* of the bits: all further columns */
	for (unsigned i = 0; i < 2 * r->n_columns; i++)
		if (r->columns[i % r->n_columns].id == COL_RETAINED && used >> (i < LAST ? i : LAST) & 1)
			return true;
	return false;
}

static int plan_result(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct result *r = ((struct result_table *)base)->of->result;
	struct sql_plan p = {.all = true};
	info->idxNum = uses_retained(r, info->colUsed);
	return sql_plan_end(&p, info, (double)r->n_rows, (double)r->n_rows);
}

static int open_result(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct result_cursor *c = xcalloc(1, sizeof *c);
	cursor_init(&c->cursor, ((struct result_table *)base)->of->result);
	*out = &c->base;
	return SQLITE_OK;
}

static int close_result(sqlite3_vtab_cursor *base)
{
	struct result_cursor *c = (struct result_cursor *)base;
	cursor_release(&c->cursor);
	free(c);
	return SQLITE_OK;
}

static int filter_result(sqlite3_vtab_cursor *base, int uses_retained, const char *words, int argc,
    sqlite3_value **argv)
{
	(void)words, (void)argc, (void)argv;
	const struct result_table *t = (const struct result_table *)base->pVtab;
	const struct opened *o = t->of->result->opened;
	((struct result_cursor *)base)->at = 0;
	return uses_retained && o && !opened_retained(o) ? sql_need_retained_whole(t->of->sql) : SQLITE_OK;
}

static int next_result(sqlite3_vtab_cursor *base)
{
	((struct result_cursor *)base)->at++;
	return SQLITE_OK;
}

static int eof_result(sqlite3_vtab_cursor *base)
{
	const struct result_cursor *c = (const struct result_cursor *)base;
	return c->at >= c->cursor.result->n_rows;
}

static int column_result(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	struct result_cursor *c = (struct result_cursor *)base;
	unsigned n = c->cursor.result->n_columns;
	struct cell cell;
	cursor_cell(&c->cursor, c->at, (unsigned)i % n, &cell);
	const struct result_table *t = (const struct result_table *)base->pVtab;
	bool unknown = cell.type == CELL_NONE && cell.amount.certainty == UNKNOWN;
	enum cell_type type = unknown ? column_type(&c->cursor.result->columns[(unsigned)i % n]) : cell.type;
	bool number = type != CELL_NONE && type != CELL_TEXT && type != CELL_ADDRESS;
	if ((unsigned)i < n && number)
		sql_doubt(t->of->sql, &t->doubts->of[i], cell.amount);
	if ((unsigned)i < n && cell.amount.certainty == UNKNOWN && cell.amount.reason == REASON_DUMP_AWAY)
		sql_unknown(t->of->sql, &t->doubts->of[i]);
	if ((unsigned)i < n)
		sql_result_cell(t->of->sql, to, &cell);
	else
		sql_result_certainty(to, cell.amount);
	return SQLITE_OK;
}

static int rowid_result(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)((const struct result_cursor *)base)->at + 1;
	return SQLITE_OK;
}

static const sqlite3_module results = {
    .xConnect = connect_result, .xDisconnect = disconnect_result, .xBestIndex = plan_result, .xOpen = open_result,
    .xClose = close_result, .xFilter = filter_result, .xNext = next_result, .xEof = eof_result,
    .xColumn = column_result, .xRowid = rowid_result};

static void forget_result(void *aux)
{
	struct result_of *of = aux;
	if (!of->borrowed)
		result_free(of->result);
	free(of);
}

static int add_result(struct sql *q, const char *name, struct result *r, bool borrowed)
{
	struct result_of *of = xcalloc(1, sizeof *of);
	*of = (struct result_of){q, r, borrowed};
	return sqlite3_create_module_v2(q->db, name, &results, of, forget_result);
}

int sql_add_result(struct sql *q, const char *name, struct result *r)
{
	return add_result(q, name, r, false);
}

int sql_add_rows_of(struct sql *q, const char *name, struct result *r)
{
	return add_result(q, name, r, true);
}

/* --- entries(address) --------------------------------------------------------------------------- */

enum { E_INDEX, E_KEY, E_VALUE, E_KEY_ADDRESS, E_VALUE_ADDRESS, E_OF };

struct entries_table {
	sqlite3_vtab base;
	struct sql *sql;
};

struct entries_cursor {
	sqlite3_vtab_cursor base;
	struct entries *entries; /* NULL: it is no collection, or there are none */
	struct object_parts *elements; /* of an array that is no collection */
	size_t at;
	struct sql_reader reader, keys; /* of values, and of keys */
};

static int connect_entries(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	(void)db, (void)argc, (void)argv, (void)error;
	int state = sql_declare_table(aux, SQL_ENTRIES);
	if (state)
		return state;
	struct entries_table *t = xcalloc(1, sizeof *t);
	t->sql = aux;
	*out = &t->base;
	return SQLITE_OK;
}

static int plan_entries(sqlite3_vtab *base, sqlite3_index_info *info)
{
	(void)base;
	struct sql_plan p = {.all = true};
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		if (c->iColumn != E_OF || c->op != SQLITE_INDEX_CONSTRAINT_EQ || p.arguments)
			continue;
		if (!c->usable)
			return SQLITE_CONSTRAINT;
		sql_plan_take(&p, info, i, "collection=?", true);
	}
	return sql_plan_end(&p, info, 10, 100);
}

static int open_entries(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	(void)base;
	struct entries_cursor *c = xcalloc(1, sizeof *c);
	*out = &c->base;
	return SQLITE_OK;
}

static int close_entries(sqlite3_vtab_cursor *base)
{
	struct entries_cursor *c = (struct entries_cursor *)base;
	inspect_entries_close(c->entries);
	inspect_parts_close(c->elements);
	text_release(&c->reader.scratch);
	text_release(&c->keys.scratch);
	free(c);
	return SQLITE_OK;
}

/* What is no collection has no rows, as it is in a join; it is said which one was the first. */
static int no_collection(struct entries_cursor *c, struct sql *q, uint32_t id, struct err *err)
{
	struct range all = {0, UINT64_MAX, false};
	int code = err->code;
	c->entries = NULL;
	if (code == ERR_NOT_FOUND && object_is_array(q->heap, id) && !inspect_parts(&c->elements, q->heap, id, &all, NULL))
		return SQLITE_OK;
	c->elements = NULL;
	if (code != ERR_NOT_FOUND && code != ERR_USAGE && code != ERR_UNSUPPORTED)
		return sql_keep(q, err);
	if (values_away(q->heap) && code == ERR_UNSUPPORTED) /* no rows would mean that it is empty */
		return sql_keep(q, err);
	if (!q->told_entries)
		sql_note(q, err->message);
	q->told_entries = true;
	return SQLITE_OK;
}

static int filter_entries(sqlite3_vtab_cursor *base, int number, const char *words, int argc, sqlite3_value **argv)
{
	(void)number, (void)words;
	struct entries_cursor *c = (struct entries_cursor *)base;
	struct sql *q = ((struct entries_table *)base->pVtab)->sql;
	struct range all = {0, UINT64_MAX, false};
	struct err err = ERR_INIT;
	inspect_entries_close(c->entries);
	inspect_parts_close(c->elements);
	c->entries = NULL;
	c->elements = NULL;
	c->at = 0;
	if (argc < 1) {
		err_set(&err, ERR_USAGE, "entries needs a collection: entries(address)");
		return sql_keep(q, &err);
	}
	uint32_t id = sql_object_around(q, argv[0]);
	int code = id == HEAP_NONE ? 0 : inspect_entries(&c->entries, q->heap, id, &all, &err);
	return code ? no_collection(c, q, id, &err) : SQLITE_OK;
}

static int next_entry(sqlite3_vtab_cursor *base)
{
	((struct entries_cursor *)base)->at++;
	return SQLITE_OK;
}

static int eof_entries(sqlite3_vtab_cursor *base)
{
	const struct entries_cursor *c = (const struct entries_cursor *)base;
	return c->elements ? c->at >= c->elements->n : !c->entries || c->at >= c->entries->n;
}

/* The key or the value of an entry, or the address of that object. */
static void result_entry(struct entries_cursor *c, sqlite3_context *to, const struct any_value *v, bool address,
    struct sql_reader *reader)
{
	const struct sql *q = ((struct entries_table *)c->base.pVtab)->sql;
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

static int column_entry(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	struct entries_cursor *c = (struct entries_cursor *)base;
	struct any_value key, value;
	struct object_part part;
	bool is_key = i == E_KEY || i == E_KEY_ADDRESS;
	if (c->entries) {
		inspect_entry(c->entries, c->at, &key, &value);
	} else {
		inspect_part(c->elements, c->at, &part);
		value = part.value;
	}
	if (i == E_INDEX)
		sqlite3_result_int64(to, (sqlite3_int64)((c->entries ? c->entries->start : 0) + c->at));
	else if (i == E_OF || (is_key && !(c->entries && c->entries->map)) || (!c->entries && part.missing))
		sqlite3_result_null(to);
	else
		result_entry(c, to, is_key ? &key : &value, i == E_KEY_ADDRESS || i == E_VALUE_ADDRESS,
		    is_key ? &c->keys : &c->reader);
	return SQLITE_OK;
}

static int rowid_entry(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)((const struct entries_cursor *)base)->at;
	return SQLITE_OK;
}

static const sqlite3_module entries = {
    .xConnect = connect_entries, .xDisconnect = disconnect, .xBestIndex = plan_entries, .xOpen = open_entries,
    .xClose = close_entries, .xFilter = filter_entries, .xNext = next_entry, .xEof = eof_entries,
    .xColumn = column_entry, .xRowid = rowid_entry};

int sql_add_entries(struct sql *q)
{
	return sqlite3_create_module_v2(q->db, SQL_ENTRIES, &entries, q, NULL);
}

#endif
