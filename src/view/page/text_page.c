/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text_page.c - lines to read: help, the overview, a list of earlier commands.
 *
 * Lines are wrapped at words for the width there is; what follows hangs under the column in which
 * the line's own text begins.
 */
#include "view/page/page.h"

#include "base/mem.h"
#include "view/match.h"

#include <stdlib.h>
#include <string.h>

#define LONG_LINES 1000 /* to search so many is a job */
#define TWO_FROM 100   /* columns of a page that has values in two columns */
#define LINE_MOST 2000 /* columns of a line; a value that is longer is no reading matter */

struct piece {
	const char *s;
	size_t n;
	int indent;
	size_t line;
};

struct text_page {
	struct page page;
	struct result *result; /* whose text it is, or NULL */
	struct text all;   /* the lines, each ended by NUL */
	const char **line;
	size_t n_lines, cap_lines;
	struct piece *piece;
	size_t n_pieces, cap_pieces;
	int width;         /* that the pieces were made for */
	size_t top, height;
	size_t found;      /* line found by the search, or SIZE_MAX */
	char *search;
	struct err err;    /* of the last search */
};

/* --- the lines --------------------------------------------------------------------------------- */

/* End a very long line early, in its place: three bytes for the sign are there by then. */
static void cut_long(char *line)
{
	size_t used, end = text_fit(line, LINE_MOST, &used);

	if (line[end] && strlen(line + end) >= 3)
		memcpy(line + end, "...", 4);
}

/* all holds lines ended by newlines; from here on it does not move. */
static void split(struct text_page *t)
{
	char *at = t->all.s;

	t->n_lines = 0;
	while (at && *at) {
		size_t n = strcspn(at, "\n");
		VEC_PUSH(t->line, t->n_lines, t->cap_lines) = at;
		bool last = !at[n];
		at[n] = '\0';
		cut_long(at);
		if (last)
			break;
		at += n + 1;
	}
	t->found = SIZE_MAX;
}

/* "word bits  64" */
static void add_value(struct result *r, size_t i, size_t name_width, struct text *to)
{
	size_t begin = to->len;

	page_add_label(r->head[i].name, to);
	while (to->len < begin + name_width + 2)
		text_add_char(to, ' ');
	result_head_print(&r->head[i], to);
}

/* In two columns where a value leaves the next one room. */
static void add_head(struct text *to, struct result *r, int width)
{
	int half = width >= TWO_FROM ? width / 2 : 0, left = 0;
	size_t widest = 0;

	for (size_t i = 0; i < r->n_head; i++) {
		size_t n = strlen(r->head[i].name);
		widest = n > widest ? n : widest;
	}
	for (struct head_walk w = {.i = 0}; result_head_next(r, &w); w.i++) {
		struct text value = TEXT_INIT;
		if (w.group && left)
			text_add_char(to, '\n');
		left = w.group ? 0 : left;
		if (w.group)
			text_addf(to, "\n%s\n", w.group);
		add_value(r, w.i, widest, &value);
		int needed = (int)text_width(value.s);
		if (left && needed < half) {
			text_addf(to, "%*s%s\n", half - left, "", value.s);
			left = 0;
		} else {
			text_addf(to, "%s%s", left ? "\n" : "", value.s);
			left = needed + 2 <= half ? needed : 0;
			if (!left)
				text_add_char(to, '\n');
		}
		text_release(&value);
	}
	if (left)
		text_add_char(to, '\n');
}

/* What a result says, for so many columns. */
static void write_result(struct text_page *t, int width)
{
	struct result *r = t->result;
	struct cell cell;

	text_clear(&t->all);
	add_head(&t->all, r, width);
	for (size_t row = 0; row < r->n_rows && r->n_columns > 0; row++) {
		result_cell(r, row, 0, &cell);
		if (cell.type == CELL_TEXT)
			text_add_escaped(&t->all, cell.text, strlen(cell.text));
		text_add_char(&t->all, '\n');
	}
	if (r->note)
		text_addf(&t->all, "\n%s\n", r->note);
	split(t);
}

/* --- wrapping ---------------------------------------------------------------------------------- */

/* Where continued lines begin: behind the first gap of two blanks that follows a word early in
 * the line, else a little further in than the line itself. */
static int hanging(const char *s)
{
	size_t lead = strspn(s, " ");
	const char *gap = strstr(s + lead, "  ");

	if (gap && gap - s < 40)
		return (int)(gap - s + (ptrdiff_t)strspn(gap, " "));
	return (int)lead + 2;
}

static void add_piece(struct text_page *t, size_t line, const char *s, size_t n, int indent)
{
	VEC_PUSH(t->piece, t->n_pieces, t->cap_pieces) =
	    (struct piece){.s = s, .n = n, .indent = indent, .line = line};
}

static void wrap_line(struct text_page *t, size_t line, int width)
{
	const char *s = t->line[line];
	int indent = 0, hang = hanging(s);

	if (hang > width / 2)
		hang = width / 4;
	for (;;) {
		size_t room = (size_t)(width - indent), used;
		size_t n = text_fit(s, room ? room : 1, &used);
		if (!s[n] || n == 0) {
			add_piece(t, line, s, strlen(s), indent);
			return;
		}
		size_t cut = n;
		while (cut > 0 && s[cut] != ' ')
			cut--;
		if (cut <= strspn(s, " ")) /* a word as long as the line */
			cut = n;
		add_piece(t, line, s, cut, indent);
		s += cut + strspn(s + cut, " ");
		indent = hang;
	}
}

static void wrap(struct text_page *t, int width)
{
	if (width == t->width)
		return;
	/* the first line that is seen stays the first */
	size_t line = t->top < t->n_pieces ? t->piece[t->top].line : 0;
	if (t->result && t->result->n_head && (width >= TWO_FROM || t->width >= TWO_FROM))
		write_result(t, width);
	t->width = width;
	t->n_pieces = 0;
	for (size_t i = 0; i < t->n_lines; i++)
		wrap_line(t, i, width);
	t->top = 0;
	while (t->top < t->n_pieces && t->piece[t->top].line < line)
		t->top++;
}

/* --- page -------------------------------------------------------------------------------------- */

static void scroll_to(struct text_page *t, size_t top)
{
	size_t most = t->n_pieces > t->height ? t->n_pieces - t->height : 0;

	t->top = top < most ? top : most;
}

static void draw(struct page *p, struct rect at)
{
	struct text_page *t = (struct text_page *)p;
	struct text piece = TEXT_INIT;

	if (at.height < 1 || at.width < 8)
		return;
	wrap(t, at.width - 3);
	t->height = (size_t)at.height;
	scroll_to(t, t->top);
	for (size_t i = 0; i < t->height && t->top + i < t->n_pieces; i++) {
		const struct piece *one = &t->piece[t->top + i];
		bool heading = one->n > 0 && one->s[0] != ' ' && one->indent == 0 && t->page.line[0] == '\0';
		bool found = one->line == t->found;
		text_clear(&piece);
		text_add_n(&piece, one->s, one->n);
		draw_clipped(at.y + (int)i, at.x + 2 + one->indent, at.width - 2 - one->indent, piece.s,
		    theme_role(found || heading ? ROLE_PLACE : ROLE_TEXT));
		if (found)
			draw_clipped(at.y + (int)i, at.x, 1, ">", theme_role(ROLE_PLACE));
	}
	text_release(&piece);
}

struct text_search {
	const struct text_page *t;
	const char *words;
	bool here, backwards;
	size_t at; /* the line to begin with; that which was found, or SIZE_MAX */
};

/* On whatever thread: lines stay what they are. */
static int search_lines(void *context, struct progress *progress, struct err *err)
{
	struct text_search *s = context;
	const struct text_page *t = s->t;
	size_t at = s->at;
	struct match m;

	s->at = SIZE_MAX;
	progress_phase(progress, PHASE_SEARCH_ROWS, t->n_lines);
	match_init(&m, s->words);
	for (size_t i = 0; i < t->n_lines && s->at == SIZE_MAX && progress_add(progress, 1); i++) {
		if (i > 0 || !s->here) {
			if (s->backwards)
				at = at == 0 ? t->n_lines - 1 : at - 1;
			else
				at = at + 1 == t->n_lines ? 0 : at + 1;
		}
		if (match_text(&m, t->line[at]))
			s->at = at;
	}
	match_release(&m);
	return s->at == SIZE_MAX ? progress_check(progress, err) : 0;
}

static bool search(struct page *p, const char *words, bool here, bool backwards, const char **trouble)
{
	struct text_page *t = (struct text_page *)p;
	struct text_search s = {t, words, here, backwards, t->found};

	if (s.at == SIZE_MAX) {
		s.at = t->top < t->n_pieces ? t->piece[t->top].line : 0;
		s.here = true;
	}
	if (p->session && t->n_lines > LONG_LINES) {
		if (session_work(p->session, search_lines, &s, &t->err))
			*trouble = t->err.message;
	} else {
		(void)!search_lines(&s, NULL, NULL); /* nobody stops it */
	}
	size_t at = s.at;
	bool found = at != SIZE_MAX;
	if (!found)
		return false;
	char *kept = xstrdup(words);
	free(t->search);
	t->search = kept;
	t->found = at;
	for (size_t i = 0; i < t->n_pieces; i++)
		if (t->piece[i].line == at && (i < t->top || i >= t->top + t->height)) {
			scroll_to(t, i > t->height / 3 ? i - t->height / 3 : 0);
			break;
		} else if (t->piece[i].line == at) {
			break;
		}
	return true;
}

static bool action(struct page *p, enum action a, const char **message)
{
	struct text_page *t = (struct text_page *)p;
	size_t page = t->height > 1 ? t->height - 1 : 1;

	if (a == ACTION_HALF_DOWN || a == ACTION_HALF_UP)
		page = (page + 1) / 2;
	switch (a) {
	case ACTION_UP:
		scroll_to(t, t->top ? t->top - 1 : 0);
		return true;
	case ACTION_DOWN:
		scroll_to(t, t->top + 1);
		return true;
	case ACTION_PAGE_UP:
	case ACTION_HALF_UP:
		scroll_to(t, t->top > page ? t->top - page : 0);
		return true;
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_DOWN:
		scroll_to(t, t->top + page);
		return true;
	case ACTION_FIRST:
		scroll_to(t, 0);
		return true;
	case ACTION_LAST:
		scroll_to(t, SIZE_MAX);
		return true;
	case ACTION_SEARCH_NEXT:
	case ACTION_SEARCH_BACK:
		if (!t->search)
			*message = "no earlier search; / searches";
		else
			search(p, t->search, false, a == ACTION_SEARCH_BACK, message);
		return true;
	default:
		return false;
	}
}

static bool lines(struct page *p, size_t *first, size_t *last, size_t *n)
{
	struct text_page *t = (struct text_page *)p;

	*n = t->n_pieces;
	*first = t->top + 1;
	*last = t->top + t->height < *n ? t->top + t->height : *n;
	return *n > 0 && t->height > 0;
}

static struct table *no_table(struct page *p)
{
	(void)p;
	return NULL;
}

static struct result *get_result(struct page *p)
{
	return ((struct text_page *)p)->result;
}

static void release(struct page *p)
{
	struct text_page *t = (struct text_page *)p;

	result_free(t->result);
	text_release(&t->all);
	free(t->line);
	free(t->piece);
	free(t->search);
}

static const struct page_ops text_ops = {
    .place = PLACE_TEXT,
    .draw = draw,
    .action = action,
    .table = no_table,
    .result = get_result,
    .search = search,
    .lines = lines,
    .release = release,
};

/* --- making one -------------------------------------------------------------------------------- */

struct page *page_new_text(struct result *r, struct invocation *asked)
{
	struct text_page *t = xcalloc(1, sizeof *t);

	page_init(&t->page, &text_ops, r->title, asked);
	t->result = r;
	write_result(t, 0);
	return &t->page;
}

struct page *page_new_lines(const char *title, const char *lines)
{
	struct text_page *t = xcalloc(1, sizeof *t);

	page_init(&t->page, &text_ops, title, NULL);
	text_add(&t->all, lines);
	split(t);
	return &t->page;
}
