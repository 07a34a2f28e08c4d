/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_finalizers.c - finalizers: objects for which a function is called before their memory is used again.
 */
#include "command/commands.h"

#include "base/progress.h"
#include "heap/typed.h"
#include "result/objects.h"

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

static int told(const struct heap *h, struct err *err)
{
	static const char name[] = "java.lang.ref.Finalizer";
	if (heap_has_notes(h))
		return 0;
	if (values_away(h) && h->facts.no_class_objects)
		return heap_holds_no_values(h, err);
	if (values_class_named(h, name) != HEAP_NONE)
		return err_set(err, ERR_UNSUPPORTED, "%s does not say which objects have a finalizer: in Java "
		    "they are the referents of %s (ls %s)", h->facts.title, name, name);
	return err_set(err, ERR_UNSUPPORTED, "%s does not say which objects have a finalizer%s%s%s", h->facts.title,
	    h->facts.no_class_objects ? "" : ": in Java they are the referents of ",
	    h->facts.no_class_objects ? "" : name, h->facts.no_class_objects ? "" : ", of which it has none");
}

static int run_finalizers(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	int code = command_retained(s, call, err);
	if (code)
		return code;
	struct result *r = result_new_rows("finalizers", s->dump, &finalizers_shape);
	result_rows_late(r, F_RETAINED, row_retained_cell);
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

static const struct option_spec finalizers_options[] = {
    {DASH_RETAINED, OPT_FLAG, NULL, "find out what they retain, if that is not known yet"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_finalizers = {
    .name = "finalizers",
    .options = finalizers_options,
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "what is wrong",
    .summary = "objects that a function is called for at their end",
    .shapes = SHAPES(&finalizers_shape),
    .description = "Of Go dumps: one row for each object with a finalizer (runtime.SetFinalizer), and the "
	"function. registered: it is not known to be garbage; queued: nothing holds it any more but the queue, and the "
	"function runs next, or runs now. Values of less than 16 bytes share an object; offset says which is meant. "
	"Go's dumps do not tell of runtime.AddCleanup. In Java finalizers are objects of java.lang.ref.Finalizer.",
    .examples = {{"finalizers", ON_GO}, {"finalizers | grep Connection", ON_GO}},
    .key = "",
    .told = told,
    .run = run_finalizers,
};
