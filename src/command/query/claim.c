/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.c - see claim.h.
 *
 * A comparison becomes a question in SQL over the rows that it names, or over a table of one value, which gives the row
 * that decides.  The certainty of a number is a column of these tables.
 */
#include "command/query/claim.h"

#include "command/query/query.h"
#include "command/args/args.h"
#include "command/exec/exec.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A comparison taken apart. */
struct comparing {
	struct text line, column; /* the command line, and the word of a column or of a value of its head */
	bool sums;                /* the column's sum decides, not each row */
	bool counts;              /* the number of rows does */
	char how[3];              /* the operator, as SQL has it */
	bool is_text;
	enum { NO_UNIT, PERCENT, BYTES } unit; /* "30%", "10M" */
	struct text word, value;  /* what it is compared with, as it is written, and in SQL */
};

static void comparing_release(struct comparing *c)
{
	text_release(&c->line);
	text_release(&c->column);
	text_release(&c->word);
	text_release(&c->value);
}

/* --- taking it apart ---------------------------------------------------------------------------- */

static bool is_quoted(const struct sql_token *t)
{
	return !t->open && (t->kind == TOKEN_TEXT || (t->kind == TOKEN_QUOTED && *t->s == '"'));
}

static void add_contents(struct text *to, const struct sql_token *t)
{
	size_t n;
	const char *s = sql_token_contents(t, &n);
	text_add_n(to, s, n);
}

/* objects("com.acme.Session"): the line that answers it; *at is behind the parenthesis. */
static bool take_call(const char **at, const char *end, struct comparing *c)
{
	static const struct {
		const char *word, *line;
		bool sums;
	} known[] = {{"objects", "histo ", true}, {"shallow", "histo ", true}, {"retained", "size ", false},
	    {"rows", "", false}};
	struct sql_token what;
	size_t i = 0;
	while (i < sizeof known / sizeof *known && strcmp(known[i].word, c->line.s))
		i++;
	const char *from = *at + strspn(*at, " \t"), *close = NULL;
	if (i == sizeof known / sizeof *known)
		return false;
	bool quoted = sql_next(at, end, &what) && is_quoted(&what);
	close = quoted ? *at + strspn(*at, " \t") : strchr(from, ')');
	if (!close || *close != ')')
		return false;
	*at = close + 1;
	c->counts = !*known[i].line;
	c->sums = known[i].sums;
	text_clear(&c->line);
	text_add(&c->line, known[i].line);
	if (!c->counts)
		text_add(&c->column, known[i].word);
	if (quoted && c->counts)
		add_contents(&c->line, &what);
	else
		text_add_n(&c->line, from, quoted ? what.n : (size_t)(close - from));
	return true;
}

/* "30", "-1.5", "30%", "10M" */
static bool take_number(const char *s, struct comparing *c)
{
	uint64_t bytes;
	size_t sign = *s == '-', digits = strspn(s + sign, "0123456789"), n = sign + digits;
	if (digits && s[n] == '.')
		n += 1 + strspn(s + n + 1, "0123456789");
	c->unit = !s[n] ? NO_UNIT : !strcmp(s + n, "%") ? PERCENT : BYTES;
	if (!digits || (c->unit == BYTES && !parse_size(s + sign, &bytes)))
		return false;
	if (c->unit == BYTES)
		text_addf(&c->value, "%s%" PRIu64, sign ? "-" : "", bytes);
	else
		text_add_n(&c->value, s, n);
	return true;
}

static bool take_right(const char *at, const char *end, struct comparing *c)
{
	const char *from = at + strspn(at, " \t");
	struct sql_token t, behind;
	if (!sql_next(&at, end, &t))
		return false;
	if ((c->is_text = is_quoted(&t))) {
		add_contents(&c->word, &t);
		text_add(&c->value, "'");
		for (const char *s = c->word.len ? c->word.s : ""; *s; s++)
			text_addf(&c->value, *s == '\'' ? "''" : "%c", *s);
		text_add(&c->value, "'");
		return !sql_next(&at, end, &behind);
	}
	text_add(&c->word, from);
	while (c->word.len && strchr(" \t", c->word.s[c->word.len - 1]))
		c->word.s[--c->word.len] = '\0';
	return c->word.len && take_number(c->word.s, c);
}

/* False: it is no comparison. */
static bool take_apart(const char *s, struct comparing *c)
{
	const char *end = s + strlen(s);
	struct sql_token left, t;
	if (!sql_next(&s, end, &left) || (left.kind != TOKEN_WORD && !(left.kind == TOKEN_QUOTED && is_quoted(&left))))
		return false;
	add_contents(&c->line, &left);
	if (!c->line.len || !sql_next(&s, end, &t) || t.apart)
		return false;
	if (sql_is_sign(&t, '(') && left.kind == TOKEN_WORD) {
		if (!take_call(&s, end, c))
			return false;
	} else {
		if (!sql_is_sign(&t, '.') || !sql_next(&s, end, &t) || t.kind != TOKEN_WORD || t.apart)
			return false;
		add_contents(&c->column, &t);
	}
	if (!sql_next(&s, end, &t) || t.kind != TOKEN_COMPARISON)
		return false;
	memcpy(c->how, t.s, t.n);
	return take_right(s, end, c);
}

/* --- what decides ------------------------------------------------------------------------------- */

/* The cell that decides. */
struct decisive {
	struct claim *claim;
	const struct comparing *comparing;
	struct session *session;
	const struct command *command; /* that was asked; NULL: none */
	struct text name;  /* of its row */
	bool lacks_rows;   /* of what the dump does not tell there may be more */
	uint64_t rows, others; /* looked at, at most 1; of those that are as bad as the one that decides, without it */
};

static void name_row(struct result *r, size_t row, struct text *to)
{
	struct cell cell;
	int column = result_column_of(r, r->named_by);
	text_clear(to);
	result_cell(r, row, column < 0 ? 0 : (unsigned)column, &cell);
	bool address = cell.type == CELL_ADDRESS;
	cell_print(&cell, to);
	column = address ? result_column_of(r, COL_CLASS) : -1;
	if (column < 0)
		return;
	result_cell(r, row, (unsigned)column, &cell);
	text_add(to, ", ");
	cell_print(&cell, to);
}

static void show(struct claim *c, const struct cell *cell, bool is_number)
{
	text_clear(&c->value);
	text_clear(&c->digits);
	cell_print(cell, &c->value);
	if (is_number)
		cell_print_plain(cell, &c->digits);
	c->sure = cell->amount;
}

/* A number of bytes is no percentage: what is compared with one would be true, or false, whatever it is. */
static int check_kind(const struct comparing *c, enum cell_type type, struct err *err)
{
	bool share = type == CELL_PERCENT, own = type == CELL_NUMBER || type == CELL_TEXT || type == CELL_NONE;
	if (c->is_text && strcmp(c->how, "=") && strcmp(c->how, "==") && strcmp(c->how, "!=") && strcmp(c->how, "<>"))
		return err_set(err, ERR_USAGE, "%.100s is a text (compare it with another by = or !=)", c->column.s);
	if (c->is_text || own || c->unit == NO_UNIT || (c->unit == PERCENT) == share)
		return 0;
	if (share)
		return err_set(err, ERR_USAGE, "%.100s is a percentage, but %.100s is a size (write leaks.share < 30)",
		    c->column.s, c->word.s);
	if (c->unit == PERCENT)
		return err_set(err, ERR_USAGE, "%.100s is not a percentage (columns named share are: leaks.share < 30)",
		    c->column.len ? c->column.s : "the number of rows");
	return 0; /* 10k things */
}

enum { NO_NUMBER_THERE = CLAIM_FALSE + 1 };

/*
 * Of the rows with the worst answer the one that is farthest off, or the first, and how many there are.  A number that
 * is at least so much settles only what no larger number would change.
 */
static void write_question(const struct comparing *c, enum cell_type type, const char *column, struct text *to)
{
	struct text value = TEXT_INIT, holds = TEXT_INIT;
	bool less = *c->how == '<' && c->how[1] != '>', more = *c->how == '>';
	if (c->is_text)
		text_addf(&value, type == CELL_FLAG ? "CASE \"%s\" WHEN 1 THEN 'true' WHEN 0 THEN 'false' END" :
		    type == CELL_ADDRESS ? "hex(\"%s\")" : "\"%s\" || ''", column);
	else
		text_addf(&value, type == CELL_TIME ? "\"%s\" / 1e9" : "\"%s\" + 0", column);
	text_addf(&holds, "%s %s %s", value.s, c->how, c->value.s);
	text_addf(to, "SELECT answer, row, count(*), %s FROM (SELECT _rowid_ AS row, %s AS value, CASE ",
	    less ? "max(coalesce(value, -9e999))" : more ? "min(coalesce(value, 9e999))" : "min(row)", value.s);
	if (!c->is_text && type == CELL_ADDRESS)
		text_addf(to, "WHEN \"%s\" IS NOT NULL THEN %d ", column, NO_NUMBER_THERE);
	else if (!c->is_text)
		text_addf(to, "WHEN typeof(\"%s\") = 'text' AND \"%s\" GLOB '*[^-0-9.]*' THEN %d ", column, column,
		    NO_NUMBER_THERE);
	text_addf(to, "WHEN \"%s\" IS NULL OR \"%s_certainty\" = '%s' THEN %d ", column, column,
	    certainty_name(UNKNOWN), CLAIM_UNSURE);
	if (!c->is_text)
		text_addf(to, "WHEN \"%s_certainty\" = '%s' AND NOT (%s %s %s) THEN %d ", column,
		    certainty_name(LOWER_BOUND), value.s, less ? c->how[1] ? ">" : ">=" : more ? c->how : ">",
		    c->value.s, CLAIM_UNSURE);
	text_addf(to, "WHEN %s THEN %d ELSE %d END AS answer FROM " SQL_ROWS ") GROUP BY answer ORDER BY answer DESC "
	    "LIMIT 1", holds.s, CLAIM_TRUE, CLAIM_FALSE);
	text_release(&value);
	text_release(&holds);
}

static uint64_t number_at(struct result *r, unsigned column)
{
	struct cell cell;
	struct text t = TEXT_INIT;
	result_cell(r, 0, column, &cell);
	cell_print_plain(&cell, &t);
	uint64_t n = t.len ? strtoull(t.s, NULL, 10) : 0;
	text_release(&t);
	return n;
}

/* Judge a column of rows.  names: they have names. */
static int judge_rows(struct decisive *d, struct result *rows, unsigned column, bool names, struct err *err)
{
	const struct comparing *c = d->comparing;
	enum cell_type type = column_type(&rows->columns[column]);
	struct text question = TEXT_INIT;
	struct result *answer = NULL;
	struct sql *q;
	struct cell cell;
	int code = rows->n_rows ? check_kind(c, type, err) : 0;
	if (!code)
		code = ask_open(d->session, &q, err);
	write_question(c, type, column_word(&rows->columns[column]), &question);
	if (!code)
		code = sql_run_over(q, rows, question.s ? question.s : "", session_progress(d->session), &answer, err);
	text_release(&question);
	if (code || !answer || !answer->n_rows) {
		result_free(answer);
		return code;
	}
	uint64_t kind = number_at(answer, 0);
	size_t row = number_at(answer, 1) - 1;
	d->rows = 1;
	d->others = number_at(answer, 2) - 1;
	result_free(answer);
	if (kind == NO_NUMBER_THERE)
		return err_set(err, ERR_USAGE, "%.100s is a text (compare it with a text in quotes)", c->column.s);
	d->claim->answer = (enum claim_answer)kind;
	result_cell(rows, row, column, &cell);
	show(d->claim, &cell, !c->is_text && cell.type != CELL_NONE);
	if (names)
		name_row(rows, row, &d->name);
	return 0;
}

/* Judge one value, as a table of its own. */
static int judge_value(struct decisive *d, struct cell cell, struct err *err)
{
	const struct column column = {.id = COL_OWN_NAME, .name = "value", .type = cell.type ? cell.type : CELL_COUNT};
	const struct shape shape = {.columns = &column, .n_columns = 1};
	struct result *r = result_new_rows("value", d->session->dump, &shape);
	result_add_row(r, &cell, NULL);
	int code = result_check(r, err);
	if (!code)
		code = judge_rows(d, r, 0, false, err);
	result_free(r);
	return code;
}

static const struct field *head_called(const struct result *r, const char *name)
{
	for (size_t i = 0; i < r->n_head; i++)
		if (!strcmp(r->head[i].name, name))
			return &r->head[i];
	return NULL;
}

/* Does the command tell of dumps under this word, though it tells nothing of this one? */
static bool tells_of_others(const struct command *c, const char *word)
{
	for (size_t k = 0; c && c->shapes && c->shapes[k]; k++) {
		const struct shape *shape = c->shapes[k];
		if (column_find(shape->columns, shape->n_columns, word) >= 0)
			return true;
		for (unsigned i = 0; i < shape->n_head; i++)
			if (!strcmp(column_kinds[shape->head[i]].word, word))
				return true;
	}
	return false;
}

static int judge_result(struct decisive *d, struct result *r, struct err *err)
{
	const struct comparing *c = d->comparing;
	struct cell cell;
	if (c->counts)
		return judge_value(d, cell_count(result_count(r)), err);
	int column = result_column(r, c->column.s);
	const struct field *field = column < 0 ? head_called(r, c->column.s) : NULL;
	if (field)
		return judge_value(d, field->cell, err);
	if (column < 0 && tells_of_others(d->command, c->column.s))
		return judge_value(d, c->is_text ? cell_text("") : cell_none(), err);
	if (column < 0)
		return pipe_no_column(r, c->column.s, err);
	if (c->sums)
		result_total(r, (unsigned)column, &cell);
	int code = c->sums ? judge_value(d, cell, err) : judge_rows(d, r, (unsigned)column, true, err);
	/* which rows there are may be in doubt: what is not there settles nothing then, nor what holds of all others */
	if (!code && !d->rows)
		d->claim->answer = result_count(r).certainty == EXACT ? CLAIM_TRUE : CLAIM_UNSURE;
	d->lacks_rows = result_is(r, RESULT_LACKS_ROWS);
	if (result_is(r, RESULT_LACKS_ROWS) && d->claim->answer == CLAIM_TRUE)
		d->claim->answer = CLAIM_UNSURE;
	return code;
}

/* --- what is said of it ------------------------------------------------------------------------- */

/* d NULL: an expression of SQL. */
static void say(struct claim *c, const char *text, const struct decisive *d)
{
	static const char *const words[] = {[CLAIM_TRUE] = "true", [CLAIM_UNSURE] = "undecided", [CLAIM_FALSE] = "false"};
	text_add_escaped(&c->sentence, text, strlen(text));
	text_addf(&c->sentence, " is %s", words[c->answer]);
	if (d && !d->rows)
		text_addf(&c->sentence, ": there are no rows%s", c->answer == CLAIM_TRUE ? "" : " in the readable part");
	if (!c->value.len && c->answer == CLAIM_UNSURE && d && d->rows)
		text_addf(&c->sentence, ": %s has no value", d->name.len ? d->name.s : "the dump");
	if (d && c->value.len && c->sure.certainty == UNKNOWN) {
		text_add(&c->sentence, ": the value is unknown");
		return;
	}
	bool lacks = d && d->rows && d->lacks_rows && c->answer == CLAIM_UNSURE;
	if (lacks)
		text_add(&c->sentence, ": some rows are unknown");
	if (!c->value.len)
		return;
	text_addf(&c->sentence, "%s it is %s", lacks ? "; among the known rows" : ":", c->value.s);
	if (d && d->name.len)
		text_addf(&c->sentence, " for %s", d->name.s);
	if (d && d->others && c->answer != CLAIM_TRUE) {
		text_addf(&c->sentence, ", and %s for ", words[c->answer]);
		text_add_count(&c->sentence, d->others);
		text_add(&c->sentence, d->others == 1 ? " other row" : " other rows");
	}
}

/* Does nothing but absence make it true? */
static bool expects_absence(const struct comparing *c)
{
	double n = c->is_text || !c->value.len ? -1 : strtod(c->value.s, NULL);
	return !strcmp(c->how, "<") ? n > 0 && n <= 1 : (*c->how == '=' || !strcmp(c->how, "<=")) && n >= 0 && n < 1;
}

static bool is_pattern(const struct comparing *c)
{
	const char *word = strchr(c->line.s, ' '); /* what histo or size is asked of */
	word = word ? word + 1 + (word[1] == '\'' || word[1] == '"') : "";
	return *word == '/' || strpbrk(word, "*?");
}

/* There are none of these: an answer where absence is expected, or may be; else a misspelt name would be one. */
static int judge_absence(struct decisive *d, const char *text, struct err *err)
{
	const struct heap *h = session_heap(d->session);
	if (!h->incomplete && !expects_absence(d->comparing) && !is_pattern(d->comparing)) {
		struct err found = *err;
		return err_set(err, ERR_USAGE, "%.200s: %.300s; if it may be missing, use = 0, < 1 or a pattern with *",
		    text, found.message);
	}
	text_addf(&d->claim->absent, "%s", err->message);
	return judge_value(d, cell_count(heap_counted(h, 0)), err);
}

static int judge_comparison(struct claim *out, struct session *s, const struct comparing *c, const char *text,
    struct err *err)
{
	struct result *r = NULL;
	struct decisive d = {.claim = out, .comparing = c, .session = s, .name = TEXT_INIT};
	struct invocation *asked = invocation_of(c->line.s);
	d.command = asked->command;
	int code = session_ask(s, asked, &r, err);
	if (code == ERR_NOT_FOUND && (c->sums || !strncmp(c->line.s, "size ", 5)))
		code = judge_absence(&d, text, err);
	else if (!code)
		code = judge_result(&d, r, err);
	if (!code)
		say(out, text, &d);
	if (!code && out->absent.len)
		text_addf(&out->sentence, ", because %s", out->absent.s);
	result_free(r);
	text_release(&d.name);
	invocation_drop(asked);
	return code;
}

/* The value of an expression: NULL leaves it open. */
static int judge_sql(struct claim *out, struct session *s, const char *text, struct err *err)
{
	struct sql *q;
	struct result *r = NULL;
	struct text select = TEXT_INIT, plain = TEXT_INIT;
	struct sql_wishes none = {.subclasses = false};
	text_addf(&select, "SELECT (%s) AS value", text);
	int code = ask_open(s, &q, err);
	if (!code)
		code = sql_run(q, select.s, &none, session_progress(s), &r, err);
	text_release(&select);
	if (code == ERR_USAGE)
		return err_set(err, ERR_USAGE, "%.100s: not a comparison (such as 'leaks.share < 30' or "
		    "'objects(\"CLASS\") < 10000', in quotes because of the blanks), and as SQL: %.300s", text,
		    err->message);
	if (code)
		return code;
	struct cell cell = cell_none();
	if (r && r->n_columns && r->n_rows)
		result_cell(r, 0, 0, &cell);
	cell_print_plain(&cell, &plain);
	char *end = NULL;
	bool yes = plain.len && strtod(plain.s, &end) != 0, is_number = plain.len && !*end;
	out->answer = cell.type == CELL_NONE ? CLAIM_UNSURE : yes && is_number ? CLAIM_TRUE : CLAIM_FALSE;
	if (cell.type != CELL_NONE)
		show(out, &cell, is_number);
	say(out, text, NULL);
	code = r ? result_check(r, err) : 0;
	result_free(r);
	text_release(&plain);
	return code;
}

int claim_judge(struct claim *out, struct session *s, const char *text, struct err *err)
{
	struct comparing c = {.line = TEXT_INIT, .column = TEXT_INIT, .word = TEXT_INIT, .value = TEXT_INIT};
	*out = (struct claim){.value = TEXT_INIT, .digits = TEXT_INIT, .sentence = TEXT_INIT, .absent = TEXT_INIT};
	int code = take_apart(text, &c) ? judge_comparison(out, s, &c, text, err) : judge_sql(out, s, text, err);
	comparing_release(&c);
	if (code)
		claim_release(out);
	return code;
}

void claim_release(struct claim *c)
{
	text_release(&c->absent);
	text_release(&c->value);
	text_release(&c->digits);
	text_release(&c->sentence);
}
