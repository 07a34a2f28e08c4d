/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_cards.c - rows as cards: the line of a row, texts on lines below it, an empty line.
 *
 * Which columns these are the result says (enum column_card).  A card has four lines at most, or five if what to clear
 * takes three, so that several are seen at once; where a text is longer it is clipped.  Cards have different
 * heights, so what is seen is counted in lines.
 */
#include "view/table/table_layout.h"

#include "result/plot.h"
#include "result/print.h"
#include "view/names.h"

enum { INDENT = 5, BELOW_MOST = 3, TEXT_MOST = 2, LEFT_MOST = 3, GAP_LINES = 1, BETWEEN = 3, STEP = 6 };

bool table_has_cards(const struct table *t)
{
	return t->cards && !t->plain && !t->result->chosen;
}

bool table_result_has_cards(const struct result *r)
{
	bool any = false;

	for (unsigned c = 0; r->shape && c < r->n_columns; c++)
		any |= r->columns[c].card >= CARD_BELOW;
	return any;
}

bool table_is_card_text(const struct table *t, unsigned column)
{
	const struct column *c = &t->result->columns[column];

	return table_has_cards(t) && (c->card == CARD_FIRST || (c->card == CARD_HEAD && column_type(c) == CELL_TEXT));
}

/* Nobody can clear anything: these cards are dim. */
bool table_is_dim_card(const struct table *t, size_t row)
{
	struct cell freed;
	int column = result_column_of(t->result, COL_FREED);

	if (column < 0)
		return false;
	result_cell(t->result, row, (unsigned)column, &freed);
	return freed.type == CELL_NONE || (freed.amount.n == 0 && freed.amount.certainty == EXACT);
}

/* --- what stands below ------------------------------------------------------------------------- */

struct card {
	struct text below, left, right, plot; /* as they are drawn */
	int n_below, n_left;                  /* lines */
	int plot_width;
	bool beside;                          /* what is right stands on the last of these */
};

static void card_release(struct card *card)
{
	text_release(&card->below);
	text_release(&card->left);
	text_release(&card->right);
	text_release(&card->plot);
}

static int width_of(const struct text *s)
{
	return s->len ? (int)text_width(s->s) : 0;
}

/* Names as short as it takes for so many lines.  Lines it needs, perhaps more than those. */
static int shorten(const char *s, int width, int lines, struct text *to)
{
	int n = 0, room = lines * width;

	do {
		text_clear(to);
		names_fit(s, room, to);
		n = draw_count_lines(to->len ? to->s : "", (size_t)width);
		room -= STEP;
	} while (n > lines && room > width);
	return n;
}

/* Into one line if names can be made that short, else into two, and so on to so many. */
static int fit_lines(struct text *s, int width, int most)
{
	struct text fitted = TEXT_INIT;

	if (!s->len)
		return 0;
	int n = shorten(s->s, width, 1, &fitted);
	for (int lines = 2; lines <= most && n >= lines; lines++)
		n = shorten(s->s, width, lines, &fitted);
	text_release(s);
	*s = fitted;
	return n < most ? n : most;
}

static void spell(struct text *s)
{
	struct text spelled = TEXT_INIT;

	if (!s->len || draw_spelled(s->s, &spelled) == s->s)
		return;
	text_release(s);
	*s = spelled;
}

static void read_card(const struct table *t, size_t row, struct card *card)
{
	for (unsigned c = 0; c < t->result->n_columns; c++) {
		const struct column *column = &t->result->columns[c];
		struct cell cell;
		if (column->card < CARD_BELOW)
			continue;
		result_cell(t->result, row, c, &cell);
		if (cell.type == CELL_NONE)
			continue;
		bool plot = column->id == COL_PLOT;
		struct text *to = plot ? &card->plot : column->card == CARD_BELOW ? &card->below :
		    column->card == CARD_BELOW_LEFT ? &card->left : &card->right;
		text_add(to, to->len ? "  " : "");
		cell_print(&cell, to);
	}
	spell(&card->below);
	spell(&card->left);
	spell(&card->right);
}

/* Of what is right and left on a line each gets what the other one leaves. */
static void lay_out(struct card *card, int width)
{
	card->plot_width = width_of(&card->plot);
	int more = card->plot_width ? card->plot_width + 1 : 0;
	(void)fit_lines(&card->right, width / 2 - more, 1);
	int right = width_of(&card->right) + more, left = width - (right ? right + BETWEEN : 0);
	struct text alone = TEXT_INIT;
	text_add(&alone, card->left.len ? card->left.s : "");
	card->n_left = fit_lines(&card->left, left, 1);
	card->beside = !right || width_of(&card->left) <= left;
	if (width_of(&card->left) > left) {
		text_release(&card->left);
		card->left = alone;
		card->n_left = fit_lines(&card->left, width, LEFT_MOST);
	} else {
		text_release(&alone);
	}
	if (card->beside && right && !card->n_left)
		card->n_left = 1;
	int used = card->n_left + !card->beside, most = BELOW_MOST + (card->n_left > TEXT_MOST), room = most - used;
	if (room < 1 && card->below.len) {
		card->beside = true; /* there is no room for it */
		text_clear(&card->right);
		text_clear(&card->plot);
		card->plot_width = 0;
		room = most - card->n_left;
	}
	card->n_below = room > 0 ? fit_lines(&card->below, width, room < TEXT_MOST ? room : TEXT_MOST) : 0;
}

static int text_room(const struct rect *at)
{
	return at->width - INDENT - 1;
}

static int lines_below(const struct card *card)
{
	return card->n_below + card->n_left + !card->beside;
}

static void make_card(const struct table *t, size_t row, int width, struct card *card)
{
	*card = (struct card){.beside = true};
	read_card(t, row, card);
	if (width > 0)
		lay_out(card, width);
}

/* --- lines ------------------------------------------------------------------------------------- */

/* With the empty line below it. */
static int lines_of(const struct table *t, size_t row, const struct rect *at)
{
	struct card card;

	make_card(t, row, text_room(at), &card);
	int n = 1 + lines_below(&card) + GAP_LINES;
	card_release(&card);
	return n;
}

int table_cards_lines(const struct table *t, struct rect at, int most)
{
	int n = 0;

	for (size_t row = 0; row < t->result->n_rows && n < most; row++)
		n += lines_of(t, row, &at);
	return n ? n - GAP_LINES : 0;
}

/* The first card seen if this one is the last that is seen whole. */
static size_t first_above(const struct table *t, size_t row)
{
	int used = lines_of(t, row, &t->at) - GAP_LINES;

	while (row > 0) {
		used += lines_of(t, row - 1, &t->at);
		if (used > t->lines)
			break;
		row--;
	}
	return row;
}

void table_show_card(struct table *t)
{
	size_t n = t->result->n_rows;

	if (t->lines == 0 || n == 0)
		return;
	if (t->row < t->top)
		t->top = t->row;
	size_t first = first_above(t, t->row), last = first_above(t, n - 1);
	if (t->top < first)
		t->top = first;
	if (t->top > last)
		t->top = last;
}

size_t table_cards_seen(const struct table *t)
{
	size_t seen = 0;
	int used = -GAP_LINES;

	for (size_t row = t->top; row < t->result->n_rows; row++, seen++) {
		used += lines_of(t, row, &t->at);
		if (used > t->lines)
			break;
	}
	return seen ? seen : 1;
}

size_t table_card_at(const struct table *t, int line)
{
	for (size_t row = t->top; row < t->result->n_rows; row++) {
		line -= lines_of(t, row, &t->at);
		if (line < 0)
			return row;
	}
	return SIZE_MAX;
}

/* --- drawing ----------------------------------------------------------------------------------- */

static void draw_right_side(const struct card *card, int y, int end)
{
	struct text shown = TEXT_INIT;
	int x = end - card->plot_width;

	if (card->plot_width) {
		(term_fine_blocks() ? text_add : plot_add_ascii)(&shown, card->plot.s);
		draw_clipped(y, x, card->plot_width, shown.s, theme_role(ROLE_BAR));
		x--;
	}
	if (card->right.len)
		draw_text(y, x - width_of(&card->right), width_of(&card->right), card->right.s, theme_role(ROLE_QUIET));
	text_release(&shown);
}

int table_draw_below(const struct table *t, struct rect at, int y, size_t row)
{
	struct card card;
	int x = at.x + INDENT, width = text_room(&at), end = at.y + at.height, begin = y;
	bool dim = table_is_dim_card(t, row);

	make_card(t, row, width, &card);
	int below = end - y < card.n_below ? end - y : card.n_below;
	if (below > 0)
		draw_wrapped(y, x, width, below, card.below.s, theme_role(dim ? ROLE_QUIET : ROLE_TEXT));
	y += card.n_below;
	int left = end - y < card.n_left ? end - y : card.n_left;
	if (left > 0 && card.left.len)
		draw_wrapped(y, x, width, left, card.left.s, theme_role(dim ? ROLE_QUIET : ROLE_FACTS));
	y += card.n_left + !card.beside;
	if (y - 1 < end && y > begin)
		draw_right_side(&card, y - 1, x + width);
	card_release(&card);
	return y - begin + GAP_LINES;
}
