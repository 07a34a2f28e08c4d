/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_bt.c - bt: the frames of a thread, and below each what it holds.
 *
 * The rows are made one after another, a row for each object that a frame holds, with the frame's number and
 * method in each of them: so machines read them.  People see a tree of them: a frame is a heading, which has
 * the line for itself, and what it holds stands below.
 */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "analysis/java/java.h"
#include "base/mem.h"
#include "command/browse/bt_noted.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a row as it is made. */
static const struct column row_columns[] = {
    [BT_FRAME] = {.id = COL_FRAME_NUMBER},
    [BT_METHOD] = {.id = COL_METHOD},
    [BT_KIND] = {.id = COL_KIND},
    [BT_ADDRESS] = {.id = COL_ADDRESS},
    [BT_CLASS] = {.id = COL_CLASS},
    [BT_SHALLOW] = {.id = COL_SHALLOW},
    [BT_RETAINED] = {.id = COL_RETAINED},
    [BT_VALUE] = {.id = COL_VALUE},
    [BT_VARIABLE] = {.id = COL_VARIABLE},
};
static const struct shape row_shape = {SHAPE_COLUMNS(row_columns)};

/* The same in the tree, with its branches behind the first. */
enum { BT_BRANCH = 1 };
static const struct column bt_columns[] = {
    [BT_FRAME] = {.id = COL_FRAME_NUMBER, .hidden = true},
    [BT_BRANCH] = {.id = COL_BRANCH, .room = COLUMN_LAST},
    [1 + BT_METHOD] = {.id = COL_METHOD, .hidden = true},
    [1 + BT_KIND] = {.id = COL_KIND, .hidden = true},
    [1 + BT_ADDRESS] = {.id = COL_ADDRESS, .room = COLUMN_LATE},
    [1 + BT_CLASS] = {.id = COL_CLASS, .room = COLUMN_LAST},
    [1 + BT_SHALLOW] = {.id = COL_SHALLOW, .hidden = true},
    [1 + BT_RETAINED] = {.id = COL_RETAINED, .hidden = true},
    [1 + BT_VALUE] = {.id = COL_VALUE, .hidden = true, .room = COLUMN_EARLY},
    [1 + BT_VARIABLE] = {.id = COL_VARIABLE, .hidden = true},
};
static const struct shape bt_shape = {SHAPE_COLUMNS(bt_columns)};

/* --- rows ------------------------------------------------------------------------------------- */

/* "gp, +2 words": the names of the words that hold one object, and how many have none. */
static void add_variables(
    const struct heap *h, const struct heap_root *root, size_t n, struct text *to)
{
	struct text name = TEXT_INIT, last = TEXT_INIT;
	size_t nameless = 0;
	for (size_t i = 0; i < n; i++) {
		text_clear(&name);
		if (!heap_symbol(h, root[i].slot, &name)) {
			nameless++;
		} else if (!last.s || strcmp(last.s, name.s)) {
			text_addf(to, "%s%s", to->len ? ", " : "", name.s);
			text_clear(&last);
			text_add(&last, name.s);
		}
	}
	if (nameless && n > 1)
		text_addf(to, "%s%zu word%s", to->len ? ", +" : "", nameless, nameless == 1 ? "" : "s");
	text_release(&name);
	text_release(&last);
}

/* A frame with one of the objects that it holds, by n words; or with none (root NULL). */
static void add_frame(struct result *r, const struct heap *h, const struct heap_thread *thread,
    uint32_t frame, const struct heap_root *root, size_t n)
{
	struct text words = TEXT_INIT, name = TEXT_INIT;
	struct bt_row row = {.frame = frame, .object = root ? root->object : HEAP_NONE, .value = cell_blank(),
	    .method = frame != HEAP_NONE ? thread->frames[frame] : NULL};
	if (root) {
		add_variables(h, root, n, &name);
		row.variable = name.s;
		row.kind = root_kind_name(root->kind);
		row.class = heap_class_of(h, root->object)->name;
		row.address = heap_address(h, root->object);
		object_cell(r->opened, root->object, OBJECT_VALUE, &row.value, &words);
	}
	bt_add_row(r, &row);
	text_release(&name);
	text_release(&words);
}

struct held {
	uint32_t frame;
	size_t root;
};

static int by_frame(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return (x->root > y->root) - (x->root < y->root);
}

/* How many from the first on hold the same object, word by word; else 1. */
static size_t same_object(const struct heap *h, const struct held *held, size_t n)
{
	const struct heap_root *first = &h->roots[held->root];
	size_t same = 1;
	while (first->slot && same < n && held[same].frame == held->frame &&
	    held[same].root == held->root + same && first[same].object == first->object &&
	    first[same].kind == first->kind && first[same].slot)
		same++;
	return same;
}

/* The rows of a thread; *n_framed: those that frames have, which stand before all others. */
static int make_rows(struct result **out, const struct opened *o, uint32_t t, size_t *n_framed, struct err *err)
{
	const struct heap *h = o->heap;
	const struct heap_thread *thread = &h->threads[t];
	struct held *held = NULL;
	size_t n = 0, cap = 0, at = 0, same;
	for (size_t i = 0; i < h->n_roots; i++) {
		if (h->roots[i].thread != t)
			continue;
		struct held *to = BIG_PUSH(held, n, cap, err);
		if (!to) {
			big_free(held);
			return ERR_NOMEM;
		}
		*to = (struct held){h->roots[i].frame, i};
	}
	sort_array(held, n, sizeof *held, by_frame);
	struct result *r = *out = result_new_rows(thread->name ? thread->name : "thread", o, &row_shape);
	result_rows_late(r, COL_RETAINED, row_retained_cell);
	for (uint32_t frame = 0; frame < thread->n_frames; frame++) {
		bool any = false;
		for (; at < n && held[at].frame == frame; at += same) {
			same = same_object(h, held + at, n - at);
			add_frame(r, h, thread, frame, &h->roots[held[at].root], same);
			any = true;
		}
		if (!any)
			add_frame(r, h, thread, frame, NULL, 0);
	}
	*n_framed = r->n_source;
	for (; at < n; at++) { /* held by the thread, no frame known */
		if (!bt_is_noted(h, &h->roots[held[at].root]))
			add_frame(r, h, thread, HEAP_NONE, &h->roots[held[at].root], 1);
	}
	bt_add_noted(r, t);
	big_free(held);
	return result_check(r, err);
}

/* --- the tree --------------------------------------------------------------------------------- */

/* Nodes are the rows, by their numbers, and behind them the headings. */
struct backtrace {
	struct result *rows;
	uint32_t n_rows;
	int digits;          /* of the largest frame number */
	struct frame_rows {
		uint32_t first, n; /* rows */
	} *heading;          /* of frames that hold something; big memory */
	size_t n_headings, cap_headings;
	uint32_t *top;       /* nodes of the first level; big memory */
	uint32_t n_top;
};

static struct backtrace *backtrace_of(const struct result *r)
{
	return tree_data(r);
}

static void backtrace_release(void *data)
{
	struct backtrace *b = data;
	result_free(b->rows);
	big_free(b->heading);
	big_free(b->top);
	free(b);
}

static bool holds(const struct result *rows, uint32_t row)
{
	struct target target;
	result_target(rows, row, &target);
	return target.kind != TARGET_NONE;
}

static int find_headings(struct backtrace *b, size_t n_framed, struct err *err)
{
	uint32_t frame = HEAP_NONE;
	b->n_rows = (uint32_t)b->rows->n_source;
	b->top = big_alloc(b->n_rows, sizeof *b->top, err);
	if (!b->top)
		return ERR_NOMEM;
	for (uint32_t row = 0; row < b->n_rows; row++) {
		struct cell cell;
		if (progress_own_stops(row))
			return err_cancelled(err);
		if (row >= n_framed || !holds(b->rows, row)) {
			b->top[b->n_top++] = row;
			continue;
		}
		result_cell(b->rows, row, BT_FRAME, &cell);
		if (!b->n_headings || frame != cell.amount.n) {
			struct frame_rows *to = BIG_PUSH(b->heading, b->n_headings, b->cap_headings, err);
			if (!to)
				return ERR_NOMEM;
			*to = (struct frame_rows){row, 0};
			b->top[b->n_top++] = b->n_rows + (uint32_t)b->n_headings - 1;
			frame = (uint32_t)cell.amount.n;
		}
		b->heading[b->n_headings - 1].n++;
	}
	return 0;
}

static uint32_t backtrace_children(const struct result *r, uint32_t node, uint32_t *to)
{
	const struct backtrace *b = backtrace_of(r);
	if (node == TREE_TOP) {
		if (to && b->n_top)
			memcpy(to, b->top, b->n_top * sizeof *to);
		return b->n_top;
	}
	if (node < b->n_rows)
		return 0;
	const struct frame_rows *heading = &b->heading[node - b->n_rows];
	for (uint32_t i = 0; to && i < heading->n; i++)
		to[i] = heading->first + i;
	return heading->n;
}

/* "1  com.acme.Shop.main(Shop.java:42)"; of what a frame holds its variable, or what kind of thing it is. */
static struct cell branch_cell(const struct backtrace *b, uint32_t row, bool heading, struct text *to)
{
	struct cell frame, text;
	result_cell(b->rows, row, BT_FRAME, &frame);
	if (heading) { /* the rows have their frames */
		text_addf(to, "%*" PRIu64 "  ", b->digits, frame.amount.n);
		result_cell(b->rows, row, BT_METHOD, &text);
		cell_print_plain(&text, to);
		return cell_text(to->s);
	}
	result_cell(b->rows, row, BT_VARIABLE, &text);
	if (text.type == CELL_NONE)
		result_cell(b->rows, row, BT_KIND, &text);
	cell_print_plain(&text, to);
	return cell_text(to->s ? to->s : "");
}

static enum row_heading backtrace_heading(const struct result *r, uint32_t node)
{
	const struct backtrace *b = backtrace_of(r);
	struct cell kind;
	if (node >= b->n_rows)
		return HEADING_OF_ROWS;
	result_cell(b->rows, node, BT_KIND, &kind);
	return kind.type == CELL_NONE ? HEADING_ALONE : NO_HEADING;
}

static void backtrace_cell(
    const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	const struct backtrace *b = backtrace_of(r);
	bool heads = node >= b->n_rows;
	uint32_t row = heads ? b->heading[node - b->n_rows].first : node;
	if (column == BT_BRANCH)
		*out = branch_cell(b, row, backtrace_heading(r, node) != NO_HEADING, scratch);
	else if (heads && column > 1 + BT_METHOD)
		*out = cell_blank();
	else
		result_read(b->rows, row, column ? column - 1 : BT_FRAME, out, scratch);
}

static void backtrace_target(const struct result *r, uint32_t node, struct target *out)
{
	const struct backtrace *b = backtrace_of(r);
	if (node < b->n_rows)
		result_target(b->rows, node, out);
}

static const struct tree_source backtrace_source = {
    .children = backtrace_children,
    .cell = backtrace_cell,
    .target = backtrace_target,
    .heading = backtrace_heading,
    .release = backtrace_release,
    .branch = BT_BRANCH,
    .weight = 1 + BT_SHALLOW,
};

/* The row of a frame: its heading, where it has one. */
static size_t row_of_frame(struct result *r, uint32_t frame)
{
	struct cell cell;
	for (size_t row = 0; row < r->n_rows && !progress_own_stops(row); row++) {
		result_cell(r, row, BT_FRAME, &cell);
		if (cell.type != CELL_NONE && cell.amount.n == frame)
			return row;
	}
	return 0;
}

static int run_bt(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct backtrace *b = xcalloc(1, sizeof *b);
	size_t n_framed = 0;
	uint32_t thread = call_has(call, DASH_OOM) ? java_oom_thread(h) : call->argument[0].id;
	int code = thread != HEAP_NONE ? command_retained(s, call, err) :
	    err_set(err, ERR_NOT_FOUND, "the dump does not record a thread that ran out of memory");
	if (!code)
		code = make_rows(&b->rows, s->dump, thread, &n_framed, err);
	bool people = s->interactive || print_is_for_people(s->settings.print.format); /* machines count rows */
	if (!code)
		code = find_headings(b, people ? n_framed : 0, err);
	if (code) {
		backtrace_release(b);
		return code;
	}
	for (uint32_t n = h->threads[thread].n_frames; n > 10; n = (n + 9) / 10)
		b->digits++;
	b->digits++;
	struct result *r = *out = tree_result(b->rows->title, s->dump, &bt_shape, &backtrace_source, b, command_at_once(s));
	tree_open_levels(r, TREE_ALL);
	if (call_has(call, DASH_OOM))
		r->row_asked = row_of_frame(r, java_oom_frame(h, thread));
	if (values_held(h))
		result_show_column(r, COL_VALUE, true);
	command_show_retained(r);
	if (h->threads[thread].stack == STACK_UNKNOWN)
		r->note = "the dump does not record which stack belongs to this thread";
	else if (!r->n_rows)
		r->note = "the dump has no frames of this thread";
	return 0;
}

const struct command cmd_bt = {
    .name = "bt",
    .arguments = {{ARG_THREAD, "THREAD", false}},
    .options = OPTIONS({DASH_OOM, OPT_FLAG, NULL, "the thread that ran out of memory"},
	{DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"}),
    .instead = DASH_OOM,
    .group = "browse",
    .summary = "show the stack of a thread and the objects its frames hold",
    .shapes = SHAPES(&bt_shape),
    .description = "Frame 0 is the innermost. Below a frame are the objects that it holds, a row each. THREAD is an "
	"id of threads, a name or a part of one, or a thread object; -oom is the thread with the OutOfMemoryError "
	"that caused the dump.\n"
	"variable\tlocal variables that hold the object, or the number of stack words without a name (Go)\n"
	"value\tthe object in short, if the format has values\n"
	"CSV and JSON have frame and method in each row, no headings. Of goroutines follow the channels they wait "
	"for, values to send, deferred calls, and values of a panic.",
    .examples = {{"bt main", ON_SHOP, "the stack of the thread main"},
	{"bt 0", ON_SHOP, "the stack of the first thread"}, {"bt 8", ON_GO, "the stack of goroutine 8"}},
    .run = run_bt,
};
