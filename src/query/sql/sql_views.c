/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_views.c - views that others keep for the questions about every dump.
 *
 * Such a view is SQLite's own, made when a statement names it and dropped behind it.  What it names is declared with it
 * by preparing a question about all of it: an error in a view is then reported with the place where it is written,
 * and nobody who does not name it hears of that.
 */
#include "query/sql/sql_private.h"

#include "query/sqlite_memory.h"

#include <string.h>

enum { VIEWS_WITHIN_MOST = 16 };

static bool begins_question(const char *text)
{
	static const char *const words[] = {"SELECT", "WITH", "VALUES", NULL};
	struct sql_token t;
	return sql_next(&text, text + strlen(text), &t) && sql_is_one_of(&t, words);
}

/* CREATE TEMP VIEW; SQLITE_OK, or its code.  *rest is behind the text's first statement, and 0 where that is all. */
static int create(sqlite3 *db, const char *name, const char *text, char *rest)
{
	sqlite3_stmt *s = NULL;
	const char *behind = "";
	char *statement = sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS %s", name, text);
	int state = statement ? sqlite3_prepare_v2(db, statement, -1, &s, &behind) : SQLITE_NOMEM;
	*rest = !state && behind[strspn(behind, " \t;")] ? *behind : '\0';
	if (!state && sqlite3_step(s) != SQLITE_DONE)
		state = sqlite3_errcode(db);
	sqlite3_finalize(s);
	sqlite3_free(statement);
	return state;
}

int sql_check_view(const char *name, const char *text, struct err *err)
{
	sqlite3 *db = NULL;
	char rest = '\0';
	int code = 0;
	if (!begins_question(text))
		return err_set(err, ERR_USAGE, "a view must be a SELECT");
	sqlite_memory_begin();
	int state = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (!state) {
		sql_limit(db);
		state = create(db, name, text, &rest);
	}
	if (state == SQLITE_NOMEM || !db)
		code = err_set(err, ERR_NOMEM, "SQLite is out of memory");
	else if (state)
		code = err_set(err, ERR_USAGE, "%.300s", sqlite3_errmsg(db));
	else if (rest)
		code = err_set(err, ERR_USAGE, "a view must be a single SELECT");
	sqlite3_close_v2(db);
	return code;
}

void sql_drop_view(struct sql *q, const char *name)
{
	sql_ask_catalogue(q, NULL, NULL, "DROP VIEW IF EXISTS temp.\"%w\"", name);
}

/* Prepare what makes SQLite look into the view. */
static int look_into(struct sql *q, const struct sql_view *view, struct err *err)
{
	sqlite3_stmt *s = NULL;
	const char *rest;
	char *all = sqlite3_mprintf("SELECT * FROM temp.\"%w\"", view->name);
	int code = all ? sql_prepare(q, all, &s, &rest, err) : err_set(err, ERR_NOMEM, "SQLite is out of memory");
	sqlite3_finalize(s);
	sqlite3_free(all);
	if (!code)
		code = sql_check_null(view->text, view->text + strlen(view->text), err);
	return code ? code : sql_check_spelling(q, view->text, err);
}

int sql_declare_view(struct sql *q, const struct sql_view *view, struct err *err)
{
	char rest;
	int state = SQLITE_OK, code = 0;
	if (q->views == VIEWS_WITHIN_MOST)
		code = err_set(err, ERR_USAGE, "more than %d nested views", VIEWS_WITHIN_MOST);
	else if ((state = create(q->db, view->name, view->text, &rest)))
		code = sql_error(q, state, err);
	if (!code) {
		sql_declared(q, view->name)->view = true;
		q->views++;
		code = look_into(q, view, err);
		q->views--;
	}
	if (code && code != ERR_CANCELLED && code != ERR_NOMEM && !q->now.placed) {
		err_context(err, "%s: view %s", view->place, view->name);
		q->now.placed = true;
	}
	return code;
}
