/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_tables.c - tables that no command prints as such: the frames of all threads. */
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

/* ------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	struct result *(*make)(const struct session *s);
} tables[] = {{"frames", make_frames}};

struct result *ask_table(const struct session *s, const char *name)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (!strcmp(tables[i].name, name))
			return tables[i].make(s);
	return NULL;
}
