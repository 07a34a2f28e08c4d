/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_cut.c - cut: what dies when references are cleared.
 */
#include "command/commands.h"

#include "analysis/paths/paths.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "command/retention/cut_words.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

/* --- what dies, by class ---------------------------------------------------------------------- */

static const struct column class_columns[] = {{.id = COL_CLASS}, {.id = COL_OBJECTS, .total = true},
    {.id = COL_FREED, .total = true}, {.id = COL_SHARE}};
static const enum column_id lost_values[] = {
    COL_REFERENCES, COL_SET, COL_OBJECTS, COL_FREED, COL_SHARE};
static const struct shape class_shape = {SHAPE_HEAD(lost_values), SHAPE_COLUMNS(class_columns)};

static void add_head(struct result *r, const struct retained *retained, const struct cut_wish *wish,
    const struct what_if_loss *loss)
{
	if (wish->edges.n)
		result_head(r, COL_REFERENCES, cell_count(amount_exact(wish->edges.n)));
	if (wish->n_ids)
		result_head(r, COL_SET, cell_count(heap_count_of(r->heap, wish->ids, wish->n_ids)));
	result_head(r, COL_OBJECTS, cell_count(loss->objects));
	result_head(r, COL_FREED, cell_bytes(loss->bytes));
	result_head(r, COL_SHARE, command_share(retained, loss->bytes));
}

/* Takes the bits of what dies out of loss. */
static int by_class(const struct opened *o, const struct retained *retained, const char *title,
    const struct cut_wish *wish, struct what_if_loss *loss, struct result **out, struct err *err)
{
	const struct heap *h = retained->heap;
	struct sum { uint64_t objects, bytes; } *sum = big_alloc(h->n_classes, sizeof *sum, err);
	if (!sum)
		return ERR_NOMEM;
	for (uint32_t id = 0; id < h->n_objects && !progress_own_stops(id); id++) {
		if (!bits_get(&loss->dead, id))
			continue;
		sum[heap_class_index(h, id)].objects++;
		sum[heap_class_index(h, id)].bytes += heap_shallow(h, id);
	}
	struct result *r = *out = result_new_rows(title, o, &class_shape);
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(c); c++) {
		if (!sum[c].objects)
			continue;
		struct amount freed = heap_held_sized(h, sum[c].bytes, class_size_doubts(h, &h->classes[c]));
		result_add_row(r, (struct cell[]){cell_text(h->classes[c].name),
		    cell_count(heap_held(h, sum[c].objects)), cell_bytes(freed), command_share(retained, freed)},
		    &(struct target){.kind = TARGET_CLASS, .id = c, .part = true});
	}
	result_rows_among(r, &loss->dead);
	big_free(sum);
	result_sort_new(r, COL_FREED, true);
	add_head(r, retained, wish, loss);
	return 0;
}

/* --- each reference by itself ----------------------------------------------------------------- */

enum { E_FIELD, E_ADDRESS, E_CLASS, E_TARGET, E_TARGET_CLASS, E_FREED, E_OTHERS, E_VALUE };

static const struct column each_columns[] = {
    [E_ADDRESS] = {.id = COL_ADDRESS},
    [E_CLASS] = {.id = COL_CLASS},
    [E_FIELD] = {.id = COL_FIELD},
    [E_TARGET] = {.id = COL_TARGET},
    [E_TARGET_CLASS] = {.id = COL_TARGET_CLASS},
    [E_FREED] = {.id = COL_FREED},
    [E_OTHERS] = {.id = COL_OTHERS},
    [E_VALUE] = {.id = COL_VALUE, .hidden = true},
};
static const struct shape each_shape = {.form = "-each", SHAPE_COLUMNS(each_columns)};

struct each_rows {
	const struct retained *retained;
	struct path_rules rules; /* to name fields by */
	struct what_if_edges edges;
	struct what_if_figure *figure;
};

static struct cell holder_cell(const struct result *r,
    const struct each_rows *rows, const struct what_if_edge *e, unsigned column, struct text *scratch)
{
	struct cell cell = cell_blank();
	if (column == E_FIELD && e->holder == HEAP_NONE)
		return cell_text("root");
	if (column == E_FIELD)
		return path_field(&rows->rules, e->holder, e->target, scratch)
		    ? cell_text(scratch->s) : cell_none();
	if (e->holder != HEAP_NONE)
		object_cell(r->opened, e->holder, column == E_ADDRESS ? OBJECT_ADDRESS : OBJECT_CLASS, &cell, scratch);
	return cell;
}

static void each_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct each_rows *rows = r->data;
	const struct what_if_edge *e = &rows->edges.edge[row];
	const struct what_if_figure *f = &rows->figure[row];
	switch (column) {
	case E_TARGET:
		object_cell(r->opened, e->target, OBJECT_ADDRESS, out, scratch);
		return;
	case E_TARGET_CLASS:
		object_cell(r->opened, e->target, OBJECT_CLASS, out, scratch);
		return;
	case E_FREED:
		*out = cell_bytes(f->freed);
		return;
	case E_OTHERS:
		*out = cell_count(f->others);
		return;
	case E_VALUE:
		object_cell(r->opened, e->target, OBJECT_VALUE_IF_ANY, out, scratch);
		return;
	default:
		*out = holder_cell(r, rows, e, column, scratch);
		return;
	}
}

static void each_target(const struct result *r, size_t row, struct target *out)
{
	const struct each_rows *rows = r->data;
	*out = (struct target){.kind = TARGET_OBJECT, .id = rows->edges.edge[row].target};
}

static void each_release(void *data)
{
	struct each_rows *rows = data;
	big_free(rows->figure);
	path_rules_release(&rows->rules);
	what_if_edges_release(&rows->edges);
	free(rows);
}

static const struct result_ops each_ops = {
    .cell = each_cell, .target = each_target, .release = each_release};

/* The holders of a set's objects: each of their references is one. */
static int add_holders(struct cut_wish *wish, const struct heap *h, struct err *err)
{
	int code = 0;
	for (size_t i = 0; !code && i < wish->n_ids && !progress_own_stops(i); i++) {
		uint32_t id = wish->ids[i];
		uint64_t end = adjacency_start(&h->in, id + 1);
		for (uint64_t k = adjacency_start(&h->in, id); !code && k < end; k++)
			code = what_if_edges_add(&wish->edges, h->in.target[k], id, err);
		if (!code && heap_is_root(h, id))
			code = what_if_edges_add(&wish->edges, HEAP_NONE, id, err);
	}
	return code;
}

static int find_each(void *context, struct progress *progress, struct err *err)
{
	enum { REPORT_EVERY = 1 << 12 };
	struct each_rows *rows = context;
	struct what_if cut;
	int code = what_if_init(&cut, rows->retained, err);
	progress_phase(progress, PHASE_CUT_REFERENCES, rows->edges.n);
	for (size_t i = 0; !code && i < rows->edges.n; i++) {
		rows->figure[i] = what_if_one(&cut, rows->edges.edge[i].holder, rows->edges.edge[i].target);
		if (i % REPORT_EVERY == 0 && !progress_add(progress, REPORT_EVERY))
			code = err_cancelled(err);
	}
	what_if_release(&cut);
	return code;
}

static int order_each(struct result **r, const void *context, struct err *err)
{
	(void)context;
	return result_sort(*r, E_FREED, true, err);
}

static int each_one(struct session *s, const struct retained *retained, const char *title,
    struct cut_wish *wish, struct result **out, struct err *err)
{
	struct each_rows *rows = xcalloc(1, sizeof *rows);
	int code = add_holders(wish, retained->heap, err);
	rows->retained = retained;
	rows->edges = wish->edges;
	wish->edges = (struct what_if_edges){.edge = NULL};
	if (!code)
		code = path_rules_init(&rows->rules, retained->heap, true, err);
	if (!code && !(rows->figure = big_alloc(rows->edges.n, sizeof *rows->figure, err)))
		code = ERR_NOMEM;
	if (!code)
		code = session_work(s, find_each, rows, err);
	path_rules_give_back(&rows->rules);
	if (code) {
		each_release(rows);
		return code;
	}
	*out = result_new(title, s->dump, &each_shape, &each_ops, rows, rows->edges.n);
	return session_on_rows(s, out, order_each, NULL, err);
}

/* --- the command ------------------------------------------------------------------------------ */

struct cutting {
	const struct model *model;
	struct cut_wish *wish;
	struct what_if_loss loss;
};

static int find(void *context, struct progress *progress, struct err *err)
{
	struct cutting *c = context;
	return what_if_find(&c->loss, c->model, &c->wish->edges, c->wish->ids, c->wish->n_ids, progress, err);
}

/* "alone: com.acme.Cache.map 1.2M, root>0x7a3e0010 0": what each word means, cut by itself. */
static int add_alone(struct result *r, struct session *s, const char *const *words, size_t n, struct err *err)
{
	struct text note = TEXT_INIT;
	int code = 0;
	text_add(&note, "alone: ");
	for (size_t i = 0; !code && i < n; i++) {
		struct cut_wish one = {.ids = NULL};
		struct cutting c = {.model = &s->dump->model, .wish = &one};
		code = cut_wish_add(&one, s, words[i], err);
		if (!code)
			code = session_work(s, find, &c, err);
		if (!code) {
			text_addf(&note, "%s%s ", i ? ", " : "", words[i]);
			struct cell freed = cell_bytes(c.loss.bytes);
			cell_print(&freed, &note);
			what_if_loss_release(&c.loss);
		}
		cut_wish_release(&one);
	}
	if (!code) {
		if (r->note)
			text_addf(&note, "; %s", r->note);
		r->note = arena_strndup(&r->arena, note.s, note.len);
	}
	text_release(&note);
	return code;
}

static int run_references(struct session *s, const struct call *call, const char *const *words, size_t n,
    const struct retained *retained, struct result **out, struct err *err)
{
	struct cut_wish wish = {.ids = NULL};
	struct cutting c = {.model = &s->dump->model, .wish = &wish};
	struct text title = TEXT_INIT;
	int code = 0;
	text_add(&title, "cut");
	for (size_t i = 0; !code && i < n; i++) {
		text_add_char(&title, ' ');
		set_word_title(s, words[i], &title);
		code = cut_wish_add(&wish, s, words[i], err);
	}
	if (!code && call_has(call, DASH_EACH)) {
		code = each_one(s, retained, title.s, &wish, out, err);
	} else if (!code) {
		code = session_work(s, find, &c, err);
		if (!code) {
			code = by_class(s->dump, retained, title.s, &wish, &c.loss, out, err);
			what_if_loss_release(&c.loss);
		}
	}
	if (!code)
		command_add_roots_note(*out);
	if (!code && n > 1 && !call_has(call, DASH_EACH))
		code = add_alone(*out, s, words, n, err);
	text_release(&title);
	cut_wish_release(&wish);
	return code;
}

static int run_cut(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	int plan = call_option(call, DASH_PLAN);
	const char *const *words = call->words;
	size_t n = call->n_words;
	if (!n && !call->option[plan].given && s->results.selection && s->results.selection->row) {
		s->results.selection->used = true;
		words = (const char *const *)&s->results.selection->row;
		n = 1;
	}
	if (!n && !call->option[plan].given)
		return call_missing(call->command, "REF is missing", "", 1, err);
	if (call->n_words && call->option[plan].given)
		return err_set(err, ERR_USAGE, "-plan takes no references (use cut -plan SIZE)");
	int code = session_find(s, FIND_RETAINED, err);
	const struct retained *retained = opened_retained(s->dump);
	if (!code && call->option[plan].given)
		return command_cut_plan(s, retained, call->option[plan].number, out, err);
	return code ? code : run_references(s, call, words, n, retained, out, err);
}

static const struct option_spec cut_options[] = {
    {DASH_EACH, OPT_FLAG, NULL, "a row per reference, with the bytes it frees alone"},
    {DASH_PLAN, OPT_SIZE, "SIZE", "find references that together free SIZE"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_cut = {
    .name = "cut",
    .arguments = {{ARG_WORDS, "REF...", true}},
    .options = cut_options,
    .flags = COMMAND_CUTS | COMMAND_COUNTS_VALUES | COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED,
    .group = "references and retained sizes",
    .summary = "compute the bytes that clearing references frees",
    .shapes = SHAPES(&class_shape, &each_shape, &cut_plan_shape),
    .description = "REFs are cleared together; the rows are the freed objects by class. The result is exact: objects "
	"that only several REFs hold count once. Weak, final and phantom references hold nothing (unless set weak "
	"on).\n"
	"HOLDER>TARGET\treferences between objects, class patterns or kept sets\n"
	"root>TARGET\treferences of the GC roots, such as the locals of a thread\n"
	"OBJ.field, OBJ[17]\ta field or element\n"
	"CLASS.field\ta static field, or a field of all instances, also of subclasses\n"
	"CLASS.Base.field\tthe field of Base that a subclass hides\n"
	"SET\tevery reference to an object, class pattern or set\n"
	"-plan proposes references: freed is what each frees alone, adds what it frees after the rows above, total "
	"all together. A smaller plan may exist. Exit status 1 if no plan reaches SIZE.",
    .examples = {{"cut -plan 64K", ON_ANY, "which references free 64 KiB?"},
	{"cut 0xE0000AF0", ON_PHD, "what dies without this object?"},
	{"cut com.acme.shop.AuditLog.ENTRIES", ON_SHOP, "what does this static field keep alive?"},
	{"cut java.lang.String>byte[] java.util.HashMap", ON_SHOP}, {"cut java.lang.String>byte[] -each", ON_SHOP}},
    .key = "c",
    .several = "cut",
    .run = run_cut,
};
