/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_draw.c - how a table looks.
 *
 * A layout is made for every frame from the widths that the table has seen so far, which only
 * grow, so that columns do not dance while one scrolls.  When it is narrow the columns in which
 * nothing stands go first; then long texts give way, those of the dump's values beyond a third of the
 * width before others, else the longest first, down to a floor; then the
 * share bar; then whole columns, the least telling first; hardly the first column, never the one sorted
 * by, or the one that names what the rows are.  A column that says the same in every row is one of
 * those that tell least.
 */
#include "view/table.h"

#include "result/print.h"

#include <string.h>

#define GAP 2
#define MARKER 2
#define WIDTH_MOST 4096
#define MEASURED 1000  /* rows looked at before the first frame */
#define MEASURED_BYTES (1 << 20) /* of their texts, in a frame */
#define NAME_LEAST 24  /* a name keeps so many columns before others go */
#define NAME_LEAST_TREE 36 /* it carries the branches as well */
#define NAME_LEAST_NARROW 16
#define NAME_LEAST_NARROW_TREE 24
#define NAME_LEAST_PLAIN 14 /* in half a page */
#define TEXT_LEAST 12
#define TEXT_WISH 30   /* a text of the dump's own wants no more beside a pane */
#define TEXT_LEAST_PLAIN 8
#define NAME_MORE 8    /* a name may be longer by that than other texts that are cut */
#define NARROW 60      /* columns; with fewer a percentage goes before a column */
#define WIDE_LEAST 20   /* and a text where one moves sideways */
#define BAR_LEAST 6
#define BAR_MOST 16
#define PERCENT 6      /* " ~100%" */
#define NAMES_BEST 5   /* of column_kind.naming */

/* added to how readily a column goes */
#define NOTHING_THERE 100
#define LITTLE_THERE 10

struct layout {
	unsigned column[TABLE_COLUMNS]; /* of the result, left to right */
	int x[TABLE_COLUMNS], width[TABLE_COLUMNS];
	unsigned n;
	int bar_x, bar; /* the share bar's place and width; 0: none */
	int percent_x;  /* 0: none */
	unsigned name;  /* index of the column that says what a row is */
};

/* --- measuring --------------------------------------------------------------------------------- */

static void grow(struct table *t, unsigned c, const char *s)
{
	size_t width = text_width_most(s, WIDTH_MOST);

	if (width > WIDTH_MOST)
		width = WIDTH_MOST;
	if ((int)width > t->width[c])
		t->width[c] = (int)width;
}

/* Whether a column says the same in every row, as far as anybody sees: then it tells nothing about any. */
static void compare_text(struct table *t, unsigned c, const char *s)
{
	uint32_t hash = 2166136261u;

	for (const char *end = s + strnlen(s, WIDTH_MOST); s < end; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619u;
	hash |= 1;
	if (t->first_text[c] == 0)
		t->first_text[c] = hash;
	else if (t->first_text[c] != hash)
		t->varies[c] = true;
}

static bool is_heading(const struct table *t, size_t row)
{
	return tree_is(t->result) && result_heading(t->result, row) != NO_HEADING;
}

/* Returns the bytes of its texts. */
static size_t measure_row(struct table *t, size_t row, struct text *buffer)
{
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;
	size_t bytes = 0;
	bool heading = is_heading(t, row);

	for (unsigned c = 0; c < n; c++) {
		struct cell cell;
		text_clear(buffer);
		if (heading && c == tree_column(t->result))
			break; /* it needs no column */
		result_cell(t->result, row, c, &cell);
		if (tree_is(t->result) && c == tree_column(t->result))
			cell.indent += 2; /* and the sign */
		cell_print(&cell, buffer);
		bytes += buffer->len;
		grow(t, c, buffer->s);
		compare_text(t, c, buffer->s);
		if (cell.type != CELL_NONE && buffer->len > 0)
			t->filled[c]++;
	}
	t->seen++;
	return bytes;
}

static void measure_sums(struct table *t, struct text *buffer)
{
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;

	for (unsigned c = 0; c < n; c++) {
		grow(t, c, column_word(&t->result->columns[c]));
		if (!t->result->columns[c].total || !t->have_whole)
			continue;
		struct cell whole = t->whole[c];
		text_clear(buffer);
		cell_print(&whole, buffer);
		grow(t, c, buffer->s);
	}
}

static void measure(struct table *t, struct text *buffer)
{
	size_t n = t->result->n_rows;
	size_t last = t->top + t->height < n ? t->top + t->height : n;

	measure_sums(t, buffer);
	for (size_t bytes = 0; t->measured < n && t->measured < MEASURED && bytes < MEASURED_BYTES;)
		bytes += measure_row(t, t->measured++, buffer);
	/* also those that are looked at: there may be many more, and numbers become known */
	for (size_t row = t->top; row < last; row++)
		measure_row(t, row, buffer);
}

/* --- laying out -------------------------------------------------------------------------------- */

static bool wants_share(const struct table *t)
{
	int sorted = t->result->sorted_by;

	return sorted >= 0 && sorted < TABLE_COLUMNS && t->result->columns[sorted].total &&
	       t->have_whole && t->whole[sorted].amount.n > 0 && !t->plain;
}

static int needed(const struct layout *l)
{
	int sum = MARKER - GAP;

	for (unsigned i = 0; i < l->n; i++)
		sum += GAP + l->width[i];
	if (l->bar > 0)
		sum += 1 + l->bar;
	if (l->percent_x)
		sum += PERCENT;
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
		if ((int)l->column[i] != t->result->sorted_by && i != l->name && r >= rank) {
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

/* Widths as wished for, then cut the longest texts down to their floors until all of it fits.
 * False: it does not. */
static bool shrink(const struct table *t, struct layout *l, int width, int text_least, int name_least)
{
	for (unsigned i = 0; i < l->n; i++) {
		int wished = t->width[l->column[i]];
		l->width[i] = wished < width ? wished : width;
	}
	for (int excess = needed(l) - width; excess > 0; excess--) {
		int longest = -1, most = 0;
		for (unsigned i = 0; i < l->n; i++) {
			bool is_name = i == l->name;
			int more = is_name ? NAME_MORE : 0, w = l->width[i];
			if (column_type(&t->result->columns[l->column[i]]) != CELL_TEXT ||
			    w <= (is_name ? name_least : text_least))
				continue;
			if (readiness(t, l, i) >= LITTLE_THERE)
				w += width; /* these first */
			/* one long text takes no room that the others need */
			if (column_kinds[t->result->columns[l->column[i]].id].contents && w > width / 3)
				w += 2 * width;
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

static void fit(const struct table *t, struct layout *l, int width)
{
	int text = t->plain ? TEXT_LEAST_PLAIN : TEXT_LEAST;
	bool tree = tree_is(t->result), narrow = width < NARROW;
	int name = t->plain ? NAME_LEAST_PLAIN
		   : narrow ? (tree ? NAME_LEAST_NARROW_TREE : NAME_LEAST_NARROW)
			    : (tree ? NAME_LEAST_TREE : NAME_LEAST);
	bool fits = shrink(t, l, width, width, width);

	while (!fits && drop_one(t, l, NOTHING_THERE))
		fits = shrink(t, l, width, width, width);
	if (!fits)
		fits = shrink(t, l, width, text, name);
	/* where one looks through the heap the bars tell more than what a row is worth telling besides */
	while (!fits && l->bar > 0 && tree_has_groups(t->result) && drop_one(t, l, 8))
		fits = shrink(t, l, width, text, name);
	if (!fits && l->bar > 0) {
		l->bar = 0;
		fits = shrink(t, l, width, text, name);
	}
	if (!fits && l->percent_x && width < NARROW) {
		l->percent_x = 0;
		fits = shrink(t, l, width, text, name);
	}
	while (!fits && drop_one(t, l, -1))
		fits = shrink(t, l, width, text, name);
	if (!fits && l->percent_x) {
		l->percent_x = 0;
		fits = shrink(t, l, width, text, name);
	}
	if (!fits)
		shrink(t, l, width, 4, 4);
	int room = width - needed(l);
	if (l->bar > 0 && room > 0)
		l->bar += room < BAR_MOST - l->bar ? room : BAR_MOST - l->bar;
}

static void remove_column(struct layout *l, unsigned i)
{
	l->n--;
	if (l->name > i)
		l->name--;
	for (; i < l->n; i++)
		l->column[i] = l->column[i + 1];
}

/* All columns, of which the name stays and the others are moved through what room is left. */
static void fit_wide(struct table *t, struct layout *l, int width)
{
	t->more = false;
	if (shrink(t, l, width, width, width)) {
		t->left = 0;
		return;
	}
	l->bar = l->percent_x = 0;
	for (unsigned skip = t->left; skip > 0 && l->n > 2; skip--)
		remove_column(l, l->name == 0);
	while (l->n > 2 && !shrink(t, l, width, WIDE_LEAST, NAME_LEAST_NARROW)) {
		remove_column(l, l->name == l->n - 1 ? l->n - 2 : l->n - 1);
		t->more = true;
	}
	if (!shrink(t, l, width, WIDE_LEAST, NAME_LEAST_NARROW))
		shrink(t, l, width, 4, 4);
}

static void place(const struct table *t, struct layout *l, int x)
{
	x += MARKER;
	for (unsigned i = 0; i < l->n; i++) {
		l->x[i] = x;
		x += l->width[i];
		if ((int)l->column[i] == t->result->sorted_by) {
			if (l->bar > 0) {
				l->bar_x = x + 1;
				x += 1 + l->bar;
			}
			if (l->percent_x) {
				l->percent_x = x;
				x += PERCENT;
			}
		}
		x += GAP;
	}
}

int table_wishes(struct table *t)
{
	struct layout l = {.n = 0};
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;

	if (t->seen == 0) {
		struct text buffer = TEXT_INIT;
		measure(t, &buffer);
		text_release(&buffer);
	}
	for (unsigned c = 0; c < n; c++) {
		const struct column *column = &t->result->columns[c];
		if ((int)c == t->hidden || !(t->wide || !column->hidden) || (t->seen > 0 && t->filled[c] == 0))
			continue;
		bool text = column_kinds[column->id].contents || column_kinds[column->id].values;
		l.width[l.n++] = text && t->width[c] > TEXT_WISH ? TEXT_WISH : t->width[c];
	}
	if (wants_share(t)) {
		l.bar = BAR_LEAST;
		l.percent_x = 1;
	}
	return needed(&l);
}

static void lay_out(struct table *t, struct layout *l, struct rect at)
{
	*l = (struct layout){.n = 0};
	int best = -1;
	unsigned n = t->result->n_columns < TABLE_COLUMNS ? t->result->n_columns : TABLE_COLUMNS;
	for (unsigned c = 0; c < n; c++) {
		const struct column *column = &t->result->columns[c];
		if ((int)c == t->hidden || !(t->wide || !column->hidden))
			continue;
		l->column[l->n] = c;
		/* a column of unknown names names nothing */
		int rank = NAMES_BEST - column_kinds[column->id].naming + (t->filled[c] == 0 ? NOTHING_THERE : 0) +
			   (is_constant(t, c) ? LITTLE_THERE : 0);
		if (column_type(column) == CELL_TEXT && (best < 0 || rank < best)) {
			best = rank;
			l->name = l->n;
		}
		l->n++;
	}
	if (l->n && t->result->columns[l->column[l->name]].name)
		l->name = 0; /* a field is no name: the address stays in sight */
	if (wants_share(t)) {
		l->bar = BAR_LEAST;
		l->percent_x = 1;
	}
	if (t->wide && !t->plain)
		fit_wide(t, l, at.width);
	else
		fit(t, l, at.width);
	place(t, l, at.x);
}

/* --- drawing ----------------------------------------------------------------------------------- */

static void draw_cell(const struct layout *l, unsigned i, const struct column *column, int y,
    const char *s, attr_t attr)
{
	if (cell_is_number(column_type(column)))
		draw_right(y, l->x[i], l->width[i], s, attr);
	else if (column_kinds[column->id].cut == CUT_MIDDLE)
		draw_text_keep_end(y, l->x[i], l->width[i], s, attr);
	else
		draw_text(y, l->x[i], l->width[i], s, attr);
}

static void draw_header(const struct table *t, const struct layout *l, struct rect at)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct column *column = &t->result->columns[l->column[i]];
		bool sorted = (int)l->column[i] == t->result->sorted_by;
		draw_cell(l, i, column, at.y, column_word(column), theme(sorted ? ROLE_SORTED : ROLE_HEADER));
		if (!sorted || !tree_has_groups(t->result))
			continue;
		/* bars and percentages are of different wholes here */
		if (l->bar >= 10)
			draw_text(at.y, l->bar_x, l->bar, "of largest", theme(ROLE_HEADER));
		if (l->percent_x)
			draw_right(at.y, l->percent_x, PERCENT, "% all", theme(ROLE_HEADER));
	}
}

static enum role cell_role(const struct cell *cell)
{
	if (cell->amount.certainty != EXACT)
		return ROLE_UNSURE;
	return cell->type == CELL_ADDRESS ? ROLE_ADDRESS : ROLE_TEXT;
}

/* In the heap's tree bars compare siblings: against the largest of them. */
static double length_of_bar(const struct table *t, size_t row, const struct cell *part, double share)
{
	struct text scratch = TEXT_INIT;
	struct cell largest;
	bool compare = tree_has_groups(t->result) && row != SIZE_MAX &&
		       tree_largest(t->result, row, &largest, &scratch) && largest.amount.n > 0;
	text_release(&scratch);
	return compare ? (double)part->amount.n / (double)largest.amount.n : share;
}

/* row SIZE_MAX: of the total. */
static void draw_share(const struct table *t, const struct layout *l, int y, size_t row,
    const struct cell *part, attr_t row_attr, bool selected)
{
	double share = (double)part->amount.n / (double)t->whole[t->result->sorted_by].amount.n;
	char percent[16];

	if (l->bar > 0)
		draw_bar(y, l->bar_x, l->bar, length_of_bar(t, row, part, share), selected ? row_attr : theme(ROLE_BAR));
	if (!l->percent_x)
		return;
	struct text number = TEXT_INIT;
	text_clear(&number);
	/* a share of a whole that is not known is about right at best */
	if (t->whole[t->result->sorted_by].amount.certainty != EXACT ||
	    part->amount.certainty != EXACT)
		text_add(&number, "~");
	if (share > 0 && share < 0.005)
		text_add(&number, "<1%");
	else
		text_addf(&number, "%.0f%%", share * 100);
	size_t n = number.len < sizeof percent ? number.len : sizeof percent - 1;
	memcpy(percent, number.s, n);
	percent[n] = '\0';
	text_release(&number);
	draw_right(y, l->percent_x, PERCENT, percent, row_attr);
}

/* A heading says most at its end: where it does not fit, what is behind its number loses its beginning. */
static void draw_heading(int y, int x, int width, const char *s, attr_t attr)
{
	size_t number = strspn(s, " 0123456789");

	if ((int)text_width_most(s, (size_t)width + 1) <= width || (int)number >= width) {
		draw_text(y, x, width, s, attr);
		return;
	}
	draw_clipped(y, x, (int)number, s, attr);
	draw_right(y, x + (int)number, width - (int)number, s + number, attr);
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
		int used = draw_text(y, x, most, depth.s, theme(ROLE_QUIET));
		indent = used + 1 > indent ? used + 1 : indent;
	}
	text_release(&depth);
	const char *sign = b.state == BRANCH_OPEN     ? glyph(GLYPH_OPEN)
			   : b.state == BRANCH_CLOSED ? glyph(GLYPH_CLOSED)
			   : b.state == BRANCH_REST   ? glyph(GLYPH_ELLIPSIS)
						      : " ";
	if (indent < width)
		draw_clipped(y, x + indent, 1, sign, attr);
	x += indent + 2;
	width -= indent + 2;
	if (width > 0 && is_heading(t, row))
		draw_heading(y, x, width, s, attr);
	else if (width > 0)
		draw_text_keep_end(y, x, width, s, attr);
}

static void draw_row(struct table *t, const struct layout *l, struct rect at, int y, size_t row,
    bool has_keyboard, struct text *buffer)
{
	bool selected = row == t->row && !t->on_head;
	attr_t row_attr = theme(!selected ? ROLE_TEXT : has_keyboard ? ROLE_SELECTED : ROLE_MARKED);

	if (selected) {
		if (has_keyboard) { /* the other half of an object has the sign, and there is one */
			draw_blank(y, at.x, at.width, row_attr);
			draw_clipped(y, at.x, 1, ">", row_attr);
		}
	}
	bool heading = is_heading(t, row);
	for (unsigned i = 0; i < l->n; i++) {
		struct cell cell;
		unsigned c = l->column[i];

		text_clear(buffer);
		result_cell(t->result, row, c, &cell);
		cell.indent = 0; /* draw_branch knows better */
		cell_print(&cell, buffer);
		attr_t attr = selected ? row_attr : theme(cell_role(&cell));
		if (heading && c == tree_column(t->result)) {
			draw_branch(t, y, l->x[i], at.x + at.width - l->x[i], row, buffer->s, attr);
			break;
		}
		if (tree_is(t->result) && c == tree_column(t->result))
			draw_branch(t, y, l->x[i], l->width[i], row, buffer->s, attr);
		else
			draw_cell(l, i, &t->result->columns[c], y, buffer->s, attr);
		if ((int)c == t->result->sorted_by && (l->bar > 0 || l->percent_x) &&
		    cell.type != CELL_NONE)
			draw_share(t, l, y, row, &cell, row_attr, selected);
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
	attr_t attr = theme(ROLE_TOTAL);
	unsigned c = l->column[i];
	struct cell sum = t->total[c], whole = t->whole[c];
	bool done = t->summed == t->result->n_rows, sorted = (int)c == t->result->sorted_by;
	int end = l->x[i] + l->width[i];

	if (!done) {
		draw_cell(l, i, &t->result->columns[c], y, glyph(GLYPH_ELLIPSIS), attr);
		return end;
	}
	cell_print(&sum, buffer);
	bool beside = sorted && (l->bar > 0 || l->percent_x);
	size_t n = buffer->len;
	if (t->filter && t->have_whole) {
		text_add(buffer, " (");
		cell_print(&whole, buffer);
		text_add(buffer, ")");
		int room = beside ? (l->bar > 0 ? 1 + l->bar : 0) + (l->percent_x ? PERCENT : 0)
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
	return beside ? end + (l->bar > 0 ? 1 + l->bar : 0) + PERCENT : end;
}

/* The first text column says how many rows; sums stand under their columns, and the whole of the
 * sorted column in brackets beside its sum when only a part is shown. */
static void draw_total(const struct table *t, const struct layout *l, struct rect at, int y,
    struct text *buffer)
{
	attr_t attr = theme(ROLE_TOTAL);
	int drawn_to = at.x;

	for (unsigned i = 0; i < l->n; i++) {
		const struct column *column = &t->result->columns[l->column[i]];
		text_clear(buffer);
		if (i == 0 && !column->total) {
			struct cell rows = cell_count(result_count(t->result));
			cell_print(&rows, buffer);
			if (t->filter) {
				text_add(buffer, " (");
				text_add_count(buffer, t->result->n_source);
				text_add(buffer, ")");
			}
			text_addf(buffer, " %s", result_noun(t->result, t->result->n_rows == 1));
			/* over the columns that have no sum */
			unsigned next = 1;
			while (next < l->n && !t->result->columns[l->column[next]].total)
				next++;
			int end = next < l->n ? l->x[next] - 1 : at.x + at.width;
			drawn_to = l->x[i] + draw_text(y, l->x[i], end - l->x[i], buffer->s, attr);
			continue;
		}
		if (!column->total)
			continue;
		drawn_to = draw_sum(t, l, i, y, drawn_to, buffer);
	}
}

bool table_has_header(const struct table *t, struct rect at)
{
	return !t->plain && at.height >= 3;
}

int table_column_at(struct table *t, struct rect at, int x)
{
	struct layout l;

	lay_out(t, &l, at);
	for (unsigned i = 0; i < l.n; i++)
		if (x >= l.x[i] && x < l.x[i] + l.width[i])
			return (int)l.column[i];
	return -1;
}

void table_draw(struct table *t, struct rect at, bool has_keyboard)
{
	struct layout l;
	struct text buffer = TEXT_INIT;
	size_t n = t->result->n_rows;
	bool header = table_has_header(t, at), total = has_total(t) && at.height >= 4;
	int rows = at.height - header - total;

	if (rows < 1 || at.width < 4)
		return;
	t->height = (size_t)rows;
	if (t->row < t->top)
		t->top = t->row;
	if (t->row >= t->top + t->height)
		t->top = t->row - t->height + 1;
	if (t->top + t->height > n)
		t->top = n > t->height ? n - t->height : 0;
	if (t->summed == 0)
		table_work(t); /* a small table is whole in its first frame */
	measure(t, &buffer);
	lay_out(t, &l, at);
	if (header)
		draw_header(t, &l, at);
	int y = at.y + header;
	for (size_t row = t->top; row < n && row < t->top + t->height; row++)
		draw_row(t, &l, at, y++, row, has_keyboard, &buffer);
	if (n == 0)
		draw_text(y++, at.x + MARKER, at.width - MARKER,
		    !t->filter              ? "none"
		    : tree_is(t->result) ? "no open row matches the filter (F shows all again)"
					    : "no row matches the filter (F shows all again)",
		    theme(ROLE_QUIET));
	if (total)
		draw_total(t, &l, at, y, &buffer);
	text_release(&buffer);
}
