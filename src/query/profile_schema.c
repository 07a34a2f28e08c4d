/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_schema.c - the tables of a profile's file, and what its numbers and words mean. */
#ifdef HAVE_SQLITE3

#include "query/profile_schema.h"

#define AMOUNT(name) name " INTEGER, " name "_certainty TEXT, " name "_reason TEXT"

const struct profile_table_text profile_schema[PROFILE_TABLES] = {
    [TABLE_PROFILE] = {"profile", "CREATE TABLE profile (file TEXT, format TEXT, created TEXT, written_by TEXT, "
	"word_bits INTEGER, sizes TEXT, names_fields INTEGER, " AMOUNT("objects") ", " AMOUNT("shallow") ", "
	AMOUNT("reachable") ")"},
    [TABLE_ROW] = {"row", "CREATE TABLE row (id INTEGER PRIMARY KEY, kind INTEGER, parent INTEGER, start INTEGER, "
	"words INTEGER, class INTEGER, flags INTEGER, objects INTEGER, shallow INTEGER, retained INTEGER, "
	"sure INTEGER)"},
    [TABLE_STRING] = {"string", "CREATE TABLE string (id INTEGER PRIMARY KEY, text TEXT)"},
    [TABLE_SURE] = {"sure", "CREATE TABLE sure (id INTEGER PRIMARY KEY, objects_certainty TEXT, objects_reason TEXT, "
	"shallow_certainty TEXT, shallow_reason TEXT, retained_certainty TEXT, retained_reason TEXT)"},
};

const char *const profile_certainties[UNKNOWN + 1] = {
    [EXACT] = "exact", [LOWER_BOUND] = "lower bound", [INFERRED] = "inferred", [UNKNOWN] = "unknown"};

const char *const profile_reasons[REASONS] = {
    [REASON_NONE] = "none",
    [REASON_DAMAGED] = "damaged",
    [REASON_SIZES_UNKNOWN] = "sizes unknown",
    [REASON_JOINT] = "joint",
    [REASON_ROWS_JOINED] = "rows joined",
    [REASON_OTHER_RULE] = "other rule",
    [REASON_OTHER_WORDS] = "other words",
    [REASON_MORE] = "more",
    [REASON_CLOCK] = "clock",
    [REASON_TOO_LARGE] = "too large",
    [REASON_ROOTS] = "roots",
    [REASON_FRAMES] = "frames",
    [REASON_CLASS_FIELDS] = "class fields",
    [REASON_STACKS_MISSING] = "stacks missing",
    [REASON_CLASS_DATA] = "class data",
    [REASON_NAMES_SHARED] = "names shared",
    [REASON_FILLERS] = "fillers",
    [REASON_SIZES_ASSUMED] = "sizes assumed",
    [REASON_SIZES_MEASURED] = "sizes measured",
    [REASON_TYPES_GUESSED] = "types guessed",
    [REASON_BLOCK] = "block",
    [REASON_FILE_CHANGED] = "file changed",
    [REASON_NOT_FOUND_YET] = "not found yet",
    [REASON_SILENT] = "silent",
};

/* most rows are paths, and a 0 takes no room */
const unsigned char profile_kinds[PROFILE_BYS] = {
    [PROFILE_PATH] = 0, [PROFILE_CLASS] = 1, [PROFILE_PACKAGE] = 2, [PROFILE_LOADER] = 3, [PROFILE_THREAD] = 4,
    [PROFILE_FIELD] = 5, [PROFILE_SITE] = 6};

const unsigned char profile_starts[PROFILE_STARTS] = {
    [START_NOWHERE] = 0, [START_CLASS] = 1, [START_LOADER] = 2, [START_VARIABLE] = 3, [START_THREAD] = 4,
    [START_LOCAL] = 5, [START_ROOT] = 6};

int profile_sql_error(sqlite3 *db, struct progress *progress, struct err *err)
{
	switch (sqlite3_errcode(db)) {
	case SQLITE_NOMEM:
		return err_set(err, ERR_NOMEM, "not enough memory for a profile");
	case SQLITE_INTERRUPT:
		if (progress_cancelled(progress))
			return err_cancelled(err);
	}
	return err_set(err, ERR_FORMAT, "%.100s", sqlite3_errmsg(db));
}

/* Asked every so many steps of SQLite's machine. */
static int stops(void *progress)
{
	return progress_cancelled(progress);
}

int profile_sql_open(sqlite3 **db, struct progress *progress, struct err *err)
{
	enum { STEPS = 10000 };
	if (sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)) {
		int code = *db ? profile_sql_error(*db, progress, err) :
		    err_set(err, ERR_NOMEM, "not enough memory for a profile");
		sqlite3_close(*db);
		*db = NULL;
		return code;
	}
	sqlite3_progress_handler(*db, STEPS, stops, progress);
	sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, PROFILE_TEXT_MOST);
	sqlite3_limit(*db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(*db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
	return 0;
}

#endif
