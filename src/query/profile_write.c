/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile_write.c - a profile into a file; see profile_file.h.
 *
 * The database is made in memory and written as bytes, so no journal stands beside the file and nothing of it is
 * there before all is known.
 */
#include "query/profile_file.h"

#include "algorithms/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"
#include "query/profile_schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct packing {
	sqlite3 *db;
	const struct profile *profile;
	struct progress *progress;
	uint32_t *id[PROFILE_BYS]; /* by row: its id + 1; 0: it is left out */
	uint32_t n_rows;
	struct used_text {
		const char *s;      /* borrowed from the profile */
	} *texts;                   /* a text's id is its number here */
	size_t n_texts, cap_texts;
	struct map map;
	struct used_sort {
		enum profile_by by;
		enum way_start start;
		bool chain, array;
		struct amount objects, shallow, retained; /* without their numbers */
	} *sorts;                   /* likewise */
	size_t n_sorts, cap_sorts;
};

static int prepare(struct packing *p, sqlite3_stmt **out, const char *sql, struct err *err)
{
	return sqlite3_prepare_v2(p->db, sql, -1, out, NULL) ? profile_sql_error(p->db, p->progress, err) : 0;
}

static int step(struct packing *p, sqlite3_stmt *s, struct err *err)
{
	int state = sqlite3_step(s);
	sqlite3_reset(s);
	return state == SQLITE_DONE ? 0 : profile_sql_error(p->db, p->progress, err);
}

static bool as_sure(struct amount a, struct amount b)
{
	return a.certainty == b.certainty && a.reason == b.reason;
}

static bool same_amount(struct amount a, struct amount b)
{
	return a.n == b.n && as_sure(a, b);
}

/* SQLite's numbers have a sign. */
static struct amount fitting(struct amount a)
{
	if (a.n > INT64_MAX) {
		a.n = INT64_MAX;
		a = amount_weaken(a, LOWER_BOUND, REASON_TOO_LARGE);
	}
	return a;
}

/* --- which rows are written --------------------------------------------------------------------- */

/* A row that says no more than that there are none of it, as sure as any number of objects: comparisons take that
 * of a row that is not there. */
static bool says_nothing(const struct profile *p, enum profile_by by, const struct profile_row *r)
{
	struct amount none = amount_weaken(amount_exact(0), p->objects.certainty, p->objects.reason);
	if (by == PROFILE_PATH) /* of no object, and what has none holds nothing */
		return !r->objects.n && r->objects.certainty != UNKNOWN;
	return same_amount(r->objects, none) && same_amount(r->shallow, none) && same_amount(r->retained, none);
}

static bool same_numbers(const struct profile_row *a, const struct profile_row *b)
{
	return same_amount(a->objects, b->objects) && same_amount(a->shallow, b->shallow) &&
	    same_amount(a->retained, b->retained);
}

/* Leave out the fields that are a path of their own. */
static int leave_out_fields(struct packing *p, struct err *err)
{
	const struct profile_table *paths = &p->profile->by[PROFILE_PATH], *t = &p->profile->by[PROFILE_FIELD];
	struct path_fields known;
	int code = path_fields_find(&known, paths, p->id[PROFILE_PATH], err);
	for (uint32_t i = 0; !code && i < t->n; i++) {
		const struct path_field *f = path_fields_of(&known, &t->row[i]);
		if (f && f->n_paths == 1 && same_numbers(&paths->row[f->path], &t->row[i]))
			p->id[PROFILE_FIELD][i] = 0;
	}
	if (!code)
		path_fields_release(&known);
	return code;
}

static int choose_rows(struct packing *p, struct err *err)
{
	for (unsigned by = 0; by < PROFILE_BYS; by++) {
		const struct profile_table *t = &p->profile->by[by];
		if (!(p->id[by] = big_alloc(t->n, sizeof *p->id[by], err)))
			return ERR_NOMEM;
		for (uint32_t i = profile_kinds[by] ? t->n : 0; i-- > 0;) { /* parents stand before their children */
			p->id[by][i] |= !says_nothing(p->profile, by, &t->row[i]);
			if (p->id[by][i] && t->row[i].parent != PROFILE_NONE)
				p->id[by][t->row[i].parent] = 1;
		}
	}
	return leave_out_fields(p, err);
}

/* --- what they have in common ------------------------------------------------------------------- */

/* Names that are equal are the same pointer. */
static uint64_t hash_text(const char *s)
{
	return hash_number((uintptr_t)s);
}

#define text_at(texts, number) ((texts)[number].s)
MAP(texts, const struct used_text *, const char *, text_at, hash_text, map_same)

/* The id of a text, which is entered where it is new.  0 or ERR_NOMEM. */
static int find_text(struct packing *p, const char *s, uint32_t *id, struct err *err)
{
	uint32_t *slot = texts_enter(&p->map, p->texts, (uint32_t)p->n_texts, s, err);
	if (!slot)
		return ERR_NOMEM;
	if (!*slot) {
		struct used_text *to = BIG_PUSH(p->texts, p->n_texts, p->cap_texts, err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct used_text){.s = s};
		*slot = (uint32_t)p->n_texts;
	}
	*id = *slot - 1;
	return 0;
}

/* The id of what a row has in common with others. */
static size_t find_sort(struct packing *p, enum profile_by by, const struct profile_row *r)
{
	struct used_sort like = {.by = by, .start = r->start, .chain = r->chain, .array = r->array,
	    .objects = fitting(r->objects), .shallow = fitting(r->shallow), .retained = fitting(r->retained)};
	for (size_t i = 0; i < p->n_sorts; i++) {
		const struct used_sort *s = &p->sorts[i];
		if (s->by == by && s->start == r->start && s->chain == r->chain && s->array == r->array &&
		    as_sure(s->objects, like.objects) && as_sure(s->shallow, like.shallow) &&
		    as_sure(s->retained, like.retained))
			return i;
	}
	VEC_PUSH(p->sorts, p->n_sorts, p->cap_sorts) = like;
	return p->n_sorts - 1;
}

/* Number the rows that are written, and what they use. */
static int number_rows(struct packing *p, struct err *err)
{
	for (unsigned by = PROFILE_BYS; by-- > 0;) {
		const struct profile_table *t = &p->profile->by[by];
		for (uint32_t i = 0; i < t->n; i++) {
			const struct profile_row *r = &t->row[i];
			uint32_t text;
			if (!p->id[by][i])
				continue;
			if (p->n_rows == PROFILE_ROWS_MOST)
				return err_set(err, ERR_UNSUPPORTED, "the dump has more classes and paths than a profile holds");
			p->id[by][i] = ++p->n_rows;
			(void)find_sort(p, by, r);
			if (find_text(p, r->words, &text, err) || (r->class && find_text(p, r->class, &text, err)))
				return ERR_NOMEM;
		}
	}
	return 0;
}

static int enter_texts(struct packing *p, struct err *err)
{
	sqlite3_stmt *s;
	int code = prepare(p, &s, "INSERT INTO string VALUES (?,?)", err);
	for (size_t i = 0; !code && i < p->n_texts; i++) {
		sqlite3_bind_int64(s, 1, (sqlite3_int64)i);
		sqlite3_bind_text(s, 2, p->texts[i].s, -1, SQLITE_STATIC);
		code = step(p, s, err);
	}
	sqlite3_finalize(s);
	return code;
}

static void bind_sure(sqlite3_stmt *s, int at, struct amount a)
{
	sqlite3_bind_text(s, at, profile_certainties[a.certainty], -1, SQLITE_STATIC);
	if (a.reason == REASON_NONE)
		sqlite3_bind_null(s, at + 1);
	else
		sqlite3_bind_text(s, at + 1, profile_reasons[a.reason], -1, SQLITE_STATIC);
}

static int enter_sorts(struct packing *p, struct err *err)
{
	sqlite3_stmt *s;
	int code = prepare(p, &s, "INSERT INTO sort VALUES (?,?,?,?,?,?,?,?,?,?,?)", err);
	for (size_t i = 0; !code && i < p->n_sorts; i++) {
		const struct used_sort *sort = &p->sorts[i];
		sqlite3_bind_int64(s, 1, (sqlite3_int64)i);
		sqlite3_bind_text(s, 2, profile_kinds[sort->by], -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 3, profile_starts[sort->start], -1, SQLITE_STATIC); /* of NULL a NULL */
		sqlite3_bind_int64(s, 4, sort->chain);
		sqlite3_bind_int64(s, 5, sort->array);
		bind_sure(s, 6, sort->objects);
		bind_sure(s, 8, sort->shallow);
		bind_sure(s, 10, sort->retained);
		code = step(p, s, err);
	}
	sqlite3_finalize(s);
	return code;
}

/* --- tables ------------------------------------------------------------------------------------- */

static int enter_row(struct packing *p, sqlite3_stmt *s, enum profile_by by, uint32_t i, struct err *err)
{
	const struct profile_row *r = &p->profile->by[by].row[i];
	uint64_t shallow = fitting(r->shallow).n, retained = fitting(r->retained).n;
	uint32_t words, class;
	int code = find_text(p, r->words, &words, err);
	sqlite3_clear_bindings(s); /* to NULL */
	if (!code && r->class) {
		code = find_text(p, r->class, &class, err);
		if (!code)
			sqlite3_bind_int64(s, 5, class);
	}
	if (code)
		return code;
	sqlite3_bind_int64(s, 1, p->id[by][i] - 1);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)find_sort(p, by, r));
	if (r->parent != PROFILE_NONE)
		sqlite3_bind_int64(s, 3, p->id[by][r->parent] - 1);
	sqlite3_bind_int64(s, 4, words);
	sqlite3_bind_int64(s, 6, (sqlite3_int64)fitting(r->objects).n);
	sqlite3_bind_int64(s, 7, (sqlite3_int64)shallow);
	if (retained != shallow)
		sqlite3_bind_int64(s, 8, (sqlite3_int64)retained);
	return step(p, s, err);
}

static int enter_rows(struct packing *p, struct err *err)
{
	sqlite3_stmt *s;
	int code = prepare(p, &s, "INSERT INTO row VALUES (?,?,?,?,?,?,?,?)", err);
	for (unsigned by = PROFILE_BYS; !code && by-- > 0;)
		for (uint32_t i = 0; !code && i < p->profile->by[by].n; i++)
			if (p->id[by][i])
				code = enter_row(p, s, by, i, err);
	sqlite3_finalize(s);
	return code;
}

static void bind_amount(sqlite3_stmt *s, int at, struct amount a)
{
	a = fitting(a);
	sqlite3_bind_int64(s, at, (sqlite3_int64)a.n);
	bind_sure(s, at + 1, a);
}

static int enter_facts(struct packing *p, struct err *err)
{
	const struct profile *from = p->profile;
	const char *slash = strrchr(from->path, '/');
	sqlite3_stmt *s;
	int code = prepare(p, &s, "INSERT INTO profile VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,NULL)", err);
	if (code)
		return code;
	/* where it stood is nobody's business */
	sqlite3_bind_text(s, 1, slash && slash[1] ? slash + 1 : from->path, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, from->title, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 3, from->created, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 4, PACKAGE_NAME " " PACKAGE_VERSION, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 5, from->word_bits);
	sqlite3_bind_text(s, 6, from->mat_sizes ? "mat" : "true", -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 7, from->names_fields);
	bind_amount(s, 8, from->objects);
	bind_amount(s, 11, from->shallow);
	bind_amount(s, 14, from->reachable);
	code = step(p, s, err);
	sqlite3_finalize(s);
	return code;
}

/* Add up what was entered, in the order in which it will be read. */
static int seal(struct packing *p, struct err *err)
{
	static const struct { const char *sql; int first, end; } tables[] = {
	    {"SELECT * FROM profile", PROFILE_SUMMED, PROFILE_CHECKSUM}, {"SELECT * FROM string", 0, 2},
	    {"SELECT * FROM sort", 0, 11}, {"SELECT * FROM row", 0, 8}};
	uint32_t sum = 0;
	sqlite3_stmt *s;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		int state, code = prepare(p, &s, tables[i].sql, err);
		if (code)
			return code;
		while ((state = sqlite3_step(s)) == SQLITE_ROW)
			sum = profile_checksum_row(sum, s, tables[i].first, tables[i].end);
		sqlite3_finalize(s);
		if (state != SQLITE_DONE)
			return profile_sql_error(p->db, p->progress, err);
	}
	int code = prepare(p, &s, "UPDATE profile SET checksum = ?", err);
	if (code)
		return code;
	sqlite3_bind_int64(s, 1, sum);
	code = step(p, s, err);
	sqlite3_finalize(s);
	return code;
}

static int run_sql(struct packing *p, const char *sql, struct err *err)
{
	return sqlite3_exec(p->db, sql, NULL, NULL, NULL) ? profile_sql_error(p->db, p->progress, err) : 0;
}

static int make_tables(struct packing *p, struct err *err)
{
	enum { PAGE = 1024 }; /* four tables are less than a page of 4 KB each */
	struct text sql = TEXT_INIT;
	text_addf(&sql, "PRAGMA page_size=%d; PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN", PAGE,
	    PROFILE_APPLICATION_ID, PROFILE_VERSION);
	int code = run_sql(p, sql.s, err);
	for (unsigned i = PROFILE_TABLES; !code && i-- > 0;) /* the view comes last */
		code = run_sql(p, profile_schema[i].sql, err);
	text_release(&sql);
	return code;
}

static int pack(struct packing *p, struct err *err)
{
	int code = choose_rows(p, err);
	if (!code)
		code = number_rows(p, err);
	if (!code)
		code = make_tables(p, err);
	if (!code)
		code = enter_facts(p, err);
	if (!code)
		code = enter_sorts(p, err);
	if (!code)
		code = enter_texts(p, err);
	if (!code)
		code = enter_rows(p, err);
	if (!code)
		code = seal(p, err);
	return code ? code : run_sql(p, "COMMIT", err);
}

/* --- bytes -------------------------------------------------------------------------------------- */

static int put(const void *bytes, uint64_t n, FILE *to, struct err *err)
{
	return fwrite(bytes, 1, n, to) == n ? 0 : err_set(err, ERR_IO, "%s", strerror(errno));
}

/* As gzip does. */
static int put_compressed(unsigned char *bytes, uint64_t n, FILE *to, struct err *err)
{
	enum { GZIP = 15 + 16, MEMORY = 9 };
	z_stream z = {.next_in = bytes, .avail_in = (uInt)n};
	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(err, ERR_NOMEM, "not enough memory to compress a profile");
	uint64_t room = deflateBound(&z, z.avail_in);
	unsigned char *out = big_alloc(room, 1, err);
	int code = out ? 0 : ERR_NOMEM;
	z.next_out = out;
	z.avail_out = (uInt)room;
	if (!code && deflate(&z, Z_FINISH) != Z_STREAM_END)
		code = err_set(err, ERR_IO, "the profile cannot be compressed");
	if (!code)
		code = put(out, room - z.avail_out, to, err);
	deflateEnd(&z);
	big_free(out);
	return code;
}

int profile_write(const struct profile *profile, FILE *to, bool compressed, struct progress *progress,
    struct err *err)
{
	struct packing p = {.profile = profile, .progress = progress};
	int code = profile_sql_open(&p.db, progress, err);
	if (code)
		return code;
	code = pack(&p, err);
	sqlite3_int64 n = 0;
	unsigned char *bytes = code ? NULL : sqlite3_serialize(p.db, "main", &n, 0);
	if (!code && !bytes)
		code = err_set(err, ERR_NOMEM, "not enough memory for a profile");
	if (!code && n > PROFILE_BYTES_MOST)
		code = err_set(err, ERR_UNSUPPORTED, "the profile is too large");
	if (!code)
		code = compressed ? put_compressed(bytes, (uint64_t)n, to, err) : put(bytes, (uint64_t)n, to, err);
	sqlite3_free(bytes);
	sqlite3_close(p.db);
	for (unsigned by = 0; by < PROFILE_BYS; by++)
		big_free(p.id[by]);
	big_free(p.texts);
	map_release(&p.map);
	free(p.sorts);
	return code;
}
