/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print.c - choose the printer; a result as text for people.
 *
 * Text is aligned: columns are as wide as what the first MEASURED rows need (a later, wider cell
 * pushes its line), numbers stand right.  On a terminal the widest text columns give way until a
 * line fits.
 */
#include "result/print.h"

#include "base/mem.h"
#include "base/progress.h"
#include "result/plot.h"
#include "result/print_machine.h"
#include "result/print_people.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MEASURED 10000
#define WIDEST 120   /* columns that a text pads others to; contents are clipped there unless they end the line */
#define MARK ".."     /* where a text is clipped */
#define ENDING_MOST 9 /* with its dot: ".markdown", but not what mktemp ends names with */
#define NARROWEST 12 /* columns that a text column keeps when lines are clipped */

const char *const print_format_names[] = {
    [PRINT_TEXT] = "text",
    [PRINT_CSV] = "csv",
    [PRINT_JSON] = "json",
    [PRINT_JSONL] = "jsonl",
    [PRINT_MD] = "md",
    [PRINT_HTML] = "html",
};

bool print_format_parse(const char *name, enum print_format *format)
{
	for (unsigned i = 0; i < sizeof print_format_names / sizeof *print_format_names; i++) {
		if (!strcmp(name, print_format_names[i])) {
			*format = (enum print_format)i;
			return true;
		}
	}
	return false;
}

bool print_is_for_people(enum print_format format)
{
	return format == PRINT_TEXT || format == PRINT_MD || format == PRINT_HTML;
}

int print_format_of_file(const char *path, enum print_format *format, struct err *err)
{
	static const struct { const char *ending; enum print_format format; } endings[] = {
	    {".csv", PRINT_CSV}, {".json", PRINT_JSON}, {".jsonl", PRINT_JSONL}, {".md", PRINT_MD}, {".html", PRINT_HTML},
	    {".txt", PRINT_TEXT}, {".log", PRINT_TEXT}};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	*format = PRINT_TEXT;
	if (!dot || dot == name || strlen(dot) > ENDING_MOST)
		return 0;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		if (!strcasecmp(dot, endings[i].ending)) {
			*format = endings[i].format;
			return 0;
		}
	}
	bool database = !strncasecmp(dot, ".sqlite", strlen(".sqlite")) || !strcasecmp(dot, ".db");
	return err_set(err, ERR_USAGE, "%.200s: unknown output format \"%.40s\" (use " PRINT_ENDINGS "%s)", path,
	    dot, database ? "; export FILE.sqlite writes databases" : "");
}

/* --- text ------------------------------------------------------------------------------------- */

struct layout {
	unsigned *column; /* the result's columns that are shown */
	size_t *width;
	unsigned n;
	bool total, terminal;
	size_t rows;      /* to print */
	struct text line, cell;
	FILE *to;
};

/* The cell's text: what is drawn in blocks, in signs that every terminal has where characters are not UTF-8. */
static void print_cell(struct layout *l, enum column_id id, struct cell c)
{
	bool utf8 = MB_CUR_MAX > 1, plot = id == COL_PLOT && c.type == CELL_TEXT;
	text_clear(&l->cell);
	if (id == COL_COURSE && !utf8)
		c.name = NULL;
	if (plot && !utf8)
		plot_add_ascii(&l->cell, c.text);
	else
		cell_print_all(&c, &l->cell);
}

static void measure(struct layout *l, unsigned i, enum column_id id, const struct cell *c)
{
	print_cell(l, id, *c);
	size_t width = c->type == CELL_TEXT ? text_width_most(l->cell.s, WIDEST) : text_width(l->cell.s);
	if (c->type == CELL_TEXT && width > WIDEST)
		width = WIDEST; /* one long text does not pad all lines */
	if (width > l->width[i])
		l->width[i] = width;
}

void print_row_count(struct result *r, struct text *to)
{
	struct cell rows = cell_count(result_count(r));
	cell_print(&rows, to);
	text_addf(to, " %s", result_noun(r, r->n_rows == 1));
}

static void choose_columns(struct layout *l, struct result *r, const struct print_options *o)
{
	l->column = xcalloc(r->n_columns + 1, sizeof *l->column);
	l->width = xcalloc(r->n_columns + 1, sizeof *l->width);
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (r->columns[c].hidden && !o->wide)
			continue;
		l->total |= r->columns[c].total;
		l->width[l->n] = text_width(column_title(&r->columns[c]));
		l->column[l->n++] = c;
	}
	l->total &= r->n_rows > 1 && l->n > 1;
	l->rows = o->top && o->top < r->n_rows ? o->top : r->n_rows;
}

/* Is it the column that a heading has the rest of the line from? */
static bool is_branch(const struct result *r, unsigned column)
{
	return r->columns[column].id == COL_BRANCH;
}

static void measure_rows(struct layout *l, struct result *r)
{
	struct cell c;
	for (size_t row = 0; row < l->rows && row < MEASURED && !result_stopped(r, row); row++) {
		bool heading = result_heading(r, row) != NO_HEADING;
		for (unsigned i = 0; i < l->n; i++) {
			if (heading && is_branch(r, l->column[i]))
				break;
			result_cell(r, row, l->column[i], &c);
			measure(l, i, r->columns[l->column[i]].id, &c);
		}
	}
	if (!l->total)
		return;
	text_clear(&l->cell);
	print_row_count(r, &l->cell);
	if (text_width(l->cell.s) > l->width[0])
		l->width[0] = text_width(l->cell.s);
	for (unsigned i = 0; i < l->n; i++) {
		if (!r->columns[l->column[i]].total)
			continue;
		result_total(r, l->column[i], &c);
		measure(l, i, COL_OWN_NAME, &c);
	}
}

/* --- room ------------------------------------------------------------------------------------- */

/* Take columns away from the widest text, down to so many, until a line fits.  False: it does not. */
static bool shrink(struct layout *l, const struct result *r, unsigned width, size_t least)
{
	for (;;) {
		size_t sum = 0;
		int widest = -1;
		for (unsigned i = 0; i < l->n; i++) {
			sum += l->width[i] + 2;
			if (column_type(&r->columns[l->column[i]]) == CELL_TEXT &&
			    (widest < 0 || l->width[i] > l->width[widest]))
				widest = (int)i;
		}
		if (sum <= width + 2 || widest < 0 || l->width[widest] <= least)
			return sum <= width + 2;
		size_t excess = sum - width - 2;
		size_t can = l->width[widest] - least;
		size_t next = least; /* not below the second widest at once */
		for (unsigned i = 0; i < l->n; i++) {
			if ((int)i != widest && column_type(&r->columns[l->column[i]]) == CELL_TEXT &&
			    l->width[i] < l->width[widest] && l->width[i] > next)
				next = l->width[i];
		}
		if (can > l->width[widest] - next && l->width[widest] > next)
			can = l->width[widest] - next;
		l->width[widest] -= excess < can ? excess : can;
	}
}

/* Take the column away that tells least; the first one says which row it is. */
static bool drop_one(struct layout *l, const struct result *r)
{
	unsigned worst = 0;
	int rank = COLUMN_STAYS;
	for (unsigned i = 1; i < l->n; i++) {
		int ready = column_readiness(&r->columns[l->column[i]]);
		if (ready > rank && (int)l->column[i] != r->sorted_by) {
			worst = i;
			rank = ready;
		}
	}
	if (!worst)
		return false;
	l->n--;
	for (unsigned i = worst; i < l->n; i++) {
		l->column[i] = l->column[i + 1];
		l->width[i] = l->width[i + 1];
	}
	return true;
}

/* A line is never wider than the terminal, unless it is but numbers. */
static void fit(struct layout *l, const struct result *r, unsigned width)
{
	size_t *by_column = xcalloc(r->n_columns + 1, sizeof *by_column);
	for (unsigned i = 0; i < l->n; i++)
		by_column[l->column[i]] = l->width[i];
	bool fits = shrink(l, r, width, NARROWEST);
	while (!fits && drop_one(l, r)) {
		for (unsigned i = 0; i < l->n; i++)
			l->width[i] = by_column[l->column[i]];
		fits = shrink(l, r, width, NARROWEST);
	}
	if (!fits)
		shrink(l, r, width, 4);
	free(by_column);
}

/* One cell's text into the line, clipped where it has no room, padded to its column; the last column is not padded. */
static void place(struct layout *l, unsigned i, const char *s, const struct column *column, size_t room)
{
	bool right = cell_is_number(column_type(column));
	bool middle = column_kinds[column->id].clip == CLIP_MIDDLE;
	struct text_clip c = text_clip(s, room, strlen(MARK), middle);
	size_t pad = c.width < l->width[i] ? l->width[i] - c.width : 0;
	if (i)
		text_add(&l->line, "  ");
	if (right)
		text_addf(&l->line, "%*s", (int)pad, "");
	if (c.clipped) {
		text_add_n(&l->line, s, c.head);
		text_add(&l->line, MARK);
		text_add(&l->line, s + c.tail);
	} else {
		text_add(&l->line, s);
	}
	if (!right && i + 1 < l->n)
		text_addf(&l->line, "%*s", (int)pad, "");
}

static void end_line(struct layout *l)
{
	size_t n = l->line.len;
	while (n && l->line.s[n - 1] == ' ')
		n--;
	fwrite(l->line.len ? l->line.s : "", 1, n, l->to);
	putc('\n', l->to);
	text_clear(&l->line);
}

/* The columns a cell may take.  In a pipe only contents are clipped, and only where other columns follow; one that is
 * wider than those measured pushes its line. */
static size_t room_of(const struct layout *l, unsigned i, const struct column *column)
{
	if (column_type(column) != CELL_TEXT)
		return SIZE_MAX;
	if (l->terminal)
		return l->width[i];
	return i + 1 < l->n && column_kinds[column->id].contents ? WIDEST : SIZE_MAX;
}

static void print_rows(struct layout *l, struct result *r)
{
	struct cell c;
	for (unsigned i = 0; i < l->n; i++) {
		const struct column *column = &r->columns[l->column[i]];
		place(l, i, column_title(column), column, l->width[i]);
	}
	end_line(l);
	for (size_t row = 0; row < l->rows && !ferror(l->to) && !result_stopped(r, row); row++) {
		bool heading = result_heading(r, row) != NO_HEADING;
		for (unsigned i = 0; i < l->n; i++) {
			result_cell(r, row, l->column[i], &c);
			const struct column *column = &r->columns[l->column[i]];
			print_cell(l, column->id, c);
			bool whole = heading && is_branch(r, l->column[i]);
			place(l, i, l->cell.s, column, whole ? SIZE_MAX : room_of(l, i, column));
			if (whole)
				break;
		}
		end_line(l);
	}
	if (l->rows < r->n_rows) {
		text_add(&l->line, "... ");
		text_add_count(&l->line, r->n_rows - l->rows);
		text_add(&l->line, " more");
		end_line(l);
	}
	if (!l->total)
		return;
	for (unsigned i = 0; i < l->n; i++) {
		text_clear(&l->cell);
		if (i == 0) {
			print_row_count(r, &l->cell);
		} else if (r->columns[l->column[i]].total) {
			result_total(r, l->column[i], &c);
			cell_print(&c, &l->cell);
		}
		place(l, i, l->cell.s, &r->columns[l->column[i]], SIZE_MAX);
	}
	end_line(l);
}

void print_head_value(const struct field *f, struct text *to)
{
	result_head_print(f, to);
	if (f->cell.type == CELL_BYTES && f->cell.amount.n >= 1000) {
		text_add(to, " (");
		text_add_count(to, f->cell.amount.n);
		text_add(to, ")");
	}
}

static void print_head(struct layout *l, const struct result *r)
{
	size_t width = 0;
	for (size_t i = 0; i < r->n_head; i++) {
		size_t w = text_width(r->head[i].name);
		if (w > width)
			width = w;
	}
	for (struct head_walk w = {.i = 0}; result_head_next(r, &w); w.i++) {
		const struct field *f = &r->head[w.i];
		if (w.group) {
			end_line(l);
			text_add(&l->line, w.group);
			end_line(l);
		}
		text_addf(&l->line, "%-*s  ", (int)width, f->name);
		print_head_value(f, &l->line);
		end_line(l);
	}
}

static void print_plain(struct layout *l, struct result *r)
{
	struct cell c;
	for (size_t row = 0; row < l->rows && !ferror(l->to) && !result_stopped(r, row); row++) {
		result_cell(r, row, 0, &c);
		cell_print_plain(&c, &l->line);
		end_line(l);
	}
}

/* Whole lines, which are text all of it. */
static void print_lines(struct layout *l, const char *s)
{
	for (size_t n; *s; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		text_add_escaped(&l->line, s, n);
		end_line(l);
	}
}

static void print_text(struct result *r, const struct print_options *o, FILE *to)
{
	struct layout l = {.to = to, .terminal = o->width > 0};
	choose_columns(&l, r, o);
	if (result_is(r, RESULT_PLAIN_TEXT)) {
		print_plain(&l, r);
	} else {
		print_head(&l, r);
		if (r->n_head && l.n)
			putc('\n', to);
		if (l.n) {
			measure_rows(&l, r);
			if (o->width)
				fit(&l, r, o->width);
			print_rows(&l, r);
		}
		if (r->text_below && r->n_rows == r->n_source) /* of all rows */
			print_lines(&l, r->text_below);
		if (r->note)
			print_lines(&l, r->note);
	}
	free(l.column);
	free(l.width);
	text_release(&l.line);
	text_release(&l.cell);
}

int print_result(struct result *r, const struct print_options *options, FILE *to, struct err *err)
{
	errno = 0;
	switch (options->format) {
	case PRINT_TEXT:
		print_text(r, options, to);
		break;
	case PRINT_CSV:
		print_csv(r, options->top, options->csv_raw, options->part, to);
		break;
	case PRINT_JSON:
		print_json(r, options->top, false, to);
		break;
	case PRINT_JSONL:
		print_json(r, options->top, true, to);
		break;
	case PRINT_MD:
	case PRINT_HTML:
		print_markup(r, options, to);
		break;
	}
	if (progress_cancelled(progress_own()))
		return err_cancelled(err);
	if (r->n_passed && result_check(r, err)) /* rows that came while it was printed */
		return err->code;
	if (fflush(to) || ferror(to))
		return err_set(err, ERR_IO, "cannot write the result: %s", strerror(errno));
	return 0;
}
