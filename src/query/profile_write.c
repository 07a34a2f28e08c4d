/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile_write.c - a profile into a file; see profile_file.h.
 *
 * The database is made in memory and written as bytes, so no journal stands beside the file and nothing of it is
 * there before all is known.
 */
#include "query/profile_file.h"

#ifdef HAVE_SQLITE3

#include "base/big.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "query/profile_schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct packing {
	sqlite3 *db;
	const struct profile *profile;
	struct progress *progress;
	sqlite3_stmt *row, *string, *sure;
	const char **texts;     /* borrowed from the profile; entered as id 0, 1, … */
	size_t n_texts, cap_texts;
	uint32_t *slots, n_slots;
	struct compared_sure {
		struct amount objects, shallow, retained; /* without their numbers */
	} *sures;
	size_t n_sures, cap_sures;
	sqlite3_int64 n_rows;
};

static int step(struct packing *p, sqlite3_stmt *s, struct err *err)
{
	int state = sqlite3_step(s);
	sqlite3_reset(s);
	return state == SQLITE_DONE ? 0 : profile_sql_error(p->db, p->progress, err);
}

/* Names that are equal are the same pointer. */
static uint64_t hash_of_text(const void *all, uint32_t number)
{
	return hash_number((uintptr_t)((const char *const *)all)[number]);
}

/* The id of a text, which is entered where it is new. */
static int enter_text(struct packing *p, const char *s, sqlite3_int64 *id, struct err *err)
{
	uint32_t n = (uint32_t)p->n_texts;
	if (2 * n >= p->n_slots && hash_slots_grow(&p->slots, &p->n_slots, n, hash_of_text, p->texts, err))
		return ERR_NOMEM;
	uint32_t at = (uint32_t)hash_of_text(&s, 0) & (p->n_slots - 1);
	for (; p->slots[at]; at = (at + 1) & (p->n_slots - 1)) {
		*id = p->slots[at] - 1;
		if (p->texts[*id] == s)
			return 0;
	}
	const char **text = BIG_PUSH(p->texts, p->n_texts, p->cap_texts, err);
	if (!text)
		return ERR_NOMEM;
	*text = s;
	*id = n;
	p->slots[at] = n + 1;
	sqlite3_bind_int64(p->string, 1, *id);
	sqlite3_bind_text(p->string, 2, s, -1, SQLITE_STATIC);
	return step(p, p->string, err);
}

static void bind_sure(sqlite3_stmt *s, int at, struct amount a)
{
	sqlite3_bind_text(s, at, profile_certainties[a.certainty], -1, SQLITE_STATIC);
	if (a.reason == REASON_NONE)
		sqlite3_bind_null(s, at + 1);
	else
		sqlite3_bind_text(s, at + 1, profile_reasons[a.reason], -1, SQLITE_STATIC);
}

static bool as_sure(struct amount a, struct amount b)
{
	return a.certainty == b.certainty && a.reason == b.reason;
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

/* The id of how sure the three numbers of a row are. */
static int enter_sure(struct packing *p, const struct compared_sure *sure, sqlite3_int64 *id, struct err *err)
{
	size_t i = 0;
	while (i < p->n_sures && !(as_sure(p->sures[i].objects, sure->objects) &&
	    as_sure(p->sures[i].shallow, sure->shallow) && as_sure(p->sures[i].retained, sure->retained)))
		i++;
	*id = (sqlite3_int64)i;
	if (i < p->n_sures)
		return 0;
	VEC_PUSH(p->sures, p->n_sures, p->cap_sures) = *sure;
	sqlite3_bind_int64(p->sure, 1, *id);
	bind_sure(p->sure, 2, sure->objects);
	bind_sure(p->sure, 4, sure->shallow);
	bind_sure(p->sure, 6, sure->retained);
	return step(p, p->sure, err);
}

static int enter_row(struct packing *p, enum profile_by by, const struct profile_row *r, const uint32_t *ids,
    struct err *err)
{
	const struct compared_sure sure = {fitting(r->objects), fitting(r->shallow), fitting(r->retained)};
	sqlite3_int64 words, class = 0, how_sure;
	int code = enter_text(p, r->words, &words, err);
	if (!code && r->class)
		code = enter_text(p, r->class, &class, err);
	if (!code)
		code = enter_sure(p, &sure, &how_sure, err);
	if (code)
		return code;
	sqlite3_clear_bindings(p->row); /* to NULL */
	sqlite3_bind_int64(p->row, 1, p->n_rows++);
	sqlite3_bind_int64(p->row, 2, profile_kinds[by]);
	if (r->parent != PROFILE_NONE)
		sqlite3_bind_int64(p->row, 3, ids[r->parent]);
	if (r->start != START_NOWHERE)
		sqlite3_bind_int64(p->row, 4, profile_starts[r->start]);
	sqlite3_bind_int64(p->row, 5, words);
	if (r->class)
		sqlite3_bind_int64(p->row, 6, class);
	sqlite3_bind_int64(p->row, 7, (r->chain ? PROFILE_FLAG_CHAIN : 0) | (r->array ? PROFILE_FLAG_ARRAY : 0));
	sqlite3_bind_int64(p->row, 8, (sqlite3_int64)sure.objects.n);
	sqlite3_bind_int64(p->row, 9, (sqlite3_int64)sure.shallow.n);
	if (sure.retained.n != sure.shallow.n)
		sqlite3_bind_int64(p->row, 10, (sqlite3_int64)sure.retained.n);
	sqlite3_bind_int64(p->row, 11, how_sure);
	return step(p, p->row, err);
}

static void bind_amount(sqlite3_stmt *s, int at, struct amount a)
{
	a = fitting(a);
	sqlite3_bind_int64(s, at, (sqlite3_int64)a.n);
	bind_sure(s, at + 1, a);
}

static int prepare(struct packing *p, sqlite3_stmt **out, const char *sql, struct err *err)
{
	return sqlite3_prepare_v2(p->db, sql, -1, out, NULL) ? profile_sql_error(p->db, p->progress, err) : 0;
}

static int enter_facts(struct packing *p, struct err *err)
{
	const struct profile *from = p->profile;
	const char *slash = strrchr(from->path, '/');
	sqlite3_stmt *s;
	int code = prepare(p, &s, "INSERT INTO profile VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err);
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

static int run_sql(struct packing *p, const char *sql, struct err *err)
{
	return sqlite3_exec(p->db, sql, NULL, NULL, NULL) ? profile_sql_error(p->db, p->progress, err) : 0;
}

static int make_tables(struct packing *p, struct err *err)
{
	struct text sql = TEXT_INIT;
	text_addf(&sql, "PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN;", PROFILE_APPLICATION_ID,
	    PROFILE_VERSION);
	for (unsigned i = 0; i < PROFILE_TABLES; i++)
		text_addf(&sql, "%s;", profile_schema[i].sql);
	int code = run_sql(p, sql.s, err);
	text_release(&sql);
	if (!code)
		code = prepare(p, &p->row, "INSERT INTO row VALUES (?,?,?,?,?,?,?,?,?,?,?)", err);
	if (!code)
		code = prepare(p, &p->string, "INSERT INTO string VALUES (?,?)", err);
	return code ? code : prepare(p, &p->sure, "INSERT INTO sure VALUES (?,?,?,?,?,?,?)", err);
}

/* Enter a table.  Paths that no object is on, nor any below them, say nothing: they stay away. */
static int enter_table(struct packing *p, enum profile_by by, struct err *err)
{
	const struct profile_table *t = &p->profile->by[by];
	uint32_t *id = big_alloc(t->n, sizeof *id, err);
	if (!id)
		return ERR_NOMEM;
	for (uint32_t i = t->n; i-- > 0;) { /* parents stand before their children */
		const struct profile_row *r = &t->row[i];
		id[i] |= by != PROFILE_PATH || r->objects.n || r->objects.certainty == UNKNOWN;
		if (id[i] && r->parent != PROFILE_NONE)
			id[r->parent] = 1;
	}
	int code = 0;
	for (uint32_t i = 0; !code && i < t->n; i++) {
		if (!id[i])
			continue;
		id[i] = (uint32_t)p->n_rows;
		code = p->n_rows == PROFILE_ROWS_MOST ?
		    err_set(err, ERR_UNSUPPORTED, "the dump has more classes and paths than a profile holds") :
		    enter_row(p, by, &t->row[i], id, err);
	}
	big_free(id);
	return code;
}

static int pack(struct packing *p, struct err *err)
{
	int code = make_tables(p, err);
	if (!code)
		code = enter_facts(p, err);
	for (unsigned by = 0; !code && by < PROFILE_BYS; by++)
		code = enter_table(p, by, err);
	return code ? code : run_sql(p, "COMMIT", err);
}

int profile_write(const struct profile *profile, FILE *to, struct progress *progress, struct err *err)
{
	struct packing p = {.profile = profile, .progress = progress};
	int code = profile_sql_open(&p.db, progress, err);
	if (code)
		return code;
	code = pack(&p, err);
	sqlite3_finalize(p.row);
	sqlite3_finalize(p.string);
	sqlite3_finalize(p.sure);
	sqlite3_int64 n = 0;
	unsigned char *bytes = code ? NULL : sqlite3_serialize(p.db, "main", &n, 0);
	if (!code && !bytes)
		code = err_set(err, ERR_NOMEM, "not enough memory for a profile");
	if (!code && fwrite(bytes, 1, (size_t)n, to) != (size_t)n)
		code = err_set(err, ERR_IO, "%s", strerror(errno));
	sqlite3_free(bytes);
	sqlite3_close(p.db);
	big_free(p.texts);
	big_free(p.slots);
	free(p.sures);
	return code;
}

#endif
