/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_errors.c - what SQLite and others refuse, as errors of ours: with the name that may have been meant. */
#include "query/sql/sql_private.h"

#include "analysis/search.h"
#include "base/mem.h"
#include "memory/spill.h"
#include "query/sqlite_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sql_keep(struct sql *q, const struct err *err)
{
	if (!q->now.failed.code)
		q->now.failed = *err;
	return err->code == ERR_NOMEM ? SQLITE_NOMEM : err->code == ERR_CANCELLED ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

void sql_look_at_name(void *nearest, const char *candidate)
{
	struct sql_nearest *near = nearest;
	unsigned edits = strlen(candidate) < sizeof near->name ? edit_distance(near->to, candidate, near->edits) :
	    near->edits;
	if (edits < near->edits) {
		near->edits = edits;
		snprintf(near->name, sizeof near->name, "%s", candidate);
	}
}

static int look_at_column(void *nearest, int n, char **value, char **names)
{
	(void)n, (void)names;
	sql_look_at_name(nearest, value[0]);
	return 0;
}

static void look_at_columns(struct sql *q, const char *table, struct sql_nearest *near)
{
	sql_ask_catalogue(q, look_at_column, near, "SELECT name FROM pragma_table_xinfo(%Q)", table);
}

/* A column that is missing: what may have been meant.  The name may be SQLite's, gone with the next question. */
static int no_column(struct sql *q, const char *name, struct err *err)
{
	char *wanted = xstrdup(name);
	struct sql_nearest near = {.to = wanted, .edits = SQL_EDITS_MOST + 1};
	const char *dot = strrchr(wanted, '.');
	if (dot && dot[1])
		near.to = dot + 1;
	look_at_columns(q, "objects", &near);
	look_at_columns(q, "refs", &near);
	for (const struct declared *d = q->now.declared; d; d = d->next)
		look_at_columns(q, d->name, &near);
	bool more = q->now.more_fields;
	if (more || (q->silent.code && !near.name[0])) {
		int code = err_set(err, ERR_USAGE, "no column \"%.200s\" (%.300s)", wanted,
		    more ? q->now.notes.s : q->silent.message);
		free(wanted);
		return code;
	}
	bool like = near.name[0] && near.edits && near.edits <= (dot ? 1 : SQL_EDITS_MOST) &&
	    2 * near.edits < strlen(near.to);
	int code = like ?
	    err_set(err, ERR_USAGE, "no column \"%.200s\" (nearest: %.100s)", wanted, near.name) : dot ?
	    err_set(err, ERR_USAGE, "no column \"%.200s\" (for a field of a referenced object, use field(address, "
		"'a.b'))",
	    wanted) :
	    err_set(err, ERR_USAGE, "no column \"%.200s\" (put texts into single quotes)", wanted);
	free(wanted);
	return code;
}

static int no_function(struct sql *q, const char *name, struct err *err)
{
	char *wanted = xstrdup(name);
	struct sql_nearest near = {.to = wanted, .edits = SQL_EDITS_MOST + 1};
	sql_ask_catalogue(q, look_at_column, &near, "SELECT DISTINCT name FROM pragma_function_list");
	bool like = near.edits <= SQL_EDITS_MOST && 2 * near.edits < strlen(wanted);
	int code = err_set(err, ERR_USAGE, like ? "no function \"%.200s\" (nearest: %.100s)" :
	    "no function \"%.200s\" (help sql lists the functions)", wanted, near.name);
	free(wanted);
	return code;
}

/* 'unrecognized token: "10K"' */
static bool is_with_unit(const char *said)
{
	static const char token[] = "unrecognized token: \"";
	const char *word = said + sizeof token - 1;
	size_t n = strncmp(said, token, sizeof token - 1) ? 0 : strspn(word, "0123456789");
	return n && strchr("kKmMgG", word[n]) && word[n] && word[n + 1] == '"';
}

/* 'near "group": syntax error' */
static bool is_near_keyword(const char *said)
{
	static const char near[] = "near \"", behind[] = "\": syntax error";
	const char *word = said + sizeof near - 1, *end = strncmp(said, near, sizeof near - 1) ? NULL : strchr(word, '"');
	return end && !strcmp(end, behind) && end - word < 40 && sqlite3_keyword_check(word, (int)(end - word));
}

int sql_no_question(struct err *err)
{
	return err_set(err, ERR_USAGE, "only SELECT, WITH, EXPLAIN, CREATE TEMP TABLE or VIEW, and DROP of these are "
	    "allowed");
}

int sql_error(struct sql *q, int code, struct err *err)
{
	static const char column[] = "no such column: ", view[] = "no such view: ", circle[] = " is circularly defined";
	static const char function[] = "no such function: ";
	if (q->now.failed.code) {
		*err = q->now.failed;
		return err->code;
	}
	if (progress_cancelled(q->now.progress) || code == SQLITE_INTERRUPT)
		return err_cancelled(err);
	if (code == SQLITE_NOMEM)
		return err_set(err, ERR_NOMEM, "%s",
		    sqlite_memory_refusal()[0] ? sqlite_memory_refusal() : "SQLite is out of memory");
	if (code == SQLITE_FULL || code == SQLITE_IOERR)
		return err_set(err, ERR_IO, "no room for temporary files in %.200s: %.300s (use another --spill DIR)",
		    spill_folder(), sqlite3_errmsg(q->db));
	const char *said = sqlite3_errmsg(q->db);
	if (!strcmp(said, "not authorized"))
		return sql_no_question(err);
	if (!strncmp(said, "view ", 5) && strstr(said, circle))
		return err_set(err, ERR_USAGE, "the view %.*s refers to itself",
		    (int)(strstr(said, circle) - said - 5), said + 5);
	if (!strncmp(said, view, sizeof view - 1))
		return sql_refuse_drop(said + sizeof view - 1, err);
	if (!strncmp(said, column, sizeof column - 1))
		return no_column(q, said + sizeof column - 1, err);
	if (!strncmp(said, function, sizeof function - 1))
		return no_function(q, said + sizeof function - 1, err);
	if (is_with_unit(said))
		return err_set(err, ERR_USAGE, "%.400s (write sizes in bytes: 10 * 1024)", said);
	if (!strcmp(said, "near \".\": syntax error") || !strcmp(said, "near \"$\": syntax error"))
		return err_set(err, ERR_USAGE, "%s (put class names into double quotes: FROM \"java.lang.String\")",
		    said);
	if (is_near_keyword(said))
		return err_set(err, ERR_USAGE,
		    "%.400s (put names that are SQL keywords into double quotes)", said);
	return err_set(err, ERR_USAGE, "%.400s", said);
}
