/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_holders.c - holders: the immediate dominators of a set of objects, by class.
 */
#include "command/commands.h"

#include "analysis/holders.h"
#include "analysis/search.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>

enum { U_CLASS, U_OBJECTS, U_SHALLOW, U_HELD, U_HELD_SHALLOW, U_RETAINED };

static const struct column up_columns[] = {
    [U_CLASS] = {.id = COL_CLASS},
    [U_OBJECTS] = {.id = COL_OBJECTS, .total = true},
    [U_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [U_HELD] = {.id = COL_HELD, .total = true},
    [U_HELD_SHALLOW] =
        {.id = COL_HELD_SHALLOW, .total = true},
    [U_RETAINED] = {.id = COL_RETAINED},
};
static const struct shape holders_shape = {SHAPE_COLUMNS(up_columns)};

static void up_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct holders *h = r->data;
	const struct holders_row *at = &h->rows[row];
	(void)scratch;
	switch (column) {
	case U_CLASS:
		*out = cell_text(at->class == HEAP_NONE ? "<roots>" : r->heap->classes[at->class].name);
		return;
	case U_OBJECTS:
		*out = cell_count(at->holders);
		return;
	case U_SHALLOW:
		*out = cell_bytes(at->holders_shallow);
		return;
	case U_HELD:
		*out = cell_count(at->held);
		return;
	case U_HELD_SHALLOW:
		*out = cell_bytes(at->held_shallow);
		return;
	default:
		*out = at->class == HEAP_NONE ? cell_blank() : command_retained_sum(r->opened, &at->retained);
	}
}

static void up_target(const struct result *r, size_t row, struct target *out)
{
	const struct holders *h = r->data;
	if (h->rows[row].class != HEAP_NONE)
		*out = (struct target){.kind = TARGET_CLASS, .id = h->rows[row].class, .part = true};
}

static int up_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct holders *h = r->data;
	struct bits classes;
	int code = bits_init(&classes, r->heap->n_classes, err);
	for (size_t row = 0; !code && row < h->n; row++) {
		if (h->rows[row].class != HEAP_NONE && bits_get(rows, row))
			bits_set(&classes, h->rows[row].class);
	}
	if (!code)
		objects_mark(r->heap, &classes, &h->objects, to);
	bits_release(&classes);
	return code;
}

static void up_release(void *data)
{
	holders_release(data);
	free(data);
}

static const struct result_ops up_ops = {
    .cell = up_cell, .target = up_target, .release = up_release, .members = up_members};

static int classes_to_skip(
    const struct session *s, const char *word, struct bits *skip, struct err *err)
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

static void add_note(struct result *r, uint64_t unreachable)
{
	struct text note = TEXT_INIT;
	const char *roots = command_roots_note(r->opened, &r->arena);
	if (unreachable) {
		text_add_count(&note, unreachable);
		text_addf(&note, r->heap->roots_missing ? " of them %s reached by no root that was read and not counted" :
		    " of them %s unreachable and not counted", unreachable == 1 ? "is" : "are");
	}
	if (roots)
		text_addf(&note, "%s%s", note.len ? "; " : "", roots);
	r->note = note.len ? arena_strndup(&r->arena, note.s, note.len) : NULL;
	text_release(&note);
}

static int run_holders(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *skipped = call->option[call_option(call, DASH_SKIP)].word;
	struct bits skip = {.word = NULL};
	int code = skipped ? classes_to_skip(s, skipped, &skip, err) : 0;
	if (code)
		return code;
	struct holders *h = xcalloc(1, sizeof *h);
	code = holders_find(h, opened_retained(s->dump), call->argument[0].ids, call->argument[0].n_ids,
	    skip.word ? &skip : NULL, err);
	bits_release(&skip);
	if (code) {
		free(h);
		return code;
	}
	struct text title = TEXT_INIT;
	text_addf(&title, "holders of %s", call->argument[0].word);
	struct result *r = result_new(title.s, s->dump, &holders_shape, &up_ops, h, h->n);
	text_release(&title);
	result_sort_new(r, COL_HELD_SHALLOW, true);
	add_note(r, h->unreachable);
	result_mark(r, RESULT_NONE_ANSWERS, !skipped);
	*out = r;
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
