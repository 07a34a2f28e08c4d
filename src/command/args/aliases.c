/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * aliases.c - words of other tools: the one list of them (aliases.txt), and a line's words turned into ours.
 */
#include "command/args/args.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ALIAS_WORDS 7 /* the most that one has */

extern const char *const aliases_txt[]; /* the lines of aliases.txt, which the build turns into an array */

enum { ALIASES_MOST = 1024 };

static struct alias listed[ALIASES_MOST]; /* ended by a NULL word */
static pthread_once_t listed_once = PTHREAD_ONCE_INIT;

/* The next field of a line, or NULL where it is empty or missing; *line moves behind it. */
static const char *take_field(char **line)
{
	char *field = *line, *end = field + strcspn(field, "\t");
	*line = end + (*end != '\0');
	*end = '\0';
	return *field ? field : NULL;
}

static void read_list(void)
{
	size_t n = 0;
	for (const char *const *line = aliases_txt; *line && n + 1 < ALIASES_MOST; line++) {
		char *at = xstrdup(*line); /* as long as the program */
		struct alias *a = &listed[n++];
		a->word = take_field(&at);
		a->means = take_field(&at);
		a->tool = take_field(&at);
		a->with = take_field(&at);
		if (a->tool && !strcmp(a->tool, "(earlier)"))
			a->tool = ALIAS_EARLIER;
	}
}

const struct alias *alias_list(void)
{
	pthread_once(&listed_once, read_list);
	return listed;
}

/* The next word of a list parted by blanks: its length, *s moves to it.  0: there is none. */
static size_t next_word(const char **s)
{
	*s += strspn(*s, " ");
	return strcspn(*s, " ");
}

bool alias_is_earlier(const struct alias *a)
{
	return a->tool && !*a->tool;
}

bool alias_is_of_tool(const struct alias *a)
{
	return a->tool && *a->tool;
}

/* Does the typed word begin with these letters of the alias?  Earlier names leave words in upper case to classes. */
static bool begins(const struct alias *a, const char *typed, const char *letters, size_t n)
{
	return !(alias_is_earlier(a) ? strncmp(typed, letters, n) : strncasecmp(typed, letters, n));
}

static bool is_word(const char *typed, const char *word, size_t n)
{
	return strlen(typed) == n && !strncasecmp(typed, word, n);
}

/* The same, and a semicolon may end it, as other programs' lines. */
static bool stands_for(const struct alias *a, const char *typed, const char *word, size_t n)
{
	return begins(a, typed, word, n) && (!typed[n] || !strcmp(typed + n, ";"));
}

/* The words of the stage that a name with _ is when it is written with blanks: "dominator tree"; 0: it is not.  Names
 * that begin with a command of ours are arguments of that. */
static size_t takes_parted(const struct alias *a, const struct stage *stage)
{
	size_t n = 0;
	for (const char *s = a->word; *s; s += *s == '_') {
		size_t length = strcspn(s, "_");
		if (n == ALIAS_WORDS || n >= stage->n || stage->words[n].quoted || !is_word(stage->words[n].s, s, length) ||
		    (!n && command_named(stage->words[n].s, strlen(stage->words[n].s))))
			return 0;
		s += length;
		n++;
	}
	return n;
}

bool alias_is_of(const struct alias *a, const struct command *c)
{
	const char *s = a->means;
	return is_word(c->name, s, next_word(&s));
}

/* Debuggers have their extensions' commands behind a !. */
static const char *without_mark(const char *word)
{
	return *word == '!' && word[1] ? word + 1 : word;
}

static bool is_taken(const size_t *taken, size_t n, size_t at)
{
	for (size_t i = 0; i < n; i++) {
		if (taken[i] == at)
			return true;
	}
	return false;
}

/* Which words of the stage this alias takes; how many: 0 if it does not stand there.  Its options may
 * stand anywhere behind the first word, as those tools allow. */
static size_t takes(const struct alias *a, const struct stage *stage, size_t taken[ALIAS_WORDS])
{
	const char *s = a->word;
	size_t n = strchr(s, '_') && !strchr(s, ' ') ? takes_parted(a, stage) : 0;
	for (size_t i = 0; i < n; i++)
		taken[i] = i;
	if (n)
		return n;
	for (size_t length; (length = next_word(&s)); s += length) {
		bool anywhere = n && *s == '-';
		size_t at = anywhere ? 1 : n;
		if (n == ALIAS_WORDS)
			return 0;
		while (at < stage->n && (is_taken(taken, n, at) || stage->words[at].quoted ||
		    !stands_for(a, at ? stage->words[at].s : without_mark(stage->words[at].s), s, length))) {
			if (!anywhere)
				return 0;
			at++;
		}
		if (at >= stage->n)
			return 0;
		taken[n++] = at;
	}
	return n;
}

const struct alias *alias_named(const char *word)
{
	for (const struct alias *a = alias_list(); a->word; a++) {
		if (begins(a, word, a->word, strlen(a->word) + 1))
			return a;
	}
	return NULL;
}

void alias_add_meaning(const struct alias *a, struct text *to)
{
	text_add(to, a->means);
	if (a->with && strcmp(a->with, a->means) != 0)
		text_addf(to, ", %s with more words", a->with);
}

/* A tool's word works only when it is complete: a beginning such as "back" or "array" means something else. */
const struct alias *alias_begun(const char *word, const struct alias **other)
{
	const struct alias *found = NULL;
	*other = NULL;
	for (const struct alias *a = alias_list(); a->word && *word; a++) {
		if (alias_is_of_tool(a) || !begins(a, a->word, word, strlen(word)) || strchr(a->word, ' '))
			continue;
		if (!found)
			found = a;
		else if (!*other && strcmp(found->means, a->means) != 0)
			*other = a;
	}
	return found;
}

static bool is_command(const char *word)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!strncmp(commands[i]->name, word, strlen(word)))
			return true;
	}
	return false;
}

/* The alias that the stage begins with, the one that takes the most of its words. */
static const struct alias *alias_at(const struct stage *stage, size_t taken[ALIAS_WORDS], size_t *n)
{
	const struct alias *found = NULL, *other;
	*n = 0;
	for (const struct alias *a = alias_list(); a->word; a++) {
		size_t own[ALIAS_WORDS], m = takes(a, stage, own);
		if (m <= *n)
			continue;
		found = a;
		*n = m;
		memcpy(taken, own, sizeof own);
	}
	if (found || is_command(stage->words[0].s))
		return found;
	found = alias_begun(stage->words[0].s, &other);
	taken[0] = 0;
	*n = 1;
	return other ? NULL : found;
}

const struct alias *call_expand(struct command_line *l, bool more, const char **means)
{
	struct stage *stage = &l->stages[0];
	size_t taken[ALIAS_WORDS], n_taken, n = 0, cap = 0;
	if (!l->n || !stage->n || stage->words[0].quoted)
		return NULL;
	const struct alias *a = alias_at(stage, taken, &n_taken);
	if (!a)
		return NULL;
	struct word *words = NULL, first = stage->words[0];
	char *rest;
	const char *s = a->with && (more || n_taken < stage->n) ? a->with : a->means;
	if (means)
		*means = s;
	l->ours = xstrdup(s);
	for (char *ours = strtok_r(l->ours, " ", &rest); ours; ours = strtok_r(NULL, " ", &rest)) {
		first.s = ours;
		VEC_PUSH(words, n, cap) = first;
	}
	for (size_t i = 1; i < stage->n; i++) {
		if (!is_taken(taken, n_taken, i))
			VEC_PUSH(words, n, cap) = stage->words[i];
	}
	free(stage->words);
	stage->words = words;
	stage->n = n;
	stage->cap = cap;
	return a;
}
