/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_functions.c - what statements ask of an object, by its address.
 *
 * Of what is no object (NULL, an address where none begins) all of them are NULL.  sql_words.h lists them.
 */
#include "base/amount.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "query/sql/sql_private.h"
#include "query/sql/sql_words.h"

#include "algorithms/sort.h"
#include "analysis/paths/paths.h"
#include "base/mem.h"
#include "memory/big.h"
#include "result/objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D_SHALLOW, D_RETAINED, D_SIZE, D_TEXT, D_FIELD, D_REF, DOUBTS };
static const char *const doubted[DOUBTS] = {"shallow", "retained", "size", "text", "field", "ref"};

struct functions {
	struct sql *sql;
	struct sql_doubts *doubts;
	struct path_rules rules;       /* for path(); heap NULL: not made */
	const struct path_tree *tree;
	struct sql_reader reader;
};

static struct functions *own(sqlite3_context *to)
{
	return sqlite3_user_data(to);
}

static uint32_t object_of(sqlite3_context *to, sqlite3_value *value)
{
	return sql_object_around(own(to)->sql, value);
}

static void fail(sqlite3_context *to, const struct err *err)
{
	int state = sql_keep(own(to)->sql, err);
	sqlite3_result_error(to, err->message, -1);
	sqlite3_result_error_code(to, state);
}

/* --- words -------------------------------------------------------------------------------------- */

static void run_addr(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	const char *s = (const char *)sqlite3_value_text(argv[0]);
	char *end;
	if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER) { /* it is one already */
		sqlite3_result_value(to, argv[0]);
		return;
	}
	if (s && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	uint64_t n = s ? strtoull(s, &end, 16) : 0;
	if (s && end > s && !*end && *s != '-' && *s != '+' && *s != ' ')
		sqlite3_result_int64(to, (sqlite3_int64)n);
}

/* An address as it is printed; of anything else its bytes, as SQLite's own function has it. */
static void run_hex(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	char word[24];
	if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
		snprintf(word, sizeof word, "0x%" PRIx64, (uint64_t)sqlite3_value_int64(argv[0]));
		sqlite3_result_text(to, word, -1, SQLITE_TRANSIENT);
		return;
	}
	static const char digit[] = "0123456789ABCDEF";
	const unsigned char *bytes = sqlite3_value_blob(argv[0]);
	sqlite3_uint64 n = (sqlite3_uint64)sqlite3_value_bytes(argv[0]);
	char *digits = sqlite3_value_type(argv[0]) == SQLITE_NULL ? NULL : sqlite3_malloc64(2 * n + 1);
	for (sqlite3_uint64 i = 0; digits && i < n; i++) {
		digits[2 * i] = digit[bytes[i] >> 4];
		digits[2 * i + 1] = digit[bytes[i] & 15];
	}
	if (digits)
		sqlite3_result_text64(to, digits, 2 * n, sqlite3_free, SQLITE_UTF8);
	else if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		sqlite3_result_error_nomem(to);
}

/* --- one object --------------------------------------------------------------------------------- */

static void run_text(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	struct functions *f = own(to);
	uint32_t id = object_of(to, argv[0]);
	if (id == HEAP_NONE)
		return;
	sql_unknown(f->sql, &f->doubts->of[D_TEXT]);
	sql_result_contents(f->sql, to, id, true, &f->reader);
}

static void run_class(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	uint32_t id = object_of(to, argv[0]);
	if (id != HEAP_NONE)
		sqlite3_result_text(to, heap_class_of(own(to)->sql->heap, id)->name, -1, SQLITE_STATIC);
}

static void result_amount(sqlite3_context *to, int which, struct amount a)
{
	struct functions *f = own(to);
	sql_doubt(f->sql, &f->doubts->of[which], a);
	sql_result_amount(f->sql, to, a);
}

static void run_shallow(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	uint32_t id = object_of(to, argv[0]);
	if (id != HEAP_NONE)
		result_amount(to, D_SHALLOW, heap_size(own(to)->sql->heap, id));
}

static void run_retained(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	struct sql *q = own(to)->sql;
	uint32_t id = object_of(to, argv[0]);
	if (id == HEAP_NONE)
		return;
	int state = sql_need_retained(q);
	if (state)
		sqlite3_result_error_code(to, state);
	else
		result_amount(to, D_RETAINED, retained_of(q->now.retained, id));
}

/* Entries of a collection, characters of a text, elements of an array. */
static void run_size(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	const struct heap *h = own(to)->sql->heap;
	uint32_t id = object_of(to, argv[0]);
	struct collection_size size;
	struct string_view view;
	if (id == HEAP_NONE)
		return;
	if (inspect_count(h, id, &own(to)->sql->now.counted_left, &size)) {
		if (size.known)
			sqlite3_result_int64(to, (sqlite3_int64)size.size);
		else
			sql_unknown(own(to)->sql, &own(to)->doubts->of[D_SIZE]);
	} else if (inspect_text(h, id, &view)) {
		sqlite3_result_int64(to, (sqlite3_int64)view.length);
	} else {
		struct amount a = heap_elements(h, id);
		if (!object_is_array(h, id))
			sql_unknown(own(to)->sql, &own(to)->doubts->of[D_SIZE]);
		if (a.certainty != UNKNOWN)
			sql_doubt(own(to)->sql, &own(to)->doubts->of[D_SIZE], a);
		sql_result_amount(own(to)->sql, to, a);
	}
}

static void run_instanceof(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	struct sql *q = own(to)->sql;
	uint32_t id = object_of(to, argv[0]);
	const char *name = (const char *)sqlite3_value_text(argv[1]);
	struct sql_instanceof *asked = sqlite3_get_auxdata(to, 1), *made = NULL;
	if (id == HEAP_NONE || !name)
		return;
	if (!asked)
		asked = made = sql_instanceof_new(q, name);
	sqlite3_result_int(to, sql_instanceof_is(asked, heap_class_index(q->heap, id)));
	if (made)
		sqlite3_set_auxdata(to, 1, made, sql_instanceof_free);
}

/* --- fields ------------------------------------------------------------------------------------- */

/* A path is made once for all rows of a call. */
static void path_end(void *path)
{
	struct sql_path *p = path;
	struct text *missed = &p->sql->now.missed;
	if (sql_path_is_missed(p) && !(missed->len && strstr(missed->s, p->words)))
		text_addf(missed, "%s%.100s", missed->len ? ", " : "", p->words);
	sql_path_free(p);
}

static void follow(sqlite3_context *to, sqlite3_value **argv, bool contents)
{
	int which = contents ? D_FIELD : D_REF;
	struct functions *f = own(to);
	struct sql_path *p = sqlite3_get_auxdata(to, 1), *made = NULL;
	uint32_t id = object_of(to, argv[0]);
	struct any_value v;
	struct err err = ERR_INIT;
	const char *words = p || sqlite3_value_type(argv[1]) != SQLITE_TEXT ? NULL :
	    (const char *)sqlite3_value_text(argv[1]);
	if (words)
		p = made = sql_path_make(f->sql, words);
	if (p && id != HEAP_NONE && sql_path_walk(p, id, &v, &err)) {
		sql_result_value(f->sql, to, &v, contents, &f->reader);
	} else if (err.code == ERR_UNSUPPORTED || (!err.code && id != HEAP_NONE && values_away(f->sql->heap) &&
	    heap_class_mirrored(f->sql->heap, id) == HEAP_NONE)) {
		sql_unknown(f->sql, &f->doubts->of[which]);
	} else if (err.code) {
		fail(to, &err);
	}
	if (made)
		sqlite3_set_auxdata(to, 1, made, path_end);
}

static void run_field(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	follow(to, argv, true);
}

static void run_ref(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	follow(to, argv, false);
}

/* --- path(address) ------------------------------------------------------------------------------ */

static int find_paths(struct functions *f, struct err *err)
{
	struct sql *q = f->sql;
	int code = 0;
	if (!f->rules.heap)
		code = path_rules_init(&f->rules, q->heap, false, err);
	if (!code)
		code = opened_find(q->opened, FIND_PATHS, q->now.progress, err);
	f->tree = opened_path_tree(q->opened, false);
	return code;
}

/* With its root, which only a line that begins with a variable names itself. */
static void add_path(const struct functions *f, const struct path *p, struct text *to)
{
	struct text line = TEXT_INIT;
	if (p->n == 1 || !path_line(&f->rules, p, &line))
		path_root_words(f->sql->heap, p->step[0], to);
	if (line.len)
		text_addf(to, "%s%s", to->len ? " > " : "", line.s);
	text_release(&line);
}

static void run_path(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	struct functions *f = own(to);
	uint32_t id = object_of(to, argv[0]);
	struct path path = {.n = 0};
	struct err err = ERR_INIT;
	if (id == HEAP_NONE)
		return;
	int code = find_paths(f, &err);
	if (!code)
		code = path_tree_path(f->tree, id, &path, &err);
	if (code) {
		fail(to, &err);
		return;
	}
	if (path.n) {
		text_clear(&f->reader.scratch);
		add_path(f, &path, &f->reader.scratch);
		sql_result_text(to, &f->reader.scratch);
	}
	path_release(&path);
}

/* --- setof(address) ----------------------------------------------------------------------------- */

struct gathered {
	uint32_t *ids;
	size_t n, cap;
};

/* The only one that adds up rows. */
static void run_setof(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	struct gathered *g = sqlite3_aggregate_context(to, sizeof *g);
	uint32_t id = object_of(to, argv[0]);
	struct err err = ERR_INIT;
	uint32_t *at = g && id != HEAP_NONE ? BIG_PUSH(g->ids, g->n, g->cap, &err) : NULL;
	if (at)
		*at = id;
	else if (!g || id != HEAP_NONE)
		sqlite3_result_error_nomem(to);
}

static int by_id(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* Each once, in their order: a join may have listed some several times. */
static int settle_set(struct gathered *g, struct err *err)
{
	size_t kept = 0;
	bool sorted = true;
	for (size_t i = 1; i < g->n; i++)
		sorted &= g->ids[i - 1] < g->ids[i];
	int code = sorted ? 0 : sort(g->ids, g->n, sizeof *g->ids, by_id, err);
	for (size_t i = 0; i < g->n; i++)
		if (!i || g->ids[i] != g->ids[i - 1])
			g->ids[kept++] = g->ids[i];
	g->n = kept;
	return code;
}

static void end_setof(sqlite3_context *to)
{
	enum { HEAD = (sizeof SQL_SET_MARK + 3) / 4 * 4 };
	struct gathered *g = sqlite3_aggregate_context(to, 0);
	if (!g)
		return;
	struct err err = ERR_INIT;
	char *blob = settle_set(g, &err) ? NULL : sqlite3_malloc64(HEAD + 4 * (sqlite3_uint64)g->n);
	if (blob) {
		memset(blob, 0, HEAD);
		memcpy(blob, SQL_SET_MARK, sizeof SQL_SET_MARK);
		if (g->n)
			memcpy(blob + HEAD, g->ids, 4 * g->n);
		sqlite3_result_blob64(to, blob, HEAD + 4 * (sqlite3_uint64)g->n, sqlite3_free);
	} else {
		sqlite3_result_error_nomem(to);
	}
	big_free(g->ids);
}

/* ------------------------------------------------------------------------------------------------ */

#define FUNCTION(name, n, usage, what) {#name, n, run_##name},
static const struct {
	const char *name;
	int arguments;
	void (*run)(sqlite3_context *to, int argc, sqlite3_value **argv);
} functions[] = {SQL_FUNCTIONS(FUNCTION)};

static void release(void *all)
{
	struct functions *f = all;
	sql_doubts_free(f->doubts);
	if (f->rules.heap)
		path_rules_release(&f->rules);
	text_release(&f->reader.scratch);
	free(f);
}

int sql_add_functions(struct sql *q)
{
	struct functions *f = xcalloc(1, sizeof *f);
	f->sql = q;
	f->doubts = sql_doubts_new(q, "", (char *const *)doubted, DOUBTS);
	size_t n = sizeof functions / sizeof *functions;
	for (size_t i = 0; i < n; i++) {
		bool sums = functions[i].run == run_setof;
		int state = sqlite3_create_function_v2(q->db, functions[i].name, functions[i].arguments,
		    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, f,
		    sums ? NULL : functions[i].run, sums ? functions[i].run : NULL, sums ? end_setof : NULL,
		    i + 1 == n ? release : NULL);
		if (state && i + 1 < n) /* of the last one the destructor is called even if it fails */
			release(f);
		if (state)
			return state;
	}
	return SQLITE_OK;
}
