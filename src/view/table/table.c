/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - what a table does: move, sum, and what the keys do.  Which rows it shows: table_rows.c; how it
 * looks: table_draw.c.
 */
#include "view/table/table_layout.h"

#include "base/mem.h"
#include "view/eta.h"

#include <stdlib.h>
#include <string.h>

#define SLICE 100000       /* rows summed in one turn of the loop, or what takes so long: */
#define SLICE_NS 20000000
#define LOOK_EVERY 64      /* rows between two looks at the clock */

static unsigned n_columns(const struct table *t)
{
	return t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;
}

void table_restart_sums(struct table *t)
{
	t->summed = 0;
	for (unsigned c = 0; c < n_columns(t); c++)
		t->total[c] = result_sum_begin(t->result, c);
}

void table_init(struct table *t, struct result *result)
{
	*t = (struct table){.result = result, .hidden = -1};
	t->row = result->row_asked < result->n_rows ? result->row_asked : 0;
	t->sentence = result_column_of(result, COL_SENTENCE);
	if (t->sentence >= 0)
		t->hidden = t->sentence;
	else /* a reason is too long for its column */
		t->sentence = result_column_of(result, COL_WHY);
	t->cards = table_result_has_cards(result);
	table_restart_sums(t);
}

int table_sentence(const struct table *t)
{
	return table_has_cards(t) ? -1 : t->sentence;
}

void table_release(struct table *t)
{
	free(t->filter);
	free(t->search);
}

/* --- sums -------------------------------------------------------------------------------------- */

static void sum_row(struct table *t, size_t row)
{
	for (unsigned c = 0; c < n_columns(t); c++)
		if (t->result->columns[c].total)
			result_sum_row(t->result, row, c, &t->total[c]);
}

static void end_sums(struct table *t)
{
	for (unsigned c = 0; c < n_columns(t); c++)
		if (t->result->columns[c].total)
			result_sum_end(t->result, c, t->total, n_columns(t));
}

bool table_work(struct table *t)
{
	size_t n = t->result->n_rows;
	size_t end = n - t->summed < SLICE ? n : t->summed + SLICE;

	if (t->result->so_far || (t->summed == n && (t->have_whole || t->filter)))
		return false;
	uint64_t began = eta_now();
	while (t->summed < end && (t->summed % LOOK_EVERY || eta_now() - began < SLICE_NS))
		sum_row(t, t->summed++);
	if (t->summed == n)
		end_sums(t);
	if (t->summed == n && !t->filter && !t->have_whole) {
		memcpy(t->whole, t->total, sizeof t->whole);
		t->have_whole = true;
	}
	return t->summed < n;
}

bool table_is_of_sum(const struct table *t, size_t row)
{
	return tree_is(t->result) || !result_is_within(t->result, row);
}

size_t table_beside(const struct table *t, struct why_value *to)
{
	size_t n = 0;
	int sorted = t->result->sorted_by;
	struct cell part;
	if (table_wants_share(t)) {
		result_cell(t->result, t->row, (unsigned)sorted, &part);
		if (part.type != CELL_NONE && table_is_of_sum(t, t->row))
			to[n++] = (struct why_value){"its share", cell_percent(part.amount, t->whole[sorted].amount)};
	}
	for (unsigned c = 0; t->have_whole && c < t->result->n_columns && c < TABLE_COLUMNS; c++)
		if (t->result->columns[c].total && !t->result->columns[c].hidden)
			to[n++] = (struct why_value){(int)c == sorted ? "its sum" : "a sum", t->whole[c]};
	return n;
}

/* --- moving ------------------------------------------------------------------------------------ */

static void move_to(struct table *t, size_t row)
{
	size_t n = t->result->n_rows;

	t->row = n == 0 ? 0 : row < n ? row : n - 1;
}

static void move_by(struct table *t, size_t by, bool up)
{
	if (t->on_head && up)
		return;
	if (t->has_head && up && t->row == 0)
		t->on_head = true;
	else if (t->on_head && t->result->n_rows == 0)
		return;
	else if (t->on_head) {
		t->on_head = false;
		move_to(t, by - 1);
	} else if (up)
		move_to(t, t->row > by ? t->row - by : 0);
	else
		move_to(t, by < SIZE_MAX - t->row ? t->row + by : SIZE_MAX);
}

void table_show_selected(struct table *t)
{
	size_t n = t->result->n_rows;

	if (table_has_cards(t)) {
		table_show_card(t);
		return;
	}
	if (t->height == 0)
		return;
	if (t->row < t->top)
		t->top = t->row;
	if (t->row >= t->top + t->height)
		t->top = t->row - t->height + 1;
	if (t->top + t->height > n)
		t->top = n > t->height ? n - t->height : 0;
}

static void page(struct table *t, size_t by, bool up)
{
	move_by(t, by, up);
	if (up)
		t->top = t->top > by ? t->top - by : 0;
	else if (t->top + by < t->result->n_rows)
		t->top += by;
}

/* --- sorting and searching ------------------------------------------------------------------------- */

static bool may_sort_by(const struct table *t, unsigned column)
{
	const struct column *c = &t->result->columns[column];

	if (table_has_cards(t) && (c->card == CARD_OUT || (c->card == CARD_HEAD && cell_is_number(column_type(c)))))
		return c->card == CARD_HEAD;
	return (int)column != t->hidden && !c->hidden;
}

/* By the next column on this side.  seen: only those that are; numbers: only these.  False: there is none. */
static bool sort_step(struct table *t, bool left, bool seen, bool numbers)
{
	unsigned n = n_columns(t);
	unsigned at = t->result->sorted_by >= 0 ? (unsigned)t->result->sorted_by : left ? 0 : n - 1;

	for (unsigned i = 0; i < n; i++) {
		at = left ? (at + n - 1) % n : (at + 1) % n;
		bool number = cell_is_number(column_type(&t->result->columns[at]));
		if (may_sort_by(t, at) && (!seen || table_sees(t, at)) && (!numbers || number)) {
			table_sort(t, at, number);
			return true;
		}
	}
	return false;
}

static void search_again(struct table *t, bool backwards, const char **message)
{
	if (!t->search)
		*message = "no earlier search; / searches";
	else if (!table_search(t, t->search, false, backwards))
		*message = "no other row matches";
}

/* --- trees ------------------------------------------------------------------------------------- */

/* Rows came or went.  The whole stays what it was: the first level's rows, and what has none yet. */
static void rows_changed(struct table *t)
{
	if (t->row >= t->result->n_rows)
		t->row = t->result->n_rows ? t->result->n_rows - 1 : 0;
	table_restart_sums(t);
}

static bool open_branch(struct table *t)
{
	if (!table_open_branch(t))
		return false;
	rows_changed(t);
	return true;
}

static bool act(struct table *t, enum action action, const char **message);

static bool tree_action(struct table *t, enum action action, const char **message)
{
	struct branch b;
	bool deeper;
	size_t row;

	if (!tree_branch(t->result, t->row, &b))
		return false;
	switch (action) {
	case ACTION_INTO:
		if (b.state != BRANCH_OPEN)
			return open_branch(t);
		t->row++;
		return true;
	case ACTION_OPEN:
		return open_branch(t);
	case ACTION_OUT:
		if (tree_close(t->result, t->row)) {
			rows_changed(t);
			return true;
		}
		row = tree_parent(t->result, t->row);
		if (row != SIZE_MAX)
			t->row = row;
		return row != SIZE_MAX;
	case ACTION_GROUP:
		if (tree_has_groups(t->result) && table_regroup(t, message))
			rows_changed(t);
		else if (!tree_has_groups(t->result))
			return act(t, ACTION_FIRST, message);
		return true;
	case ACTION_FOLD:
		if (table_turn_way(t, message))
			rows_changed(t);
		return true;
	case ACTION_DROP:
		row = table_drop_branch(t, &deeper);
		if (deeper)
			*message = "very deep, and no big drop yet; * again: continue from here";
		else if (row == t->row && b.state == BRANCH_LEAF)
			*message = "this row has no children";
		t->row = row;
		rows_changed(t);
		return true;
	default:
		return false;
	}
}

/* Sideways, where columns were chosen and some do not fit: laid out anew, as the key may have come before these were
 * drawn. */
static void pan(struct table *t, bool left, const char **message)
{
	table_settle_columns(t);
	if (!t->result->chosen)
		*message = "press W first: it chooses columns";
	else if (left && t->left > 0)
		t->left--;
	else if (!left && t->more)
		t->left++;
	else
		*message = left ? "these are the first columns" : "these are the last columns";
}

/* --- actions ----------------------------------------------------------------------------------- */

static bool act(struct table *t, enum action action, const char **message)
{
	size_t height = t->height ? t->height : 1;

	if (tree_action(t, action, message))
		return true;
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
		move_by(t, 1, action == ACTION_UP);
		return true;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		page(t, height, action == ACTION_PAGE_UP);
		return true;
	case ACTION_HALF_UP:
	case ACTION_HALF_DOWN:
		page(t, (height + 1) / 2, action == ACTION_HALF_UP);
		return true;
	case ACTION_FIRST:
		t->on_head = t->has_head;
		move_to(t, 0);
		return true;
	case ACTION_LAST:
		t->on_head = false;
		move_to(t, SIZE_MAX);
		return true;
	case ACTION_SORT_NEXT:
	case ACTION_SORT_RIGHT:
	case ACTION_SORT_LEFT:
		if (action != ACTION_SORT_NEXT)
			sort_step(t, action == ACTION_SORT_LEFT, false, false);
		else if (!sort_step(t, false, true, true))
			sort_step(t, false, true, false);
		return true;
	case ACTION_REVERSE:
		if (t->result->sorted_by >= 0)
			table_sort(t, (unsigned)t->result->sorted_by, !t->result->descending);
		else
			*message = "not sorted by a column yet; s sorts";
		return true;
	case ACTION_PAN_RIGHT:
	case ACTION_PAN_LEFT:
		pan(t, action == ACTION_PAN_LEFT, message);
		return true;
	case ACTION_CLEAR_FILTER:
		if (!t->filter)
			*message = "all rows are shown already; f filters";
		table_filter(t, NULL);
		return true;
	case ACTION_SEARCH_NEXT:
	case ACTION_SEARCH_BACK:
		search_again(t, action == ACTION_SEARCH_BACK, message);
		return true;
	default:
		return false;
	}
}

bool table_action(struct table *t, enum action action, const char **message)
{
	bool done = act(t, action, message);

	table_show_selected(t);
	return table_trouble(t, message) || done; /* rows or their order stay as they were */
}

void table_go_on(struct table *t, const struct table *left)
{
	if (left->row >= t->result->n_rows)
		return;
	t->row = left->row;
	t->top = left->top;
	t->left = left->left;
}

void table_scroll(struct table *t, size_t rows, bool up)
{
	page(t, rows, up);
}

static void click_header(struct table *t, struct rect at, int x)
{
	int column = table_column_at(t, at, x);

	if (column < 0)
		return;
	bool again = column == t->result->sorted_by;
	bool number = cell_is_number(column_type(&t->result->columns[column]));
	table_sort(t, (unsigned)column, again ? !t->result->descending : number);
}

bool table_click(struct table *t, struct rect at, int y, int x)
{
	int first = at.y + table_has_header(t, at);

	if (y == at.y && y < first)
		click_header(t, at, x);
	bool cards = table_has_cards(t);
	if (y < first || y - first >= t->lines)
		return false;
	size_t row = cards ? table_card_at(t, y - first) : t->top + (size_t)(y - first);
	if (row >= t->result->n_rows)
		return false;
	t->row = row;
	t->on_head = false;
	return true;
}
