/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_read.c - a profile out of a file; see profile_file.h. */
#include "query/profile_file.h"

#include "base/text.h"
#include "dump/source/source.h"
#include "memory/big.h"
#include "query/profile_schema.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct unpacking {
	sqlite3 *db;
	struct profile *out;
	struct progress *progress;
	const char **text;      /* by id */
	uint32_t n_texts;
	struct row_sort {
		enum profile_by by;
		enum way_start start;
		bool chain, array;
		struct amount objects, shallow, retained; /* 0, as sure */
	} *sort;
	uint32_t n_sorts;
	struct entered {
		uint32_t at;    /* its number in the table of its kind */
		uint8_t by, depth;
	} *entered;             /* by row id */
	uint32_t n_rows;
	uint32_t sum, stated_sum; /* of what was read; of what was written, if it is stated */
	bool states_sum;
};

static int sql_error(const struct unpacking *u, struct err *err)
{
	int code = profile_sql_error(u->db, u->progress, err);
	if (code == ERR_FORMAT)
		err_context(err, "a damaged or forged profile");
	return code;
}

/* Where a number or a text cannot be true: in which row of which table. */
static int untrue(struct err *err, const char *table, sqlite3_int64 id, const char *what)
{
	return err_set(err, ERR_FORMAT, "a damaged or forged profile: %s %lld: %s", table, (long long)id, what);
}

static int prepare(struct unpacking *u, sqlite3_stmt **s, const char *sql, struct err *err)
{
	return sqlite3_prepare_v2(u->db, sql, -1, s, NULL) ? sql_error(u, err) : 0;
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

/* Only our tables and our view, each in our words: no trigger, index or virtual table, and no column that computes. */
static int check_schema(struct unpacking *u, struct err *err)
{
	sqlite3_stmt *s;
	unsigned n = 0;
	int state = 0, code = prepare(u, &s, "SELECT type, name, sql FROM sqlite_master ORDER BY name", err);
	while (!code && (state = sqlite3_step(s)) == SQLITE_ROW) {
		const char *type = text(s, 0), *name = text(s, 1), *sql = text(s, 2);
		const struct profile_table_text *wanted = &profile_schema[n];
		if (n++ == PROFILE_TABLES || !type || strcmp(type, wanted->type) || !name || strcmp(name, wanted->name) ||
		    !sql || strcmp(sql, wanted->sql))
			code = err_set(err, ERR_FORMAT, "a damaged or forged profile: its tables are not those of a "
			    "profile");
	}
	if (!code && state != SQLITE_DONE)
		code = sql_error(u, err);
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
		    err_set(err, ERR_FORMAT, "a damaged profile: it does not name its dump") :
		    sql_error(u, err);
		sqlite3_finalize(s);
		return code;
	}
	const char *file = text(s, 0), *format = text(s, 1), *created = text(s, 2), *sizes = text(s, 5);
	bool sealed = sqlite3_column_type(s, PROFILE_CHECKSUM) != SQLITE_NULL;
	uint64_t word_bits, names_fields, sum = 0;
	if (!file || !format || !created || !sizes || (strcmp(sizes, "mat") && strcmp(sizes, "true")) ||
	    !number(s, 4, 64, &word_bits) || (word_bits != 32 && word_bits != 64) || !number(s, 6, 1, &names_fields) ||
	    !amount(s, 7, &p->objects) || !amount(s, 10, &p->shallow) || !amount(s, 13, &p->reachable) ||
	    (sealed && !number(s, PROFILE_CHECKSUM, UINT32_MAX, &sum))) {
		code = err_set(err, ERR_FORMAT, "a damaged or forged profile: its data about the dump is invalid");
	} else {
		struct text title = TEXT_INIT;
		text_add(&title, "profile of ");
		text_add(&title, format);
		u->states_sum = sealed;
		u->stated_sum = (uint32_t)sum;
		u->sum = profile_checksum_row(u->sum, s, PROFILE_SUMMED, PROFILE_CHECKSUM);
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
			code = untrue(err, table, id, "ids are not consecutive");
		else if (id == PROFILE_ROWS_MOST)
			code = untrue(err, table, id, "too many rows");
		if (!code)
			code = enter(u, s, err);
		u->sum = profile_checksum_row(u->sum, s, 0, sqlite3_column_count(s));
		if (!code && progress_stops(u->progress, ++*n))
			code = err_cancelled(err);
	}
	if (!code && state != SQLITE_DONE)
		code = sql_error(u, err);
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
		return untrue(err, "string", u->n_texts, "it is not a text");
	if (!ROOM(u->text, u->n_texts, err))
		return ERR_NOMEM;
	u->text = big_grown;
	u->text[u->n_texts] = keep(u, t, err);
	return u->text[u->n_texts] ? 0 : ERR_NOMEM;
}

static int enter_sort(struct unpacking *u, sqlite3_stmt *s, struct err *err)
{
	struct row_sort sort;
	uint64_t chain, array;
	unsigned by, start = START_NOWHERE;
	void *big_grown = u->sort;
	bool begins = sqlite3_column_type(s, 2) != SQLITE_NULL;
	if (!word(s, 1, profile_kinds, PROFILE_BYS, &by))
		return untrue(err, "sort", u->n_sorts, "its kind is unknown");
	if (begins && !word(s, 2, profile_starts, PROFILE_STARTS, &start))
		return untrue(err, "sort", u->n_sorts, "its beginning is unknown");
	if (begins && by != PROFILE_PATH)
		return untrue(err, "sort", u->n_sorts, "only paths have beginnings");
	if (!number(s, 3, 1, &chain) || !number(s, 4, 1, &array))
		return untrue(err, "sort", u->n_sorts, "chain and array are 0 or 1");
	if (!sureness(s, 5, &sort.objects) || !sureness(s, 7, &sort.shallow) || !sureness(s, 9, &sort.retained))
		return untrue(err, "sort", u->n_sorts, "certainty and reason are invalid");
	sort.by = by;
	sort.start = start;
	sort.chain = chain;
	sort.array = array;
	if (!ROOM(u->sort, u->n_sorts, err))
		return ERR_NOMEM;
	u->sort = big_grown;
	u->sort[u->n_sorts] = sort;
	return 0;
}

/* --- rows --------------------------------------------------------------------------------------- */

static bool sure_number(sqlite3_stmt *s, int column, struct amount sure, struct amount *out)
{
	*out = sure;
	return number(s, column, INT64_MAX, &out->n) && (out->certainty != UNKNOWN || !out->n);
}

/* Where a row hangs, and that it may hang there. */
static const char *place_row(const struct unpacking *u, sqlite3_stmt *s, const struct row_sort *sort,
    struct profile_row *r, struct entered *e)
{
	uint64_t parent;
	bool has_parent = sqlite3_column_type(s, 2) != SQLITE_NULL;
	*e = (struct entered){.at = u->out->by[sort->by].n, .by = (uint8_t)sort->by};
	r->parent = PROFILE_NONE;
	r->start = sort->start;
	if (sort->by == PROFILE_PATH && has_parent == (r->start != START_NOWHERE))
		return "a path has either a parent or a beginning";
	if (sort->by != PROFILE_PATH && has_parent)
		return "only paths have parents";
	if (!has_parent)
		return NULL;
	if (!u->n_rows || !number(s, 2, u->n_rows - 1, &parent) || u->entered[parent].by != PROFILE_PATH)
		return "its parent is not an earlier path";
	if (u->entered[parent].depth == PATH_KEY_DEPTH)
		return "its path is too deep";
	r->parent = u->entered[parent].at;
	e->depth = (uint8_t)(u->entered[parent].depth + 1);
	return NULL;
}

static const char *unpack_row(const struct unpacking *u, sqlite3_stmt *s, const struct row_sort *sort,
    struct profile_row *r)
{
	uint64_t words, class;
	bool has_class = sqlite3_column_type(s, 4) != SQLITE_NULL;
	if (!u->n_texts || !number(s, 3, u->n_texts - 1, &words) ||
	    (has_class && !number(s, 4, u->n_texts - 1, &class)))
		return "its string does not exist";
	r->words = u->text[words];
	r->class = has_class ? u->text[class] : NULL;
	if (!has_class && (r->start == START_CLASS || r->start == START_LOADER || r->start == START_THREAD))
		return "its class is missing";
	r->chain = sort->chain;
	r->array = sort->array;
	int retained = sqlite3_column_type(s, 7) == SQLITE_NULL ? 6 : 7;
	if (!sure_number(s, 5, sort->objects, &r->objects) || !sure_number(s, 6, sort->shallow, &r->shallow) ||
	    !sure_number(s, retained, sort->retained, &r->retained))
		return "invalid number of objects or bytes";
	return NULL;
}

static int add_row(struct unpacking *u, enum profile_by by, const struct profile_row *r, struct err *err)
{
	struct profile_table *t = &u->out->by[by];
	void *big_grown = t->row;
	if (!ROOM(t->row, t->n, err))
		return ERR_NOMEM;
	t->row = big_grown;
	t->row[t->n++] = *r;
	return 0;
}

static int enter_row(struct unpacking *u, sqlite3_stmt *s, struct err *err)
{
	struct profile_row r = {.parent = PROFILE_NONE};
	uint64_t sort;
	void *big_grown = u->entered;
	if (!u->n_sorts || !number(s, 1, u->n_sorts - 1, &sort))
		return untrue(err, "row", u->n_rows, "its sort is unknown");
	if (!ROOM(u->entered, u->n_rows, err))
		return ERR_NOMEM;
	u->entered = big_grown;
	const char *wrong = place_row(u, s, &u->sort[sort], &r, &u->entered[u->n_rows]);
	if (!wrong)
		wrong = unpack_row(u, s, &u->sort[sort], &r);
	return wrong ? untrue(err, "row", u->n_rows, wrong) : add_row(u, u->sort[sort].by, &r, err);
}

/* What has no row because a path tells it: threads, and fields that no second path ends with. */
static int derive_rows(struct unpacking *u, struct err *err)
{
	const struct profile_table *paths = &u->out->by[PROFILE_PATH], *told = &u->out->by[PROFILE_FIELD];
	struct path_fields fields;
	int code = path_fields_find(&fields, paths, NULL, err);
	if (code)
		return code;
	for (uint32_t i = 0; i < told->n; i++) {
		struct path_field *f = path_fields_of(&fields, &told->row[i]);
		if (f)
			f->told = true;
	}
	for (uint32_t i = 0; !code && i < fields.n; i++) {
		struct profile_row r = paths->row[fields.list[i].path];
		if (fields.list[i].told || fields.list[i].n_paths > 1)
			continue;
		r.parent = PROFILE_NONE;
		r.class = fields.list[i].class;
		r.chain = r.array = false;
		code = add_row(u, PROFILE_FIELD, &r, err);
	}
	for (uint32_t i = 0; !code && i < paths->n; i++) {
		struct profile_row r = paths->row[i];
		if (r.start != START_THREAD)
			continue;
		r.start = START_NOWHERE;
		code = add_row(u, PROFILE_THREAD, &r, err);
	}
	path_fields_release(&fields);
	return code;
}

static int unpack(struct unpacking *u, struct err *err)
{
	int code = check_schema(u, err);
	if (!code)
		code = read_facts(u, err);
	if (!code)
		code = read_table(u, "string", "SELECT id, text FROM string", &u->n_texts, enter_text, err);
	if (!code)
		code = read_table(u, "sort", "SELECT * FROM sort", &u->n_sorts, enter_sort, err);
	if (!code)
		code = read_table(u, "row", "SELECT * FROM row", &u->n_rows, enter_row, err);
	if (!code && u->states_sum && u->sum != u->stated_sum)
		code = err_set(err, ERR_FORMAT, "a damaged or forged profile: its rows do not match its checksum");
	if (!code)
		code = derive_rows(u, err);
	for (unsigned by = 0; !code && by < PROFILE_BYS; by++) {
		struct profile_table *t = &u->out->by[by];
		if (t->row)
			t->row = big_fit(t->row, t->n, sizeof *t->row); /* there may be one for each day of a year */
		else if (!(t->row = big_alloc(0, 1, err)))
			code = ERR_NOMEM;
	}
	return code;
}

/* --- the file ----------------------------------------------------------------------------------- */

enum { HEADER = 100, AT_PAGE = 16, AT_WRITES = 18, AT_PAGES = 28, AT_VERSION = 60, AT_APPLICATION = 68 };

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* What SQLite has not brought into the file yet would be missing. */
static int check_writes(const uint8_t *header, const char *path, struct err *err)
{
	static const uint8_t hot[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	enum { WAL = 2 };
	uint8_t head[sizeof hot];
	struct text journal = TEXT_INIT;
	struct stat st;
	if (header[AT_WRITES] == WAL || header[AT_WRITES + 1] == WAL)
		return err_set(err, ERR_UNSUPPORTED, "a profile in SQLite's WAL mode, perhaps in two files (sqlite3 "
		    "FILE 'pragma journal_mode=delete' makes one)");
	text_addf(&journal, "%s-journal", path);
	int fd = stat(journal.s, &st) || !S_ISREG(st.st_mode) ? -1 :
	    open(journal.s, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	text_release(&journal);
	if (fd < 0)
		return 0;
	ssize_t n = pread(fd, head, sizeof head, 0);
	close(fd);
	if (n == sizeof head && !memcmp(head, hot, sizeof hot))
		return err_set(err, ERR_FORMAT, "an incompletely written profile (sqlite3 FILE 'pragma "
		    "integrity_check' restores it)");
	return 0;
}

static int check_header(const struct source *s, const char *path, struct err *err)
{
	static const char magic[16] = "SQLite format 3";
	if (s->size >= sizeof magic && memcmp(s->bytes, magic, sizeof magic))
		return err_set(err, ERR_FORMAT, "not a profile: it is not an SQLite database");
	if (s->size < HEADER)
		return err_set(err, ERR_FORMAT, "a damaged profile: it is truncated");
	if (big_endian(s->bytes + AT_APPLICATION) != PROFILE_APPLICATION_ID)
		return err_set(err, ERR_FORMAT, "an SQLite database, but not a profile of cairn");
	uint32_t version = big_endian(s->bytes + AT_VERSION);
	if (version > PROFILE_VERSION)
		return err_set(err, ERR_UNSUPPORTED, "a profile of version %u, written by a newer cairn (this one "
		    "reads version %d)", version, PROFILE_VERSION);
	if (!version)
		return err_set(err, ERR_FORMAT, "a damaged or forged profile: version 0 does not exist");
	if (version < PROFILE_VERSION)
		return err_set(err, ERR_UNSUPPORTED, "a profile of version %u: there weak references hold objects, in "
		    "version %d they do not (write it again from its dump)", version, PROFILE_VERSION);
	if (s->size > PROFILE_BYTES_MOST)
		return err_set(err, ERR_FORMAT, "too large for a profile");
	if (s->truncated)
		return err_set(err, ERR_FORMAT, "a damaged profile: %s", s->remark);
	return check_writes(s->bytes, path, err);
}

static int check_size(const struct source *s, struct err *err)
{
	uint64_t page = (uint64_t)s->bytes[AT_PAGE] << 8 | s->bytes[AT_PAGE + 1]; /* 1 stands for 65536: never ours */
	return page * big_endian(s->bytes + AT_PAGES) <= s->size ? 0 :
	    err_set(err, ERR_FORMAT, "a damaged profile: it is truncated");
}

/* Asked before all of a compressed file is inflated. */
static int look(const void *path, const uint8_t *head, size_t n, struct err *err)
{
	const struct source s = {.bytes = head, .size = n};
	return check_header(&s, path, err);
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
		return sql_error(u, err);
	if (sqlite3_exec(u->db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL))
		return sql_error(u, err);
	return 0;
}

/* *source: the caller's (source_close), NULL after an error at once. */
static int open_file(struct unpacking *u, struct source **source, const char *path, struct err *err)
{
	const struct source_look looking = {.at = look, .context = path, .most = PROFILE_BYTES_MOST};
	int code = source_open_if(source, path, &looking, u->progress, err);
	if (!code)
		code = check_header(*source, path, err);
	if (!code)
		code = check_size(*source, err);
	return code ? code : attach(u, *source, err);
}

bool profile_glance(const char *path, char created[static 32], struct amount *objects, struct amount *shallow)
{
	struct profile p = {.path = NULL};
	struct unpacking u = {.out = &p};
	struct source *source;
	struct err err = ERR_INIT;
	int code = open_file(&u, &source, path, &err);
	if (!code)
		code = check_schema(&u, &err);
	if (!code)
		code = read_facts(&u, &err);
	if (!code) {
		snprintf(created, 32, "%s", p.created);
		*objects = amount_weaken(p.objects, INFERRED, REASON_BY_INDEX); /* its checksum was not held against its rows */
		*shallow = amount_weaken(p.shallow, INFERRED, REASON_BY_INDEX);
	}
	sqlite3_close(u.db);
	source_close(source);
	profile_release(&p);
	return !code;
}

int profile_read(struct profile *out, const char *path, struct progress *progress, struct err *err)
{
	struct unpacking u = {.out = out, .progress = progress};
	struct source *source;
	uint64_t lost;
	*out = (struct profile){.path = NULL};
	int code = open_file(&u, &source, path, err);
	if (!source)
		return code;
	if (!code)
		code = unpack(&u, err);
	if (!code && source_damage(source, &lost))
		code = err_set(err, ERR_IO, "it was truncated while cairn read it");
	if (!code)
		code = progress_check(progress, err);
	sqlite3_close(u.db);
	source_close(source);
	big_free(u.text);
	big_free(u.sort);
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
