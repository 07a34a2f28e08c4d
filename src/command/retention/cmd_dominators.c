/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_dominators.c - dom, size, top: who keeps what alive, and how much.
 */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "analysis/histogram.h"
#include "analysis/search.h"
#include "analysis/what_if/what_if.h"
#include "base/amount.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "command/retention/heap_labels.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"
#include "result/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- groups ----------------------------------------------------------------------------------- */

#define AMOUNTS {.id = COL_OBJECTS, .total = true}, {.id = COL_SHALLOW, .total = true}, {.id = COL_RETAINED}, \
    {.id = COL_SHARE}
static const struct column class_columns[] = {{.id = COL_CLASS}, {.id = COL_LOADER, .hidden = true}, AMOUNTS};
static const struct column package_columns[] = {{.id = COL_PACKAGE}, {.id = COL_LOADER, .hidden = true}, AMOUNTS};
static const struct column loader_columns[] = {{.id = COL_LOADER_CLASS}, {.id = COL_LOADER}, AMOUNTS};
static const struct shape class_shape = {.form = "-by class", SHAPE_COLUMNS(class_columns)};
static const struct shape package_shape = {.form = "-by package", SHAPE_COLUMNS(package_columns)};
static const struct shape loader_shape = {.form = "-by loader", SHAPE_COLUMNS(loader_columns)};
static const struct shape *const group_shapes[] = {
    [BY_CLASS] = &class_shape, [BY_PACKAGE] = &package_shape, [BY_LOADER] = &loader_shape};

/* data: the row of each class. */
static int groups_members(const struct result *r, void *data, const struct bits *rows, struct bits *to, struct err *err)
{
	return histogram_members(r->heap, data, rows, NULL, to, err);
}

static void groups_release(void *data)
{
	big_free(data);
}

static void add_group(struct result *r, const struct retained *known, enum histogram_by by, bool all,
    const struct histogram_row *row, const struct retained_sum *sum)
{
	struct amount retained = retained_of_members(known, row->objects.n, sum);
	struct target target = {.kind = TARGET_GROUP};
	if (by == BY_CLASS)
		target = (struct target){.kind = TARGET_CLASS, .id = row->class, .part = !all};
	result_add_row(r, (struct cell[]){row->name ? cell_text(row->name) : cell_none(),
	    cell_object_address(r->heap, row->loader), cell_count(row->objects), cell_bytes(row->shallow),
	    cell_bytes(retained), command_share(known, retained)}, &target);
}

/* All objects, or the children of one in the tree (none of which stands above another). */
static int by_group(const struct session *s, const struct retained *r, const char *title,
    enum histogram_by by, bool all, uint32_t below, struct result **out, struct err *err)
{
	const struct heap *h = r->heap;
	uint32_t n = 0;
	const uint32_t *ids = all ? NULL : retained_children(r, below, &n);
	struct histogram_scope scope = {.objects = ids, .n_objects = n, .chosen = all ? NULL : heap_held};
	struct histogram rows;
	int code = histogram_make(&rows, h, by, &scope, err);
	if (code)
		return code;
	uint32_t *group = histogram_groups(&rows, h, by, &scope, err);
	struct retained_sum *sums = big_alloc(rows.n + 1, sizeof *sums, err);
	struct result *found = *out = result_new_rows(title, s->dump, group_shapes[by]);
	if (!group || !sums)
		code = ERR_NOMEM;
	else if (all)
		code = retained_by_group(r, group, (uint32_t)rows.n, NULL, NULL, sums, session_progress(s), err);
	for (uint32_t i = 0; !code && i < n && !progress_own_stops(i); i++) {
		retained_sum_add(r, &sums[group[heap_class_index(h, ids[i])]], ids[i]);
		result_add_member(found, group[heap_class_index(h, ids[i])], ids[i]);
	}
	for (size_t i = 0; !code && i < rows.n; i++)
		add_group(found, r, by, all, &rows.rows[i], &sums[i]);
	if (all)
		result_rows_members(found, groups_members, groups_release, group);
	else
		big_free(group);
	result_tell_loaders(found);
	result_sort_new(found, COL_RETAINED, true);
	command_add_roots_note(found);
	big_free(sums);
	histogram_release(&rows);
	return code;
}

/* --- dom -------------------------------------------------------------------------------------- */

enum { DOM_ADDRESS, DOM_OBJECT, DOM_CLASS, DOM_SHALLOW, DOM_RETAINED, DOM_CHILDREN, DOM_VALUE, DOM_DOMINATOR };

static const struct column tree_columns[] = {
    [DOM_ADDRESS] = {.id = COL_ADDRESS},
    [DOM_OBJECT] = {.id = COL_OBJECT},
    [DOM_CLASS] = {.id = COL_CLASS, .hidden = true},
    [DOM_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [DOM_RETAINED] = {.id = COL_RETAINED, .total = true},
    [DOM_CHILDREN] = {.id = COL_CHILDREN},
    [DOM_VALUE] = {.id = COL_VALUE},
    [DOM_DOMINATOR] = {.id = COL_DOMINATOR, .hidden = true},
};
static const struct shape tree_shape = {SHAPE_COLUMNS(tree_columns)};
static const unsigned char dom_what[] = { /* of the columns that dom_cell does not make itself */
    [DOM_ADDRESS] = OBJECT_ADDRESS,
    [DOM_CLASS] = OBJECT_CLASS,
    [DOM_SHALLOW] = OBJECT_SHALLOW,
    [DOM_RETAINED] = OBJECT_RETAINED,
    [DOM_CHILDREN] = OBJECT_CHILDREN,
};

static const struct option_spec dom_options[] = {
    {DASH_BY, OPT_CHOICE, "class|package|loader", "sum the rows by class, package or loader"},
    {DASH_DEPTH, OPT_COUNT, "N", "number of levels (default 1)"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

/* What the tree's source needs: the object that the first level hangs on, or HEAP_NONE. */
struct below {
	uint32_t id;
};

static uint32_t dom_children(const struct result *r, uint32_t node, uint32_t *to)
{
	const struct below *below = tree_data(r);
	const struct retained *known = opened_tree(r->opened);
	uint32_t n = 0;
	if (!known)
		return 0;
	const uint32_t *ids = retained_children(known, node == TREE_TOP ? below->id : node, &n);
	if (to && n)
		memcpy(to, ids, n * sizeof *to);
	return n;
}

static void dom_cell(const struct result *r, uint32_t id, unsigned column, struct cell *out, struct text *scratch)
{
	const struct heap *h = r->heap;
	const struct retained *known = opened_tree(r->opened);
	uint32_t up = known ? known->dominators.immediate[id] : DOMINATED_BY_ROOTS;
	uint32_t class = heap_class_mirrored(h, id);
	switch (column) {
	case DOM_OBJECT:
		if (class == HEAP_NONE) {
			object_cell(r->opened, id, OBJECT_CLASS, out, scratch);
			return;
		}
		text_addf(scratch, "class %s", h->classes[class].name);
		*out = cell_text(scratch->s);
		return;
	case DOM_DOMINATOR:
		*out = up < h->n_objects ? cell_address(heap_address(h, up)) : cell_blank();
		return;
	case DOM_VALUE: /* of a class object it is the class, which is shown already */
		*out = object_value_cell(r->heap, id, scratch);
		if (class != HEAP_NONE)
			*out = cell_blank();
		return;
	default:
		object_cell(r->opened, id, dom_what[column], out, scratch);
	}
}

static void dom_target(const struct result *r, uint32_t id, struct target *out)
{
	(void)r;
	*out = (struct target){.kind = TARGET_OBJECT, .id = id};
}

static const struct tree_source dom_source = {.children = dom_children,
    .cell = dom_cell,
    .target = dom_target,
    .release = free,
    .branch = DOM_OBJECT,
    .weight = DOM_RETAINED};

/* The tree below an object, or from the top; largest retained first. */
static struct result *dominator_tree(const struct session *s, const char *title, uint32_t id,
    uint32_t depth)
{
	struct below *below = xcalloc(1, sizeof *below);
	below->id = id;
	struct result *out = tree_result(title, s->dump, &tree_shape,
	    &dom_source, below, command_at_once(s));
	tree_sort(out, DOM_RETAINED, true);
	if (depth > 1)
		tree_open_levels(out, depth);
	command_add_roots_note(out);
	return out;
}

/* "dominated by ArrayList 0xe0033f68", "dominated by class Shop 0xe0001550" */
static void add_title(const struct heap *h, uint32_t id, struct text *to)
{
	uint32_t mirrored = heap_class_mirrored(h, id);
	const char *class = mirrored == HEAP_NONE ? heap_class_of(h, id)->name : h->classes[mirrored].name;
	text_addf(to, "dominated by %s%s 0x%" PRIx64, mirrored == HEAP_NONE ? "" : "class ",
	    heap_brief_name(h, class), heap_address(h, id));
}

static int run_dom(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	static const enum histogram_by kinds[] = {BY_CLASS, BY_PACKAGE, BY_LOADER};
	const struct heap *h = session_heap(s);
	const struct retained *r = opened_tree(s->dump);
	bool top = !call->argument[0].given;
	uint32_t id = top ? HEAP_NONE : call->argument[0].id, n;
	struct text title = TEXT_INIT;
	int code = call_has(call, DASH_BY) ? session_find(s, FIND_RETAINED, err) : 0;
	if (code)
		return code;
	if (!top && r->dominators.immediate[id] == NOT_REACHABLE)
		return err_set(err, ERR_NOT_FOUND, "0x%" PRIx64 " is unreachable, so it retains nothing",
		    heap_address(h, id));
	retained_children(r, id, &n);
	text_add(&title, "dominators");
	if (!top) {
		text_clear(&title);
		add_title(h, id, &title);
	}
	if (call_has(call, DASH_BY))
		code = by_group(s, r, title.s, kinds[call_choice(call, DASH_BY, 0)], false, id, out, err);
	else
		*out = dominator_tree(s, title.s, id, command_depth(call, 1));
	if (!code && !top && !n)
		(*out)->note = "it dominates no other object";
	text_release(&title);
	return code;
}

const struct command cmd_dom = {
    .name = "dom",
    .arguments = {{ARG_OBJECT, "OBJ", true}},
    .options = dom_options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_NO_REFERRERS,
    .finds = FIND_TREE,
    .group = "references and retained sizes",
    .summary = "show the dominator tree, largest objects first",
    .shapes = SHAPES(&tree_shape, &class_shape, &package_shape, &loader_shape),
    .description = "The rows are the objects that OBJ dominates: every path from a GC root to them leads through "
	"OBJ, so they are freed with it. Without OBJ: the top of the tree, objects held by GC roots only or by "
	"several objects. Strong, soft and implied references count; weak, final and phantom references do not "
	"(unless set weak on). Objects on the stack of a thread are below the thread.\n"
	"object\tclass of the object; class NAME for a class object\n"
	"retained\tsize of the whole subtree\n"
	"children\tnumber of rows below\n"
	"On the screen Right opens a row, Left closes it, * expands the largest child until no child dominates. "
	"holders lists the immediate dominators of a set by class.",
    .examples = {{"dom", ON_ANY, "which objects retain most?"}, {"dom -by class", ON_ANY, "the same summed by class"},
	{"dom 0xE0000AF0", ON_PHD, "what does this object keep alive?"}},
    .key = "d",
    .several = "holders",
    .run = run_dom,
};

/* --- size ------------------------------------------------------------------------------------- */

struct set_loss {
	const struct opened *opened;
	const uint32_t *ids;
	size_t n;
	struct amount objects, bytes;
};

static int find_loss(void *context, struct progress *progress, struct err *err)
{
	struct set_loss *l = context;
	struct what_if_loss loss;
	const struct retained *known = opened_retained(l->opened);
	uint32_t class = class_of_all(l->opened->heap, l->ids, l->n);
	int code = what_if_find(&loss, &l->opened->model, NULL, l->ids, l->n, progress, err);
	if (code)
		return code;
	if (known && class != HEAP_NONE)
		retained_note_class(known, class, loss.bytes.n, loss.doubts);
	l->objects = loss.objects;
	l->bytes = loss.bytes;
	what_if_loss_release(&loss);
	return 0;
}

int command_set_retained(struct session *s, const uint32_t *ids, size_t n, struct amount *objects,
    struct amount *bytes, struct err *err)
{
	struct set_loss loss = {.opened = s->dump, .ids = ids, .n = n};
	int code = session_work(s, find_loss, &loss, err);
	*objects = loss.objects;
	*bytes = loss.bytes;
	return code;
}

static const enum column_id size_values[] = {
    COL_OBJECTS, COL_SHALLOW, COL_RETAINED, COL_RETAINED_OBJECTS};
static const struct shape size_shape = {SHAPE_HEAD(size_values)};

static int run_size(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	const uint32_t *ids = call->argument[0].ids;
	size_t n = call->argument[0].n_ids;
	struct amount freed, bytes, count = heap_count_of(h, ids, n);
	const struct retained *known = opened_retained(s->dump);
	int code = 0;
	if (known && n == 1) {
		code = retained_objects_of(known, ids[0], &freed, err);
		bytes = retained_of(known, ids[0]);
	} else {
		code = command_set_retained(s, ids, n, &freed, &bytes, err);
	}
	if (code)
		return code;
	struct result *r = result_new_rows(call->argument[0].word, s->dump, &size_shape);
	result_head(r, COL_OBJECTS, cell_count(count));
	result_head(r, COL_SHALLOW, cell_bytes(amount_as_sure(heap_size_of(h, ids, n), count)));
	result_head(r, COL_RETAINED, cell_bytes(bytes));
	result_head(r, COL_RETAINED_OBJECTS, cell_count(freed));
	command_add_roots_note(r);
	*out = r;
	return 0;
}

const struct command cmd_size = {
    .name = "size",
    .arguments = {{ARG_SET, "SET", false}},
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "references and retained sizes",
    .summary = "compute the retained size of an object or a set",
    .shapes = SHAPES(&size_shape),
    .description = "The size is exact for sets, too: objects that only several of the set hold together count, and "
	"each counts once. SET is an object, a class pattern or a kept set ($name). Unreachable objects free "
	"nothing.",
    .examples = {{"size 0xE0000AF0", ON_PHD, "how much is freed with this object?"},
	{"size java.lang.String", ON_SHOP, "how much is freed with all Strings?"}, {"size byte[]", ON_SHOP}},
    .key = "",
    .run = run_size,
};

/* --- top -------------------------------------------------------------------------------------- */

static const struct option_spec top_options[] = {
    {DASH_BY, OPT_CHOICE, "object|class|package|loader", "group by (default object)"},
    {DASH_N, OPT_COUNT, "N", "number of rows (default 25)"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

enum { TOP_ADDRESS, TOP_CLASS, TOP_SHALLOW, TOP_RETAINED, TOP_SHARE, TOP_CHILDREN, TOP_VALUE, TOP_COLUMNS };

static const struct column top_columns[TOP_COLUMNS] = {
    [TOP_ADDRESS] = {.id = COL_ADDRESS},
    [TOP_CLASS] = {.id = COL_CLASS},
    [TOP_SHALLOW] = {.id = COL_SHALLOW},
    [TOP_RETAINED] = {.id = COL_RETAINED, .total = true},
    [TOP_SHARE] = {.id = COL_SHARE},
    [TOP_CHILDREN] = {.id = COL_CHILDREN, .hidden = true},
    [TOP_VALUE] = {.id = COL_VALUE},
};
static const struct shape top_shape = {SHAPE_COLUMNS(top_columns)};

/* Larger first; equal ones by id. */
static int by_size(const void *a, const void *b, void *retained)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t bytes_x = retained_size(retained, x), bytes_y = retained_size(retained, y);
	if (bytes_x != bytes_y)
		return bytes_x < bytes_y ? 1 : -1;
	return (x > y) - (x < y);
}

static struct result *top_rows(const struct opened *o,
    const struct retained *r, const uint32_t *ids, size_t n, const uint32_t *children)
{
	const struct heap *h = r->heap;
	struct result *out =
	    result_new_rows("largest objects", o, &top_shape);
	struct text scratch = TEXT_INIT, command = TEXT_INIT;
	for (size_t i = 0; i < n && !progress_own_stops(8 * i); i++) {
		uint32_t id = ids[i];
		struct target target = {.kind = TARGET_OBJECT, .id = id};
		struct cell cells[TOP_COLUMNS];
		object_cell(o, id, OBJECT_ADDRESS, &cells[TOP_ADDRESS], &scratch);
		object_cell(o, id, OBJECT_CLASS, &cells[TOP_CLASS], &scratch);
		object_cell(o, id, OBJECT_SHALLOW, &cells[TOP_SHALLOW], &scratch);
		cells[TOP_RETAINED] = cell_bytes(retained_of(r, id));
		cells[TOP_SHARE] = command_share(r, retained_of(r, id));
		cells[TOP_CHILDREN] = cell_count(heap_held(h, children[i]));
		cells[TOP_VALUE] = object_value_cell(o->heap, id, &scratch);
		text_clear(&command);
		text_addf(&command, "dom 0x%" PRIx64, heap_address(h, id));
		target.command = command.s;
		result_add_row(out, cells, &target);
	}
	text_release(&scratch);
	text_release(&command);
	out->sorted_by = TOP_RETAINED;
	out->descending = true;
	command_add_roots_note(out);
	return out;
}

/* Asks for no lists of children: these are as much work as a third of all sizes. */
static int top_objects(struct session *s, size_t most, struct result **out, struct err *err)
{
	const struct retained *r = opened_sizes(s->dump);
	uint32_t n, *ids;
	int code = retained_top(r, &ids, &n, err);
	if (code)
		return code;
	code = sort_with(ids, n, sizeof *ids, by_size, (void *)(uintptr_t)r, err);
	size_t shown = most < n ? most : n;
	uint32_t *children = big_alloc(shown, sizeof *children, err);
	if (!code)
		code = !children ? ERR_NOMEM : retained_count_children(r, ids, shown, children, err);
	if (!code)
		*out = top_rows(s->dump, r, ids, shown, children);
	big_free(children);
	big_free(ids);
	return code;
}

static int run_top(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	static const enum histogram_by kinds[] = {BY_CLASS, BY_CLASS, BY_PACKAGE, BY_LOADER};
	static const char *const titles[] = {"", "largest classes", "largest packages", "largest loaders"};
	int by = call_choice(call, DASH_BY, 0), n = call_option(call, DASH_N);
	size_t most = call->option[n].given ? (size_t)call->option[n].number : 25;
	if (by == 0)
		return top_objects(s, most, out, err);
	int code = session_find(s, FIND_RETAINED, err);
	if (code)
		return code;
	code = by_group(s, opened_retained(s->dump), titles[by], kinds[by], true, HEAP_NONE, out, err);
	if (!code)
		result_keep_first(*out, most);
	return code;
}

const struct command cmd_top = {
    .name = "top",
    .options = top_options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_NO_REFERRERS,
    .finds = FIND_SIZES,
    .group = "references and retained sizes",
    .summary = "list the largest retained sizes",
    .shapes = SHAPES(&top_shape, &class_shape, &package_shape, &loader_shape),
    .description = "The largest objects at the top of the dominator tree, or the largest classes, packages or class "
	"loaders. Groups may free more together than their objects free one by one: then retained is a lower bound "
	"(>=), and size computes the exact value.\n"
	"retained\tof a group: bytes that its objects free one by one, each byte once\n"
	"share\tpercent of the reachable heap",
    .examples = {{"top", ON_ANY, "the 25 largest objects"}, {"top -by class", ON_ANY, "which classes retain most?"},
	{"top -by package -n 5"}},
    .key = "",
    .run = run_top,
};
