/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_waste.c - waste: memory that does no work, by kind, and who holds it.
 */
#include "analysis/waste/waste.h"

#include "base/mem.h"
#include "command/commands.h"
#include "command/table_options.h"
#include "dump/reader.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/library.h"
#include "result/objects.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

#define WASTED {.id = COL_WASTED, .total = true, .room = COLUMN_LAST}, {.id = COL_SHARE, .total = true}
#define AMOUNTS {.id = COL_OBJECTS, .total = true}, {.id = COL_WITH_PARTS, .total = true}, WASTED
#define OF_KIND {.id = COL_KIND, .hidden = true} /* the title says it */
static const struct column all_columns[] = {{.id = COL_KIND}, AMOUNTS, {.id = COL_MEANING, .hidden = true}};
static const struct column by_field[] = {OF_KIND, {.id = COL_FIELD}, {.id = COL_CLASS}, AMOUNTS};
static const struct column by_class[] = {OF_KIND, {.id = COL_CLASS}, AMOUNTS};
static const struct column by_holder[] = {OF_KIND, {.id = COL_ADDRESS}, {.id = COL_FIELD}, {.id = COL_CLASS}, AMOUNTS};
/* an object may have several such fields */
static const struct column of_fields[] = {OF_KIND, {.id = COL_FIELD}, {.id = COL_CLASS}, {.id = COL_OBJECTS},
    {.id = COL_WITH_PARTS}, WASTED};
static const struct shape all_shape = {.form = "without KIND", SHAPE_COLUMNS(all_columns)};
static const struct shape field_shape = {.form = "KIND", SHAPE_COLUMNS(by_field)};
static const struct shape fields_shape = {.form = "fields", SHAPE_COLUMNS(of_fields)};
static const struct shape class_shape = {.form = "-by class", SHAPE_COLUMNS(by_class)};
static const struct shape holder_shape = {.form = "-by holder", .apart = true, SHAPE_COLUMNS(by_holder)};
static const struct shape *const shapes[] = {[WASTE_BY_FIELD] = &field_shape, [WASTE_BY_CLASS] = &class_shape,
    [WASTE_BY_HOLDER] = &holder_shape};

static const struct option_spec options[] = {
    {DASH_BY, OPT_CHOICE, "field|class|holder", "with KIND: group by (default field)"},
    {DASH_MIN, OPT_SIZE, "SIZE", "only rows that waste at least SIZE"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

/* --- cells -------------------------------------------------------------------------------------- */

static struct amount bytes_of(const struct heap *h, uint64_t n)
{
	return heap_sized_any(h, heap_counted(h, n), 0);
}

static struct amount wasted_of(const struct heap *h, enum waste_kind kind, uint64_t n)
{
	struct amount bytes = bytes_of(h, n);
	if (kind == WASTE_STRINGS ? inspect_texts_run_on(h) : h->facts.no_class_objects)
		bytes = amount_weaken(bytes, INFERRED, REASON_BLOCK);
	return waste_kinds[kind].judged ? amount_weaken(bytes, INFERRED, REASON_JUDGED) : bytes;
}

static struct cell kind_cell(enum waste_kind kind)
{
	return cell_word(waste_kinds[kind].word, waste_kinds[kind].name);
}

/* The cells of AMOUNTS; returns how many. */
static unsigned amount_cells(const struct heap *h, enum waste_kind kind, const struct waste_sum *sum, struct cell *to)
{
	struct amount wasted = wasted_of(h, kind, sum->wasted);
	to[0] = cell_count(heap_counted(h, sum->objects));
	to[1] = cell_bytes(bytes_of(h, sum->shallow));
	to[2] = cell_bytes(wasted);
	to[3] = cell_percent(wasted, heap_size_of_all(h));
	return 4;
}

static uint64_t least(const struct call *call)
{
	const struct option_value *min = &call->option[call_option(call, DASH_MIN)];
	return min->given ? min->number : 0;
}

/* --- all kinds ---------------------------------------------------------------------------------- */

struct all_rows {
	struct waste_all all;
	unsigned n;
	enum waste_kind kind[WASTE_KINDS]; /* of each row */
};

static void all_release(void *data)
{
	struct all_rows *rows = data;
	waste_all_release(&rows->all);
	free(rows);
}

static int all_members(const struct result *r, void *data, const struct bits *which, struct bits *to, struct err *err)
{
	const struct all_rows *rows = data;
	uint32_t wanted = 0;
	for (unsigned i = 0; i < rows->n; i++) {
		enum waste_kind kind = rows->kind[i];
		if (!bits_get(which, i))
			continue;
		wanted |= UINT32_C(1) << kind;
		if (waste_kinds[kind].of_classes &&
		    waste_mark_classes(r->heap, kind, &rows->all.classes[kind], to, err))
			return ERR_NOMEM;
	}
	for (uint32_t id = 0; id < r->heap->n_objects && !progress_own_stops(id); id++)
		if (rows->all.kinds[id] & wanted)
			bits_set(to, id);
	return 0;
}

static bool is_apart(const struct result *r, size_t row)
{
	const struct all_rows *rows = result_rows_data(r);
	return waste_kinds[rows->kind[row]].of_classes;
}

static int run_all(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct all_rows *rows = xcalloc(1, sizeof *rows);
	bool left_out = false;
	int code = waste_find_all(&rows->all, h, err);
	if (code) {
		free(rows);
		return code;
	}
	struct result *r = result_new_rows("waste", s->dump, &all_shape);
	result_rows_members(r, all_members, all_release, rows);
	r->within = is_apart;
	for (unsigned kind = 0; kind < WASTE_KINDS; kind++) {
		const struct waste_sum *sum = &rows->all.sum[kind];
		struct cell cells[6];
		unsigned at = 0;
		char line[64];
		left_out |= !rows->all.told[kind];
		if (!sum->objects || sum->wasted < least(call))
			continue;
		cells[at++] = kind_cell(kind);
		at += amount_cells(h, kind, sum, cells + at);
		cells[at] = cell_text(waste_kinds[kind].of);
		snprintf(line, sizeof line, "waste %s", waste_kinds[kind].word);
		result_add_row(r, cells, &(struct target){.kind = TARGET_GROUP,
		    .command = arena_strndup(&r->arena, line, strlen(line))});
		rows->kind[rows->n++] = kind;
	}
	if (rows->n && is_apart(r, rows->n - 1))
		result_add_note(r, "totals exclude constant fields and alignment padding: those bytes belong to objects "
		    "already counted");
	if (left_out)
		result_add_note(r, h->facts.no_class_objects ? "this dump does not show other kinds" :
		    r->n_rows || call_has(call, DASH_MIN) ?
		    "other kinds need values, strings or fields that this dump does not have" :
		    "no waste of the kinds that this dump can show; others need values, strings or fields that it lacks");
	result_mark(r, RESULT_LACKS_ROWS, left_out);
	result_mark(r, RESULT_NONE_ANSWERS, !call_has(call, DASH_MIN));
	*out = r;
	return 0;
}

/* --- one kind ----------------------------------------------------------------------------------- */

/* Of kinds of classes; data: the kind. */
static int class_members(const struct result *r, void *data, const struct bits *which, struct bits *to, struct err *err)
{
	const enum waste_kind *kind = data;
	struct bits classes;
	int code = bits_init(&classes, r->heap->n_classes, err);
	for (size_t row = 0; !code && row < r->n_source && !progress_own_stops(row); row++) {
		struct target target;
		r->ops->target(r, row, &target);
		if (bits_get(which, row))
			bits_set(&classes, target.id);
	}
	if (!code)
		code = waste_mark_classes(r->heap, *kind, &classes, to, err);
	bits_release(&classes);
	return code;
}

/* "com.acme.Order.tags[]".  False: no field holds them. */
static bool add_field(const struct heap *h, const struct waste_group *g, struct text *to)
{
	if (g->declared_in == HEAP_NONE)
		return false;
	text_add(to, h->classes[g->declared_in].name);
	if (g->field)
		text_addf(to, "%s%s", *g->field == '[' ? "" : ".", g->field);
	for (unsigned i = 0; i < g->deep; i++)
		text_add(to, "[]");
	return true;
}

/* False: no field holds them. */
static bool add_group(struct result *r, const struct waste_groups *groups, const struct waste_group *g,
    enum waste_kind kind, enum waste_by by, struct text *scratch)
{
	const struct heap *h = r->heap;
	struct cell cells[8];
	unsigned at = 0;
	cells[at++] = kind_cell(kind);
	if (by == WASTE_BY_HOLDER)
		cells[at++] = g->holder == HEAP_NONE ? cell_blank() : cell_address(heap_address(h, g->holder));
	text_clear(scratch);
	if (by != WASTE_BY_CLASS)
		cells[at++] = add_field(h, g, scratch) ? cell_text(scratch->s) : cell_blank();
	cells[at++] = cell_text(h->classes[g->class].name);
	amount_cells(h, kind, &g->sum, cells + at);
	bool one = g->end - g->first == 1;
	struct target target = {.kind = one ? TARGET_OBJECT : TARGET_CLASS, .part = !one,
	    .id = one ? groups->object[g->first] : g->class};
	for (uint64_t i = g->first; i < g->end; i++)
		result_add_member(r, r->n_source, groups->object[i]);
	result_add_row(r, cells, &target);
	return g->declared_in != HEAP_NONE;
}

/* Does the name begin with what was typed?  Blanks and hyphens are the same. */
static bool begins(const char *name, const char *typed)
{
	for (; *typed; name++, typed++)
		if (*name != *typed && !(*name && strchr(" -", *name) && strchr(" -", *typed)))
			return false;
	return true;
}

/* How many kinds have a word, or a name, that begins so: 1 where it is one's whole. */
static unsigned kinds_begun(const char *typed, bool named, enum waste_kind *out)
{
	unsigned n = 0;
	for (unsigned k = 0; k < WASTE_KINDS; k++) {
		const char *one = named ? waste_kinds[k].name : waste_kinds[k].word;
		if (!begins(one, typed))
			continue;
		*out = (enum waste_kind)k;
		if (n++, strlen(one) == strlen(typed))
			return 1;
	}
	return n;
}

static int kind_of(const struct call *call, enum waste_kind *out, struct err *err)
{
	struct text typed = TEXT_INIT;
	for (size_t i = 0; i < call->n_words; i++)
		text_addf(&typed, "%s%s", i ? " " : "", call->words[i]);
	const char *word = typed.s ? typed.s : "";
	unsigned n = kinds_begun(word, false, out);
	if (!n)
		n = kinds_begun(word, true, out);
	int code = n == 1 ? 0 : err_set(err, ERR_USAGE, "%s kind of waste \"%.40s\" (help waste lists them)",
	    n ? "ambiguous" : "unknown", word);
	text_release(&typed);
	return code;
}

static int not_told(const struct heap *h, enum waste_kind kind, struct err *err)
{
	if (!values_held(h) && !h->facts.no_class_objects)
		return heap_holds_no_values(h, err);
	return err_set(err, ERR_UNSUPPORTED, "cannot find %s in %s (it shows only duplicate strings%s)",
	    waste_kinds[kind].name, h->facts.title, h->dump->types ? ", empty, one-entry and oversized collections" : "");
}

/* Of equal objects each field may hold the one that stays: then there is nothing to fix. */
static void add_staying(struct result *r, uint64_t n)
{
	struct text note = TEXT_INIT;
	struct cell count = cell_count(result_of_file(r, heap_counted(r->heap, n)));
	cell_print(&count, &note);
	text_add(&note, n == 1 ? " more is not wasted: one of the equal objects has to stay" :
	    " more are not wasted: one of each set of equal objects has to stay");
	result_add_note_text(r, &note);
}

/* What is a part of every instance is held by nobody in particular, and alignment is no field's. */
static enum waste_by by_of(const struct call *call, enum waste_kind kind)
{
	enum waste_by by = (enum waste_by)call_choice(call, DASH_BY, WASTE_BY_FIELD);
	if (kind == WASTE_ALIGNMENT)
		return WASTE_BY_CLASS;
	return kind == WASTE_FIELDS && by == WASTE_BY_HOLDER ? WASTE_BY_FIELD : by;
}

/* Can the program's authors change the field, or the class? */
static bool is_own(const struct heap *h, const struct waste_group *g, enum waste_by by)
{
	uint32_t class = by == WASTE_BY_CLASS ? g->class : g->declared_in;
	return class != HEAP_NONE && library_programs_class(h, class);
}

/* The rows of the program's own classes, or the others. */
static void add_groups(struct result *r, const struct waste_groups *groups, enum waste_kind kind,
    const struct call *call, enum waste_by by, bool own, uint64_t *stay, bool *unheld)
{
	struct text scratch = TEXT_INIT;
	for (size_t i = 0; i < groups->n && !progress_own_stops(i); i++) {
		const struct waste_group *g = &groups->group[i];
		if (!g->sum.objects || is_own(r->heap, g, by) != own)
			continue; /* no objects: all are held by fields that hold more */
		if (!g->sum.wasted && kind != WASTE_CHAINS)
			*stay += g->sum.objects;
		else if (g->sum.wasted >= least(call))
			*unheld |= !add_group(r, groups, g, kind, by, &scratch) && by != WASTE_BY_CLASS;
	}
	text_release(&scratch);
}

static int run_kind(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	enum waste_kind kind;
	char title[64];
	int code = kind_of(call, &kind, err);
	if (!code && !waste_told(h, kind))
		code = not_told(h, kind, err);
	if (code)
		return code;
	struct waste_groups groups;
	enum waste_by by = by_of(call, kind);
	code = waste_find(&groups, h, kind, by, err);
	if (code)
		return code;
	snprintf(title, sizeof title, "waste: %s", waste_kinds[kind].name);
	bool fields = kind == WASTE_FIELDS && by == WASTE_BY_FIELD;
	struct result *r = *out = result_new_rows(title, s->dump, fields ? &fields_shape : shapes[by]);
	if (waste_kinds[kind].of_classes) {
		enum waste_kind *kept = xcalloc(1, sizeof *kept);
		*kept = kind;
		result_rows_members(r, class_members, free, kept);
	}
	uint64_t stay = 0;
	bool unheld = false;
	add_groups(r, &groups, kind, call, by, true, &stay, &unheld);
	size_t n_own = r->n_source;
	add_groups(r, &groups, kind, call, by, false, &stay, &unheld);
	waste_groups_release(&groups);
	if (n_own && r->n_source > n_own && command_as_found(call))
		result_add_note(r, "rows of libraries follow those of the program");
	if (unheld)
		result_add_note(r, "rows without a field: only stacks or other roots hold these objects, or nothing does");
	if (stay)
		add_staying(r, stay);
	result_mark(r, RESULT_NONE_ANSWERS, !call_has(call, DASH_MIN));
	if (!r->n_rows && result_is(r, RESULT_NONE_ANSWERS))
		result_add_note(r, "no objects of this kind");
	return 0;
}

static int run_waste(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	int code;
	if (!call->argument[0].given && call_has(call, DASH_BY))
		return err_set(err, ERR_USAGE, "-by needs a kind of waste (waste KIND -by ...; help waste lists the kinds)");
	code = call->argument[0].given ? run_kind(s, call, out, err) : run_all(s, call, out, err);
	if (!code) {
		(*out)->shares.part = COL_WASTED;
		(*out)->shares.whole = heap_size_of_all(session_heap(s));
		code = call->argument[0].given ? 0 : command_order(s, *out, COL_WASTED, err);
	}
	return code;
}

/* --- help --------------------------------------------------------------------------------------- */

static int told(const struct heap *h, struct err *err)
{
	for (unsigned kind = 0; kind < WASTE_KINDS; kind++)
		if (waste_told(h, kind))
			return 0;
	return heap_holds_no_values(h, err);
}

static void add_kinds(struct text *to)
{
	for (unsigned kind = 0; kind < WASTE_KINDS; kind++) {
		const struct waste_kind_info *k = &waste_kinds[kind];
		bool named = !strncmp(k->of, k->name, strlen(k->name)); /* what it is about begins with the name */
		text_addf(to, "\n%s\t%s%s%s; wasted: %s%s", k->word, named ? "" : k->name, named ? "" : ": ", k->of, k->wasted,
		    k->judged ? " (~)" : "");
	}
}

static void complete(const struct session *s, const char *typed, const char *behind, command_offer *offer,
    void *context)
{
	(void)s, (void)typed, (void)behind;
	for (unsigned kind = 0; kind < WASTE_KINDS; kind++)
		offer(context, waste_kinds[kind].word);
}

const struct command cmd_waste = {
    .name = "waste",
    .arguments = {{ARG_WORDS, "KIND", true}},
    .options = options,
    .flags = COMMAND_COUNTS_VALUES | COMMAND_NEEDS_REFERENCES,
    .group = "problems",
    .summary = "find wasted memory by kind, and the fields that hold it",
    .shapes = SHAPES(&all_shape, &field_shape, &fields_shape, &class_shape, &holder_shape),
    .description = "One row per kind of waste: its objects, their size with their parts (characters, nodes, "
	"tables), the bytes that could be saved, and their share of the heap. With KIND, one row per field that holds "
	"such objects, the program's own first, also through arrays (Order.tags[]) and collections; if several fields "
	"hold an object, the one with most such objects counts. Kinds do not overlap; constant fields and alignment "
	"padding are parts of other objects and not in the totals. ~ marks a judgement: the program may need it. "
	"Unreachable objects count. Dumps without values (PHD, classic) show only empty, one-element and sparse "
	"arrays. Go dumps show duplicate strings and, with the program, empty, one-entry and oversized maps and "
	"slices. KIND is a word of this list or its full name:",
    .more = add_kinds,
    .examples = {{"waste", ON_SHOP, "how much memory each kind wastes"},
	{"waste strings", ON_SHOP, "which fields hold duplicate strings"},
	{"waste alignment -by class -min 1k", ON_SHOP, "which classes need padding"}},
    .key = "",
    .told = told,
    .run = run_waste,
    .complete = complete,
};
