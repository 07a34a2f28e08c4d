/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_predicate.c - conditions about single objects, or about the rows of a result, by which these are narrowed.
 *
 * The same expressions as in a statement, written as people write them: texts may be between double quotes, names are
 * fields of the objects, "customer.address.city" is a path of fields, or names are columns of the result.  They are
 * put into SQL's words here.  An unknown name is an error with the nearest one.
 */
#include "heap/classes.h"
#include "query/sql/sql_private.h"

#include "base/mem.h"
#include "memory/big.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_LOOKED = 1000, OBJECTS_LOOKED = 1000 };

struct predicate {
	struct sql *q;
	char table[32];
	const struct result *rows; /* NULL: it is about objects */
	struct sql_columns columns; /* of these rows */
	const uint32_t *ids; /* the objects */
	size_t n;
	uint32_t *of_class;  /* an object of each class that there is; owned */
	size_t n_classes;
	struct shared_fields *shared; /* of these; owned */
	struct text sql;
	struct sql_compared *compared; /* owned */
	size_t n_compared, cap_compared;
	bool named;          /* the current token is a field or a column */
};

/* --- words -------------------------------------------------------------------------------------- */

static bool is_own(const char *name)
{
	for (size_t i = 0; i < C_FIELDS; i++)
		if (!sqlite3_stricmp(sql_column_name(&sql_own_columns[i]), name))
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

/* The names of this object's fields, unless it has the one that is looked for. */
static int look_for(struct sql *q, uint32_t id, struct sql_nearest *near, struct err *err)
{
	struct err none = ERR_INIT;
	bool found = sql_has_field(q, id, near->to, &none);
	int code = none.code || found ? none.code : sql_each_field(q, id, sql_look_at_name, near, &none);
	if (code && code != ERR_UNSUPPORTED)
		*err = none;
	return code == ERR_UNSUPPORTED ? 0 : code;
}

/* A word that is not near a field may have been meant as a text. */
static int no_field(const struct sql_nearest *near, const char *of, struct err *err)
{
	const char *name = near->to;
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
	struct any_value v;
	struct err none = ERR_INIT;
	size_t n = p->n < OBJECTS_LOOKED ? p->n : OBJECTS_LOOKED;
	for (size_t i = 0; !path->led && !none.code && i < p->n_classes + n; i++)
		sql_path_walk(path, i < p->n_classes ? p->of_class[i] : p->ids[i - p->n_classes], &v, &none);
	int code = none.code;
	if (code)
		*err = none;
	if (!code && sql_path_is_missed(path)) {
		char *step = xstrdup(words + path->missed_at);
		step[strcspn(step, ".")] = '\0';
		struct sql_nearest near = {.to = step, .edits = SQL_EDITS_MOST + 1};
		for (size_t i = 0; !code && !path->missed_at && i < p->n_classes; i++)
			code = look_for(p->q, p->of_class[i], &near, err);
		if (!code && path->missed_at)
			code = look_for(p->q, path->missed_id, &near, err);
		if (!code)
			code = no_field(&near, path->missed_at ? "the object there" : "these objects", err);
		free(step);
	}
	sql_path_free(path);
	return code;
}

/* --- names -------------------------------------------------------------------------------------- */

/* Of the columns that all objects have a field of the same name takes the place, if each class of these has one, as in
 * the table of a class; "object_id" is the column then.  A text's or a number's value is what is in it. */
static bool is_field_of_all(struct predicate *p, const char *name)
{
	const struct heap *h = p->q->heap;
	bool all = p->n_classes > 0 && sqlite3_stricmp(name, "address") != 0;
	for (size_t i = 0; all && i < p->n_classes; i++)
		all = sql_has_field(p->q, p->of_class[i], name, NULL) &&
		    !(!sqlite3_stricmp(name, "value") && describe_is_value(h, heap_class_index(h, p->of_class[i])));
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
	struct sql_nearest near = {.to = name, .edits = SQL_EDITS_MOST + 1};
	struct text list = TEXT_INIT;
	unsigned n = p->rows->n_columns;
	for (size_t i = 0; i < p->columns.n; i++)
		sql_look_at_name(&near, p->columns.name[i]);
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

/* A word, or a path of words and dots. */
static int add_name(struct predicate *p, const char *name, bool call, struct err *err)
{
	static const char object[] = "object_";
	bool path = strchr(name, '.') != NULL;
	bool said = !strncmp(name, object, sizeof object - 1) && is_own(name + sizeof object - 1);
	p->named = !path && !is_operator(name) && !call;
	if (p->rows)
		return add_word_of_rows(p, name, call, err);
	if (!path && (call || is_operator(name)))
		text_add(&p->sql, name);
	else if (!path && said)
		text_addf(&p->sql, "\"%s\"", name + sizeof object - 1);
	else if (!path && !sqlite3_stricmp(name, "value") && p->q->silent.code)
		return err_set(err, p->q->silent.code, "%s", p->q->silent.message);
	else if (!path && is_own(name) && !is_field_of_all(p, name))
		text_addf(&p->sql, "\"%s\"", name);
	else if (values_away(p->q->heap)) /* what is unknown of all is no answer to which */
		return err_set(err, p->q->silent.code, "%s", p->q->silent.message);
	else
		return add_field(p, name, err);
	return 0;
}

/* --- tokens ------------------------------------------------------------------------------------- */

static bool is_text(const struct sql_token *t)
{
	return t->kind == TOKEN_TEXT || (t->kind == TOKEN_QUOTED && *t->s == '"');
}

static bool is_arithmetic(const struct sql_token *t)
{
	return t->kind == TOKEN_SIGN && strchr("+-*/%|&~", *t->s);
}

static enum sql_literal literal_at(const struct sql_token *t)
{
	if (is_text(t))
		return t->n > 1 && t->s[1] >= '0' && t->s[1] <= '9' ? LITERAL_DIGITS : LITERAL_TEXT;
	while (sql_is_sign(t, '+') || sql_is_sign(t, '-') || sql_is_sign(t, '.'))
		t++;
	return t->kind == TOKEN_NUMBER ? LITERAL_NUMBER : NO_LITERAL;
}

/* What a name before these tokens is compared with: "> 30", "in ('a', 'b')". */
static enum sql_literal literal_behind(const struct sql_token *t)
{
	if (t->kind == TOKEN_COMPARISON)
		return literal_at(t + 1);
	t += sql_is_word(t, "not");
	if (sql_is_word(t, "between"))
		return literal_at(t + 1);
	return sql_is_word(t, "in") && sql_is_sign(t + 1, '(') ? literal_at(t + 2) : NO_LITERAL;
}

/* The name from token a to before b, which is in sql from this byte on: with what is it compared? */
static void note_compared(struct predicate *p, size_t from, const struct sql_token *a, const struct sql_token *b)
{
	const struct sql_token *left = a - 1;
	enum sql_literal with = is_arithmetic(left) ? NO_LITERAL : literal_behind(b);
	if (!with && left->kind == TOKEN_COMPARISON && !is_arithmetic(b))
		with = literal_at(left - 1);
	if (with)
		VEC_PUSH(p->compared, p->n_compared, p->cap_compared) = (struct sql_compared){.literal = with,
		    .name = xstrndup(a->s, (size_t)(b[-1].s + b[-1].n - a->s)),
		    .value = xstrndup(p->sql.s + from, p->sql.len - from)};
}

/* A text between quotes of either kind, as SQL writes it. */
static void add_text(struct predicate *p, const struct sql_token *t)
{
	size_t n;
	const char *s = sql_token_contents(t, &n);
	text_add_char(&p->sql, '\'');
	for (size_t i = 0; i < n; i++) {
		i += s[i] == *t->s; /* it is written twice */
		text_add(&p->sql, s[i] == '\'' ? "''" : "");
		if (s[i] != '\'')
			text_add_char(&p->sql, s[i]);
	}
	text_add_char(&p->sql, '\'');
}

/* Is it the column of a share, in percent? */
static bool is_in_percent(const struct predicate *p, const struct sql_token *t)
{
	char *name = xstrndup(t->s, t->n);
	int column = p->rows && t->kind == TOKEN_WORD ? column_find(p->rows->columns, p->rows->n_columns, name) : -1;
	free(name);
	return column >= 0 && column_type(&p->rows->columns[column]) == CELL_PERCENT;
}

/* "share > 30%", "30% < share", "share between 5% and 10%": the sign says what the column means anyway.  Elsewhere it
 * is the remainder of a division, or an error. */
static bool is_sign_of_percent(const struct predicate *p, const struct sql_token *t)
{
	const struct sql_token *name = t + 2;
	if (t->kind != TOKEN_NUMBER || !sql_is_sign(t + 1, '%') || t[1].apart)
		return false;
	if (name->kind == TOKEN_COMPARISON)
		return is_in_percent(p, name + 1);
	if (name->kind != TOKEN_END && !sql_is_sign(name, ')') && !sql_is_sign(name, ',') && !sql_is_word(name, "and") &&
	    !sql_is_word(name, "or"))
		return false;
	for (name = t - 1; name->kind == TOKEN_COMPARISON || name->kind == TOKEN_NUMBER || sql_is_sign(name, '%') ||
	    sql_is_sign(name, '(') || sql_is_sign(name, ',') || sql_is_sign(name, '-') || sql_is_word(name, "between") ||
	    sql_is_word(name, "in") || sql_is_word(name, "and") || sql_is_word(name, "not");)
		name--;
	return is_in_percent(p, name);
}

static int not_allowed(const char *s, struct err *err)
{
	return err_set(err, ERR_USAGE, "\"%.40s\" is not allowed in an expression", s);
}

/* The tokens that belong together from *at on, which is behind them afterwards. */
static int add_token(struct predicate *p, const struct sql_token **at, struct err *err)
{
	const struct sql_token *t = *at, *end = t + 1;
	size_t from = p->sql.len, n;
	const char *inside = sql_token_contents(t, &n);
	bool word = t->kind == TOKEN_WORD, back = t->kind == TOKEN_QUOTED && *t->s == '`';
	int code = 0;
	while (word && sql_is_sign(end, '.') && !end->apart && end[1].kind == TOKEN_WORD && !end[1].apart)
		end += 2;
	char *name = word ? xstrndup(t->s, (size_t)(end[-1].s + end[-1].n - t->s)) : xstrndup(inside, n);
	p->named = false;
	if (back && (t->open || !n))
		code = err_set(err, ERR_USAGE, "unclosed or empty name in backquotes: %.100s", t->s);
	else if (t->open)
		code = err_set(err, ERR_USAGE, "unclosed quote: %.100s", t->s + t->n);
	else if (back) /* any name, or a path with such in it: `group`, `customer.a b`, `items[3]` */
		code = p->rows ? add_column(p, name, err) : add_field(p, name, err);
	else if (word)
		code = add_name(p, name, sql_is_sign(end, '('), err);
	else if (is_text(t))
		add_text(p, t);
	else if (sql_is_sign(t, ';'))
		code = not_allowed(t->s, err);
	else
		text_add_n(&p->sql, t->s, t->n);
	if (!code && p->named)
		note_compared(p, from, t, end);
	end += is_sign_of_percent(p, t);
	free(name);
	*at = end;
	return code;
}

/* Of comments, and of a parenthesis too many, which would end the condition. */
static int check_tokens(const struct sql_tokens *t, struct err *err)
{
	size_t depth = 0;
	for (size_t i = 1; i < t->n; i++) {
		const struct sql_token *k = &t->token[i];
		const char *between = k[-1].s + k[-1].n;
		between += strspn(between, " \t\n\f\r");
		if (between < k->s || (sql_is_sign(k, ')') && !depth))
			return not_allowed(between, err);
		depth += sql_is_sign(k, '(');
		depth -= sql_is_sign(k, ')');
	}
	return 0;
}

static int translate(struct predicate *p, const char *s, struct err *err)
{
	struct sql_tokens t;
	sql_tokens_read(&t, s, s + strlen(s));
	int code = check_tokens(&t, err);
	if (!code)
		sql_null_as_java(&t);
	for (const struct sql_token *k = t.token + 1; !code && k->kind != TOKEN_END;) {
		if (k->apart)
			text_add_char(&p->sql, ' ');
		code = add_token(p, &k, err);
	}
	sql_tokens_release(&t);
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
		if (bits_get(&seen, heap_class_index(h, p->ids[i])))
			continue;
		bits_set(&seen, heap_class_index(h, p->ids[i]));
		p->of_class[p->n_classes++] = p->ids[i];
	}
	bits_release(&seen);
	return code;
}

static int begin(struct predicate *p, struct progress *progress, struct sql_now *outer, struct err *err)
{
	return sql_begin(p->q, &(struct sql_wishes){.subclasses = false}, progress, outer, err);
}

/* Put the expression into SQL. */
static int write(struct predicate *p, const char *expression, struct err *err)
{
	snprintf(p->table, sizeof p->table, "these %s %u", p->rows ? "rows" : "objects", p->q->now.depth);
	text_addf(&p->sql, "SELECT _rowid_ FROM \"%s\" WHERE (", p->table);
	int code = translate(p, expression, err);
	text_add(&p->sql, ")");
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

static void end(struct predicate *p, const struct sql_now *outer)
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
	struct sql_now outer;
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

int sql_keep_rows(struct sql *q, struct result *r, const char *condition, struct progress *progress, struct err *err)
{
	struct predicate p = {.q = q, .rows = r, .columns = {.sql = TEXT_INIT}, .sql = TEXT_INIT};
	struct chosen chosen = {.n = r->n_rows};
	struct sql_now outer;
	if (!r->n_columns)
		return err_set(err, ERR_USAGE, "there are no rows to choose from");
	int code = begin(&p, progress, &outer, err);
	if (code)
		return code;
	sql_result_columns(r, &p.columns);
	code = write(&p, condition, err);
	if (!code && sql_add_rows_of(q, p.table, r))
		code = sql_error(q, SQLITE_ERROR, err);
	if (!code && !(chosen.rows = big_alloc(r->n_rows, sizeof *chosen.rows, err)))
		code = ERR_NOMEM;
	if (!code)
		code = choose(&p, chosen.rows, &chosen.n, err);
	bool inexact = q->now.doubt.certainty != EXACT;
	end(&p, &outer);
	if (!code)
		code = result_filter(r, is_chosen, &chosen, err);
	if (!code && inexact)
		result_add_note(r, "some numbers of the condition are not exact, so rows may be missing or too many");
	big_free(chosen.rows);
	return code;
}
