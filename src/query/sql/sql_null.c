/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_null.c - comparisons with NULL, which are never true.
 *
 * In SQL x = NULL is neither true nor false.  A statement with such a comparison is refused, because its empty answer
 * would pass for a fact.  An expression over objects means what it means in Java: = null is IS NULL.  Tokens are those
 * of SQLite (sqlite.org/lang_expr.html).  Only the word NULL is seen, not a value that is NULL.
 */
#include "query/sql/sql_private.h"

#ifdef HAVE_SQLITE3

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct token {
	enum { TOKEN_OTHER, TOKEN_WORD, TOKEN_COMPARISON } kind;
	const char *s;
	size_t n;
};

struct tokens {
	struct token *token; /* between two that are no token of SQL's */
	size_t n, cap;
};

/* --- tokens ------------------------------------------------------------------------------------- */

/* Bytes of blanks and comments. */
static size_t blanks(const char *s, const char *end)
{
	const char *at = s;
	for (;;) {
		while (at < end && strchr(" \t\n\f\r", *at))
			at++;
		bool line = end - at > 1 && at[0] == '-' && at[1] == '-', block = end - at > 1 && at[0] == '/' && at[1] == '*';
		if (!line && !block)
			return (size_t)(at - s);
		for (at += 2; at < end && !(line ? *at == '\n' : at[0] == '*' && end - at > 1 && at[1] == '/'); at++)
			;
		at = block && at < end ? at + 2 : at;
	}
}

static bool in_word(unsigned char c)
{
	return c >= 0x80 || c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z');
}

/* Bytes of a text or a name between quotes; a quote within it is written twice. */
static size_t quoted(const char *s, const char *end)
{
	char close = *s == '[' ? ']' : *s;
	const char *at = s + 1;
	for (; at < end && *at != close; at++)
		;
	return (size_t)((at < end ? at + 1 : end) - s); /* what is written twice reads as two of them, side by side */
}

/* Bytes of an operator of several characters, or 1. */
static size_t sign(const char *s, const char *end, bool *comparison)
{
	static const char *const signs[] = {"->>", "->", "<<", ">>", "||", "<>", "<=", ">=", "==", "!=", "<", ">", "="};
	enum { NO_COMPARISONS = 5 };
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t n = strlen(signs[i]);
		*comparison = i >= NO_COMPARISONS;
		if (n <= (size_t)(end - s) && !strncmp(s, signs[i], n))
			return n;
	}
	*comparison = false;
	return 1;
}

static void take_apart(struct tokens *t, const char *s, const char *end)
{
	VEC_PUSH(t->token, t->n, t->cap) = (struct token){TOKEN_OTHER, "", 0};
	for (s += blanks(s, end); s < end; s += t->token[t->n - 1].n, s += blanks(s, end)) {
		struct token k = {TOKEN_OTHER, s, 0};
		bool comparison = false;
		while (k.s + k.n < end && in_word((unsigned char)k.s[k.n]))
			k.n++;
		if (k.n)
			k.kind = TOKEN_WORD;
		else if (strchr("'\"`[", *s))
			k.n = quoted(s, end);
		else
			k.n = sign(s, end, &comparison);
		if (comparison)
			k.kind = TOKEN_COMPARISON;
		VEC_PUSH(t->token, t->n, t->cap) = k;
	}
	VEC_PUSH(t->token, t->n, t->cap) = (struct token){TOKEN_OTHER, "", 0};
}

static bool is_word(const struct token *k, const char *word)
{
	return k->kind == TOKEN_WORD && k->n == strlen(word) && !sqlite3_strnicmp(k->s, word, (int)k->n);
}

static bool is_one_of(const struct token *k, const char *const *words)
{
	for (; *words; words++)
		if (is_word(k, *words))
			return true;
	return false;
}

static bool is_char(const struct token *k, char c)
{
	return k->kind == TOKEN_OTHER && k->n == 1 && *k->s == c;
}

/* --- comparisons -------------------------------------------------------------------------------- */

/* A word before ( that does not call a function. */
static bool groups(const struct token *k)
{
	static const char *const words[] = {"and", "or", "not", "where", "on", "when", "then", "else", "having", "select",
	    "case", "by", "is", "like", "glob", "between", NULL};
	return (k->kind != TOKEN_WORD && !strchr("\"`[", k->n ? *k->s : ' ')) || is_one_of(k, words);
}

/* The parenthesis or BETWEEN that a token stands in; 0: none. */
static size_t around(const struct tokens *t, size_t at, bool between)
{
	size_t deep = 0;
	for (size_t i = at; i-- > 1;) {
		if (is_char(&t->token[i], ')'))
			deep++;
		else if (is_char(&t->token[i], '(') && !deep--)
			return between ? 0 : i;
		else if (between && !deep && is_word(&t->token[i], "between"))
			return i;
		else if (between && !deep && is_word(&t->token[i], "and"))
			return 0;
	}
	return 0;
}

static bool ends_member(const struct token *k)
{
	return is_char(k, ',') || is_char(k, '(') || is_char(k, ')');
}

/* What compares the NULL from a to b with something; NULL: nothing does. */
static struct token *comparing(const struct tokens *t, size_t a, size_t b)
{
	static const char *const null_tests[] = {"is", "not", NULL};
	static const char *const others[] = {"when", "between", "like", "glob", NULL};
	static const char *const operators[] = {"in", "between", "like", "glob", NULL};
	struct token *left = &t->token[a - 1], *right = &t->token[b + 1];
	struct token *operator = is_word(right, "not") ? right + 1 : right;
	if (left->kind == TOKEN_COMPARISON || is_one_of(left, others))
		return left;
	if (right->kind == TOKEN_COMPARISON && !is_one_of(left, null_tests))
		return right;
	if (is_one_of(operator, operators) && !is_one_of(left, null_tests))
		return operator;
	size_t begin = is_word(left, "and") ? around(t, a - 1, true) : 0;
	if (begin)
		return &t->token[begin];
	begin = ends_member(left) && ends_member(right) ? around(t, a, false) : 0;
	return begin > 1 && is_word(&t->token[begin - 1], "in") ? &t->token[begin - 1] : NULL;
}

/* The next comparison with NULL from token *i on; NULL: there are no more. */
static struct token *next_comparison(const struct tokens *t, size_t *i)
{
	for (; *i + 1 < t->n; ++*i) {
		size_t a = *i, b = *i;
		if (!is_word(&t->token[a], "null"))
			continue;
		while (a > 2 && is_char(&t->token[a - 1], '(') && is_char(&t->token[b + 1], ')') && groups(&t->token[a - 2])) {
			a--;
			b++;
		}
		struct token *found = comparing(t, a, b);
		++*i;
		if (found)
			return found;
	}
	return NULL;
}

static bool is_equality(const struct token *k)
{
	return k->kind == TOKEN_COMPARISON && (*k->s == '=' || *k->s == '!' || (k->n == 2 && k->s[1] == '>'));
}

static bool is_negated(const struct token *k)
{
	return *k->s != '=';
}

/* "name = NULL is never true (write name IS NULL)" */
static int refuse(const struct token *k, struct err *err)
{
	static const char never[] = "a comparison with NULL is never true (write IS NULL or IS NOT NULL)";
	const struct token *left = k - 1;
	int sign = (int)k->n, name = left->kind == TOKEN_WORD && left->n < 100 && !is_word(left, "null") ? (int)left->n : 0;
	const char *blank = name ? " " : "";
	if (!is_equality(k))
		return err_set(err, ERR_USAGE, "%.*s%s NULL: %s", sign, k->s, k->kind == TOKEN_WORD ? " with" : "", never);
	return err_set(err, ERR_USAGE, "%.*s%s%.*s NULL is never true (write %.*s%s%s)", name, left->s, blank, sign, k->s,
	    name, left->s, blank, is_negated(k) ? "IS NOT NULL" : "IS NULL");
}

int sql_check_null(const char *text, const char *end, struct err *err)
{
	struct tokens t = {.n = 0};
	size_t i = 1;
	take_apart(&t, text, end);
	const struct token *k = next_comparison(&t, &i);
	int code = k ? refuse(k, err) : 0;
	free(t.token);
	return code;
}

void sql_null_as_java(const char *text, struct text *to)
{
	struct tokens t = {.n = 0};
	const struct token *k;
	size_t i = 1;
	take_apart(&t, text, text + strlen(text));
	while ((k = next_comparison(&t, &i))) {
		if (!is_equality(k) || k->s < text) /* two NULLs have one sign */
			continue;
		text_add_n(to, text, (size_t)(k->s - text));
		text_add(to, is_negated(k) ? " IS NOT " : " IS ");
		text = k->s + k->n;
	}
	text_add(to, text);
	free(t.token);
}

#endif
