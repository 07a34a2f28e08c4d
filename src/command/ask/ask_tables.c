/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_tables.c - tables that no command prints as such: frames of all threads, static fields, global variables. */
#include "command/ask/ask_tables.h"

#include "command/words/words.h"

#include <string.h>

/* --- frames ------------------------------------------------------------------------------------- */

static const struct column frames_columns[] = {
    {.id = COL_ID}, {.id = COL_NAME}, {.id = COL_FRAME_NUMBER}, {.id = COL_METHOD}};
static const struct shape frames_shape = {SHAPE_COLUMNS(frames_columns)};

enum { FRAMES_MOST = 1 << 19 /* rows: threads of one stack share it, so a small dump may mean any number */ };

static struct result *make_frames(const struct session *s)
{
	const struct heap *h = session_heap(s);
	struct result *r = result_new_rows("frames", s->dump, &frames_shape);
	uint64_t rows = 0;
	for (uint32_t t = 0; t < h->n_threads; t++) {
		const struct heap_thread *thread = &h->threads[t];
		if ((rows += thread->n_frames) > FRAMES_MOST) {
			result_add_note(r, "of so many frames those of the first threads are here; bt THREAD has the others");
			break;
		}
		for (uint32_t i = 0; i < thread->n_frames && !progress_own_stops(i); i++)
			result_add_row(r, (struct cell[]){cell_plain(thread_number(h, t)), cell_text(thread->name), cell_plain(i),
			    cell_text(thread->frames[i])}, &(struct target){.kind = TARGET_THREAD, .id = t});
	}
	return r;
}

/* --- static fields ------------------------------------------------------------------------------ */

static const struct column variables_columns[] = {
    {.id = COL_CLASS}, {.id = COL_FIELD}, {.id = COL_TYPE}, {.id = COL_VALUE}, {.id = COL_ADDRESS}};
static const struct shape variables_shape = {SHAPE_COLUMNS(variables_columns)};

/* A value, and the object that it leads to. */
static void add_variable(struct result *r, const char *class, const char *field, const char *type, const char *value,
    const struct value_target *target)
{
	result_add_row(r, (struct cell[]){class ? cell_text(class) : cell_blank(), cell_text(field), cell_text(type),
	    cell_text(value), target->address ? cell_address(target->address) : cell_blank()},
	    target->id == HEAP_NONE ? NULL : &(struct target){.kind = TARGET_OBJECT, .id = target->id});
}

static void add_statics(const struct session *s, struct result *r, const struct heap_class *c)
{
	struct object_parts *parts;
	struct object_part part;
	struct text value = TEXT_INIT;
	struct range all = {0, UINT64_MAX, false};
	if (c->object == HEAP_NONE || inspect_parts(&parts, session_heap(s), c->object, &all, NULL))
		return;
	for (size_t i = 0; i < parts->n; i++) {
		inspect_part(parts, i, &part);
		if (part.missing || !part.name)
			continue;
		struct value_target target = inspect_target(&part.value);
		text_clear(&value);
		inspect_value(&part.value, TEXT_NAME_MOST, &value);
		add_variable(r, c->name, part.name, inspect_type(&part.value), value.s, &target);
	}
	text_release(&value);
	inspect_parts_close(parts);
}

static struct result *make_statics(const struct session *s)
{
	const struct heap *h = session_heap(s);
	struct result *r = result_new_rows("static fields", s->dump, &variables_shape);
	for (uint32_t i = 0; i < h->n_classes && !progress_own_stops(i); i++)
		if (h->classes[i].n_statics)
			add_statics(s, r, &h->classes[i]);
	return r;
}

/* --- global variables --------------------------------------------------------------------------- */

struct globals {
	const struct heap *heap;
	struct result *result;
	struct text value;
};

static void add_global(void *context, const char *name)
{
	struct globals *g = context;
	struct variable v;
	if (inspect_variable(&v, g->heap, name, NULL))
		return;
	text_clear(&g->value);
	inspect_value(&v.value, TEXT_NAME_MOST, &g->value);
	add_variable(g->result, NULL, name, inspect_type(&v.value), g->value.s, &v.target);
}

static struct result *make_globals(const struct session *s)
{
	struct globals g = {session_heap(s), result_new_rows("global variables", s->dump, &variables_shape), TEXT_INIT};
	inspect_variable_names(g.heap, "", add_global, &g);
	text_release(&g.value);
	return g.result;
}

/* ------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	struct result *(*make)(const struct session *s);
} tables[] = {{"frames", make_frames}, {"statics", make_statics}, {"globals", make_globals}};

struct result *ask_table(const struct session *s, const char *name)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (!strcmp(tables[i].name, name))
			return tables[i].make(s);
	return NULL;
}
