/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql.c - a connection about one dump: statements one after another, and the tables that they name.
 *
 * Nothing is declared before it is named: where SQLite finds no table of a name, that name is looked up among the
 * classes and commands, a module is registered under it, and the statement is prepared again.
 */
#include "query/sql/sql_private.h"

#include "analysis/class_tree.h"
#include "base/mem.h"
#include "heap/classes.h"
#include "memory/big.h"
#include "query/sqlite_memory.h"
#include "query/sqlite_temp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000) /* of progress_clock */

enum {
	STEPS_BETWEEN = 2000,   /* of SQLite's machine, between two looks whether to stop */
	TEXT_MOST = 256 << 20,  /* bytes of a value: a set of 64 million objects */
	STATEMENT_MOST = 1 << 20,
	TABLES_MOST = 200,      /* that one statement names */
	DEPTH_MOST = 200,
	WITHIN_MOST = 8,
};

/* --- whether to go on --------------------------------------------------------------------------- */

bool sql_stops(const struct sql *q, uint64_t round)
{
	return progress_stops(q->now.progress, round);
}

static int look(void *sql)
{
	return progress_cancelled(((const struct sql *)sql)->now.progress);
}

int sql_need_retained(struct sql *q)
{
	struct err err = ERR_INIT;
	if (q->now.retained)
		return SQLITE_OK;
	return q->source.retained(q->source.context, &q->now.retained, &err) ? sql_keep(q, &err) : SQLITE_OK;
}

int sql_need_retained_whole(struct sql *q)
{
	struct err err = ERR_INIT;
	return q->source.retained_whole(q->source.context, &err) ? sql_keep(q, &err) : SQLITE_OK;
}

/* --- life --------------------------------------------------------------------------------------- */

void sql_limit(sqlite3 *db)
{
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MOST);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, STATEMENT_MOST);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, DEPTH_MOST);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* a name in double quotes that is none is an error, not a text */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
}

/* What is known of objects, under the names that people look for. */
static int add_view(struct sql *q, const struct sql_table *t)
{
	struct text make = TEXT_INIT;
	text_addf(&make, "CREATE TEMP VIEW %s AS SELECT", t->name);
	for (const struct sql_column *c = t->columns; !sql_columns_end(c); c++)
		text_addf(&make, "%s %s AS %s", c == t->columns ? "" : ",", c->made_of ? c->made_of : sql_column_name(c),
		    sql_column_name(c));
	text_addf(&make, " FROM %s", t->from);
	int state = sqlite3_exec(q->db, make.s, NULL, NULL, NULL);
	text_release(&make);
	return state;
}

static int add_views(struct sql *q)
{
	int state = SQLITE_OK;
	for (const struct sql_table *t = sql_tables; t->name && !state; t++)
		state = t->from ? add_view(q, t) : SQLITE_OK;
	return state;
}

/* Those that are about a dump. */
static bool add_tables(struct sql *q)
{
	return sql_add_objects(q) || sql_add_references(q) || sql_add_entries(q) || sql_add_variables(q) ||
	    sql_add_functions(q) || add_views(q);
}

int sql_open(struct sql **out, struct opened *o, const struct sql_source *source, struct err *err)
{
	static struct heap no_heap;
	struct sql *q = *out = xcalloc(1, sizeof *q);
	q->opened = o;
	q->heap = o ? o->heap : &no_heap;
	q->source = *source;
	q->silent = (struct err)ERR_INIT;
	if (!values_held(q->heap))
		(void)!heap_holds_no_values(q->heap, &q->silent);
	sqlite_memory_begin();
	q->values = big_alloc(q->heap->n_classes, sizeof *q->values, err);
	int code = q->values ? members_init(&q->members, q->heap, err) : ERR_NOMEM;
	if (!code && sqlite3_open_v2(":memory:", &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		code = err_set(err, ERR_NOMEM, "SQLite does not start");
	if (!code) {
		sql_limit(q->db);
		sqlite3_extended_result_codes(q->db, 0);
		sqlite3_progress_handler(q->db, STEPS_BETWEEN, look, q);
		if (sqlite_temp_rules(q->db) || (o && add_tables(q)))
			code = err_set(err, ERR_NOMEM, "SQLite does not start: %.200s", sqlite3_errmsg(q->db));
		sqlite3_set_authorizer(q->db, sql_may, q);
	}
	if (code) {
		sql_close(q);
		*out = NULL;
	}
	return code;
}

static void forget(struct sql *q)
{
	while (q->now.declared) {
		struct declared *d = q->now.declared;
		q->now.declared = d->next;
		if (d->view)
			sql_drop_view(q, d->name);
		else
			sqlite3_create_module_v2(q->db, d->name, NULL, NULL, NULL);
		free(d->name);
		free(d);
	}
}

void sql_close(struct sql *q)
{
	if (!q)
		return;
	forget(q);
	sqlite3_close_v2(q->db);
	members_release(&q->members);
	big_free(q->values);
	sql_fields_release(q);
	text_release(&q->now.missed);
	text_release(&q->now.notes);
	sql_own_release(q);
	free(q);
}

/* --- tables that are named ---------------------------------------------------------------------- */

static bool is_declared(const struct sql *q, const char *name)
{
	const struct declared *d = q->now.declared;
	while (d && strcmp(d->name, name))
		d = d->next;
	return d != NULL;
}

struct declared *sql_declared(struct sql *q, const char *name)
{
	struct declared *d = xcalloc(1, sizeof *d);
	*d = (struct declared){.next = q->now.declared, .name = xstrdup(name)};
	return q->now.declared = d;
}

static int no_table(struct sql *q, const char *name, struct err *err)
{
	struct text near = TEXT_INIT;
	q->source.nearest(q->source.context, name, &near);
	int code = err_set(err, ERR_USAGE, near.len ? "no table, class or command \"%.200s\" (%.600s)" :
	    "no table, class or command \"%.200s\" (sql lists the tables)", name, near.s);
	text_release(&near);
	return code;
}

/* Where none of these classes has instances, but subclasses have: an empty table would surprise. */
static int note_subclasses(struct sql *q, const char *name, const uint32_t *classes, size_t n, struct err *err)
{
	const struct heap *h = q->heap;
	uint64_t own = 0, all = 0;
	uint32_t *below = big_alloc(n, sizeof *below, err);
	if (!below)
		return ERR_NOMEM;
	memcpy(below, classes, n * sizeof *below);
	for (size_t i = 0; i < n; i++)
		own += h->classes[classes[i]].n_objects;
	int code = own ? 0 : class_tree_add_below(h, &below, &n, err);
	for (size_t i = 0; !code && !own && i < n; i++)
		all += h->classes[below[i]].n_objects;
	if (all) {
		struct text note = TEXT_INIT;
		text_addf(&note, "%.100s itself has no objects: sql -sub includes its subclasses", name);
		sql_note(q, note.s);
		text_release(&note);
	}
	big_free(below);
	return code;
}

/* Register what is called so. */
static int declare(struct sql *q, const char *name, struct err *err)
{
	const struct sql_view *view = q->source.view ? q->source.view(q->source.context, name) : NULL;
	if (view)
		return sql_declare_view(q, view, err);
	struct result *r = NULL;
	uint32_t *classes = NULL;
	size_t n = 0;
	int state = SQLITE_OK, code = q->source.table(q->source.context, name, &classes, &n, &r, err);
	if (!code && !n && !r)
		code = no_table(q, name, err);
	else if (!code && r && !r->n_columns)
		code = err_set(err, ERR_USAGE, "%.200s has single values, not rows", name);
	else if (!code && !r && q->now.wishes.subclasses)
		code = class_tree_add_below(q->heap, &classes, &n, err);
	else if (!code && !r)
		code = note_subclasses(q, name, classes, n, err);
	if (code) {
		result_free(r);
		big_free(classes);
		return code;
	}
	state = r ? sql_add_result(q, name, r) : sql_add_classes(q, name, classes, n);
	if (state)
		return sql_error(q, state, err);
	struct declared *d = sql_declared(q, name);
	d->rows = r;
	d->classes = r ? NULL : classes;
	d->n_classes = n;
	return 0;
}

/* The table that SQLite misses, out of its words; NULL: they say something else. */
static char *missed_table(sqlite3 *db)
{
	static const char words[] = "no such table: ";
	const char *said = sqlite3_errmsg(db);
	return strncmp(said, words, sizeof words - 1) ? NULL : xstrdup(said + sizeof words - 1);
}

static bool is_class(const struct heap *h, const char *name, size_t n)
{
	for (uint32_t i = 0; i < h->n_classes; i++)
		if (!strncmp(h->classes[i].name, name, n) && !h->classes[i].name[n])
			return true;
	return false;
}

/* SQLite does not tell capital letters from small ones, programs do: does the statement spell a declared name
 * otherwise, and there is a class of that name, too? */
int sql_check_spelling(struct sql *q, const char *text, struct err *err)
{
	struct sql_token t;
	size_t n;
	for (const char *end = text + strlen(text); q->now.declared && sql_next(&text, end, &t);) {
		const char *said = sql_token_contents(&t, &n);
		for (const struct declared *d = q->now.declared; d; d = d->next)
			if (!d->view && sql_is_name(&t, d->name) && strncmp(said, d->name, n) && is_class(q->heap, said, n))
				return err_set(err, ERR_USAGE, "%.*s and %.200s are two classes, but the same name in "
				    "SQL (use two statements)", (int)(n < 200 ? n : 200), said, d->name);
	}
	return 0;
}

/* Then what it names is not to be looked up. */
static bool drops(const char *text)
{
	struct sql_token t;
	const char *end = text + strlen(text);
	while (sql_next(&text, end, &t) && sql_is_sign(&t, ';'))
		;
	return sql_is_word(&t, "drop");
}

int sql_prepare(struct sql *q, const char *text, sqlite3_stmt **s, const char **rest, struct err *err)
{
	for (int i = 0; i < TABLES_MOST; i++) {
		q->now.selects = 0;
		q->now.indirect = false;
		int code, state = sqlite3_prepare_v2(q->db, text, -1, s, rest);
		if (state == SQLITE_OK && *s && !sql_may_begin(sqlite3_sql(*s))) {
			sqlite3_finalize(*s);
			*s = NULL;
			return sql_no_question(err);
		}
		if (state == SQLITE_OK) {
			code = sql_check_null(text, *rest, err);
			return code ? code : sql_check_spelling(q, text, err);
		}
		char *name = q->now.failed.code ? NULL : missed_table(q->db);
		if (!name)
			return sql_error(q, state, err);
		code = drops(text) ? sql_refuse_drop(name, err) :
		    is_declared(q, name) ? sql_error(q, state, err) : declare(q, name, err);
		free(name);
		if (code)
			return code;
	}
	return err_set(err, ERR_USAGE, "the statement names more than %d tables", TABLES_MOST);
}

/* --- statements --------------------------------------------------------------------------------- */

static int run_statement(struct sql *q, sqlite3_stmt *s, struct result **out, struct err *err)
{
	struct result *r = NULL;
	int code = 0, state;
	if (sqlite3_stmt_isexplain(s)) {
		code = sql_explain(q, s, &r, err);
	} else if (sqlite3_column_count(s) > 0) {
		code = sql_answer(q, s, &r, err);
	} else {
		while ((state = sqlite3_step(s)) == SQLITE_ROW)
			;
		if (state != SQLITE_DONE)
			code = sql_error(q, state, err);
		else if (!(code = sql_sureness(q, s, NULL, err)))
			sql_own_end(q);
	}
	if (!code && r) {
		result_free(*out);
		*out = r;
	}
	return code;
}

int sql_begin(struct sql *q, const struct sql_wishes *wishes, struct progress *progress, struct sql_now *outer,
    struct err *err)
{
	if (q->now.depth == WITHIN_MOST)
		return err_set(err, ERR_USAGE, "more than %d nested queries", WITHIN_MOST);
	*outer = q->now;
	q->now = (struct sql_now){.depth = outer->depth + 1, .seconds = outer->seconds, .refusals = mem_refusals(),
	    .wishes = *wishes, .progress = progress, .watched = sqlite_memory_watch(progress),
	    .until = progress ? progress->until : 0,
	    .failed = ERR_INIT, .missed = TEXT_INIT, .notes = TEXT_INIT, .counted_left = q->heap->n_objects};
	uint64_t end = progress_clock() + wishes->seconds * SECOND;
	if (progress && wishes->seconds && (!progress->until || end < progress->until)) {
		progress->until = end;
		q->now.seconds = wishes->seconds;
	}
	sql_doubts_begin(q);
	sqlite_memory_begin();
	return 0;
}

void sql_end(struct sql *q, const struct sql_now *outer)
{
	sqlite_memory_watch(q->now.watched);
	if (q->now.progress)
		q->now.progress->until = q->now.until;
	forget(q); /* what commands answer is of now, and large */
	text_release(&q->now.missed);
	text_release(&q->now.notes); /* those of other questions than sql_run's are nobody's */
	q->now = *outer;
}

void sql_note(struct sql *q, const char *line)
{
	if (!q->now.notes.len || !strstr(q->now.notes.s, line))
		text_addf(&q->now.notes, "%s%s", q->now.notes.len ? "\n" : "", line);
}

void sql_note_silent(struct sql *q)
{
	if (!q->silent.code)
		return;
	sql_note(q, q->silent.message);
	q->now.silent_noted = true;
}

static void tell_notes(struct sql *q, struct result *r)
{
	struct text missed = TEXT_INIT;
	char *rest = q->now.notes.len ? q->now.notes.s : NULL;
	for (char *line; r && (line = strsep(&rest, "\n"));)
		result_add_note(r, line);
	if (r && q->now.silent_noted && values_away(q->heap))
		result_warn(r, q->silent.message);
	if (r && q->now.missed.len) {
		text_addf(&missed, "no object has such a field or element: %s", q->now.missed.s);
		result_add_note(r, missed.s);
	}
	text_release(&missed);
}

static int run(struct sql *q, const char *text, struct result *rows, const struct sql_wishes *wishes,
    struct progress *progress, struct result **out, struct err *err)
{
	struct sql_now outer;
	*out = NULL;
	int code = sql_begin(q, wishes, progress, &outer, err);
	if (code)
		return code;
	if (rows && sql_add_rows_of(q, "these rows", rows))
		code = sql_error(q, SQLITE_ERROR, err);
	while (!code && *text) {
		sqlite3_stmt *s = NULL;
		sql_doubts_begin(q);
		sql_own_begin(q);
		code = sql_prepare(q, text, &s, &text, err);
		if (!code && s && *out)
			code = err_set(err, ERR_USAGE, "a line takes one query (use another -x for the next)");
		if (!code && s)
			code = run_statement(q, s, out, err);
		sqlite3_finalize(s); /* which tells of paths that were missed */
	}
	if (!code && progress_cancelled(progress)) /* some loop may have been left early */
		code = err_cancelled(err);
	if (code == ERR_CANCELLED && progress_late(progress))
		code = err_set(err, ERR_UNSUPPORTED, "no answer in %" PRIu64 " s (-seconds)", q->now.seconds);
	tell_notes(q, code ? NULL : *out);
	if (code) {
		result_free(*out);
		*out = NULL;
	}
	sql_end(q, &outer);
	return code;
}

int sql_run(struct sql *q, const char *text, const struct sql_wishes *wishes, struct progress *progress,
    struct result **out, struct err *err)
{
	return run(q, text, NULL, wishes, progress, out, err);
}

int sql_run_over(struct sql *q, struct result *rows, const char *text, struct progress *progress,
    struct result **out, struct err *err)
{
	return run(q, text, rows, &(struct sql_wishes){.seconds = 0}, progress, out, err);
}

static int see_one(void *seen, int n, char **value, char **names)
{
	(void)n, (void)value, (void)names;
	*(bool *)seen = true;
	return 0;
}

/* Is it a table of ours, whose columns say what they hold?  Those of a view, or of a table of one's own, may be
 * anything. */
static bool is_ours(struct sql *q, const char *table)
{
	bool other = false;
	return !sql_ask_catalogue(q, see_one, &other, "SELECT 1 FROM sqlite_temp_master WHERE name = %Q COLLATE NOCASE",
	    table) && !other;
}

int sql_rows(struct sql *q, const char *table, struct progress *progress, struct result **out, struct err *err)
{
	struct sql_now outer;
	const char *rest;
	sqlite3_stmt *s = NULL;
	*out = NULL;
	char *text = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	int code = text ? sql_begin(q, &(struct sql_wishes){.seconds = 0}, progress, &outer, err) :
	    err_set(err, ERR_NOMEM, "SQLite is out of memory");
	if (!code) {
		code = sql_prepare(q, text, &s, &rest, err);
		if (!code && is_ours(q, table)) {
			code = sql_answer_rows(q, s, table, &outer, out, err);
		} else {
			if (!code)
				code = sql_answer(q, s, out, err);
			sqlite3_finalize(s);
			sql_end(q, &outer);
		}
	}
	sqlite3_free(text);
	return code;
}

int sql_keep_ids(struct sql *q, const char *text, uint32_t *ids, size_t *n, struct err *err)
{
	sqlite3_stmt *s = NULL;
	size_t kept = 0;
	int state = SQLITE_DONE, code = sql_prepare(q, text, &s, &text, err);
	while (!code && (state = sqlite3_step(s)) == SQLITE_ROW && kept < *n)
		ids[kept++] = (uint32_t)sqlite3_column_int64(s, 0);
	if (!code && state != SQLITE_DONE)
		code = sql_error(q, state, err);
	if (!code)
		code = sql_sureness(q, s, &(struct sql_sure){.own = false}, err);
	sqlite3_finalize(s);
	*n = code ? *n : kept;
	return code;
}
