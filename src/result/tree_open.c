/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_open.c - opening and closing branches, taking groups apart, going down to where the weight scatters. */
#include "result/tree.h"
#include "result/tree_rows.h"

#include "base/assert.h"
#include "base/mem.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

#define DROP_LEVELS 1000      /* opened by one tree_drop */
#define DROP_PERCENT 80       /* of its parent's weight: with less it is a drop */

/* --- opening and closing ---------------------------------------------------------------------- */

/* n source rows after source row at appeared: they are shown behind the row. */
static void shift_in(struct result *r, size_t row, size_t at, size_t n)
{
	r->n_source += n;
	if (r->order) {
		for (size_t i = 0; i < r->n_rows; i++)
			if (r->order[i] > at)
				r->order[i] += (uint32_t)n;
		memmove(r->order + row + 1 + n, r->order + row + 1,
		    (r->n_rows - row - 1) * sizeof *r->order);
		for (size_t i = 0; i < n; i++)
			r->order[row + 1 + i] = (uint32_t)(at + 1 + i);
	}
	r->n_rows += n;
	result_changed(r);
}

/* Memory for n more rows; false: there is none, which the result remembers. */
static bool make_room(struct result *r, size_t n)
{
	struct tree *t = r->data;
	struct err err = ERR_INIT;
	bool fits = true;
	if (t->cap_row < t->n_row + n) {
		size_t cap = t->n_row + n > 2 * t->cap_row ? t->n_row + n : 2 * t->cap_row;
		struct tree_row *row = big_resize(t->row, cap, sizeof *t->row, &err);
		fits = row != NULL;
		if (row) {
			t->row = row;
			t->cap_row = cap;
		}
	}
	if (fits && r->order) {
		uint32_t *order = big_resize(r->order, r->n_rows + n, sizeof *order, &err);
		fits = order != NULL;
		if (order)
			r->order = order;
	}
	if (!fits)
		result_lost(r, &err);
	return fits;
}

/* n source rows after source row at went. */
static void shift_out(struct result *r, size_t at, size_t n)
{
	size_t kept = 0;
	r->n_source -= n;
	if (!r->order) {
		r->n_rows -= n < r->n_rows - at - 1 ? n : r->n_rows - at - 1;
	} else {
		for (size_t i = 0; i < r->n_rows; i++) {
			uint32_t source = r->order[i];
			if (source <= at || source > at + n)
				r->order[kept++] = source > at ? source - (uint32_t)n : source;
		}
		r->n_rows = kept;
	}
	result_changed(r);
}

/* How many rows the nodes from … of a list take, with one for the rest. */
static size_t rows_from(const struct list *l, uint32_t from)
{
	return l->shown - from + (l->shown < l->n);
}

/* Rows for nodes from … of a list behind source row at; there is room for them. */
static size_t insert_rows(struct tree *t, size_t at, uint32_t list, uint32_t from, uint32_t depth)
{
	const struct list *l = &t->list[list];
	size_t n = rows_from(l, from);
	cairn_assert(at < t->n_row && t->n_row + n <= t->cap_row);
	memmove(t->row + at + 1 + n, t->row + at + 1, (t->n_row - at - 1) * sizeof *t->row);
	for (size_t i = 0; i < n; i++) {
		bool rest = from + i >= l->shown;
		t->row[at + 1 + i] =
		    (struct tree_row){rest ? REST : l->node[from + i], depth, list, NO_LIST};
	}
	t->n_row += n;
	return n;
}

static void remove_rows(struct tree *t, size_t at, size_t n)
{
	cairn_assert(at + 1 + n <= t->n_row);
	memmove(t->row + at + 1, t->row + at + 1 + n, (t->n_row - at - 1 - n) * sizeof *t->row);
	t->n_row -= n;
}

/* The rest's row stays the last of its list: the new ones come before it. */
static bool open_rest(struct result *r, size_t row, size_t at)
{
	struct tree *t = r->data;
	struct tree_row rest = t->row[at];
	struct list *l = &t->list[rest.list];
	uint32_t from = l->shown, shown = l->n - from > t->at_once ? from + t->at_once : l->n;
	if (!make_room(r, (size_t)t->at_once + 1) || !tree_sum_rest(r, l, shown))
		return false;
	l->shown = shown;
	tree_ready(r, l, from);
	size_t n = insert_rows(t, at, rest.list, from, rest.depth);
	/* its old row takes the first of them */
	remove_rows(t, at, 1);
	t->row[at] = (struct tree_row){l->node[from], rest.depth, rest.list, NO_LIST};
	shift_in(r, row, at, n - 1);
	return true;
}

bool tree_open(struct result *r, size_t row)
{
	struct branch b;
	struct tree *t = r->data;
	if (!tree_branch(r, row, &b) || b.state == BRANCH_LEAF || b.state == BRANCH_OPEN)
		return false;
	size_t at = tree_source_row(r, row);
	if (b.state == BRANCH_REST)
		return open_rest(r, row, at);
	uint32_t list = tree_new_list(r, t->row[at].node);
	if (list == NO_LIST)
		return false;
	if (!make_room(r, rows_from(&t->list[list], 0))) {
		tree_free_list(&t->list[list]);
		return false;
	}
	t->row[at].below = list;
	shift_in(r, row, at, insert_rows(t, at, list, 0, b.depth + 1));
	return true;
}

bool tree_close(struct result *r, size_t row)
{
	struct branch b;
	struct tree *t = r->data;
	size_t n = 0;
	if (!tree_branch(r, row, &b) || b.state != BRANCH_OPEN)
		return false;
	size_t at = tree_source_row(r, row);
	tree_free_list(&t->list[t->row[at].below]);
	t->row[at].below = NO_LIST;
	for (; at + 1 + n < t->n_row && t->row[at + 1 + n].depth > b.depth; n++)
		if (t->row[at + 1 + n].below != NO_LIST)
			tree_free_list(&t->list[t->row[at + 1 + n].below]);
	remove_rows(t, at, n);
	shift_out(r, at, n);
	return true;
}

bool tree_largest(const struct result *r, size_t row, struct cell *out, struct text *scratch)
{
	if (!tree_is(r) || r->sorted_by < 0)
		return false;
	const struct tree *t = r->data;
	const struct list *l = &t->list[t->row[tree_source_row(r, row)].list];
	if (!l->n)
		return false;
	*out = cell_none();
	t->source->cell(r, l->node[r->descending ? 0 : l->n - 1], (unsigned)r->sorted_by, out, scratch);
	return true;
}

bool tree_has_groups(const struct result *r)
{
	return tree_is(r) && ((const struct tree *)r->data)->source->regroup;
}

/* The node whose children are in a list. */
static uint32_t node_above(const struct tree *t, uint32_t list)
{
	for (size_t i = 0; list && i < t->n_row; i++) {
		if (t->row[i].below == list)
			return t->row[i].node;
	}
	return TREE_TOP;
}

/* The list of a node's children anew. */
static int renew_list(struct result *r, uint32_t list, struct err *err)
{
	struct tree *t = r->data;
	struct list renewed;
	int code = tree_fill_list(r, node_above(t, list), &renewed, err);
	if (code)
		return code;
	tree_free_list(&t->list[list]);
	t->list[list] = renewed;
	return 0;
}

int tree_regroup(struct result *r, size_t *row, struct err *err)
{
	struct tree *t = r->data;
	uint32_t shown, other, list = t->row[tree_source_row(r, *row)].list, node = t->row[tree_source_row(r, *row)].node;
	if (node == REST)
		return err_set(err, ERR_NOT_FOUND, "that row is the rest of the rows, not shown yet: Enter opens it");
	int code = t->source->regroup(r, node, &shown, err);
	if (code)
		return code;
	code = renew_list(r, list, err);
	if (code) { /* as it was */
		(void)!t->source->regroup(r, shown, &other, NULL);
		return code;
	}
	tree_make_rows(r, 1);
	for (size_t i = 0; i < t->n_row; i++) {
		if (t->row[i].list == list && t->row[i].node == shown)
			*row = i;
	}
	return 0;
}

/* The nodes that share the row, or did.  Returns how many. */
static uint32_t way_of_row(const struct result *r, size_t row, uint32_t *way, bool *apart)
{
	struct branch b;
	if (!tree_branch(r, row, &b) || b.state == BRANCH_REST)
		return 0;
	const struct tree *t = r->data;
	return t->source->way ? t->source->way(r, t->row[tree_source_row(r, row)].node, way, apart) : 0;
}

bool tree_is_way(const struct result *r, size_t row)
{
	uint32_t way[TREE_WAY];
	bool apart;
	return way_of_row(r, row, way, &apart) > 0;
}

/* The row of a node among those below a row, itself included; SIZE_MAX: it has none. */
static size_t find_below(const struct result *r, size_t row, uint32_t node)
{
	const struct tree *t = r->data;
	uint32_t depth = t->row[tree_source_row(r, row)].depth;
	for (size_t i = row; i < r->n_rows; i++) {
		const struct tree_row *at = &t->row[tree_source_row(r, i)];
		if (i > row && at->depth <= depth)
			break;
		if (at->node == node)
			return i;
	}
	return SIZE_MAX;
}

bool tree_turn_way(struct result *r, size_t *row)
{
	struct tree *t = r->data;
	uint32_t way[TREE_WAY];
	bool apart = false;
	uint32_t n = way_of_row(r, *row, way, &apart);
	size_t at = n ? *row : SIZE_MAX;
	while (at != SIZE_MAX && t->row[tree_source_row(r, at)].node != way[0])
		at = tree_parent(r, at);
	if (at == SIZE_MAX)
		return false;
	bool was_open = tree_close(r, at);
	t->source->turn_way(r, way[0]);
	result_changed(r);
	*row = at;
	for (uint32_t i = 0; i + 1 < n && at != SIZE_MAX && (was_open || !apart); i++) {
		tree_open(r, at);
		if (apart)
			break; /* they are one row again */
		at = find_below(r, at, way[i + 1]);
	}
	return true;
}

size_t tree_parent(const struct result *r, size_t row)
{
	struct branch own, b;
	if (!tree_branch(r, row, &own))
		return SIZE_MAX;
	while (row-- > 0)
		if (tree_branch(r, row, &b) && b.depth < own.depth)
			return row;
	return SIZE_MAX;
}

/* --- the accumulation point ------------------------------------------------------------------- */

static uint64_t weight(const struct result *r, uint32_t node, struct text *scratch)
{
	const struct tree *t = r->data;
	struct cell c = cell_none();
	text_clear(scratch);
	t->source->cell(r, node, t->source->weight, &c, scratch);
	return c.type == CELL_NONE ? 0 : c.amount.n;
}

/* The row of the heaviest child, when it weighs most of its parent and is shown; else SIZE_MAX. */
static size_t heavy_child(const struct result *r, size_t row, struct text *scratch)
{
	const struct tree *t = r->data;
	const struct tree_row *parent = &t->row[tree_source_row(r, row)];
	const struct list *l = &t->list[parent->below];
	uint32_t heaviest = REST;
	uint64_t most = 0;
	for (uint32_t i = 0; i < l->n && !result_stopped(r, i); i++) {
		uint64_t w = weight(r, l->node[i], scratch);
		if (w > most || heaviest == REST) {
			most = w;
			heaviest = l->node[i];
		}
	}
	if ((double)most * 100 < (double)weight(r, parent->node, scratch) * DROP_PERCENT)
		return SIZE_MAX;
	for (size_t i = row + 1; i < r->n_rows; i++) {
		const struct tree_row *at = &t->row[tree_source_row(r, i)];
		if (at->depth <= parent->depth)
			break;
		if (at->list == parent->below && at->node == heaviest)
			return i;
	}
	return SIZE_MAX;
}

size_t tree_drop(struct result *r, size_t row, bool *deeper)
{
	struct text scratch = TEXT_INIT;
	*deeper = false;
	for (unsigned level = 0; level < DROP_LEVELS; level++) {
		struct branch b;
		if (!tree_branch(r, row, &b) || b.state == BRANCH_REST)
			break;
		tree_open(r, row);
		if (!tree_branch(r, row, &b) || b.state != BRANCH_OPEN)
			break;
		size_t next = heavy_child(r, row, &scratch);
		if (next == SIZE_MAX)
			break;
		row = next;
		*deeper = level + 1 == DROP_LEVELS;
	}
	text_release(&scratch);
	return row;
}
