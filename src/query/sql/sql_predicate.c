/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_predicate.c - an expression about single objects, by which listings are narrowed.
 *
 * The same expressions as in a statement, written as people write them: names are fields, "customer.address.city" is a
 * path of fields, and texts may stand between double quotes.  They are put into SQL's words here, and a name that no
 * object has is an error that names the nearest field.
 */
#include "query/sql/sql_private.h"

#ifdef HAVE_SQLITE3

#include "analysis/search.h"
#include "base/big.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_LOOKED = 1000, OBJECTS_LOOKED = 1000, NAME_MOST = 500, EDITS_MOST = 2 };

struct predicate {
	struct sql *q;
	const uint32_t *ids;
	size_t n;
	uint32_t *of_class;  /* an object of each class that there is; owned */
	size_t n_classes;
	struct text sql;
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

/* Has this object such a field?  Else *near gets the most similar name, if what it had was further off. */
static int look_for(const struct sql *q, uint32_t id, const char *name, bool *found, struct nearest *near,
    struct err *err)
{
	struct shared_fields *fields;
	struct shared_field f;
	int code = inspect_shared_fields(&fields, q->heap, &id, 1, err);
	if (code)
		return code == ERR_UNSUPPORTED ? 0 : code;
	for (size_t i = 0; !*found && i < fields->n; i++) {
		inspect_shared_field(fields, i, &f);
		*found = !strcmp(f.name, name);
		unsigned edits = strlen(f.name) < NAME_MOST ? edit_distance(name, f.name, near->edits) : near->edits;
		if (edits < near->edits) {
			near->edits = edits;
			snprintf(near->name, sizeof near->name, "%s", f.name);
		}
	}
	inspect_shared_fields_close(fields);
	return 0;
}

static int no_field(const char *name, const struct nearest *near, const char *of, struct err *err)
{
	return near->name[0] ?
	    err_set(err, ERR_USAGE, "no field of %s is called %.200s (nearest: %.100s)", of, name, near->name) :
	    err_set(err, ERR_USAGE, "no field of %s is called %.200s", of, name);
}

/* One class of objects of each: some of them need have the field, the others' is NULL. */
static int check_first(struct predicate *p, const char *name, struct err *err)
{
	struct nearest near = {.edits = EDITS_MOST + 1};
	bool found = false;
	int code = 0;
	for (size_t i = 0; !code && !found && i < p->n_classes; i++)
		code = look_for(p->q, p->of_class[i], name, &found, &near, err);
	return code || found ? code : no_field(name, &near, "these objects", err);
}

/* The object that the first steps of a path lead to; HEAP_NONE: to none. */
static uint32_t step_to(const struct sql *q, uint32_t id, const char *name)
{
	struct shared_fields *fields;
	struct shared_field f;
	struct fields_walk walk = {.id = HEAP_NONE};
	struct any_value v;
	uint32_t to = HEAP_NONE;
	if (inspect_shared_fields(&fields, q->heap, &id, 1, NULL))
		return HEAP_NONE;
	for (size_t i = 0; i < fields->n; i++) {
		inspect_shared_field(fields, i, &f);
		if (strcmp(f.name, name))
			continue;
		if (inspect_shared_value(fields, &walk, id, i, &v))
			to = inspect_target(&v).id;
		break;
	}
	inspect_shared_fields_close(fields);
	return to;
}

/* Do the steps behind the first one name fields?  That depends on what objects lead to, so a few are followed: it is
 * an error if none of what they meet has the field. */
static int check_path(struct predicate *p, char *path, struct err *err)
{
	char *dot = strchr(path, '.');
	if (dot && !check_first(p, path, err)) /* one name, with dots in it */
		return 0;
	if (dot)
		*dot = '\0';
	int code = is_own(path) && !dot ? 0 : check_first(p, path, err);
	size_t n = p->n < OBJECTS_LOOKED ? p->n : OBJECTS_LOOKED;
	uint32_t *at = !code && dot ? big_alloc(n, sizeof *at, err) : NULL;
	if (at)
		memcpy(at, p->ids, n * sizeof *at);
	for (char *step = path; !code && dot && at;) {
		struct nearest near = {.edits = EDITS_MOST + 1};
		bool found = false, any = false;
		for (size_t i = 0; i < n; i++)
			at[i] = at[i] == HEAP_NONE ? HEAP_NONE : step_to(p->q, at[i], step);
		step = dot + 1;
		*dot = '.';
		if ((dot = strchr(step, '.')))
			*dot = '\0';
		for (size_t i = 0; !code && !found && i < n; i++) {
			if (at[i] == HEAP_NONE)
				continue;
			any = true;
			code = look_for(p->q, at[i], step, &found, &near, err);
		}
		if (!code && any && !found)
			code = no_field(step, &near, "what is there", err);
	}
	if (dot)
		*dot = '.';
	big_free(at);
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
	return *s ? 0 : err_set(err, ERR_USAGE, "a quote is not closed: %.100s", *at);
}

static int add_name(struct predicate *p, const char **at, struct err *err)
{
	const char *s = *at, *end = s, *behind;
	while (in_name((unsigned char)*end) || (*end == '.' && begins_name((unsigned char)end[1])))
		end++;
	char *name = xstrndup(s, (size_t)(end - s));
	int code = 0;
	for (behind = end; *behind == ' '; behind++)
		;
	bool path = strchr(name, '.') != NULL;
	if (!path && (*behind == '(' || is_operator(name)))
		text_add(&p->sql, name);
	else if (!path && is_own(name))
		text_addf(&p->sql, "\"%s\"", name);
	else if (!(code = check_path(p, name, err)))
		text_addf(&p->sql, "field(address, '%s')", name);
	*at = end;
	free(name);
	return code;
}

static int translate(struct predicate *p, const char *s, struct err *err)
{
	int code = 0;
	while (!code && *s) {
		if (*s == '\'' || *s == '"') {
			code = add_text(p, &s, err);
		} else if (begins_name((unsigned char)*s)) {
			code = add_name(p, &s, err);
		} else if (*s >= '0' && *s <= '9') {
			for (; in_name((unsigned char)*s) || *s == '.'; s++)
				text_add_char(&p->sql, *s);
		} else if (*s == ';' || (*s == '-' && s[1] == '-') || (*s == '/' && s[1] == '*')) {
			code = err_set(err, ERR_USAGE, "%.40s: that is no part of an expression", s);
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

int sql_where(struct sql *q, const char *expression, uint32_t *ids, size_t *n, struct progress *progress,
    struct err *err)
{
	struct predicate p = {.q = q, .ids = ids, .n = *n, .sql = TEXT_INIT};
	struct sql outer;
	char table[32];
	int code = sql_begin(q, &(struct sql_wishes){.subclasses = false}, progress, &outer, err);
	if (code)
		return code;
	snprintf(table, sizeof table, "these objects %u", q->depth);
	text_addf(&p.sql, "SELECT _rowid_ FROM \"%s\" WHERE (", table);
	code = sample_classes(&p, err);
	if (!code)
		code = translate(&p, expression, err);
	text_add(&p.sql, ")");
	if (!code && sql_add_objects_of(q, table, ids, *n))
		code = sql_error(q, SQLITE_ERROR, err);
	if (!code)
		code = sql_keep_ids(q, p.sql.s, ids, n, err);
	sql_end(q, &outer);
	big_free(p.of_class);
	text_release(&p.sql);
	return code;
}

#endif
