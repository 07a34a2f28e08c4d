/* SPDX-License-Identifier: GPL-3.0-or-later */
/* band.c - see band.h.  Where boxes are is found anew for each frame: rows open, are split and joined. */
#include "view/page/band.h"

#include "algorithms/hash.h"
#include "result/tree_parts.h"
#include "view/name_role.h"

#include <string.h>

enum {
	TWO_FROM = 16, THREE_FROM = 35, /* lines of the window for so many */
	WIDTH_LEAST = 50,
	ABOVE_LEAST = 2 * BOX_LEAST,    /* columns of a box whose children are shown */
	SMALL = 5000000,                /* objects that are looked at for one box */
};

/* --- where ------------------------------------------------------------------------------------- */

/* The children of a node, which is that of box `above` in the line above. */
static void add_boxes(struct band_line *line, const struct result *r, uint32_t node, size_t above, uint64_t whole,
    int x, int width)
{
	struct tree_part part[BAND_BOXES];
	struct box box[BAND_BOXES];
	uint64_t weight[BAND_BOXES], all;
	size_t room = BAND_BOXES - line->n;
	size_t n = room ? tree_heaviest(r, node, part, room - 1, &all) : 0;

	for (size_t i = 0; i < n; i++)
		weight[i] = part[i].weight;
	size_t placed = n ? boxes_place(weight, n, all, whole, x, width, BOX_LEAST, box) : 0;
	for (size_t i = 0; i < placed; i++) {
		bool other = box[i].part == n;
		line->box[line->n++] = (struct band_box){.box = box[i], .node = other ? TREE_TOP : part[box[i].part].node,
		    .weight = other ? 0 : part[box[i].part].weight, .above = above,
		    .wants = !other && !tree_part_is_ready(r, part[box[i].part].node)};
	}
}

static void place_boxes(struct band *b, const struct result *r)
{
	for (int y = 0; y < BAND_LINES; y++)
		b->line[y].n = 0;
	add_boxes(&b->line[0], r, TREE_TOP, 0, 0, b->at.x, b->at.width + 1); /* the last border is not seen */
	for (int y = 0; y + 1 < b->at.height; y++) {
		for (size_t i = 0; i < b->line[y].n; i++) {
			struct band_box *above = &b->line[y].box[i];
			if (above->node == TREE_TOP || above->box.width < ABOVE_LEAST)
				continue;
			above->wants |= !tree_parts_known(r, above->node);
			add_boxes(&b->line[y + 1], r, above->node, i, above->weight, above->box.x, above->box.width);
		}
	}
}

/* --- children that are not found yet ------------------------------------------------------------ */

static uint64_t wanted(const struct band *b)
{
	uint64_t hash = 0;

	for (int y = 0; y < b->at.height; y++)
		for (size_t i = 0; i < b->line[y].n; i++)
			if (b->line[y].box[i].wants)
				hash = hash_step(hash, b->line[y].box[i].node + 1ull);
	return hash;
}

bool band_lacks(const struct band *b)
{
	uint64_t wants = wanted(b);

	return wants && wants != b->given_up;
}

void band_give_up(struct band *b)
{
	b->given_up = wanted(b);
}

int band_find(struct band *b, const struct result *r, struct err *err)
{
	struct {
		uint32_t node, most;
	} find[BAND_LINES * BAND_BOXES];
	size_t n = 0;
	int code = 0;

	/* while a job works the page may be drawn, which places boxes anew */
	for (int y = 0; y < b->at.height; y++) {
		for (size_t i = 0; i < b->line[y].n; i++) {
			const struct band_box *box = &b->line[y].box[i];
			find[n].node = box->node;
			find[n].most = y + 1 < b->at.height && box->box.width >= ABOVE_LEAST ? SMALL : 0;
			n += box->wants;
		}
	}
	for (size_t i = 0; i < n && !code; i++)
		code = tree_parts_make(r, find[i].node, find[i].most, err);
	if (!code)
		band_give_up(b); /* what is not there now never will be */
	return code;
}

/* --- drawing ----------------------------------------------------------------------------------- */

/* Whose it is: what holds it says so, else its class. */
static enum role role_of(const struct result *r, uint32_t node, struct page *overview)
{
	int field = result_column_of(r, COL_FIELD), class = result_column_of(r, COL_CLASS);
	struct text of_field = TEXT_INIT, of_class = TEXT_INIT;
	struct cell held = cell_none(), is = cell_none();

	if (field >= 0)
		tree_part_cell(r, node, (unsigned)field, &held, &of_field);
	if (class >= 0)
		tree_part_cell(r, node, (unsigned)class, &is, &of_class);
	const char *by = held.type == CELL_TEXT ? held.text : "", *name = name_of_static(by);
	enum role role = name && overview_suspects(overview, name) ? ROLE_SUSPECT :
	    name_role_of_holder(r->heap, by, is.type == CELL_TEXT ? is.text : NULL);
	text_release(&of_field);
	text_release(&of_class);
	return role;
}

/* "AuditLog.ENTRIES 80.0K 37%"; nothing where there is no room. */
static void add_words(const struct table *t, const struct band_box *b, struct text *to)
{
	struct result *r = t->result;
	struct text branch = TEXT_INIT, size = TEXT_INIT, share = TEXT_INIT;
	struct cell cell;
	int retained = result_column_of(r, COL_RETAINED);

	if (b->node == TREE_TOP)
		text_add(to, "other");
	if (b->node == TREE_TOP || !tree_part_is_ready(r, b->node))
		return;
	tree_part_cell(r, b->node, (unsigned)retained, &cell, &size);
	cell_print(&cell, &size);
	table_add_percent(t, (unsigned)retained, &cell, &share);
	tree_part_cell(r, b->node, tree_column(r), &cell, &branch);
	boxes_words(branch.len ? branch.s : "", size.len ? size.s : "", share.len ? share.s : "", boxes_room(&b->box), to);
	text_release(&branch);
	text_release(&size);
	text_release(&share);
}

/* The boxes on the way to the selected row: of each line one at most. */
struct marks {
	uint32_t node[BAND_LINES];
	size_t n;
};

static bool is_among(const struct band_line *line, size_t above, uint32_t node)
{
	for (size_t i = 0; i < line->n; i++)
		if (line->box[i].above == above && line->box[i].node == node)
			return true;
	return false;
}

/* up: is the box above it marked? */
static bool is_marked(const struct band_line *line, const struct band_box *b, size_t y, const struct marks *marks,
    bool up)
{
	if (!up || y >= marks->n)
		return false;
	uint32_t node = marks->node[y]; /* TREE_TOP: of the row that stands for those without rows */
	return b->node != TREE_TOP ? b->node == node : node == TREE_TOP || !is_among(line, b->above, node);
}

static void draw_line(const struct band *b, const struct table *t, size_t y, const struct marks *marks,
    struct page *overview, size_t *marked)
{
	const struct band_line *line = &b->line[y];
	struct text words = TEXT_INIT;
	size_t up = *marked;

	*marked = SIZE_MAX;
	for (size_t i = 0; y && i < b->line[y - 1].n; i++)
		boxes_draw_border(b->at.y + (int)y, &b->line[y - 1].box[i].box);
	for (size_t i = 0; i < line->n; i++) {
		const struct band_box *box = &line->box[i];
		bool mark = is_marked(line, box, y, marks, y == 0 || box->above == up);
		text_clear(&words);
		add_words(t, box, &words);
		enum role role = mark ? ROLE_SELECTED : box->node == TREE_TOP ? ROLE_QUIET :
		    role_of(t->result, box->node, overview);
		boxes_draw(b->at.y + (int)y, &box->box, mark ? BOX_MARKED : BOX_BORDERED, words.s, theme_role(role));
		if (mark)
			*marked = i;
	}
	text_release(&words);
}

/* Lines that say something: below boxes with a name that take less than a quarter of the first line there is hardly
 * room for another name. */
static int lines_worth(const struct band *b, const struct table *t)
{
	enum { PART = 4 };
	struct text words = TEXT_INIT;
	int named = 0;

	for (size_t i = 0; i < b->line[0].n; i++) {
		const struct band_box *box = &b->line[0].box[i];
		text_clear(&words);
		if (box->node != TREE_TOP)
			add_words(t, box, &words);
		named += words.len ? box->box.width : 0;
	}
	text_release(&words);
	return !named ? 0 : named * PART < b->at.width ? 1 : b->at.height;
}

int band_draw(struct band *b, struct table *t, struct rect at, int window, struct page *overview)
{
	struct marks marks;
	size_t marked = SIZE_MAX;

	b->at = at;
	b->at.height = window >= THREE_FROM ? 3 : window >= TWO_FROM ? 2 : 0;
	if (at.width < WIDTH_LEAST || at.height < b->at.height || !tree_has_groups(t->result) ||
	    result_column_of(t->result, COL_RETAINED) < 0)
		b->at.height = 0;
	if (!b->at.height)
		return 0;
	if (!t->summed)
		table_work(t); /* shares are of the sum */
	place_boxes(b, t->result);
	b->at.height = lines_worth(b, t);
	marks.n = tree_nodes_to(t->result, t->row, marks.node, BAND_LINES);
	for (size_t y = 0; y < (size_t)b->at.height; y++)
		draw_line(b, t, y, &marks, overview, &marked);
	return b->at.height;
}

/* --- the mouse --------------------------------------------------------------------------------- */

/* The first of the rows below one that have no box of their own. */
static size_t first_other(const struct band_line *line, size_t above, const struct result *r, size_t parent)
{
	struct branch b, top = {.depth = 0};

	if (parent != SIZE_MAX)
		tree_branch(r, parent, &top);
	uint32_t depth = parent == SIZE_MAX ? 0 : top.depth + 1;
	for (size_t row = parent == SIZE_MAX ? 0 : parent + 1; tree_branch(r, row, &b) && b.depth >= depth; row++)
		if (b.depth == depth && !is_among(line, above, (uint32_t)tree_key(r, row)))
			return row;
	return SIZE_MAX;
}

/* The row of a box; rows above it that are closed are opened. */
static size_t row_of(const struct band *b, struct table *t, size_t y, size_t box)
{
	const struct band_box *at = &b->line[y].box[box];
	size_t parent = y ? row_of(b, t, y - 1, at->above) : SIZE_MAX;
	const char *message = NULL;
	struct branch branch;

	if (y && parent == SIZE_MAX)
		return SIZE_MAX;
	if (y && tree_branch(t->result, parent, &branch) && branch.state == BRANCH_CLOSED) {
		table_select(t, parent);
		table_action(t, ACTION_OPEN, &message);
	}
	return at->node == TREE_TOP ? first_other(&b->line[y], at->above, t->result, parent) :
	    tree_row_of(t->result, parent, at->node);
}

bool band_click(const struct band *b, struct table *t, int y, int x)
{
	size_t at = (size_t)(y - b->at.y);

	if (y < b->at.y || y >= b->at.y + b->at.height)
		return false;
	for (size_t i = 0; i < b->line[at].n; i++) {
		const struct box *box = &b->line[at].box[i].box;
		if (x < box->x || x >= box->x + box->width)
			continue;
		size_t row = row_of(b, t, at, i);
		if (row == SIZE_MAX)
			return false;
		table_select(t, row);
		t->on_head = false;
		return true;
	}
	return false;
}
