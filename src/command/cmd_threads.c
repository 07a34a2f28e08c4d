/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_threads.c - threads and bt.
 */
#include "command/commands.h"

#include "command/objects.h"
#include "heap/value.h"

#include <stdlib.h>
#include <string.h>

static const struct column threads_columns[] = {
    {.name = "id", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "name", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "state", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "address", .type = CELL_ADDRESS, .shown_by_default = true},
    {.name = "frames", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "roots", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "priority", .type = CELL_COUNT},
    {.name = "native_id", .type = CELL_ADDRESS, .shown_by_default = true},
    {.name = "retained", .type = CELL_BYTES},
    {.name = "daemon", .type = CELL_FLAG},
    {.name = "class", .type = CELL_TEXT},
    {.name = "tid", .type = CELL_COUNT},
};

static struct cell unless_zero(uint64_t n, struct cell cell)
{
	return n ? cell : cell_none();
}

static void show_column(struct result *r, const char *name, bool shown)
{
	int column = result_column(r, name);
	if (column >= 0)
		command_own_columns(r)[column].shown_by_default = shown;
}

/* The ids that some thread has: the system's from a javacore, Java's from thread objects. */
static void choose_ids(struct result *r, const struct heap *h)
{
	bool native = false, java = false;
	for (uint32_t t = 0; t < h->n_threads; t++) {
		native |= h->threads[t].native_id != 0;
		java |= h->threads[t].own_id != 0;
	}
	show_column(r, "native_id", native || !java);
	show_column(r, "tid", java);
}

static void add_thread(struct result *r, const struct heap *h, uint32_t t)
{
	const struct heap_thread *thread = &h->threads[t];
	uint64_t address = thread->object == HEAP_NONE ? thread->address :
	    heap_address(h, thread->object);
	result_add_row(r, (struct cell[]){cell_count(t), cell_text(thread->name),
	    cell_text(thread->state), unless_zero(address, cell_address(address)),
	    cell_count(thread->n_frames), cell_count(thread->n_roots),
	    thread->priority < 0 ? cell_none() : cell_count((uint64_t)thread->priority),
	    unless_zero(thread->native_id, cell_address(thread->native_id)),
	    object_retained_cell(h, thread->object),
	    cell_flag(thread->daemon), thread->object == HEAP_NONE ? cell_none() :
	        cell_text(heap_class_of(h, thread->object)->name),
	    unless_zero(thread->own_id, cell_count(thread->own_id))},
	    &(struct target){.kind = TARGET_THREAD, .id = t});
}

static int run_threads(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = s->heap;
	if (!h->n_threads)
		return command_no_threads(h, err);
	int code = command_retained(s, call, err);
	if (code)
		return code;
	struct result *r =
	    result_new_rows("threads", h, threads_columns, N_COLUMNS(threads_columns));
	for (uint32_t t = 0; t < h->n_threads; t++)
		add_thread(r, h, t);
	choose_ids(r, h);
	command_show_retained(r);
	*out = r;
	return 0;
}

static const struct option threads_options[] = {
    {"-retained", OPT_FLAG, NULL, "find out what they retain, if that is not known yet"},
    {NULL, OPT_FLAG, NULL, NULL},
};

const struct command cmd_threads = {
    .name = "threads",
    .aliases = {"goroutines", "clrthreads", "thread_overview"},
    .options = threads_options,
    .group = "look",
    .summary = "threads with their state, frames and roots",
    .columns = "id name state address frames roots priority native_id retained daemon class tid",
    .description = "One row for each thread. address is that of its thread object; tid the number that Java "
	"gave it, native_id the system's. PHD and classic dumps hold no threads: a javacore beside the dump adds them. "
	"What a thread retains includes what its stack holds.",
    .examples = {"threads", "threads | grep waiting"},
    .key = "t",
    .run = run_threads,
};

/* --- bt --------------------------------------------------------------------------------------- */

static const struct column bt_columns[] = {
    {.name = "frame", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "method", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "kind", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "address", .type = CELL_ADDRESS, .shown_by_default = true},
    {.name = "class", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "shallow", .type = CELL_BYTES},
    {.name = "retained", .type = CELL_BYTES},
    {.name = "value", .type = CELL_TEXT},
};

/* A frame with one of the objects that it holds, or with none (root NULL). */
static void add_frame(struct result *r, const struct heap *h, const struct heap_thread *thread,
    uint32_t frame, const struct heap_root *root)
{
	bool known = frame != HEAP_NONE;
	struct text scratch = TEXT_INIT, words = TEXT_INIT;
	struct cell shallow = cell_blank(), value = cell_blank();
	if (root) {
		object_cell(h, root->object, OBJECT_SHALLOW, &shallow, &scratch);
		object_cell(h, root->object, OBJECT_VALUE, &value, &words);
	}
	result_add_row(r, (struct cell[]){known ? cell_count(frame) : cell_blank(),
	    known ? cell_text(thread->frames[frame]) : cell_blank(),
	    root ? cell_text(root_kind_name(root->kind)) : cell_blank(),
	    root ? cell_address(heap_address(h, root->object)) : cell_blank(),
	    root ? cell_text(heap_class_of(h, root->object)->name) : cell_blank(), shallow,
	    root ? object_retained_cell(h, root->object) : cell_blank(), value},
	    root ? &(struct target){.kind = TARGET_OBJECT, .id = root->object} : NULL);
	text_release(&scratch);
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

static int run_bt(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = s->heap;
	uint32_t t = call->argument[0].id;
	const struct heap_thread *thread = &h->threads[t];
	struct held *held = NULL;
	size_t n = 0, cap = 0, at = 0;
	(void)err;
	for (size_t i = 0; i < h->n_roots; i++) {
		if (h->roots[i].thread == t)
			VEC_PUSH(held, n, cap) = (struct held){h->roots[i].frame, i};
	}
	if (n)
		qsort(held, n, sizeof *held, by_frame);
	struct result *r = result_new_rows(
	    thread->name ? thread->name : "thread", h, bt_columns, N_COLUMNS(bt_columns));
	for (uint32_t frame = 0; frame < thread->n_frames; frame++) {
		bool any = false;
		for (; at < n && held[at].frame == frame; at++) {
			add_frame(r, h, thread, frame, &h->roots[held[at].root]);
			any = true;
		}
		if (!any)
			add_frame(r, h, thread, frame, NULL);
	}
	for (; at < n; at++) /* held by the thread, no frame known */
		add_frame(r, h, thread, HEAP_NONE, &h->roots[held[at].root]);
	free(held);
	if (values_held(h))
		show_column(r, "value", true);
	if (!r->n_rows)
		r->note = "no frames are known of this thread";
	*out = r;
	return 0;
}

const struct command cmd_bt = {
    .name = "bt",
    .aliases = {"clrstack", "backtrace"},
    .arguments = {{ARG_THREAD, "THREAD", false}},
    .group = "look",
    .summary = "the frames of a thread with what they hold",
    .columns = "frame method kind address class shallow retained value",
    .description = "Frame 0 is the innermost. A frame that holds several objects has several rows; "
	"value says what each is, where the format holds values. THREAD is an id "
	"of threads, a name or a part of one, or the thread object.",
    .examples = {"bt main", "bt 0"},
    .key = "",
    .run = run_bt,
};
