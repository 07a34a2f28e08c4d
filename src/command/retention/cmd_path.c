/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_path.c - path: by which references a root, or another object, keeps one.
 */
#include "command/commands.h"

#include "analysis/paths/paths.h"
#include "analysis/what_if/what_if.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "command/retention/heap_labels.h"
#include "command/session/session.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"
#include "result/objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MOST 1000

enum path_column {
	P_PATH, P_STEP, P_FIELD, P_ADDRESS, P_CLASS, P_ROOT, P_SHALLOW, P_RETAINED, P_FREED,
	P_OTHERS, P_VALUE, P_THROUGH, P_FOLDED
};

static const struct column path_columns[] = {
    [P_PATH] = {.id = COL_PATH_NUMBER, .hidden = true},
    [P_STEP] = {.id = COL_STEP, .room = COLUMN_LATE},
    [P_FIELD] = {.id = COL_FIELD, .room = COLUMN_LAST},
    [P_ADDRESS] = {.id = COL_ADDRESS, .room = COLUMN_EARLY},
    [P_CLASS] = {.id = COL_CLASS, .room = COLUMN_LAST},
    [P_ROOT] = {.id = COL_ROOT, .room = COLUMN_LATE},
    [P_SHALLOW] = {.id = COL_SHALLOW, .room = COLUMN_EARLY},
    [P_RETAINED] = {.id = COL_RETAINED, .hidden = true, .room = COLUMN_EARLY},
    [P_FREED] = {.id = COL_FREED, .room = COLUMN_LAST},
    [P_OTHERS] = {.id = COL_OTHERS, .hidden = true},
    [P_VALUE] = {.id = COL_VALUE},
    [P_THROUGH] = {.id = COL_THROUGH, .hidden = true, .room = COLUMN_EARLY},
    [P_FOLDED] = {.id = COL_FOLDED, .hidden = true},
};
static const struct shape path_shape = {SHAPE_COLUMNS(path_columns)};

static const struct option_spec path_options[] = {
    {DASH_N, OPT_COUNT, "N", "number of paths, without common objects between the ends"},
    {DASH_WEAK, OPT_FLAG, NULL, "also follow soft, weak, final and phantom references"},
    {DASH_NOT, OPT_CLASSES, "PAT", "only paths without objects of these classes"},
    {DASH_UNFOLDED, OPT_FLAG, NULL, "a row per object, none folded into another"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

/* Data of the result: the paths one after another. */
struct path_rows {
	struct path_rules rules; /* to name fields by; the marks are given back */
	struct path_plumbing plumbing;
	uint32_t *id;            /* of all objects on all paths, folded or not */
	size_t n_ids, cap_ids;
	struct path_row {
		size_t at;           /* the first object of its path in id */
		uint32_t step, path; /* from 1 on */
		uint32_t before;     /* the step of the row before it on this path; 0: there is none */
		bool folded;         /* people see it as a part of a later step */
		struct what_if_figure freed; /* if the reference to it were cleared; once retained sizes are known */
	} *row;
	size_t n, cap;
	bool folds;               /* folded objects have no row */
	bool from_object;         /* the first row is no root */
};

/* The objects of its path, and its own. */
static const uint32_t *steps_of(const struct path_rows *rows, const struct path_row *row)
{
	return rows->id + row->at;
}

static uint32_t object_of(const struct path_rows *rows, const struct path_row *row)
{
	return rows->id[row->at + row->step - 1];
}

/* --- cells -------------------------------------------------------------------------------------- */

static struct cell root_cell(const struct heap *h, uint32_t id, struct text *to)
{
	size_t first, n = heap_roots_of(h, id, &first);
	if (!n)
		return cell_blank();
	path_root_words(h, id, to);
	return cell_text_as_sure(to->s, amount_weaken(amount_exact(0), h->roots[first].certainty, REASON_ROOTS));
}

/* If single steps of the paths were cleared. */
static int find_freed(struct result *r, const struct retained *known, struct progress *progress,
    struct err *err)
{
	struct path_rows *rows = r->data;
	struct what_if cut;
	int code = what_if_init(&cut, known, err);
	for (size_t i = 0; !code && i < rows->n; i++) {
		struct path_row *row = &rows->row[i];
		const uint32_t *at = steps_of(rows, row) + row->step - 1;
		row->freed = what_if_one(&cut, row->step == 1 ? HEAP_NONE : at[-1], *at);
		if (progress_cancelled(progress))
			code = err_cancelled(err);
	}
	what_if_release(&cut);
	return code;
}

/* If the reference by which the row before holds this one were cleared. */
static struct cell freed_cell(const struct result *r, size_t row, bool others)
{
	const struct path_rows *rows = r->data;
	const struct what_if_figure *f = &rows->row[row].freed;
	if (rows->row[row].step == 1 && rows->from_object)
		return cell_blank();
	if (!result_known(r))
		return cell_unknown(REASON_NOT_FOUND_YET);
	return others ? cell_count(f->others) : cell_bytes(f->freed);
}

static const unsigned char path_what[] = { /* of the columns that path_cell does not make itself */
    [P_ADDRESS] = OBJECT_ADDRESS,
    [P_CLASS] = OBJECT_CLASS,
    [P_SHALLOW] = OBJECT_SHALLOW,
    [P_RETAINED] = OBJECT_RETAINED,
    [P_VALUE] = OBJECT_VALUE_IF_ANY,
};

/* The reference, with what is folded into the row. */
static struct cell field_cell(const struct path_rows *rows, const struct path_row *at, struct text *scratch)
{
	bool begins = !at->before; /* then a static field does */
	size_t from = begins ? 0 : at->before - 1;
	if (at->step == 1)
		return cell_blank();
	const uint32_t *step = steps_of(rows, at);
	size_t to = at->step - 1;
	bool named;
	if (!rows->folds)
		named = path_field(&rows->rules, step[to - 1], step[to], scratch);
	else if (path_reference_is_static(&rows->rules, step[to - 1], step[to]))
		named = heap_reference_label(&rows->rules, step[to - 1], step[to], true, scratch);
	else
		named = path_fold_label(&rows->rules, step, from, to, scratch);
	return named ? cell_text(scratch->s) : cell_none();
}

static struct cell through_cell(const struct path_rows *rows, const struct path_row *at, struct text *scratch)
{
	if (at->step > 1 && rows->folds)
		path_fold_through(&rows->rules, steps_of(rows, at), at->before ? at->before - 1 : 0, at->step - 1, !at->before,
		    scratch);
	return scratch->len ? cell_text(scratch->s) : cell_blank();
}

static void path_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct path_rows *rows = r->data;
	const struct path_row *at = &rows->row[row];
	*out = cell_blank();
	switch ((enum path_column)column) {
	case P_PATH:
		*out = cell_plain(at->path);
		return;
	case P_STEP:
		*out = cell_plain(at->step);
		return;
	case P_FIELD:
		*out = field_cell(rows, at, scratch);
		return;
	case P_ROOT:
		if (!at->before)
			*out = root_cell(r->heap, steps_of(rows, at)[0], scratch);
		return;
	case P_THROUGH:
		*out = through_cell(rows, at, scratch);
		return;
	case P_FOLDED:
		*out = cell_flag(at->folded);
		return;
	case P_FREED:
	case P_OTHERS:
		*out = freed_cell(r, row, column == P_OTHERS);
		return;
	default:
		object_cell(r->opened, object_of(rows, at), path_what[column], out, scratch);
	}
}

static void path_target(const struct result *r, size_t row, struct target *out)
{
	const struct path_rows *rows = r->data;
	*out = (struct target){.kind = TARGET_OBJECT, .id = object_of(rows, &rows->row[row])};
}

static void path_rows_release(void *data)
{
	struct path_rows *rows = data;
	path_rules_release(&rows->rules);
	path_plumbing_release(&rows->plumbing);
	big_free(rows->id);
	big_free(rows->row);
	free(rows);
}

static const struct result_ops path_ops = {
    .cell = path_cell, .target = path_target, .release = path_rows_release};

static int add_path(struct path_rows *rows, const struct path *p, uint32_t number, struct err *err)
{
	struct path_fold seen;
	struct path_row row = {.at = rows->n_ids, .path = number};
	int code = path_fold(&seen, &rows->plumbing, &rows->rules, p, err);
	for (size_t i = 0, s = 0; !code && i < p->n; i++) {
		code = BIG_ADD(rows->id, rows->n_ids, rows->cap_ids, err, p->step[i]);
		row.folded = seen.step[s] != i;
		row.step = (uint32_t)i + 1;
		if (!code && !(row.folded && rows->folds)) {
			code = BIG_ADD(rows->row, rows->n, rows->cap, err, row);
			row.before = row.step;
		}
		s += !row.folded;
	}
	path_fold_release(&seen);
	return code;
}

/* --- finding ------------------------------------------------------------------------------------ */

/* The objects of these classes, and the class objects. */
static int bar_classes(const struct session *s, struct path_rules *rules, const char *word, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct bits barred;
	uint32_t *classes;
	size_t n;
	int code = value_classes(s, word, &classes, &n, err);
	if (code)
		return code;
	code = bits_init(&barred, h->n_classes, err);
	for (size_t i = 0; !code && i < n; i++) {
		bits_set(&barred, classes[i]);
		if (h->classes[classes[i]].object != HEAP_NONE)
			path_rules_bar(rules, h->classes[classes[i]].object);
	}
	for (uint32_t id = 0; !code && id < h->n_objects; id++) {
		if (bits_get(&barred, heap_class_index(h, id)))
			path_rules_bar(rules, id);
	}
	bits_release(&barred);
	big_free(classes);
	return code;
}

/* The next path may not lead through the one found. */
static void bar_path(struct path_rules *rules, const struct path *p)
{
	for (size_t i = 1; i + 1 < p->n; i++)
		path_rules_bar(rules, p->step[i]);
	if (p->n == 2 && rules->from != HEAP_NONE)
		rules->not_directly = true;
	else if (p->n == 2)
		path_rules_bar(rules, p->step[0]);
	if (p->n == 1)
		rules->not_itself = true;
}

/* Is there a path when the rules are relaxed? */
static int reached_at_all(const struct session *s, uint32_t from, uint32_t to, bool weak, bool *found,
    struct err *err)
{
	struct path_rules rules;
	struct path p = {.n = 0};
	int code = path_rules_init(&rules, session_heap(s), weak, err);
	if (code)
		return code;
	if (from != HEAP_NONE)
		path_rules_from(&rules, from);
	code = command_find_path(s, &rules, to, &p, err);
	*found = p.n > 0;
	path_release(&p);
	path_rules_release(&rules);
	return code;
}

/* Of an object that is not alive.  Nothing references a filler (heap/build/fillers.c). */
static const char *what_it_was(const struct heap *h, uint32_t id)
{
	const struct heap_class *c = heap_class_of(h, id);
	if (!c->objects_inferred || adjacency_start(&h->in, id) != adjacency_start(&h->in, id + 1))
		return ": it was garbage when the dump was written";
	return c->defined ? ": it was garbage at the time of the dump, or fills a gap of the collector"
	                  : ": it is probably a filler object of the collector";
}

static int no_path(const struct session *s, const struct call *call, const struct path_rules *rules, struct err *err)
{
	uint32_t to = call->argument[call->argument[1].given].id;
	bool found = false;
	int not = call_option(call, DASH_NOT);
	int code = 0;
	if (rules->bars)
		code = reached_at_all(s, rules->from, to, rules->weak, &found, err);
	if (code)
		return code;
	if (found)
		return err_set(err, ERR_NOT_FOUND, "no other path to 0x%" PRIx64 ": every path leads through \"%.200s\"",
		    heap_address(session_heap(s), to), call->option[not].word);
	if (!rules->weak && weak_known(session_heap(s)))
		code = reached_at_all(s, rules->from, to, true, &found, err);
	if (code)
		return code;
	if (found)
		return err_set(err, ERR_NOT_FOUND,
		    "only weak, final or phantom references lead to 0x%" PRIx64 " (-weak follows them)",
		    heap_address(session_heap(s), to));
	if (rules->from != HEAP_NONE)
		return err_set(err, ERR_NOT_FOUND, "no path from 0x%" PRIx64 " to 0x%" PRIx64,
		    heap_address(session_heap(s), rules->from), heap_address(session_heap(s), to));
	if (session_heap(s)->incomplete)
		return err_set(err, ERR_NOT_FOUND, "no root reaches 0x%" PRIx64
		    " in the part of the dump that was read", heap_address(session_heap(s), to));
	code = session_find(s, FIND_MAYBE_LIVE, err);
	if (code)
		return code;
	const struct maybe_live *maybe = opened_maybe_live(s->dump);
	const char *const why[REASONS] = {
		[REASON_NONE] = what_it_was(session_heap(s), to),
		[REASON_FRAMES] = ": a word in a stack frame points to it, so it may have been alive",
		[REASON_CLASS_FIELDS] = ": the dump lacks fields of java.lang.Class objects and threads of the VM, "
		    "which may have held it",
		[REASON_STACKS_MISSING] = ": the dump lacks stacks of parked virtual threads and other continuations, "
		    "which may have held it",
		[REASON_CLASS_DATA] = ": the dump lacks the class data of hidden classes, which may have held it",
	};
	return err_set(err, ERR_NOT_FOUND, "no root reaches 0x%" PRIx64 "%s", heap_address(session_heap(s), to),
	    why[maybe_live_has(maybe, to) ? maybe->reason : REASON_NONE]);
}

static int find_paths(const struct session *s, const struct call *call, struct path_rows *rows,
    uint64_t wanted, uint32_t *found, struct err *err)
{
	uint32_t to = call->argument[call->argument[1].given].id;
	int code = 0;
	*found = 0;
	while (!code && *found < wanted) {
		struct path p;
		code = command_find_path(s, &rows->rules, to, &p, err);
		if (code)
			break;
		if (p.n)
			code = add_path(rows, &p, ++*found, err);
		bar_path(&rows->rules, &p);
		bool more = !code && p.n > 0 && !(p.n == 1 && call->argument[1].given);
		path_release(&p);
		if (!more)
			break;
	}
	if (!code && !*found && path_rules_relax(&rows->rules))
		return find_paths(s, call, rows, wanted, found, err); /* once: then they are relaxed */
	return !code && !*found ? no_path(s, call, &rows->rules, err) : code;
}

/* --- the command -------------------------------------------------------------------------------- */

/* A local ends with its method; who else holds the object is a longer path. */
static void add_note_of_local(struct result *r, uint32_t id)
{
	const struct heap *h = r->heap;
	uint64_t referrers = adjacency_degree(&h->in, id);
	size_t first, n = heap_roots_of(h, id, &first);
	bool local = n;
	for (size_t i = 0; i < n; i++)
		local &= h->roots[first + i].kind == ROOT_JAVA_LOCAL || h->roots[first + i].kind == ROOT_STACK_FRAME;
	if (local && referrers)
		result_notef(r, "a local holds it; %" PRIu64 " object%s to it, too (path 0x%" PRIx64 " -n 3)",
		    referrers, referrers == 1 ? " refers" : "s refer", heap_address(h, id));
}

static void add_note(struct result *r, bool weak, uint32_t found, uint64_t wanted)
{
	const struct heap *h = r->heap;
	const struct path_rows *rows = r->data;
	if (wanted == 1 && rows->n_ids == 1 && !rows->from_object)
		add_note_of_local(r, rows->id[0]);
	if (found < wanted)
		result_notef(r, "there is no other path without objects of %s", found == 1 ? "this one" : "these");
	if (rows->rules.relaxed)
		result_add_note(r, "no strong path exists; this one follows a soft or queued reference");
	command_add_roots_note(r);
	if (!weak && !weak_known(h) && (h->facts.values == NO_VALUES || h->facts.fields_invented))
		result_notef(r, "%s has no field names, so weak references count as strong", h->facts.title);
}

static int run_path(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	int n = call_option(call, DASH_N), not = call_option(call, DASH_NOT);
	uint64_t wanted = call->option[n].given ? call->option[n].number : 1;
	bool weak = call_has(call, DASH_WEAK);
	uint32_t found;
	if (wanted < 1 || wanted > PATHS_MOST)
		return err_set(err, ERR_USAGE, "-n: the number of paths is out of range (use 1 to %d)", PATHS_MOST);
	command_retained_beside(s);
	struct path_rows *rows = xcalloc(1, sizeof *rows);
	rows->from_object = call->argument[1].given;
	rows->folds = session_folds(s) && !call_has(call, DASH_UNFOLDED);
	int code = path_rules_init(&rows->rules, h, weak, err);
	if (code) {
		free(rows);
		return code;
	}
	code = path_plumbing_init(&rows->plumbing, h, err);
	if (call->argument[1].given)
		path_rules_from(&rows->rules, call->argument[0].id);
	if (!code && call->option[not].given)
		code = bar_classes(s, &rows->rules, call->option[not].word, err);
	if (!code)
		code = find_paths(s, call, rows, wanted, &found, err);
	path_rules_give_back(&rows->rules);
	if (code) {
		path_rows_release(rows);
		return code;
	}
	struct text title = TEXT_INIT;
	if (call->argument[1].given)
		text_addf(&title, "path from 0x%" PRIx64 " to 0x%" PRIx64,
		    heap_address(h, call->argument[0].id), heap_address(h, call->argument[1].id));
	else
		text_addf(&title, "path to 0x%" PRIx64, heap_address(h, call->argument[0].id));
	text_add(&title, call_has(call, DASH_UNFOLDED) ? ", each step" : "");
	struct result *r = result_new(title.s, s->dump, &path_shape, &path_ops, rows, rows->n);
	r->later = find_freed;
	text_release(&title);
	if (wanted > 1)
		result_show(r, P_PATH, true);
	result_show(r, P_THROUGH, rows->n < rows->n_ids);
	result_mark(r, RESULT_FOLDED, rows->n < rows->n_ids);
	result_mark(r, RESULT_UNFOLDED, call_has(call, DASH_UNFOLDED));
	command_show_retained(r);
	add_note(r, weak, found, wanted);
	*out = r;
	return 0;
}

const struct command cmd_path = {
    .name = "path",
    .arguments = {{ARG_OBJECT, "OBJ", false}, {ARG_OBJECT, "OBJ", true}},
    .options = path_options,
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "references and retained sizes",
    .summary = "show the shortest path from a GC root to an object",
    .shapes = SHAPES(&path_shape),
    .description = "One row per step of the path, from the GC root on. With two objects: the path from the first to "
	"the second. The path follows strong references only, if such a path exists; else also soft references and "
	"queued finalizers. -weak follows all.\n"
	"field\tthe reference from the row above\n"
	"root\tkind of GC root of the first object\n"
	"freed\twhat clearing only this reference frees; 0 if other references hold the object\n"
	"others\tnumber of these other references\n"
	"through\tarrays and nodes of a collection, loaders and class objects: people see these steps folded into the next "
	"one; -unfolded, the key a and other formats have a row for each\n"
	"The result is always the same: of several shortest paths cairn takes the one with the lowest addresses. "
	"Exit status 1 without a path.",
    .examples = {{"path 0xE0000B00", ON_PHD, "what keeps this object alive?"},
	{"path 0xe0011170 -n 3", ON_SHOP, "three independent paths"},
	{"path 0xe0011170 -not com.acme.shop.Shop", ON_SHOP, "a path that avoids the main object"}},
    .key = "p",
    .several = "paths",
    .run = run_path,
};
