/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.c - see query.h. */
#include "command/query/query.h"

#include "analysis/search.h"
#include "command/args/args.h"
#include "command/commands.h"
#include "command/exec/exec.h"
#include "command/query/ask_tables.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

static int find_sizes(void *session, const struct retained **out, struct err *err)
{
	const struct session *s = session;
	int code = session_find(s, FIND_SIZES, err);
	*out = opened_sizes(s->dump);
	return code;
}

static int find_all_sizes(void *session, struct err *err)
{
	return session_find(session, FIND_RETAINED, err);
}

/* "0xe0001550": the class whose object is there; HEAP_NONE: it is no such address. */
static uint32_t class_at(const struct heap *h, const char *word)
{
	char *end;
	uint64_t address = !strncmp(word, "0x", 2) ? strtoull(word, &end, 16) : 0;
	uint32_t id = address && !*end ? heap_find(h, address) : HEAP_NONE;
	return id == HEAP_NONE ? HEAP_NONE : heap_class_mirrored(h, id);
}

static int classes_named(const struct heap *h, const char *name, uint32_t one, uint32_t **classes, size_t *n,
    struct err *err)
{
	size_t cap = 0;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (i != one && (one != HEAP_NONE || strcmp(h->classes[i].name, name)))
			continue;
		uint32_t *at = BIG_PUSH(*classes, *n, cap, err);
		if (!at)
			return ERR_NOMEM;
		*at = i;
	}
	return 0;
}

/* By the whole name.  "class NAME" is a class whatever else is called so, "class 0xADDRESS" one of several of
 * a name. */
static int exact_classes(const struct heap *h, const char *name, uint32_t **classes, size_t *n, struct err *err)
{
	static const char class[] = "class ";
	const char *said = strncmp(name, class, sizeof class - 1) ? NULL : name + sizeof class - 1;
	int code = said ? classes_named(h, said, class_at(h, said), classes, n, err) : 0;
	return code || *n ? code : classes_named(h, name, HEAP_NONE, classes, n, err);
}

static const struct sql_view *find_view(void *session, const char *name)
{
	return ask_view_named(session, name);
}

/* Is its first word a command's whole name, or an earlier one? */
static bool is_command(const char *line)
{
	size_t n = strcspn(line, " \t");
	for (const struct command *const *c = commands; *c; c++)
		if (strlen((*c)->name) == n && !strncmp((*c)->name, line, n))
			return true;
	for (const struct alias *a = alias_list(); a->word; a++)
		if (alias_is_earlier(a) && strlen(a->word) == n && !strncmp(a->word, line, n))
			return true;
	return false;
}

/* What a word of another tool means, where that is a command that needs no more words; else the word. */
static const char *alias_table(const char *name)
{
	const struct alias *alias = alias_named(name);
	const struct command *c = alias ? command_find(alias->means, NULL) : NULL;
	return c && (c->arguments[0].kind == ARG_END || c->arguments[0].optional) ? alias->means : name;
}

/* A class by its whole name, then a command line, then the last part of a name that only one class has. */
static int find_table(void *session, const char *name, uint32_t **classes, size_t *n, struct result **rows,
    struct err *err)
{
	struct session *s = session;
	struct err none = ERR_INIT;
	*classes = NULL;
	*n = 0;
	*rows = NULL;
	if (!s->dump)
		return is_command(name) ? session_ask_line(s, name, rows, err) : session_no_dump(s, err);
	int code = exact_classes(session_heap(s), name, classes, n, err);
	if (code || *n)
		return code;
	const struct ask_table *t = ask_table_called(name);
	if (t && t->make) {
		*rows = t->make(s);
		return result_check(*rows, err);
	}
	name = t ? t->command->name : alias_table(name);
	if (is_command(name))
		return session_ask_line(s, name, rows, err);
	if (strpbrk(name, "*?[/ \t%$#&+()"))
		return 0;
	code = value_classes(s, name, classes, n, &none);
	if (code) {
		*classes = NULL;
		*n = 0;
	}
	if (code == ERR_NOMEM || code == ERR_CANCELLED)
		*err = none;
	return code == ERR_NOMEM || code == ERR_CANCELLED ? code : 0;
}

/* The nearer of two names to one. */
static void look_at(const char *name, const char *candidate, const char **nearest, unsigned *edits)
{
	unsigned n = edit_distance(name, candidate, *edits);
	if (n < *edits) {
		*edits = n;
		*nearest = candidate;
	}
}

static void near_names(void *session, const char *name, struct text *to)
{
	enum { EDITS_MOST = 1 };
	const char *nearest = NULL, *advice;
	uint32_t *classes = NULL;
	size_t n, length, view_at = 0;
	unsigned edits = strlen(name) / 2 < EDITS_MOST ? (unsigned)strlen(name) / 2 + 1 : EDITS_MOST + 1;
	struct err err = ERR_INIT;
	if (!((struct session *)session)->dump)
		return;
	for (const struct sql_table *t = sql_tables; t->name; t++)
		look_at(name, t->name, &nearest, &edits);
	for (const struct ask_table *t = ask_tables; t->name; t++)
		look_at(name, t->name, &nearest, &edits);
	for (const struct sql_view *view; (view = ask_view(session, view_at)); view_at++)
		look_at(name, view->name, &nearest, &edits);
	for (const struct command *const *c = commands; *c; c++)
		if (!((*c)->flags & COMMAND_NO_DUMP))
			look_at(name, (*c)->name, &nearest, &edits);
	if (nearest)
		text_addf(to, "nearest: %s", nearest);
	else if (!*name)
		return;
	else if (!value_classes(session, name, &classes, &n, &err)) /* else it says what is called nearly so */
		big_free(classes);
	else if ((advice = err_advice(&err, &length)))
		text_add_n(to, advice, length);
}

int ask_open(struct session *s, struct sql **out, struct err *err)
{
	struct sql_source source = {.context = s, .view = find_view, .retained = find_sizes,
	    .retained_whole = find_all_sizes, .table = find_table, .nearest = near_names};
	struct session_dump *d = session_at_hand(s);
	struct sql **q = d ? &d->sql : &s->sql;
	int code = *q ? 0 : sql_open(q, s->dump, &source, err);
	*out = *q;
	return code;
}

static bool is_own_table(const char *name)
{
	return !strcmp(name, "objects") || !strcmp(name, "refs") || !strcmp(name, "statics") || !strcmp(name, "globals");
}

int ask_rows(struct session *s, const char *name, struct result **out, struct err *err)
{
	uint32_t *classes = NULL;
	struct sql *q;
	size_t n;
	*out = NULL;
	/* these are tables, whatever else is called so */
	if (!is_own_table(name) && !ask_view_named(s, name)) {
		int code = find_table(s, name, &classes, &n, out, err);
		big_free(classes);
		if (code || *out)
			return code;
	}
	int code = ask_open(s, &q, err);
	return code ? code : sql_rows(q, name, s->now, out, err);
}

int query_keep_rows(struct session *s, struct result *r, const char *condition, struct err *err)
{
	struct sql *q;
	int code = ask_open(s, &q, err);
	return code ? code : sql_keep_rows(q, r, condition, s->now, err);
}

int ask_where(struct session *s, const struct call *call, uint32_t *ids, size_t *n, struct err *err)
{
	struct sql *q;
	if (!call_has(call, DASH_WHERE))
		return 0;
	int code = ask_open(s, &q, err);
	return code ? code : sql_where(q, call->option[call_option(call, DASH_WHERE)].word, ids, n, s->now, err);
}

int ask_where_marked(struct session *s, const struct call *call, struct bits *objects, struct err *err)
{
	uint32_t *ids;
	size_t n;
	if (!call_has(call, DASH_WHERE))
		return 0;
	int code = ids_of_bits(objects, &ids, &n, err);
	if (code)
		return code;
	code = ask_where(s, call, ids, &n, err);
	bits_clear(objects);
	for (size_t i = 0; !code && i < n; i++)
		bits_set(objects, ids[i]);
	big_free(ids);
	return code;
}

static bool is_kept(struct result *r, size_t row, void *objects)
{
	struct target t;
	result_target(r, row, &t);
	return t.kind == TARGET_OBJECT && bits_get(objects, t.id);
}

int ask_where_rows(struct session *s, const struct call *call, struct result *r, struct err *err)
{
	struct bits objects;
	struct target t;
	if (!call_has(call, DASH_WHERE))
		return 0;
	int code = bits_init(&objects, session_heap(s)->n_objects, err);
	for (size_t row = 0; !code && row < r->n_rows && !progress_own_stops(row); row++) {
		result_target(r, row, &t);
		if (t.kind == TARGET_OBJECT)
			bits_set(&objects, t.id);
	}
	if (!code)
		code = ask_where_marked(s, call, &objects, err);
	if (!code)
		code = result_filter(r, is_kept, &objects, err);
	bits_release(&objects);
	return code;
}
