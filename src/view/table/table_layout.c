/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_layout.c - which columns of a table are seen, and how wide they are.
 *
 * A layout is made for every frame from the widths that the table has seen so far (table_measure.c).  When it is narrow
 * the columns in which nothing stands go first; then packages of names; then long texts give way, those of the dump's
 * values beyond a third of the width before others, else the longest first, down to a floor; then the share bar; then
 * whole columns, the least telling first; hardly the first column, never the one sorted by, or the one that names what
 * the rows are.  A column that says the same in every row is one of those that tell least.
 */
#include "view/table/table_layout.h"

#include <string.h>

#define WIDTH_MOST 4096
#define NAME_LEAST 24  /* a name keeps so many columns before others go */
#define NAME_LEAST_TREE 36 /* it carries the branches as well */
#define NAME_LEAST_NARROW 16
#define NAME_LEAST_NARROW_TREE 24
#define NAME_LEAST_PLAIN 14 /* in half a page */
#define NAME_SHARE 60  /* percent of the width; a simple name that needs more does not take it from others */
#define TEXT_LEAST 12
#define TEXT_WISH 30   /* a text of the dump's own wants no more beside a pane */
#define NAME_WISH 46   /* nor does what names the row, unless that is without packages */
#define FIELD_LEAST 20 /* with a value of the dump's own cut at its beginning rows look alike */
#define TEXT_LEAST_PLAIN 8
#define NAME_MORE 8    /* a name may be longer by that than other texts that are cut */
#define NARROW 60      /* columns; with fewer a percentage goes before a column */
#define WIDE_LEAST 20   /* and a text where one moves sideways */
#define BAR_LEAST 6
#define CARD_WISH 76   /* columns that a card wants beside a pane, or more for its names */
#define BAR_LEAST_OWN 4 /* of a column that always has bars */
#define BAR_WISH_OWN 8  /* the same in a wide window */
#define NAME_BESIDE_BARS 44 /* columns that a name there may have before what tells little goes */
#define TEXT_BESIDE_BARS 18 /* and other texts */
#define COURSE_LEAST 28 /* numbers from dump to dump that lost their middle are others */
#define BAR_LEAST_TREE 8 /* of siblings, with the word for that above it */
#define TREE_NAME 60   /* columns that the name of a row in the heap's tree may have before its address goes */
#define BAR_MOST 16
#define NAMES_BEST 5   /* of column_kind.naming */

/* added to how readily a column goes */
#define NOTHING_THERE 100
#define LITTLE_THERE 10

bool table_wants_share(const struct table *t)
{
	int sorted = t->result->sorted_by;

	return sorted >= 0 && sorted < TABLE_COLUMNS && t->result->columns[sorted].total &&
	       t->have_whole && t->whole[sorted].amount.n > 0 && !t->plain;
}

/* Is nothing in the column, in any row? */
static bool is_empty(const struct table *t, unsigned c)
{
	return t->seen > 0 && t->measured >= t->result->n_rows && !t->shows[c] && !t->result->chosen &&
	       (int)c != t->result->sorted_by && !t->result->so_far;
}

/* The column that has bars: that of the shares, or else one that always has; -1: none. */
static int bar_column(const struct table *t)
{
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;

	if (table_has_cards(t))
		return result_column_of(t->result, COL_NAME_SHARE);
	if (table_wants_share(t))
		return t->result->sorted_by;
	for (unsigned c = 0; c < n && (!t->plain || table_retains_bars(t)) && t->longest > 0; c++)
		if (t->result->columns[c].bar && !t->result->columns[c].hidden && (int)c != t->hidden && !is_empty(t, c))
			return (int)c;
	return -1;
}

static int needed(const struct table *t, const struct layout *l)
{
	int sum = ROW_MARKER - COLUMN_GAP;

	for (unsigned i = 0; i < l->n; i++)
		sum += COLUMN_GAP + l->width[i] + (l->beside ? t->beside[l->column[i]] : 0);
	if (l->bar > 0)
		sum += 1 + l->bar;
	if (l->percent_x)
		sum += SHARE_PERCENT;
	return sum;
}

static bool is_constant(const struct table *t, unsigned c)
{
	return t->seen > 1 && !t->varies[c];
}

/* How readily column i goes: one that says nothing most readily, then one that says little. */
static int readiness(const struct table *t, const struct layout *l, unsigned i)
{
	unsigned c = l->column[i];
	const struct column *column = &t->result->columns[c];
	int rank = column_readiness(column);

	if (t->seen > 0 && t->filled[c] == 0)
		return rank + NOTHING_THERE;
	bool weighed = column->room == COLUMN_LAST || column->room == COLUMN_LATE;
	if (!weighed && column_type(column) == CELL_TEXT && (t->filled[c] < t->seen / 4 || is_constant(t, c)))
		return rank + LITTLE_THERE;
	return rank;
}

/* The first column says which row it is, unless it is but a number, or a tree's branch says it. */
static bool first_may_go(const struct table *t, const struct layout *l)
{
	const struct column *first = &t->result->columns[l->column[0]];

	return l->name != 0 && (column_type(first) == CELL_COUNT || tree_is(t->result));
}

/* Take the column away that tells least, of those at least so ready; false when none may go. */
static bool drop_one(const struct table *t, struct layout *l, int least)
{
	int worst = -1, rank = least;

	for (unsigned i = 0; i < l->n; i++) {
		int r = readiness(t, l, i);
		if (i == 0 && !first_may_go(t, l))
			continue;
		if ((int)l->column[i] != t->result->sorted_by && (int)l->column[i] != l->bar_of && i != l->name && r >= rank) {
			worst = (int)i;
			rank = r;
		}
	}
	if (worst < 0)
		return false;
	l->n--;
	for (unsigned i = (unsigned)worst; i < l->n; i++)
		l->column[i] = l->column[i + 1];
	if (l->name > (unsigned)worst)
		l->name--;
	return true;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

enum { SIMPLE = -1 }; /* a floor: names whole, without their packages */

/* Widths as wished for, then cut the longest texts down to their floors until all of it fits.
 * False: it does not. */
static bool shrink(const struct table *t, struct layout *l, int width, int text_least, int name_least)
{
	for (unsigned i = 0; i < l->n; i++) {
		int wished = t->width[l->column[i]], most = width;
		/* a few long ones do not take the bars' room */
		if (i == l->name && tree_has_groups(t->result))
			most = width / 2 > TREE_NAME ? width / 2 : TREE_NAME;
		l->width[i] = wished < most ? wished : most;
	}
	for (int excess = needed(t, l) - width; excess > 0; excess--) {
		int longest = -1, most = 0;
		for (unsigned i = 0; i < l->n; i++) {
			bool is_name = i == l->name;
			int more = is_name ? NAME_MORE : 0, w = l->width[i], simple = t->simple[l->column[i]];
			int least = is_name ? name_least : text_least == SIMPLE ? simple : text_least;
			if (!is_name && text_least == FIELD_LEAST && simple < FIELD_LEAST)
				least = simple > TEXT_LEAST ? simple : TEXT_LEAST;
			if (t->result->columns[l->column[i]].id == COL_COURSE && least < COURSE_LEAST)
				least = COURSE_LEAST;
			if (column_type(&t->result->columns[l->column[i]]) != CELL_TEXT || w <= least)
				continue;
			if (w > simple)
				w += 4 * width; /* packages before all else */
			if (readiness(t, l, i) >= LITTLE_THERE)
				w += width; /* these first */
			/* one long text takes no room that the others need */
			if (column_kinds[t->result->columns[l->column[i]].id].contents && l->width[i] > width / 3)
				w += 8 * width;
			if (longest < 0 || w - more > most) {
				longest = (int)i;
				most = w - more;
			}
		}
		if (longest < 0)
			return false;
		l->width[longest]--;
	}
	return true;
}

static void remove_column(struct layout *l, unsigned i)
{
	l->n--;
	if (l->name > i)
		l->name--;
	for (; i < l->n; i++)
		l->column[i] = l->column[i + 1];
}

/* Where one looks through the heap the name of a row says more than its address, if not both fit.  True: it went. */
static bool drop_address(const struct table *t, struct layout *l)
{
	int wished = t->width[l->column[l->name]];
	bool cut = l->width[l->name] < (wished < TREE_NAME ? wished : TREE_NAME);

	for (unsigned i = 0; cut && tree_has_groups(t->result) && i < l->n; i++) {
		if (t->result->columns[l->column[i]].id == COL_ADDRESS) {
			remove_column(l, i);
			return true;
		}
	}
	return false;
}

/* What a card does not need goes before anything is cut.  True: it went. */
static bool drop_beside_card(const struct table *t, struct layout *l)
{
	unsigned last = l->n - 1;
	if (l->n < 2 || t->result->columns[l->column[last]].card != CARD_NONE ||
	    (int)l->column[last] == t->result->sorted_by)
		return false;
	remove_column(l, last);
	return true;
}

/* In a table that always has bars: its name takes the room of other texts, then of columns that tell less. */
static bool fit_beside_bars(const struct table *t, struct layout *l, int width)
{
	int wished = t->width[l->column[l->name]];
	bool fits;

	do
		fits = shrink(t, l, width, TEXT_BESIDE_BARS, wished < NAME_BESIDE_BARS ? wished : NAME_BESIDE_BARS);
	while (!fits && drop_one(t, l, 8));
	return fits;
}

/* Of processes the name says which one it is: what tells little goes before it is cut. */
static bool fit_process(const struct table *t, struct layout *l, int width)
{
	bool fits = false;

	if (!l->n || t->result->columns[l->column[l->name]].id != COL_MAIN)
		return false;
	do
		fits = shrink(t, l, width, width, smaller(t->simple[l->column[l->name]], width * NAME_SHARE / 100));
	while (!fits && drop_one(t, l, 1));
	return fits;
}

/* What the name keeps before other columns go. */
static int name_least(const struct table *t, int width)
{
	bool tree = tree_is(t->result);

	return t->plain         ? NAME_LEAST_PLAIN
	       : width < NARROW ? (tree ? NAME_LEAST_NARROW_TREE : NAME_LEAST_NARROW)
				: (tree ? NAME_LEAST_TREE : NAME_LEAST);
}

/* With simple names whole, and nothing gone but the bar: in a tree that says more. */
static bool fit_simple(const struct table *t, struct layout *l, int width, int text_least)
{
	int simple = l->n ? smaller(t->simple[l->column[l->name]], width * NAME_SHARE / 100) : 0, bar = l->bar;

	if (simple < name_least(t, width))
		return false;
	if (shrink(t, l, width, text_least, simple))
		return true;
	if (tree_is(t->result) || !bar)
		return false;
	l->bar = 0;
	if (shrink(t, l, width, text_least, simple))
		return true;
	l->bar = bar;
	return false;
}

/* What is left over: to the name until a simple one is whole, to the bar, to the name with its packages, to other
 * texts. */
static void give_rest(const struct table *t, struct layout *l, int width)
{
	int room = width - needed(t, l), *name = &l->width[l->name];

	if (room <= 0)
		return;
	int wished = t->width[l->column[l->name]], simple = smaller(t->simple[l->column[l->name]], wished);
	int more = simple > *name ? smaller(room, simple - *name) : 0;
	*name += more;
	room -= more;
	more = l->bar > 0 ? smaller(room, BAR_MOST - l->bar) : 0;
	l->bar += more;
	if (wished > *name)
		*name += smaller(room - more, wished - *name);
	room = width - needed(t, l);
	for (unsigned i = 0; i < l->n && room > 0; i++) {
		unsigned c = l->column[i];
		more = column_type(&t->result->columns[c]) == CELL_TEXT ? smaller(room, t->width[c] - l->width[i]) : 0;
		l->width[i] += more > 0 ? more : 0;
		room -= more > 0 ? more : 0;
	}
}

static bool has_other_text(const struct table *t, const struct layout *l)
{
	for (unsigned i = 0; i < l->n; i++)
		if (i != l->name && column_type(&t->result->columns[l->column[i]]) == CELL_TEXT)
			return true;
	return false;
}

/* If it can be with simple names whole in all columns. */
static bool fit_texts(const struct table *t, struct layout *l, int width, int text_least, int name_least)
{
	int simple = l->n ? smaller(t->simple[l->column[l->name]], width * NAME_SHARE / 100) : 0;

	return (has_other_text(t, l) && shrink(t, l, width, SIMPLE, simple)) ||
	       (simple > name_least && shrink(t, l, width, text_least, simple)) ||
	       shrink(t, l, width, text_least, name_least);
}

/* The objects of a class, largest first: a field less, and one sees how much larger. */
static bool keeps_bar(const struct table *t, const struct layout *l, int width)
{
	return t->result->all_of && l->bar_of == t->result->sorted_by && width >= NARROW;
}

static void fit(const struct table *t, struct layout *l, int width)
{
	bool fields = t->result->n_columns > 0 && t->result->columns[t->result->n_columns - 1].name;
	int text = t->plain ? TEXT_LEAST_PLAIN : fields && width >= NARROW ? FIELD_LEAST : TEXT_LEAST;
	int name = name_least(t, width), simple = l->n ? t->simple[l->column[l->name]] : 0;
	if (t->plain && simple >= TEXT_LEAST_PLAIN)
		name = smaller(name, simple);
	else if (t->plain)
		name = TEXT_LEAST_PLAIN;
	bool fits = shrink(t, l, width, width, width);

	if (table_has_cards(t) && l->n && t->simple[l->column[l->name]] < name)
		name = t->simple[l->column[l->name]];
	while (!fits && drop_one(t, l, NOTHING_THERE))
		fits = shrink(t, l, width, width, width);
	while (!fits && table_has_cards(t) && drop_beside_card(t, l))
		fits = shrink(t, l, width, width, width);
	if (!fits && l->bar > 0 && !l->percent_x && !table_retains_bars(t) && !table_has_cards(t))
		fits = fit_beside_bars(t, l, width);
	fits = fits || fit_process(t, l, width) || fit_simple(t, l, width, text) || fit_texts(t, l, width, text, name);
	if (!fits && l->beside) {
		l->beside = false;
		fits = fit_simple(t, l, width, text) || fit_texts(t, l, width, text, name);
	}
	/* where one looks through the heap, or for growth, bars tell more than what a row is worth telling besides */
	bool bars_first = l->bar > 0 && (tree_has_groups(t->result) ||
	    (!l->percent_x && !table_retains_bars(t) && !table_has_cards(t)));
	while (!fits && bars_first && drop_one(t, l, tree_has_groups(t->result) ? 8 : 5))
		fits = fit_texts(t, l, width, text, name);
	if (fits && drop_address(t, l))
		fits = fit_texts(t, l, width, text, name);
	if (!fits && l->bar > BAR_LEAST_OWN) {
		l->bar = BAR_LEAST_OWN;
		fits = fit_texts(t, l, width, text, name);
	}
	if (!fits && l->bar > 0 && !keeps_bar(t, l, width)) {
		l->bar = 0;
		fits = fit_texts(t, l, width, text, name);
	}
	if (!fits && l->percent_x && width < NARROW) {
		l->percent_x = 0;
		fits = fit_texts(t, l, width, text, name);
	}
	while (!fits && drop_one(t, l, -1))
		fits = fit_texts(t, l, width, text, name);
	if (!fits && l->percent_x) {
		l->percent_x = 0;
		fits = fit_texts(t, l, width, text, name);
	}
	if (!fits) {
		l->bar = 0;
		shrink(t, l, width, 4, 4);
	}
	give_rest(t, l, width);
}

/* The name, and what there is room for behind so many others.  True: not for all of these. */
static bool fit_behind(const struct table *t, struct layout *l, int width, unsigned left)
{
	bool more = false;

	for (; left > 0 && l->n > 2; left--)
		remove_column(l, l->name == 0);
	while (l->n > 2 && !shrink(t, l, width, WIDE_LEAST, NAME_LEAST_NARROW)) {
		remove_column(l, l->name == l->n - 1 ? l->n - 2 : l->n - 1);
		more = true;
	}
	if (!shrink(t, l, width, WIDE_LEAST, NAME_LEAST_NARROW))
		shrink(t, l, width, 4, 4);
	return more;
}

/* What was chosen by hand: the name stays, and the others are moved through what room is left, no further than to
 * the last of them. */
static void fit_wide(struct table *t, struct layout *l, int width)
{
	t->more = false;
	bool fits = shrink(t, l, width, width, width);
	if (!fits) {
		l->beside = false;
		fits = shrink(t, l, width, width, width);
	}
	if (fits) {
		t->left = 0;
		return;
	}
	l->bar = l->percent_x = 0;
	const struct layout all = *l;
	t->more = fit_behind(t, l, width, t->left);
	while (!t->more && t->left > 0) {
		struct layout before = all;
		if (fit_behind(t, &before, width, t->left - 1))
			break;
		*l = before;
		t->left--;
	}
}

static void place(const struct table *t, struct layout *l, int x)
{
	x += ROW_MARKER;
	for (unsigned i = 0; i < l->n; i++) {
		l->x[i] = x;
		x += l->width[i] + (l->beside ? t->beside[l->column[i]] : 0);
		if ((int)l->column[i] == l->bar_of) {
			if (l->bar > 0) {
				l->bar_x = x + 1;
				x += 1 + l->bar;
			}
			if (l->percent_x) {
				l->percent_x = x;
				x += SHARE_PERCENT;
			}
		}
		x += COLUMN_GAP;
	}
}

int table_header_room(const struct table *t, const struct layout *l, struct rect at)
{
	if (l->n == 0)
		return 0;
	const struct column *last = &t->result->columns[l->column[l->n - 1]];
	int end = l->x[l->n - 1] + l->width[l->n - 1], word = (int)text_width(column_title(last));

	if (!cell_is_number(column_type(last)) && word < l->width[l->n - 1])
		end += word - l->width[l->n - 1];
	if (l->percent_x >= end)
		end = l->percent_x + SHARE_PERCENT;
	return at.x + at.width - end;
}

/* Columns of one layout that another one lacks, without those in which nothing is. */
static unsigned count_lost(const struct table *t, const struct layout *all, const struct layout *l)
{
	unsigned lost = 0;

	for (unsigned i = 0, at = 0; i < all->n; i++) {
		bool kept = at < l->n && l->column[at] == all->column[i];
		at += kept;
		lost += !kept && t->filled[all->column[i]] > 0;
	}
	return lost;
}

/* As wide as there is room; the sign of what is lost takes some of the share bar's, and of nothing else. */
static void fit_with_sign(const struct table *t, struct layout *l, struct rect at)
{
	const struct layout all = *l;

	fit(t, l, at.width);
	place(t, l, at.x);
	l->lost = count_lost(t, &all, l);
	if (l->lost == 0 || table_header_room(t, l, at) >= LOST_SIGN || at.width < NARROW)
		return;
	struct layout less = all;
	fit(t, &less, at.width - LOST_SIGN);
	less.lost = l->lost;
	bool same = less.n == l->n;
	for (unsigned i = 0; same && i < l->n; i++)
		same = less.column[i] == l->column[i] && less.width[i] == l->width[i];
	if (same)
		*l = less;
}

int table_wishes(struct table *t)
{
	struct layout l = {.beside = true};
	bool cards = table_has_cards(t);
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;

	if (t->seen == 0) {
		struct text buffer = TEXT_INIT;
		table_measure(t, &buffer);
		text_release(&buffer);
	}
	for (unsigned c = 0; c < n; c++) {
		const struct column *column = &t->result->columns[c];
		if (cards ? column->card != CARD_FIRST && column->card != CARD_HEAD : (int)c == t->hidden || column->hidden)
			continue;
		if (t->seen > 0 && t->filled[c] == 0)
			continue;
		bool text = column_kinds[column->id].contents || column_kinds[column->id].values;
		bool name = column->id == t->result->named_by || (tree_is(t->result) && c == tree_column(t->result));
		int most = text ? TEXT_WISH : !name ? WIDTH_MOST : t->simple[c] > NAME_WISH ? t->simple[c] : NAME_WISH;
		l.column[l.n] = c;
		l.width[l.n++] = t->width[c] < most ? t->width[c] : most;
	}
	l.percent_x = table_wants_share(t);
	l.bar = bar_column(t) < 0 ? 0 : l.percent_x || table_retains_bars(t) || cards ? BAR_LEAST : BAR_LEAST_OWN;
	int wished = needed(t, &l);
	if (!cards)
		return wished;
	for (unsigned i = 0; i < l.n; i++) /* names whole, without packages; the texts below have room then, too */
		if (column_type(&t->result->columns[l.column[i]]) == CELL_TEXT)
			l.width[i] = smaller(l.width[i], t->simple[l.column[i]]);
	wished = needed(t, &l);
	return wished > CARD_WISH ? wished : CARD_WISH;
}

/* Is it among the columns in this pass?  Cards have their own in front, in three passes before the others. */
static bool is_in_pass(const struct table *t, unsigned c, unsigned pass)
{
	enum { FIRST, HIDDEN_HEAD, HEAD, OTHERS };
	const struct column *column = &t->result->columns[c];
	bool shown = (int)c != t->hidden && !column->hidden && !is_empty(t, c);

	if (!table_has_cards(t))
		return pass == OTHERS && shown;
	switch (column->card) {
	case CARD_OUT:
		return false;
	case CARD_FIRST:
		return pass == FIRST;
	case CARD_HEAD:
		return pass == (column->hidden ? HIDDEN_HEAD : HEAD);
	default:
		return pass == OTHERS && shown;
	}
}

/* All columns, left to right.  What a row retains stands with its bar before a field's value, and in the heap's tree,
 * unless columns were chosen, first of all, with the name behind it.  Returns how many. */
static unsigned order_columns(const struct table *t, unsigned *order)
{
	const struct result *r = t->result;
	unsigned n = r->n_columns < TABLE_COLUMNS ? r->n_columns : TABLE_COLUMNS, k = 0;
	bool tree = tree_has_groups(r) && !r->chosen;
	bool fields = table_retains_bars(t) && result_column_of(r, COL_TYPE) >= 0;
	int retained = fields || tree ? result_column_of(r, COL_RETAINED) : -1;
	int behind = retained < 0 ? -1 : tree ? (int)tree_column(r) : result_column_of(r, COL_VALUE);

	if (retained < 0 || behind < 0)
		retained = behind = -1;
	if (tree && retained >= 0) {
		order[k++] = (unsigned)retained;
		order[k++] = (unsigned)behind;
	}
	for (unsigned c = 0; c < n; c++) {
		if ((int)c == behind && !tree)
			order[k++] = (unsigned)retained;
		if ((int)c != retained && ((int)c != behind || !tree))
			order[k++] = c;
	}
	return k;
}

static void add_columns(struct table *t, struct layout *l)
{
	enum { PASSES = 4 };
	int best = -1;
	unsigned order[TABLE_COLUMNS], n = order_columns(t, order);

	for (unsigned i = 0; i < PASSES * n; i++) {
		unsigned c = order[i % n];
		const struct column *column = &t->result->columns[c];
		if (!is_in_pass(t, c, i / n))
			continue;
		/* it is the percentage beside the bar */
		if (!t->result->chosen && column->id == COL_SHARE && table_wants_share(t) && tree_has_groups(t->result))
			continue;
		l->column[l->n] = c;
		/* a column of unknown names names nothing */
		int rank = NAMES_BEST - column_kinds[column->id].naming + (t->filled[c] == 0 ? NOTHING_THERE : 0) +
			   (is_constant(t, c) && t->result->n_rows > 1 ? LITTLE_THERE : 0);
		if (column_type(column) == CELL_TEXT && (best < 0 || rank < best)) {
			best = rank;
			l->name = l->n;
		}
		l->n++;
	}
}

void table_lay_out(struct table *t, struct layout *l, struct rect at)
{
	*l = (struct layout){.beside = true, .bar_of = -1};
	add_columns(t, l);
	if (l->n && t->result->columns[l->column[l->name]].name)
		l->name = 0; /* a field is no name: the address stays in sight */
	int own = table_retains_bars(t) || table_has_cards(t) ? BAR_LEAST : at.width >= 100 ? BAR_WISH_OWN : BAR_LEAST_OWN;
	l->bar_of = bar_column(t);
	l->percent_x = table_wants_share(t);
	l->bar = l->bar_of < 0 ? 0 : !l->percent_x ? own : tree_has_groups(t->result) ? BAR_LEAST_TREE : BAR_LEAST;
	if (t->result->chosen && !t->plain)
		fit_wide(t, l, at.width);
	else if (!t->plain)
		fit_with_sign(t, l, at);
	else
		fit(t, l, at.width);
	place(t, l, at.x);
}

void table_settle_columns(struct table *t)
{
	struct layout l;

	table_lay_out(t, &l, t->at);
}
