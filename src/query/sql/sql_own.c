/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_own.c - what a statement may do, and the tables and views that statements made.
 *
 * Questions only, and CREATE and DROP of temporary tables and views.  Those are SQLite's and are kept until the
 * connection is closed; what went into one stays as unsure as it was.  Views that are there by themselves, or that
 * the configuration keeps, look the same to SQLite, but are nobody's to drop.
 */
#include "query/sql/sql_private.h"

#include "base/mem.h"
#include "heap/amounts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- what a statement may do -------------------------------------------------------------------- */

static bool is_catalogue(const char *table)
{
	return table && (!strcmp(table, "sqlite_temp_master") || !strcmp(table, "sqlite_temp_schema"));
}

static int may_read(struct sql *q, const char *table, const char *database)
{
	for (size_t i = 0; i < q->n_kept && database && !strcmp(database, "temp"); i++) {
		if (sqlite3_stricmp(q->kept[i].table, table))
			continue;
		q->now.indirect = true;
		q->now.doubt = amount_as_sure(q->now.doubt, q->kept[i].sure);
	}
	return SQLITE_OK;
}

static int may_create(struct sql *q, const char *table)
{
	free(q->creates);
	q->creates = xstrdup(table);
	return SQLITE_OK;
}

/* Of views those of a statement alone. */
static bool is_own(const struct sql *q, const char *name)
{
	bool kept = false;
	for (const struct declared *d = q->now.declared; d; d = d->next)
		kept |= d->view && !sqlite3_stricmp(d->name, name);
	return !kept && !sql_table_called(name);
}

int sql_refuse_drop(const char *name, struct err *err)
{
	return err_set(err, ERR_USAGE, "cannot drop %.200s: CREATE TEMP did not make it", name);
}

static int may_drop(struct sql *q, const char *name, bool own)
{
	struct err err = ERR_INIT;
	if (!own || !is_own(q, name)) {
		(void)!sql_refuse_drop(name, &err);
		(void)sql_keep(q, &err);
		return SQLITE_DENY;
	}
	free(q->drops);
	q->drops = xstrdup(name);
	return SQLITE_OK;
}

/* What SQLite itself writes where it makes or drops a table goes into its catalogue, and takes the rows away. */
static bool may_write(const struct sql *q, int action, const char *table, const char *database)
{
	return is_catalogue(table) || (action == SQLITE_DELETE && database && !strcmp(database, "temp") && q->drops &&
	    table && !strcmp(q->drops, table));
}

/* For SQLite asks nobody whether REINDEX may run where there is no index. */
bool sql_may_begin(const char *statement)
{
	static const char *const begin[] = {"SELECT", "WITH", "VALUES", "CREATE", "DROP", NULL};
	static const char *const before[] = {"EXPLAIN", "QUERY", "PLAN", NULL};
	struct sql_token t;
	const char *end = statement + strlen(statement);
	while (sql_next(&statement, end, &t) && (sql_is_sign(&t, ';') || sql_is_one_of(&t, before)))
		;
	return t.kind == TOKEN_END || sql_is_one_of(&t, begin);
}

/* Functions of SQLite that are not about rows: they load code, or tell and take addresses of this process. */
static bool is_outside(const char *function)
{
	static const char *const names[] = {"load_extension", "fts3_tokenizer", "fts5"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!sqlite3_stricmp(function, names[i]))
			return true;
	return false;
}

/* view: in which a column is read or rows are selected; NULL: in the statement itself. */
int sql_may(void *sql, int action, const char *a, const char *b, const char *database, const char *view)
{
	struct sql *q = sql;
	if (q->declares)
		return SQLITE_OK;
	bool within = view && sql_table_called(view); /* one that is there by itself: columns are called as its tables' */
	q->now.indirect |= view && !within;
	q->now.selects += action == SQLITE_SELECT && !within;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
	case SQLITE_CREATE_TEMP_VIEW:
		return SQLITE_OK;
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_VIEW:
		return may_drop(q, a ? a : "", true);
	case SQLITE_DROP_TABLE:
	case SQLITE_DROP_VIEW:
	case SQLITE_DROP_VTABLE:
		return may_drop(q, a ? a : "", false);
	case SQLITE_READ:
		return may_read(q, a ? a : "", database);
	case SQLITE_CREATE_TEMP_TABLE:
		return may_create(q, a ? a : "");
	case SQLITE_FUNCTION:
		return b && is_outside(b) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
		return may_write(q, action, a, database) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

int sql_ask_catalogue(struct sql *q, sql_row *row, void *context, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	char *ask = sqlite3_vmprintf(format, values);
	va_end(values);
	bool declares = q->declares;
	q->declares = true;
	int state = ask ? sqlite3_exec(q->db, ask, row, context, NULL) : SQLITE_NOMEM;
	q->declares = declares;
	sqlite3_free(ask);
	return state;
}

/* --- how sure they are -------------------------------------------------------------------------- */

void sql_own_begin(struct sql *q)
{
	free(q->creates);
	free(q->drops);
	q->creates = q->drops = NULL;
}

void sql_own_end(struct sql *q)
{
	struct amount sure = amount_as_sure(q->now.doubt, heap_counted(q->heap, 0));
	for (size_t i = 0; q->drops && i < q->n_kept; i++) {
		if (sqlite3_stricmp(q->kept[i].table, q->drops))
			continue;
		free(q->kept[i].table);
		q->kept[i--] = q->kept[--q->n_kept];
	}
	if (q->creates && sure.certainty != EXACT)
		VEC_PUSH(q->kept, q->n_kept, q->cap_kept) = (struct sql_kept){.table = xstrdup(q->creates), .sure = sure};
	sql_own_begin(q);
}

void sql_own_release(struct sql *q)
{
	for (size_t i = 0; i < q->n_kept; i++)
		free(q->kept[i].table);
	free(q->kept);
	sql_own_begin(q);
}

/* --- which there are ---------------------------------------------------------------------------- */

struct telling {
	struct sql *sql;
	sql_tell_own *tell;
	void *context;
};

static int tell_one(void *telling, int n, char **value, char **names)
{
	const struct telling *t = telling;
	(void)n, (void)names;
	if (is_own(t->sql, value[0]))
		t->tell(t->context, &(struct sql_own){.name = value[0], .statement = value[2] ? value[2] : "",
		    .view = !strcmp(value[1], "view")});
	return 0;
}

int sql_each_own(struct sql *q, sql_tell_own *tell, void *context, struct err *err)
{
	struct telling t = {q, tell, context};
	int state = sql_ask_catalogue(q, tell_one, &t, "SELECT name, type, sql FROM sqlite_temp_master WHERE type IN "
	    "('table', 'view') AND name NOT LIKE 'sqlite\\_%%' ESCAPE '\\' ORDER BY rowid");
	return state ? sql_error(q, state, err) : 0;
}

struct columns {
	void (*tell)(void *context, const char *column);
	void *context;
};

static int tell_column(void *columns, int n, char **value, char **names)
{
	const struct columns *c = columns;
	(void)n, (void)names;
	c->tell(c->context, value[0]);
	return 0;
}

void sql_own_table_columns(struct sql *q, const char *name, void (*tell)(void *context, const char *column),
    void *context)
{
	struct columns c = {tell, context};
	sql_ask_catalogue(q, tell_column, &c, "SELECT x.name FROM sqlite_temp_master m, pragma_table_info(m.name) x "
	    "WHERE m.type = 'table' AND m.name = %Q COLLATE NOCASE ORDER BY x.cid", name);
}
