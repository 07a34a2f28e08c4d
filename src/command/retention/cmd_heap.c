/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_heap.c - heap: what holds what, as a disk is looked through. */
#include "command/commands.h"

#include "analysis/heap_tree/heap_tree.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "command/retention/heap_labels.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"
#include "result/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { H_ADDRESS, H_BRANCH, H_FIELD, H_CLASS, H_OBJECTS, H_SHALLOW, H_RETAINED, H_SHARE, H_VALUE, H_DEPTH };

static const struct column columns[] = {
    [H_ADDRESS] = {.id = COL_ADDRESS},
    [H_BRANCH] = {.id = COL_BRANCH},
    [H_FIELD] = {.id = COL_FIELD, .hidden = true},
    [H_CLASS] = {.id = COL_CLASS, .hidden = true},
    [H_OBJECTS] = {.id = COL_OBJECTS, .room = COLUMN_EARLY}, /* the branch says it as well */
    [H_SHALLOW] = {.id = COL_SHALLOW, .room = COLUMN_EARLY},
    [H_RETAINED] = {.id = COL_RETAINED, .total = true},
    [H_SHARE] = {.id = COL_SHARE, .room = COLUMN_EARLY},
    [H_VALUE] = {.id = COL_VALUE, .room = COLUMN_EARLY},
    [H_DEPTH] = {.id = COL_DEPTH, .hidden = true},
};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

/* Node 0 of the tree is the result's TREE_TOP, so node n is node n - 1 of the result. */
struct held {
	struct heap_tree tree;
	struct heap_labels labels;
	uint64_t serial; /* of the retained sizes that the tree is made of */
};

/* The same retained sizes as at first; NULL: what counts as a reference has changed since. */
static struct held *held_of(const struct result *r)
{
	struct held *held = tree_data(r);
	const struct retained *known = opened_retained(r->opened);
	return known && known->serial == held->serial ? held : NULL;
}

static int changed(struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED, "the setting weak has changed (run heap again)");
}

static int held_open(const struct result *r, uint32_t node, struct err *err)
{
	struct held *held = held_of(r);
	return held ? heap_fold_open(&held->tree, node + 1, err) : changed(err);
}

static bool held_is_ready(const struct result *r, uint32_t node)
{
	struct held *held = held_of(r);
	return held && heap_fold_is_found(&held->tree, node + 1);
}

static bool held_known(const struct result *r, uint32_t node)
{
	struct held *held = held_of(r);
	return held && heap_fold_is_open(&held->tree, node + 1);
}

static int held_open_small(const struct result *r, uint32_t node, uint32_t most, struct err *err)
{
	struct held *held = held_of(r);
	int code = held ? heap_fold(&held->tree, node + 1, err) : changed(err);
	bool opens = !code && heap_fold_is_small(&held->tree, node + 1, most);
	return opens ? heap_fold_open(&held->tree, node + 1, err) : code;
}

static int held_ready(const struct result *r, uint32_t node, struct err *err)
{
	struct held *held = held_of(r);
	return held ? heap_fold(&held->tree, node + 1, err) : 0;
}

/* Without the memory for it nothing shares a row. */
static void fold(struct held *held, uint32_t number)
{
	struct err err = ERR_INIT;
	(void)!heap_fold(&held->tree, number, &err);
}

static uint32_t held_way(const struct result *r, uint32_t node, uint32_t *way, bool *apart)
{
	_Static_assert(WAY_MOST + 1 <= TREE_WAY, "a way has room");
	struct held *held = held_of(r);
	if (!held)
		return 0;
	uint32_t n = heap_fold_turned(&held->tree, node + 1, way, apart);
	for (uint32_t i = 0; i < n; i++)
		way[i]--;
	return n;
}

static void held_turn_way(const struct result *r, uint32_t node)
{
	struct held *held = held_of(r);
	if (held)
		heap_fold_turn(&held->tree, node + 1);
}

static uint32_t held_children(const struct result *r, uint32_t node, uint32_t *to)
{
	struct held *held = held_of(r);
	if (!held)
		return 0;
	fold(held, node + 1);
	if (!heap_fold_is_open(&held->tree, node + 1))
		return heap_fold_opens(&held->tree, node + 1);
	uint32_t children = heap_fold_children(&held->tree, node + 1, to);
	for (uint32_t i = 0; to && i < children; i++)
		to[i]--;
	return children;
}

static int held_regroup(const struct result *r, uint32_t node, uint32_t *shown, struct err *err)
{
	struct held *held = held_of(r);
	if (!held)
		return changed(err);
	int code = heap_tree_regroup(&held->tree, node + 1, shown, err);
	if (!code)
		--*shown;
	return code;
}

/* "HashMap", "1,200,000 × Order" */
static void add_objects(struct held *held, uint32_t number, struct text *to)
{
	const struct heap_node *n = &held->tree.node[number];
	const struct heap *h = held->tree.retained->heap;
	if (n->n > 1) {
		text_add_count(to, n->n);
		text_add(to, " × ");
	}
	text_add(to, heap_brief_name(h, h->classes[n->class].name));
}

/* " > props.blobs[17]  HashMap": by which way the row goes on, and to what.  What collections are made of is no
 * news, unless it leads to more. */
static void add_way(struct held *held, uint32_t number, struct text *to)
{
	uint32_t way[WAY_MOST + 1], n = heap_fold_way(&held->tree, number, way);
	struct text label = TEXT_INIT;
	while (n > 1 && held->tree.node[way[n - 1]].inside)
		n--;
	for (uint32_t i = 1; i < n; i++) {
		text_clear(&label);
		heap_label(&held->labels, way[i], true, &label);
		bool step = i == 1 || !label.len || strchr(label.s, ' ');
		text_add(to, step ? " > " : *label.s == '[' ? "" : ".");
		if (label.len)
			text_add(to, label.s);
		else
			add_objects(held, way[i], to);
	}
	if (label.len)
		text_add(to, "  ");
	if (label.len)
		add_objects(held, way[n - 1], to);
	text_release(&label);
}

/* "sessions  HashMap", "1,200,000 × Order", "static Shop.config  Config > props.blobs  HashMap" */
static void add_branch(struct held *held, uint32_t number, struct text *to)
{
	size_t before = to->len;
	heap_label(&held->labels, number, true, to);
	if (held->tree.node[number].loaders) /* they and their lists are of several classes */
		return;
	if (to->len > before)
		text_add(to, "  ");
	add_objects(held, number, to);
	add_way(held, number, to);
}

static void held_cell(const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	const struct heap *h = r->heap;
	struct held *held = held_of(r);
	if (!held) {
		*out = cell_unknown(REASON_NOT_FOUND_YET);
		return;
	}
	if (column == H_BRANCH)
		fold(held, node + 1);
	const struct retained *known = held->tree.retained;
	const struct heap_node *n = &held->tree.node[node + 1];
	struct amount retained = retained_sum_bytes(known, &n->retained);
	bool one = n->topmost == 1 && !n->classes;
	switch (column) {
	case H_ADDRESS:
		*out = one ? cell_address(heap_address(h, n->largest)) : cell_blank();
		break;
	case H_BRANCH:
		add_branch(held, node + 1, scratch);
		*out = cell_text(scratch->s);
		break;
	case H_FIELD:
		heap_label(&held->labels, node + 1, false, scratch);
		*out = scratch->len ? cell_text(scratch->s) : cell_blank();
		break;
	case H_CLASS:
		*out = n->loaders ? cell_blank() : cell_text(h->classes[n->class].name);
		break;
	case H_OBJECTS:
		*out = cell_count(n->n == 1 ? amount_exact(1) : heap_held(h, n->n));
		break;
	case H_SHALLOW:
		*out = cell_bytes(n->n == 1 ? heap_size(h, n->largest) :
		    heap_sized(h, heap_held(h, n->shallow), n->doubts, n->n_unknown));
		break;
	case H_RETAINED:
		*out = cell_bytes(retained);
		break;
	case H_SHARE:
		*out = command_share(known, retained);
		break;
	case H_VALUE:
		*out = cell_blank();
		if (n->n == 1 && one)
			*out = object_value_cell(r->heap, n->largest, scratch);
		break;
	default:
		*out = cell_blank(); /* the tree knows how deep it is */
	}
}

static void held_target(const struct result *r, uint32_t node, struct target *out)
{
	struct held *held = held_of(r);
	const struct heap_node *n = held ? &held->tree.node[node + 1] : NULL;
	if (n && n->n == 1)
		*out = (struct target){.kind = TARGET_OBJECT, .id = n->largest};
	else if (n)
		*out = (struct target){.kind = n->loaders ? TARGET_GROUP : TARGET_CLASS, .id = n->class, .part = !n->loaders};
}

static int held_members(const struct result *r, const uint32_t *nodes, size_t n, struct bits *to, struct err *err)
{
	struct held *held = held_of(r);
	if (!held)
		return changed(err);
	for (size_t i = 0; i < n; i++) {
		const struct heap_node *node = &held->tree.node[nodes[i] + 1];
		for (size_t k = 0; k < node->n; k++)
			bits_set(to, held->tree.member[node->at + k]);
	}
	return 0;
}

static void held_release(void *data)
{
	struct held *held = data;
	heap_labels_release(&held->labels);
	heap_tree_release(&held->tree);
	free(held);
}

static const struct tree_source source = {.open = held_open,
    .is_ready = held_is_ready,
    .known = held_known,
    .open_small = held_open_small,
    .children = held_children,
    .regroup = held_regroup,
    .ready = held_ready,
    .way = held_way,
    .turn_way = held_turn_way,
    .cell = held_cell,
    .target = held_target,
    .members = held_members,
    .release = held_release,
    .branch = H_BRANCH,
    .weight = H_RETAINED,
    .depth = H_DEPTH};

/* What no root reaches; some of it may be alive. */
static struct cell garbage_cell(const struct heap *h, const struct retained *known)
{
	uint64_t reached = known->dominators.shallow_reachable;
	struct amount unreached = heap_held_bytes(h, reached < h->shallow ? h->shallow - reached : 0);
	return cell_bytes(amount_as_sure(unreached, retained_of_nothing_reached(known)));
}

bool command_live(const struct opened *o, struct cell *live, struct cell *garbage)
{
	const struct retained *known = opened_retained(o);
	if (known)
		*live = cell_bytes(retained_of_all(known));
	if (known)
		*garbage = garbage_cell(o->heap, known);
	return known != NULL;
}

void command_live_words(const struct opened *o, const char *dot, struct text *to)
{
	struct cell dead, live;
	if (!command_live(o, &live, &dead))
		return;
	struct cell all = cell_bytes(heap_held_bytes(o->heap, o->heap->shallow));
	bool mostly = dead.amount.n > live.amount.n;
	text_add(to, mostly ? "" : "live ");
	cell_print(mostly ? &dead : &live, to);
	if (mostly)
		text_add(to, " of ");
	else
		text_addf(to, " %s garbage ", dot);
	cell_print(mostly ? &all : &dead, to);
	text_add(to, mostly ? " is garbage" : "");
}

/* How much of the dump the tree leaves out. */
static void add_garbage(struct result *r, const struct retained *known)
{
	const struct heap *h = r->heap;
	struct text t = TEXT_INIT;
	if (known->dominators.shallow_reachable >= h->shallow || h->roots_missing)
		return;
	struct cell dead = garbage_cell(h, known);
	struct cell all = cell_bytes(heap_held_bytes(h, h->shallow));
	cell_print(&dead, &t);
	text_add(&t, " of ");
	cell_print(&all, &t);
	text_add(&t, " is unreachable and not shown here (histo -unreachable lists it)");
	result_add_note_text(r, &t);
}

static int run_heap(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct retained *known = opened_retained(s->dump);
	bool all = !call->argument[0].given;
	struct held *held = xcalloc(1, sizeof *held);
	held->serial = known->serial;
	int code = heap_tree_make(&held->tree, known, all ? NULL : call->argument[0].ids,
	    all ? 0 : call->argument[0].n_ids, call_has(call, DASH_EACH), err);
	held->tree.unfolded = call_has(call, DASH_UNFOLDED);
	if (!code)
		code = heap_labels_init(&held->labels, &held->tree, err);
	if (!code && !all && !held->tree.node[HEAP_TREE_TOP].n)
		code = err_set(err, ERR_NOT_FOUND, "\"%.200s\" is unreachable, so it retains nothing",
		    call->argument[0].word);
	if (code) {
		held_release(held);
		return code;
	}
	struct text title = TEXT_INIT;
	text_addf(&title, all ? "heap" : "dominated by %s", call->argument[0].word);
	struct result *r = tree_result(title.s, s->dump, &shape, &source, held, command_at_once(s));
	text_release(&title);
	tree_sort(r, H_RETAINED, true);
	uint32_t depth = command_depth(call, 1);
	if (depth > 1)
		tree_open_levels(r, depth);
	command_add_roots_note(r);
	if (all)
		add_garbage(r, known);
	else if (!r->n_rows)
		result_add_note(r, "it dominates no other object");
	*out = r;
	return 0;
}

static const struct option_spec options[] = {
    {DASH_DEPTH, OPT_COUNT, "N", "number of levels (default 1)"},
    {DASH_EACH, OPT_FLAG, NULL, "a row per object, no groups"},
    {DASH_UNFOLDED, OPT_FLAG, NULL, "a row per object of a chain of fields"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_heap = {
    .name = "heap",
    .arguments = {{ARG_SET, "SET", true}},
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED,
    .finds = FIND_RETAINED,
    .group = "references and retained sizes",
    .summary = "browse the dominator tree by field, groups of objects as one row",
    .shapes = SHAPES(&shape),
    .description = "The dominator tree (dom), browsed like a disk: the rows below a row add up to its retained size, "
	"less its own bytes.\n"
	"field\tfield, variable or frame that holds the object; \"via\" one of several\n"
	"object\tobjects of one class below one holder are one row, with their number; so is a chain or tree of one "
	"class\n"
	"A > b.c\ta row continues in the one object below that keeps at least half of it\n"
	"Numbers, address and keys of such a row are those of its first object. Static fields are next to their "
	"class objects; class loaders and class objects count only their own bytes. Internals of collections and "
	"Strings belong to their row. With SET: only the objects that SET dominates. On the screen Right opens a row "
	"and Left closes it; * expands the largest child until no child dominates. g splits a group of objects; the "
	"key a splits a chain of fields. The boxes above are the first levels: the wider, the more they retain; a click "
	"goes to the row.",
    .examples = {{"heap", ON_ANY, "where does the memory go?"},
	{"heap -depth 3 | head 20", ON_ANY, "the same, three levels at once"},
	{"heap com.acme.shop.Session", ON_SHOP, "what do the sessions hold?"}},
    .key = "",
    .run = run_heap,
};
