/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_doubts.c - how sure the columns of an answer are.
 *
 * Each column of a table notes how sure the numbers were that it handed out.  A column of the answer that is a column
 * of a table is as sure as that one.  Of an expression SQLite does not tell what it is made of: where the statement is
 * one plain SELECT, its words name all of it; of any other, it is as unsure as anything that was handed out.
 */
#include "query/sql/sql_private.h"

#ifdef HAVE_SQLITE3

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
	q->doubt = amount_exact(0);
	for (struct sql_doubts *d = q->doubts; d; d = d->next)
		for (unsigned i = 0; i < d->n; i++)
			d->of[i].own = d->of[i].made = amount_exact(0), d->of[i].away = false;
}

void sql_doubt_choice(struct sql *q, struct sql_doubt *d, struct amount a)
{
	if (a.certainty == UNKNOWN) /* what is not there makes a sum a lower bound */
		a = (struct amount){0, LOWER_BOUND, a.reason};
	d->made = amount_as_sure(d->made, a);
	q->doubt = amount_as_sure(q->doubt, a);
}

void sql_unknown(struct sql *q, struct sql_doubt *d)
{
	sql_note_silent(q);
	d->away = values_away(q->heap);
}

/* --- the words of a statement ------------------------------------------------------------------- */

struct word {
	const char *at; /* without quotes */
	size_t n;
	bool name;      /* it may be a name; else it is a sign */
	bool quoted;    /* and then no word of SQL */
};

static bool in_name(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (unsigned char)c >= 0x80;
}

static bool is_named(const struct word *w, const char *name)
{
	return strlen(name) == w->n && !sqlite3_strnicmp(w->at, name, (int)w->n);
}

static bool is_word(const struct word *w, const char *word)
{
	return !w->quoted && is_named(w, word);
}

/* The next word before end; false: there is none.  Remarks are none; texts may be names ("o.'retained'"). */
static bool next_word(const char **at, const char *end, struct word *w)
{
	const char *s = *at;
	for (;;) {
		s += strspn(s, " \t\r\n");
		if (s < end && s[0] == '-' && s[1] == '-')
			s += strcspn(s, "\n");
		else if (s < end && s[0] == '/' && s[1] == '*')
			s = strstr(s + 2, "*/") ? strstr(s + 2, "*/") + 2 : end;
		else
			break;
	}
	if (s >= end || !*s)
		return false;
	char close = *s == '"' || *s == '`' || *s == '\'' ? *s : *s == '[' ? ']' : '\0';
	*w = (struct word){.at = s + (close != '\0'), .n = 1, .name = close || in_name(*s), .quoted = close};
	if (close)
		for (w->n = 0; w->at[w->n] && w->at[w->n] != close; w->n++)
			;
	else if (in_name(*s))
		for (; in_name(s[w->n]); w->n++)
			;
	*at = w->at + w->n + (close && w->at[w->n]);
	return true;
}

enum { ITEMS_MOST = 200 };

/* A statement that is one SELECT of tables alone: what it selects, and what is behind FROM but for the order. */
struct selection_of {
	const char *item[ITEMS_MOST], *end[ITEMS_MOST];
	unsigned n;
	const char *from, *from_end;
};

/* Words with which more flows into a column than its own words tell. */
static bool hides_names(const struct word *w)
{
	static const char *const words[] = {"SELECT", "WITH", "UNION", "INTERSECT", "EXCEPT", "VALUES", "NATURAL", "USING",
	    "OVER"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is_word(w, words[i]))
			return true;
	return false;
}

static bool take_apart(const char *text, struct selection_of *s)
{
	const char *end = text + strlen(text), *at = text, *before;
	struct word w;
	int depth = 0;
	bool behind_dot = false;
	*s = (struct selection_of){.n = 0};
	if (!next_word(&at, end, &w) || !is_word(&w, "SELECT"))
		return false;
	s->item[0] = at;
	for (before = at; next_word(&at, end, &w); before = at) {
		depth += *w.at == '(' && !w.name;
		depth -= *w.at == ')' && !w.name;
		bool begins = !s->from && before == s->item[s->n];
		if (hides_names(&w) || (*w.at == '*' && !w.name && (begins || behind_dot)))
			return false;
		behind_dot = *w.at == '.' && !w.name;
		if (begins && !s->n && (is_word(&w, "DISTINCT") || is_word(&w, "ALL")))
			s->item[0] = at;
		if (depth)
			continue;
		if (!s->from && ((*w.at == ',' && !w.name) || is_word(&w, "FROM"))) {
			s->end[s->n++] = before;
			if (s->n == ITEMS_MOST)
				return false;
			s->item[s->n] = at;
			s->from = is_word(&w, "FROM") ? at : NULL;
		} else if (s->from && !s->from_end && is_word(&w, "ORDER")) {
			s->from_end = before;
		}
	}
	s->from_end = s->from_end ? s->from_end : end;
	return s->from != NULL;
}

/* --- what is made of what ----------------------------------------------------------------------- */

static struct amount named_doubt(const struct sql *q, const struct word *w)
{
	struct amount sure = amount_exact(0);
	for (const struct sql_doubts *d = q->doubts; d; d = d->next)
		for (unsigned i = 0; i < d->n; i++)
			if (is_named(w, d->of[i].column))
				sure = amount_as_sure(sure, d->of[i].made);
	return sure;
}

static struct amount words_doubt(const struct sql *q, const char *at, const char *end)
{
	struct amount sure = amount_exact(0);
	struct word w;
	while (next_word(&at, end, &w))
		if (w.name)
			sure = amount_as_sure(sure, named_doubt(q, &w));
	return sure;
}

/* Which rows there are may hang on what is selected, too: by its name behind AS, or by its number behind GROUP BY. */
static struct amount choice_doubt(const struct sql *q, const struct selection_of *s)
{
	struct amount sure = words_doubt(q, s->from, s->from_end);
	for (unsigned i = 0; i < s->n; i++) {
		struct word w, last = {.n = 0}, used;
		for (const char *at = s->item[i]; next_word(&at, s->end[i], &w);)
			last = w;
		for (const char *at = s->from; next_word(&at, s->from_end, &used);) {
			bool alike = last.n == used.n && !sqlite3_strnicmp(last.at, used.at, (int)last.n);
			if (alike || (used.name && strtoul(used.at, NULL, 10) == i + 1))
				sure = amount_as_sure(sure, words_doubt(q, s->item[i], s->end[i]));
		}
	}
	return sure;
}

struct views {
	const char *text;
	bool named, compound; /* a view of the user's is named; one of any puts rows of several questions together */
};

static int look_at_view(void *views, int n, char **value, char **names)
{
	(void)n, (void)names;
	struct views *v = views;
	struct word w;
	const char *at = v->text, *end = at + strlen(at);
	const struct sql_table *own = sql_table_called(value[0]);
	if (own && own->from) /* its columns are called as those of the tables */
		return 0;
	v->compound |= value[1][0] == '1';
	while (next_word(&at, end, &w))
		v->named |= w.name && is_named(&w, value[0]);
	return 0;
}

static void look_at_views(struct sql *q, struct views *v)
{
	q->declares = true;
	sqlite3_exec(q->db, "SELECT name, sql LIKE '%union%' OR sql LIKE '%intersect%' OR sql LIKE '%except%', "
	    "substr(sql, 7) FROM sqlite_temp_master WHERE type = 'view'", look_at_view, v, NULL);
	q->declares = false;
}

static bool is_compound(const char *text)
{
	static const char *const words[] = {"UNION", "INTERSECT", "EXCEPT"};
	struct word w;
	for (const char *at = text, *end = at + strlen(at); next_word(&at, end, &w);)
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if (is_word(&w, words[i]))
				return true;
	return false;
}

#ifdef HAVE_SQLITE3_COLUMN_METADATA
/* The answer's column is one of a table: is that known, and how sure was it? */
static bool origin_doubt(const struct sql *q, sqlite3_stmt *s, int column, struct amount *sure)
{
	const char *base = sqlite3_column_database_name(s, column), *table = sqlite3_column_table_name(s, column);
	const char *origin = sqlite3_column_origin_name(s, column);
	if (!base || !table || !origin || strcmp(base, "main") != 0)
		return false;
	*sure = amount_exact(0);
	for (const struct sql_doubts *d = q->doubts; d; d = d->next)
		for (unsigned i = 0; !sqlite3_stricmp(d->table, table) && i < d->n; i++)
			if (!sqlite3_stricmp(d->of[i].column, origin))
				*sure = amount_as_sure(*sure, d->of[i].own);
	return true;
}
#else
static bool origin_doubt(const struct sql *q, sqlite3_stmt *s, int column, struct amount *sure)
{
	(void)q, (void)s, (void)column, (void)sure;
	return false;
}
#endif

/* A column of this name of which a value was asked for that is not here; w NULL: of any name. */
static const char *away_name(const struct sql *q, const struct word *w)
{
	for (const struct sql_doubts *d = q->doubts; d; d = d->next)
		for (unsigned i = 0; i < d->n; i++)
			if (d->of[i].away && (!w || (w->name && is_named(w, d->of[i].column))))
				return d->of[i].column;
	return NULL;
}

void sql_sureness(struct sql *q, sqlite3_stmt *s, struct amount *sure, bool *own)
{
	unsigned n = (unsigned)sqlite3_column_count(s);
	struct views views = {.text = sqlite3_sql(s)};
	struct selection_of *selected = xcalloc(1, sizeof *selected);
	bool inexact = q->doubt.certainty != EXACT, away = away_name(q, NULL) != NULL;
	if (inexact)
		look_at_views(q, &views);
	bool single = inexact && !views.named && !q->kept_read && take_apart(views.text, selected) && selected->n == n;
	bool compound = inexact && (views.compound || is_compound(views.text));
	struct amount chosen = single ? choice_doubt(q, selected) : q->doubt;
	for (unsigned i = 0; i < n; i++) {
		own[i] = (inexact || away) && !compound && origin_doubt(q, s, (int)i, &sure[i]);
		if (!inexact)
			sure[i] = amount_exact(0);
		else if (!own[i])
			sure[i] = !single ? q->doubt :
			    amount_as_sure(words_doubt(q, selected->item[i], selected->end[i]), chosen);
	}
	free(selected);
}

/* --- values that are not here --------------------------------------------------------------------- */

/* What of that is named between two places. */
static const char *away_between(const struct sql *q, const char *at, const char *end)
{
	const char *name = NULL;
	struct word w;
	while (!name && next_word(&at, end, &w))
		name = away_name(q, &w);
	return name;
}

/* The statement in two: what it selects, up to its own FROM, and what is behind that.  False: it is not one SELECT. */
static bool split(const char *text, const char **items, const char **from)
{
	const char *at = text, *end = text + strlen(text), *before;
	struct word w;
	int depth = 0;
	*from = NULL;
	if (!next_word(&at, end, &w) || !is_word(&w, "SELECT"))
		return false;
	for (*items = before = at; next_word(&at, end, &w); before = at) {
		depth += *w.at == '(' && !w.name;
		depth -= *w.at == ')' && !w.name;
		if (hides_names(&w))
			return false;
		if (!depth && !*from && is_word(&w, "FROM"))
			*from = before;
	}
	*from = *from ? *from : end;
	return true;
}

/* Is an item of the selection, which is made of such values, named again behind FROM: by its other name, or by its
 * number behind GROUP BY or ORDER BY? */
static bool is_named_again(const char *item, const char *item_end, unsigned number, const char *from)
{
	const char *end = from + strlen(from);
	struct word w, last = {.n = 0};
	bool behind_by = false;
	while (next_word(&item, item_end, &w))
		last = w;
	while (next_word(&from, end, &w)) {
		behind_by = is_word(&w, "BY") || (behind_by && !is_word(&w, "LIMIT"));
		if (w.name && last.n == w.n && !sqlite3_strnicmp(last.at, w.at, (int)w.n))
			return true;
		if (behind_by && w.name && !w.quoted && strtoul(w.at, NULL, 10) == number)
			return true;
	}
	return false;
}

static int no_choice(const struct sql *q, const char *name, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED, "%s: the filter uses the incomplete column %.100s",
	    q->silent.message, name);
}

int sql_away(struct sql *q, sqlite3_stmt *s, const bool *own, bool *away, struct err *err)
{
	const char *text = sqlite3_sql(s), *items, *from, *name = away_name(q, NULL);
	struct views views = {.text = text};
	unsigned n = (unsigned)sqlite3_column_count(s);
	if (!name)
		return 0;
	look_at_views(q, &views);
	if (!n || views.named || q->kept_read || !split(text, &items, &from))
		return no_choice(q, name, err);
	const char *behind = away_between(q, from, text + strlen(text)), *at = items;
	struct word w;
	bool distinct = next_word(&at, from, &w) && is_word(&w, "DISTINCT");
	if (behind || distinct)
		return no_choice(q, behind ? behind : name, err);
	struct selection_of *selected = xcalloc(1, sizeof *selected);
	bool apart = take_apart(text, selected) && selected->n == n;
	int code = 0;
	for (unsigned i = 0; i < n && !code; i++) {
		const char *item = apart ? selected->item[i] : items, *end = apart ? selected->end[i] : from;
		const char *column = sqlite3_column_name(s, (int)i);
		struct word called = {.at = column ? column : "", .n = column ? strlen(column) : 0, .name = true};
		away[i] = own[i] ? away_name(q, &called) != NULL : away_between(q, item, end) != NULL;
		if (apart && away_between(q, item, end) && is_named_again(item, end, i + 1, from))
			code = no_choice(q, away_between(q, item, end), err);
	}
	free(selected);
	return code;
}

#endif
