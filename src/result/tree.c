/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.c - see tree.h.
 *
 * Every open node has a list of its children in the order shown; the rows are those lists, each
 * inserted after its node.  There is no recursion, because a tree may be as deep as the heap is
 * large.  Memory: 20 bytes for each row, and 4 for each child of an open node.
 */
#include "result/tree.h"
#include "result/tree_rows.h"

#include "algorithms/sort.h"
#include "base/assert.h"
#include "base/mem.h"
#include "memory/big.h"
#include "opened/opened.h"

#include <stdlib.h>
#include <string.h>

#define INDENT_MOST 30        /* levels that people see by blanks */

void *tree_data(const struct result *r)
{
	return ((struct tree *)r->data)->data;
}

/* --- lists ------------------------------------------------------------------------------------ */

void tree_free_list(struct list *l)
{
	big_free(l->node);
	free(l->rest);
	*l = (struct list){.n = 0};
}

/* By what its sums were made: to tell whether more is known since. */
static const struct retained *known_to(const struct result *r)
{
	return r->later ? result_known(r) : opened_tree(r->opened);
}

bool tree_sum_rest(const struct result *r, struct list *l, uint32_t from)
{
	const struct tree *t = r->data;
	struct text scratch = TEXT_INIT;
	bool stopped = false;
	struct cell *sums = from < l->n ? xcalloc(r->n_columns, sizeof *sums) : NULL;
	for (unsigned c = 0; sums && c < r->n_columns && !stopped; c++) {
		struct cell sum = result_sum_begin(r, c);
		for (uint32_t i = from; r->columns[c].total && i < l->n && !(stopped = result_stopped(r, i)); i++) {
			struct cell one = cell_none();
			text_clear(&scratch);
			t->source->cell(r, l->node[i], c, &one, &scratch);
			result_sum(&sum, &one);
		}
		sums[c] = r->columns[c].total ? sum : cell_blank();
	}
	text_release(&scratch);
	if (stopped) {
		free(sums);
		return false;
	}
	free(l->rest);
	l->rest = sums;
	l->known = known_to(r);
	return true;
}

struct sorting {
	const struct result *r;
	const struct list *list;
};

static void list_cell(
    const struct result *table, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct sorting *s = table->data;
	const struct tree *t = s->r->data;
	t->source->cell(s->r, s->list->node[row], column, out, scratch);
}

/* The nodes of a list in this order, by the sorter that tables have: the list becomes a table for a moment.  NULL:
 * an error. */
static uint32_t *sorted_nodes(
    const struct result *r, const struct list *l, unsigned column, bool descending, struct err *err)
{
	static const struct result_ops ops = {.cell = list_cell};
	struct sorting s = {r, l};
	struct result table = {
	    .heap = r->heap,
	    .columns = r->columns,
	    .n_columns = r->n_columns,
	    .ops = &ops,
	    .data = &s,
	    .n_source = l->n,
	    .n_rows = l->n,
	    .stop = r->stop,
	    .stop_context = r->stop_context,
	};
	int code = result_sort(&table, column, descending, err);
	for (uint32_t i = 0; !code && i < l->n; i++)
		table.order[i] = l->node[table.order[i]];
	text_release(&table.scratch);
	return code ? NULL : table.order;
}

void tree_ready(const struct result *r, const struct list *l, uint32_t from)
{
	const struct tree *t = r->data;
	struct err err = ERR_INIT;
	if (!t->source->ready || !t->at_once) /* nobody waits to see them all */
		return;
	for (uint32_t i = from; i < l->shown && !progress_own_stops(8 * (uint64_t)i); i++) {
		if (t->source->ready(r, l->node[i], &err))
			return;
	}
}

int tree_fill_list(const struct result *r, uint32_t node, struct list *out, struct err *err)
{
	const struct tree *t = r->data;
	uint32_t n = t->source->children(r, node, NULL);
	*out = (struct list){.node = big_alloc(n, sizeof *out->node, err), .n = n,
	    .shown = t->at_once && n > t->at_once ? t->at_once : n};
	if (!out->node)
		return ERR_NOMEM;
	t->source->children(r, node, out->node);
	if (r->sorted_by >= 0 && n > 1) {
		uint32_t *sorted = sorted_nodes(r, out, (unsigned)r->sorted_by, r->descending, err);
		big_free(out->node);
		out->node = sorted;
	}
	if (out->node)
		tree_ready(r, out, 0);
	int code = !out->node ? err->code : progress_check(progress_own(), err);
	if (!code && r->sorted_by >= 0 && !tree_sum_rest(r, out, out->shown)) /* else it may be sorted first */
		code = err_cancelled(err);
	if (code)
		tree_free_list(out);
	return code;
}

uint32_t tree_new_list(struct result *r, uint32_t node)
{
	struct tree *t = r->data;
	struct err err = ERR_INIT;
	struct list list = {.n = 0};
	int code = t->source->open ? t->source->open(r, node, &err) : 0;
	if (!code)
		code = tree_fill_list(r, node, &list, &err);
	struct list *l = code ? NULL : BIG_PUSH(t->list, t->n_list, t->cap_list, &err);
	if (!l) {
		tree_free_list(&list);
		result_lost(r, &err);
		return NO_LIST;
	}
	*l = list;
	return (uint32_t)t->n_list - 1;
}

/* --- rows as a result ------------------------------------------------------------------------- */

static void tree_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct tree *t = r->data;
	const struct tree_row *at = &t->row[row];
	if (at->node != REST) {
		t->source->cell(r, at->node, column, out, scratch);
		if (t->source->depth && column == t->source->depth)
			*out = cell_plain(at->depth);
	} else {
		struct list *l = &t->list[at->list];
		if (!l->rest || l->known != known_to(r)) /* was never sorted, or was before */
			(void)!tree_sum_rest(r, l, l->shown);
		*out = l->rest ? l->rest[column] : cell_none();
		if (column == t->source->branch) {
			text_add(scratch, "and ");
			text_add_count(scratch, l->n - l->shown);
			text_add(scratch, " more");
			*out = cell_text(scratch->s);
		}
	}
	if (column == t->source->branch && !r->flat)
		out->indent = 2 * (at->depth < INDENT_MOST ? at->depth : INDENT_MOST);
}

static void tree_target(const struct result *r, size_t row, struct target *out)
{
	const struct tree *t = r->data;
	const struct list *l = &t->list[t->row[row].list];
	if (t->row[row].node != REST) {
		t->source->target(r, t->row[row].node, out);
		return;
	}
	/* all that have no row yet, where those are objects */
	t->source->target(r, l->node[l->shown], out);
	bool none = out->kind == TARGET_COMMAND || out->kind == TARGET_NONE;
	*out = (struct target){.kind = none ? TARGET_NONE : TARGET_GROUP, .part = !none};
}

/* The nodes that rows stand for: the rest's row for all that have none. */
static uint32_t *nodes_of_rows(
    const struct tree *t, const struct bits *rows, size_t *n, struct err *err)
{
	uint64_t most = 0;
	for (size_t i = 0; i < t->n_row; i++) {
		const struct list *l = &t->list[t->row[i].list];
		most += !bits_get(rows, i) ? 0 : t->row[i].node == REST ? l->n - l->shown : 1;
	}
	uint32_t *nodes = big_alloc(most, sizeof *nodes, err);
	*n = 0;
	for (size_t i = 0; nodes && i < t->n_row; i++) {
		const struct list *l = &t->list[t->row[i].list];
		if (!bits_get(rows, i))
			continue;
		if (t->row[i].node != REST)
			nodes[(*n)++] = t->row[i].node;
		for (uint32_t k = l->shown; t->row[i].node == REST && k < l->n; k++)
			nodes[(*n)++] = l->node[k];
	}
	return nodes;
}

static int tree_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct tree *t = r->data;
	struct implied implied;
	size_t n;
	uint32_t *nodes = nodes_of_rows(t, rows, &n, err);
	int code;
	if (!nodes)
		return ERR_NOMEM;
	if (t->source->members) {
		code = t->source->members(r, nodes, n, to, err);
	} else {
		code = implied_begin(&implied, r->heap, to, err);
		for (size_t i = 0; !code && i < n; i++) {
			struct target target = {.kind = TARGET_NONE};
			t->source->target(r, nodes[i], &target);
			implied_add(&implied, &target);
		}
		implied_end(&implied);
	}
	big_free(nodes);
	return code;
}

static void release(void *data)
{
	struct tree *t = data;
	for (size_t i = 0; i < t->n_list; i++)
		tree_free_list(&t->list[i]);
	if (t->source->release)
		t->source->release(t->data);
	big_free(t->list);
	big_free(t->row);
	free(t);
}

/* A row's numbers contain those of the rows below it. */
static bool within(const struct result *r, size_t row)
{
	return ((const struct tree *)r->data)->row[row].depth > 0;
}

static enum row_heading tree_heading(const struct result *r, size_t row)
{
	const struct tree *t = r->data;
	bool none = !t->source->heading || t->row[row].node == REST;
	return none ? NO_HEADING : t->source->heading(r, t->row[row].node);
}

static const struct result_ops tree_ops = {
    .cell = tree_cell, .target = tree_target, .heading = tree_heading, .release = release, .members = tree_members};

bool tree_is(const struct result *r)
{
	return r->ops == &tree_ops && !r->flat;
}

unsigned tree_column(const struct result *r)
{
	return ((const struct tree *)r->data)->source->branch;
}

size_t tree_source_row(const struct result *r, size_t row)
{
	return r->order ? r->order[row] : row;
}

bool tree_branch(const struct result *r, size_t row, struct branch *out)
{
	if (!tree_is(r) || row >= r->n_rows)
		return false;
	const struct tree *t = r->data;
	const struct tree_row *at = &t->row[tree_source_row(r, row)];
	out->depth = at->depth;
	out->state = at->node == REST                                  ? BRANCH_REST
		     : at->below != NO_LIST                            ? BRANCH_OPEN
		     : t->source->children(r, at->node, NULL) > 0      ? BRANCH_CLOSED
								       : BRANCH_LEAF;
	return true;
}

uint64_t tree_key(const struct result *r, size_t row)
{
	const struct tree_row *at = &((const struct tree *)r->data)->row[tree_source_row(r, row)];
	return (uint64_t)at->list << 32 | at->node;
}

/* --- making rows ------------------------------------------------------------------------------ */

/* Lists that were open before the rows are made anew. */
struct open_branch {
	uint32_t list, node, below;
};

static int by_place(const void *x, const void *y)
{
	const struct open_branch *a = x, *b = y;
	if (a->list != b->list)
		return a->list < b->list ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static struct open_branch *all_opened(const struct tree *t, size_t *n, struct err *err)
{
	struct open_branch *out;
	*n = 0;
	for (size_t i = 0; i < t->n_row; i++)
		*n += t->row[i].below != NO_LIST;
	out = big_alloc(*n, sizeof *out, err);
	*n = 0;
	for (size_t i = 0; out && i < t->n_row; i++) {
		const struct tree_row *row = &t->row[i];
		if (row->below != NO_LIST)
			out[(*n)++] = (struct open_branch){row->list, row->node, row->below};
	}
	if (out && sort(out, *n, sizeof *out, by_place, err)) {
		big_free(out);
		return NULL;
	}
	return out;
}

struct place {
	uint32_t list, next;
};

/* The list below a node: open before, or open because it stands high enough. */
static uint32_t list_below(struct result *r, const struct tree_row *row, uint32_t levels,
    const struct open_branch *opened, size_t n_opened)
{
	struct tree *t = r->data;
	const struct open_branch key = {.list = row->list, .node = row->node};
	const struct open_branch *found =
	    find_sorted(&key, opened, n_opened, sizeof *opened, by_place);
	if (found)
		return found->below;
	if (row->depth + 1 < levels && t->source->children(r, row->node, NULL))
		return tree_new_list(r, row->node);
	return NO_LIST;
}

/* The rows that are being made. */
struct rows {
	struct tree_row *row;
	size_t n, cap;
	struct place *place; /* where the current row stands: in each list above it, and its own */
	size_t n_place, cap_place;
};

static int add_row(struct rows *to, const struct tree_row *row, struct err *err)
{
	return BIG_ADD(to->row, to->n, to->cap, err, *row);
}

static int go_down(struct rows *to, uint32_t list, struct err *err)
{
	return BIG_ADD(to->place, to->n_place, to->cap_place, err, (struct place){list, 0});
}

/* All rows, from list 0 on. */
static int walk_rows(struct result *r, uint32_t levels, const struct open_branch *opened,
    size_t n_opened, struct rows *to, struct err *err)
{
	struct tree *t = r->data;
	int code = go_down(to, 0, err);
	for (uint64_t rounds = 0; !code && to->n_place > 0; rounds++) {
		if (progress_own_stops(8 * rounds))
			return err_cancelled(err);
		struct place *p = &to->place[to->n_place - 1];
		struct list *l = &t->list[p->list];
		uint32_t depth = (uint32_t)to->n_place - 1;
		if (p->next >= l->shown) {
			if (l->shown < l->n)
				code = add_row(to, &(struct tree_row){REST, depth, p->list, NO_LIST}, err);
			to->n_place--;
			continue;
		}
		struct tree_row row = {l->node[p->next++], depth, p->list, NO_LIST};
		row.below = list_below(r, &row, levels, opened, n_opened);
		code = add_row(to, &row, err);
		if (!code && row.below != NO_LIST)
			code = go_down(to, row.below, err);
	}
	return code;
}

/* All rows anew; without the memory they stay as they are, and the result remembers that. */
void tree_make_rows(struct result *r, uint32_t levels)
{
	struct tree *t = r->data;
	struct err err = ERR_INIT;
	struct rows rows = {.row = NULL};
	size_t n_opened;
	struct open_branch *opened = all_opened(t, &n_opened, &err);
	if (!opened || !t->n_list || walk_rows(r, levels, opened, n_opened, &rows, &err) < 0) {
		big_free(rows.row);
		result_lost(r, &err);
	} else {
		big_free(t->row);
		t->row = rows.row;
		t->n_row = rows.n;
		t->cap_row = rows.cap;
		big_free(r->order);
		r->order = NULL;
		r->n_source = r->n_rows = t->n_row;
		result_changed(r);
	}
	big_free(opened);
	big_free(rows.place);
}

struct result *tree_result(const char *title, const struct opened *opened, const struct shape *shape,
    const struct tree_source *source, void *data, uint32_t at_once)
{
	struct tree *t = xcalloc(1, sizeof *t);
	t->source = source;
	t->data = data;
	t->at_once = at_once;
	struct result *r = result_new(title, opened, shape, &tree_ops, t, 0);
	r->within = within;
	r->named_by = COL_OWN_NAME; /* rows count what stands below them */
	tree_new_list(r, TREE_TOP);
	tree_make_rows(r, 1);
	return r;
}

void tree_open_levels(struct result *r, uint32_t levels)
{
	tree_make_rows(r, levels);
}

/* --- sorting ---------------------------------------------------------------------------------- */

struct tree_draft {
	struct list *list; /* their nodes and sums; a list without nodes stays as it is */
	size_t n_list;
	unsigned column;
	bool descending;
};

void tree_drop_draft(struct tree_draft *d)
{
	for (size_t i = 0; d && i < d->n_list; i++)
		tree_free_list(&d->list[i]);
	if (d)
		big_free(d->list);
	free(d);
}

/* Cells asked for: all children are looked at, and once more where their order is made of that. */
static uint64_t looks(const struct tree *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->n_list; i++)
		n += 2 * (uint64_t)t->list[i].n;
	return n;
}

struct tree_draft *tree_draft_sorted(const struct result *r, unsigned column, bool descending, struct err *err)
{
	const struct tree *t = r->data;
	struct tree_draft *d = xcalloc(1, sizeof *d);
	struct err own = ERR_INIT;
	int code = 0;
	*d = (struct tree_draft){.n_list = t->n_list, .column = column, .descending = descending};
	d->list = big_alloc(t->n_list, sizeof *d->list, &own);
	if (!d->list) {
		d->n_list = 0;
		code = ERR_NOMEM;
	}
	if (r->stop)
		progress_phase(progress_own(), PHASE_SORT_ROWS, looks(t));
	for (size_t i = 0; !code && i < t->n_list; i++) {
		struct list *l = &d->list[i];
		if (progress_own_stops(8 * i))
			code = err_cancelled(&own);
		if (code || t->list[i].n < 2)
			continue;
		*l = (struct list){.n = t->list[i].n, .shown = t->list[i].shown,
		    .node = sorted_nodes(r, &t->list[i], column, descending, &own)};
		code = !l->node ? own.code : tree_sum_rest(r, l, l->shown) ? 0 : err_cancelled(&own);
	}
	if (code) {
		tree_drop_draft(d);
		d = NULL;
		if (err)
			*err = own;
	}
	return d;
}

void tree_adopt(struct result *r, struct tree_draft *d)
{
	struct tree *t = r->data;
	cairn_assert(d->n_list == t->n_list);
	r->sorted_by = (int)d->column;
	r->descending = d->descending;
	for (size_t i = 0; i < d->n_list; i++) {
		if (!d->list[i].node)
			continue;
		struct list old = t->list[i];
		t->list[i] = d->list[i];
		d->list[i] = old;
		if (old.shown < old.n) /* others have rows now */
			tree_ready(r, &t->list[i], 0);
	}
	tree_drop_draft(d);
	tree_make_rows(r, 1);
}

void tree_sort(struct result *r, unsigned column, bool descending)
{
	struct err err = ERR_INIT;
	struct tree_draft *d = tree_draft_sorted(r, column, descending, &err);
	if (d)
		tree_adopt(r, d);
	else
		result_lost(r, &err);
}
