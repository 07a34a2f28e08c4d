/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask_complete.c - what may stand at the end of a question: behind FROM and JOIN tables, classes and commands, anywhere
 * else the columns of the tables that the question names, functions, and the words of SQL.
 */
#include "command/ask/ask.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "command/commands.h"

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
	const char *word = typed;
	char quote = '\0';
	for (const char *s = typed; *s; s++) {
		if (quote)
			quote = *s == quote ? '\0' : quote;
		else if (*s == '"' || *s == '\'')
			quote = *s;
		else if (*s == ' ' || *s == '\t')
			word = s + 1;
	}
	return word;
}

static void offer_name(const struct offers *o, const char *name, const char *behind)
{
	struct text t = TEXT_INIT;
	text_add_n(&t, o->word, o->kept);
	text_addf(&t, "%s%s", name, behind);
	if (!strncmp(t.s, o->word, strlen(o->word)))
		o->offer(o->context, t.s);
	text_release(&t);
}

/* --- tables ------------------------------------------------------------------------------------- */

#define TABLE_NAME(name, columns, what) name,
const char *const ask_tables[] = {SQL_TABLES(TABLE_NAME) NULL};

static void offer_tables(const struct offers *o)
{
	const struct heap *h = session_heap(o->s);
	struct text name = TEXT_INIT;
	for (size_t i = 0; *o->word != '"' && ask_tables[i]; i++) {
		text_clear(&name);
		text_add_n(&name, ask_tables[i], strcspn(ask_tables[i], "A")); /* entries( */
		offer_name(o, name.s, "");
	}
	const struct sql_view *view;
	for (size_t i = 0; *o->word != '"' && (view = ask_view(o->s, i)); i++)
		offer_name(o, view->name, "");
	for (const struct command *const *c = commands; *o->word != '"' && *c; c++)
		if ((*c)->shapes && !((*c)->flags & COMMAND_NO_DUMP) && strcmp((*c)->name, "sql"))
			offer_name(o, (*c)->name, "");
	const char *typed = o->word + (*o->word == '"');
	for (uint32_t i = 0; h && *typed && i < h->n_classes; i++) {
		const char *class = h->classes[i].name, *dot = strrchr(class, '.');
		if (!h->classes[i].n_objects || strpbrk(class, "\"'\\") ||
		    (strncmp(class, typed, strlen(typed)) && (!dot || strncmp(dot + 1, typed, strlen(typed)))))
			continue;
		text_clear(&name);
		text_addf(&name, "\"%s\"", class);
		o->offer(o->context, name.s);
	}
	text_release(&name);
}

/* --- columns ------------------------------------------------------------------------------------ */

static void offer_list(const struct offers *o, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ;:");
		char *one = xstrndup(words, n);
		if (n && words[n] != ':') /* "hidden:" */
			offer_name(o, one, "");
		free(one);
		words += n + strspn(words + n, " ;:");
	}
}

static void offer_fields(const struct offers *o, const char *class, size_t n)
{
	const struct heap *h = session_heap(o->s);
	struct shared_fields *fields;
	struct shared_field f;
	for (uint32_t id = 0; h && id < h->n_objects && !progress_own_stops(id); id++) {
		const char *name = heap_class_of(h, id)->name;
		if (strncmp(name, class, n) || name[n])
			continue;
		if (inspect_shared_fields(&fields, h, &id, 1, NULL))
			return;
		for (size_t i = 0; i < fields->n; i++) {
			inspect_shared_field(fields, i, &f);
			offer_name(o, f.name, "");
		}
		inspect_shared_fields_close(fields);
		return;
	}
}

/* Is the name a word of the question? */
static bool stands_in(const char *question, const char *name, size_t n)
{
	for (const char *s = question; (s = strstr(s, name)); s += n)
		if ((s == question || strchr(" \t,(\"", s[-1])) && (!s[n] || strchr(" \t,()\";", s[n])))
			return true;
	return false;
}

#define TABLE_COLUMNS(name, columns, what) columns,
static void offer_columns(const struct offers *o, const char *question)
{
	static const char *const columns[] = {SQL_TABLES(TABLE_COLUMNS)};
	for (size_t i = 0; ask_tables[i]; i++) {
		char *name = xstrndup(ask_tables[i], strcspn(ask_tables[i], "(A"));
		if (stands_in(question, name, strlen(name)))
			offer_list(o, strncmp(columns[i], "as ", 3) ? columns[i] : "class objects shallow retained");
		free(name);
	}
	for (const char *s = strchr(question, '"'); s && s[1]; s = strchr(s, '"')) {
		size_t n = strcspn(++s, "\"");
		if (!s[n])
			break;
		offer_list(o, "address class shallow retained value");
		offer_fields(o, s, n);
		s += n + 1;
	}
}

/* ------------------------------------------------------------------------------------------------ */

static bool is_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !strncasecmp(s, word, n);
}

/* Is a table wanted behind this: FROM, JOIN, or "FROM a,"? */
static bool wants_table(const char *typed, const char *word)
{
	const char *end = word;
	while (end > typed && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	const char *begin = end;
	while (begin > typed && begin[-1] != ' ' && begin[-1] != '\t')
		begin--;
	return is_word(begin, (size_t)(end - begin), "from") || is_word(begin, (size_t)(end - begin), "join");
}

#define FUNCTION_NAME(name, n, usage, what) #name,
void ask_complete(const struct session *s, const char *typed, command_offer *offer, void *context)
{
	static const char *const functions[] = {SQL_FUNCTIONS(FUNCTION_NAME) "count", "sum", "min", "max", "avg"};
	static const char words[] = "SELECT FROM WHERE GROUP BY ORDER DESC LIMIT JOIN LEFT ON AND OR NOT IS NULL LIKE IN "
	    "BETWEEN DISTINCT HAVING WITH RECURSIVE UNION AS CREATE TEMP VIEW TABLE EXPLAIN QUERY PLAN";
	struct offers o = {.s = s, .word = last_word(typed), .offer = offer, .context = context};
	if (wants_table(typed, o.word)) {
		offer_tables(&o);
		return;
	}
	for (size_t i = 0; o.word[i]; i++)
		if (strchr(".(,=<>", o.word[i]))
			o.kept = i + 1;
	offer_columns(&o, typed);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		offer_name(&o, functions[i], "(");
	if (!o.kept)
		offer_list(&o, words);
}
