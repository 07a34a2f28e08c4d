/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_lexer.c - see sql_lexer.h. */
#include "query/sql/sql_lexer.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *s, const char *end)
{
	for (;;) {
		while (s < end && strchr(" \t\n\f\r", *s))
			s++;
		bool line = end - s > 1 && s[0] == '-' && s[1] == '-', block = end - s > 1 && s[0] == '/' && s[1] == '*';
		if (!line && !block)
			return s;
		for (s += 2; s < end && !(line ? *s == '\n' : s[0] == '*' && end - s > 1 && s[1] == '/'); s++)
			;
		s += block && s < end ? 2 : 0;
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool in_word(char c)
{
	return (unsigned char)c >= 0x80 || c == '_' || c == '$' || is_digit(c) || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z');
}

/* A quote within is written twice. */
static void read_quoted(struct sql_token *t, const char *end)
{
	char close = *t->s == '[' ? ']' : *t->s;
	const char *s = t->s + 1;
	for (; s < end && (*s != close || (close != ']' && end - s > 1 && s[1] == close)); s++)
		s += *s == close;
	t->kind = close == '\'' ? TOKEN_TEXT : TOKEN_QUOTED;
	t->open = s >= end;
	t->n = (size_t)((t->open ? end : s + 1) - t->s);
}

static void read_sign(struct sql_token *t, const char *end)
{
	static const char *const signs[] = {"->>", "->", "<<", ">>", "||", "<>", "<=", ">=", "==", "!=", "<", ">", "="};
	enum { NO_COMPARISONS = 5 };
	t->kind = TOKEN_SIGN;
	t->n = 1;
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t n = strlen(signs[i]);
		if (n > (size_t)(end - t->s) || strncmp(t->s, signs[i], n))
			continue;
		t->n = n;
		t->kind = i < NO_COMPARISONS ? TOKEN_SIGN : TOKEN_COMPARISON;
		return;
	}
}

bool sql_next(const char **at, const char *end, struct sql_token *t)
{
	const char *s = skip_blanks(*at, end);
	*t = (struct sql_token){.kind = TOKEN_END, .s = s, .apart = s > *at};
	*at = s;
	if (s >= end || !*s)
		return false;
	if (strchr("'\"`[", *s)) {
		read_quoted(t, end);
	} else if (in_word(*s)) {
		t->kind = is_digit(*s) ? TOKEN_NUMBER : TOKEN_WORD;
		while (s + t->n < end && (in_word(s[t->n]) || (t->kind == TOKEN_NUMBER && s[t->n] == '.')))
			t->n++;
	} else {
		read_sign(t, end);
	}
	*at += t->n;
	return true;
}

bool sql_is_word(const struct sql_token *t, const char *word)
{
	return t->kind == TOKEN_WORD && t->n == strlen(word) && !strncasecmp(t->s, word, t->n);
}

bool sql_is_one_of(const struct sql_token *t, const char *const *words)
{
	for (; *words; words++)
		if (sql_is_word(t, *words))
			return true;
	return false;
}

bool sql_is_sign(const struct sql_token *t, char c)
{
	return t->kind == TOKEN_SIGN && t->n == 1 && *t->s == c;
}

const char *sql_token_contents(const struct sql_token *t, size_t *n)
{
	bool quoted = t->kind == TOKEN_QUOTED || t->kind == TOKEN_TEXT;
	*n = t->n - (quoted ? 2 - t->open : 0);
	return t->s + quoted;
}

bool sql_is_name(const struct sql_token *t, const char *name)
{
	size_t n;
	const char *s = sql_token_contents(t, &n);
	return (t->kind == TOKEN_WORD || t->kind == TOKEN_QUOTED || t->kind == TOKEN_TEXT) && n == strlen(name) &&
	    !strncasecmp(s, name, n);
}

bool sql_is_plain(const char *name)
{
	static const char *const words[] = {"from", "group", "index", "limit", "order", "references", "table", "where",
	    NULL};
	struct sql_token t;
	const char *at = name, *end = name + strlen(name);
	return sql_next(&at, end, &t) && t.kind == TOKEN_WORD && t.s == name && at == end && !sql_is_one_of(&t, words);
}

bool sql_begins_with(const char *text, const char *word)
{
	return !strncasecmp(text, word, strlen(word));
}

void sql_tokens_read(struct sql_tokens *t, const char *text, const char *end)
{
	struct sql_token next;
	*t = (struct sql_tokens){.n = 0};
	VEC_PUSH(t->token, t->n, t->cap) = (struct sql_token){.s = text};
	while (sql_next(&text, end, &next))
		VEC_PUSH(t->token, t->n, t->cap) = next;
	VEC_PUSH(t->token, t->n, t->cap) = next;
}

void sql_tokens_release(struct sql_tokens *t)
{
	free(t->token);
}
