/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask_complete.c - what may stand at the end of a question: behind FROM, JOIN and -schema tables, classes and commands,
 * between single quotes classes, anywhere else the columns of the tables that the question names, functions, and the
 * words of SQL.  Small letters and capitals are the same, but in names of classes.
 */
#include "command/query/query.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "command/query/ask_tables.h"
#include "command/commands.h"
#include "heap/classes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct offers {
	const struct session *s;
	const char *word; /* of the line; what is offered stands for all of it */
	size_t kept;      /* bytes of it that stay as they are: "o." of "o.sha" */
	command_offer *offer;
	void *context;
};

/* Words begin behind blanks; a quote holds them together. */
static const char *last_word(const char *typed)
{
	const char *word = typed, *end = typed + strlen(typed);
	struct sql_token t;
	while (sql_next(&typed, end, &t))
		word = t.apart ? t.s : word;
	return t.apart ? t.s : word;
}

static void offer_name(const struct offers *o, const char *name, const char *behind)
{
	struct text t = TEXT_INIT;
	text_add_n(&t, o->word, o->kept);
	text_addf(&t, "%s%s", name, behind);
	if (!strncasecmp(t.s, o->word, strlen(o->word)))
		o->offer(o->context, t.s);
	text_release(&t);
}

/* --- tables ------------------------------------------------------------------------------------- */

/* Classes that begin with what is typed, or whose last part does, between quotes, which a name's own are not. */
static void offer_classes(const struct offers *o, const char *typed, char quote)
{
	const struct heap *h = session_heap(o->s);
	struct text name = TEXT_INIT;
	for (uint32_t i = 0; h && *typed && i < h->n_classes && !progress_own_stops(i); i++) {
		const char *class = h->classes[i].name, *dot = strrchr(class, '.');
		if (!h->classes[i].n_objects || strpbrk(class, "\"'\\") ||
		    (strncmp(class, typed, strlen(typed)) && (!dot || strncmp(dot + 1, typed, strlen(typed)))))
			continue;
		text_clear(&name);
		text_add_n(&name, o->word, o->kept);
		text_addf(&name, "%c%s%c", quote, class, quote);
		o->offer(o->context, name.s);
	}
	text_release(&name);
}

/* The connection of the current dump, if anybody asked it already: before that it has no tables of one's own. */
static struct sql *opened(const struct offers *o)
{
	const struct session_dump *d = session_at_hand(o->s);
	return d ? d->sql : NULL;
}

static void offer_own_table(void *offers, const struct sql_own *own)
{
	const struct offers *o = offers;
	struct text quoted = TEXT_INIT;
	if (!strpbrk(own->name, "\"'\\")) {
		text_addf(&quoted, sql_is_plain(own->name) ? "%s" : "\"%s\"", own->name);
		offer_name(o, quoted.s, "");
	}
	text_release(&quoted);
}

static void offer_own_tables(const struct offers *o)
{
	struct err none = ERR_INIT;
	if (opened(o))
		(void)!sql_each_own(opened(o), offer_own_table, (void *)(uintptr_t)o, &none);
}

/* A command's name that SQL needs in quotes, if it begins with what is typed behind them. */
static void offer_quoted(const struct offers *o, const char *name, const char *typed)
{
	struct text t = TEXT_INIT;
	text_add_n(&t, o->word, o->kept);
	text_addf(&t, "\"%s\"", name);
	if (!strncmp(name, typed, strlen(typed)))
		o->offer(o->context, t.s);
	text_release(&t);
}

static void offer_tables(const struct offers *o)
{
	bool quoted = *o->word == '"';
	for (const struct sql_table *t = sql_tables; !quoted && t->name; t++)
		offer_name(o, t->name, *t->argument ? "(" : "");
	for (const struct ask_table *t = ask_tables; !quoted && t->name; t++)
		offer_name(o, t->name, "");
	const struct sql_view *view;
	for (size_t i = 0; !quoted && (view = ask_view(o->s, i)); i++)
		offer_name(o, view->name, "");
	offer_own_tables(o);
	for (const struct command *const *c = commands; *c; c++) {
		const char *name = (*c)->name;
		if (!ask_is_table(o->s, *c) || sql_table_called(name) || (quoted && sql_is_plain(name)))
			continue;
		if (!sql_is_plain(name))
			offer_quoted(o, name, o->word + quoted);
		else
			offer_name(o, name, "");
	}
	offer_classes(o, o->word + quoted, '"');
}

/* --- columns ------------------------------------------------------------------------------------ */

/* A name that is no word of SQL stands in double quotes. */
static void offer_column(void *offers, const char *name)
{
	const struct offers *o = offers;
	struct text quoted = TEXT_INIT;
	if (strpbrk(name, "\"\\"))
		return;
	text_addf(&quoted, sql_is_plain(name) ? "%s" : "\"%s\"", name);
	offer_name(o, quoted.s, "");
	text_release(&quoted);
}

/* The class of this name, or the only one whose last part it is; HEAP_NONE. */
static uint32_t class_called(const struct heap *h, const char *name)
{
	uint32_t last = HEAP_NONE;
	for (uint32_t i = 0; h && i < h->n_classes; i++) {
		const char *class = h->classes[i].name, *dot = strrchr(class, '.');
		if (!strcmp(class, name))
			return i;
		if (dot && !strcmp(dot + 1, name))
			last = last == HEAP_NONE ? i : h->n_classes;
	}
	return last < (h ? h->n_classes : 0) ? last : HEAP_NONE;
}

static void offer_fields(const struct offers *o, uint32_t class)
{
	const struct heap *h = session_heap(o->s);
	struct shared_fields *fields = NULL;
	uint32_t id = 0;
	while (id < h->n_objects && heap_class_index(h, id) != class && !progress_own_stops(id))
		id++;
	if (id < h->n_objects && heap_class_index(h, id) == class && inspect_shared_fields(&fields, h, &id, 1, NULL))
		fields = NULL;
	sql_class_columns(fields, offer_column, (void *)(uintptr_t)o);
	inspect_shared_fields_close(fields);
}

static void offer_shape(const struct offers *o, const struct shape *shape)
{
	for (unsigned i = 0; i < shape->n_columns; i++)
		offer_column((void *)(uintptr_t)o, column_word(&shape->columns[i]));
}

static void offer_columns_of(const struct offers *o, const char *table)
{
	const struct sql_table *t = sql_table_called(table);
	const struct ask_table *a = ask_table_called(table);
	uint32_t class = t || a ? HEAP_NONE : class_called(session_heap(o->s), table);
	enum column_id columns[COL_COUNT_OF_ALL];
	struct err err = ERR_INIT;
	char *first = xstrndup(table, strcspn(table, " \t"));
	const struct command *c = t || a || class != HEAP_NONE || !*first ? NULL : command_find(first, &err);
	for (const struct sql_column *at = t ? t->columns : NULL; at && !sql_columns_end(at); at++)
		offer_column((void *)(uintptr_t)o, sql_column_name(at));
	if (a)
		offer_shape(o, ask_table_shape(a));
	if (class != HEAP_NONE)
		offer_fields(o, class);
	unsigned n = c ? command_columns(c, false, columns) : 0;
	for (unsigned i = 0; i < n; i++)
		offer_column((void *)(uintptr_t)o, column_kinds[columns[i]].word);
	free(first);
	if (opened(o))
		sql_own_table_columns(opened(o), table, offer_column, (void *)(uintptr_t)o);
}

/* --- which tables a question names -------------------------------------------------------------- */

struct tables {
	const struct offers *offers; /* NULL: nothing is offered */
	bool wanted; /* behind FROM, JOIN or a comma there */
	bool listed; /* a comma would be there */
	bool any;
	bool drops;  /* DROP was read */
	bool own;    /* and TABLE or VIEW behind it: one's own are wanted */
};

static void take_token(struct tables *t, const struct sql_token *k)
{
	static const char *const froms[] = {"from", "join", NULL}, *const made[] = {"table", "view", NULL};
	static const char *const if_exists[] = {"if", "exists", NULL};
	static const char *const ends[] = {"where", "on", "group", "order", "limit", "select", NULL};
	size_t n;
	const char *s = sql_token_contents(k, &n);
	if (sql_is_one_of(k, froms)) {
		t->wanted = true;
	} else if (sql_is_word(k, "drop")) {
		t->drops = true;
	} else if (t->drops && sql_is_one_of(k, made)) {
		t->own = true;
	} else if (t->own && !sql_is_one_of(k, if_exists)) {
		t->drops = t->own = false;
	} else if (t->wanted) {
		char *name = xstrndup(s, n);
		if (t->offers)
			offer_columns_of(t->offers, name);
		free(name);
		t->wanted = false;
		t->listed = t->any = true;
	} else if (sql_is_one_of(k, ends)) {
		t->listed = false;
	}
}

static void read_question(struct tables *t, const char *s, const char *end)
{
	struct sql_token k;
	while (sql_next(&s, end, &k)) {
		if (k.kind == TOKEN_WORD || k.kind == TOKEN_QUOTED)
			take_token(t, &k);
		else if (sql_is_sign(&k, ','))
			t->wanted = t->listed;
		else if (sql_is_sign(&k, '('))
			t->wanted = false;
	}
}

/* ------------------------------------------------------------------------------------------------ */

/* As the question is written so far: the same word with small letters or capitals. */
static void offer_words(const struct offers *o, bool small)
{
	static const char *const words[] = {"SELECT", "FROM", "WHERE", "GROUP", "BY", "ORDER", "DESC", "LIMIT", "JOIN",
	    "LEFT", "ON", "AND", "OR", "NOT", "IS", "NULL", "LIKE", "IN", "BETWEEN", "DISTINCT", "HAVING", "WITH",
	    "RECURSIVE", "UNION", "AS", "CASE", "WHEN", "THEN", "ELSE", "END", "EXISTS", "CREATE", "TEMP", "VIEW",
	    "TABLE", "DROP", "EXPLAIN", "QUERY", "PLAN"};
	char word[16];
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);
		for (size_t k = 0; k <= n && k < sizeof word; k++)
			word[k] = small ? (char)tolower((unsigned char)words[i][k]) : words[i][k];
		offer_name(o, word, "");
	}
}

/* Where an opened single quote stands in the word; NULL: in none. */
static const char *opened_text(const char *word)
{
	struct sql_token t;
	for (const char *end = word + strlen(word); sql_next(&word, end, &t);)
		if (t.kind == TOKEN_TEXT && t.open)
			return t.s;
	return NULL;
}

#define FUNCTION_NAME(name, n, usage, what) #name,
void ask_complete(const struct session *s, const char *typed, const char *behind, command_offer *offer, void *context)
{
	static const char *const functions[] = {SQL_FUNCTIONS(FUNCTION_NAME) "count", "sum", "min", "max", "avg"};
	struct offers o = {.s = s, .word = last_word(typed), .offer = offer, .context = context};
	struct tables before = {.offers = NULL}, named = {.offers = &o};
	const char *text = opened_text(o.word);
	read_question(&before, typed, o.word);
	if (before.own) {
		offer_own_tables(&o);
		return;
	}
	if (before.wanted || strstr(typed, " -schema ")) {
		offer_tables(&o);
		return;
	}
	for (size_t i = 0; o.word[i]; i++)
		if (strchr(".(,=<>", o.word[i]) && (!text || o.word + i < text))
			o.kept = i + 1;
	if (text) {
		o.kept = (size_t)(text - o.word);
		offer_classes(&o, text + 1, '\'');
		return;
	}
	read_question(&named, typed, o.word);
	named.wanted = named.listed = false;
	read_question(&named, behind, behind + strlen(behind));
	if (!named.any)
		offer_columns_of(&o, "objects");
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		offer_name(&o, functions[i], "(");
	const char *first = o.word + o.kept;
	if (!o.kept)
		offer_words(&o, *first ? islower((unsigned char)*first) : strstr(typed, "select") != NULL);
}
