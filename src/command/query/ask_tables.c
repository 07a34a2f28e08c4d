/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_tables.c - tables that no command prints as such: the frames of all threads. */
#include "command/query/ask_tables.h"

#include "command/commands.h"
#include "command/resolve/resolve.h"
#include "heap/heap.h"
#include "heap/threads.h"

#include <string.h>
#include <strings.h>

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
			result_add_note(r, "too many frames: only the first threads are listed (bt THREAD lists the "
			    "others)");
			break;
		}
		for (uint32_t i = 0; i < thread->n_frames && !progress_own_stops(i); i++)
			result_add_row(r, (struct cell[]){cell_plain(thread_number(h, t)), cell_text(thread->name), cell_plain(i),
			    cell_text(thread->frames[i])}, &(struct target){.kind = TARGET_THREAD, .id = t});
	}
	return r;
}

/* ------------------------------------------------------------------------------------------------ */

const struct ask_table ask_tables[] = {
    {"frames", "stack frames of all threads", &frames_shape, make_frames, NULL},
    {"classes", "all classes, as in histo", NULL, NULL, &cmd_histo},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct ask_table *ask_table_called(const char *name)
{
	for (const struct ask_table *t = ask_tables; t->name; t++)
		if (!strcasecmp(t->name, name))
			return t;
	return NULL;
}

const struct shape *ask_table_shape(const struct ask_table *t)
{
	return t->shape ? t->shape : t->command->shapes[0];
}

/* What looks at the dump and writes nothing; comparisons want several. */
bool ask_is_table(const struct session *s, const struct command *c)
{
	struct err none = ERR_INIT;
	const struct heap *h = session_heap(s);
	unsigned none_of = COMMAND_NO_DUMP | COMMAND_WRITES | COMMAND_NO_TABLE | COMMAND_OF_SESSION;
	return c->shapes && c->shapes[0]->n_columns && !(c->flags & none_of) &&
	    c->arguments[0].kind != ARG_FILE && (!(c->flags & COMMAND_COMPARES) || s->n_dumps > 1) &&
	    h && (!c->told || !c->told(h, &none));
}
