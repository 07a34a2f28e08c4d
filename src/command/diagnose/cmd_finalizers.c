/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_finalizers.c - finalizers: objects for which a function is called before their memory is used again.  Of Go those
 * that the runtime noted, of Java the lists of java.lang.ref.Finalizer.
 */
#include "command/commands.h"

#include "analysis/finalizers.h"
#include "base/amount.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/noted.h"
#include "heap/threads.h"
#include "heap/typed/typed.h"
#include "memory/big.h"
#include "result/objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- Go ------------------------------------------------------------------------------------------- */

enum { F_ADDRESS, F_CLASS, F_FUNCTION, F_STATE, F_SHALLOW, F_RETAINED, F_OFFSET, F_VALUE };

static const struct column finalizers_columns[] = {
    [F_ADDRESS] = {.id = COL_ADDRESS},
    [F_CLASS] = {.id = COL_CLASS},
    [F_FUNCTION] = {.id = COL_FUNCTION},
    [F_STATE] = {.id = COL_STATE},
    [F_SHALLOW] = {.id = COL_SHALLOW},
    [F_RETAINED] = {.id = COL_RETAINED, .hidden = true},
    [F_OFFSET] = {.id = COL_OFFSET, .hidden = true},
    [F_VALUE] = {.id = COL_VALUE, .room = COLUMN_EARLY},
};
static const struct shape finalizers_shape = {SHAPE_COLUMNS(finalizers_columns)};

/* Returns whether what has the finalizer is not the first value of its object. */
static bool add_finalizer(struct result *r, const struct noted *n, bool queued)
{
	const struct heap *h = r->heap;
	uint32_t id = heap_target(h, n->of);
	uint64_t offset = id == HEAP_NONE ? 0 : typed_resolve(h, n->of).offset;
	struct text function = TEXT_INIT, scratch = TEXT_INIT, words = TEXT_INIT;
	struct cell shallow = cell_none(), value = cell_blank();
	heap_noted_function(h, n, &function);
	if (id != HEAP_NONE) {
		object_cell(r->opened, id, OBJECT_SHALLOW, &shallow, &scratch);
		object_cell(r->opened, id, OBJECT_VALUE, &value, &words);
	}
	result_add_row(r, (struct cell[]){
	    [F_ADDRESS] = cell_address(id == HEAP_NONE ? n->of : heap_address(h, id)),
	    [F_CLASS] = id == HEAP_NONE ? cell_none() : cell_text(heap_class_of(h, id)->name),
	    [F_FUNCTION] = cell_text(function.s),
	    [F_STATE] = cell_text(queued ? "queued" : "registered"),
	    [F_SHALLOW] = shallow,
	    [F_RETAINED] = cell_blank(), /* when looked at */
	    [F_OFFSET] = id == HEAP_NONE ? cell_blank() : cell_plain(offset),
	    [F_VALUE] = value},
	    id == HEAP_NONE ? NULL : &(struct target){.kind = TARGET_OBJECT, .id = id});
	text_release(&function);
	text_release(&scratch);
	text_release(&words);
	return offset != 0;
}

static int run_noted(struct session *s, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct result *r = result_new_rows("finalizers", s->dump, &finalizers_shape);
	(void)err;
	result_rows_late(r, COL_RETAINED, row_retained_cell);
	uint64_t rounds = 0;
	bool blocks = false;
	for (unsigned queued = 0; queued < 2; queued++) {
		struct noted_walk walk = {.run = 0};
		struct noted n;
		while (!progress_own_stops(rounds++) &&
		    heap_next_noted(h, queued ? NOTED_QUEUED : NOTED_FINALIZER, &walk, &n))
			blocks |= add_finalizer(r, &n, queued);
	}
	command_show_retained(r);
	result_show(r, F_OFFSET, blocks);
	*out = r;
	return 0;
}

/* --- Java ----------------------------------------------------------------------------------------- */

static const struct column java_columns[] = {{.id = COL_STATE}, {.id = COL_CLASS}, {.id = COL_OBJECTS, .total = true},
    {.id = COL_SHALLOW, .total = true}, {.id = COL_RETAINED, .hidden = true}};
static const struct shape java_shape = {.form = "of Java", .named_by = COL_CLASS, .apart = true,
    SHAPE_COLUMNS(java_columns)};

static void add_java(struct result *r, const struct finalizers *f, const struct finalizers_row *at)
{
	const struct heap *h = r->heap;
	const bool cleared = at->class == HEAP_NONE;
	struct amount n = heap_counted(h, at->end - at->first), shallow = amount_exact(0);
	for (uint64_t i = at->first; i < at->end && !progress_own_stops(i); i++) {
		result_add_member(r, r->n_source, f->at[i].object);
		shallow = amount_add(shallow, heap_size(h, f->at[i].object));
	}
	struct target target = {.kind = cleared ? TARGET_GROUP : TARGET_CLASS, .id = at->class, .part = !cleared};
	if (at->end - at->first == 1)
		target = (struct target){.kind = TARGET_OBJECT, .id = f->at[at->first].object};
	result_add_row(r, (struct cell[]){cell_text(finalizer_state_name(at->state)),
	    cell_text(cleared ? "<cleared>" : h->classes[at->class].name), cell_count(n),
	    cell_bytes(amount_as_sure(shallow, n)), cell_blank() /* when looked at */}, &target);
}

/* --- what the thread does ------------------------------------------------------------------------- */

static uint64_t objects_in(const struct finalizers *f, enum finalizer_state state)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < f->n; i++)
		n += f->row[i].state == state ? f->row[i].end - f->row[i].first : 0;
	return n;
}

static void add_objects(struct text *to, uint64_t n)
{
	text_add_count(to, n);
	text_add(to, n == 1 ? " object" : " objects");
}

/* ", in java.lang.Object.wait(Native Method), called from waste.Doomed.finalize(Waste.java:599)" */
static void add_place(struct text *to, const struct heap_thread *t, uint32_t below)
{
	uint32_t from = below;
	while (from > 0 && !strstr(t->frames[from - 1], ".finalize("))
		from--;
	if (below)
		text_addf(to, ", in %s", t->frames[0]);
	if (from > 1)
		text_addf(to, ", called from %s", t->frames[from - 1]);
}

static void tell_thread(struct result *r, const struct finalizing *at, uint64_t waiting)
{
	const struct heap *h = r->heap;
	const struct heap_thread *t = &h->threads[at->thread];
	struct text words = TEXT_INIT;
	bool blocked = t->state && (!strncmp(t->state, "BLOCKED", 7) || strstr(t->state, "WAITING"));
	text_addf(&words, "thread %s ", t->name ? t->name : "?");
	if (t->state)
		text_addf(&words, "(%s) ", t->state);
	text_add(&words, "runs finalize()");
	if (at->object != HEAP_NONE)
		text_addf(&words, " of %s 0x%" PRIx64, heap_class_of(h, at->object)->name, heap_address(h, at->object));
	add_place(&words, t, at->below);
	if (waiting) {
		text_add(&words, blocked ? ": nothing else is finalized until it ends, and " : ": ");
		add_objects(&words, waiting);
		text_add(&words, waiting == 1 ? " waits for it" : " wait for it");
	}
	result_add_note_text(r, &words);
}

static void tell_nobody(struct result *r, const struct finalizers *f, uint64_t waiting)
{
	const struct heap *h = r->heap;
	struct text words = TEXT_INIT;
	if (f->switched_off) {
		text_add(&words, "the VM was started with --finalization=disabled: finalize() is never called");
	} else if (waiting) {
		add_objects(&words, waiting);
		text_add(&words, waiting == 1 ? " waits" : " wait");
		text_add(&words, f->idle != HEAP_NONE ? " for the finalizer thread, which was about to continue"
		    : h->n_threads ? ", but no thread in this dump calls finalize()"
		                   : "; the dump has no threads, so the reason is unknown");
	}
	result_add_note_text(r, &words);
}

static void tell_java(struct result *r, const struct finalizers *f)
{
	uint64_t waiting = objects_in(f, FINALIZER_QUEUED) + objects_in(f, FINALIZER_PENDING);
	struct text words = TEXT_INIT;
	for (uint32_t i = 0; i < f->n_threads; i++)
		tell_thread(r, &f->thread[i], waiting);
	if (!f->n_threads)
		tell_nobody(r, f, waiting);
	if (f->states_length && f->stated != f->in_queue) {
		text_add(&words, "the queue states ");
		text_add_count(&words, f->stated);
		text_add(&words, f->stated == 1 ? " object, but " : " objects, but ");
		text_add_count(&words, f->in_queue);
		text_add(&words, f->in_queue == 1 ? " was found in it" : " were found in it");
		result_add_note_text(r, &words);
	}
	if (f->broken)
		result_add_note(r, "a list of finalizers is cyclic: its other entries are missing");
	result_add_number_note(r, f->linked, "object registered is linked in a list of the VM: pending, or found by a "
	    "running garbage collection", "objects registered are linked in a list of the VM: pending, or found by a "
	    "running garbage collection");
	if (!f->n) {
		result_add_note(r, "no object waits for its finalize() or is registered for it");
		result_mark(r, RESULT_NONE_ANSWERS, true);
	}
}

static int run_java(struct session *s, struct result **out, struct err *err)
{
	struct finalizers found;
	int code = finalizers_find(&found, session_heap(s), session_progress(s), err);
	if (code)
		return code;
	struct result *r = *out = result_new_rows("finalizers", s->dump, &java_shape);
	for (uint32_t row = 0; row < found.n; row++)
		add_java(r, &found, &found.row[row]);
	result_sum_members(r);
	result_mark(r, RESULT_OF_VALUES, true);
	tell_java(r, &found);
	command_show_retained(r);
	finalizers_release(&found);
	return 0;
}

/* --- the command ---------------------------------------------------------------------------------- */

static int told(const struct heap *h, struct err *err)
{
	if (heap_has_notes(h) || (values_held(h) && finalizers_class(h) != HEAP_NONE))
		return 0;
	if (!values_held(h) && (values_away(h) || !h->facts.no_class_objects))
		return heap_holds_no_values(h, err);
	return err_set(err, ERR_UNSUPPORTED, "%s does not record which objects have a finalizer%s", h->facts.title,
	    h->facts.no_class_objects ? "" : ": there are no java.lang.ref.Finalizer objects");
}

static int run_finalizers(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	int code = command_retained(s, call, err);
	if (code)
		return code;
	return heap_has_notes(session_heap(s)) ? run_noted(s, out, err) : run_java(s, out, err);
}

static const struct option_spec finalizers_options[] = {
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_finalizers = {
    .name = "finalizers",
    .options = finalizers_options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_COUNTS_VALUES,
    .group = "problems",
    .summary = "list objects that wait for their finalizer",
    .shapes = SHAPES(&finalizers_shape, &java_shape),
    .description = "Java: objects that wait for the end of their finalize(), by state and class. A row is a set of "
	"these objects. The note shows the finalizer thread: while it is blocked in a finalize(), the queue grows.\n"
	"running\ta thread calls finalize() now\n"
	"queued\tunreachable; waits in the queue of java.lang.ref.Finalizer\n"
	"pending\tfound by the collector, not queued yet (dumps up to Java 8)\n"
	"registered\tnot known to be garbage\n"
	"Android: the same from java.lang.ref.FinalizerReference.\n"
	"Go: one row per object with a finalizer (runtime.SetFinalizer), and the function. queued means that the "
	"function runs next or now. Go packs values below 16 bytes into one object; offset is the position of the "
	"value. Go dumps do not record runtime.AddCleanup.",
    .examples = {{"finalizers", ON_GO, "which objects have a finalizer, and its function"},
	{"finalizers | grep Connection", ON_GO}},
    .key = "",
    .told = told,
    .run = run_finalizers,
};
