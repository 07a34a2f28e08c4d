/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_plans.c - what EXPLAIN answers: how SQLite goes about a question, in sentences.
 *
 * EXPLAIN QUERY PLAN tells of steps, each within another one, in words that SQLite's manual explains; of our tables it
 * shows the words of a plan (sql_table.c).  Whatever is not known here stays as SQLite says it.
 */
#include "query/sql/sql_private.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* --- SQLite's own words ------------------------------------------------------------------------- */

/* What a step begins with, and what it means; % is what stands behind that. */
static const struct {
	const char *begins, *means;
} meanings[] = {
    {"USE TEMP B-TREE FOR ", "sort the rows so far, for %"},
    {"SCAN CONSTANT ROW", "one row without a table"},
    {"MATERIALIZE ", "first all rows of %"},
    {"CO-ROUTINE ", "the rows of %, one by one"},
    {"COMPOUND QUERY", "several queries, one after another"},
    {"LEFT-MOST SUBQUERY", "the first query"},
    {"UNION ALL", "the next query, its rows after the others"},
    {"UNION USING TEMP B-TREE", "the next query, without rows that exist already"},
    {"EXCEPT USING TEMP B-TREE", "the next query, its rows removed"},
    {"INTERSECT USING TEMP B-TREE", "the next query, only rows in both"},
    {"MERGE (", "two queries, merged in order (%"},
    {"LEFT", "the first"},
    {"RIGHT", "the second"},
    {"CORRELATED LIST SUBQUERY ", "the list after IN, for each row again"},
    {"LIST SUBQUERY ", "the list after IN, once"},
    {"REUSE LIST SUBQUERY ", "the same list again"},
    {"CORRELATED SCALAR SUBQUERY ", "a subquery, for each row again"},
    {"SCALAR SUBQUERY ", "a subquery, once"},
    {"SETUP", "the first rows"},
    {"RECURSIVE STEP", "from each row the next ones, until there are no more"},
    {"MULTI-INDEX OR", "for each side of OR"},
    {"INDEX ", "one side"},
    {"BLOOM FILTER ON ", "skip rows without a match early: %"},
};

/* What a step means, with a text at its %. */
static void add_meaning(const char *means, const char *rest, size_t n, struct text *to)
{
	const char *gap = strchr(means, '%');
	text_add_n(to, means, gap ? (size_t)(gap - means) : strlen(means));
	if (gap) {
		text_add_escaped(to, rest, n);
		text_add(to, gap + 1);
	}
}

/* "SCAN o VIRTUAL TABLE INDEX 1:go through all of %", "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)", and behind it
 * perhaps how it is joined. */
static void add_table(const char *detail, struct text *to)
{
	static const char table[] = " VIRTUAL TABLE INDEX ", left[] = " LEFT-JOIN", own[] = "USING AUTOMATIC ";
	bool searches = *detail == 'S' && detail[1] == 'E', outer = false;
	const char *name = detail + (searches ? 7 : 5), *ours = strstr(name, table), *join = strstr(name, left);
	char *words = xstrdup(name);
	if (join && !join[sizeof left - 1]) {
		words[join - name] = '\0';
		outer = true;
	}
	const char *colon = ours ? strchr(ours, ':') : NULL;
	if (colon) {
		add_meaning(words + (colon - name) + 1, name, (size_t)(ours - name), to);
	} else {
		size_t n = strcspn(words, " ");
		const char *behind = words + n + (words[n] == ' ');
		bool made = sql_begins_with(behind, own);
		text_add(to, searches ? "look up " : "go through all of ");
		text_add_escaped(to, words, n);
		const char *by = strchr(behind, '(');
		if (made && by)
			behind = by;
		if (*behind) {
			text_add(to, made ? ", sorted for this query " : " ");
			text_add_escaped(to, behind, strlen(behind));
		}
	}
	if (outer)
		text_add(to, "; rows without a match are kept");
	free(words);
}

static void add_step(const char *detail, struct text *to)
{
	if (sql_begins_with(detail, "SCAN ") && strcmp(detail, "SCAN CONSTANT ROW") != 0) {
		add_table(detail, to);
		return;
	}
	if (sql_begins_with(detail, "SEARCH ")) {
		add_table(detail, to);
		return;
	}
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
		if (!sql_begins_with(detail, meanings[i].begins))
			continue;
		const char *rest = detail + strlen(meanings[i].begins);
		add_meaning(meanings[i].means, rest, strlen(rest), to);
		return;
	}
	text_add_escaped(to, detail, strlen(detail));
}

/* --- steps -------------------------------------------------------------------------------------- */

static const struct column plan_columns[] = {{.id = COL_OWN_NAME, .name = "step", .type = CELL_TEXT}};
static const struct shape plan_shape = {SHAPE_COLUMNS(plan_columns)};

/* How deep a step lies, by the ids of those that it lies within. */
struct within {
	int *id;
	size_t n, cap;
};

static size_t depth_of(struct within *w, int id, int parent)
{
	while (w->n && w->id[w->n - 1] != parent)
		w->n--;
	size_t depth = w->n;
	VEC_PUSH(w->id, w->n, w->cap) = id;
	return depth;
}

static int add_steps(struct sql *q, sqlite3_stmt *s, struct result *r, struct err *err)
{
	struct within within = {.n = 0};
	struct text t = TEXT_INIT;
	int state;
	while ((state = sqlite3_step(s)) == SQLITE_ROW) {
		const char *detail = (const char *)sqlite3_column_text(s, 3);
		text_clear(&t);
		for (size_t i = depth_of(&within, sqlite3_column_int(s, 0), sqlite3_column_int(s, 1)); i; i--)
			text_add(&t, "  ");
		add_step(detail ? detail : "", &t);
		result_add_row(r, (struct cell[]){cell_text(t.s ? t.s : "")}, NULL);
	}
	text_release(&t);
	free(within.id);
	return state == SQLITE_DONE ? 0 : sql_error(q, state, err);
}

/* Behind the word EXPLAIN that a statement begins with; NULL: it does not. */
static const char *behind_explain(const char *text)
{
	struct sql_token t;
	return sql_next(&text, text + strlen(text), &t) && sql_is_word(&t, "EXPLAIN") ? text : NULL;
}

int sql_explain(struct sql *q, sqlite3_stmt *s, struct result **out, struct err *err)
{
	if (sqlite3_column_count(s) != 4 && !behind_explain(sqlite3_sql(s)))
		return sql_answer(q, s, out, err);
	struct result *r = result_new_rows("plan", q->opened, &plan_shape);
	sqlite3_stmt *plan = NULL;
	const char *rest, *question = sqlite3_stmt_isexplain(s) == 1 ? behind_explain(sqlite3_sql(s)) : NULL;
	int code = 0;
	if (question) { /* of which SQLite tells the instructions, not the plan */
		char *text = sqlite3_mprintf("EXPLAIN QUERY PLAN%s", question);
		code = text ? sql_prepare(q, text, &plan, &rest, err) : sql_error(q, SQLITE_NOMEM, err);
		sqlite3_free(text);
	}
	if (!code)
		code = add_steps(q, plan ? plan : s, r, err);
	sqlite3_finalize(plan);
	if (code)
		result_free(r);
	*out = code ? NULL : r;
	return code;
}
