/* SPDX-License-Identifier: GPL-3.0-or-later */
/* references_of_set.c - see references_of_set.h. */
#include "command/retention/references_of_set.h"

#include "analysis/describe/describe.h"
#include "base/amount.h"
#include "base/progress.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "result/objects.h"

#define AMOUNTS {.id = COL_REFERENCES}, {.id = COL_OBJECTS}, {.id = COL_SHALLOW}, {.id = COL_RETAINED, .hidden = true}
static const struct column by_class[] = {{.id = COL_DIRECTION}, {.id = COL_CLASS}, AMOUNTS};
static const struct column by_field[] = {{.id = COL_DIRECTION}, {.id = COL_CLASS}, {.id = COL_FIELD}, AMOUNTS};
static const struct column by_holder[] = {{.id = COL_DIRECTION}, {.id = COL_ADDRESS}, {.id = COL_CLASS},
    {.id = COL_FIELD}, AMOUNTS};
const struct shape set_by_class_shape = {.form = "-by class", SHAPE_COLUMNS(by_class)};
const struct shape set_by_field_shape = {.form = "-by field", SHAPE_COLUMNS(by_field)};
const struct shape set_by_holder_shape = {.form = "-by holder", SHAPE_COLUMNS(by_holder)};

/* --- rows --------------------------------------------------------------------------------------- */

/* What leaves objects stands in their records; who refers to them may be anywhere. */
static struct amount counted(const struct heap *h, unsigned way, uint64_t n)
{
	return way ? heap_counted(h, n) : amount_exact(n);
}

static void add_row(struct result *r, const struct set_references *s, const struct references_group *g, unsigned way,
    enum references_by by)
{
	const struct heap *h = r->heap;
	size_t n = g->end - g->first;
	struct cell cells[8];
	unsigned at = 0;
	const char *field = numbered_name(s->names, g->field);
	cells[at++] = cell_text(direction_word(way ? DIRECTION_IN : DIRECTION_OUT));
	if (by == REFERENCES_BY_HOLDER)
		cells[at++] = cell_address(heap_address(h, g->holder));
	cells[at++] = cell_text(h->classes[g->class].name);
	if (by != REFERENCES_BY_CLASS)
		cells[at++] = *field ? cell_text(field) : cell_none();
	cells[at++] = cell_count(counted(h, way, g->references));
	cells[at++] = cell_count(counted(h, way, n));
	cells[at++] = cell_bytes(amount_as_sure(heap_size_of(h, s->object + g->first, n), counted(h, way, 0)));
	cells[at] = cell_blank(); /* when looked at */
	for (size_t i = 0; i < n; i++)
		result_add_member(r, r->n_source, s->object[g->first + i]);
	result_add_row(r, cells, &(struct target){.kind = n == 1 ? TARGET_OBJECT : TARGET_GROUP,
	    .id = n == 1 ? s->object[g->first] : 0});
}

void command_sort_directions(struct result *r, enum column_id column)
{
	result_sort_new(r, column, true);
	result_sort_new(r, COL_DIRECTION, true);
	r->sorted_by = -1;
}

static const struct shape *const shapes[] = {[REFERENCES_BY_CLASS] = &set_by_class_shape,
    [REFERENCES_BY_FIELD] = &set_by_field_shape, [REFERENCES_BY_HOLDER] = &set_by_holder_shape};

int references_of_set(struct session *s, const struct references_of *what, struct result **out, struct err *err)
{
	struct result *r = *out = result_new_rows(what->title, s->dump, shapes[what->by]);
	int code = 0;
	for (unsigned way = 0; !code && way < 2; way++) {
		struct set_references found;
		if (!(way ? what->in : what->out))
			continue;
		code = set_references_find(&found, r->heap, what->ids, what->n, way, what->by, what->only, session_progress(s),
		    err);
		for (uint32_t i = 0; !code && i < found.n && !progress_own_stops(i); i++)
			add_row(r, &found, &found.group[i], way, what->by);
		if (!code)
			set_references_release(&found);
	}
	result_sum_members(r);
	command_sort_directions(r, COL_REFERENCES);
	return code;
}
