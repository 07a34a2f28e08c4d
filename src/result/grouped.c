/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grouped.c - rows of a result that have the same values in some columns, as one row each.
 *
 * The rows are sorted by the keys and, where each stands for one object, by that: so equal ones stand side by side, a
 * group is a stretch of rows, and an object that several rows stand for counts once.  Rows that others contain are not
 * summed, and headings are in no group.  Takes 4 bytes a row, 48 a group and 16 for each number of it.
 */
#include "result/result.h"

#include "algorithms/sort.h"
#include "analysis/what_if/what_if.h"
#include "base/mem.h"
#include "base/progress.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/heap.h"
#include "heap/ids.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "opened/opened.h"

#include <stdlib.h>
#include <string.h>

enum { NO_COLUMN = -1 };

struct group {
	size_t first, end; /* of row */
	uint32_t head;     /* the first of these in the order of the source, a row of from */
	bool retains;      /* some row has a retained size, known or not */
	struct retained_sum retained;
};

struct grouped {
	struct result *from;
	uint32_t *object;   /* by row of from, if each stands for one or none: row_object */
	uint32_t *row;      /* rows of from as shown, those of one group together, those of one object side by side */
	struct group *group;
	size_t n, cap;
	struct view view;
	int source[VIEW_COLUMNS]; /* by column of the view: the column of from, or NO_COLUMN */
	struct amount *number;    /* by group and column of the view: what was counted or summed */
	bool of_objects;    /* each row stands for one object or none */
	bool same_names;    /* groups differ in their classes' loaders alone */
};

/* Has the user had enough?  A row may take thousands of steps to read: so this looks often. */
static bool stops(size_t i)
{
	enum { LOOK_EVERY = 1 << 9 };
	return i % LOOK_EVERY == 0 && progress_cancelled(progress_own());
}

/* The object that a row stands for; HEAP_NONE: none. */
static uint32_t row_object(const struct result *r, size_t row)
{
	struct target t;
	result_target(r, row, &t);
	if (t.kind == TARGET_THREAD)
		return r->heap->threads[t.id].object;
	return t.kind == TARGET_OBJECT && !t.part && t.id < r->heap->n_objects ? t.id : HEAP_NONE;
}

/* Does each row stand for one object or none? */
static bool stands_for_objects(const struct result *r)
{
	if (!r->heap || !result_has_sets(r))
		return false;
	for (size_t row = 0; row < r->n_rows && !stops(row); row++) {
		struct target t;
		result_target(r, row, &t);
		if ((t.kind != TARGET_OBJECT && t.kind != TARGET_THREAD && t.kind != TARGET_NONE) || t.part)
			return false;
	}
	return true;
}

/* May the row's object retain anything?  What the table leaves blank does not. */
static bool row_retains(struct result *r, int column, size_t row)
{
	struct cell cell;
	if (column < 0)
		return true;
	result_cell(r, row, (unsigned)column, &cell);
	return cell.type != CELL_NONE || cell.amount.certainty != EXACT;
}

/* --- finding groups ------------------------------------------------------------------------------- */

static bool same_cell(struct result *r, size_t a, size_t b, unsigned column, struct text *left, struct text *right)
{
	struct cell one, other;
	text_clear(left);
	text_clear(right);
	result_cell(r, a, column, &one);
	enum cell_type type = one.type;
	enum certainty certainty = one.amount.certainty;
	cell_print_plain(&one, left);
	result_cell(r, b, column, &other);
	if (type != other.type || (type == CELL_NONE && certainty != other.amount.certainty))
		return false;
	cell_print_plain(&other, right);
	return left->len == right->len && (!left->len || !memcmp(left->s, right->s, left->len));
}

static bool same_keys(struct grouped *g, size_t a, size_t b, struct text *left, struct text *right)
{
	for (unsigned k = 0; k < g->view.n_columns; k++)
		if (g->view.columns[k].how == VIEW_KEY && !same_cell(g->from, a, b, (unsigned)g->source[k], left, right))
			return false;
	return true;
}

static int by_object(const void *x, const void *y, void *objects)
{
	const uint32_t *object = objects;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint32_t left = object[a], right = object[b];
	return left != right ? (left > right) - (left < right) : (a > b) - (a < b);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Different values of a column of numbers in a group. */
static int count_values(struct grouped *g, const struct group *group, unsigned column, uint64_t *n, struct err *err)
{
	size_t rows = group->end - group->first;
	uint64_t *value = big_alloc(rows, sizeof *value, err);
	for (size_t i = 0; value && i < rows; i++) {
		struct cell cell;
		result_cell_number(g->from, g->row[group->first + i], column, &cell);
		value[i] = cell.amount.n;
	}
	int code = value ? sort(value, rows, sizeof *value, by_number, err) : ERR_NOMEM;
	for (size_t i = 0; i < rows && !code; i++)
		*n += !i || value[i - 1] != value[i];
	big_free(value);
	return code;
}

static struct amount key_amount(struct result *r, size_t row, unsigned column)
{
	struct cell cell;
	result_cell(r, row, column, &cell);
	return cell.amount;
}

static int count_group(struct grouped *g, const struct group *group, unsigned k, struct amount *to, struct err *err)
{
	const struct view_column *c = &g->view.columns[k];
	struct result *r = g->from;
	struct amount counted = amount_as_sure(amount_exact(0), result_count(r));
	struct cell sum = {.amount = c->how == VIEW_KEY ? amount_exact(0) : counted};
	if (c->how == VIEW_SUM)
		sum = result_sum_begin(r, (unsigned)g->source[k]);
	if (c->how == VIEW_DISTINCT) {
		int code = count_values(g, group, (unsigned)g->source[k], &counted.n, err);
		*to = counted;
		return code;
	}
	for (size_t i = group->first; i < group->end && !stops(i); i++) {
		bool again = g->of_objects && i > group->first && g->object[g->row[i]] != HEAP_NONE &&
		    g->object[g->row[i]] == g->object[g->row[i - 1]];
		if (c->how == VIEW_ROWS)
			sum.amount.n++;
		else if (c->how == VIEW_OBJECTS)
			sum.amount.n += !again;
		else if (c->how == VIEW_KEY)
			sum.amount = amount_as_sure(sum.amount, key_amount(r, g->row[i], (unsigned)g->source[k]));
		else if (!again)
			result_sum_row(r, g->row[i], (unsigned)g->source[k], &sum);
	}
	*to = sum.amount;
	return 0;
}

static int count_groups(struct grouped *g, struct err *err)
{
	unsigned n = g->view.n_columns;
	g->number = big_alloc(g->n * n, sizeof *g->number, err);
	if (!g->number)
		return ERR_NOMEM;
	int retained = result_column_of(g->from, COL_RETAINED);
	int code = 0;
	for (size_t i = 0; !code && i < g->n; i++) {
		struct group *group = &g->group[i];
		for (size_t k = group->first; k < group->end && g->of_objects && !group->retains && !stops(k); k++)
			group->retains = g->object[g->row[k]] != HEAP_NONE && row_retains(g->from, retained, g->row[k]);
		if (g->of_objects)
			code = sort_with(g->row + group->first, group->end - group->first, sizeof *g->row, by_object, g->object,
			    err);
		for (unsigned k = 0; !code && k < n; k++) {
			enum view_how how = g->view.columns[k].how;
			if (how != VIEW_FIRST && how != VIEW_RETAINED && how != VIEW_LOADER)
				code = count_group(g, group, k, &g->number[i * n + k], err);
		}
	}
	return code ? code : progress_check(progress_own(), err);
}

static int by_class(const void *x, const void *y, void *grouped)
{
	const struct grouped *g = grouped;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y, left = g->object[a], right = g->object[b];
	left = left == HEAP_NONE ? HEAP_NONE : heap_class_index(g->from->heap, left);
	right = right == HEAP_NONE ? HEAP_NONE : heap_class_index(g->from->heap, right);
	return left != right ? (left > right) - (left < right) : (a > b) - (a < b);
}

static bool has_class(const struct grouped *g)
{
	for (unsigned k = 0; k < g->view.n_columns; k++)
		if (g->view.columns[k].how == VIEW_KEY && g->view.columns[k].of == COL_CLASS)
			return g->of_objects;
	return false;
}

/* Classes of several loaders may have one name: each is a group of its own. */
static int part_classes(struct grouped *g, struct err *err)
{
	const struct heap *h = g->from->heap;
	for (size_t i = 0, n = g->n; i < n; i++) {
		size_t first = g->group[i].first, end = g->group[i].end;
		int code = sort_with(g->row + first, end - first, sizeof *g->row, by_class, g, err);
		if (code)
			return code;
		for (size_t k = first + 1, at = i; k < end; k++) {
			uint32_t a = g->object[g->row[k - 1]], b = g->object[g->row[k]];
			if (a == HEAP_NONE || (b != HEAP_NONE && heap_class_index(h, a) == heap_class_index(h, b)))
				continue;
			if (BIG_ADD(g->group, g->n, g->cap, err, (struct group){.first = k, .end = end, .head = g->row[k]}))
				return ERR_NOMEM;
			g->group[at].end = k;
			at = g->n - 1;
			g->same_names = true;
		}
		g->group[i].head = g->row[first];
	}
	return 0;
}

/* Sorting by keys is stable, so a group's rows stand in their order before it. */
static int by_head(const void *x, const void *y, void *result)
{
	const struct result *r = result;
	uint32_t a = ((const struct group *)x)->head, b = ((const struct group *)y)->head;
	a = r->order ? r->order[a] : a;
	b = r->order ? r->order[b] : b;
	return (a > b) - (a < b);
}

static int find_objects(struct grouped *g, struct err *err)
{
	if (!g->of_objects)
		return 0;
	g->object = big_alloc(g->from->n_rows, sizeof *g->object, err);
	for (size_t row = 0; g->object && row < g->from->n_rows && !stops(row); row++)
		g->object[row] = row_object(g->from, row);
	return g->object ? progress_check(progress_own(), err) : ERR_NOMEM;
}

/* Groups come in the order of their first rows in the source. */
static int find_groups(struct grouped *g, struct err *err)
{
	struct result *r = g->from;
	struct text left = TEXT_INIT, right = TEXT_INIT;
	int code = 0;
	g->row = big_alloc(r->n_rows, sizeof *g->row, err);
	if (!g->row)
		return ERR_NOMEM;
	code = find_objects(g, err);
	size_t n = 0;
	for (uint32_t row = 0; row < r->n_rows && !stops(row); row++)
		if (result_heading(r, row) == NO_HEADING)
			g->row[n++] = row;
	for (size_t i = 0; !code && i < n && !stops(i); i++) {
		bool begins = !i || !same_keys(g, g->row[i - 1], g->row[i], &left, &right);
		struct group *group = begins ? BIG_PUSH(g->group, g->n, g->cap, err) : &g->group[g->n - 1];
		if (!group) {
			code = ERR_NOMEM;
			break;
		}
		if (begins)
			*group = (struct group){.first = i, .head = g->row[i]};
		group->end = i + 1;
	}
	text_release(&left);
	text_release(&right);
	if (!code && has_class(g))
		code = part_classes(g, err);
	if (!code)
		code = sort_with(g->group, g->n, sizeof *g->group, by_head, r, err);
	return code ? code : progress_check(progress_own(), err);
}

/* --- cells ---------------------------------------------------------------------------------------- */

static struct cell retained_cell(const struct result *r, const struct grouped *g, const struct group *group)
{
	const struct retained *known = result_known(r);
	if (!g->of_objects || !group->retains)
		return result_column_of(g->from, COL_RETAINED) < 0 ? cell_none() : cell_blank();
	if (!known)
		return cell_unknown(REASON_NOT_FOUND_YET);
	return cell_bytes(retained_of_members(known, 1, &group->retained));
}

static struct cell loader_cell(const struct grouped *g, const struct group *group)
{
	const struct heap *h = g->from->heap;
	uint32_t id = g->object[group->head];
	return id == HEAP_NONE ? cell_blank() : cell_object_address(h, heap_class_of(h, id)->loader);
}

static void grouped_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct grouped *g = r->data;
	const struct group *group = &g->group[row];
	enum view_how how = g->view.columns[column].how;
	if (how == VIEW_KEY || how == VIEW_FIRST)
		result_read(g->from, group->head, (unsigned)g->source[column], out, scratch);
	if (how == VIEW_KEY && out->type != CELL_NONE) /* one value, in some row less sure */
		out->amount = amount_as_sure(out->amount, g->number[row * g->view.n_columns + column]);
	if (how == VIEW_RETAINED)
		*out = retained_cell(r, g, group);
	else if (how == VIEW_LOADER)
		*out = loader_cell(g, group);
	else if (how != VIEW_KEY && how != VIEW_FIRST)
		*out = (struct cell){.type = column_type(&r->columns[column]),
		    .amount = g->number[row * g->view.n_columns + column]};
	if (out->type != CELL_NONE && out->amount.certainty == UNKNOWN)
		*out = cell_unknown(out->amount.reason);
}

static void grouped_target(const struct result *r, size_t row, struct target *out)
{
	const struct grouped *g = r->data;
	const struct group *group = &g->group[row];
	*out = (struct target){.kind = result_has_sets(g->from) ? TARGET_GROUP : TARGET_NONE};
	if (group->end - group->first == 1)
		result_target(g->from, g->row[group->first], out);
}

static int grouped_members(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct grouped *g = r->data;
	struct bits shown;
	int code = bits_init(&shown, g->from->n_rows, err);
	for (size_t row = 0; !code && row < g->n; row++)
		for (size_t i = g->group[row].first; bits_get(rows, row) && i < g->group[row].end; i++)
			bits_set(&shown, g->row[i]);
	if (!code)
		code = result_members(g->from, &shown, to, err);
	bits_release(&shown);
	return code;
}

static void grouped_release(void *data)
{
	struct grouped *g = data;
	result_free(g->from);
	big_free(g->row);
	big_free(g->object);
	big_free(g->group);
	big_free(g->number);
	free(g);
}

static const struct result_ops ops = {
    .cell = grouped_cell, .target = grouped_target, .release = grouped_release};
static const struct result_ops ops_of_sets = {
    .cell = grouped_cell, .target = grouped_target, .release = grouped_release, .members = grouped_members};

/* result_later */
static int sum_retained(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct grouped *g = r->data;
	int column = result_column_of(g->from, COL_RETAINED);
	size_t n = 0;
	struct what_if_member *member = big_alloc(g->from->n_rows, sizeof *member, err);
	struct retained_sum *sums = member ? big_alloc(g->n, sizeof *sums, err) : NULL;
	int code = sums ? 0 : ERR_NOMEM;
	for (uint32_t row = 0; !code && row < g->n; row++)
		for (size_t i = g->group[row].first; i < g->group[row].end && !progress_stops(progress, i); i++) {
			uint32_t id = row_retains(g->from, column, g->row[i]) ? g->object[g->row[i]] : HEAP_NONE;
			if (id != HEAP_NONE)
				member[n++] = (struct what_if_member){row, id};
		}
	if (!code)
		code = progress_check(progress, err);
	if (!code)
		code = what_if_sum_members(sums, (uint32_t)g->n, member, n, known, err);
	for (size_t row = 0; !code && row < g->n; row++)
		g->group[row].retained = sums[row];
	big_free(member);
	big_free(sums);
	return code;
}

/* --- making --------------------------------------------------------------------------------------- */

static int sort_by_keys(struct result *r, const struct view *v, struct err *err)
{
	int code = 0;
	for (unsigned k = v->n_columns; !code && k > 0; k--)
		if (v->columns[k - 1].how == VIEW_KEY)
			code = result_sort(r, (unsigned)result_column_of(r, v->columns[k - 1].of), false, err);
	return code;
}

static void take_over_words(struct result *out, const struct result *from)
{
	out->note = from->note;
	out->state = from->state & (RESULT_FAILED | RESULT_NONE_ANSWERS | RESULT_OF_VALUES | RESULT_LACKS_ROWS);
	out->warning = from->warning;
}

/* source: by column of the view. */
static int make(struct result **r, const struct view *v, const int *source, const struct column *columns,
    struct err *err)
{
	struct result *from = *r;
	struct grouped *g = xcalloc(1, sizeof *g);
	*g = (struct grouped){.from = from, .view = *v, .of_objects = stands_for_objects(from)};
	memcpy(g->source, source, v->n_columns * sizeof *source);
	int code = find_groups(g, err);
	if (!code)
		code = count_groups(g, err);
	if (code) {
		g->from = NULL;
		grouped_release(g);
		return code;
	}
	struct result *out = result_new(v->title, from->opened, v->shape,
	    result_has_sets(from) ? &ops_of_sets : &ops, g, g->n);
	if (!v->shape) {
		struct column *own = arena_alloc(&out->arena, v->n_columns * sizeof *own);
		struct view_column *of = arena_alloc(&out->arena, v->n_columns * sizeof *of);
		memcpy(own, columns, v->n_columns * sizeof *own);
		memcpy(of, v->columns, v->n_columns * sizeof *of);
		out->columns = own;
		out->n_columns = v->n_columns;
		g->view.columns = of;
		for (unsigned k = 0; k < v->n_columns; k++)
			own[k].hidden &= of[k].how != VIEW_LOADER || !g->same_names;
		out->named_by = columns[0].id;
	}
	for (unsigned k = 0; k < v->n_columns; k++)
		if (v->columns[k].how == VIEW_RETAINED && g->of_objects)
			out->later = sum_retained;
	take_over_words(out, from);
	*r = out;
	return 0;
}

int result_view(struct result **r, const struct view *v, struct err *err)
{
	int source[VIEW_COLUMNS], code = sort_by_keys(*r, v, err);
	for (unsigned k = 0; k < v->n_columns; k++)
		source[k] = v->columns[k].of ? result_column_of(*r, v->columns[k].of) : NO_COLUMN;
	return code ? code : make(r, v, source, NULL, err);
}

static bool is_among(const unsigned *keys, unsigned n, unsigned column)
{
	for (unsigned k = 0; k < n; k++)
		if (keys[k] == column)
			return true;
	return false;
}

int result_group_by(struct result **r, const unsigned *keys, unsigned n, struct err *err)
{
	struct result *from = *r;
	struct view_column how[VIEW_COLUMNS];
	struct column columns[VIEW_COLUMNS];
	int source[VIEW_COLUMNS], code = 0;
	struct view v = {.columns = how};
	struct text title = TEXT_INIT;
	if (n > VIEW_COLUMNS / 2)
		return err_set(err, ERR_USAGE, "too many columns to group by (%d at most)", VIEW_COLUMNS / 2);
	for (unsigned k = n; !code && k > 0; k--)
		code = result_sort(from, keys[k - 1], false, err);
	if (code)
		return code;
	text_add(&title, from->title);
	for (unsigned k = 0; k < n; k++) {
		columns[v.n_columns] = from->columns[keys[k]];
		columns[v.n_columns].hidden = columns[v.n_columns].total = false;
		source[v.n_columns] = (int)keys[k];
		how[v.n_columns++] = (struct view_column){VIEW_KEY, columns[k].id};
		text_addf(&title, "%s%s", k ? ", " : " by ", column_word(&from->columns[keys[k]]));
	}
	bool objects = stands_for_objects(from), retained = objects && result_column_of(from, COL_RETAINED) >= 0;
	int class = result_column_of(from, COL_CLASS);
	if (objects && class >= 0 && is_among(keys, n, (unsigned)class) && result_column_of(from, COL_LOADER) < 0) {
		columns[v.n_columns] = (struct column){.id = COL_LOADER, .hidden = true};
		source[v.n_columns] = NO_COLUMN;
		how[v.n_columns++] = (struct view_column){VIEW_LOADER, COL_OWN_NAME};
	}
	unsigned rows = v.n_columns;
	columns[rows] = (struct column){.id = COL_ROWS, .total = true};
	source[rows] = NO_COLUMN;
	how[v.n_columns++] = (struct view_column){VIEW_ROWS, COL_OWN_NAME};
	for (unsigned c = 0; c < from->n_columns && v.n_columns + 1 < VIEW_COLUMNS; c++) {
		if (!from->columns[c].total || is_among(keys, n, c) || (retained && from->columns[c].id == COL_RETAINED))
			continue;
		columns[v.n_columns] = from->columns[c];
		source[v.n_columns] = (int)c;
		how[v.n_columns++] = (struct view_column){VIEW_SUM, from->columns[c].id};
	}
	if (retained) {
		columns[v.n_columns] = (struct column){.id = COL_RETAINED, .hidden = true};
		source[v.n_columns] = NO_COLUMN;
		how[v.n_columns++] = (struct view_column){VIEW_RETAINED, COL_OWN_NAME};
	}
	v.title = title.s;
	code = make(r, &v, source, columns, err);
	text_release(&title);
	return code ? code : result_sort(*r, rows, true, err);
}
