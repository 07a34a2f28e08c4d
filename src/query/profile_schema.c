/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_schema.c - the tables of a profile's file, and what its numbers and words mean. */
#include "query/profile_schema.h"

#include "memory/big.h"
#include "query/sqlite_memory.h"
#include "query/sqlite_temp.h"

#include <zlib.h>

#define SURE(name) name "_certainty TEXT, " name "_reason TEXT"
#define AMOUNT(name) name " INTEGER, " SURE(name)

const struct profile_table_text profile_schema[PROFILE_TABLES] = {
    [PROFILE_VIEW] = {"view", "named", "CREATE VIEW named AS SELECT r.id, s.what, s.start, r.parent, w.text AS words, "
	"c.text AS class, r.objects, r.shallow, coalesce(r.retained, r.shallow) AS retained FROM row r "
	"JOIN sort s ON s.id = r.sort JOIN string w ON w.id = r.words LEFT JOIN string c ON c.id = r.class"},
    [PROFILE_TABLE_PROFILE] = {"table", "profile", "CREATE TABLE profile (file TEXT, format TEXT, created TEXT, "
	"written_by TEXT, word_bits INTEGER, sizes TEXT, names_fields INTEGER, " AMOUNT("objects") ", "
	AMOUNT("shallow") ", " AMOUNT("reachable") ", checksum INTEGER)"},
    [PROFILE_TABLE_ROW] = {"table", "row", "CREATE TABLE row (id INTEGER PRIMARY KEY, sort INTEGER, parent INTEGER, "
	"words INTEGER, class INTEGER, objects INTEGER, shallow INTEGER, retained INTEGER)"},
    [PROFILE_TABLE_SORT] = {"table", "sort", "CREATE TABLE sort (id INTEGER PRIMARY KEY, what TEXT, start TEXT, "
	"chain INTEGER, array INTEGER, " SURE("objects") ", " SURE("shallow") ", " SURE("retained") ")"},
    [PROFILE_TABLE_STRING] = {"table", "string", "CREATE TABLE string (id INTEGER PRIMARY KEY, text TEXT)"},
};

/* Whoever adds to these enumerations adds words below, and to doc/profile-format.md. */
_Static_assert(UNKNOWN + 1 == 4, "profile_certainties");
_Static_assert(REASONS == 38, "profile_reasons");
_Static_assert(PROFILE_BYS == 7, "profile_kinds");
_Static_assert(START_ROOT + 1 == 7, "profile_starts");

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
    [REASON_LOCALS] = "locals",
    [REASON_DIRECT_LIMIT] = "direct limit",
    [REASON_ERROR_LATER] = "error later",
    [REASON_TOO_LARGE] = "too large",
    [REASON_ROOTS] = "roots",
    [REASON_ROOTS_MISSING] = "roots missing",
    [REASON_FRAMES] = "frames",
    [REASON_CLASS_FIELDS] = "class fields",
    [REASON_STACKS_MISSING] = "stacks missing",
    [REASON_CLASS_DATA] = "class data",
    [REASON_NAMES_SHARED] = "names shared",
    [REASON_FILLERS] = "fillers",
    [REASON_SIZES_ASSUMED] = "sizes assumed",
    [REASON_SIZES_MEASURED] = "sizes measured",
    [REASON_TYPES_GUESSED] = "types guessed",
    [REASON_PADDED] = "padded",
    [REASON_BLOCK] = "block",
    [REASON_JUDGED] = "judged",
    [REASON_FILE_CHANGED] = "file changed",
    [REASON_NOT_FOUND_YET] = "not found yet",
    [REASON_DUMP_AWAY] = "dump away",
    [REASON_OUTSIDE] = "outside",
    [REASON_FILE_TIME] = "file time",
    [REASON_FILE_NAME] = "file name",
    [REASON_NOT_READ] = "not read",
    [REASON_STACK_ORDER] = "order of stacks",
    [REASON_PUBLISHED] = "published",
    [REASON_BY_INDEX] = "by index",
    [REASON_SILENT] = "silent",
};

/* threads are the paths that begin at one */
const char *const profile_kinds[PROFILE_BYS] = {
    [PROFILE_PATH] = "path", [PROFILE_CLASS] = "class", [PROFILE_PACKAGE] = "package", [PROFILE_LOADER] = "loader",
    [PROFILE_THREAD] = NULL, [PROFILE_FIELD] = "field", [PROFILE_SITE] = "site"};

const char *const profile_starts[PROFILE_STARTS] = {
    [START_NOWHERE] = NULL, [START_CLASS] = "class", [START_LOADER] = "loader", [START_VARIABLE] = "variable",
    [START_THREAD] = "thread", [START_LOCAL] = "stack", [START_ROOT] = "root"};

/* --- what paths tell of fields ------------------------------------------------------------------ */

static uint64_t hash_field(const struct path_field *f)
{
	return hash_step(hash_number((uintptr_t)f->class), (uintptr_t)f->words);
}

static bool same_field(const struct path_field *a, const struct path_field *b)
{
	return a->class == b->class && a->words == b->words;
}

MAP(fields, const struct path_field *, const struct path_field *, map_element, hash_field, same_field)

int path_fields_find(struct path_fields *out, const struct profile_table *paths, const uint32_t *counts,
    struct err *err)
{
	*out = (struct path_fields){.list = big_alloc(paths->n, sizeof *out->list, err)};
	int code = out->list ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; !code && i < paths->n; i++) {
		const struct profile_row *r = &paths->row[i];
		if (r->parent == PROFILE_NONE || (counts && !counts[i]))
			continue;
		struct path_field like = {.class = paths->row[r->parent].class, .words = r->words, .path = i};
		uint32_t *slot = fields_enter(&out->map, out->list, out->n, &like, err);
		if (!slot) {
			code = ERR_NOMEM;
			break;
		}
		if (!*slot) {
			out->list[out->n] = like;
			*slot = ++out->n;
		}
		out->list[*slot - 1].n_paths++;
	}
	if (code)
		path_fields_release(out);
	return code;
}

struct path_field *path_fields_of(const struct path_fields *f, const struct profile_row *field)
{
	uint32_t number = fields_get(&f->map, f->list, &(struct path_field){.class = field->class, .words = field->words});
	return number ? &f->list[number - 1] : NULL;
}

void path_fields_release(struct path_fields *f)
{
	big_free(f->list);
	map_release(&f->map);
	*f = (struct path_fields){.n = 0};
}

uint32_t profile_checksum_row(uint32_t sum, sqlite3_stmt *s, int first, int end)
{
	for (int i = first; i < end; i++) {
		uint8_t number[sizeof(uint64_t)], type = (uint8_t)sqlite3_column_type(s, i);
		const uint8_t *bytes = number;
		int length = sizeof number;
		if (type == SQLITE_INTEGER) {
			uint64_t value = (uint64_t)sqlite3_column_int64(s, i);
			for (unsigned k = 0; k < sizeof number; k++)
				number[k] = (uint8_t)(value >> 8 * k);
		} else { /* NULL is no bytes */
			bytes = sqlite3_column_text(s, i);
			length = sqlite3_column_bytes(s, i);
		}
		if (bytes)
			sum = (uint32_t)crc32(sum, bytes, (uInt)length);
		sum = (uint32_t)crc32(sum, &type, 1);
	}
	return sum;
}

/* --- SQLite ------------------------------------------------------------------------------------- */

static int no_memory(struct err *err)
{
	const char *said = sqlite_memory_refusal();
	return err_set(err, ERR_NOMEM, "%s", said[0] ? said : "not enough memory for a profile");
}

int profile_sql_error(sqlite3 *db, struct progress *progress, struct err *err)
{
	switch (sqlite3_errcode(db)) {
	case SQLITE_OK: /* sqlite3_deserialize does not keep why it failed, and only memory can fail there */
	case SQLITE_NOMEM:
		return no_memory(err);
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
	/* ample for our own statements and our own schema, and little for that of a forged file, which SQLite reads
	 * before we do */
	static const struct { int limit, most; } limits[] = {
	    {SQLITE_LIMIT_LENGTH, PROFILE_TEXT_MOST}, {SQLITE_LIMIT_SQL_LENGTH, 1000}, {SQLITE_LIMIT_COLUMN, 20},
	    {SQLITE_LIMIT_EXPR_DEPTH, 10}, {SQLITE_LIMIT_COMPOUND_SELECT, 1}, {SQLITE_LIMIT_VDBE_OP, 1000},
	    {SQLITE_LIMIT_FUNCTION_ARG, 4}, {SQLITE_LIMIT_VARIABLE_NUMBER, 20}, {SQLITE_LIMIT_ATTACHED, 0},
	    {SQLITE_LIMIT_TRIGGER_DEPTH, 1}, {SQLITE_LIMIT_WORKER_THREADS, 0}};
	enum { STEPS = 10000 };
	sqlite_memory_begin();
	if (sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)) {
		int code = *db ? profile_sql_error(*db, progress, err) : no_memory(err);
		sqlite3_close(*db);
		*db = NULL;
		return code;
	}
	sqlite3_progress_handler(*db, STEPS, stops, progress);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		sqlite3_limit(*db, limits[i].limit, limits[i].most);
	return sqlite_temp_rules(*db) ? profile_sql_error(*db, progress, err) : 0;
}
