/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_lexer.h - the tokens of a statement, or of an expression of one, as SQLite has them (sqlite.org/lang_expr.html).
 *
 * Blanks and comments are between tokens.  Whoever looks into a statement reads it by these functions; builds without
 * SQLite have them, too.
 */
#ifndef CAIRN_QUERY_SQL_SQL_LEXER_H
#define CAIRN_QUERY_SQL_SQL_LEXER_H

#include <stdbool.h>
#include <stddef.h>

enum sql_token_kind {
	TOKEN_END,        /* there is none */
	TOKEN_WORD,       /* a name, or a word of SQL */
	TOKEN_NUMBER,     /* with what is written to it: "10K" */
	TOKEN_QUOTED,     /* a name: "a b", `a b` or [a b] */
	TOKEN_TEXT,       /* 'a b' */
	TOKEN_COMPARISON, /* < <= <> > >= = == != */
	TOKEN_SIGN,       /* any other */
};

struct sql_token {
	enum sql_token_kind kind;
	const char *s; /* with its quotes; borrowed from the statement */
	size_t n;
	bool open;     /* its quote is not closed */
	bool apart;    /* blanks or a comment are before it */
};

/* Read the token that begins at *at, or behind the blanks there, and move *at behind it.  False: there is none before
 * the end. */
bool sql_next(const char **at, const char *end, struct sql_token *t);
/* Is it this word, or one of several (NULL ends them), in small letters or capitals, and without quotes? */
bool sql_is_word(const struct sql_token *t, const char *word);
bool sql_is_one_of(const struct sql_token *t, const char *const *words);
bool sql_is_sign(const struct sql_token *t, char c);
/* What is between its quotes, or all of it. */
const char *sql_token_contents(const struct sql_token *t, size_t *n);
/* May it be this name: a word, or between quotes of any kind (SQLite takes 'name' for a name, too)? */
bool sql_is_name(const struct sql_token *t, const char *name);
/* May a name be written without quotes? */
bool sql_is_plain(const char *name);
/* Does a text begin with this word? */
bool sql_begins_with(const char *text, const char *word);

/* All tokens of a text, between two of TOKEN_END: token[1] to token[n - 2]. */
struct sql_tokens {
	struct sql_token *token; /* owned */
	size_t n, cap;
};
void sql_tokens_read(struct sql_tokens *t, const char *text, const char *end);
void sql_tokens_release(struct sql_tokens *t);

#endif
