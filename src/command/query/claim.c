/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim.c - see claim.h. */
#include "command/query/claim.h"

#include "command/query/query.h"
#include "command/args/args.h"
#include "command/exec/exec.h"

#include <string.h>

enum claim_sign { IS_LESS, IS_AT_MOST, IS_MORE, IS_AT_LEAST, IS_EQUAL, IS_OTHER };

/* A comparison taken apart. */
struct comparing {
	struct text line, column; /* the command line, and the word of a column or of a value of its head */
	bool sums;                /* the column's sum decides, not each row */
	bool counts;              /* the number of rows does */
	enum claim_sign how;
	bool is_text;
	long double number;
	enum { NO_UNIT, PERCENT, BYTES } unit; /* "30%", "10M" */
	struct text word;
};

static void comparing_release(struct comparing *c)
{
	text_release(&c->line);
	text_release(&c->column);
	text_release(&c->word);
}

/* --- taking it apart ---------------------------------------------------------------------------- */

static const char *behind_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* What stands between quotes, without them; NULL: they are not closed. */
static const char *take_quoted(const char *s, struct text *to)
{
	const char *end = strchr(s + 1, *s);
	if (!end)
		return NULL;
	text_add_n(to, s + 1, (size_t)(end - s - 1));
	return end + 1;
}

static const char *take_word(const char *s, struct text *to)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	text_add_n(to, s, n);
	return n ? s + n : NULL;
}

/* objects("com.acme.Session"): the line that answers it. */
static const char *take_call(const char *s, struct comparing *c)
{
	static const struct {
		const char *word, *line;
		bool sums;
	} known[] = {{"objects", "histo", true}, {"shallow", "histo", true}, {"retained", "size", false},
	    {"rows", NULL, false}};
	size_t i = 0;
	while (i < sizeof known / sizeof *known && strcmp(known[i].word, c->line.s))
		i++;
	if (i == sizeof known / sizeof *known)
		return NULL;
	s = behind_blanks(s + 1);
	struct text what = TEXT_INIT;
	char quote = *s == '\'' ? '\'' : '"';
	bool quoted = *s == quote;
	if (quoted)
		s = take_quoted(s, &what);
	else
		text_add_n(&what, s, strcspn(s, ")"));
	s = s && !quoted ? s + what.len : s;
	text_clear(&c->line);
	if (!known[i].line)
		text_add(&c->line, what.len ? what.s : "");
	else if (quoted)
		text_addf(&c->line, "%s %c%s%c", known[i].line, quote, what.len ? what.s : "", quote);
	else
		text_addf(&c->line, "%s %s", known[i].line, what.len ? what.s : "");
	if (known[i].line)
		text_add(&c->column, known[i].word);
	c->sums = known[i].sums;
	c->counts = !known[i].line;
	text_release(&what);
	s = s ? behind_blanks(s) : NULL;
	return s && *s == ')' ? s + 1 : NULL;
}

static const char *take_left(const char *s, struct comparing *c)
{
	bool quoted = *s == '"';
	s = quoted ? take_quoted(s, &c->line) : take_word(s, &c->line);
	if (!s || !c->line.len)
		return NULL;
	if (*s == '(' && !quoted)
		return take_call(s, c);
	return *s == '.' ? take_word(s + 1, &c->column) : NULL;
}

static const char *take_comparison(const char *s, enum claim_sign *how)
{
	static const struct {
		const char *sign;
		enum claim_sign how;
	} signs[] = {{"<=", IS_AT_MOST}, {"<>", IS_OTHER}, {"<", IS_LESS}, {">=", IS_AT_LEAST}, {">", IS_MORE},
	    {"==", IS_EQUAL}, {"=", IS_EQUAL}, {"!=", IS_OTHER}};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t n = strlen(signs[i].sign);
		if (!strncmp(s, signs[i].sign, n)) {
			*how = signs[i].how;
			return s + n;
		}
	}
	return NULL;
}

/* "30", "-1.5", "30%", "10M"; the number of characters that are no unit */
static size_t read_number(const char *s, long double *to)
{
	bool negative = *s == '-';
	uint64_t bytes;
	s += negative;
	const char *whole = s - negative;
	size_t digits = strspn(s, "0123456789"), n = digits;
	long double number = 0, weight = 1;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (s[i] - '0');
	if (digits && s[n] == '.')
		for (n++; s[n] >= '0' && s[n] <= '9'; n++)
			number += (s[n] - '0') * (weight /= 10);
	if (digits && s[n] && strcmp(s + n, "%") != 0) {
		if (!parse_size(s, &bytes))
			return 0;
		number = bytes;
	}
	*to = negative ? -number : number;
	return digits ? (size_t)(s + n - whole) : 0;
}

static bool take_right(const char *s, struct comparing *c)
{
	if (*s == '\'' || *s == '"') {
		c->is_text = true;
		s = take_quoted(s, &c->word);
		return s && !*behind_blanks(s);
	}
	text_add(&c->word, s);
	while (c->word.len && strchr(" \t", c->word.s[c->word.len - 1]))
		c->word.s[--c->word.len] = '\0';
	size_t n = c->word.len ? read_number(c->word.s, &c->number) : 0;
	c->unit = !n || !c->word.s[n] ? NO_UNIT : c->word.s[n] == '%' ? PERCENT : BYTES;
	return n > 0;
}

/* False: it is no comparison. */
static bool take_apart(const char *s, struct comparing *c)
{
	s = take_left(behind_blanks(s), c);
	s = s ? take_comparison(behind_blanks(s), &c->how) : NULL;
	return s && take_right(behind_blanks(s), c);
}

/* --- judging a number --------------------------------------------------------------------------- */

static bool compare(long double a, enum claim_sign how, long double b)
{
	switch (how) {
	case IS_LESS:
		return a < b;
	case IS_AT_MOST:
		return a <= b;
	case IS_MORE:
		return a > b;
	case IS_AT_LEAST:
		return a >= b;
	case IS_EQUAL:
		return a == b;
	case IS_OTHER:
		break;
	}
	return a != b;
}

/* A number that is at least so much settles only what no larger number would change. */
static enum claim_answer judge_number(const struct cell *cell, long double n, const struct comparing *c)
{
	bool yes = compare(n, c->how, c->number);
	if (cell->amount.certainty == UNKNOWN)
		return CLAIM_UNSURE;
	if (cell->amount.certainty != LOWER_BOUND)
		return yes ? CLAIM_TRUE : CLAIM_FALSE;
	bool settled = c->how == IS_LESS || c->how == IS_AT_MOST ? !yes : c->how == IS_MORE || c->how == IS_AT_LEAST ? yes :
	    n > c->number;
	return !settled ? CLAIM_UNSURE : yes ? CLAIM_TRUE : CLAIM_FALSE;
}

/* Does a cell hold a number?  One of the dump's own stands in its digits. */
static bool number_of(const struct cell *cell, long double *n)
{
	switch (cell->type) {
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_FLAG:
		*n = cell->amount.n;
		return true;
	case CELL_PERCENT:
		*n = (long double)cell->amount.n / 10;
		return true;
	case CELL_DELTA:
	case CELL_BYTES_DELTA:
		*n = amount_signed(cell->amount);
		return true;
	case CELL_NUMBER:
	case CELL_TEXT: /* of a field that some objects have as a number */
		return cell->text && read_number(cell->text, n);
	case CELL_TIME:
		*n = (long double)cell->amount.n / 1000000000;
		return true;
	case CELL_NONE:
	case CELL_ADDRESS:
		break;
	}
	return false;
}

/* A number of bytes is no percentage: what is compared with one would be true, or false, whatever it is. */
static int check_unit(const struct cell *cell, const struct comparing *c, struct err *err)
{
	bool share = cell->type == CELL_PERCENT;
	if (c->is_text || c->unit == NO_UNIT || cell->type == CELL_NUMBER || cell->type == CELL_TEXT ||
	    (c->unit == PERCENT) == share)
		return 0;
	if (share)
		return err_set(err, ERR_USAGE, "%.100s is a percentage, but %.100s is a size (write leaks.share < 30)",
		    c->column.s, c->word.s);
	if (c->unit == PERCENT)
		return err_set(err, ERR_USAGE, "%.100s is not a percentage (columns named share are: leaks.share < 30)",
		    c->column.len ? c->column.s : "the number of rows");
	return 0; /* 10k things */
}

static int judge_text(const struct cell *cell, const struct comparing *c, enum claim_answer *answer, struct err *err)
{
	struct text plain = TEXT_INIT;
	if (c->how != IS_EQUAL && c->how != IS_OTHER)
		return err_set(err, ERR_USAGE, "%.100s is a text (compare it with another by = or !=)", c->column.s);
	cell_print_plain(cell, &plain);
	bool equal = !strcmp(plain.len ? plain.s : "", c->word.len ? c->word.s : "");
	*answer = equal == (c->how == IS_EQUAL) ? CLAIM_TRUE : CLAIM_FALSE;
	text_release(&plain);
	return 0;
}

/* --- over the rows ------------------------------------------------------------------------------ */

/* The cell that decides so far. */
struct decisive {
	struct claim *claim;
	const struct comparing *comparing;
	const struct command *command; /* that was asked; NULL: none */
	struct text name; /* of its row */
	long double number;
	bool lacks_rows;  /* of what the dump does not tell there may be more */
	uint64_t rows, others; /* looked at; of those that are as bad as the one that decides, without it */
};

static bool is_more_telling(const struct decisive *d, enum claim_answer answer, bool is_number, long double n)
{
	if (!d->rows || answer != d->claim->answer)
		return !d->rows || answer > d->claim->answer;
	enum claim_sign how = d->comparing->how;
	return is_number && (how == IS_LESS || how == IS_AT_MOST ? n > d->number :
	    (how == IS_MORE || how == IS_AT_LEAST) && n < d->number);
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

/* *tells: it is what decides now. */
static int look_at(struct decisive *d, const struct cell *cell, bool *tells, struct err *err)
{
	const struct comparing *c = d->comparing;
	long double n = 0;
	bool is_number = !c->is_text && number_of(cell, &n);
	enum claim_answer answer = CLAIM_UNSURE;
	int code = is_number ? check_unit(cell, c, err) : 0;
	if (code)
		return code;
	if (is_number)
		answer = judge_number(cell, n, c);
	else if (cell->type != CELL_NONE && c->is_text)
		code = judge_text(cell, c, &answer, err);
	else if (cell->type != CELL_NONE)
		code = err_set(err, ERR_USAGE, "%.100s is a text (compare it with a text in quotes)", c->column.s);
	if (code)
		return code;
	*tells = is_more_telling(d, answer, is_number, n);
	if (*tells && d->rows && answer != d->claim->answer)
		d->others = 0;
	else if (d->rows && answer == d->claim->answer)
		d->others++;
	d->rows++;
	if (!*tells)
		return 0;
	d->claim->answer = answer;
	d->number = n;
	show(d->claim, cell, is_number);
	return 0;
}

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

static int look_at_rows(struct decisive *d, struct result *r, unsigned column, struct err *err)
{
	int code = 0;
	bool tells;
	struct cell cell;
	do {
		for (size_t i = 0; i < r->n_rows && !code; i++) {
			if (progress_own_stops(d->rows))
				return err_cancelled(err);
			result_cell(r, i, column, &cell);
			code = look_at(d, &cell, &tells, err);
			if (!code && tells)
				name_row(r, i, &d->name);
		}
	} while (!code && result_next_rows(r));
	return code ? code : result_check(r, err);
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

/* Where rows may be missing, what holds of all others settles nothing. */
static void doubt_rows(struct decisive *d, const struct result *r)
{
	if (r->lacks_rows && d->claim->answer == CLAIM_TRUE)
		d->claim->answer = CLAIM_UNSURE;
	d->lacks_rows = r->lacks_rows;
}

/* Which rows there are may be in doubt: what is not there settles nothing then. */
static void no_row_decided(struct decisive *d, const struct result *r)
{
	d->claim->answer = result_count(r).certainty == EXACT ? CLAIM_TRUE : CLAIM_UNSURE;
}

static int look_at_result(struct decisive *d, struct result *r, struct err *err)
{
	const struct comparing *c = d->comparing;
	bool tells;
	struct cell cell;
	if (c->counts) {
		cell = cell_count(result_count(r));
		return look_at(d, &cell, &tells, err);
	}
	int column = result_column(r, c->column.s);
	const struct field *field = column < 0 ? head_called(r, c->column.s) : NULL;
	if (field)
		return look_at(d, &field->cell, &tells, err);
	if (column < 0 && tells_of_others(d->command, c->column.s)) {
		cell = c->is_text ? cell_text("") : cell_none();
		return look_at(d, &cell, &tells, err);
	}
	if (column < 0)
		return pipe_no_column(r, c->column.s, err);
	if (c->sums)
		result_total(r, (unsigned)column, &cell);
	int code = c->sums ? look_at(d, &cell, &tells, err) : look_at_rows(d, r, (unsigned)column, err);
	if (!code && !d->rows)
		no_row_decided(d, r);
	doubt_rows(d, r);
	return code;
}

/* --- what is said of it ------------------------------------------------------------------------- */

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
	if (c->is_text)
		return false;
	return c->how == IS_LESS ? c->number > 0 && c->number <= 1 :
	    (c->how == IS_EQUAL || c->how == IS_AT_MOST) && c->number >= 0 && c->number < 1;
}

static bool is_pattern(const struct comparing *c)
{
	const char *word = strchr(c->line.s, ' '); /* what histo or size is asked of */
	word = word ? word + 1 + (word[1] == '\'' || word[1] == '"') : "";
	return *word == '/' || strpbrk(word, "*?");
}

/* There are none of these: an answer where absence is expected, or may be; else a misspelt name would be one. */
static int judge_absence(struct decisive *d, const struct session *s, const char *text, struct err *err)
{
	bool tells, incomplete = session_heap(s)->incomplete;
	struct err found = *err;
	if (!incomplete && !expects_absence(d->comparing) && !is_pattern(d->comparing))
		return err_set(err, ERR_USAGE, "%.200s: %.300s; if it may be missing, use = 0, < 1 or a pattern with *",
		    text, found.message);
	struct cell none = cell_count(heap_counted(session_heap(s), 0));
	text_addf(&d->claim->absent, "%s", found.message);
	return look_at(d, &none, &tells, err);
}

static int judge_comparison(struct claim *out, struct session *s, const struct comparing *c, const char *text,
    struct err *err)
{
	struct result *r = NULL;
	struct decisive d = {.claim = out, .comparing = c, .name = TEXT_INIT};
	struct invocation *asked = invocation_of(c->line.s);
	d.command = asked->command;
	int code = session_ask(s, asked, &r, err);
	if (code == ERR_NOT_FOUND && (c->sums || !strncmp(c->line.s, "size ", 5))) {
		code = judge_absence(&d, s, text, err);
	} else if (!code) {
		code = look_at_result(&d, r, err);
	}
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
	struct text select = TEXT_INIT;
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
	long double n;
	bool is_number = number_of(&cell, &n);
	out->answer = is_number && compare(n, IS_OTHER, 0) ? CLAIM_TRUE : CLAIM_FALSE;
	if (cell.type == CELL_NONE)
		out->answer = CLAIM_UNSURE;
	if (cell.type != CELL_NONE)
		show(out, &cell, is_number);
	say(out, text, NULL);
	code = r ? result_check(r, err) : 0;
	result_free(r);
	return code;
}

int claim_judge(struct claim *out, struct session *s, const char *text, struct err *err)
{
	struct comparing c = {.line = TEXT_INIT};
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
