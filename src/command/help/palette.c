/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * palette.c - the commands that typed words may mean: by name, by another tool's name, by meaning.
 */
#include "command/args/args.h"
#include "command/help/help.h"

#include <ctype.h>
#include <string.h>

/* Letters from which on other tools' names and meanings are searched: fewer are in too many of them. */
enum { ALIAS_LEAST = 2, MEANING_LEAST = 3 };

/* A blank, - and _ are the same between words, and case does not matter. */
static char plain(char c)
{
	return c == '-' || c == '_' ? ' ' : (char)tolower((unsigned char)c);
}

static bool begins(const char *s, const char *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!s[i] || plain(s[i]) != plain(words[i]))
			return false;
	return true;
}

/* Anywhere, or only where a word of s begins. */
static bool contains(const char *s, const char *words, size_t n, bool at_word)
{
	for (const char *at = s; *at; at++)
		if ((!at_word || at == s || !isalnum((unsigned char)at[-1])) && begins(at, words, n))
			return true;
	return false;
}

bool palette_says(const char *text, const char *name, const char *words, size_t n)
{
	for (size_t at = 0, length; at < n; at += length) {
		while (at < n && words[at] == ' ')
			at++;
		for (length = 0; at + length < n && words[at + length] != ' ';)
			length++;
		if (!contains(text, words + at, length, true) && !contains(name, words + at, length, true))
			return false;
	}
	return true;
}

/* Are the letters in the name, in this order? */
static bool scattered(const char *name, const char *words, size_t n)
{
	size_t i = 0;
	for (; *name && i < n; name++)
		i += plain(*name) == plain(words[i]);
	return i == n && n > 1;
}

struct search {
	const char *words;
	size_t n;
	struct palette_row *row;
	size_t n_rows, most;
};

static void add(struct search *s, const char *line, const struct command *c, const struct alias *a,
    enum palette_match match)
{
	for (size_t i = 0; i < s->n_rows; i++)
		if (!strcmp(s->row[i].line, line))
			return;
	if (s->n_rows < s->most)
		s->row[s->n_rows++] = (struct palette_row){line, c, a, match};
}

/* A name that another tool has for this, and that begins with the words. */
static const struct alias *alias_begun_of(const struct search *s, const char *line)
{
	for (const struct alias *a = alias_list(); a->word && s->n; a++)
		if (!alias_is_earlier(a) && !strcmp(a->means, line) && begins(a->word, s->words, s->n))
			return a;
	return NULL;
}

/* Does the name, or the meaning, match as well as that? */
static bool matches(const struct search *s, const struct command *c, enum palette_match match)
{
	switch (match) {
	case NAME_BEGINS:
		return begins(c->name, s->words, s->n);
	case NAME_CONTAINS:
		return contains(c->name, s->words, s->n, s->n < 2);
	case MEANING_SAYS:
		return palette_says(c->summary, c->name, s->words, s->n);
	default:
		return scattered(c->name, s->words, s->n);
	}
}

static void search_commands(struct search *s, enum palette_match match)
{
	for (size_t i = 0; commands[i]; i++)
		if (matches(s, commands[i], match))
			add(s, commands[i]->name, commands[i], alias_begun_of(s, commands[i]->name), match);
}

static void search_aliases(struct search *s, bool begun)
{
	for (const struct alias *a = alias_list(); a->word && s->n; a++) {
		const struct command *c = alias_is_earlier(a) ? NULL : command_named(a->means, strcspn(a->means, " "));
		if (c && (begun ? begins(a->word, s->words, s->n) : s->n > 1 && contains(a->word, s->words, s->n, true)))
			add(s, a->means, c, a, begun ? OTHER_NAME_BEGINS : OTHER_NAME_CONTAINS);
	}
}

size_t palette_find(const char *words, size_t n, struct palette_row *row, size_t most)
{
	while (n > 0 && words[n - 1] == ' ')
		n--;
	struct search s = {.words = words, .n = n, .row = row, .most = most};
	search_commands(&s, NAME_BEGINS);
	search_commands(&s, NAME_CONTAINS);
	if (n >= ALIAS_LEAST || !s.n_rows) {
		search_aliases(&s, true);
		search_aliases(&s, false);
	}
	if (n >= MEANING_LEAST || !s.n_rows)
		search_commands(&s, MEANING_SAYS);
	if (!s.n_rows)
		search_commands(&s, NAME_HAS_LETTERS);
	return s.n_rows;
}

void palette_add_other_name(const struct palette_row *row, struct text *to)
{
	const struct alias *a = row->alias;
	if (a && alias_is_of_tool(a) && !begins(a->word, a->tool, strlen(a->tool))) /* "jmap -histo" says it */
		text_addf(to, "%s ", a->tool);
	text_add(to, a ? a->word : "");
}
