/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_plan.c - cut -plan: a few references to clear, as rows.
 */
#include "analysis/what_if/what_if.h"

#include "analysis/paths/paths.h"
#include "command/commands.h"
#include "command/resolve/resolve.h"
#include "command/retention/cut_words.h"
#include "heap/classes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { C_REFERENCE, C_REFERENCES, C_CLASS, C_FIELD, C_ADDRESS, C_TARGET_CLASS, C_FREED, C_ADDS, C_TOTAL };

static const struct column columns[] = {
    [C_REFERENCE] = {.id = COL_REFERENCE, .room = COLUMN_LAST},
    [C_REFERENCES] = {.id = COL_REFERENCES},
    [C_CLASS] = {.id = COL_CLASS, .hidden = true},
    [C_FIELD] = {.id = COL_FIELD, .hidden = true},
    [C_ADDRESS] = {.id = COL_ADDRESS, .hidden = true},
    [C_TARGET_CLASS] = {.id = COL_TARGET_CLASS},
    [C_FREED] = {.id = COL_FREED, .room = COLUMN_LAST},
    [C_ADDS] = {.id = COL_ADDS, .room = COLUMN_LATE},
    [C_TOTAL] = {.id = COL_TOTAL, .room = COLUMN_LAST},
};
static const enum column_id plan_values[] = {
    COL_WANTED, COL_OBJECTS, COL_FREED, COL_SHARE, COL_REACHED};
const struct shape cut_plan_shape = {
    .form = "-plan SIZE", SHAPE_HEAD(plan_values), SHAPE_COLUMNS(columns)};

enum { WORDS_NAMED = 3 }; /* of more references to one object its address stands for all */

static void name_each(struct text *to, const struct session *s, const struct path_rules *rules,
    const struct what_if_edges *edges)
{
	struct text word = TEXT_INIT, field = TEXT_INIT;

	for (size_t i = 0; i < edges->n; i++) {
		text_clear(&word);
		cut_word_of(&word, &field, s, rules, &edges->edge[i]);
		cut_word_quote(&word);
		text_addf(to, "%s%s", i ? " " : "", word.s);
	}
	text_release(&word);
	text_release(&field);
}

static void name_item(struct text *to, struct text *field, const struct session *s,
    const struct path_rules *rules, const struct plan_item *item)
{
	if (item->target != HEAP_NONE && item->edges.n == 1) {
		cut_word_of(to, field, s, rules, &item->edges.edge[0]);
	} else if (item->target != HEAP_NONE && item->edges.n <= WORDS_NAMED) {
		name_each(to, s, rules, &item->edges);
		return;
	} else if (item->target != HEAP_NONE) {
		text_addf(to, "0x%" PRIx64, heap_address(session_heap(s), item->target));
	} else {
		cut_class_word(to, s, item->class);
		text_addf(to, item->field ? ".%s" : ">", item->field);
		if (!item->field)
			cut_class_word(to, s, item->to_class);
		text_add(field, item->field ? item->field : "");
	}
	cut_word_quote(to);
}

static void add_row(struct result *out, const struct session *s, const struct path_rules *rules,
    const struct plan_item *item, uint64_t before)
{
	const struct heap *h = session_heap(s);
	struct text name = TEXT_INIT, field = TEXT_INIT;
	for (size_t i = 0; i < item->edges.n; i++) /* a row stands for what its references lead to */
		result_add_member(out, out->n_source, item->edges.edge[i].target);
	uint32_t holder = item->edges.n ? item->edges.edge[0].holder : HEAP_NONE;
	bool single = item->target != HEAP_NONE, one = single && item->edges.n == 1;
	uint32_t class = item->class;
	if (one && holder != HEAP_NONE) {
		class = heap_class_mirrored(h, holder);
		class = class == HEAP_NONE ? heap_class_index(h, holder) : class;
	}
	uint32_t to_class = single ? heap_class_index(h, item->target) : item->to_class;
	name_item(&name, &field, s, rules, item);
	struct amount adds = item->total;
	adds.n -= before;
	struct target target = {.kind = single ? TARGET_OBJECT : TARGET_CLASS,
	    .id = single ? item->target : item->class, .part = !single};
	result_add_row(out, (struct cell[]){cell_text(name.s), cell_count(amount_exact(item->edges.n)),
	    class != HEAP_NONE ? cell_text(h->classes[class].name) : cell_blank(),
	    field.len ? cell_text(field.s) : cell_blank(),
	    single ? cell_address(heap_address(h, item->target)) : cell_blank(),
	    to_class < h->n_classes ? cell_text(h->classes[to_class].name) : cell_blank(),
	    cell_bytes(item->freed), cell_bytes(adds), cell_bytes(item->total)}, &target);
	text_release(&name);
	text_release(&field);
}

/* An address alone says little: the class that holds, and what makes a root one. */
static void show_holders(struct result *out, const struct what_if_plan *plan)
{
	bool roots = false, instances = false;
	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_item *item = &plan->item[i];
		if (item->target == HEAP_NONE || item->edges.n != 1)
			continue;
		uint32_t holder = item->edges.edge[0].holder;
		roots |= holder == HEAP_NONE;
		instances |= holder != HEAP_NONE && heap_class_mirrored(out->heap, holder) == HEAP_NONE;
	}
	result_show(out, C_FIELD, roots);
	result_show(out, C_CLASS, instances);
}

static void add_head(struct result *out, const struct retained *r, const struct what_if_plan *plan, uint64_t wanted)
{
	bool together = false;
	result_head(out, COL_WANTED, cell_bytes(amount_exact(wanted)));
	result_head(out, COL_OBJECTS, cell_count(plan->objects));
	result_head(out, COL_FREED, cell_bytes(plan->bytes));
	result_head(out, COL_SHARE, command_share(r, plan->bytes));
	result_head(out, COL_REACHED, cell_flag(plan->reached));
	if (!plan->reached && !out->heap->roots_missing)
		result_notef(out, plan->n == PLAN_MOST
		    ? "a plan has at most %zu references, and these do not free enough (see help cut)"
		    : "these %zu references do not free enough; no other one frees more (see help cut)", plan->n);
	for (size_t i = 0; i < plan->n && !together; i++)
		together = !plan->item[i].freed.n;
	if (together)
		result_add_note(out, "rows with freed 0 free memory only together with others");
	command_add_roots_note(out);
	result_mark(out, RESULT_FAILED, !plan->reached);
}

struct planning {
	struct what_if_plan plan;
	const struct retained *retained;
	uint64_t wanted;
};

static int find(void *context, struct progress *progress, struct err *err)
{
	struct planning *p = context;
	return what_if_plan_find(&p->plan, p->retained, p->wanted, progress, err);
}

int command_cut_plan(struct session *s, const struct retained *retained, uint64_t wanted,
    struct result **out, struct err *err)
{
	struct planning p = {.retained = retained, .wanted = wanted};
	struct path_rules rules;
	if (!wanted)
		return err_set(err, ERR_USAGE, "-plan: the size must be above 0 (use 64K, 2M or 1.5G)");
	int code = session_work(s, find, &p, err);
	if (code)
		return code;
	code = path_rules_init(&rules, session_heap(s), true, err);
	if (!code) {
		struct result *r = *out = result_new_rows("plan", s->dump, &cut_plan_shape);
		for (size_t i = 0; i < p.plan.n; i++)
			add_row(r, s, &rules, &p.plan.item[i], i ? p.plan.item[i - 1].total.n : 0);
		show_holders(r, &p.plan);
		add_head(r, retained, &p.plan, wanted);
		path_rules_release(&rules);
	}
	what_if_plan_release(&p.plan);
	return code;
}
