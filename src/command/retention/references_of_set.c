/* SPDX-License-Identifier: GPL-3.0-or-later */
/* references_of_set.c - see references_of_set.h. */
#include "command/retention/references_of_set.h"

#include "algorithms/sort.h"
#include "analysis/what_if/what_if.h"
#include "base/amount.h"
#include "base/mem.h"
#include "command/commands.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "result/objects.h"

#include <stdlib.h>
#include <string.h>

#define AMOUNTS {.id = COL_REFERENCES}, {.id = COL_OBJECTS}, {.id = COL_SHALLOW}, {.id = COL_RETAINED, .hidden = true}
static const struct column by_class[] = {{.id = COL_DIRECTION}, {.id = COL_CLASS}, AMOUNTS};
static const struct column by_field[] = {{.id = COL_DIRECTION}, {.id = COL_CLASS}, {.id = COL_FIELD}, AMOUNTS};
static const struct column by_holder[] = {{.id = COL_DIRECTION}, {.id = COL_ADDRESS}, {.id = COL_CLASS},
    {.id = COL_FIELD}, AMOUNTS};
const struct shape set_by_class_shape = {.form = "-by class", SHAPE_COLUMNS(by_class)};
const struct shape set_by_field_shape = {.form = "-by field", SHAPE_COLUMNS(by_field)};
const struct shape set_by_holder_shape = {.form = "-by holder", SHAPE_COLUMNS(by_holder)};

/* The groups of one direction or of both, and the group of each row. */
struct set_rows {
	struct set_references way[2]; /* out, in */
	struct row_of {
		unsigned way;
		uint32_t group;
	} *row;
	size_t n, cap;
};

static int members(const struct result *r, void *data, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct set_rows *s = data;
	(void)r, (void)err;
	for (size_t i = 0; i < s->n; i++) {
		const struct set_references *way = &s->way[s->row[i].way];
		const struct references_group *g = &way->group[s->row[i].group];
		for (uint64_t at = g->first; bits_get(rows, i) && at < g->end; at++)
			bits_set(to, way->object[at]);
	}
	return 0;
}

static void release(void *data)
{
	struct set_rows *s = data;
	set_references_release(&s->way[0]);
	set_references_release(&s->way[1]);
	free(s->row);
	free(s);
}

/* --- what the objects of a group retain --------------------------------------------------------- */

static int by_number(const void *x, const void *y, void *cut)
{
	const struct what_if_span *span = ((const struct what_if *)cut)->span;
	uint32_t a = span[*(const uint32_t *)x].from, b = span[*(const uint32_t *)y].from;
	return (a > b) - (a < b);
}

/* Of the objects the topmost: in the tree's order of numbers each that is not below the one before. */
static int sum_retained(struct what_if *cut, const uint32_t *ids, size_t n, uint32_t *room, struct retained_sum *sum,
    struct err *err)
{
	const struct retained *r = cut->retained;
	uint32_t below = 0;
	size_t kept = 0;
	*sum = (struct retained_sum){.bytes = 0};
	for (size_t i = 0; i < n; i++)
		if (r->dominators.immediate[ids[i]] != NOT_REACHABLE)
			room[kept++] = ids[i];
	int code = sort_with(room, kept, sizeof *room, by_number, cut, err);
	for (size_t i = 0; !code && i < kept; i++) {
		const struct what_if_span *span = &cut->span[room[i]];
		if (i && span->from <= below)
			continue;
		below = span->to;
		retained_sum_add(r, sum, room[i]);
	}
	return code;
}

/* --- rows --------------------------------------------------------------------------------------- */

struct adding {
	struct session *session;
	struct result *result;
	struct set_rows *rows;
	enum references_by by;
	struct what_if cut;    /* retained NULL: what they retain is not known */
	uint32_t *room;    /* for sum_retained */
};

/* What leaves objects stands in their records; who refers to them may be anywhere. */
static struct amount counted(const struct heap *h, unsigned way, uint64_t n)
{
	return way ? heap_counted(h, n) : amount_exact(n);
}

static int add_row(struct adding *a, unsigned way, uint32_t number, struct err *err)
{
	const struct set_references *s = &a->rows->way[way];
	const struct references_group *g = &s->group[number];
	const struct heap *h = session_heap(a->session);
	size_t n = g->end - g->first;
	struct retained_sum sum;
	struct cell cells[8];
	unsigned at = 0;
	int code = a->cut.retained ? sum_retained(&a->cut, s->object + g->first, n, a->room, &sum, err) : 0;
	if (code)
		return code;
	const char *field = numbered_name(s->names, g->field);
	cells[at++] = cell_text(direction_word(way ? DIRECTION_IN : DIRECTION_OUT));
	if (a->by == REFERENCES_BY_HOLDER)
		cells[at++] = cell_address(heap_address(h, g->holder));
	cells[at++] = cell_text(h->classes[g->class].name);
	if (a->by != REFERENCES_BY_CLASS)
		cells[at++] = *field ? cell_text(field) : cell_none();
	cells[at++] = cell_count(counted(h, way, g->references));
	cells[at++] = cell_count(counted(h, way, n));
	cells[at++] = cell_bytes(amount_as_sure(heap_size_of(h, s->object + g->first, n), counted(h, way, 0)));
	cells[at++] = a->cut.retained ? command_retained_sum(a->session->dump, &sum) : cell_unknown(REASON_NOT_FOUND_YET);
	bool one = n == 1;
	result_add_row(a->result, cells, &(struct target){.kind = one ? TARGET_OBJECT : TARGET_GROUP,
	    .id = one ? s->object[g->first] : 0});
	VEC_PUSH(a->rows->row, a->rows->n, a->rows->cap) = (struct row_of){way, number};
	return 0;
}

static int add_way(struct adding *a, unsigned way, struct err *err)
{
	const struct set_references *s = &a->rows->way[way];
	uint64_t most = 0;
	for (uint32_t i = 0; i < s->n; i++)
		most = s->group[i].end - s->group[i].first > most ? s->group[i].end - s->group[i].first : most;
	a->room = big_alloc(most, sizeof *a->room, err);
	int code = a->room ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; !code && i < s->n; i++) {
		if (progress_stops(session_progress(a->session), i))
			code = err_cancelled(err);
		else
			code = add_row(a, way, i, err);
	}
	big_free(a->room);
	return code;
}

static const struct shape *const shapes[] = {[REFERENCES_BY_CLASS] = &set_by_class_shape,
    [REFERENCES_BY_FIELD] = &set_by_field_shape, [REFERENCES_BY_HOLDER] = &set_by_holder_shape};

int references_of_set(struct session *s, const struct references_of *what, struct result **out, struct err *err)
{
	struct set_rows *rows = xcalloc(1, sizeof *rows);
	struct result *r = result_new_rows(what->title, s->dump, shapes[what->by]);
	struct adding a = {.session = s, .result = r, .rows = rows, .by = what->by};
	const struct retained *known = opened_retained(s->dump);
	int code = 0;
	result_rows_members(r, members, release, rows);
	for (unsigned way = 0; !code && way < 2; way++)
		if (way ? what->in : what->out)
			code = set_references_find(&rows->way[way], session_heap(s), what->ids, what->n, way, what->by,
			    what->only, session_progress(s), err);
	if (!code && known && !(code = what_if_init(&a.cut, known, err)))
		code = what_if_number(&a.cut, err);
	for (unsigned way = 0; !code && way < 2; way++)
		code = add_way(&a, way, err);
	if (a.cut.retained)
		what_if_release(&a.cut);
	if (code) {
		result_free(r);
		return code;
	}
	result_sort_new(r, COL_REFERENCES, true); /* within their direction */
	result_sort_new(r, COL_DIRECTION, true);
	r->sorted_by = -1;
	*out = r;
	return 0;
}
