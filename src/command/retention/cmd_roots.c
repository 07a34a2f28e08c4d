/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_roots.c - roots: what keeps objects alive from outside of the heap.
 */
#include "command/commands.h"

#include "analysis/describe/describe.h"
#include "base/amount.h"
#include "base/text.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <string.h>

enum root_column {
	R_KIND, R_ADDRESS, R_CLASS, R_THREAD, R_FRAME, R_SLOT, R_DESCRIPTION, R_OFFSET, R_CERTAINTY,
	R_SHALLOW, R_RETAINED, R_VALUE
};

static bool points_inside(const struct heap_root *root)
{
	return root->offset && root->kind != ROOT_JAVA_LOCAL; /* whose number it is, in the frame */
}

static const struct column roots_columns[] = {
    [R_KIND] = {.id = COL_KIND, .room = COLUMN_LATE},
    [R_ADDRESS] = {.id = COL_ADDRESS},
    [R_CLASS] = {.id = COL_CLASS, .room = COLUMN_LAST},
    [R_THREAD] = {.id = COL_THREAD},
    [R_FRAME] = {.id = COL_FRAME},
    [R_SLOT] = {.id = COL_SLOT, .hidden = true, .room = COLUMN_LATE},
    [R_DESCRIPTION] = {.id = COL_DESCRIPTION, .hidden = true, .room = COLUMN_LATE},
    [R_OFFSET] = {.id = COL_OFFSET, .hidden = true, .room = COLUMN_EARLY},
    [R_CERTAINTY] = {.id = COL_CERTAINTY, .room = COLUMN_EARLY},
    [R_SHALLOW] = {.id = COL_SHALLOW, .hidden = true},
    [R_RETAINED] = {.id = COL_RETAINED, .hidden = true},
    [R_VALUE] = {.id = COL_VALUE},
};
static const struct shape roots_shape = {SHAPE_COLUMNS(roots_columns)};

static const unsigned char roots_what[] = { /* of the columns that roots_cell does not make itself */
    [R_ADDRESS] = OBJECT_ADDRESS,
    [R_CLASS] = OBJECT_CLASS,
    [R_SHALLOW] = OBJECT_SHALLOW,
    [R_RETAINED] = OBJECT_RETAINED,
    [R_VALUE] = OBJECT_VALUE,
};

/* Data of the result: the numbers of the roots shown. */
static const struct heap_root *root_of(const struct result *r, size_t row)
{
	return &r->heap->roots[((const size_t *)r->data)[row]];
}

static void roots_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct heap *h = r->heap;
	const struct heap_root *root = root_of(r, row);
	const struct heap_thread *thread = root->thread == HEAP_NONE ? NULL : &h->threads[root->thread];
	*out = cell_blank();
	text_clear(scratch);
	switch ((enum root_column)column) {
	case R_KIND:
		*out = cell_text(root_kind_name(root->kind));
		return;
	case R_THREAD:
		if (thread)
			*out = cell_text(thread->name);
		return;
	case R_FRAME:
		if (thread && root->frame < thread->n_frames)
			*out = cell_text(thread->frames[root->frame]);
		return;
	case R_SLOT:
		if (!root->slot || root->kind == ROOT_VM_INTERNAL)
			return;
		if (!heap_symbol(h, root->slot, scratch))
			text_add_hex(scratch, root->slot);
		*out = cell_text(scratch->s);
		return;
	case R_DESCRIPTION:
		if (heap_root_words(h, root, scratch))
			*out = cell_text(scratch->s);
		return;
	case R_OFFSET:
		if (points_inside(root))
			*out = cell_plain(root->offset);
		return;
	case R_CERTAINTY:
		*out = cell_certainty(amount_weaken(amount_exact(0), root->certainty, REASON_ROOTS));
		return;
	default:
		object_cell(r->opened, root->object, roots_what[column], out, scratch);
		if (column == R_VALUE && out->type == CELL_NONE && !values_away(h))
			*out = cell_blank();
	}
}

static void roots_target(const struct result *r, size_t row, struct target *out)
{
	*out = (struct target){.kind = TARGET_OBJECT, .id = root_of(r, row)->object};
}

static void roots_release(void *data)
{
	big_free(data);
}

static const struct result_ops roots_ops = {.cell = roots_cell, .target = roots_target, .release = roots_release};

static const struct column kinds_columns[] = {{.id = COL_KIND}, {.id = COL_ROOTS, .total = true}, {.id = COL_OBJECTS},
    {.id = COL_SHALLOW}};
static const struct shape kinds_shape = {.form = "-by kind", SHAPE_COLUMNS(kinds_columns)};

/* Where a dump tells by which pointer an object is held. */
static void show_slots(struct result *r, const struct heap *h)
{
	bool slot = false, offset = false, words = false;
	for (size_t i = 0; i < h->n_roots; i++) {
		bool own = h->roots[i].kind == ROOT_VM_INTERNAL;
		slot |= h->roots[i].slot && !own;
		words |= h->roots[i].slot && own;
		offset |= points_inside(&h->roots[i]);
	}
	result_show(r, R_SLOT, slot);
	result_show(r, R_DESCRIPTION, words);
	result_show(r, R_OFFSET, offset);
}

static const struct option_spec roots_options[] = {
    {DASH_BY, OPT_CHOICE, "kind|name|variable",
	"group by kind, name (variable, thread) or variable"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

/* Is the object among those that the pattern or set means?  chosen is made of both. */
static int choose(struct bits *chosen, const struct heap *h, const struct call *call, struct err *err)
{
	int code = bits_init(chosen, call->argument[0].objects ? h->n_objects : h->n_classes, err);
	for (size_t i = 0; !code && i < call->argument[0].n_ids; i++)
		bits_set(chosen, call->argument[0].ids[i]);
	return code;
}

static void add_kind(struct result *r, enum root_kind kind, const size_t *numbers, size_t n)
{
	const struct heap *h = r->heap;
	struct amount roots = heap_counted(h, 0), objects = roots, shallow = roots;
	uint32_t before = HEAP_NONE; /* roots of one object and kind stand together */
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		const struct heap_root *root = &h->roots[numbers[i]];
		if (root->kind != kind)
			continue;
		roots.n++;
		roots = amount_weaken(roots, root->certainty, REASON_ROOTS);
		if (root->object == before)
			continue;
		before = root->object;
		objects.n++;
		shallow = amount_add(shallow, heap_size(h, root->object));
		result_add_member(r, r->n_source, root->object);
	}
	char command[64];
	snprintf(command, sizeof command, "roots | grep '^%s$'", root_kind_name(kind));
	if (roots.n)
		result_add_row(r, (struct cell[]){cell_text(root_kind_name(kind)), cell_count(roots),
		    cell_count(amount_as_sure(objects, roots)), cell_bytes(amount_as_sure(shallow, roots))},
		    &(struct target){.kind = TARGET_COMMAND, .command = command});
}

static int run_roots(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct bits chosen = {.word = NULL};
	size_t n = 0, *numbers = NULL;
	enum { LIST = -1, BY_KIND, BY_NAME, BY_VARIABLE };
	int by = call_choice(call, DASH_BY, LIST);
	bool all = !call->argument[0].given, globals = by == BY_VARIABLE;
	int code = all ? 0 : choose(&chosen, h, call, err);
	if (globals && !inspect_has_variables(h) && !(values_away(h) && h->facts.no_class_objects))
		code = err_set(err, ERR_UNSUPPORTED, "%s has no global variables%s", h->facts.title,
		    values_held(h) ? " (use x CLASS for static fields)" : "");
	if (by > BY_KIND)
		command_retained_beside(s);
	if (!code && !(numbers = big_alloc(h->n_roots, sizeof *numbers, err)))
		code = ERR_NOMEM;
	for (size_t i = 0; !code && i < h->n_roots; i++) {
		uint32_t id = h->roots[i].object;
		if (all || bits_get(&chosen, call->argument[0].objects ? id : heap_class_index(h, id)))
			numbers[n++] = i;
	}
	bits_release(&chosen);
	if (!code && by > BY_KIND) {
		code = command_roots_by_name(out, s->dump, numbers, n, globals, err);
		if (!code)
			code = command_order(s, *out, opened_retained(s->dump) ? COL_RETAINED : COL_SHALLOW, err);
	} else if (!code && by == BY_KIND) {
		*out = result_new_rows("roots by kind", s->dump, &kinds_shape);
		for (enum root_kind kind = 0; kind < ROOT_KINDS; kind++)
			add_kind(*out, kind, numbers, n);
	} else if (!code) {
		*out = result_new("roots", s->dump, &roots_shape, &roots_ops, numbers, n);
		numbers = NULL;
		show_slots(*out, h);
		command_show_retained(*out);
	}
	big_free(numbers);
	if (!code)
		command_add_roots_note(*out);
	return code;
}

const struct command cmd_roots = {
    .name = "roots",
    .arguments = {{ARG_CLASS, "PAT", true}},
    .options = roots_options,
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "references and retained sizes",
    .summary = "list GC roots",
    .shapes = SHAPES(&roots_shape, &kinds_shape, &root_names_shape),
    .description = "One row per GC root, by address. PAT limits them to objects of these classes.\n"
	"slot\tvariable or stack word with the pointer\n"
	"offset\tposition of the pointer in the object\n"
	"description\tname of a root of the runtime\n"
	"If the dump records no roots, cairn infers them: classes of the boot loader, threads and their monitors "
	"from a javacore, and objects that nothing references. Roots with the same object, kind, thread, frame and "
	"slot count once. -by name sums the roots of each variable or thread by retained size, -by variable "
	"those of variables only.",
    .examples = {{"roots"}, {"roots -by kind", ON_ANY, "how many roots of each kind?"},
	{"roots -by name", ON_ANY, "which variables and threads retain most?"}, {"roots java.lang.Thread", ON_SHOP}},
    .key = "R",
    .run = run_roots,
};
