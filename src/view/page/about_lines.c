/* SPDX-License-Identifier: GPL-3.0-or-later */
/* about_lines.c - see about_lines.h. */
#include "view/page/about_lines.h"

#include "command/commands.h"
#include "heap/classes.h"
#include "view/about_rows.h"
#include "view/name_role.h"
#include "view/names.h"

#include <string.h>

enum { PIECES = 4, BAR = 8, BAR_FROM = 70 };

#define THIS "this"

/* One word: pieces in colours of their own, of one row. */
struct span {
	size_t row;
	struct text text;
	struct {
		size_t begin, end; /* bytes of text */
		enum role role;
	} piece[PIECES];
	unsigned n;
	double bar; /* behind it; 0: none */
};

/* --- the answer --------------------------------------------------------------------------------- */

void about_lines_take(struct about_lines *a, struct result *r, uint64_t serial, bool quick)
{
	size_t row = a->result ? a->table.row : 0;
	const struct session *session = a->table.session;

	about_lines_release(a);
	a->result = r;
	a->serial = serial;
	a->quick = quick;
	table_init(&a->table, r);
	a->table.session = session;
	a->table.plain = true;
	a->table.sentence = -1;
	a->table.row = row < r->n_rows ? row : 0;
}

void about_lines_release(struct about_lines *a)
{
	if (a->result)
		table_release(&a->table);
	result_free(a->result);
	*a = (struct about_lines){.result = NULL};
}

void about_lines_begin(struct about_lines *a)
{
	a->n = 0;
}

/* --- words -------------------------------------------------------------------------------------- */

static void add_piece(struct span *s, const char *words, enum role role)
{
	if (s->n == PIECES)
		return;
	s->piece[s->n].begin = s->text.len;
	text_add(&s->text, words);
	s->piece[s->n].end = s->text.len;
	s->piece[s->n++].role = role;
}

static void print_cell(struct result *r, size_t row, enum column_id column, struct text *to)
{
	struct cell cell;

	text_clear(to);
	text_add(to, "");
	result_cell(r, row, (unsigned)result_column_of(r, column), &cell);
	cell.indent = 0;
	if (cell.type != CELL_NONE)
		cell_print(&cell, to);
}

static void add_between(struct text *to, const char *sign)
{
	text_addf(to, " %s ", sign);
}

/* Is it the reference that is proposed to be cleared? */
static bool is_cut(struct result *r, const char *name)
{
	struct text cut = TEXT_INIT;
	bool is = false;

	for (size_t row = 0; row < r->n_rows && !is; row++) {
		if (about_part(r, row) != ABOUT_CUT)
			continue;
		print_cell(r, row, COL_NAME, &cut);
		is = strcmp(cut.s, name) == 0;
	}
	text_release(&cut);
	return is;
}

/* Of the class of the object that a row leads to; name: as it is shown, without its package. */
static enum role class_role(struct result *r, size_t row, const char *name)
{
	struct target target = {.kind = TARGET_NONE};

	result_target(r, row, &target);
	return name_role(r->heap, target.kind == TARGET_OBJECT ? heap_class_of(r->heap, target.id)->name : name);
}

/* The name of a reference, what clearing it frees where that is another number than before, and what it leads to. */
static void path_span(struct result *r, size_t row, bool last, struct text *freed_before, struct span *s)
{
	struct text words = TEXT_INIT, line = TEXT_INIT;

	add_between(&line, theme_glyph(GLYPH_HORIZONTAL));
	print_cell(r, row, COL_NAME, &words);
	if (strcmp(words.s, "?") != 0) /* formats without names */
		add_piece(s, words.s, is_cut(r, words.s) ? ROLE_SUSPECT : ROLE_TEXT);
	print_cell(r, row, COL_FREED, &words);
	if (words.len && strcmp(words.s, freed_before->len ? freed_before->s : "") != 0) {
		add_piece(s, s->n ? line.s : "", ROLE_QUIET);
		add_piece(s, words.s, ROLE_TOTAL);
		text_clear(freed_before);
		text_add(freed_before, words.s);
	}
	print_cell(r, row, COL_VALUE, &words);
	if (words.len) { /* the line before it goes with it */
		struct text class = TEXT_INIT;
		text_addf(&class, "%s%s", s->n ? line.s : "", last ? THIS : words.s);
		add_piece(s, class.s, last ? ROLE_QUIET : class_role(r, row, words.s));
		text_release(&class);
	}
	text_release(&words);
	text_release(&line);
}

/* "3 byte[] 1.1K" */
static void freed_span(struct result *r, size_t row, struct span *s)
{
	struct text words = TEXT_INIT, name = TEXT_INIT;
	struct cell cell;

	print_cell(r, row, COL_OBJECTS, &words);
	result_cell(r, row, (unsigned)result_column_of(r, COL_OBJECTS), &cell);
	bool is_rest = !words.len; /* "and 1 more class" */
	if (words.len && cell.amount.n != 1) {
		text_add_char(&words, ' ');
		add_piece(s, words.s, ROLE_TEXT);
	}
	print_cell(r, row, COL_NAME, &words);
	names_fit(words.s, 0, &name);
	static const char and[] = "and ";
	const char *shown = name.len ? name.s : words.s;
	shown += is_rest && !strncmp(shown, and, sizeof and - 1) ? sizeof and - 1 : 0;
	add_piece(s, shown, is_rest ? ROLE_QUIET : name_role(r->heap, words.s));
	print_cell(r, row, COL_SHALLOW, &words);
	if (words.len) {
		result_cell(r, row, (unsigned)result_column_of(r, COL_SHALLOW), &cell);
		text_clear(&name);
		text_addf(&name, " %s", words.s);
		add_piece(s, name.s, cell.amount.certainty == EXACT ? ROLE_TEXT : ROLE_UNSURE);
	}
	text_release(&words);
	text_release(&name);
}

/* --- on lines ----------------------------------------------------------------------------------- */

static int span_width(const struct span *s)
{
	return (int)text_width(s->text.s) + (s->bar > 0 ? 1 + BAR : 0);
}

/* How many lines the words take, without those from `skip` on that are folded into one sign. */
static int count_lines(const struct span *s, size_t n, size_t skip, size_t skipped, int width)
{
	int x = 0, lines = 1;

	for (size_t i = 0; i < n; i++) {
		int w = 1;
		if (i > skip && i < skip + skipped)
			continue;
		if (i != skip || !skipped)
			w = span_width(&s[i]);
		if (x > 0 && x + 3 + w > width) {
			lines++;
			x = w;
		} else {
			x += w + (x > 0 ? 3 : 0);
		}
	}
	return lines;
}

static void draw_span(struct about_lines *a, const struct span *s, int y, int x, int width, bool active)
{
	bool selected = active && a->table.row == s->row;
	struct text words = TEXT_INIT;
	int end = x + width;

	if (a->n < ABOUT_WORDS)
		a->word[a->n++] = (struct about_word){s->row, y, x, width};
	for (unsigned i = 0; i < s->n && x < end; i++) {
		text_clear(&words);
		text_add_n(&words, s->text.s + s->piece[i].begin, s->piece[i].end - s->piece[i].begin);
		x += draw_text(y, x, end - x, words.s, theme_role(selected ? ROLE_SELECTED : s->piece[i].role));
	}
	if (s->bar > 0 && x + BAR < end)
		draw_bar(y, x + 1, BAR, s->bar, theme_role(ROLE_BAR));
	text_release(&words);
}

/* One behind the other, with a sign between them, on as many lines as there are.  Where there are too few, some after
 * the first `kept` ones go, or (kept n) the last ones. */
static int draw_spans(struct about_lines *a, const struct span *s, size_t n, size_t kept, struct rect at,
    const char *sign, bool active)
{
	size_t skipped = 0, skip = kept;
	int x = 0, line = 0;

	while (skipped + 1 < n && count_lines(s, n, skip, skipped, at.width) > at.height) {
		skipped++;
		skip = kept < n && kept + skipped < n ? kept : n - skipped;
	}
	for (size_t i = 0; i < n && line < at.height; i++) {
		bool folded = skipped && i == skip;
		int width = folded ? (int)text_width(theme_glyph(GLYPH_ELLIPSIS)) : span_width(&s[i]);
		if (skipped && i > skip && i < skip + skipped)
			continue;
		if (x > 0 && x + 3 + width > at.width) {
			line++;
			x = 0;
		}
		if (line >= at.height)
			break;
		if (x > 0 || line > 0) {
			int gap = x > 0 ? 1 : 0;
			draw_text(at.y + line, at.x + x + gap, 1, sign, theme_role(ROLE_QUIET));
			x += gap + 2;
		}
		width = width < at.width - x ? width : at.width - x;
		if (folded)
			draw_text(at.y + line, at.x + x, width, theme_glyph(GLYPH_ELLIPSIS), theme_role(ROLE_QUIET));
		else
			draw_span(a, &s[i], at.y + line, at.x + x, width, active);
		x += width;
	}
	return line < at.height ? line + 1 : at.height;
}

static size_t gather(struct result *r, enum about_part part, struct span *spans)
{
	size_t n = 0;

	for (size_t row = 0; row < r->n_rows && n < ABOUT_WORDS; row++)
		if (about_part(r, row) == part)
			spans[n++] = (struct span){.row = row, .text = TEXT_INIT};
	return n;
}

static void release_spans(struct span *spans, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_release(&spans[i].text);
}

/* Where nothing is known yet, or no line is left.  Returns the lines. */
static int draw_missing(struct rect at)
{
	if (at.height < 1)
		return 0;
	draw_text(at.y, at.x, at.width, theme_glyph(GLYPH_ELLIPSIS), theme_role(ROLE_QUIET));
	return 1;
}

int about_lines_path(struct about_lines *a, struct rect at, bool active)
{
	struct span spans[ABOUT_WORDS];
	struct text freed = TEXT_INIT;

	if (at.height < 1 || !a->result)
		return draw_missing(at);
	size_t n = gather(a->result, ABOUT_PATH, spans);
	for (size_t i = 0; i < n; i++)
		path_span(a->result, spans[i].row, i + 1 == n, &freed, &spans[i]);
	int lines = n ? draw_spans(a, spans, n, 1, at, theme_glyph(GLYPH_HORIZONTAL), active) : 1;
	release_spans(spans, n);
	text_release(&freed);
	return lines;
}

int about_lines_freed(struct about_lines *a, struct rect at, bool active)
{
	struct span spans[ABOUT_WORDS];
	struct cell cell;

	if (at.height < 1 || !a->result)
		return draw_missing(at);
	size_t n = gather(a->result, ABOUT_IF_CUT, spans);
	for (size_t i = 0; i < n; i++)
		freed_span(a->result, spans[i].row, &spans[i]);
	if (n && at.width >= BAR_FROM) {
		result_cell(a->result, spans[0].row, (unsigned)result_column_of(a->result, COL_SHALLOW), &cell);
		spans[0].bar = cell.amount.n ? 1 : 0; /* the largest: it is the scale */
	}
	int lines = n ? draw_spans(a, spans, n, n, at, theme_glyph(GLYPH_DOT), active) : 1;
	if (!n)
		draw_text(at.y, at.x, at.width, a->serial && !a->quick ? "nothing but itself" : theme_glyph(GLYPH_ELLIPSIS),
		    theme_role(ROLE_QUIET));
	release_spans(spans, n);
	return lines;
}

/* --- rows --------------------------------------------------------------------------------------- */

static struct about_rows rows_of(struct about_lines *a, enum about_part part)
{
	size_t first = 0, n = a->result->n_rows;
	struct about_rows rows = {.part = part};

	while (first < n && about_part(a->result, first) != part)
		first++;
	if (first < n)
		rows = about_rows_of(a->result, first, n);
	if (part == ABOUT_CUT)
		rows.value = 0; /* the command, which c types */
	return rows;
}

int about_lines_width(struct about_lines *a, enum about_part part)
{
	struct about_rows rows = a->result ? rows_of(a, part) : (struct about_rows){.n = 0};

	return rows.n ? about_rows_wish(&rows) : 0;
}

int about_lines_rows(struct about_lines *a, struct rect at, enum about_part part, bool active)
{
	int line = 0;

	if (at.height < 1 || !a->result)
		return draw_missing(at);
	struct about_rows rows = rows_of(a, part);
	int name = about_rows_name(&rows, at.width, 0);
	for (size_t row = rows.first; row < rows.first + rows.n && line < at.height; row++, line++) {
		if (a->n < ABOUT_WORDS)
			a->word[a->n++] = (struct about_word){row, at.y + line, at.x, at.width};
		about_rows_draw(a->result, &rows, row, (struct rect){at.y + line, at.x, 1, at.width}, name,
		    active && a->table.row == row);
	}
	return line;
}

/* --- keys --------------------------------------------------------------------------------------- */

static size_t place_of(const struct about_lines *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->word[i].row == a->table.row)
			return i;
	return 0;
}

bool about_lines_enter(struct about_lines *a)
{
	if (!a->result || !a->n)
		return false;
	a->table.row = a->word[0].row;
	return true;
}

bool about_lines_action(struct about_lines *a, enum action action)
{
	size_t at = place_of(a), last = a->n ? a->n - 1 : 0;

	if (!a->n)
		return false;
	switch (action) {
	case ACTION_UP:
		at -= at > 0;
		break;
	case ACTION_DOWN:
		at += at < last;
		break;
	case ACTION_FIRST:
	case ACTION_PAGE_UP:
	case ACTION_HALF_UP:
		at = 0;
		break;
	case ACTION_LAST:
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_DOWN:
		at = last;
		break;
	default:
		return false;
	}
	a->table.row = a->word[at].row;
	return true;
}

bool about_lines_click(struct about_lines *a, int y, int x)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct about_word *w = &a->word[i];
		if (y != w->y || x < w->x || x >= w->x + w->width)
			continue;
		a->table.row = w->row;
		return true;
	}
	return false;
}
