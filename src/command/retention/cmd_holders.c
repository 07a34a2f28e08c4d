/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_holders.c - holders: the immediate dominators of a set of objects, by class.
 */
#include "command/commands.h"

#include "analysis/holders.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "memory/big.h"

static const struct column up_columns[] = {{.id = COL_CLASS}, {.id = COL_OBJECTS, .total = true},
    {.id = COL_SHALLOW, .total = true}, {.id = COL_HELD, .total = true}, {.id = COL_HELD_SHALLOW, .total = true},
    {.id = COL_RETAINED}};
static const struct shape holders_shape = {SHAPE_COLUMNS(up_columns)};

static void add_row(struct result *r, const struct holders_row *at)
{
	bool roots = at->class == HEAP_NONE;
	result_add_row(r, (struct cell[]){cell_text(roots ? "<roots>" : r->heap->classes[at->class].name),
	    cell_count(at->holders), cell_bytes(at->holders_shallow), cell_count(at->held), cell_bytes(at->held_shallow),
	    roots ? cell_blank() : command_retained_sum(r->opened, &at->retained)},
	    roots ? NULL : &(struct target){.kind = TARGET_CLASS, .id = at->class, .part = true});
}

static int classes_to_skip(const struct session *s, const char *word, struct bits *skip, struct err *err)
{
	uint32_t *classes;
	size_t n;
	int code = value_classes(s, word, &classes, &n, err);
	if (code)
		return code;
	code = bits_init(skip, session_heap(s)->n_classes, err);
	for (size_t i = 0; !code && i < n; i++)
		bits_set(skip, classes[i]);
	big_free(classes);
	return code;
}

static int run_holders(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *skipped = call->option[call_option(call, DASH_SKIP)].word;
	struct bits skip = {.word = NULL};
	int code = skipped ? classes_to_skip(s, skipped, &skip, err) : 0;
	if (code)
		return code;
	struct holders h;
	code = holders_find(&h, opened_retained(s->dump), call->argument[0].ids, call->argument[0].n_ids,
	    skip.word ? &skip : NULL, err);
	bits_release(&skip);
	if (code)
		return code;
	struct text title = TEXT_INIT;
	text_addf(&title, "holders of %s", call->argument[0].word);
	struct result *r = *out = result_new_rows(title.s, s->dump, &holders_shape);
	text_release(&title);
	for (size_t i = 0; i < h.n; i++)
		add_row(r, &h.rows[i]);
	result_rows_among(r, &h.objects);
	result_sort_new(r, COL_HELD_SHALLOW, true);
	result_add_number_note(r, h.unreachable, r->heap->roots_missing ?
	    "of them is reached by no root that was read and not counted" : "of them is unreachable and not counted",
	    r->heap->roots_missing ? "of them are reached by no root that was read and not counted" :
	    "of them are unreachable and not counted");
	command_add_roots_note(r);
	result_mark(r, RESULT_NONE_ANSWERS, !skipped);
	holders_release(&h);
	return 0;
}

static const struct option_spec options[] = {
    {DASH_SKIP, OPT_CLASSES, "PAT", "replace holders of these classes by theirs"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_holders = {
    .name = "holders",
    .arguments = {{ARG_SET, "SET", false}},
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED,
    .finds = FIND_RETAINED,
    .group = "references and retained sizes",
    .summary = "list the immediate dominators of objects, by class",
    .shapes = SHAPES(&holders_shape),
    .description = "One row per class of the immediate dominators of SET: freeing a dominator frees the objects of "
	"SET below it. <roots> is the row of objects that no single object dominates: GC roots, or several objects, hold "
	"them.\n"
	"held\tobjects of SET below the dominators of the row\n"
	"held_shallow\ttheir shallow size\n"
	"-skip java.* passes over dominators of the library, up to those of the program.",
    .examples = {{"holders byte[] -skip java.*", ON_SHOP, "which classes of the program hold the byte arrays?"},
	{"holders java.lang.String", ON_SHOP, "which classes hold the strings?"},
	{"holders java.util.HashMap -skip java.* | head 3", ON_SHOP}},
    .key = "",
    .run = run_holders,
};
