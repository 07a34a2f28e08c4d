/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print_machine.c - CSV by RFC 4180, JSON by RFC 8259.
 *
 * Every column is printed, shown or not.  Where numbers of a column are not all exact, a column
 * NAME_certainty follows after the contract's own columns; where it is missing, all are exact.
 * Text is escaped already (base/text.h), so it holds neither controls nor invalid UTF-8.
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

/* Which columns need a certainty beside them; the caller frees. */
static bool *inexact_columns(struct result *r, size_t rows)
{
	bool *inexact = xcalloc(r->n_columns ? r->n_columns : 1, sizeof *inexact);
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (!cell_is_number(column_type(&r->columns[c])))
			continue;
		for (size_t row = 0; row < rows && !inexact[c]; row++) {
			struct cell cell;
			result_cell(r, row, c, &cell);
			inexact[c] = is_inexact(&cell);
		}
	}
	return inexact;
}

static const char *certainty_of(const struct cell *c)
{
	return certainty_name(c->type == CELL_NONE ? UNKNOWN : c->amount.certainty);
}

/* --- csv -------------------------------------------------------------------------------------- */

static void csv_text(const char *s, FILE *to)
{
	if (!s[strcspn(s, ",\"\r\n")] && *s != ' ') {
		fputs(s, to);
		return;
	}
	putc('"', to);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', to);
		putc(*s, to);
	}
	putc('"', to);
}

static void csv_cell(const struct cell *c, struct text *t, FILE *to)
{
	text_clear(t);
	cell_print_plain(c, t);
	csv_text(t->s, to);
}

static void csv_head(const struct result *r, struct text *t, FILE *to)
{
	for (size_t i = 0; i < r->n_head; i++) {
		fputs(i ? "," : "", to);
		csv_text(r->head[i].name, to);
	}
	for (size_t i = 0; i < r->n_head; i++) {
		if (is_inexact(&r->head[i].cell))
			fprintf(to, ",%s_certainty", r->head[i].name);
	}
	fputs("\r\n", to);
	for (size_t i = 0; i < r->n_head; i++) {
		fputs(i ? "," : "", to);
		csv_cell(&r->head[i].cell, t, to);
	}
	for (size_t i = 0; i < r->n_head; i++) {
		if (is_inexact(&r->head[i].cell))
			fprintf(to, ",%s", certainty_of(&r->head[i].cell));
	}
	fputs("\r\n", to);
}

static void csv_rows(struct result *r, size_t rows, struct text *t, FILE *to)
{
	bool *inexact = inexact_columns(r, rows);
	struct cell cell;
	for (unsigned c = 0; c < r->n_columns; c++)
		fprintf(to, "%s%s", c ? "," : "", column_word(&r->columns[c]));
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (inexact[c])
			fprintf(to, ",%s_certainty", column_word(&r->columns[c]));
	}
	fputs("\r\n", to);
	for (size_t row = 0; row < rows && !ferror(to); row++) {
		for (unsigned c = 0; c < r->n_columns; c++) {
			fputs(c ? "," : "", to);
			result_cell(r, row, c, &cell);
			csv_cell(&cell, t, to);
		}
		for (unsigned c = 0; c < r->n_columns; c++) {
			if (!inexact[c])
				continue;
			result_cell(r, row, c, &cell);
			fprintf(to, ",%s", certainty_of(&cell));
		}
		fputs("\r\n", to);
	}
	free(inexact);
}

void print_csv(struct result *r, size_t top, FILE *to)
{
	struct text t = TEXT_INIT;
	if (r->n_head)
		csv_head(r, &t, to);
	if (r->n_head && r->n_columns)
		fputs("\r\n", to);
	if (r->n_columns)
		csv_rows(r, top && top < r->n_rows ? top : r->n_rows, &t, to);
	text_release(&t);
}

/* --- json ------------------------------------------------------------------------------------- */

static void json_text(const char *s, FILE *to)
{
	putc('"', to);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', to);
		if ((unsigned char)*s < 0x20)
			fprintf(to, "\\u%04x", (unsigned char)*s);
		else
			putc(*s, to);
	}
	putc('"', to);
}

static void json_value(const struct cell *c, FILE *to)
{
	switch (c->type) {
	case CELL_NONE:
		fputs("null", to);
		break;
	case CELL_TEXT:
		json_text(c->text, to);
		break;
	case CELL_COUNT:
	case CELL_BYTES:
		fprintf(to, "%" PRIu64, c->amount.n);
		break;
	case CELL_PERCENT:
		fprintf(to, "%" PRIu64 ".%" PRIu64, c->amount.n / 10, c->amount.n % 10);
		break;
	case CELL_ADDRESS:
		fprintf(to, "\"0x%" PRIx64 "\"", c->amount.n);
		break;
	case CELL_DELTA:
	case CELL_BYTES_DELTA:
		fprintf(to, "%" PRId64, amount_signed(c->amount));
		break;
	case CELL_FLAG:
		fputs(c->amount.n ? "true" : "false", to);
		break;
	}
}

static void json_key(const char *name, const char *suffix, bool first, FILE *to)
{
	fprintf(to, "%s\"%s%s\": ", first ? "" : ", ", name, suffix);
}

static void json_head(const struct result *r, FILE *to)
{
	for (size_t i = 0; i < r->n_head; i++) {
		json_key(r->head[i].name, "", i == 0, to);
		json_value(&r->head[i].cell, to);
	}
	for (size_t i = 0; i < r->n_head; i++) {
		if (!is_inexact(&r->head[i].cell))
			continue;
		json_key(r->head[i].name, "_certainty", false, to);
		json_text(certainty_of(&r->head[i].cell), to);
	}
}

static void json_row(struct result *r, size_t row, const bool *inexact, FILE *to)
{
	struct cell cell;
	putc('{', to);
	for (unsigned c = 0; c < r->n_columns; c++) {
		result_cell(r, row, c, &cell);
		json_key(column_word(&r->columns[c]), "", c == 0, to);
		json_value(&cell, to);
	}
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (!inexact[c])
			continue;
		result_cell(r, row, c, &cell);
		json_key(column_word(&r->columns[c]), "_certainty", false, to);
		json_text(certainty_of(&cell), to);
	}
	putc('}', to);
}

static void json_rows(struct result *r, size_t rows, const char *between, FILE *to)
{
	bool *inexact = inexact_columns(r, rows);
	for (size_t row = 0; row < rows && !ferror(to); row++) {
		fputs(row ? between : "", to);
		json_row(r, row, inexact, to);
	}
	free(inexact);
}

void print_json(struct result *r, size_t top, bool lines, FILE *to)
{
	size_t rows = top && top < r->n_rows ? top : r->n_rows;
	if (r->n_head || !r->n_columns) {
		putc('{', to);
		json_head(r, to);
		if (r->n_columns) {
			json_key("fields", "", false, to);
			fputs(lines ? "[" : "[\n", to);
			json_rows(r, rows, lines ? ", " : ",\n", to);
			putc(']', to);
		}
		fputs("}\n", to);
	} else if (lines) {
		json_rows(r, rows, "\n", to);
		if (rows)
			putc('\n', to);
	} else {
		fputs("[", to);
		json_rows(r, rows, ",\n ", to);
		fputs("]\n", to);
	}
}
