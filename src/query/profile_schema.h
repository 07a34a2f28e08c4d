/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_schema.h - what a file of a profile looks like, for its writer and its reader; private to src/query. */
#ifndef CAIRN_QUERY_PROFILE_SCHEMA_H
#define CAIRN_QUERY_PROFILE_SCHEMA_H

#include "algorithms/map.h"
#include "analysis/compare/compare.h"

#include <sqlite3.h>

#define PROFILE_APPLICATION_ID 0x4361726E /* "Carn" */
enum {
	PROFILE_VERSION = 2,         /* user_version; 1: weak references held */
	PROFILE_TEXT_MOST = 1 << 20, /* bytes of a text */
	PROFILE_ROWS_MOST = 1 << 24, /* of a table */
	PROFILE_BYTES_MOST = 1 << 30,
};

/* What the file has, in the order of names, each as sqlite_schema has it: one with other words is not a profile. */
enum {
	PROFILE_VIEW, PROFILE_TABLE_PROFILE, PROFILE_TABLE_ROW, PROFILE_TABLE_SORT, PROFILE_TABLE_STRING, PROFILE_TABLES
};
extern const struct profile_table_text {
	const char *type, *name, *sql;
} profile_schema[PROFILE_TABLES];

/* Words of the file, by the numbers of the program, which may change.  NULL: not in a file. */
extern const char *const profile_certainties[UNKNOWN + 1];
extern const char *const profile_reasons[REASONS];
extern const char *const profile_kinds[PROFILE_BYS];
enum { PROFILE_STARTS = START_ROOT + 1 };
extern const char *const profile_starts[PROFILE_STARTS];

/* Fields as the paths of a profile tell them: those that lead to some path from the one that holds it. */
struct path_fields {
	struct path_field {
		const char *class, *words; /* of the holder; of the field: borrowed from the paths */
		uint32_t path, n_paths;    /* the first of so many that end with it */
		bool told;                 /* the caller's */
	} *list;
	uint32_t n;
	struct map map;
};
/* counts: by path, 0 for those that do not; NULL: all do.  0: release it; or ERR_NOMEM, nothing to release. */
MUST_CHECK int path_fields_find(struct path_fields *out, const struct profile_table *paths, const uint32_t *counts,
    struct err *err);
/* That of a row of the table of fields; NULL: no path ends with it. */
struct path_field *path_fields_of(const struct path_fields *f, const struct profile_row *field);
void path_fields_release(struct path_fields *f);

/*
 * What rows of a file add up to, for damage that leaves it well formed: CRC-32, going on from sum, of the values of the
 * row that a statement stands on, from column `first` to before `end`.  An integer is 8 bytes, lowest first, a text its
 * own, NULL none; behind each is a byte with SQLite's number of its type.
 */
uint32_t profile_checksum_row(uint32_t sum, sqlite3_stmt *s, int first, int end);
enum { PROFILE_SUMMED = 7, PROFILE_CHECKSUM = 16 }; /* of the table profile: its numbers, and the sum behind them */

/* What SQLite says of its last call, as an error; after ERR_NOMEM and ERR_CANCELLED in their own words. */
int profile_sql_error(sqlite3 *db, struct progress *progress, struct err *err);

/* An empty database in memory, all of it big memory, which stops where progress is cancelled.  0 or ERR_NOMEM; *db is
 * the caller's. */
MUST_CHECK int profile_sql_open(sqlite3 **db, struct progress *progress, struct err *err);

#endif
