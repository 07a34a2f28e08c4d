/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_kinds.c - texts that are compared with numbers.
 *
 * To SQLite every text is greater than every number, so such a comparison is always true or never, and says nothing
 * about the dump.  In an expression over objects it is an error if the field never is what it is compared with;
 * a statement is SQL and means what it says, but a note tells of it.
 */
#include "query/sql/sql_private.h"

/* --- expressions over objects ------------------------------------------------------------------- */

/* Is a value one of these types anywhere? */
static int look_for(struct sql *q, const char *table, const char *value, const char *types, bool *found,
    struct err *err)
{
	const char *rest;
	sqlite3_stmt *s = NULL;
	char *ask = sqlite3_mprintf("SELECT 1 FROM \"%w\" WHERE typeof(%s) IN (%s) LIMIT 1", table, value, types);
	int code = ask ? sql_prepare(q, ask, &s, &rest, err) : err_set(err, ERR_NOMEM, "SQLite is out of memory");
	int state = code ? SQLITE_DONE : sqlite3_step(s);
	*found = state == SQLITE_ROW;
	if (state != SQLITE_ROW && state != SQLITE_DONE)
		code = sql_error(q, state, err);
	sqlite3_finalize(s);
	sqlite3_free(ask);
	return code;
}

int sql_check_compared(struct sql *q, const char *table, const char *these, const struct sql_compared *c,
    struct err *err)
{
	static const char numbers[] = "'integer', 'real'", texts[] = "'text'";
	bool text = c->literal != LITERAL_NUMBER, as_meant = false, other = false;
	if (c->literal == LITERAL_DIGITS && c->value[0] == '"') /* a column's: '16' is 16, '0xe0000af0' is an address */
		return 0;
	int code = look_for(q, table, c->value, text ? texts : numbers, &as_meant, err);
	if (!code && !as_meant)
		code = look_for(q, table, c->value, text ? numbers : texts, &other, err);
	if (code || !other)
		return code;
	return err_set(err, ERR_USAGE, text ?
	    "%.200s of %s is a number, and SQL takes every text as greater: write a number without quotes, "
	    "or CAST(%.200s AS TEXT)" :
	    "%.200s of %s is a text, and SQL takes it as greater than any number: write a text in quotes, "
	    "or CAST(%.200s AS INTEGER)", c->name, these, c->name);
}

/* --- statements --------------------------------------------------------------------------------- */

void sql_note_compared(struct sql *q, const char *column, bool text, sqlite3_value *with)
{
	int type = sqlite3_value_type(with);
	bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
	struct text note = TEXT_INIT;
	if (text && number)
		text_addf(&note, "%.200s has texts, and SQL takes every text as greater than any number: write a text "
		    "in quotes, or CAST(%.200s AS INTEGER)", column, column);
	else if (!text && type == SQLITE_TEXT && sqlite3_value_numeric_type(with) == SQLITE_TEXT)
		text_addf(&note, "%.200s has numbers, and SQL takes every text as greater than any number: write a "
		    "number, or CAST(%.200s AS TEXT)", column, column);
	if (note.len)
		sql_note(q, note.s);
	text_release(&note);
}
