/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_null.c - comparisons with NULL, which are never true.
 *
 * In SQL x = NULL is neither true nor false.  A statement with such a comparison is refused, because its empty answer
 * would pass for a fact.  A condition of -where means what it means in Java: = null is IS NULL.  Only the word NULL is
 * seen, not a value that is NULL.
 */
#include "query/sql/sql_private.h"

#include <string.h>

/* --- comparisons -------------------------------------------------------------------------------- */

/* A word before ( that does not call a function. */
static bool groups(const struct sql_token *k)
{
	static const char *const words[] = {"and", "or", "not", "where", "on", "when", "then", "else", "having", "select",
	    "case", "by", "is", "like", "glob", "between", NULL};
	return (k->kind != TOKEN_WORD && k->kind != TOKEN_QUOTED) || sql_is_one_of(k, words);
}

/* The parenthesis or BETWEEN that a token stands in; 0: none. */
static size_t around(const struct sql_tokens *t, size_t at, bool between)
{
	size_t deep = 0;
	for (size_t i = at; i-- > 1;) {
		if (sql_is_sign(&t->token[i], ')'))
			deep++;
		else if (sql_is_sign(&t->token[i], '(') && !deep--)
			return between ? 0 : i;
		else if (between && !deep && sql_is_word(&t->token[i], "between"))
			return i;
		else if (between && !deep && sql_is_word(&t->token[i], "and"))
			return 0;
	}
	return 0;
}

static bool ends_member(const struct sql_token *k)
{
	return sql_is_sign(k, ',') || sql_is_sign(k, '(') || sql_is_sign(k, ')');
}

/* What compares the NULL from a to b with something; NULL: nothing does. */
static struct sql_token *comparing(const struct sql_tokens *t, size_t a, size_t b)
{
	static const char *const null_tests[] = {"is", "not", NULL};
	static const char *const others[] = {"when", "between", "like", "glob", NULL};
	static const char *const operators[] = {"in", "between", "like", "glob", NULL};
	struct sql_token *left = &t->token[a - 1], *right = &t->token[b + 1];
	struct sql_token *operator = sql_is_word(right, "not") ? right + 1 : right;
	if (left->kind == TOKEN_COMPARISON || sql_is_one_of(left, others))
		return left;
	if (right->kind == TOKEN_COMPARISON && !sql_is_one_of(left, null_tests))
		return right;
	if (sql_is_one_of(operator, operators) && !sql_is_one_of(left, null_tests))
		return operator;
	size_t begin = sql_is_word(left, "and") ? around(t, a - 1, true) : 0;
	if (begin)
		return &t->token[begin];
	begin = ends_member(left) && ends_member(right) ? around(t, a, false) : 0;
	return begin > 1 && sql_is_word(&t->token[begin - 1], "in") ? &t->token[begin - 1] : NULL;
}

/* The next comparison with NULL from token *i on; NULL: there are no more. */
static struct sql_token *next_comparison(const struct sql_tokens *t, size_t *i)
{
	for (; *i + 1 < t->n; ++*i) {
		size_t a = *i, b = *i;
		if (!sql_is_word(&t->token[a], "null"))
			continue;
		while (a > 2 && sql_is_sign(&t->token[a - 1], '(') && sql_is_sign(&t->token[b + 1], ')') &&
		    groups(&t->token[a - 2])) {
			a--;
			b++;
		}
		struct sql_token *found = comparing(t, a, b);
		++*i;
		if (found)
			return found;
	}
	return NULL;
}

static bool is_equality(const struct sql_token *k)
{
	return k->kind == TOKEN_COMPARISON && (*k->s == '=' || *k->s == '!' || (k->n == 2 && k->s[1] == '>'));
}

static bool is_negated(const struct sql_token *k)
{
	return *k->s != '=';
}

/* "name = NULL is never true (write name IS NULL)" */
static int refuse(const struct sql_token *k, struct err *err)
{
	static const char never[] = "a comparison with NULL is never true (write IS NULL or IS NOT NULL)";
	const struct sql_token *left = k - 1;
	bool named = left->kind == TOKEN_WORD && left->n < 100 && !sql_is_word(left, "null");
	int sign = (int)k->n, name = named ? (int)left->n : 0;
	const char *blank = name ? " " : "";
	if (!is_equality(k))
		return err_set(err, ERR_USAGE, "%.*s%s NULL: %s", sign, k->s, k->kind == TOKEN_WORD ? " with" : "", never);
	return err_set(err, ERR_USAGE, "%.*s%s%.*s NULL is never true (write %.*s%s%s)", name, left->s, blank, sign, k->s,
	    name, left->s, blank, is_negated(k) ? "IS NOT NULL" : "IS NULL");
}

int sql_check_null(const char *text, const char *end, struct err *err)
{
	struct sql_tokens t;
	size_t i = 1;
	sql_tokens_read(&t, text, end);
	const struct sql_token *k = next_comparison(&t, &i);
	int code = k ? refuse(k, err) : 0;
	sql_tokens_release(&t);
	return code;
}

void sql_null_as_java(struct sql_tokens *t)
{
	struct sql_token *k;
	size_t i = 1;
	while ((k = next_comparison(t, &i))) {
		if (!is_equality(k))
			continue;
		k->kind = TOKEN_SIGN;
		k->s = is_negated(k) ? "IS NOT" : "IS";
		k->n = strlen(k->s);
		k[0].apart = k[1].apart = true;
	}
}
