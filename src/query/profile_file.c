/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_file.c - a profile out of a file; see profile_file.h. */
#include "query/profile_file.h"

#include "base/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool profile_is_file(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof magic];
	struct stat st;
	/* a FIFO must not be waited for, nor lose bytes */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	ssize_t n = pread(fd, head, sizeof head, 0);
	close(fd);
	return n == sizeof head && !memcmp(head, magic, sizeof magic);
}

#ifndef HAVE_SQLITE3

int profile_write(const struct profile *p, FILE *to, struct progress *progress, struct err *err)
{
	(void)p, (void)to, (void)progress;
	return err_set(err, ERR_UNSUPPORTED, "this build has no SQLite (libsqlite3), so it writes no profiles");
}

int profile_read(struct profile *out, const char *path, struct progress *progress, struct err *err)
{
	(void)out, (void)progress;
	return err_set(err, ERR_UNSUPPORTED, "%.200s: this build has no SQLite (libsqlite3), so it reads no profiles",
	    path);
}

const char *profile_support(void)
{
	return NULL;
}

#else

#include "base/big.h"
#include "base/text.h"
#include "dump/source.h"
#include "query/profile_schema.h"

struct unpacking {
	sqlite3 *db;
	struct profile *out;
	struct progress *progress;
	const char **text;      /* by id */
	uint32_t n_texts;
	struct row_sure {
		struct amount objects, shallow, retained; /* 0, as sure */
	} *sure;
	uint32_t n_sures;
	struct entered {
		uint32_t at;    /* its number in the table of its kind */
		uint8_t by, depth;
	} *entered;             /* by row id */
	uint32_t n_rows;
};

/* Where a number or a text cannot be true: in which row of which table. */
static int untrue(struct err *err, const char *table, sqlite3_int64 id, const char *what)
{
	return err_set(err, ERR_FORMAT, "a damaged or forged profile: %s %lld: %s", table, (long long)id, what);
}

static int prepare(struct unpacking *u, sqlite3_stmt **s, const char *sql, struct err *err)
{
	return sqlite3_prepare_v2(u->db, sql, -1, s, NULL) ? profile_sql_error(u->db, u->progress, err) : 0;
}

/* A number from 0 to most; false: it is none. */
static bool number(sqlite3_stmt *s, int column, uint64_t most, uint64_t *n)
{
	sqlite3_int64 value = sqlite3_column_int64(s, column);
	*n = (uint64_t)value;
	return sqlite3_column_type(s, column) == SQLITE_INTEGER && value >= 0 && *n <= most;
}

/* A text without a NUL in it; NULL: it is none. */
static const char *text(sqlite3_stmt *s, int column)
{
	if (sqlite3_column_type(s, column) != SQLITE_TEXT)
		return NULL;
	const char *t = (const char *)sqlite3_column_text(s, column);
	return t && strlen(t) == (size_t)sqlite3_column_bytes(s, column) ? t : NULL;
}

static bool word(sqlite3_stmt *s, int column, const char *const *words, unsigned n, unsigned *out)
{
	const char *t = text(s, column);
	for (*out = 0; t && *out < n; ++*out)
		if (words[*out] && !strcmp(words[*out], t))
			return true;
	return false;
}

/* How sure a number is; both words stand from this column on. */
static bool sureness(sqlite3_stmt *s, int column, struct amount *out)
{
	unsigned certainty, reason = REASON_NONE;
	bool told = sqlite3_column_type(s, column + 1) != SQLITE_NULL;
	if (!word(s, column, profile_certainties, UNKNOWN + 1, &certainty) ||
	    (told && !word(s, column + 1, profile_reasons, REASONS, &reason)))
		return false;
	*out = (struct amount){0, certainty, reason};
	return (certainty == EXACT) == (reason == REASON_NONE);
}

static bool amount(sqlite3_stmt *s, int column, struct amount *out)
{
	uint64_t n;
	if (!number(s, column, INT64_MAX, &n) || !sureness(s, column + 1, out))
		return false;
	out->n = n;
	return out->certainty != UNKNOWN || !n;
}

/* --- tables ------------------------------------------------------------------------------------- */

/* Only our tables, each in our words: no view, trigger, index or virtual table, and no column that computes. */
static int check_schema(struct unpacking *u, struct err *err)
{
	sqlite3_stmt *s;
	unsigned n = 0;
	int state = 0, code = prepare(u, &s, "SELECT type, name, sql FROM sqlite_master ORDER BY name", err);
	while (!code && (state = sqlite3_step(s)) == SQLITE_ROW) {
		const char *type = text(s, 0), *name = text(s, 1), *sql = text(s, 2);
		if (n == PROFILE_TABLES || !type || strcmp(type, "table") || !name || strcmp(name, profile_schema[n].name) ||
		    !sql || strcmp(sql, profile_schema[n].sql))
			code = err_set(err, ERR_FORMAT, "a damaged or forged profile: its tables are not those of a profile");
		n++;
	}
	if (!code && state != SQLITE_DONE)
		code = profile_sql_error(u->db, u->progress, err);
	if (!code && n != PROFILE_TABLES)
		code = err_set(err, ERR_FORMAT, "a damaged profile: tables are missing");
	sqlite3_finalize(s);
	return code;
}

static char *keep(struct unpacking *u, const char *s, struct err *err)
{
	return arena_try_strndup(&u->out->arena, s, strlen(s), err);
}

static int read_facts(struct unpacking *u, struct err *err)
{
	sqlite3_stmt *s;
	int code = prepare(u, &s, "SELECT * FROM profile LIMIT 2", err);
	if (code)
		return code;
	struct profile *p = u->out;
	if (sqlite3_step(s) != SQLITE_ROW) {
		code = sqlite3_errcode(u->db) == SQLITE_DONE ?
		    err_set(err, ERR_FORMAT, "a damaged profile: it does not tell what it is of") :
		    profile_sql_error(u->db, u->progress, err);
		sqlite3_finalize(s);
		return code;
	}
	const char *file = text(s, 0), *format = text(s, 1), *created = text(s, 2), *sizes = text(s, 5);
	uint64_t word_bits, names_fields;
	if (!file || !format || !created || !sizes || (strcmp(sizes, "mat") && strcmp(sizes, "true")) ||
	    !number(s, 4, 64, &word_bits) || (word_bits != 32 && word_bits != 64) || !number(s, 6, 1, &names_fields) ||
	    !amount(s, 7, &p->objects) || !amount(s, 10, &p->shallow) || !amount(s, 13, &p->reachable)) {
		code = err_set(err, ERR_FORMAT, "a damaged or forged profile: what it says of its dump cannot be true");
	} else {
		struct text title = TEXT_INIT;
		text_add(&title, "profile of ");
		text_add(&title, format);
		p->word_bits = (unsigned)word_bits;
		p->mat_sizes = !strcmp(sizes, "mat");
		p->names_fields = names_fields;
		p->path = keep(u, file, err);
		p->title = keep(u, title.s, err);
		p->created = keep(u, created, err);
		code = p->path && p->title && p->created ? 0 : ERR_NOMEM;
		text_release(&title);
	}
	if (!code && sqlite3_step(s) != SQLITE_DONE)
		code = err_set(err, ERR_FORMAT, "a damaged or forged profile: it is of two dumps");
	sqlite3_finalize(s);
	return code;
}

/* Go through a table whose ids are 0, 1, …: a tree of pages that leads in circles ends at the first row. */
static int read_table(struct unpacking *u, const char *table, const char *sql, uint32_t *n,
    int (*enter)(struct unpacking *u, sqlite3_stmt *s, struct err *err), struct err *err)
{
	sqlite3_stmt *s;
	int state = 0, code = prepare(u, &s, sql, err);
	while (!code && (state = sqlite3_step(s)) == SQLITE_ROW) {
		sqlite3_int64 id = sqlite3_column_int64(s, 0);
		if (id != *n)
			code = untrue(err, table, id, "ids do not count up");
		else if (id == PROFILE_ROWS_MOST)
			code = untrue(err, table, id, "there are too many");
		if (!code)
			code = enter(u, s, err);
		if (!code && progress_stops(u->progress, ++*n))
			code = err_cancelled(err);
	}
	if (!code && state != SQLITE_DONE)
		code = profile_sql_error(u->db, u->progress, err);
	sqlite3_finalize(s);
	return code;
}

/* Room for n + 1 elements. */
#define ROOM(array, n, err)                                                                          \
	((n) < big_bytes(array) / sizeof *(array) ||                                                 \
	    (big_grown = big_resize((array), (n) < 8 ? 16 : 2 * (uint64_t)(n), sizeof *(array), (err))) != NULL)

static int enter_text(struct unpacking *u, sqlite3_stmt *s, struct err *err)
{
	const char *t = text(s, 1);
	void *big_grown = u->text;
	if (!t)
		return untrue(err, "string", u->n_texts, "it is no text");
	if (!ROOM(u->text, u->n_texts, err))
		return ERR_NOMEM;
	u->text = big_grown;
	u->text[u->n_texts] = keep(u, t, err);
	return u->text[u->n_texts] ? 0 : ERR_NOMEM;
}

static int enter_sure(struct unpacking *u, sqlite3_stmt *s, struct err *err)
{
	struct row_sure sure;
	void *big_grown = u->sure;
	if (!sureness(s, 1, &sure.objects) || !sureness(s, 3, &sure.shallow) || !sureness(s, 5, &sure.retained))
		return untrue(err, "sure", u->n_sures, "no certainty and reason");
	if (!ROOM(u->sure, u->n_sures, err))
		return ERR_NOMEM;
	u->sure = big_grown;
	u->sure[u->n_sures] = sure;
	return 0;
}

/* --- rows --------------------------------------------------------------------------------------- */

static bool sure_number(sqlite3_stmt *s, int column, struct amount sure, struct amount *out)
{
	*out = sure;
	return number(s, column, INT64_MAX, &out->n) && (out->certainty != UNKNOWN || !out->n);
}

/* Where a row hangs, and that it may hang there. */
static const char *place_row(const struct unpacking *u, sqlite3_stmt *s, uint64_t by, struct profile_row *r,
    struct entered *e)
{
	uint64_t parent, start = 0;
	*e = (struct entered){.at = u->out->by[by].n, .by = (uint8_t)by};
	bool has_parent = sqlite3_column_type(s, 2) != SQLITE_NULL;
	if (sqlite3_column_type(s, 3) != SQLITE_NULL && (!number(s, 3, PROFILE_STARTS - 1, &start) || !start))
		return "it begins in no known way";
	for (unsigned i = 0; i < PROFILE_STARTS; i++)
		if (profile_starts[i] == start)
			r->start = i;
	r->parent = PROFILE_NONE;
	if (by == PROFILE_PATH && has_parent == (r->start != START_NOWHERE))
		return "a path has either a parent or a beginning";
	if (by != PROFILE_PATH && (has_parent || r->start != START_NOWHERE))
		return "only paths have parents or beginnings";
	if (!has_parent)
		return NULL;
	if (!u->n_rows || !number(s, 2, u->n_rows - 1, &parent) || u->entered[parent].by != by)
		return "its parent is no path before it";
	if (u->entered[parent].depth == SIGNATURE_DEPTH)
		return "it lies deeper than paths do";
	r->parent = u->entered[parent].at;
	e->depth = (uint8_t)(u->entered[parent].depth + 1);
	return NULL;
}

static const char *unpack_row(const struct unpacking *u, sqlite3_stmt *s, uint64_t by, struct profile_row *r)
{
	uint64_t words, class, flags, sure;
	bool has_class = sqlite3_column_type(s, 5) != SQLITE_NULL;
	if (!u->n_texts || !number(s, 4, u->n_texts - 1, &words) ||
	    (has_class && !number(s, 5, u->n_texts - 1, &class)))
		return "it names no string";
	r->words = u->text[words];
	r->class = has_class ? u->text[class] : NULL;
	if (!has_class && (by == PROFILE_THREAD || r->start == START_CLASS || r->start == START_LOADER ||
	    r->start == START_THREAD))
		return "its class is missing";
	if (!number(s, 6, PROFILE_FLAGS, &flags))
		return "unknown flags";
	r->chain = flags & PROFILE_FLAG_CHAIN;
	r->array = flags & PROFILE_FLAG_ARRAY;
	if (!u->n_sures || !number(s, 10, u->n_sures - 1, &sure))
		return "nothing says how sure it is";
	const struct row_sure *as = &u->sure[sure];
	int retained = sqlite3_column_type(s, 9) == SQLITE_NULL ? 8 : 9;
	if (!sure_number(s, 7, as->objects, &r->objects) || !sure_number(s, 8, as->shallow, &r->shallow) ||
	    !sure_number(s, retained, as->retained, &r->retained))
		return "no such number of objects or bytes";
	return NULL;
}

static int enter_row(struct unpacking *u, sqlite3_stmt *s, struct err *err)
{
	struct profile_row r = {.parent = PROFILE_NONE};
	uint64_t kind;
	unsigned by = 0;
	bool known = number(s, 1, PROFILE_BYS - 1, &kind);
	while (known && profile_kinds[by] != kind)
		by++;
	void *big_grown = u->entered;
	if (!ROOM(u->entered, u->n_rows, err))
		return ERR_NOMEM;
	u->entered = big_grown;
	const char *wrong = known ? place_row(u, s, by, &r, &u->entered[u->n_rows]) : "it is of no known kind";
	if (!wrong)
		wrong = unpack_row(u, s, by, &r);
	if (wrong)
		return untrue(err, "row", u->n_rows, wrong);
	struct profile_table *t = &u->out->by[by];
	big_grown = t->row;
	if (!ROOM(t->row, t->n, err))
		return ERR_NOMEM;
	t->row = big_grown;
	t->row[t->n++] = r;
	return 0;
}

static int unpack(struct unpacking *u, struct err *err)
{
	int code = check_schema(u, err);
	if (!code)
		code = read_facts(u, err);
	if (!code)
		code = read_table(u, "string", "SELECT id, text FROM string", &u->n_texts, enter_text, err);
	if (!code)
		code = read_table(u, "sure", "SELECT * FROM sure", &u->n_sures, enter_sure, err);
	if (!code)
		code = read_table(u, "row", "SELECT id, kind, parent, start, words, class, flags, objects, shallow, retained, "
		    "sure FROM row", &u->n_rows, enter_row, err);
	for (unsigned by = 0; !code && by < PROFILE_BYS; by++)
		if (!u->out->by[by].row && !(u->out->by[by].row = big_alloc(0, 1, err)))
			code = ERR_NOMEM;
	return code;
}

/* --- the file ----------------------------------------------------------------------------------- */

enum { FILE_MOST = 1 << 30, HEADER = 100, AT_VERSION = 60, AT_APPLICATION = 68 };

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int check_header(const struct source *s, struct err *err)
{
	if (s->size < HEADER)
		return err_set(err, ERR_FORMAT, "a damaged profile: it is cut");
	if (big_endian(s->bytes + AT_APPLICATION) != PROFILE_APPLICATION_ID)
		return err_set(err, ERR_FORMAT, "an SQLite database, but no profile of cairn");
	uint32_t version = big_endian(s->bytes + AT_VERSION);
	if (version > PROFILE_VERSION)
		return err_set(err, ERR_UNSUPPORTED, "a profile of version %u, written by a newer cairn: this one reads "
		    "version %d", version, PROFILE_VERSION);
	if (!version)
		return err_set(err, ERR_FORMAT, "a damaged or forged profile: there is no version 0");
	if (s->size > FILE_MOST)
		return err_set(err, ERR_FORMAT, "it is larger than any profile");
	return 0;
}

/* Have SQLite work on the bytes as they are.  What could run something, or write, is off. */
static int attach(struct unpacking *u, const struct source *s, struct err *err)
{
	static const struct { int option, value; } settings[] = {
	    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
	    {SQLITE_DBCONFIG_DEFENSIVE, 1}};
	int code = profile_sql_open(&u->db, u->progress, err);
	if (code)
		return code;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		sqlite3_db_config(u->db, settings[i].option, settings[i].value, NULL);
	/* read only, so it does not write to the mapped bytes */
	if (sqlite3_deserialize(u->db, "main", (unsigned char *)s->bytes, (sqlite3_int64)s->size,
	    (sqlite3_int64)s->size, SQLITE_DESERIALIZE_READONLY))
		return profile_sql_error(u->db, u->progress, err);
	if (sqlite3_exec(u->db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL))
		return profile_sql_error(u->db, u->progress, err);
	return 0;
}

int profile_read(struct profile *out, const char *path, struct progress *progress, struct err *err)
{
	struct unpacking u = {.out = out, .progress = progress};
	struct source *source;
	uint64_t lost;
	*out = (struct profile){.path = NULL};
	int code = source_open(&source, path, progress, err);
	if (code)
		return code;
	code = check_header(source, err);
	if (!code)
		code = attach(&u, source, err);
	if (!code)
		code = unpack(&u, err);
	if (!code && source_damage(source, &lost))
		code = err_set(err, ERR_IO, "bytes of it went away while it was read");
	if (!code)
		code = progress_check(progress, err);
	sqlite3_close(u.db);
	source_close(source);
	big_free(u.text);
	big_free(u.sure);
	big_free(u.entered);
	if (code) {
		profile_release(out);
		if (code != ERR_CANCELLED)
			err_context(err, "%.200s", path);
	}
	return code;
}

const char *profile_support(void)
{
	return "SQLite " SQLITE_VERSION;
}

#endif
