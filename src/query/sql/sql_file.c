/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_file.c - results into tables of a database in a file, for any SQLite client.
 *
 * What a dump says is bound to statements, never part of them; names of tables and columns are quoted.  The file is
 * nobody else's until it is whole, so there is no journal: whoever fails throws it away.
 */
#include "query/sql/sql_private.h"

#include "base/mem.h"
#include "query/sqlite_memory.h"
#include "query/sqlite_temp.h"
#include "result/print_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sql_file {
	sqlite3 *db;
	struct progress *progress;
};

static int looks(void *file)
{
	return progress_cancelled(((struct sql_file *)file)->progress);
}

static int failed(struct sql_file *f, struct err *err)
{
	int system = sqlite3_system_errno(f->db);
	switch (sqlite3_errcode(f->db)) {
	case SQLITE_NOMEM:
		return err_set(err, ERR_NOMEM, "SQLite is out of memory");
	case SQLITE_INTERRUPT:
		return err_cancelled(err);
	case SQLITE_FULL:
		return err_set(err, ERR_IO, "%s", strerror(system ? system : ENOSPC));
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return err_set(err, ERR_IO, "%s", system ? strerror(system) : sqlite3_errmsg(f->db));
	default:
		return err_set(err, ERR_USAGE, "%.300s", sqlite3_errmsg(f->db));
	}
}

static int run(struct sql_file *f, const char *sql, struct err *err)
{
	return sqlite3_exec(f->db, sql, NULL, NULL, NULL) ? failed(f, err) : 0;
}

int sql_file_open(struct sql_file **out, const char *path, struct progress *progress, struct err *err)
{
	enum { STEPS = 20000 };
	struct sql_file *f = *out = xcalloc(1, sizeof *f);
	f->progress = progress;
	sqlite_memory_begin();
	int code = sqlite3_open_v2(path, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) ?
	    (f->db ? failed(f, err) : err_set(err, ERR_NOMEM, "SQLite does not start")) : 0;
	if (!code) {
		sqlite3_progress_handler(f->db, STEPS, looks, f);
		code = sqlite_temp_rules(f->db) ? failed(f, err) : 0;
	}
	if (!code) {
		code = run(f, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN", err);
	}
	if (code) {
		sqlite3_close(f->db);
		free(f);
		*out = NULL;
	}
	return code;
}

int sql_file_close(struct sql_file *f, int code, struct err *err)
{
	if (!f)
		return code;
	if (!code)
		code = run(f, "COMMIT", err);
	sqlite3_close(f->db);
	free(f);
	return code;
}

/* --- tables ------------------------------------------------------------------------------------- */

static const char *type_of(enum cell_type type)
{
	switch (type) {
	case CELL_TEXT:
		return "TEXT";
	case CELL_PERCENT:
		return "REAL";
	case CELL_NUMBER:
	case CELL_NONE:
		return "";
	default:
		return "INTEGER";
	}
}

/* What is between the parentheses of CREATE TABLE; n: how many columns that are. */
static void declare(const struct result *r, const bool *inexact, struct sql_columns *c)
{
	struct text name = TEXT_INIT;
	for (unsigned i = 0; i < r->n_columns; i++)
		sql_columns_add(c, column_word(&r->columns[i]), type_of(column_type(&r->columns[i])), false);
	for (unsigned i = 0; i < r->n_columns; i++) {
		if (!inexact[i])
			continue;
		text_clear(&name);
		text_addf(&name, "%s_certainty", column_word(&r->columns[i]));
		sql_columns_add(c, name.s ? name.s : "", "TEXT", false);
	}
	text_release(&name);
}

static void bind_number(sqlite3_stmt *s, int at, const char *digits)
{
	char *end;
	errno = 0;
	long long n = strtoll(digits, &end, 10);
	if (*digits && !*end && !errno) {
		sqlite3_bind_int64(s, at, n);
		return;
	}
	double real = strtod(digits, &end);
	if (*digits && !*end && real - real == 0) /* SQLite has no infinite ones */
		sqlite3_bind_double(s, at, real);
	else
		sqlite3_bind_text(s, at, digits, -1, SQLITE_TRANSIENT);
}

static void bind(sqlite3_stmt *s, int at, const struct cell *c, struct text *scratch)
{
	switch (c->type) {
	case CELL_NONE:
		sqlite3_bind_null(s, at);
		break;
	case CELL_TEXT:
		text_clear(scratch);
		cell_print_plain(c, scratch);
		sqlite3_bind_text(s, at, scratch->s ? scratch->s : "", -1, SQLITE_TRANSIENT);
		break;
	case CELL_NUMBER:
		bind_number(s, at, c->text);
		break;
	case CELL_PERCENT:
		sqlite3_bind_double(s, at, (double)c->amount.n / 10);
		break;
	case CELL_DELTA:
	case CELL_BYTES_DELTA:
		sqlite3_bind_int64(s, at, amount_signed(c->amount));
		break;
	default: /* an address above the middle becomes negative: SQLite's numbers have a sign */
		sqlite3_bind_int64(s, at, (sqlite3_int64)c->amount.n);
	}
}

static int add_row(struct sql_file *f, sqlite3_stmt *s, struct result *r, size_t row, const bool *inexact,
    struct text *scratch, struct err *err)
{
	struct cell c;
	int at = 0;
	for (unsigned i = 0; i < r->n_columns; i++) {
		result_cell(r, row, i, &c);
		bind(s, ++at, &c, scratch);
	}
	for (unsigned i = 0; i < r->n_columns; i++) {
		if (!inexact[i])
			continue;
		result_cell(r, row, i, &c);
		sqlite3_bind_text(s, ++at, print_certainty(&c), -1, SQLITE_STATIC);
	}
	int state = sqlite3_step(s);
	return state == SQLITE_DONE && sqlite3_reset(s) == SQLITE_OK ? 0 : failed(f, err);
}

static int add_rows(struct sql_file *f, sqlite3_stmt *s, struct result *r, const bool *inexact, struct err *err)
{
	struct text scratch = TEXT_INIT;
	int code = 0;
	bool whole = !r->ops->next_rows; /* else whoever reads the rows tells how far that is */
	if (whole)
		progress_phase(f->progress, PHASE_LOOK_AT_ROWS, r->n_rows);
	for (bool more = true; more && !code; more = !code && result_next_rows(r)) {
		for (size_t row = 0; !code && row < r->n_rows; row++) {
			bool looks = row % RESULT_STOP_EVERY == RESULT_STOP_EVERY - 1;
			if (looks && !progress_add(f->progress, whole ? RESULT_STOP_EVERY : 0))
				code = err_cancelled(err);
			else if (result_heading(r, row) != HEADING_OF_ROWS)
				code = add_row(f, s, r, row, inexact, &scratch, err);
		}
	}
	text_release(&scratch);
	return code ? code : result_check(r, err);
}

int sql_file_add(struct sql_file *f, const char *name, struct result *r, struct err *err)
{
	struct sql_columns columns = {.sql = TEXT_INIT};
	bool *inexact = print_inexact_columns(r, r->n_rows);
	sqlite3_stmt *s = NULL;
	struct text values = TEXT_INIT;
	int code = 0;
	declare(r, inexact, &columns);
	for (size_t i = 0; i < columns.n; i++)
		text_add(&values, i ? ",?" : "?");
	char *make = sqlite3_mprintf("CREATE TABLE \"%w\" (%s)", name, columns.sql.s ? columns.sql.s : "");
	char *insert = sqlite3_mprintf("INSERT INTO \"%w\" VALUES (%s)", name, values.s ? values.s : "");
	if (!make || !insert || !columns.sql.s || !values.s)
		code = err_set(err, ERR_NOMEM, "SQLite is out of memory");
	if (!code)
		code = run(f, make, err);
	if (!code && sqlite3_prepare_v2(f->db, insert, -1, &s, NULL))
		code = failed(f, err);
	if (!code)
		code = add_rows(f, s, r, inexact, err);
	sqlite3_finalize(s);
	sqlite3_free(make);
	sqlite3_free(insert);
	text_release(&values);
	sql_columns_release(&columns);
	free(inexact);
	return code;
}
