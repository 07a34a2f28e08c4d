/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_schema.h - what a file of a profile looks like, for its writer and its reader; private to src/query. */
#ifndef CAIRN_QUERY_PROFILE_SCHEMA_H
#define CAIRN_QUERY_PROFILE_SCHEMA_H

#include "analysis/compare/compare.h"

#include <sqlite3.h>

#define PROFILE_APPLICATION_ID 0x4361726E /* "Carn" */
enum {
	PROFILE_VERSION = 1,         /* user_version */
	PROFILE_TEXT_MOST = 1 << 20, /* bytes of a text */
	PROFILE_ROWS_MOST = 1 << 24, /* of a table */
};

/* Tables in the order of their names, each as sqlite_schema has it: a file that has other words is none. */
enum { TABLE_PROFILE, TABLE_ROW, TABLE_STRING, TABLE_SURE, PROFILE_TABLES };
extern const struct profile_table_text {
	const char *name, *sql;
} profile_schema[PROFILE_TABLES];

/* Numbers and words of the file, by those of the program, which may change. */
extern const char *const profile_certainties[UNKNOWN + 1];
extern const char *const profile_reasons[REASONS];
extern const unsigned char profile_kinds[PROFILE_BYS];
enum { PROFILE_STARTS = START_ROOT + 1 };
extern const unsigned char profile_starts[PROFILE_STARTS];
enum { PROFILE_FLAG_CHAIN = 1, PROFILE_FLAG_ARRAY = 2, PROFILE_FLAGS = 3 };

/* What SQLite says of its last call, as an error; after ERR_NOMEM and ERR_CANCELLED in their own words. */
int profile_sql_error(sqlite3 *db, struct progress *progress, struct err *err);

/* An empty database in memory, which stops where progress is cancelled.  0 or ERR_NOMEM; *db is the caller's. */
MUST_CHECK int profile_sql_open(sqlite3 **db, struct progress *progress, struct err *err);

#endif
