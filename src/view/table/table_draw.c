/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_draw.c - how a table looks; where its columns stand: table_layout.c. */
#include "view/table/table_layout.h"

#include "result/plot.h"
#include "result/print.h"
#include "view/match.h"
#include "view/name_role.h"
#include "view/names.h"

#include <string.h>

enum { CARDS_COMPARED = 1000 };

/* A plot is never cut: in less room its points share columns. */
static void draw_plot(int y, int x, int width, const char *s, attr_t attr)
{
	struct text squeezed = TEXT_INIT, shown = TEXT_INIT;

	plot_squeeze(&squeezed, s, (size_t)width);
	(term_fine_blocks() ? text_add : plot_add_ascii)(&shown, squeezed.len ? squeezed.s : "");
	draw_clipped(y, x, width, shown.len ? shown.s : "", attr);
	text_release(&squeezed);
	text_release(&shown);
}

static void draw_bar_cell(int y, int x, int width, const char *s, attr_t attr)
{
	struct text shown = TEXT_INIT;

	(term_fine_blocks() ? text_add : plot_add_ascii_bar)(&shown, s);
	draw_clipped(y, x, width, shown.len ? shown.s : "", attr);
	text_release(&shown);
}

static void draw_cell(const struct layout *l, unsigned i, const struct column *column, int y,
    const char *s, attr_t attr)
{
	if (cell_is_number(column_type(column)))
		draw_right(y, l->x[i], l->width[i], s, attr);
	else if (column_kinds[column->id].clip == CLIP_MIDDLE)
		draw_name(y, l->x[i], l->width[i], s, attr);
	else if (column->verbatim || strchr("\"'{[", *s))
		draw_text(y, l->x[i], l->width[i], s, attr);
	else
		draw_words(y, l->x[i], l->width[i], s, attr);
}

/* Quietly beside a number, or behind a text as far as its column goes. */
static void draw_beside(const struct layout *l, unsigned i, const struct column *column, int y, const char *s,
    const char *beside, attr_t attr)
{
	int used = cell_is_number(column_type(column)) ? l->width[i] : (int)text_width_most(s, (size_t)l->width[i]);
	int room = cell_is_number(column_type(column)) ? (int)text_width(beside) : l->width[i] - used - COLUMN_GAP;

	if (l->beside || !cell_is_number(column_type(column)))
		draw_text(y, l->x[i] + used + COLUMN_GAP, room, beside, attr);
}

/* Does a column have percentages, too? */
static bool shows_percents(const struct table *t, const struct layout *l)
{
	for (unsigned i = 0; i < l->n; i++)
		if (column_type(&t->result->columns[l->column[i]]) == CELL_PERCENT)
			return true;
	return false;
}

/* "+3 columns: W" at the right end of the header, or less where there is no room.  Returns how many columns it does
 * not report. */
static unsigned draw_lost(const struct table *t, const struct layout *l, struct rect at)
{
	struct text sign = TEXT_INIT;
	int room = table_header_room(t, l, at) - COLUMN_GAP;

	if (l->lost == 0)
		return 0;
	text_addf(&sign, "+%u column%s: W", l->lost, l->lost == 1 ? "" : "s");
	if ((int)sign.len > room) {
		text_clear(&sign);
		text_addf(&sign, "+%u", l->lost);
	}
	bool fits = (int)sign.len <= room;
	if (fits)
		draw_right(at.y, at.x + at.width - (int)sign.len, (int)sign.len, sign.s, theme_role(ROLE_QUIET));
	text_release(&sign);
	return fits ? 0 : l->lost;
}

static void draw_header(struct table *t, const struct layout *l, struct rect at)
{
	struct text title = TEXT_INIT;

	for (unsigned i = 0; i < l->n; i++) {
		const struct column *column = &t->result->columns[l->column[i]];
		bool sorted = (int)l->column[i] == t->result->sorted_by;
		if (table_is_card_text(t, l->column[i]))
			continue;
		text_clear(&title);
		table_add_title(column, &title);
		draw_cell(l, i, column, at.y, title.len ? title.s : "", theme_role(sorted ? ROLE_SORTED : ROLE_HEADER));
		if (!sorted)
			continue;
		if (!tree_has_groups(t->result)) {
			if (l->percent_x && shows_percents(t, l))
				draw_right(at.y, l->percent_x, SHARE_PERCENT, "% sum", theme_role(ROLE_HEADER));
			continue;
		}
		/* bars and percentages are of different wholes here */
		if (l->bar >= 8)
			draw_text(at.y, l->bar_x, l->bar, "siblings", theme_role(ROLE_HEADER));
		if (l->percent_x)
			draw_right(at.y, l->percent_x, SHARE_PERCENT, "% all", theme_role(ROLE_HEADER));
	}
	text_release(&title);
	t->lost = draw_lost(t, l, at);
}

/* The heading of half a page, and the words of its sizes as far as they stand behind it. */
static void draw_words_over(const struct table *t, const struct layout *l, struct rect at, bool active)
{
	int x = at.x + ROW_MARKER;

	x += draw_text(at.y, x, at.width - ROW_MARKER, t->heading, theme_role(active ? ROLE_SORTED : ROLE_HEADER));
	for (unsigned i = 0; i < l->n; i++) {
		const struct column *column = &t->result->columns[l->column[i]];
		const char *word = column_title(column);
		int end = l->x[i] + l->width[i];
		if (column_type(column) == CELL_BYTES && end - (int)text_width(word) > x)
			draw_right(at.y, end - (int)text_width(word), (int)text_width(word), word, theme_role(ROLE_QUIET));
	}
}

/* In the heap's tree bars compare siblings, against the largest of them.  Below the first level, where
 * each few siblings have a scale of their own, they are thin, and begin further right the deeper they are. */
static void draw_row_bar(const struct table *t, const struct layout *l, int y, size_t row, const struct cell *part,
    double share, attr_t attr)
{
	struct text scratch = TEXT_INIT;
	struct cell largest;
	struct branch b;
	bool compare = tree_has_groups(t->result) && row != SIZE_MAX &&
		       tree_largest(t->result, row, &largest, &scratch) && largest.amount.n > 0;
	text_release(&scratch);
	if (compare)
		share = (double)part->amount.n / (double)largest.amount.n;
	if (!compare || !tree_branch(t->result, row, &b) || !b.depth) {
		draw_bar(y, l->bar_x, l->bar, share, attr);
		return;
	}
	int indent = b.depth < (unsigned)l->bar / 2 ? (int)b.depth : l->bar / 2;
	draw_thin_bar(y, l->bar_x + indent, l->bar - indent, share, attr);
}

/* "37%", ">=37%", ">=0.3%": "<1%" would be false of a lower bound.  A share of an unknown whole is inferred at
 * best; the heap's tree knows what roots reach, and its rows state their certainty. */
static void add_percent(const struct table *t, const struct cell *part, const struct cell *whole, bool of_row,
    struct text *to)
{
	double share = (double)part->amount.n / (double)whole->amount.n;
	enum certainty sure = part->amount.certainty;
	bool tree = tree_has_groups(t->result), at_least = tree && sure == LOWER_BOUND;
	bool small = share > 0 && share < (at_least ? 0.01 : 0.005);

	if (!tree && (sure != EXACT || whole->amount.certainty != EXACT))
		text_add_char(to, '~');
	else if (sure == LOWER_BOUND && of_row)
		text_add(to, ">=");
	else if (sure != EXACT && sure != LOWER_BOUND)
		text_add_char(to, '~');
	unsigned tenths = (unsigned)(share * 1000); /* of a percent; rounded down, as a lower bound has to be */
	if (at_least && small && tenths)
		text_addf(to, "0.%u%%", tenths);
	else if (at_least)
		text_addf(to, "%u%%", tenths / 10);
	else if (small)
		text_add(to, "<1%");
	else
		text_addf(to, "%.0f%%", share * 100);
}

void table_add_percent(const struct table *t, unsigned column, const struct cell *part, struct text *to)
{
	if (t->have_whole && column < TABLE_COLUMNS && t->whole[column].amount.n && part->type != CELL_NONE)
		add_percent(t, part, &t->whole[column], true, to);
}

/* Of a column that always has bars: the largest row's is the longest, and what fell has none. */
static void draw_own_bar(const struct table *t, const struct layout *l, int y, const struct cell *part, attr_t attr)
{
	int64_t n = amount_signed(part->amount);

	if (l->bar > 0 && n > 0 && t->longest > 0)
		draw_bar(y, l->bar_x, l->bar, (double)n / (double)t->longest, attr);
}

/* row SIZE_MAX: of the total. */
static void draw_share(const struct table *t, const struct layout *l, int y, size_t row,
    const struct cell *part, attr_t row_attr, bool selected)
{
	double share = (double)part->amount.n / (double)t->whole[t->result->sorted_by].amount.n;
	struct text percent = TEXT_INIT;
	attr_t bar = selected ? row_attr : theme_role(ROLE_BAR);

	/* the number of a bar has its colour, and so have the blanks between them: that is shorter to send */
	if (l->bar > 0 && l->percent_x && !tree_has_groups(t->result) && draw_bar_is_seen(l->bar, share)) {
		draw_blank(y, l->bar_x, l->percent_x + SHARE_PERCENT - l->bar_x, bar);
		row_attr = bar;
	}
	if (l->bar > 0)
		draw_row_bar(t, l, y, row, part, share, bar);
	if (!l->percent_x || (row != SIZE_MAX && !table_is_of_sum(t, row)))
		return;
	add_percent(t, part, &t->whole[t->result->sorted_by], row != SIZE_MAX, &percent);
	draw_right(y, l->percent_x, SHARE_PERCENT, percent.s, row_attr);
	text_release(&percent);
}

/* A heading says most at its end: where it does not fit without packages either, what is behind its number loses its
 * beginning. */
static void draw_heading(int y, int x, int width, const char *s, attr_t attr)
{
	size_t number = strspn(s, " 0123456789");
	struct text fitted = TEXT_INIT;

	names_fit(s, width, &fitted);
	s = fitted.len ? fitted.s : "";
	if ((int)text_width_most(s, (size_t)width + 1) <= width || (int)number >= width) {
		draw_text(y, x, width, s, attr);
	} else {
		draw_clipped(y, x, (int)number, s, attr);
		draw_right(y, x + (int)number, width - (int)number, s + number, attr);
	}
	text_release(&fitted);
}

/* The text as the branch of a tree: blanks, whether it is open, and the text.  Where the blanks would
 * take the room of the text there are fewer of them, and the depth as a number. */
static void draw_branch(const struct table *t, int y, int x, int width, size_t row, const char *s,
    attr_t attr)
{
	struct branch b = {.depth = 0};
	struct text depth = TEXT_INIT;

	tree_branch(t->result, row, &b);
	int most = width / 2, indent = b.depth < 1000 ? 2 * (int)b.depth : most + 1;
	if (indent > most) {
		text_addf(&depth, "%u", b.depth);
		indent = most < 4 ? most : most / 2 * 2 - 2;
		int used = draw_text(y, x, most, depth.s, theme_role(ROLE_QUIET));
		indent = used + 1 > indent ? used + 1 : indent;
	}
	text_release(&depth);
	const char *sign = b.state == BRANCH_OPEN     ? theme_glyph(GLYPH_OPEN)
			   : b.state == BRANCH_CLOSED ? theme_glyph(GLYPH_CLOSED)
			   : b.state == BRANCH_REST   ? theme_glyph(GLYPH_ELLIPSIS)
						      : " ";
	if (indent < width)
		draw_clipped(y, x + indent, 2, sign, attr);
	x += indent + 2;
	width -= indent + 2;
	if (width > 0 && table_heading_column(t, row) >= 0)
		draw_heading(y, x, width, s, attr);
	else if (width > 0)
		draw_name(y, x, width, s, attr);
}

/* The largest share of all cards fills the bar. */
static void draw_card_bar(const struct table *t, const struct layout *l, int y, const struct cell *share, attr_t attr)
{
	uint64_t most = share->amount.n;

	for (size_t row = 0; row < t->result->n_rows && row < CARDS_COMPARED; row++) {
		struct cell other;
		result_cell(t->result, row, (unsigned)l->bar_of, &other);
		most = other.type == CELL_PERCENT && other.amount.n > most ? other.amount.n : most;
	}
	draw_bar(y, l->bar_x, l->bar, most ? (double)share->amount.n / (double)most : 0, attr);
}

static bool is_suspect(const struct table *t, size_t row)
{
	struct cell kind;

	return result_cell_in(t->result, row, COL_KIND, &kind) && kind.type == CELL_TEXT && !strcmp(kind.text, "suspect");
}

static attr_t card_role(const struct table *t, size_t row, unsigned c, const struct cell *cell)
{
	enum column_id id = t->result->columns[c].id;
	bool text = cell->type == CELL_TEXT && cell->amount.certainty == EXACT;

	if (text && table_is_dim_card(t, row))
		return theme_role(ROLE_QUIET);
	if (text && id == COL_NAME)
		return theme_role(is_suspect(t, row) ? ROLE_SUSPECT : name_role(t->result->heap, cell->text));
	return theme_role(text ? ROLE_QUIET : cell_role_in(t->result->heap, id, cell));
}

static void draw_row(struct table *t, const struct layout *l, struct rect at, int y, size_t row,
    bool has_keyboard, struct text *buffer)
{
	bool selected = row == t->row && !t->on_head;
	attr_t row_attr = theme_role(!selected ? ROLE_TEXT : has_keyboard ? ROLE_SELECTED : ROLE_MARKED);

	if (selected) {
		if (has_keyboard) { /* the other half of an object has the sign, and there is one */
			draw_blank(y, at.x, at.width, row_attr);
			draw_clipped(y, at.x, 1, ">", row_attr);
		}
	}
	int heading = table_heading_column(t, row);
	bool card = table_has_cards(t);
	for (unsigned i = 0; i < l->n; i++) {
		struct cell cell;
		unsigned c = l->column[i];

		text_clear(buffer);
		table_cell(t, row, c, &cell);
		cell.indent = 0; /* draw_branch knows better */
		table_print(t, c, &cell, buffer);
		attr_t attr = selected ? row_attr : card ? card_role(t, row, c, &cell) :
		    theme_role(cell_role_in_row(t->result, row, c, &cell));
		if ((int)c == heading) {
			int rest = at.x + at.width - l->x[i];
			if (tree_is(t->result))
				draw_branch(t, y, l->x[i], rest, row, buffer->s, attr);
			else
				draw_text(y, l->x[i], rest, buffer->s, attr);
			break;
		}
		enum column_id id = t->result->columns[c].id;
		if (tree_is(t->result) && c == tree_column(t->result))
			draw_branch(t, y, l->x[i], l->width[i], row, buffer->s, attr);
		else if (id == COL_PLOT || (id == COL_BAR && cell.type == CELL_TEXT))
			(id == COL_PLOT ? draw_plot : draw_bar_cell)(y, l->x[i], l->width[i], buffer->s, attr);
		else if (card && cell.type == CELL_TEXT)
			draw_joined(y, l->x[i], l->width[i], buffer->s, id != COL_NAME, attr);
		else
			draw_cell(l, i, &t->result->columns[c], y, buffer->s, attr);
		if (cell.beside)
			draw_beside(l, i, &t->result->columns[c], y, buffer->s, cell.beside,
			    selected ? row_attr : theme_role(ROLE_QUIET));
		if ((int)c != l->bar_of || cell.type == CELL_NONE)
			continue;
		if (card)
			draw_card_bar(t, l, y, &cell, selected ? row_attr : theme_role(ROLE_BAR));
		else if (table_wants_share(t))
			draw_share(t, l, y, row, &cell, row_attr, selected);
		else
			draw_own_bar(t, l, y, &cell, selected ? row_attr : theme_role(ROLE_BAR));
	}
}

static bool has_total(const struct table *t)
{
	for (unsigned c = 0; c < t->result->n_columns && c < TABLE_COLUMNS; c++)
		if (t->result->columns[c].total && !t->plain)
			return true;
	return false;
}

/* The sum of column i, the whole in brackets behind it where there is room: beside the sorted one
 * under the bar, else to the left, from drawn_to on.  Returns where it ends. */
static int draw_sum(const struct table *t, const struct layout *l, unsigned i, int y, int drawn_to,
    struct text *buffer)
{
	attr_t attr = theme_role(ROLE_TOTAL);
	unsigned c = l->column[i];
	struct cell sum = t->total[c], whole = t->whole[c];
	bool done = t->summed == t->result->n_rows && !t->result->so_far, sorted = (int)c == t->result->sorted_by;
	int end = l->x[i] + l->width[i];

	if (!done) {
		draw_cell(l, i, &t->result->columns[c], y, theme_glyph(GLYPH_ELLIPSIS), attr);
		return end;
	}
	cell_print(&sum, buffer);
	bool beside = (int)c == l->bar_of && (l->bar > 0 || l->percent_x);
	size_t n = buffer->len;
	if (t->filter && t->have_whole) {
		text_add(buffer, " (");
		cell_print(&whole, buffer);
		text_add(buffer, ")");
		int room = beside ? (l->bar > 0 ? 1 + l->bar : 0) + (l->percent_x ? SHARE_PERCENT : 0)
				  : end - drawn_to - 2;
		if (beside && (int)text_width(buffer->s + n) <= room)
			draw_text(y, end, room, buffer->s + n, attr);
		if (!beside && (int)text_width(buffer->s) <= room) {
			draw_right(y, drawn_to + 2, room, buffer->s, attr);
			return end;
		}
		buffer->len = n; /* no room: the sum alone */
		buffer->s[n] = '\0';
	} else if (sorted && l->percent_x && t->have_whole) {
		struct layout percent_only = *l;
		percent_only.bar = 0;
		draw_share(t, &percent_only, y, SIZE_MAX, &t->total[c], attr, false);
	}
	draw_cell(l, i, &t->result->columns[c], y, buffer->s, attr);
	return beside ? end + (l->bar > 0 ? 1 + l->bar : 0) + SHARE_PERCENT : end;
}

/* How many rows there are, of how many, and what they are; with less the number alone is left. */
static void count_rows(const struct table *t, int less, struct text *to)
{
	struct cell rows = cell_count(result_count(t->result));

	text_clear(to);
	cell_print(&rows, to);
	if (t->result->so_far) {
		text_add(to, " so far:");
	} else if (t->filter && less == 0) {
		text_add(to, " (");
		text_add_count(to, t->result->n_source);
		text_add(to, ")");
	}
	if (less < 2)
		text_addf(to, " %s", result_noun(t->result, t->result->n_rows == 1));
}

/* From column i on over those that have no sum, up to the number of the first one that has. */
static int room_for_count(const struct table *t, const struct layout *l, unsigned i, struct rect at)
{
	unsigned next = i + 1;
	struct text sum = TEXT_INIT;

	while (next < l->n && !t->result->columns[l->column[next]].total)
		next++;
	if (next == l->n)
		return at.x + at.width - l->x[i];
	cell_print(&t->total[l->column[next]], &sum);
	int end = l->x[next] + l->width[next] - (int)text_width(sum.len ? sum.s : "") - 1;
	text_release(&sum);
	return (end > l->x[next] - 1 && t->summed == t->result->n_rows ? end : l->x[next] - 1) - l->x[i];
}

/* The first column, or the name of a row, says how many rows; sums stand under their columns, and the whole of the
 * sorted column in brackets beside its sum when only a part is shown. */
static void draw_total(const struct table *t, const struct layout *l, struct rect at, int y,
    struct text *buffer)
{
	attr_t attr = theme_role(ROLE_TOTAL);
	int drawn_to = at.x;

	for (unsigned i = 0; i < l->n; i++) {
		const struct column *column = &t->result->columns[l->column[i]];
		text_clear(buffer);
		if ((i == 0 || (i == l->name && tree_has_groups(t->result))) && !column->total) {
			int room = room_for_count(t, l, i, at);
			for (int less = 0; less <= 2; less++) {
				count_rows(t, less, buffer);
				if ((int)text_width(buffer->s) <= room)
					break;
			}
			drawn_to = l->x[i] + draw_text(y, l->x[i], room, buffer->s, attr);
			continue;
		}
		if (!column->total)
			continue;
		drawn_to = draw_sum(t, l, i, y, drawn_to, buffer);
	}
}

bool table_has_header(const struct table *t, struct rect at)
{
	return t->plain ? *t->heading && at.height >= 2 : at.height >= 3;
}

int table_column_at(struct table *t, struct rect at, int x)
{
	struct layout l;

	table_lay_out(t, &l, at);
	for (unsigned i = 0; i < l.n; i++)
		if (x >= l.x[i] && x < l.x[i] + l.width[i])
			return (int)l.column[i];
	return -1;
}

/* The cell of the selected row whole, and whether there is all of it on the screen. */
static bool is_whole(struct table *t, const struct layout *l, unsigned column, struct text *buffer)
{
	struct cell cell;

	text_clear(buffer);
	result_cell(t->result, t->row, column, &cell);
	cell_print(&cell, buffer);
	for (unsigned i = 0; i < l->n; i++)
		if (l->column[i] == column)
			return (int)text_width_most(buffer->s, (size_t)l->width[i] + 1) <= l->width[i];
	return false;
}

void table_tell_match(struct table *t, const char *words, struct text *to)
{
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;
	bool seen[TABLE_COLUMNS + 1] = {false}, one[TABLE_COLUMNS + 1] = {false};
	struct text buffer = TEXT_INIT;
	struct layout l;
	struct match m;

	if (t->row >= t->result->n_rows || n < t->result->n_columns || tree_is(t->result))
		return;
	table_lay_out(t, &l, t->at);
	for (unsigned c = 0; c < n; c++)
		seen[c] = is_whole(t, &l, c, &buffer);
	match_init(&m, words);
	m.only = seen;
	if (!match_row(&m, t->result, t->row)) {
		m.only = one;
		for (unsigned c = 0; c < n && to->len == 0; c++) {
			one[c] = true;
			if (!seen[c] && !t->result->columns[c].hidden && match_row(&m, t->result, t->row)) {
				is_whole(t, &l, c, &buffer);
				text_addf(to, "%s: ", column_title(&t->result->columns[c]));
				text_add_escaped(to, buffer.s, buffer.len);
			}
			one[c] = false;
		}
	}
	match_release(&m);
	text_release(&buffer);
}

bool table_sees(struct table *t, unsigned column)
{
	struct layout l;
	bool seen = false;

	table_lay_out(t, &l, t->at);
	for (unsigned i = 0; i < l.n; i++)
		seen |= l.column[i] == column;
	return seen;
}

/* The last one may be cut at the end of the rectangle. */
static void draw_cards(struct table *t, const struct layout *l, struct rect at, bool has_keyboard, struct text *buffer)
{
	int y = at.y;

	t->height = table_cards_seen(t);
	for (size_t row = t->top; row < t->result->n_rows && y < at.y + at.height; row++) {
		draw_row(t, l, at, y++, row, has_keyboard, buffer);
		y += table_draw_below(t, at, y, row);
	}
}

/* Returns the line after it. */
static int draw_empty(const struct table *t, int y, struct rect at)
{
	struct text line = TEXT_INIT;
	const char *s = t->result->empty ? t->result->empty : "none";

	if (t->filter)
		s = tree_is(t->result) ? "no open row matches the filter; F: show all again" :
		    "no row matches the filter; F: show all again";
	for (; y < at.y + at.height; y++, s++) {
		size_t n = strcspn(s, "\n");
		text_clear(&line);
		text_add_n(&line, s, n);
		draw_text(y, at.x + ROW_MARKER, at.width - ROW_MARKER, line.s, theme_role(ROLE_QUIET));
		s += n;
		if (!*s) {
			y++;
			break;
		}
	}
	text_release(&line);
	return y;
}

void table_draw(struct table *t, struct rect at, bool has_keyboard)
{
	has_keyboard &= !t->aside;
	struct layout l;
	struct text buffer = TEXT_INIT;
	size_t n = t->result->n_rows;
	bool header = table_has_header(t, at) && (n || t->filter || !t->result->empty);
	bool total = has_total(t) && at.height >= 4;
	int rows = at.height - header - total;

	if (rows < 1 || at.width < 4)
		return;
	t->height = (size_t)rows;
	t->lines = rows;
	t->at = at;
	table_show_selected(t);
	if (t->summed == 0)
		table_work(t); /* a small table is whole in its first frame */
	table_measure(t, &buffer);
	table_lay_out(t, &l, at);
	if (header && t->plain)
		draw_words_over(t, &l, at, has_keyboard);
	else if (header)
		draw_header(t, &l, at);
	int y = at.y + header;
	if (table_has_cards(t))
		draw_cards(t, &l, (struct rect){y, at.x, rows, at.width}, has_keyboard, &buffer);
	for (size_t row = t->top; !table_has_cards(t) && row < n && row < t->top + t->height; row++)
		draw_row(t, &l, at, y++, row, has_keyboard, &buffer);
	if (n == 0)
		y = draw_empty(t, y, at);
	if (total && y < at.y + at.height)
		draw_total(t, &l, at, y, &buffer);
	text_release(&buffer);
}
