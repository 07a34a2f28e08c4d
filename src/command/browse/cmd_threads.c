/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_threads.c - threads, one by one and by their stacks.
 */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "analysis/java/java.h"
#include "analysis/what_if/what_if.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "dump/javacore/javacore.h"
#include "dump/process.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct column threads_columns[] = {
    {.id = COL_ID},
    {.id = COL_NAME},
    {.id = COL_STATE},
    {.id = COL_WAITS_FOR, .hidden = true},
    {.id = COL_WAITED, .hidden = true},
    {.id = COL_ADDRESS},
    {.id = COL_FRAMES},
    {.id = COL_ROOTS},
    {.id = COL_PRIORITY, .hidden = true},
    {.id = COL_NATIVE_ID},
    {.id = COL_RETAINED, .hidden = true},
    {.id = COL_WITH_LOCALS, .hidden = true},
    {.id = COL_DAEMON, .hidden = true},
    {.id = COL_CLASS, .hidden = true},
    {.id = COL_TID, .hidden = true},
    {.id = COL_CREATED_BY, .hidden = true},
    {.id = COL_SYSTEM, .hidden = true},
    {.id = COL_OOM, .hidden = true},
    {.id = COL_STACK, .hidden = true},
};
static const struct shape threads_shape = {
    .columns = threads_columns, .n_columns = sizeof threads_columns / sizeof *threads_columns - 1};
static const struct shape with_stacks_shape = {SHAPE_COLUMNS(threads_columns)}; /* what is grouped by stack */

/* Columns that tell something of some thread: the system's ids from a javacore, Java's from thread
 * objects; what goroutines wait for and who started them. */
static void choose_columns(struct result *r, const struct heap *h)
{
	bool native = false, own = false, waits = false, waited = false, created = false;
	for (uint32_t t = 0; t < h->n_threads; t++) {
		native |= h->threads[t].native_id != 0;
		own |= h->threads[t].own_id != 0;
		waits |= h->threads[t].waits_for != NULL;
		waited |= h->threads[t].waits_since != 0;
		created |= h->threads[t].creator != NULL;
	}
	result_show_column(r, COL_NATIVE_ID, native || !own);
	result_show_column(r, COL_TID, own && !thread_numbers_are_own(h));
	result_show_column(r, COL_WAITS_FOR, waits);
	result_show_column(r, COL_WAITED, waited);
	result_show_column(r, COL_CREATED_BY, created);
}

static struct cell waited_cell(const struct heap_thread *thread, uint64_t newest)
{
	return thread->waits_since ? cell_count(heap_waited(thread->waits_since, newest)) : cell_none();
}

static struct amount frames_of(const struct heap_thread *thread)
{
	return thread->stack == STACK_UNKNOWN ? amount_unknown(REASON_SILENT) : thread->stack == STACK_BY_ORDER ?
	    amount_weaken(amount_exact(thread->n_frames), INFERRED, REASON_STACK_ORDER) : amount_exact(thread->n_frames);
}

static bool of_runtime(const char *frame)
{
	return !strncmp(frame, "runtime.", 8);
}

/* Bytes of a stack in one cell; behind them is said how many frames are left out. */
enum { MOST_STACK = 65536 };

/* The frames from the innermost on, without those of Go's runtime at both ends where there are others. */
static void add_stack(struct text *to, const struct heap_thread *thread)
{
	uint32_t begin = 0, end = thread->n_frames;
	while (begin < end && of_runtime(thread->frames[begin]))
		begin++;
	while (end > begin && of_runtime(thread->frames[end - 1]))
		end--;
	if (begin == end) {
		begin = 0;
		end = thread->n_frames;
	}
	text_clear(to);
	for (uint32_t f = begin; f < end; f++) {
		if (to->len > MOST_STACK) {
			text_addf(to, " < %" PRIu32 " more", end - f);
			return;
		}
		text_addf(to, "%s%s", f > begin ? " < " : "", thread->frames[f]);
	}
}

struct thread_rows {
	uint64_t newest;  /* heap_newest_wait */
	uint32_t oom;     /* java_oom_thread */
	uint32_t first;   /* for which the dump was written: the first row; HEAP_NONE unknown */
	struct retained_sum *with_locals; /* by thread; NULL: not summed yet */
};

static uint32_t thread_of(const struct result *r, size_t row)
{
	uint32_t first = ((const struct thread_rows *)r->data)->first;
	return (uint32_t)(first == HEAP_NONE || row > first ? row : row == 0 ? first : row - 1);
}

/* The thread that ran out of memory, or that crashed. */
static uint32_t thread_of_cause(const struct heap *h)
{
	uint32_t thread = java_oom_thread(h);
	const struct process_facts *p = h->process;
	bool known = p && p->cause_thread && !javacore_was_wanted(p);
	for (uint32_t i = 0; known && thread == HEAP_NONE && i < h->n_threads; i++)
		if (h->threads[i].address == p->cause_thread)
			thread = i;
	return thread;
}

static struct cell with_locals_cell(const struct result *r, const struct thread_rows *rows, size_t row)
{
	if (!result_known(r))
		return cell_unknown(REASON_NOT_FOUND_YET);
	const struct retained_sum *sum = &rows->with_locals[thread_of(r, row)];
	return sum->topmost ? command_retained_sum(r->opened, sum) : cell_none();
}

static void threads_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct thread_rows *rows = r->data;
	const struct heap *h = r->heap;
	uint32_t t = thread_of(r, row);
	const struct heap_thread *thread = &h->threads[t];
	uint64_t address = thread->object == HEAP_NONE ? thread->address : heap_address(h, thread->object);
	switch (r->shape->columns[column].id) {
	case COL_ID: *out = cell_plain(thread_number(h, t)); break;
	case COL_NAME: *out = cell_text(thread->name); break;
	case COL_STATE: *out = cell_text(thread->state); break;
	case COL_WAITS_FOR: *out = cell_text_or_blank(thread->waits_for); break;
	case COL_WAITED: *out = waited_cell(thread, rows->newest); break;
	case COL_ADDRESS: *out = cell_address_or_none(address); break;
	case COL_FRAMES: *out = cell_count(frames_of(thread)); break;
	case COL_ROOTS: *out = cell_count(heap_counted(h, thread->n_roots)); break;
	case COL_PRIORITY: *out = thread->priority < 0 ? cell_none() : cell_plain((uint64_t)thread->priority); break;
	case COL_NATIVE_ID: *out = cell_address_or_none(thread->native_id); break;
	case COL_RETAINED: *out = row_retained_cell(r, NULL, row); break;
	case COL_WITH_LOCALS: *out = with_locals_cell(r, rows, row); break;
	case COL_DAEMON: *out = cell_flag(thread->daemon); break;
	case COL_CLASS:
		*out = thread->object == HEAP_NONE ? cell_none() : cell_text(heap_class_of(h, thread->object)->name);
		break;
	case COL_TID: *out = thread->own_id ? cell_plain(thread->own_id) : cell_none(); break;
	case COL_CREATED_BY: *out = cell_text_or_blank(thread->creator); break;
	case COL_SYSTEM: *out = cell_flag(thread->system); break;
	case COL_OOM: *out = cell_flag(t == rows->oom); break;
	default:
		add_stack(scratch, thread);
		*out = cell_text(scratch->s ? scratch->s : "");
	}
}

static void threads_target(const struct result *r, size_t row, struct target *out)
{
	*out = (struct target){.kind = TARGET_THREAD, .id = thread_of(r, row)};
}

static void threads_release(void *data)
{
	struct thread_rows *rows = data;
	big_free(rows->with_locals);
	free(rows);
}

static const struct result_ops threads_ops = {
    .cell = threads_cell, .target = threads_target, .release = threads_release};

/* --- by stack ----------------------------------------------------------------------------------- */

static const struct column stacks_columns[] = {
    {.id = COL_COUNT, .total = true},
    {.id = COL_STATE},
    {.id = COL_WAITS_FOR},
    {.id = COL_RETAINED, .hidden = true, .total = true},
    {.id = COL_STACK},
    {.id = COL_FIRST},
};
static const struct shape stacks_shape = {.form = "-by stack", SHAPE_COLUMNS(stacks_columns)};
static const struct view_column stacks_view_columns[] = {{VIEW_ROWS}, {VIEW_KEY, COL_STATE}, {VIEW_KEY, COL_WAITS_FOR},
    {VIEW_RETAINED}, {VIEW_KEY, COL_STACK}, {VIEW_FIRST, COL_ID}};
static const struct view stacks_view = {"threads by stack", &stacks_shape, VIEW_OF(stacks_view_columns)};

/* --- with what the stack holds ------------------------------------------------------------------- */

/* result_later */
static int sum_locals(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct thread_rows *rows = r->data;
	const struct heap *h = r->heap;
	size_t n = 0;
	struct what_if_member *object = big_alloc((uint64_t)h->n_roots + h->n_threads, sizeof *object, err);
	(void)progress;
	if (!rows->with_locals)
		rows->with_locals = big_alloc(h->n_threads, sizeof *rows->with_locals, err);
	int code = object && rows->with_locals ? 0 : ERR_NOMEM;
	for (size_t i = 0; !code && i < h->n_roots + h->n_threads; i++) {
		bool root = i < h->n_roots;
		uint32_t thread = root ? h->roots[i].thread : (uint32_t)(i - h->n_roots);
		uint32_t id = root ? h->roots[i].object : h->threads[thread].object;
		if (thread != HEAP_NONE && id != HEAP_NONE)
			object[n++] = (struct what_if_member){thread, id};
	}
	if (!code)
		code = what_if_sum_members(rows->with_locals, h->n_threads, object, n, known, err);
	big_free(object);
	return code;
}

static int run_threads(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	bool by_stack = call_has(call, DASH_BY);
	if (!h->n_threads)
		return command_no_threads(h, err);
	int code = command_retained(s, call, err);
	if (code)
		return code;
	struct thread_rows *rows = xcalloc(1, sizeof *rows);
	*rows = (struct thread_rows){.newest = heap_newest_wait(h), .oom = java_oom_thread(h),
	    .first = thread_of_cause(h)};
	struct result *r = result_new("threads", s->dump, by_stack ? &with_stacks_shape : &threads_shape, &threads_ops,
	    rows, h->n_threads);
	if (by_stack) {
		code = result_view(&r, &stacks_view, err);
		if (!code)
			code = command_order(s, r, COL_COUNT, err);
	} else {
		choose_columns(r, h);
		result_show_column(r, COL_OOM, rows->oom != HEAP_NONE);
		result_show_column(r, COL_WITH_LOCALS, opened_retained(s->dump) != NULL);
		r->later = sum_locals;
	}
	command_show_retained(r);
	*out = r;
	return code;
}

const struct command cmd_threads = {
    .name = "threads",
    .options = OPTIONS({DASH_BY, OPT_CHOICE, "stack", "group threads with the same stack"},
	{DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"}),
    .group = "browse",
    .summary = "list threads or goroutines with state, frames and roots",
    .shapes = SHAPES(&threads_shape, &stacks_shape),
    .description = "One row per thread. PHD and classic dumps need a javacore for threads.\n"
	"address\tthread object\n"
	"tid, native_id\tnumber of the thread in Java and in the system\n"
	"id\tnumber of the row for bt; of a goroutine its number in Go\n"
	"waits_for\tmonitor or lock that the thread is blocked on, waits for (Object.wait; often no thread owns it) or is "
	"parked on, with its owner; of a goroutine the reason\n"
	"waited\tseconds a goroutine has waited at least\n"
	"retained\tretained size of the thread object with its stack; only with -retained, or once retained sizes "
	"are known\n"
	"with_locals\tthe same with all objects on its stack, also those that others hold\n"
	"oom\tthe thread that ran out of memory; it, or one that crashed, is the first row\n"
	"In a deadlock each thread owns a lock that another one waits for (locks -deadlock). -by stack groups "
	"threads with the same stack.",
    .examples = {{"threads", ON_ANY, "all threads with their state"},
	{"threads -retained", ON_ANY, "the same with what each thread retains"},
	{"threads | grep waiting", ON_GO, "goroutines that wait"},
	{"threads -by stack", ON_GO, "how many threads have the same stack?"}},
    .key = "t",
    .run = run_threads,
};
