/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * overview_page.c - the page that a dump opens with: the rows of overview, laid out in parts.
 *
 * Above stands why the dump was written, below it who holds the heap as one bar, then suspects, what fills the heap
 * beside what holds it, and further findings in a line.  Parts that need retained sizes have their place from the
 * beginning, so nothing moves when they come.  The selected row is that of a table: keys mean it as elsewhere.
 */
#include "view/page/page.h"

#include "base/mem.h"
#include "result/result.h"
#include "view/name_role.h"
#include "view/names.h"
#include "view/page/boxes.h"

#include <stdlib.h>
#include <string.h>

enum overview_part { PART_ALERT, PART_SUSPECT, PART_CLASS, PART_HOLDER, PART_ALSO, PARTS };
enum { SHOWN_MOST = 160, WIDEST = 140, SIDE_BY_SIDE = 76, MARKER = 2, BYTES_WIDTH = 8, SHARE_WIDTH = 7,
	SHARES_FROM = 44, GAP = 1, PART_LEAST = 2, BOTH_LEAST = 2 * PART_LEAST /* lines: a heading and a row */ };

struct part_rows {
	size_t first, n, seen; /* seen: those that there is room for */
};

struct overview_page {
	struct page page;
	struct result *result;
	struct table table;
	int name, bytes, share, freed, section; /* columns */
	struct part_rows part[PARTS]; /* its rows */
	struct shown {
		int y, x, width;
		size_t row;
		enum overview_part part;
	} shown[SHOWN_MOST]; /* as drawn last, in the order of the cursor */
	size_t n_shown;
	const char *note; /* of the result, which has what the page itself does not show of it; or NULL */
};

/* --- its rows ----------------------------------------------------------------------------------- */

static enum overview_part part_of(const char *section)
{
	static const char *const words[] = {
	    [PART_SUSPECT] = "suspect", [PART_CLASS] = "class", [PART_HOLDER] = "holder", [PART_ALSO] = "also"};
	for (enum overview_part p = PART_SUSPECT; p < PARTS; p++)
		if (!strcmp(section, words[p]))
			return p;
	return PART_ALERT;
}

static void find_parts(struct overview_page *o)
{
	for (size_t row = 0; row < o->result->n_rows; row++) {
		struct cell cell;
		result_cell(o->result, row, (unsigned)o->section, &cell);
		struct part_rows *part = &o->part[part_of(cell.text)];
		part->first = part->n++ ? part->first : row;
	}
}

static void print_cell(struct overview_page *o, size_t row, int column, struct text *to)
{
	struct cell cell;
	text_clear(to);
	result_cell(o->result, row, (unsigned)column, &cell);
	cell_print(&cell, to);
}

static uint64_t bytes_in(struct overview_page *o, size_t row, int column)
{
	struct cell cell;
	result_cell(o->result, row, (unsigned)column, &cell);
	return cell.type == CELL_BYTES ? cell.amount.n : 0;
}

static uint64_t bytes_of(struct overview_page *o, size_t row)
{
	return bytes_in(o, row, o->bytes);
}

/* Of a suspect also why clearing frees more than it retains; that goes first where there is little room. */
static void print_name(struct overview_page *o, enum overview_part part, size_t row, struct text *to)
{
	print_cell(o, row, o->name, to);
	if (part == PART_SUSPECT && bytes_in(o, row, o->freed) > bytes_of(o, row))
		text_add(to, "  frees others too");
}

/* Suspects that lead nowhere come last, however large they are. */
static uint64_t largest_of(struct overview_page *o, enum overview_part part)
{
	uint64_t largest = 0;
	for (size_t i = 0; i < o->part[part].n; i++) {
		uint64_t bytes = bytes_of(o, o->part[part].first + i);
		largest = bytes > largest ? bytes : largest;
	}
	return largest;
}

/* --- drawing ------------------------------------------------------------------------------------ */

static bool is_selected(const struct overview_page *o, size_t row)
{
	return o->table.row == row;
}

static void show(struct overview_page *o, enum overview_part part, size_t row, int y, int x, int width)
{
	if (o->n_shown < SHOWN_MOST)
		o->shown[o->n_shown++] = (struct shown){y, x, width, row, part};
}

static void draw_number(struct overview_page *o, size_t row, int column, int y, int x, int width, attr_t attr)
{
	struct text number = TEXT_INIT;
	struct cell cell;
	result_cell(o->result, row, (unsigned)column, &cell);
	cell_print(&cell, &number);
	bool unsure = cell.amount.certainty != EXACT && !is_selected(o, row);
	draw_right(y, x, width, number.len ? number.s : "", unsure ? theme_role(ROLE_UNSURE) : attr);
	text_release(&number);
}

/* A name for so many columns, in an empty text.  Of "static AuditLog.ENTRIES  ArrayList" the class goes before anything
 * is cut. */
static void fit_name(const char *name, int width, struct text *to)
{
	struct text part = TEXT_INIT;

	text_add(&part, name);
	for (;;) {
		const char *at = part.s, *last = NULL;
		text_clear(to);
		names_fit(part.s, width, to);
		while ((at = strstr(at, "  ")))
			last = at++;
		if ((int)text_width(to->s) <= width)
			break;
		if (!last) {
			text_clear(to);
			if (!names_fit_joined(part.s, width, to))
				names_fit_path(part.s, width, to);
			break;
		}
		part.s[part.len = (size_t)(last - part.s)] = '\0';
	}
	text_release(&part);
}

static void make_room(struct part_rows *rows, int lines)
{
	rows->seen = lines < 0 ? 0 : rows->n < (size_t)lines ? rows->n : (size_t)lines;
}

/* Columns of the widest name seen of a part, if each had so many. */
static int name_width(struct overview_page *o, enum overview_part part, int room)
{
	struct text name = TEXT_INIT, fitted = TEXT_INIT;
	int widest = 0;

	for (size_t i = 0; i < o->part[part].seen; i++) {
		print_name(o, part, o->part[part].first + i, &name);
		text_clear(&fitted);
		fit_name(name.s, room, &fitted);
		int width = fitted.len ? (int)text_width(fitted.s) : 0;
		widest = width > widest ? width : widest;
	}
	text_release(&name);
	text_release(&fitted);
	return widest;
}

/* What stands in a row of this width besides its name: packages give way to the bar, then the bar and the share to a
 * simple name. */
struct row_layout {
	int bar;
	bool share, freed;
};

static struct row_layout lay_out(struct overview_page *o, enum overview_part part, int width)
{
	enum { BAR_LEAST = 3 };
	struct row_layout l = {.bar = width >= 80 ? 14 : width >= 36 ? 8 : 0, .share = width >= SHARES_FROM,
	    .freed = part == PART_SUSPECT && width >= 50};
	int room = width - MARKER - GAP - BYTES_WIDTH * (1 + l.freed) - (l.share ? SHARE_WIDTH : 0);

	int name = name_width(o, part, room - GAP - l.bar);
	if (l.bar > room - GAP - name)
		l.bar = room - GAP - name >= BAR_LEAST ? room - GAP - name : 0;
	if (name > room)
		l.share = false;
	return l;
}

/* A suspect that nobody can clear is dim, as on its own page; a holder looks as in the heap's tree. */
static enum role role_of(struct overview_page *o, enum overview_part part, size_t row, const char *name)
{
	struct text field = TEXT_INIT, class = TEXT_INIT;
	enum role role = ROLE_TEXT;

	if (part == PART_SUSPECT)
		return bytes_in(o, row, o->freed) ? ROLE_SUSPECT : ROLE_QUIET;
	if (part == PART_CLASS)
		return name_role(o->result->heap, name);
	if (part == PART_HOLDER) {
		print_cell(o, row, result_column_of(o->result, COL_FIELD), &field);
		print_cell(o, row, result_column_of(o->result, COL_CLASS), &class);
		role = name_role_of_holder(o->result->heap, field.len ? field.s : "", class.len ? class.s : NULL);
	}
	text_release(&field);
	text_release(&class);
	return role;
}

/* Name, bar, share and bytes; of suspects also what clearing frees. */
static void draw_row(struct overview_page *o, enum overview_part part, size_t row, int y, int x, int width,
    struct row_layout l)
{
	bool selected = is_selected(o, row);
	attr_t attr = theme_role(selected ? ROLE_SELECTED : ROLE_TEXT);
	int end = x + width, bar = l.bar;
	struct text name = TEXT_INIT, fitted = TEXT_INIT;

	show(o, part, row, y, x, width);
	if (selected) {
		draw_blank(y, x, width, attr);
		draw_clipped(y, x, 1, ">", attr);
	}
	if (l.freed)
		draw_number(o, row, o->freed, y, end -= BYTES_WIDTH, BYTES_WIDTH, attr);
	draw_number(o, row, o->bytes, y, end -= BYTES_WIDTH, BYTES_WIDTH, attr);
	if (l.share)
		draw_number(o, row, o->share, y, end -= SHARE_WIDTH, SHARE_WIDTH, attr);
	uint64_t largest = largest_of(o, part);
	if (bar)
		end -= bar + GAP;
	if (bar && largest)
		draw_bar(y, end, bar, (double)bytes_of(o, row) / (double)largest, selected ? attr : theme_role(ROLE_BAR));
	print_name(o, part, row, &name);
	int room = end - GAP - x - MARKER;
	if (!selected)
		attr = theme_role(role_of(o, part, row, name.s));
	if (part == PART_CLASS) {
		draw_name(y, x + MARKER, room, name.s, attr);
	} else { /* by what it is held stands first, and says more than its class */
		fit_name(name.s, room, &fitted);
		draw_text(y, x + MARKER, room, fitted.len ? fitted.s : "", attr);
	}
	text_release(&name);
	text_release(&fitted);
}

static void draw_title(int y, int x, int width, const char *word, const char *numbers)
{
	draw_text(y, x, width, word, theme_role(ROLE_HEADER));
	draw_right(y, x + (int)strlen(word) + GAP, width - (int)strlen(word) - GAP, numbers, theme_role(ROLE_QUIET));
}

/* A heading and as many rows as there is room for.  Lines used. */
static int draw_part(struct overview_page *o, enum overview_part part, struct rect at, const char *word,
    const char *numbers)
{
	struct part_rows *rows = &o->part[part];
	if (at.height < 2)
		return 0;
	make_room(rows, at.height - 1);
	struct row_layout l = lay_out(o, part, at.width);
	draw_title(at.y, at.x, at.width, word, numbers);
	for (size_t i = 0; i < rows->seen; i++)
		draw_row(o, part, rows->first + i, at.y + 1 + (int)i, at.x, at.width, l);
	return at.height;
}

/* The words of a holder's box, or of that of all others. */
static void add_box_words(struct overview_page *o, size_t i, const struct box *box, struct text *to)
{
	struct text name = TEXT_INIT, bytes = TEXT_INIT, share = TEXT_INIT;
	const struct part_rows *rows = &o->part[PART_HOLDER];

	if (i < rows->n) {
		print_cell(o, rows->first + i, o->name, &name);
		print_cell(o, rows->first + i, o->bytes, &bytes);
		print_cell(o, rows->first + i, o->share, &share);
		boxes_words(name.s, bytes.s, share.s, boxes_room(box), to);
	} else {
		text_add(to, "other");
	}
	text_release(&name);
	text_release(&bytes);
	text_release(&share);
}

/* Who holds the heap: one bar, a box for each holder that has room for a few letters. */
static void draw_holders_bar(struct overview_page *o, int y, int x, int width)
{
	enum { MOST = 32, ALL = 1000 /* tenths of a percent */ };
	const struct part_rows *rows = &o->part[PART_HOLDER];
	struct text words = TEXT_INIT;
	uint64_t share[MOST];
	struct box box[MOST + 1];
	size_t n = 0;

	for (; n < rows->n && n < MOST; n++) {
		struct cell cell;
		result_cell(o->result, rows->first + n, (unsigned)o->share, &cell);
		if (cell.type != CELL_PERCENT)
			break;
		share[n] = cell.amount.n;
	}
	size_t boxes = n ? boxes_place(share, n, ALL, ALL, x, width, BOX_LEAST, box) : 0;
	for (size_t i = 0; i < boxes; i++) {
		bool other = box[i].part == n;
		attr_t attr = theme_role(i % 2 || other ? ROLE_QUIET : ROLE_BAR) | (other ? 0 : A_REVERSE);
		text_clear(&words);
		add_box_words(o, other ? rows->n : i, &box[i], &words);
		boxes_draw(y, &box[i], other ? BOX_PLAIN : BOX_FILLED, words.s, attr);
	}
	if (!boxes && result_is(o->result, RESULT_LACKS_ROWS))
		draw_text(y, x, width, theme_glyph(GLYPH_ELLIPSIS), theme_role(ROLE_QUIET));
	text_release(&words);
}

/* What is wrong is red; that somebody asked for the dump is a fact. */
static bool is_wrong(struct overview_page *o, size_t row)
{
	struct cell section;
	result_cell(o->result, row, (unsigned)o->section, &section);
	return strcmp(section.text, "event") != 0;
}

static int draw_alerts(struct overview_page *o, struct rect at)
{
	const struct part_rows *rows = &o->part[PART_ALERT];
	struct text words = TEXT_INIT;
	int lines = 0;
	for (size_t i = 0; i < rows->n && lines < 3 && lines < at.height; i++, lines++) {
		size_t row = rows->first + i;
		bool wrong = is_wrong(o, row);
		attr_t attr = theme_role(wrong ? ROLE_ERROR : ROLE_QUIET) | (is_selected(o, row) ? A_REVERSE : 0);
		show(o, PART_ALERT, row, at.y + lines, at.x, at.width);
		print_cell(o, row, o->name, &words);
		draw_clipped(at.y + lines, at.x, 1, is_selected(o, row) ? ">" : wrong ? "!" : " ", attr);
		draw_words(at.y + lines, at.x + MARKER, at.width - MARKER, words.s, attr);
	}
	text_release(&words);
	return lines;
}

/* "ALSO  waste 1.1M 12% · 14 threads, 2 blocked": on two lines at most. */
static void draw_also(struct overview_page *o, struct rect at)
{
	const struct part_rows *rows = &o->part[PART_ALSO];
	struct text words = TEXT_INIT, bytes = TEXT_INIT;
	int x = at.x + draw_text(at.y, at.x, at.width, "ALSO", theme_role(ROLE_HEADER)) + 2, first = x, y = at.y;
	for (size_t i = 0; i < rows->n; i++) {
		size_t row = rows->first + i;
		print_cell(o, row, o->name, &words);
		print_cell(o, row, o->bytes, &bytes);
		if (bytes.len)
			text_addf(&words, " %s", bytes.s);
		int width = (int)text_width(words.s);
		if (x > first && x + 3 + width > at.x + at.width) {
			if (++y >= at.y + at.height)
				break;
			x = first;
		} else if (x > first) {
			x += 1 + draw_text(y, x + 1, 1, theme_glyph(GLYPH_DOT), theme_role(ROLE_QUIET)) + 1;
		}
		show(o, PART_ALSO, row, y, x, width);
		x += draw_text(y, x, at.x + at.width - x, words.s, theme_role(is_selected(o, row) ? ROLE_SELECTED : ROLE_TEXT));
	}
	if (!rows->n)
		draw_text(y, x, 2, theme_glyph(GLYPH_ELLIPSIS), theme_role(ROLE_QUIET));
	text_release(&words);
	text_release(&bytes);
}

/* Where there is no suspect the first sentence of the note says so, and the others stay below. */
static void draw_no_suspects(struct overview_page *o, int y, int x, int width, int lines)
{
	const char *rest = o->note ? strstr(o->note, "; ") : NULL;
	struct text words = TEXT_INIT;
	if (o->note)
		text_add_n(&words, o->note, rest ? (size_t)(rest - o->note) : strlen(o->note));
	if (draw_count_lines(o->note ? words.s : "", (size_t)width) <= lines)
		o->result->note = rest ? rest + 2 : NULL;
	draw_wrapped(y, x, width, lines, o->note ? words.s : "none", theme_role(ROLE_QUIET));
	text_release(&words);
}

static void draw_suspects(struct overview_page *o, struct rect at)
{
	draw_part(o, PART_SUSPECT, at, "SUSPECTS", at.width >= 50 ? "retains   frees" : "retains");
	if (o->part[PART_SUSPECT].n || at.height < 2)
		return;
	if (result_is(o->result, RESULT_LACKS_ROWS))
		draw_text(at.y + 1, at.x + MARKER, at.width - MARKER, theme_glyph(GLYPH_ELLIPSIS), theme_role(ROLE_QUIET));
	else
		draw_no_suspects(o, at.y + 1, at.x + MARKER, at.width - MARKER, at.height - 1);
}

/* Of classes, beside what holds them.  It is known before the others are, which get the rest: their names are longer,
 * and nothing moves when they come. */
static int filled_width(struct overview_page *o, int width)
{
	enum { BAR = 8 };
	int others = MARKER + GAP + BAR + GAP + BYTES_WIDTH + SHARE_WIDTH, half = (width - 2) / 2;
	int simple = name_width(o, PART_CLASS, 0) + others, whole = name_width(o, PART_CLASS, width) + others;
	int left = simple > width * 2 / 5 ? simple : width * 2 / 5;

	left = whole < left ? whole : left;
	return left < half ? left : half;
}

/* Then what classes fill is a part of another whole than what roots hold. */
static bool has_unreachable(struct overview_page *o)
{
	const struct part_rows *also = &o->part[PART_ALSO];
	struct text name = TEXT_INIT;
	bool found = false;

	for (size_t row = also->first; !found && row < also->first + also->n; row++) {
		print_cell(o, row, o->name, &name);
		found = name.len && !strcmp(name.s, "unreachable");
	}
	text_release(&name);
	return found;
}

static void draw_filled_and_held(struct overview_page *o, struct rect at)
{
	bool beside = at.width >= SIDE_BY_SIDE;
	int upper = beside ? at.height : at.height < BOTH_LEAST ? 0 : at.height / 2;
	make_room(&o->part[PART_CLASS], upper - 1);
	make_room(&o->part[PART_HOLDER], at.height - (beside ? 1 : upper + 1));
	int left = filled_width(o, at.width);
	struct rect filled = {at.y, at.x, upper, beside ? left : at.width};
	struct rect held = beside ? (struct rect){at.y, at.x + left + 2, at.height, at.width - left - 2} :
	    (struct rect){at.y + upper, at.x, at.height - upper, at.width};
	bool two = has_unreachable(o);
	bool of_all = two && lay_out(o, PART_CLASS, filled.width).share;
	bool of_reachable = two && lay_out(o, PART_HOLDER, held.width).share;
	draw_part(o, PART_CLASS, filled, "FILLED BY", of_all ? "% of all  shallow" : "shallow");
	draw_part(o, PART_HOLDER, held, "HELD BY", of_reachable ? "% of reachable  retained" : "retained");
	if (!o->part[PART_HOLDER].n && held.height > 1)
		draw_text(held.y + 1, held.x + MARKER, 4, theme_glyph(GLYPH_ELLIPSIS), theme_role(ROLE_QUIET));
}

/* With few lines all rows stand one below the other, those around the selected one. */
static void draw_list(struct overview_page *o, struct rect at)
{
	size_t height = at.height > 0 ? (size_t)at.height : 0, selected = o->table.row, n = o->result->n_rows;
	size_t first = selected + 1 > height ? selected + 1 - height : 0;
	for (size_t i = 0; i < height && first + i < n; i++) {
		enum overview_part part = PART_ALERT;
		while (first + i >= o->part[part].first + o->part[part].n || first + i < o->part[part].first)
			part++;
		make_room(&o->part[part], (int)height);
		draw_row(o, part, first + i, at.y + (int)i, at.x, at.width, lay_out(o, part, at.width));
	}
	o->n_shown = 0; /* the cursor goes through all */
}

static void draw(struct page *p, struct rect at)
{
	enum { LOW = 6, ROOMY = 14, ALSO_LINES = 2, SUSPECTS_LEAST = 3 };
	struct overview_page *o = (struct overview_page *)p;
	int height = at.height, bottom = at.y + at.height;

	at.width = at.width < WIDEST ? at.width : WIDEST; /* numbers stay near their names */
	o->n_shown = 0;
	o->result->note = o->note;
	o->table.at = at;
	o->table.height = height > 0 ? (size_t)height : 0;
	if (height < LOW) {
		draw_list(o, at);
		return;
	}
	at.y += draw_alerts(o, at);
	if (height >= ROOMY) {
		draw_holders_bar(o, at.y, at.x, at.width);
		at.y += 2;
	}
	int left = bottom - at.y - (height >= ROOMY ? ALSO_LINES + 1 : 1), suspects = (int)o->part[PART_SUSPECT].n;
	suspects = (suspects < SUSPECTS_LEAST ? SUSPECTS_LEAST : suspects) + 1;
	if (suspects > left / 2)
		suspects = left / 2;
	if (at.width < SIDE_BY_SIDE && left - suspects < BOTH_LEAST && left - BOTH_LEAST >= PART_LEAST)
		suspects = left - BOTH_LEAST;
	draw_suspects(o, (struct rect){at.y, at.x, suspects, at.width});
	at.y += suspects + (height >= ROOMY);
	left -= suspects + (height >= ROOMY);
	draw_filled_and_held(o, (struct rect){at.y, at.x, left, at.width});
	at.y += left + (height >= ROOMY);
	draw_also(o, (struct rect){at.y, at.x, bottom - at.y, at.width});
}

/* --- keys --------------------------------------------------------------------------------------- */

static size_t place_of(const struct overview_page *o)
{
	for (size_t i = 0; i < o->n_shown; i++)
		if (is_selected(o, o->shown[i].row))
			return i;
	return 0;
}

static void select_shown(struct overview_page *o, size_t i)
{
	if (i < o->n_shown)
		o->table.row = o->shown[i].row;
}

/* To the first row of the next part; behind the last one comes the first. */
static void next_part(struct overview_page *o)
{
	size_t i = place_of(o);
	enum overview_part part = o->n_shown ? o->shown[i].part : PART_ALERT;
	while (i < o->n_shown && o->shown[i].part == part)
		i++;
	select_shown(o, i < o->n_shown ? i : 0);
}

static bool action(struct page *p, enum action a, const char **message)
{
	struct overview_page *o = (struct overview_page *)p;
	size_t at = place_of(o), last = o->n_shown ? o->n_shown - 1 : 0;

	if (!o->n_shown)
		return table_action(&o->table, a, message);
	switch (a) {
	case ACTION_UP:
		select_shown(o, at ? at - 1 : 0);
		return true;
	case ACTION_DOWN:
		select_shown(o, at < last ? at + 1 : last);
		return true;
	case ACTION_FIRST:
	case ACTION_PAGE_UP:
	case ACTION_HALF_UP:
		select_shown(o, 0);
		return true;
	case ACTION_LAST:
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_DOWN:
		select_shown(o, last);
		return true;
	case ACTION_SIDE:
		next_part(o);
		return true;
	case ACTION_SEARCH_NEXT:
	case ACTION_SEARCH_BACK:
		return table_action(&o->table, a, message);
	default:
		return false;
	}
}

static struct table *get_table(struct page *p)
{
	return &((struct overview_page *)p)->table;
}

static bool click(struct page *p, struct rect at, int y, int x)
{
	struct overview_page *o = (struct overview_page *)p;
	(void)at;
	for (size_t i = 0; i < o->n_shown; i++) {
		const struct shown *s = &o->shown[i];
		if (y == s->y && x >= s->x && x < s->x + s->width) {
			select_shown(o, i);
			return true;
		}
	}
	return false;
}

static void release(struct page *p)
{
	struct overview_page *o = (struct overview_page *)p;
	table_release(&o->table);
	result_free(o->result);
}

static const struct page_ops overview_ops = {
    .place = PLACE_OVERVIEW,
    .draw = draw,
    .action = action,
    .table = get_table,
    .click = click,
    .release = release,
};

bool page_is_overview(const struct page *p)
{
	return p && p->ops == &overview_ops;
}

struct page *page_new_overview(struct result *r, struct invocation *asked)
{
	struct overview_page *o = xcalloc(1, sizeof *o);

	page_init(&o->page, &overview_ops, r->title, asked);
	o->result = r;
	o->note = r->note;
	o->section = result_column_of(r, COL_SECTION);
	o->name = result_column_of(r, COL_NAME);
	o->bytes = result_column_of(r, COL_BYTES);
	o->share = result_column_of(r, COL_SHARE);
	o->freed = result_column_of(r, COL_FREED);
	table_init(&o->table, r);
	o->table.sentence = -1; /* it would cover what stands below */
	find_parts(o);
	return &o->page;
}

bool overview_suspects(struct page *p, const char *name)
{
	struct overview_page *o = (struct overview_page *)p;
	struct text suspect = TEXT_INIT;
	bool found = false;

	for (size_t i = 0; page_is_overview(p) && i < o->part[PART_SUSPECT].n && !found; i++) {
		print_cell(o, o->part[PART_SUSPECT].first + i, o->name, &suspect);
		size_t n = strlen(name); /* a loader may stand behind it */
		found = !strncmp(suspect.s, name, n) && (!suspect.s[n] || suspect.s[n] == ',');
	}
	text_release(&suspect);
	return found;
}

void overview_go_on(struct page *p, const struct page *left)
{
	struct overview_page *o = (struct overview_page *)p;
	const struct overview_page *before = (const struct overview_page *)left;
	size_t row = before->table.row;
	if (!row) /* nobody chose one */
		return;
	for (enum overview_part part = 0; part < PARTS; part++) {
		const struct part_rows *was = &before->part[part], *is = &o->part[part];
		if (row >= was->first && row - was->first < is->n && row - was->first < was->n)
			o->table.row = is->first + (row - was->first);
	}
}
