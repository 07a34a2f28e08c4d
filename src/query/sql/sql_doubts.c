/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_doubts.c - how sure the columns of an answer are.
 *
 * Each column of a table notes how sure the numbers were that it handed out.  A column of the answer that is a column
 * of a table is as sure as that one.  Of an expression SQLite does not tell what it is made of: a mark of a value is
 * lost where it is calculated with, sorted or grouped.  So the statement is read: if it is one plain SELECT, its words
 * name all that flows into a column; of any other, a column is as unsure as anything that was handed out.
 */
#include "query/sql/sql_private.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* --- noting ------------------------------------------------------------------------------------- */

struct sql_doubts *sql_doubts_new(struct sql *q, const char *table, char *const *columns, unsigned n)
{
	struct sql_doubts *d = xcalloc(1, sizeof *d);
	*d = (struct sql_doubts){.sql = q, .next = q->doubts, .table = xstrdup(table), .of = xcalloc(n, sizeof *d->of),
	    .n = n};
	for (unsigned i = 0; i < n; i++)
		d->of[i].column = columns[i];
	q->doubts = d;
	return d;
}

void sql_doubts_free(struct sql_doubts *d)
{
	struct sql_doubts **at = d ? &d->sql->doubts : NULL;
	if (!d)
		return;
	while (*at && *at != d)
		at = &(*at)->next;
	if (*at)
		*at = d->next;
	free(d->of);
	free(d->table);
	free(d);
}

void sql_doubts_begin(struct sql *q)
{
	q->now.doubt = amount_exact(0);
	for (struct sql_doubts *d = q->doubts; d; d = d->next)
		for (unsigned i = 0; i < d->n; i++)
			d->of[i].own = d->of[i].made = amount_exact(0), d->of[i].away = false;
}

void sql_doubt_choice(struct sql *q, struct sql_doubt *d, struct amount a)
{
	if (a.certainty == UNKNOWN) /* what is not there makes a sum a lower bound */
		a = (struct amount){0, LOWER_BOUND, a.reason};
	d->made = amount_as_sure(d->made, a);
	q->now.doubt = amount_as_sure(q->now.doubt, a);
}

void sql_unknown(struct sql *q, struct sql_doubt *d)
{
	sql_note_silent(q);
	d->away = values_away(q->heap);
}

/* --- a statement taken apart -------------------------------------------------------------------- */

enum { ITEMS_MOST = 200 };

/* Ranges of tokens. */
struct selection_of {
	struct sql_tokens t;
	bool single;        /* it is one SELECT of tables alone, whose own words name all that it is made of */
	bool distinct;
	struct item {
		size_t at, end;
	} item[ITEMS_MOST]; /* what it selects */
	unsigned n;         /* 0: too many, or * */
	size_t items, from, order, end; /* where these begin: what is selected, what is behind that, its ORDER BY */
};

/* Words with which more flows into a column than its own words tell; SELECTs within it SQLite counts. */
static const char *const hide_names[] = {"VALUES", "NATURAL", "USING", "OVER", NULL};

static void take_items(struct selection_of *s)
{
	size_t at = s->items;
	int depth = 0;
	for (size_t i = at; i <= s->from; i++) {
		const struct sql_token *t = &s->t.token[i];
		depth += sql_is_sign(t, '(');
		depth -= sql_is_sign(t, ')');
		if (s->n == ITEMS_MOST || (sql_is_sign(t, '*') && (i == at || sql_is_sign(t - 1, '.')))) {
			s->n = 0;
			return;
		}
		if (i == s->from || (!depth && sql_is_sign(t, ','))) {
			s->item[s->n++] = (struct item){at, i};
			at = i + 1;
		}
	}
}

static void take_apart(const struct sql *q, struct selection_of *s, const char *text)
{
	sql_tokens_read(&s->t, text, text + strlen(text));
	const struct sql_token *t = s->t.token;
	int depth = 0;
	s->end = s->from = s->order = s->t.n - 1;
	s->single = q->now.selects == 1 && !q->now.indirect && sql_is_word(&t[1], "SELECT");
	s->distinct = s->single && sql_is_word(&t[2], "DISTINCT");
	s->items = s->distinct || sql_is_word(&t[2], "ALL") ? 3 : 2;
	for (size_t i = 2; i < s->end && s->single; i++) {
		depth += sql_is_sign(&t[i], '(');
		depth -= sql_is_sign(&t[i], ')');
		s->single = !sql_is_one_of(&t[i], hide_names);
		if (!depth && s->from == s->end && sql_is_word(&t[i], "FROM"))
			s->from = i;
		else if (!depth && s->from < s->end && s->order == s->end && sql_is_word(&t[i], "ORDER"))
			s->order = i;
	}
	if (s->single && s->items < s->end)
		take_items(s);
}

/* --- what is made of what ----------------------------------------------------------------------- */

/* What flows into a part of a statement. */
struct made_of {
	struct amount sure;
	const char *away; /* a column of which a value was asked for that is not here; NULL: none */
};

/* t NULL: of any column. */
static void add_named(const struct sql *q, const struct sql_token *t, struct made_of *m)
{
	for (const struct sql_doubts *d = q->doubts; d; d = d->next)
		for (unsigned i = 0; i < d->n; i++) {
			const struct sql_doubt *of = &d->of[i];
			if ((of->made.certainty == EXACT && !of->away) || (t && !sql_is_name(t, of->column)))
				continue;
			m->sure = amount_as_sure(m->sure, of->made);
			m->away = of->away && !m->away ? of->column : m->away;
		}
}

static struct made_of made_of(const struct sql *q, const struct selection_of *s, size_t at, size_t end)
{
	struct made_of m = {.sure = amount_exact(0)};
	for (; at < end; at++)
		add_named(q, &s->t.token[at], &m);
	return m;
}

/* Is item i named again behind FROM, up to this token: by its other name, or by its number behind BY? */
static bool is_named_again(const struct selection_of *s, unsigned i, size_t end)
{
	const struct sql_token *last = &s->t.token[s->item[i].end - 1];
	size_t n;
	const char *name = sql_token_contents(last, &n);
	bool behind_by = false, again = false;
	char *called = xstrndup(name, n);
	for (size_t k = s->from; k < end && !again; k++) {
		const struct sql_token *t = &s->t.token[k];
		behind_by = sql_is_word(t, "BY") || (behind_by && !sql_is_word(t, "LIMIT"));
		again = sql_is_name(t, called) || (behind_by && t->kind == TOKEN_NUMBER && strtoul(t->s, NULL, 10) == i + 1);
	}
	free(called);
	return again;
}

/* Which rows there are may hang on what is selected, too. */
static struct amount choice_doubt(const struct sql *q, const struct selection_of *s)
{
	struct amount sure = made_of(q, s, s->from, s->order).sure;
	for (unsigned i = 0; i < s->n; i++)
		if (is_named_again(s, i, s->order))
			sure = amount_as_sure(sure, made_of(q, s, s->item[i].at, s->item[i].end).sure);
	return sure;
}

static int look_at_view(void *any, int n, char **value, char **names)
{
	(void)n, (void)names;
	*(bool *)any |= !sql_table_called(value[0]);
	return 0;
}

/* May rows of several questions be put together, as a view may do?  What SQLite calls a column's origin is that of the
 * first of them. */
static bool is_compound(struct sql *q, const struct sql_tokens *t)
{
	static const char *const words[] = {"UNION", "INTERSECT", "EXCEPT", NULL};
	bool compound = false;
	if (q->now.indirect)
		sql_ask_catalogue(q, look_at_view, &compound, "SELECT name FROM sqlite_temp_master WHERE type = 'view'");
	for (size_t i = 0; i < t->n && !compound; i++)
		compound = sql_is_one_of(&t->token[i], words);
	return compound;
}

/* The answer's column is one of a table: is that known, and how sure was it? */
static bool origin_doubt(const struct sql *q, sqlite3_stmt *s, int column, struct amount *sure)
{
	const char *base = NULL, *table = NULL, *origin = NULL;
#ifdef HAVE_SQLITE3_COLUMN_METADATA
	base = sqlite3_column_database_name(s, column);
	table = sqlite3_column_table_name(s, column);
	origin = sqlite3_column_origin_name(s, column);
#endif
	if (!base || !table || !origin || strcmp(base, "main") != 0)
		return false;
	*sure = amount_exact(0);
	for (const struct sql_doubts *d = q->doubts; d; d = d->next)
		for (unsigned i = 0; !sqlite3_stricmp(d->table, table) && i < d->n; i++)
			if (!sqlite3_stricmp(d->of[i].column, origin))
				*sure = amount_as_sure(*sure, d->of[i].own);
	return true;
}

static int no_choice(const struct sql *q, const char *name, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED, "%s: the filter uses the incomplete column %.100s",
	    q->silent.message, name);
}

/* Which columns are made of values that are not here; own: see sql_sureness. */
static int find_away(struct sql *q, sqlite3_stmt *s, const struct selection_of *selected, const char *any,
    struct sql_sure *sure, struct err *err)
{
	const char *chosen = made_of(q, selected, selected->from, selected->end).away;
	unsigned n = (unsigned)sqlite3_column_count(s);
	bool apart = selected->n == n;
	if (chosen || selected->distinct)
		return no_choice(q, chosen ? chosen : any, err);
	for (unsigned i = 0; i < n; i++) {
		struct item item = apart ? selected->item[i] : (struct item){selected->items, selected->from};
		struct made_of m = made_of(q, selected, item.at, item.end), named = {.away = NULL};
		const char *column = sqlite3_column_name(s, (int)i);
		if (sure[i].own && column)
			add_named(q, &(struct sql_token){TOKEN_WORD, .s = column, .n = strlen(column)}, &named);
		sure[i].away = sure[i].own ? named.away != NULL : m.away != NULL;
		if (apart && m.away && is_named_again(selected, i, selected->end))
			return no_choice(q, m.away, err);
	}
	return 0;
}

int sql_sureness(struct sql *q, sqlite3_stmt *s, struct sql_sure *sure, struct err *err)
{
	unsigned n = sure ? (unsigned)sqlite3_column_count(s) : 0;
	struct made_of any = {.sure = q->now.doubt};
	add_named(q, NULL, &any);
	bool inexact = q->now.doubt.certainty != EXACT;
	for (unsigned i = 0; i < n; i++)
		sure[i] = (struct sql_sure){.sure = amount_exact(0)};
	if (!any.away && (!inexact || !n))
		return 0;
	struct selection_of *selected = xcalloc(1, sizeof *selected);
	take_apart(q, selected, sqlite3_sql(s));
	bool compound = is_compound(q, &selected->t);
	bool single = selected->single && selected->n == n && selected->from < selected->end;
	struct amount chosen = single ? choice_doubt(q, selected) : q->now.doubt;
	for (unsigned i = 0; i < n; i++) {
		sure[i].own = !compound && origin_doubt(q, s, (int)i, &sure[i].sure);
		if (!sure[i].own)
			sure[i].sure = single ? amount_as_sure(made_of(q, selected, selected->item[i].at,
			    selected->item[i].end).sure, chosen) : q->now.doubt;
	}
	int code = !any.away ? 0 : n && selected->single ? find_away(q, s, selected, any.away, sure, err) :
	    no_choice(q, any.away, err);
	sql_tokens_release(&selected->t);
	free(selected);
	return code;
}
