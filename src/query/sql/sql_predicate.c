/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_predicate.c - conditions about single objects, or about the rows of a result, by which these are narrowed.
 *
 * The same expressions as in a statement, written as people write them: texts may be between double quotes, names are
 * fields of the objects, "customer.address.city" is a path of fields, or names are columns of the result.  They are
 * put into SQL's words here.  An unknown name is an error with the nearest one.
 */
#include "query/sql/sql_private.h"

#ifdef HAVE_SQLITE3

#include "analysis/search.h"
#include "base/mem.h"
#include "memory/big.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_LOOKED = 1000, OBJECTS_LOOKED = 1000, NAME_MOST = 500, EDITS_MOST = 2 };

struct predicate {
	struct sql *q;
	char table[32];
	const struct result *rows; /* NULL: it is about objects */
	struct sql_columns columns; /* of these rows */
	bool retained;       /* it names what rows retain */
	const uint32_t *ids; /* the objects */
	size_t n;
	uint32_t *of_class;  /* an object of each class that there is; owned */
	size_t n_classes;
	struct shared_fields *shared; /* of these; owned */
	struct text sql;
	struct sql_compared *compared; /* owned */
	size_t n_compared, cap_compared;
	enum sql_literal literal; /* the last one, and the byte of sql behind it */
	size_t literal_end;
	bool named;               /* the current word is a field or a column */
};

/* --- names -------------------------------------------------------------------------------------- */

static bool is_own(const char *name)
{
	static const char *const names[] = {"address", "class", "shallow", "retained", "length", "value", "id", "reachable",
	    "dominator", "loader", "class_address", "shallow_certainty", "retained_certainty"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!sqlite3_stricmp(names[i], name))
			return true;
	return false;
}

/* Words of expressions that are no names; fields may be called like any other word of SQL. */
static bool is_operator(const char *word)
{
	static const char *const words[] = {"and", "or", "not", "is", "null", "isnull", "notnull", "like", "glob",
	    "between", "in", "escape", "case", "when", "then", "else", "end", "cast", "as", "collate", "exists", "select",
	    "from", "where", "distinct", "group", "by", "having", "limit", "integer", "real", "text", "true", "false",
	    "binary", "nocase"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!sqlite3_stricmp(words[i], word))
			return true;
	return false;
}

struct nearest {
	char name[NAME_MOST];
	unsigned edits;
};

struct looked_for {
	const char *name;
	struct nearest *near;
};

static void look_at_name(void *context, const char *candidate)
{
	struct looked_for *l = context;
	unsigned edits = strlen(candidate) < NAME_MOST ? edit_distance(l->name, candidate, l->near->edits) : l->near->edits;
	if (edits < l->near->edits) {
		l->near->edits = edits;
		snprintf(l->near->name, sizeof l->near->name, "%s", candidate);
	}
}

/* Has this object such a field?  Else *near gets the most similar name, if what it had was further off. */
static int look_for(struct sql *q, uint32_t id, const char *name, bool *found, struct nearest *near, struct err *err)
{
	struct err none = ERR_INIT;
	struct looked_for l = {name, near};
	*found = sql_has_field(q, id, name, &none);
	int code = none.code || *found ? none.code : sql_each_field(q, id, look_at_name, &l, &none);
	if (code && code != ERR_UNSUPPORTED)
		*err = none;
	return code == ERR_UNSUPPORTED ? 0 : code;
}

/* A word that is not near a field may have been meant as a text. */
static int no_field(const char *name, const struct nearest *near, const char *of, struct err *err)
{
	return near->name[0] ?
	    err_set(err, ERR_USAGE, "no field \"%.200s\" in %s (nearest: %.100s)", name, of, near->name) :
	    err_set(err, ERR_USAGE, "no field \"%.200s\" in %s (a text needs quotes within quotes: \"FIELD = '%.60s'\")",
	    name, of, name);
}

/* Does a path name fields?  What it meets depends on what objects lead to, so one of each class and a few more are
 * followed: it is an error if none of what they meet has the field. */
static int check_path(struct predicate *p, const char *words, struct err *err)
{
	struct sql_path *path = sql_path_make(p->q, words);
	struct nearest near = {.edits = EDITS_MOST + 1};
	struct any_value v;
	struct err none = ERR_INIT;
	bool found = false;
	size_t n = p->n < OBJECTS_LOOKED ? p->n : OBJECTS_LOOKED;
	for (size_t i = 0; !path->led && !none.code && i < p->n_classes + n; i++)
		sql_path_walk(path, i < p->n_classes ? p->of_class[i] : p->ids[i - p->n_classes], &v, &none);
	int code = none.code;
	if (code)
		*err = none;
	if (!code && sql_path_is_missed(path)) {
		char *step = xstrdup(words + path->missed_at);
		step[strcspn(step, ".")] = '\0';
		for (size_t i = 0; !code && !path->missed_at && i < p->n_classes; i++)
			code = look_for(p->q, p->of_class[i], step, &found, &near, err);
		if (!code && path->missed_at)
			code = look_for(p->q, path->missed_id, step, &found, &near, err);
		if (!code)
			code = no_field(step, &near, path->missed_at ? "the object there" : "these objects", err);
		free(step);
	}
	sql_path_free(path);
	return code;
}

/* --- words -------------------------------------------------------------------------------------- */

static bool begins_name(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}

static bool in_name(unsigned char c)
{
	return begins_name(c) || (c >= '0' && c <= '9');
}

/* A text between quotes of either kind, as SQL writes it. */
static int add_text(struct predicate *p, const char **at, struct err *err)
{
	const char *s = *at;
	char quote = *s++;
	text_add_char(&p->sql, '\'');
	for (; *s && (*s != quote || s[1] == quote); s++) {
		s += *s == quote;
		text_add(&p->sql, *s == '\'' ? "''" : "");
		if (*s != '\'')
			text_add_char(&p->sql, *s);
	}
	text_add_char(&p->sql, '\'');
	*at = *s ? s + 1 : s;
	return *s ? 0 : err_set(err, ERR_USAGE, "unclosed quote: %.100s", *at);
}

/* Of the columns that all objects have a field of the same name takes the place, if each class of these has one, as in
 * the table of a class; "object_id" is the column then.  A text's or a number's value is what is in it. */
static bool is_field_of_all(struct predicate *p, const char *name)
{
	const struct heap *h = p->q->heap;
	bool all = p->n_classes > 0 && sqlite3_stricmp(name, "address") != 0;
	for (size_t i = 0; all && i < p->n_classes; i++)
		all = sql_has_field(p->q, p->of_class[i], name, NULL) &&
		    !(!sqlite3_stricmp(name, "value") && describe_is_value(h, h->class_of[p->of_class[i]]));
	return all;
}

/* Of a field that all objects have the same one is meant in each, also where a subclass hides it: then it is called by
 * the class that declares it. */
static void add_owner(const struct predicate *p, const char *path, struct text *to)
{
	struct shared_field f, own;
	size_t at, n = p->shared && p->n_classes > 1 ? inspect_shared_find(p->shared, path, &at) : 0;
	if (!n)
		return;
	inspect_shared_field(p->shared, at, &f);
	for (size_t i = 0; f.field && i < p->n_classes; i++) {
		const struct shared_fields *fields = sql_fields_of(p->q, p->of_class[i], NULL);
		if (!fields || !inspect_shared_find(fields, path, &at))
			continue;
		inspect_shared_field(fields, at, &own);
		if (own.field != f.field) {
			text_addf(to, "%s.", p->q->heap->classes[f.declared_in].name);
			return;
		}
	}
}

static int add_field(struct predicate *p, const char *said, struct err *err)
{
	struct text path = TEXT_INIT;
	p->named = true;
	add_owner(p, said, &path);
	text_add(&path, said);
	int code = check_path(p, path.s, err);
	text_add(&p->sql, "field(address, '");
	for (const char *s = path.s; *s; s++) {
		text_add_char(&p->sql, *s);
		if (*s == '\'')
			text_add_char(&p->sql, *s);
	}
	text_add(&p->sql, "')");
	text_release(&path);
	return code;
}

/* --- columns ------------------------------------------------------------------------------------ */

/* The number of a column: by its whole name, or where only the beginning is given, by that; SIZE_MAX: there is none. */
static size_t find_column(const struct predicate *p, const char *name, bool whole)
{
	for (size_t i = 0; i < p->columns.n; i++)
		if (!sqlite3_stricmp(p->columns.name[i], name))
			return i;
	int at = whole ? -1 : result_column(p->rows, name);
	return at < 0 ? SIZE_MAX : (size_t)at;
}

static int no_column(const struct predicate *p, const char *name, struct err *err)
{
	struct nearest near = {.edits = EDITS_MOST + 1};
	struct looked_for l = {name, &near};
	struct text list = TEXT_INIT;
	unsigned n = p->rows->n_columns;
	for (size_t i = 0; i < p->columns.n; i++)
		look_at_name(&l, p->columns.name[i]);
	for (size_t i = 0; i < n && !near.name[0]; i++)
		text_addf(&list, " %s", p->columns.name[i]);
	int code = near.name[0] ?
	    err_set(err, ERR_USAGE, "no column \"%.60s\" (nearest: %.100s)", name, near.name) :
	    err_set(err, ERR_USAGE, "no column \"%.60s\" (there are%.800s; a text needs quotes within quotes: "
	    "\"COLUMN = '%.60s'\")", name, list.s, name);
	text_release(&list);
	return code;
}

static int add_column(struct predicate *p, const char *name, struct err *err)
{
	size_t i = find_column(p, name, false);
	if (i == SIZE_MAX)
		return no_column(p, name, err);
	p->named = true;
	p->retained |= p->rows->columns[i % p->rows->n_columns].id == COL_RETAINED;
	char *quoted = sqlite3_mprintf("\"%w\"", p->columns.name[i]);
	text_add(&p->sql, quoted ? quoted : "");
	int code = quoted ? 0 : err_set(err, ERR_NOMEM, "SQLite is out of memory");
	sqlite3_free(quoted);
	return code;
}

/* A column may be called like a word of SQL; not behind AS, where a type is. */
static int add_word_of_rows(struct predicate *p, const char *word, bool call, struct err *err)
{
	bool behind_as = p->sql.len > 4 && !sqlite3_stricmp(p->sql.s + p->sql.len - 4, " as ");
	bool column = !call && !behind_as && find_column(p, word, true) != SIZE_MAX;
	p->named = false;
	if (column || (!call && !is_operator(word)))
		return add_column(p, word, err);
	text_add(&p->sql, word);
	return 0;
}

/* --- fields ------------------------------------------------------------------------------------- */

static int add_name(struct predicate *p, const char **at, struct err *err)
{
	static const char object[] = "object_";
	const char *s = *at, *end = s, *behind;
	while (in_name((unsigned char)*end) || (*end == '.' && begins_name((unsigned char)end[1])))
		end++;
	char *name = xstrndup(s, (size_t)(end - s));
	int code = 0;
	for (behind = end; *behind == ' '; behind++)
		;
	bool path = strchr(name, '.') != NULL;
	bool said = !strncmp(name, object, sizeof object - 1) && is_own(name + sizeof object - 1);
	p->named = !path && !is_operator(name) && *behind != '(';
	if (p->rows)
		code = add_word_of_rows(p, name, *behind == '(', err);
	else if (!path && (*behind == '(' || is_operator(name)))
		text_add(&p->sql, name);
	else if (!path && said)
		text_addf(&p->sql, "\"%s\"", name + sizeof object - 1);
	else if (!path && !sqlite3_stricmp(name, "value") && p->q->silent.code)
		code = err_set(err, p->q->silent.code, "%s", p->q->silent.message);
	else if (!path && is_own(name) && !is_field_of_all(p, name))
		text_addf(&p->sql, "\"%s\"", name);
	else if (values_away(p->q->heap)) /* what is unknown of all is no answer to which */
		code = err_set(err, p->q->silent.code, "%s", p->q->silent.message);
	else
		code = add_field(p, name, err);
	*at = end;
	free(name);
	return code;
}

/* A column or a field of any name, or a path with such in it: `group`, `customer.a b`, `items[3]`. */
static int add_quoted_name(struct predicate *p, const char **at, struct err *err)
{
	const char *s = *at + 1, *end = strchr(s, '`');
	if (!end || end == s)
		return err_set(err, ERR_USAGE, "unclosed or empty name in backquotes: %.100s", *at);
	char *name = xstrndup(s, (size_t)(end - s));
	int code = p->rows ? add_column(p, name, err) : add_field(p, name, err);
	*at = end + 1;
	free(name);
	return code;
}

/* The name that is in sql from this byte on: with what is it compared? */
static void note_compared(struct predicate *p, size_t from, const char *name, size_t n, const char *behind)
{
	const char *before = p->sql.s ? p->sql.s + from : "", *left = p->sql.s + p->literal_end;
	while (from && before > p->sql.s && before[-1] == ' ')
		before--;
	if (from && before > p->sql.s && strchr(SQL_ARITHMETIC, before[-1]))
		return;
	enum sql_literal with = sql_literal_behind(behind);
	if (!with && p->literal && sql_is_comparison(left, p->sql.s + from) &&
	    !(behind[strspn(behind, " ")] && strchr(SQL_ARITHMETIC, behind[strspn(behind, " ")])))
		with = p->literal;
	if (with)
		VEC_PUSH(p->compared, p->n_compared, p->cap_compared) = (struct sql_compared){.literal = with,
		    .name = xstrndup(name, n), .value = xstrndup(p->sql.s + from, p->sql.len - from)};
}

static int add_named(struct predicate *p, const char **at, struct err *err)
{
	const char *name = *at;
	size_t from = p->sql.len;
	p->named = false;
	int code = *name == '`' ? add_quoted_name(p, at, err) : add_name(p, at, err);
	if (!code && p->named)
		note_compared(p, from, name, (size_t)(*at - name), *at);
	return code;
}

static void end_literal(struct predicate *p, enum sql_literal kind)
{
	p->literal = kind;
	p->literal_end = p->sql.len;
}

static int translate(struct predicate *p, const char *s, struct err *err)
{
	int code = 0;
	while (!code && *s) {
		if (*s == '\'' || *s == '"') {
			enum sql_literal kind = sql_literal_of(s);
			code = add_text(p, &s, err);
			end_literal(p, kind);
		} else if (*s == '`' || begins_name((unsigned char)*s)) {
			code = add_named(p, &s, err);
		} else if (*s >= '0' && *s <= '9') {
			for (; in_name((unsigned char)*s) || *s == '.'; s++)
				text_add_char(&p->sql, *s);
			end_literal(p, LITERAL_NUMBER);
		} else if (*s == ';' || (*s == '-' && s[1] == '-') || (*s == '/' && s[1] == '*')) {
			code = err_set(err, ERR_USAGE, "\"%.40s\" is not allowed in an expression", s);
		} else {
			text_add_char(&p->sql, *s++);
		}
	}
	return code;
}

/* ------------------------------------------------------------------------------------------------ */

/* An object of each class, of the first so many classes. */
static int sample_classes(struct predicate *p, struct err *err)
{
	struct bits seen;
	const struct heap *h = p->q->heap;
	p->of_class = big_alloc(CLASSES_LOOKED, sizeof *p->of_class, err);
	if (!p->of_class || bits_init(&seen, h->n_classes, err))
		return ERR_NOMEM;
	int code = 0;
	for (size_t i = 0; !code && i < p->n && p->n_classes < CLASSES_LOOKED; i++) {
		if (sql_stops(p->q, i))
			code = err_cancelled(err);
		if (bits_get(&seen, h->class_of[p->ids[i]]))
			continue;
		bits_set(&seen, h->class_of[p->ids[i]]);
		p->of_class[p->n_classes++] = p->ids[i];
	}
	bits_release(&seen);
	return code;
}

static int begin(struct predicate *p, struct progress *progress, struct sql *outer, struct err *err)
{
	return sql_begin(p->q, &(struct sql_wishes){.subclasses = false}, progress, outer, err);
}

/* Put the expression into SQL. */
static int write(struct predicate *p, const char *expression, struct err *err)
{
	struct text java = TEXT_INIT;
	snprintf(p->table, sizeof p->table, "these %s %u", p->rows ? "rows" : "objects", p->q->depth);
	text_addf(&p->sql, "SELECT _rowid_ FROM \"%s\" WHERE (", p->table);
	sql_null_as_java(expression, &java);
	int code = translate(p, java.len ? java.s : "", err);
	text_add(&p->sql, ")");
	text_release(&java);
	return code;
}

/* The numbers of the rows of the table for which it holds: see sql_keep_ids. */
static int choose(struct predicate *p, uint32_t *ids, size_t *n, struct err *err)
{
	int code = 0;
	for (size_t i = 0; !code && i < p->n_compared; i++)
		code = sql_check_compared(p->q, p->table, p->rows ? "these rows" : "these objects", &p->compared[i], err);
	return code ? code : sql_keep_ids(p->q, p->sql.s, ids, n, err);
}

static void end(struct predicate *p, const struct sql *outer)
{
	sql_end(p->q, outer);
	for (size_t i = 0; i < p->n_compared; i++) {
		free(p->compared[i].name);
		free(p->compared[i].value);
	}
	free(p->compared);
	big_free(p->of_class);
	inspect_shared_fields_close(p->shared);
	sql_columns_release(&p->columns);
	text_release(&p->sql);
}

int sql_where(struct sql *q, const char *expression, uint32_t *ids, size_t *n, struct progress *progress,
    struct err *err)
{
	struct predicate p = {.q = q, .ids = ids, .n = *n, .sql = TEXT_INIT};
	struct sql outer;
	int code = begin(&p, progress, &outer, err);
	if (code)
		return code;
	code = sample_classes(&p, err);
	if (!code)
		code = inspect_shared_fields(&p.shared, q->heap, p.of_class, p.n_classes, err);
	if (code == ERR_UNSUPPORTED)
		code = 0;
	if (!code)
		code = write(&p, expression, err);
	if (!code && sql_add_objects_of(q, p.table, ids, *n))
		code = sql_error(q, SQLITE_ERROR, err);
	if (!code)
		code = choose(&p, ids, n, err);
	end(&p, &outer);
	return code;
}

struct chosen {
	uint32_t *rows; /* numbers from 1 on, ascending */
	size_t n, at;
};

static bool is_chosen(struct result *r, size_t row, void *chosen)
{
	struct chosen *c = chosen;
	(void)r;
	bool is = c->at < c->n && c->rows[c->at] == row + 1;
	c->at += is;
	return is;
}

/* What rows retain, where the condition asks for it. */
static int find_late(struct predicate *p, struct result *r, struct err *err)
{
	if (!p->retained || r->opened != p->q->opened)
		return 0;
	if (!opened_retained(r->opened) && sql_need_retained_whole(p->q))
		return sql_error(p->q, SQLITE_ERROR, err);
	if (!result_is_late(r))
		return 0;
	int code = result_find_late(r, p->q->progress, err);
	result_take_late(r, code);
	return code;
}

int sql_keep_rows(struct sql *q, struct result *r, const char *condition, struct progress *progress, struct err *err)
{
	struct predicate p = {.q = q, .rows = r, .columns = {.sql = TEXT_INIT}, .sql = TEXT_INIT};
	struct chosen chosen = {.n = r->n_rows};
	struct sql outer;
	if (!r->n_columns)
		return err_set(err, ERR_USAGE, "there are no rows to choose from");
	int code = begin(&p, progress, &outer, err);
	if (code)
		return code;
	sql_result_columns(r, &p.columns);
	code = write(&p, condition, err);
	if (!code)
		code = find_late(&p, r, err);
	if (!code && sql_add_rows_of(q, p.table, r))
		code = sql_error(q, SQLITE_ERROR, err);
	if (!code && !(chosen.rows = big_alloc(r->n_rows, sizeof *chosen.rows, err)))
		code = ERR_NOMEM;
	if (!code)
		code = choose(&p, chosen.rows, &chosen.n, err);
	bool inexact = q->doubt.certainty != EXACT;
	end(&p, &outer);
	if (!code)
		code = result_filter(r, is_chosen, &chosen, err);
	if (!code && inexact)
		result_add_note(r, "some numbers of the condition are not exact, so rows may be missing or too many");
	big_free(chosen.rows);
	return code;
}

#endif
