/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print_machine.c - CSV by RFC 4180, JSON by RFC 8259.
 *
 * Every column is printed, shown or not.  Where numbers of a column are not all exact, a column
 * NAME_certainty follows after the contract's own columns; where it is missing, all are exact.
 * Text is escaped as everywhere (base/text.h), whatever it comes from: CSV and JSON are valid for any
 * bytes.  It is never cut.
 */
#include "result/print_machine.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A word that a reader of the output should see beside the number. */
static bool is_inexact(const struct cell *c)
{
	return cell_is_number(c->type) && c->amount.certainty != EXACT;
}

bool *print_inexact_columns(struct result *r, size_t rows)
{
	bool *inexact = xcalloc(r->n_columns ? r->n_columns : 1, sizeof *inexact);
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (!cell_is_number(column_type(&r->columns[c])))
			continue;
		if (r->ops && r->ops->inexact) {
			inexact[c] = r->ops->inexact(r, c);
			continue;
		}
		for (size_t row = 0; row < rows && !inexact[c] && !result_stopped(r, row); row++) {
			struct cell cell;
			result_cell_number(r, row, c, &cell);
			inexact[c] = is_inexact(&cell);
		}
	}
	return inexact;
}

const char *print_certainty(const struct cell *c)
{
	return certainty_name(c->type == CELL_NONE ? UNKNOWN : c->amount.certainty);
}

/* --- csv -------------------------------------------------------------------------------------- */

/* A number of any spelling that texts of dumps have: a spreadsheet shows it as it stands. */
static bool is_plain_number(const char *s)
{
	s += *s == '+' || *s == '-';
	size_t whole = strspn(s, "0123456789"), part = 0;
	if (!whole)
		return !strcmp(s, "Infinity");
	s += whole;
	if (*s == '.') {
		part = strspn(++s, "0123456789");
		s += part;
		if (!part)
			return false;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '+' || *s == '-';
		part = strspn(s, "0123456789");
		s += part;
		if (!part)
			return false;
	}
	return !*s;
}

/* Is it a number as JSON has them?  Java and Go print all numbers so but NaN and infinite ones. */
static bool is_json_number(const char *s)
{
	s += *s == '-';
	return *s != '+' && *s != 'I' && (*s != '0' || s[1] < '0' || s[1] > '9') && is_plain_number(s);
}

/* Would a spreadsheet compute this, or send it somewhere (OWASP, "CSV injection")?  Tabs and line ends
 * are escaped, so no text begins with one. */
static bool is_formula(const char *s)
{
	/* = + - @ of full width, small ones, and the minus sign: some read them as the plain ones */
	static const char *const wide[] = {"\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\xA0",
	    "\xEF\xB9\xA6", "\xEF\xB9\xA2", "\xEF\xB9\xA3", "\xEF\xB9\xAB", "\xE2\x88\x92"};
	for (size_t i = 0; *s & 0x80 && i < sizeof wide / sizeof *wide; i++)
		if (!strncmp(s, wide[i], 3))
			return true;
	return *s && strchr("=+-@", *s) && !is_plain_number(s);
}

/* Bytes: what is written is collected, for a call a cell takes longer than the cell. */
enum { COLLECTED = 32 << 10, SHORT = 64 };

struct csv {
	struct text cell, out;
	bool raw;
	bool part; /* every text stands in quotes: who guesses the quote finds it, and '' is not NULL */
	FILE *to;
};

static void csv_flush(struct csv *csv)
{
	if (csv->out.len)
		fwrite(csv->out.s, 1, csv->out.len, csv->to);
	text_clear(&csv->out);
}

static void csv_add(struct csv *csv, const char *s, size_t n)
{
	if (csv->out.len + n > COLLECTED)
		csv_flush(csv);
	if (n > COLLECTED)
		fwrite(s, 1, n, csv->to);
	else
		text_add_n(&csv->out, s, n);
}

static void csv_word(struct csv *csv, const char *word)
{
	csv_add(csv, word, strlen(word));
}

static void csv_quoted(const char *s, struct csv *csv)
{
	csv_add(csv, "\"", 1);
	while (*s) {
		size_t n = strcspn(s, "\"");
		n += s[n] == '"';
		csv_add(csv, s, n);
		if (s[n - 1] == '"')
			csv_add(csv, "\"", 1);
		s += n;
	}
	csv_add(csv, "\"", 1);
}

static void csv_text(const char *s, struct csv *csv)
{
	size_t plain = strcspn(s, ",\"\r\n");
	if (s[plain] || *s == ' ')
		csv_quoted(s, csv);
	else
		csv_add(csv, s, plain);
}

static void csv_cell(const struct cell *c, struct csv *csv);

/* A name in the header: of a class's field it is a text of the dump as any other. */
static void csv_name(const char *name, const char *suffix, struct csv *csv)
{
	struct text whole = TEXT_INIT;
	text_addf(&whole, "%s%s", name, suffix);
	csv_cell(&(struct cell){.type = CELL_TEXT, .text = whole.s ? whole.s : ""}, csv);
	text_release(&whole);
}

static void csv_cell(const struct cell *c, struct csv *csv)
{
	struct text *t = &csv->cell;
	if (c->type != CELL_TEXT && c->type != CELL_NUMBER) { /* digits and letters of ours */
		if (csv->out.len + SHORT > COLLECTED)
			csv_flush(csv);
		cell_print_plain(c, &csv->out);
		return;
	}
	text_clear(t);
	/* what may be a formula is known only once it is escaped: keep room in front */
	text_add_char(t, '\'');
	cell_print_plain(c, t);
	const char *value = t->len ? t->s + 1 : ""; /* without memory there is nothing, which somebody else tells */
	bool marked = c->type == CELL_TEXT && !csv->raw && is_formula(value);
	(csv->part && c->type == CELL_TEXT ? csv_quoted : csv_text)(marked ? t->s : value, csv);
}

static void csv_certainty(const struct cell *c, struct csv *csv)
{
	csv_word(csv, ",");
	csv_word(csv, print_certainty(c));
}

static void csv_head(const struct result *r, struct csv *csv)
{
	for (size_t i = 0; i < r->n_head; i++) {
		csv_word(csv, i ? "," : "");
		csv_text(r->head[i].name, csv);
	}
	for (size_t i = 0; i < r->n_head; i++) {
		if (!is_inexact(&r->head[i].cell))
			continue;
		csv_word(csv, ",");
		csv_word(csv, r->head[i].name);
		csv_word(csv, "_certainty");
	}
	csv_word(csv, "\r\n");
	for (size_t i = 0; i < r->n_head; i++) {
		csv_word(csv, i ? "," : "");
		csv_cell(&r->head[i].cell, csv);
	}
	for (size_t i = 0; i < r->n_head; i++)
		if (is_inexact(&r->head[i].cell))
			csv_certainty(&r->head[i].cell, csv);
	csv_word(csv, "\r\n");
}

static bool *number_columns(const struct result *r)
{
	bool *number = xcalloc(r->n_columns ? r->n_columns : 1, sizeof *number);
	for (unsigned c = 0; c < r->n_columns; c++)
		number[c] = cell_is_number(column_type(&r->columns[c]));
	return number;
}

static void csv_row(struct result *r, size_t row, const bool *inexact, struct csv *csv)
{
	struct cell cell;
	for (unsigned c = 0; c < r->n_columns; c++) {
		csv_word(csv, c ? "," : "");
		result_cell(r, row, c, &cell);
		csv_cell(&cell, csv);
	}
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (!inexact[c])
			continue;
		result_cell(r, row, c, &cell);
		csv_certainty(&cell, csv);
	}
	csv_word(csv, "\r\n");
}

static void csv_names(const struct result *r, const bool *inexact, struct csv *csv)
{
	for (unsigned c = 0; c < r->n_columns; c++) {
		csv_word(csv, c ? "," : "");
		csv_name(column_word(&r->columns[c]), "", csv);
	}
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (!inexact[c])
			continue;
		csv_word(csv, ",");
		csv_name(column_word(&r->columns[c]), "_certainty", csv);
	}
	csv_word(csv, "\r\n");
}

static void csv_rows(struct result *r, size_t top, struct csv *csv)
{
	size_t rows = top && top < r->n_rows ? top : r->n_rows;
	bool *inexact = csv->part ? number_columns(r) : print_inexact_columns(r, rows);
	csv_names(r, inexact, csv);
	for (bool more = true; more; more = !top && !ferror(csv->to) && result_next_rows(r)) {
		rows = top && top < r->n_rows ? top : r->n_rows;
		for (size_t row = 0; row < rows && !ferror(csv->to) && !result_stopped(r, row); row++)
			if (result_heading(r, row) != HEADING_OF_ROWS)
				csv_row(r, row, inexact, csv);
	}
	free(inexact);
}

void print_csv(struct result *r, size_t top, bool raw, bool part, FILE *to)
{
	struct csv csv = {.raw = raw, .part = part, .to = to};
	if (r->n_head)
		csv_head(r, &csv);
	if (r->n_head && r->n_columns)
		csv_word(&csv, "\r\n");
	if (r->n_columns)
		csv_rows(r, top, &csv);
	csv_flush(&csv);
	text_release(&csv.cell);
	text_release(&csv.out);
}

/* --- json ------------------------------------------------------------------------------------- */

struct json {
	struct text text;
	FILE *to;
};

static void json_quoted(const char *at, struct json *j)
{
	while (*at) {
		size_t n = strcspn(at, "\"\\");
		fwrite(at, 1, n, j->to);
		at += n;
		if (*at) {
			putc('\\', j->to);
			putc(*at++, j->to);
		}
	}
}

/* Escaped for JSON what is escaped for people: a byte 01 becomes \\x01, a text of four characters. */
static void json_text(const char *s, struct json *j)
{
	struct text *t = &j->text;
	text_clear(t);
	text_add_escaped(t, s, strlen(s));
	putc('"', j->to);
	json_quoted(t->s, j);
	putc('"', j->to);
}

static void json_value(const struct cell *c, struct json *j)
{
	switch (c->type) {
	case CELL_NONE:
		fputs("null", j->to);
		break;
	case CELL_TEXT:
		json_text(c->text, j);
		break;
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_TIME:
		fprintf(j->to, "%" PRIu64, c->amount.n);
		break;
	case CELL_PERCENT:
		fprintf(j->to, "%" PRIu64 ".%" PRIu64, c->amount.n / 10, c->amount.n % 10);
		break;
	case CELL_ADDRESS:
		fprintf(j->to, "\"0x%" PRIx64 "\"", c->amount.n);
		break;
	case CELL_DELTA:
	case CELL_BYTES_DELTA:
		fprintf(j->to, "%" PRId64, amount_signed(c->amount));
		break;
	case CELL_FLAG:
		fputs(c->amount.n ? "true" : "false", j->to);
		break;
	case CELL_NUMBER:
		if (is_json_number(c->text))
			fputs(c->text, j->to);
		else
			json_text(c->text, j);
		break;
	}
}

static void json_key(const char *name, const char *suffix, bool first, struct json *j)
{
	fputs(first ? "\"" : ", \"", j->to);
	json_quoted(name, j);
	fprintf(j->to, "%s\": ", suffix);
}

static void json_head(const struct result *r, struct json *j)
{
	for (size_t i = 0; i < r->n_head; i++) {
		json_key(r->head[i].name, "", i == 0, j);
		json_value(&r->head[i].cell, j);
	}
	for (size_t i = 0; i < r->n_head; i++) {
		if (!is_inexact(&r->head[i].cell))
			continue;
		json_key(r->head[i].name, "_certainty", false, j);
		json_text(print_certainty(&r->head[i].cell), j);
	}
}

static void json_row(struct result *r, size_t row, const bool *inexact, struct json *j)
{
	struct cell cell;
	putc('{', j->to);
	for (unsigned c = 0; c < r->n_columns; c++) {
		result_cell(r, row, c, &cell);
		json_key(column_word(&r->columns[c]), "", c == 0, j);
		json_value(&cell, j);
	}
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (!inexact[c])
			continue;
		result_cell(r, row, c, &cell);
		json_key(column_word(&r->columns[c]), "_certainty", false, j);
		json_text(print_certainty(&cell), j);
	}
	putc('}', j->to);
}

static void json_rows(struct result *r, size_t rows, const char *between, struct json *j)
{
	bool *inexact = print_inexact_columns(r, rows);
	bool any = false;
	for (size_t row = 0; row < rows && !ferror(j->to) && !result_stopped(r, row); row++) {
		if (result_heading(r, row) == HEADING_OF_ROWS)
			continue;
		fputs(any ? between : "", j->to);
		json_row(r, row, inexact, j);
		any = true;
	}
	free(inexact);
}

void print_json(struct result *r, size_t top, bool lines, FILE *to)
{
	struct json json = {.to = to}, *j = &json;
	size_t rows = top && top < r->n_rows ? top : r->n_rows;
	if (r->n_head || !r->n_columns) {
		putc('{', j->to);
		json_head(r, j);
		if (r->n_columns) {
			json_key("fields", "", false, j);
			fputs(lines ? "[" : "[\n", j->to);
			json_rows(r, rows, lines ? ", " : ",\n", j);
			putc(']', j->to);
		}
		fputs("}\n", j->to);
	} else if (lines) {
		json_rows(r, rows, "\n", j);
		if (rows)
			putc('\n', j->to);
	} else {
		fputs("[", j->to);
		json_rows(r, rows, ",\n ", j);
		fputs("]\n", j->to);
	}
	text_release(&json.text);
}
