/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_tree.c - tree: classes below their superclasses. */
#include "command/commands.h"

#include "analysis/class_tree.h"

#include <stdlib.h>

static const struct column tree_columns[] = {
    {.name = "branch", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "class", .type = CELL_TEXT},
    {.name = "depth", .type = CELL_COUNT},
    {.name = "class_address", .type = CELL_ADDRESS},
    {.name = "objects", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "shallow", .type = CELL_BYTES, .shown_by_default = true},
    {.name = "subclasses", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "objects_below", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "shallow_below", .type = CELL_BYTES, .shown_by_default = true},
};

enum { TREE_BRANCH, TREE_CLASS, TREE_DEPTH, TREE_ADDRESS, TREE_OBJECTS, TREE_SHALLOW, TREE_SUBCLASSES,
	TREE_OBJECTS_BELOW, TREE_SHALLOW_BELOW };
enum { INDENT_MAX = 40 }; /* levels; deeper ones say so by their depth */

static void tree_cell(
    const struct result *r, size_t at, unsigned column, struct cell *out, struct text *scratch)
{
	const struct class_tree_row *row = &((const struct class_tree *)r->data)->rows[at];
	const struct heap_class *class = &r->heap->classes[row->class];
	enum certainty c = command_count_certainty(r->heap);
	switch (column) {
	case TREE_BRANCH:
		text_clear(scratch);
		for (uint32_t i = 0; i < row->depth && i < INDENT_MAX; i++)
			text_add(scratch, "  ");
		text_add(scratch, class->name);
		*out = cell_text(scratch->s);
		break;
	case TREE_CLASS:
		*out = cell_text(class->name);
		break;
	case TREE_DEPTH:
		*out = cell_count(row->depth);
		break;
	case TREE_ADDRESS:
		*out = class->address ? cell_address(class->address) : cell_none();
		break;
	case TREE_OBJECTS:
		*out = cell_marked(cell_count(class->n_objects), c);
		break;
	case TREE_SHALLOW:
		*out = cell_marked(cell_bytes(class->shallow), c);
		break;
	case TREE_SUBCLASSES:
		*out = cell_marked(cell_count(row->n_subclasses), c);
		break;
	case TREE_OBJECTS_BELOW:
		*out = cell_marked(cell_count(row->n_objects), c);
		break;
	default:
		*out = cell_marked(cell_bytes(row->shallow), c);
	}
}

static void tree_target(const struct result *r, size_t at, struct target *out)
{
	const struct class_tree *t = r->data;
	*out = (struct target){.kind = TARGET_CLASS, .id = t->rows[at].class};
}

static void tree_release(void *data)
{
	class_tree_release(data);
	free(data);
}

static const struct result_ops tree_ops = {
    .cell = tree_cell, .target = tree_target, .release = tree_release};

/* Only the chosen classes, what stands below them, and nothing else; depths from the chosen on. */
static void keep_branches(struct class_tree *t, const bool *chosen)
{
	uint32_t n = 0, base = UINT32_MAX; /* depth of the chosen class whose branch this is */
	for (uint32_t i = 0; i < t->n; i++) {
		struct class_tree_row row = t->rows[i];
		if (base != UINT32_MAX && row.depth <= base)
			base = UINT32_MAX;
		if (base == UINT32_MAX && !chosen[row.class])
			continue;
		if (base == UINT32_MAX)
			base = row.depth;
		row.depth -= base;
		t->rows[n++] = row;
	}
	t->n = n;
}

static int run_tree(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = s->heap;
	if (!h->facts.references_superclass_recorded)
		return err_set(err, ERR_UNSUPPORTED, "%s holds no superclasses", command_format_name(h));
	struct class_tree *t = xcalloc(1, sizeof *t);
	class_tree_make(t, h);
	if (call->argument[0].given) {
		bool *chosen = xcalloc((size_t)h->n_classes + 1, sizeof *chosen);
		for (size_t i = 0; i < call->argument[0].n_ids; i++)
			chosen[call->argument[0].ids[i]] = true;
		keep_branches(t, chosen);
		free(chosen);
	}
	*out = result_new("superclass tree", h, tree_columns, N_COLUMNS(tree_columns), &tree_ops, t, t->n);
	return 0;
}

const struct command cmd_tree = {
    .name = "tree",
    .aliases = {"hierarchy", "subclasses"},
    .arguments = {{ARG_CLASS, "PAT", true}},
    .group = "look",
    .summary = "classes below their superclasses",
    .columns = "branch class depth class_address objects shallow subclasses objects_below shallow_below",
    .description = "A class before its subclasses, the branch with the most bytes first; branch is the class "
	"indented by its depth. objects and "
	"shallow are those of exactly the class; objects_below and shallow_below include all "
	"its subclasses. With PAT only the branches of these classes.",
    .examples = {"tree", "tree java.util.AbstractMap"},
    .key = "",
    .run = run_tree,
};
