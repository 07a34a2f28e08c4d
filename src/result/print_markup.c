/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print_markup.c - a result for people who read it elsewhere: Markdown and HTML.
 *
 * They show what text shows, nothing of it cut, with the same marks of certainty and a line that says what these
 * mean.  Texts of dumps are escaped as everywhere (base/text.h), and then so that none of their characters is markup:
 * no table is broken, and no script or link made, whatever a class is called.
 *
 * A page is not ended, which HTML allows, so the next result in the same file stands in the same page.
 */
#include "result/print_people.h"

#include "base/mem.h"
#include "base/text.h"
#include "result/print.h"

#include <stdlib.h>
#include <string.h>

struct markup {
	bool html;
	FILE *to;
	unsigned *column; /* the result's columns that are shown */
	unsigned n;
	bool total;
	size_t rows;      /* to print */
	bool marked[UNKNOWN + 1]; /* by certainty: was such a number printed? */
	struct text cell;
};

/* --- escaping ----------------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* How many characters of s, which stands in whole, mean themselves in a table of Markdown although they could be
 * markup elsewhere: "[]" makes no link by itself, nor do _ and $ within a word mean anything; 0: none. */
static size_t plain_in_markdown(const char *whole, const char *s)
{
	if (s[0] == '[' && s[1] == ']' && s[2] != '(')
		return 2;
	if ((*s == '_' || *s == '$') && s > whole && is_word(s[-1]) && is_word(s[1]))
		return 1;
	return *s == '~' && s == whole; /* a mark: the others are escaped, so it is no pair */
}

static void put_markdown(const char *whole, FILE *to)
{
	const char *s = whole + strspn(whole, " ");
	for (const char *blank = whole; blank < s; blank++)
		fputs("&nbsp;", to); /* rows may be a tree */
	while (*s) {
		size_t plain = plain_in_markdown(whole, s);
		if (plain) {
			fwrite(s, 1, plain, to);
			s += plain;
			continue;
		}
		if (*s == '<' || *s == '&')
			fputs(*s == '<' ? "&lt;" : "&amp;", to);
		else if (strchr("\\`*_[]~$|", *s))
			fprintf(to, "\\%c", *s);
		else
			putc((unsigned char)*s < ' ' ? ' ' : *s, to);
		s++;
	}
}

static void put_html(const char *s, FILE *to)
{
	for (; *s; s++) {
		const char *entity = markup_entity(*s);
		if (entity)
			fputs(entity, to);
		else
			putc(*s, to);
	}
}

static void put(const struct markup *m, const char *s)
{
	(m->html ? put_html : put_markdown)(s ? s : "", m->to);
}

/* A text that is nobody's yet. */
static void put_text(struct markup *m, const char *s)
{
	text_clear(&m->cell);
	text_add_escaped(&m->cell, s, strlen(s));
	put(m, m->cell.s);
}

void print_escaped(enum print_format format, const char *s, FILE *to)
{
	struct text t = TEXT_INIT;
	text_add_escaped(&t, s, strlen(s));
	if (format == PRINT_HTML)
		put_html(t.len ? t.s : "", to);
	else if (format == PRINT_MD)
		put_markdown(t.len ? t.s : "", to);
	else
		fputs(t.len ? t.s : "", to);
	text_release(&t);
}

/* --- lines below and around --------------------------------------------------------------------- */

/* Lines that stand as they are. */
static void begin_lines(const struct markup *m)
{
	fputs(m->html ? "<pre>\n" : "\n", m->to);
}

static void put_line(struct markup *m, const char *s)
{
	if (m->html)
		put_html(s ? s : "", m->to);
	else
		fprintf(m->to, "    %s", s ? s : ""); /* code, as it is */
	putc('\n', m->to);
}

static void end_lines(const struct markup *m)
{
	if (m->html)
		fputs("</pre>\n", m->to);
}

static void put_paragraph(struct markup *m, const char *s)
{
	fputs(m->html ? "<p>" : "\n", m->to);
	put_text(m, s);
	fputs(m->html ? "</p>\n" : "\n", m->to);
}

static void put_story(struct markup *m, const char *s)
{
	struct text line = TEXT_INIT;
	begin_lines(m);
	for (size_t n; *s; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		text_clear(&line);
		text_add_escaped(&line, s, n);
		put_line(m, line.s);
	}
	end_lines(m);
	text_release(&line);
}

static void put_notes(struct markup *m, const char *s)
{
	struct text line = TEXT_INIT;
	for (size_t n; *s; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		text_clear(&line);
		text_add_n(&line, s, n);
		put_paragraph(m, line.s ? line.s : "");
	}
	text_release(&line);
}

/* What the marks before numbers mean, of those that stand there. */
static void put_legend(struct markup *m)
{
	static const char *const words[UNKNOWN + 1] = {[INFERRED] = "~ inferred", [LOWER_BOUND] = ">= at least",
	    [UNKNOWN] = "? unknown"};
	struct text line = TEXT_INIT;
	for (unsigned i = 0; i <= UNKNOWN; i++) {
		if (m->marked[i] && words[i])
			text_addf(&line, "%s%s", line.len ? ", " : "", words[i]);
	}
	if (line.len)
		put_paragraph(m, line.s);
	text_release(&line);
}

/* --- tables ------------------------------------------------------------------------------------- */

static void begin_table(const struct markup *m)
{
	if (m->html)
		fputs("<table>\n<thead>\n", m->to);
}

/* What stands above stands on each sheet of paper. */
static void end_headings(const struct markup *m)
{
	if (m->html)
		fputs("</thead>\n<tbody>\n", m->to);
}

static void end_table(const struct markup *m)
{
	if (m->html)
		fputs("</tbody>\n</table>\n", m->to);
}

static void begin_row(const struct markup *m)
{
	fputs(m->html ? "<tr>" : "|", m->to);
}

static void end_row(const struct markup *m)
{
	fputs(m->html ? "</tr>\n" : "\n", m->to);
}

/* What a cell is; of a heading also of what, for who hears the page. */
#define CELL_OF_ROWS "td"
#define CELL_HEADS_COLUMN "th scope=col"
#define CELL_HEADS_ROW "th scope=row"
#define CELL_HEADS_ROWS "th scope=rowgroup"

/* To the right where it is a number (class n), in one line where it is an address (a); across several columns where
 * span is more than 1. */
static void put_cell(const struct markup *m, const char *tag, char class, unsigned span, const char *s)
{
	if (!m->html) {
		putc(' ', m->to);
		put(m, s);
		fputs(" |", m->to);
		for (; span > 1; span--)
			fputs("  |", m->to);
		return;
	}
	fprintf(m->to, "<%s", tag);
	if (class)
		fprintf(m->to, " class=%c", class);
	if (span > 1)
		fprintf(m->to, " colspan=%u", span);
	putc('>', m->to);
	put(m, s);
	fprintf(m->to, "</%.2s>", tag);
}

/* The line of Markdown that makes a table of those around it. */
static void put_rule(const struct markup *m, const char *class, unsigned n)
{
	if (m->html)
		return;
	putc('|', m->to);
	for (unsigned i = 0; i < n; i++)
		fputs(class && class[i] == 'n' ? " ---: |" : " --- |", m->to);
	putc('\n', m->to);
}

static void print_cell(struct markup *m, const struct cell *c)
{
	text_clear(&m->cell);
	cell_print_all(c, &m->cell);
	m->marked[c->amount.certainty] = true;
}

static void print_head(struct markup *m, const struct result *r)
{
	static const char *const words[] = {"name", "value"};
	begin_table(m);
	begin_row(m);
	for (unsigned i = 0; i < 2; i++)
		put_cell(m, CELL_HEADS_COLUMN, 0, 1, words[i]);
	end_row(m);
	end_headings(m);
	put_rule(m, NULL, 2);
	for (struct head_walk w = {.i = 0}; result_head_next(r, &w); w.i++) {
		const struct field *f = &r->head[w.i];
		if (w.group) {
			begin_row(m);
			put_cell(m, CELL_HEADS_ROWS, 0, 2, w.group);
			end_row(m);
		}
		begin_row(m);
		put_cell(m, CELL_HEADS_ROW, 0, 1, f->name);
		text_clear(&m->cell);
		print_head_value(f, &m->cell);
		m->marked[f->cell.amount.certainty] = true;
		put_cell(m, CELL_OF_ROWS, 0, 1, m->cell.s); /* numbers too: those above and below are of other things */
		end_row(m);
	}
	end_table(m);
}

static void choose_columns(struct markup *m, const struct result *r, const struct print_options *o)
{
	m->column = xcalloc(r->n_columns + 1, sizeof *m->column);
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (r->columns[c].hidden && !o->wide)
			continue;
		m->total |= r->columns[c].total;
		m->column[m->n++] = c;
	}
	m->total &= r->n_rows > 1 && m->n > 1;
	m->rows = o->top && o->top < r->n_rows ? o->top : r->n_rows;
}

static void print_row(struct markup *m, struct result *r, size_t row, const char *class)
{
	struct cell c;
	bool heading = result_heading(r, row) != NO_HEADING;
	begin_row(m);
	for (unsigned i = 0; i < m->n; i++) {
		bool rest = heading && r->columns[m->column[i]].id == COL_BRANCH;
		result_cell(r, row, m->column[i], &c);
		print_cell(m, &c);
		put_cell(m, CELL_OF_ROWS, class[i], rest ? m->n - i : 1, m->cell.s);
		if (rest)
			break;
	}
	end_row(m);
}

static void print_total(struct markup *m, struct result *r, const char *class)
{
	struct cell c;
	begin_row(m);
	for (unsigned i = 0; i < m->n; i++) {
		text_clear(&m->cell);
		if (i == 0) {
			print_row_count(r, &m->cell);
		} else if (r->columns[m->column[i]].total) {
			result_total(r, m->column[i], &c);
			print_cell(m, &c);
		}
		put_cell(m, i ? CELL_OF_ROWS : CELL_HEADS_ROW, class[i], 1, m->cell.s);
	}
	end_row(m);
}

static void print_rows(struct markup *m, struct result *r)
{
	char *class = xcalloc(m->n + 1, sizeof *class);
	begin_table(m);
	begin_row(m);
	for (unsigned i = 0; i < m->n; i++) {
		const struct column *column = &r->columns[m->column[i]];
		enum cell_type type = column_type(column);
		class[i] = cell_is_number(type) ? 'n' : type == CELL_ADDRESS ? 'a' : 0;
		put_cell(m, CELL_HEADS_COLUMN, class[i], 1, column_title(column));
	}
	end_row(m);
	end_headings(m);
	put_rule(m, class, m->n);
	for (size_t row = 0; row < m->rows && !ferror(m->to) && !result_stopped(r, row); row++)
		print_row(m, r, row, class);
	if (m->total)
		print_total(m, r, class);
	end_table(m);
	free(class);
	if (m->rows < r->n_rows) {
		struct text more = TEXT_INIT;
		text_add_count(&more, r->n_rows - m->rows);
		text_add(&more, " more");
		put_paragraph(m, more.s ? more.s : "");
		text_release(&more);
	}
}

static void print_plain(struct markup *m, struct result *r)
{
	struct cell c;
	begin_lines(m);
	for (size_t row = 0; row < m->rows && !ferror(m->to) && !result_stopped(r, row); row++) {
		result_cell(r, row, 0, &c);
		text_clear(&m->cell);
		cell_print_plain(&c, &m->cell);
		put_line(m, m->cell.s);
	}
	end_lines(m);
}

/* --- the whole ---------------------------------------------------------------------------------- */

static void begin_page(struct markup *m, const struct result *r, const struct print_options *o)
{
	const char *title = r->title ? r->title : "result";
	if (!m->html || o->within)
		return;
	if (!o->behind) {
		fputs("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>", m->to);
		put_text(m, title);
		fputs("</title>\n<style>\n"
		    "body { font-family: sans-serif; }\n"
		    "table { border-collapse: collapse; }\n"
		    "th, td { padding: 0.1em 0.6em; text-align: left; border-bottom: 1px solid #ccc; white-space: pre-wrap; }\n"
		    ".n { text-align: right; font-variant-numeric: tabular-nums; }\n"
		    "</style>\n", m->to);
	}
	fputs("<h1>", m->to);
	put_text(m, title);
	fputs("</h1>\n", m->to);
}

/* Has the table the sentences, which the lines below it would repeat? */
static bool has_sentences(const struct markup *m, const struct result *r)
{
	for (unsigned i = 0; i < m->n; i++)
		if (r->columns[m->column[i]].id == COL_SENTENCE)
			return true;
	return false;
}

void print_markup(struct result *r, const struct print_options *o, FILE *to)
{
	struct markup m = {.html = o->format == PRINT_HTML, .to = to};
	choose_columns(&m, r, o);
	begin_page(&m, r, o);
	if (result_is(r, RESULT_PLAIN_TEXT)) {
		print_plain(&m, r);
	} else {
		if (r->n_head)
			print_head(&m, r);
		if (r->n_head && m.n)
			putc('\n', to);
		if (m.n)
			print_rows(&m, r);
		if (r->text_below && r->n_rows == r->n_source && !has_sentences(&m, r)) /* of all rows */
			put_story(&m, r->text_below);
		if (r->note)
			put_notes(&m, r->note);
		put_legend(&m);
	}
	free(m.column);
	text_release(&m.cell);
}
