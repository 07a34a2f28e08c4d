/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_paths.c - paths: by which references roots keep many objects, merged by class.
 */
#include "command/commands.h"

#include "analysis/paths/paths.h"
#include "analysis/what_if/what_if.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "command/retention/heap_labels.h"
#include "command/session/session.h"
#include "heap/classes.h"
#include "heap/weak.h"
#include "memory/big.h"
#include "result/preorder.h"
#include "result/tree.h"

#include <stdlib.h>
#include <string.h>

enum merged_column { M_DEPTH, M_CLASS, M_OBJECTS, M_SHALLOW, M_RETAINED, M_ROOT, M_FIELD };

static const struct column merged_columns[] = {
    [M_DEPTH] = {.id = COL_DEPTH, .hidden = true},
    [M_CLASS] = {.id = COL_CLASS, .room = COLUMN_LAST},
    [M_OBJECTS] = {.id = COL_OBJECTS},
    [M_SHALLOW] = {.id = COL_SHALLOW, .room = COLUMN_EARLY},
    [M_RETAINED] = {.id = COL_RETAINED, .hidden = true, .room = COLUMN_LAST},
    [M_ROOT] = {.id = COL_ROOT},
    [M_FIELD] = {.id = COL_FIELD, .hidden = true, .room = COLUMN_LATE},
};
static const struct shape merged_shape = {SHAPE_COLUMNS(merged_columns)};

static const struct option_spec merged_options[] = {
    {DASH_R, OPT_FLAG, NULL, "objects first, GC roots last"},
    {DASH_WEAK, OPT_FLAG, NULL, "also follow soft, weak, final and phantom references"},
    {DASH_DEPTH, OPT_COUNT, "N", "number of levels (default: all)"},
    {DASH_UNFOLDED, OPT_FLAG, NULL, "a row for each class, none folded into another"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

struct merged_tree {
	struct merged_paths paths;
	struct preorder order;
	/* what it was made of, so that the objects of a row are found again */
	const struct path_tree *made_of; /* the session's */
	uint32_t *ids;
	size_t n_ids;
	uint32_t class; /* of them all; HEAP_NONE: they are of several */
	bool backward;
	struct path_rules rules;         /* to name fields by */
	struct path_plumbing plumbing;
	bool folds;
};

/* What is folded; NULL: every step is a row. */
static struct path_plumbing *plumbing_of(struct merged_tree *t)
{
	return t->folds ? &t->plumbing : NULL;
}

/* --- by which field the objects of a row are held ------------------------------------------------- */

enum { LABEL_STEPS = 64 }; /* of a path that are looked at */

/* The reference to an object on its path, from the one that is seen before it. */
static void add_label(struct merged_tree *t, uint32_t id, struct text *to)
{
	uint32_t step[LABEL_STEPS], parent = 0;
	struct path p = {.n = 0};
	struct path_fold f = {.n = 0};
	for (uint32_t at = id; p.n < LABEL_STEPS && parent != PATH_START; at = parent - 1) {
		step[LABEL_STEPS - ++p.n] = at;
		parent = t->made_of->parent[at];
	}
	p.step = step + LABEL_STEPS - p.n;
	if (p.n < 2)
		return;
	if (!t->folds || path_reference_is_static(&t->rules, p.step[p.n - 2], id))
		path_field(&t->rules, p.step[p.n - 2], id, to);
	else if (!path_fold(&f, &t->plumbing, &t->rules, &p, NULL) && f.n > 1)
		path_fold_label(&t->rules, p.step, f.step[f.n - 2], p.n - 1, to);
	path_fold_release(&f);
}

/* Of a label: which element or entry it is differs from object to object. */
static void fold_entry(struct text *label)
{
	bool entry = label->len && *label->s == '[', key = label->len && !strncmp(label->s, "key ", 4);
	if (entry || key)
		text_clear(label);
	text_add(label, entry ? "[…]" : key ? "key" : "");
	heap_label_fold(label);
}

/* What the references to some objects of the row have in common. */
static struct cell field_cell(struct merged_tree *t, const struct merged_row *m, struct text *to)
{
	struct text other = TEXT_INIT;
	bool same = !t->backward && m->depth;
	for (unsigned i = 0; same && i < MERGED_SAMPLES && m->sample[i]; i++) {
		struct text *label = i ? &other : to;
		text_clear(label);
		add_label(t, m->sample[i] - 1, label);
		fold_entry(label);
		same = label->len && !strcmp(label->s, to->s);
	}
	text_release(&other);
	if (!same)
		text_clear(to);
	return to->len ? cell_text(to->s) : cell_blank();
}

/* The class; for people behind the field.  Both stand in `to`. */
static struct cell class_cell(struct merged_tree *t, const struct merged_row *m, const char *class, struct text *to)
{
	field_cell(t, m, to);
	text_add(to, to->len ? "  " : "");
	size_t at = to->len;
	text_add(to, m->is_class ? "class " : "");
	text_add(to, class);
	struct cell c = cell_text(to->len > at ? to->s + at : "");
	if (at)
		c.name = to->s;
	return c;
}

/* --- cells ---------------------------------------------------------------------------------------- */

static const struct merged_row *merged_row(const struct result *r, uint32_t node)
{
	return &((const struct merged_tree *)tree_data(r))->paths.row[node];
}

static void merged_cell(const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	const struct merged_row *m = merged_row(r, node);
	switch ((enum merged_column)column) {
	case M_DEPTH:
		*out = cell_plain(m->depth);
		return;
	case M_CLASS:
		*out = class_cell(tree_data(r), m, r->heap->classes[m->class].name, scratch);
		return;
	case M_OBJECTS:
		*out = cell_count(m->objects);
		return;
	case M_SHALLOW:
		*out = cell_bytes(m->shallow);
		return;
	case M_RETAINED:
		*out = cell_unknown(REASON_NOT_FOUND_YET);
		if (((const struct merged_tree *)tree_data(r))->paths.retained)
			*out = command_retained_sum(r->opened, &m->retained);
		return;
	case M_ROOT:
		*out = cell_blank();
		if (m->root == HEAP_NONE)
			return;
		path_root_words(r->heap, m->root, scratch);
		text_add(scratch, m->other_roots ? ", and others" : "");
		*out = cell_text_as_sure(scratch->s, m->objects);
		return;
	case M_FIELD:
		*out = field_cell(tree_data(r), m, scratch);
		return;
	}
}

/* The row is named by what stands on the paths, and stands for the objects to which they lead. */
static void merged_target(const struct result *r, uint32_t node, struct target *out)
{
	const struct merged_tree *t = tree_data(r);
	(void)node;
	*out = (struct target){.kind = TARGET_GROUP};
	if (t->paths.found == 1 && t->n_ids == 1)
		*out = (struct target){.kind = TARGET_OBJECT, .id = t->ids[0]};
	else if (t->class != HEAP_NONE)
		*out = (struct target){.kind = TARGET_CLASS, .id = t->class, .part = true};
}

static int members_of_merged(const struct result *r, const uint32_t *nodes, size_t n, struct bits *to,
    struct err *err)
{
	struct merged_tree *t = tree_data(r);
	return merged_members(&t->paths, nodes, n, t->made_of, r->heap, plumbing_of(t), t->ids, t->n_ids, t->backward,
	    to, err);
}

static uint32_t merged_children(const struct result *r, uint32_t node, uint32_t *to)
{
	return preorder_children(&((const struct merged_tree *)tree_data(r))->order, node, to);
}

static uint32_t merged_depth(const void *data, uint32_t node)
{
	return ((const struct merged_paths *)data)->row[node].depth;
}

static void merged_release(void *data)
{
	struct merged_tree *tree = data;
	merged_paths_release(&tree->paths);
	preorder_release(&tree->order);
	path_rules_release(&tree->rules);
	path_plumbing_release(&tree->plumbing);
	big_free(tree->ids);
	free(tree);
}

static const struct tree_source merged_source = {.children = merged_children,
    .cell = merged_cell,
    .target = merged_target,
    .members = members_of_merged,
    .release = merged_release,
    .branch = M_CLASS,
    .weight = M_OBJECTS};

static void add_merged_note(struct result *r, const struct merged_paths *merged, bool weak)
{
	bool strongly = !weak && weak_known(r->heap);
	result_add_number_note(r, merged->missing, strongly ? "of them is unreachable (by strong references)" :
	    "of them is unreachable", strongly ? "of them are unreachable (by strong references)" :
	    "of them are unreachable");
	if (merged->deep)
		result_notef(r, "paths are limited to %d steps", MERGED_DEPTH);
	if (merged->many)
		result_notef(r, "the tree is limited to %d rows", MERGED_ROWS);
	command_add_roots_note(r);
}

/* With what they retain, if that is known or nobody waits on the screen for it. */
static int merge_paths(struct session *s, struct merged_tree *rows, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct what_if cut = {.retained = NULL};
	command_retained_beside(s);
	const struct retained *retained = opened_retained(s->dump);
	int code = retained ? what_if_init(&cut, retained, err) : 0;
	if (!code)
		code = paths_merge(&rows->paths, rows->made_of, h, plumbing_of(rows), rows->ids, rows->n_ids, rows->backward,
		    retained ? &cut : NULL, err);
	what_if_release(&cut);
	return code;
}

static int none_reached(const struct session *s, size_t n, struct err *err)
{
	const char *where = session_heap(s)->incomplete ? " in the part of the dump that was read" : "";
	return n == 1 ? err_set(err, ERR_NOT_FOUND, "no root reaches the object%s", where) :
	    err_set(err, ERR_NOT_FOUND, "no root reaches any of the %zu objects%s", n, where);
}

static int run_paths(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	bool weak = call_has(call, DASH_WEAK), backward = call_has(call, DASH_R);
	int code = session_find(s, weak ? FIND_WEAK_PATHS : FIND_PATHS, err);
	if (code)
		return code;
	struct merged_tree *rows = xcalloc(1, sizeof *rows);
	struct merged_paths *merged = &rows->paths;
	rows->made_of = opened_path_tree(s->dump, weak);
	rows->backward = backward;
	rows->folds = session_folds(s) && !call_has(call, DASH_UNFOLDED);
	code = path_rules_init(&rows->rules, session_heap(s), weak, err);
	if (!code)
		path_rules_give_back(&rows->rules);
	if (!code)
		code = path_plumbing_init(&rows->plumbing, session_heap(s), err);
	if (code) {
		merged_release(rows);
		return code;
	}
	rows->n_ids = call->argument[0].n_ids;
	rows->ids = big_alloc(rows->n_ids, sizeof *rows->ids, err);
	if (rows->ids && rows->n_ids)
		memcpy(rows->ids, call->argument[0].ids, rows->n_ids * sizeof *rows->ids);
	rows->class = rows->ids && rows->n_ids ? heap_class_index(session_heap(s), rows->ids[0]) : HEAP_NONE;
	for (size_t i = 1; i < rows->n_ids && rows->class != HEAP_NONE && !progress_own_stops(i); i++)
		if (heap_class_index(session_heap(s), rows->ids[i]) != rows->class)
			rows->class = HEAP_NONE;
	code = rows->ids ? merge_paths(s, rows, err) : ERR_NOMEM;
	if (!code && !merged->found)
		code = none_reached(s, call->argument[0].n_ids, err);
	if (!code)
		code = preorder_init(&rows->order, (uint32_t)merged->n, merged_depth, merged, err);
	if (code) {
		merged_release(rows);
		return code;
	}
	struct text title = TEXT_INIT;
	text_addf(&title, "paths to %s%s", call->argument[0].word, call_has(call, DASH_UNFOLDED) ? ", each step" : "");
	struct result *r = tree_result(title.s, s->dump, &merged_shape,
	    &merged_source, rows, command_at_once(s));
	result_mark(r, RESULT_OF_PATHS, true);
	result_mark(r, RESULT_FOLDED, rows->folds);
	result_mark(r, RESULT_UNFOLDED, call_has(call, DASH_UNFOLDED));
	tree_open_levels(r, command_depth(call, TREE_ALL));
	text_release(&title);
	if (merged->retained)
		command_show_retained(r);
	add_merged_note(r, merged, weak);
	*out = r;
	return 0;
}

const struct command cmd_paths = {
    .name = "paths",
    .arguments = {{ARG_SET, "SET", false}},
    .options = merged_options,
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "references and retained sizes",
    .summary = "merge the shortest paths of many objects by class",
    .shapes = SHAPES(&merged_shape),
    .description = "The paths that path finds, of every object of SET, as one tree with a row per class and depth. "
	"The tree begins with the GC roots, with -r with the objects.\n"
	"objects, shallow\tobjects of SET with a path through the row, or in it\n"
	"retained\tretained size of these objects; an object below another one counts once\n"
	"root\tkind of GC root at the beginning of a path\n"
	"field\treference to the objects of the row, by a few of them; blank if these differ\n"
	"A class object is a row of its own, called class NAME. People do not see arrays and nodes of collections, nor "
	"what leads to class objects; -unfolded, the key a and other formats show all.",
    .examples = {{"paths com.acme.shop.Session", ON_SHOP, "which paths hold the sessions?"},
	{"paths byte[] -r", ON_SHOP, "the same from the objects to the roots"}},
    .key = "",
    .run = run_paths,
};
