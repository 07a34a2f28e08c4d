/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_tree.c - tree: classes below their superclasses, or below their packages. */
#include "command/commands.h"

#include "analysis/class_tree.h"
#include "analysis/package_tree.h"
#include "analysis/search.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"
#include "result/preorder.h"
#include "result/result.h"
#include "result/tree.h"

#include <stdlib.h>
#include <string.h>

enum { SCREEN_DEPTH = 2 };

static uint32_t first_depth(const struct session *s, const struct call *call)
{
	return command_depth(call, s->interactive ? SCREEN_DEPTH : TREE_ALL);
}

/* The rows of one of the trees. */
struct levels {
	struct class_tree classes;
	struct package_tree packages;
	struct preorder order;
	struct retained_sum *retained; /* by row, of packages */
};

static uint32_t children(const struct result *r, uint32_t node, uint32_t *to)
{
	return preorder_children(&((const struct levels *)tree_data(r))->order, node, to);
}

static void release(void *data)
{
	struct levels *t = data;
	class_tree_release(&t->classes);
	package_tree_release(&t->packages);
	preorder_release(&t->order);
	big_free(t->retained);
	free(t);
}

/* --- superclasses ----------------------------------------------------------------------------- */

enum { TREE_BRANCH, TREE_CLASS, TREE_DEPTH, TREE_ADDRESS, TREE_OBJECTS, TREE_SHALLOW, TREE_SUBCLASSES,
	TREE_OBJECTS_BELOW, TREE_SHALLOW_BELOW };

static const struct column tree_columns[] = {
    [TREE_BRANCH] = {.id = COL_BRANCH},
    [TREE_CLASS] = {.id = COL_CLASS, .hidden = true},
    [TREE_DEPTH] = {.id = COL_DEPTH, .hidden = true},
    [TREE_ADDRESS] = {.id = COL_CLASS_ADDRESS, .hidden = true},
    [TREE_OBJECTS] = {.id = COL_OBJECTS},
    [TREE_SHALLOW] = {.id = COL_SHALLOW},
    [TREE_SUBCLASSES] = {.id = COL_SUBCLASSES},
    [TREE_OBJECTS_BELOW] = {.id = COL_OBJECTS_BELOW, .total = true},
    [TREE_SHALLOW_BELOW] = {.id = COL_SHALLOW_BELOW, .total = true},
};
static const struct shape tree_shape = {SHAPE_COLUMNS(tree_columns)};

static void class_cell(
    const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	const struct levels *t = tree_data(r);
	const struct class_tree_row *row = &t->classes.rows[node];
	const struct heap_class *class = &r->heap->classes[row->class];
	(void)scratch;
	switch (column) {
	case TREE_BRANCH:
	case TREE_CLASS:
		*out = cell_text(class->name);
		break;
	case TREE_DEPTH:
		*out = cell_plain(row->depth);
		break;
	case TREE_ADDRESS:
		*out = cell_address_or_none(class->address);
		break;
	case TREE_OBJECTS:
		*out = cell_count(class_objects(r->heap, class));
		break;
	case TREE_SHALLOW:
		*out = cell_bytes(class_shallow(r->heap, class));
		break;
	case TREE_SUBCLASSES:
		*out = cell_count(row->n_subclasses);
		break;
	case TREE_OBJECTS_BELOW:
		*out = cell_count(row->n_objects);
		break;
	default:
		*out = cell_bytes(row->shallow);
	}
}

static void class_target(const struct result *r, uint32_t node, struct target *out)
{
	const struct levels *t = tree_data(r);
	*out = (struct target){.kind = TARGET_CLASS, .id = t->classes.rows[node].class};
}

static const struct tree_source class_source = {.children = children,
    .cell = class_cell,
    .target = class_target,
    .release = release,
    .branch = TREE_BRANCH,
    .weight = TREE_SHALLOW_BELOW};

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

static uint32_t class_depth(const void *data, uint32_t node)
{
	return ((const struct class_tree *)data)->rows[node].depth;
}

static int keep_chosen(struct class_tree *t, const struct heap *h, const struct call *call, struct err *err)
{
	bool *chosen = big_alloc((uint64_t)h->n_classes + 1, sizeof *chosen, err);
	if (!chosen)
		return ERR_NOMEM;
	for (size_t i = 0; i < call->argument[0].n_ids; i++)
		chosen[call->argument[0].objects ? heap_class_index(h, call->argument[0].ids[i]) :
		    call->argument[0].ids[i]] = true;
	keep_branches(t, chosen);
	big_free(chosen);
	return 0;
}

static int by_superclass(
    const struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	if (!h->facts.references_superclass_recorded)
		return err_set(err, ERR_UNSUPPORTED, "%s has no superclasses (use -by package)",
		    h->facts.title);
	struct levels *t = xcalloc(1, sizeof *t);
	int code = class_tree_make(&t->classes, h, err);
	if (!code && call->argument[0].given)
		code = keep_chosen(&t->classes, h, call, err);
	if (!code)
		code = preorder_init(&t->order, t->classes.n, class_depth, &t->classes, err);
	if (code) {
		release(t);
		return code;
	}
	*out = tree_result("superclass tree", s->dump, &tree_shape, &class_source, t,
	    command_at_once(s));
	tree_sort(*out, TREE_SHALLOW_BELOW, true); /* as class_tree has it, and the screen shows that */
	return 0;
}

/* --- packages --------------------------------------------------------------------------------- */

enum { P_BRANCH, P_NAME, P_DEPTH, P_CLASSES, P_OBJECTS, P_SHALLOW, P_RETAINED };

static const struct column package_columns[] = {
    [P_BRANCH] = {.id = COL_BRANCH},
    [P_NAME] = {.id = COL_NAME, .hidden = true},
    [P_DEPTH] = {.id = COL_DEPTH, .hidden = true},
    [P_CLASSES] = {.id = COL_CLASSES, .total = true},
    [P_OBJECTS] = {.id = COL_OBJECTS, .total = true},
    [P_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [P_RETAINED] = {.id = COL_RETAINED, .hidden = true},
};
static const struct shape package_shape = {.form = "-by package", SHAPE_COLUMNS(package_columns)};

/* What all rows retain: a class is a part of its package, that one of the package it stands in. */
static int sum_packages(struct result *r, const struct retained *known, struct progress *progress,
    struct err *err)
{
	struct levels *t = tree_data(r);
	uint32_t n = t->packages.n, n_classes = known->heap->n_classes;
	uint32_t *group = big_alloc((uint64_t)n_classes + 1, sizeof *group, err);
	uint32_t *within = big_alloc((uint64_t)n + 1, sizeof *within, err);
	uint32_t *open = big_alloc((uint64_t)n + 1, sizeof *open, err); /* by depth: the current row */
	int code = ERR_NOMEM;
	if (!group || !within || !open)
		goto out;
	memset(group, 0xFF, n_classes * sizeof *group);
	for (uint32_t i = 0; i < n; i++) {
		const struct package_row *row = &t->packages.rows[i];
		open[row->depth] = i;
		within[i] = row->depth ? open[row->depth - 1] : HEAP_NONE;
		if (row->class != HEAP_NONE)
			group[row->class] = i;
	}
	progress_phase(progress, PHASE_SUM_PACKAGES, known->dominators.n_reachable);
	code = retained_by_group(known, group, n, within, NULL, t->retained, progress, err);
out:
	big_free(group);
	big_free(within);
	big_free(open);
	return code;
}

static struct cell package_retained(const struct result *r, uint32_t node)
{
	const struct levels *t = tree_data(r);
	const struct package_row *row = &t->packages.rows[node];
	const struct retained *known = result_known(r);
	if (!known)
		return cell_unknown(REASON_NOT_FOUND_YET);
	struct retained_sum sum = row->class == HEAP_NONE ? t->retained[node] : retained_of_class(known, row->class);
	return command_retained_members(r->opened, row->objects, &sum);
}

/* From this byte of the name on. */
static struct cell package_text(const struct package_row *row, size_t from, struct text *scratch)
{
	if (row->class != HEAP_NONE)
		return cell_text(row->name + from);
	text_add_n(scratch, row->name + from, row->n - from);
	return cell_text(scratch->s);
}

static void package_cell(
    const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	const struct levels *t = tree_data(r);
	const struct package_row *row = &t->packages.rows[node];
	switch (column) {
	case P_BRANCH:
	case P_NAME:
		*out = package_text(row, column == P_BRANCH ? row->label : 0, scratch);
		break;
	case P_DEPTH:
		*out = cell_plain(row->depth);
		break;
	case P_CLASSES:
		*out = cell_count(row->n_classes);
		break;
	case P_OBJECTS:
		*out = cell_count(row->objects);
		break;
	case P_SHALLOW:
		*out = cell_bytes(row->shallow);
		break;
	default:
		*out = package_retained(r, node);
	}
}

static void package_target(const struct result *r, uint32_t node, struct target *out)
{
	const struct levels *t = tree_data(r);
	uint32_t class = t->packages.rows[node].class;
	*out = (struct target){.kind = TARGET_GROUP};
	if (class != HEAP_NONE)
		*out = (struct target){.kind = TARGET_CLASS, .id = class};
}

/* Of all classes that stand below. */
static int package_members(const struct result *r, const uint32_t *nodes, size_t n, struct bits *to,
    struct err *err)
{
	const struct levels *t = tree_data(r);
	struct bits classes;
	int code = bits_init(&classes, r->heap->n_classes, err);
	for (size_t i = 0; !code && i < n; i++) {
		for (uint32_t k = nodes[i]; k < t->order.end[nodes[i]]; k++) {
			if (t->packages.rows[k].class != HEAP_NONE)
				bits_set(&classes, t->packages.rows[k].class);
		}
	}
	if (!code)
		objects_mark(r->heap, &classes, NULL, to);
	bits_release(&classes);
	return code;
}

static const struct tree_source package_source = {.children = children,
    .cell = package_cell,
    .target = package_target,
    .members = package_members,
    .release = release,
    .branch = P_BRANCH,
    .weight = P_SHALLOW};

static uint32_t package_depth(const void *data, uint32_t node)
{
	return ((const struct package_tree *)data)->rows[node].depth;
}

static int by_package(
    const struct session *s, const struct call *call, struct result **out, struct err *err)
{
	if (call->argument[0].given)
		return err_set(err, ERR_USAGE, "too many arguments: \"%.100s\" (-by package shows all classes)",
		    call->argument[0].word);
	struct levels *t = xcalloc(1, sizeof *t);
	int code = package_tree_make(&t->packages, session_heap(s), err);
	if (!code && !(t->retained = big_alloc((uint64_t)t->packages.n + 1, sizeof *t->retained, err)))
		code = ERR_NOMEM;
	if (!code)
		code = preorder_init(&t->order, t->packages.n, package_depth, &t->packages, err);
	if (code) {
		release(t);
		return code;
	}
	*out = tree_result("package tree", s->dump, &package_shape,
	    &package_source, t, command_at_once(s));
	(*out)->later = sum_packages;
	tree_sort(*out, P_SHALLOW, true);
	command_show_retained(*out);
	return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static int run_tree(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	bool package = call_choice(call, DASH_BY, 0) == 1;
	int code = command_retained(s, call, err);
	if (!code)
		code = package ? by_package(s, call, out, err) : by_superclass(s, call, out, err);
	if (!code)
		tree_open_levels(*out, first_depth(s, call));
	return code;
}

const struct command cmd_tree = {
    .name = "tree",
    .arguments = {{ARG_CLASS, "PAT", true}},
    .options = OPTIONS({DASH_BY, OPT_CHOICE, "super|package", "by superclass (default) or package"},
	{DASH_DEPTH, OPT_COUNT, "N", "number of levels (default: all; on the screen: 2)"},
	{DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes of packages"}),
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_EARLY,
    .group = "browse",
    .summary = "show the tree of classes by superclass or package",
    .shapes = SHAPES(&tree_shape, &package_shape),
    .description = "A class is before its subclasses; the branch with most bytes is first. objects and shallow are "
	"those of exactly the class; objects_below and shallow_below include all subclasses. With PAT only the "
	"branches of these classes. branch is the class indented by its depth. -by package: packages in packages "
	"with their classes, with the columns branch name depth classes objects shallow retained (if known). A "
	"package that contains only one other package is in one row with it.",
    .examples = {{"tree -by package", ON_ANY, "which packages use most memory?"},
	{"tree -by package -depth 2", ON_ANY, "the same, two levels"},
	{"tree", ON_SHOP, "classes below their superclasses"}, {"tree java.util.AbstractMap", ON_SHOP}},
    .run = run_tree,
};
