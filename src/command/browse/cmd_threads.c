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
#include "memory/big.h"
#include "result/objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	T_ID, T_NAME, T_STATE, T_WAITS_FOR, T_WAITED, T_ADDRESS, T_FRAMES, T_ROOTS, T_PRIORITY, T_NATIVE_ID,
	T_RETAINED, T_WITH_LOCALS, T_DAEMON, T_CLASS, T_TID, T_CREATED_BY, T_SYSTEM, T_OOM
};

static const struct column threads_columns[] = {
    [T_ID] = {.id = COL_ID},
    [T_NAME] = {.id = COL_NAME},
    [T_STATE] = {.id = COL_STATE},
    [T_WAITS_FOR] = {.id = COL_WAITS_FOR, .hidden = true},
    [T_WAITED] = {.id = COL_WAITED, .hidden = true},
    [T_ADDRESS] = {.id = COL_ADDRESS},
    [T_FRAMES] = {.id = COL_FRAMES},
    [T_ROOTS] = {.id = COL_ROOTS},
    [T_PRIORITY] = {.id = COL_PRIORITY, .hidden = true},
    [T_NATIVE_ID] = {.id = COL_NATIVE_ID},
    [T_RETAINED] = {.id = COL_RETAINED, .hidden = true},
    [T_WITH_LOCALS] = {.id = COL_WITH_LOCALS, .hidden = true},
    [T_DAEMON] = {.id = COL_DAEMON, .hidden = true},
    [T_CLASS] = {.id = COL_CLASS, .hidden = true},
    [T_TID] = {.id = COL_TID, .hidden = true},
    [T_CREATED_BY] = {.id = COL_CREATED_BY, .hidden = true},
    [T_SYSTEM] = {.id = COL_SYSTEM, .hidden = true},
    [T_OOM] = {.id = COL_OOM, .hidden = true},
};
static const struct shape threads_shape = {SHAPE_COLUMNS(threads_columns)};

static struct cell unless_zero(uint64_t n, struct cell cell)
{
	return n ? cell : cell_none();
}

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
	result_show(r, T_NATIVE_ID, native || !own);
	result_show(r, T_TID, own && !thread_numbers_are_own(h));
	result_show(r, T_WAITS_FOR, waits);
	result_show(r, T_WAITED, waited);
	result_show(r, T_CREATED_BY, created);
}

static struct cell waited_cell(const struct heap_thread *thread, uint64_t newest)
{
	return thread->waits_since ? cell_count(heap_waited(thread->waits_since, newest)) : cell_none();
}

static struct cell text_or_blank(const char *s)
{
	return s ? cell_text(s) : cell_blank();
}

static struct amount frames_of(const struct heap_thread *thread)
{
	return thread->stack == STACK_UNKNOWN ? amount_unknown(REASON_SILENT) : thread->stack == STACK_BY_ORDER ?
	    amount_weaken(amount_exact(thread->n_frames), INFERRED, REASON_STACK_ORDER) : amount_exact(thread->n_frames);
}

static void add_thread(struct result *r, const struct heap *h, uint32_t t, uint64_t newest, bool oom)
{
	const struct heap_thread *thread = &h->threads[t];
	uint64_t address = thread->object == HEAP_NONE ? thread->address :
	    heap_address(h, thread->object);
	result_add_row(r, (struct cell[]){
	    [T_ID] = cell_plain(thread_number(h, t)),
	    [T_NAME] = cell_text(thread->name),
	    [T_STATE] = cell_text(thread->state),
	    [T_WAITS_FOR] = text_or_blank(thread->waits_for),
	    [T_WAITED] = waited_cell(thread, newest),
	    [T_ADDRESS] = unless_zero(address, cell_address(address)),
	    [T_FRAMES] = cell_count(frames_of(thread)),
	    [T_ROOTS] = cell_count(heap_counted(h, thread->n_roots)),
	    [T_PRIORITY] = thread->priority < 0 ? cell_none() : cell_plain((uint64_t)thread->priority),
	    [T_NATIVE_ID] = unless_zero(thread->native_id, cell_address(thread->native_id)),
	    [T_RETAINED] = cell_blank(), /* when looked at */
	    [T_WITH_LOCALS] = cell_blank(),
	    [T_DAEMON] = cell_flag(thread->daemon),
	    [T_CLASS] = thread->object == HEAP_NONE ? cell_none() :
	        cell_text(heap_class_of(h, thread->object)->name),
	    [T_TID] = unless_zero(thread->own_id, cell_plain(thread->own_id)),
	    [T_CREATED_BY] = text_or_blank(thread->creator),
	    [T_SYSTEM] = cell_flag(thread->system),
	    [T_OOM] = cell_flag(oom)},
	    &(struct target){.kind = TARGET_THREAD, .id = t});
}

/* --- by stack ----------------------------------------------------------------------------------- */

enum { S_COUNT, S_STATE, S_WAITS_FOR, S_RETAINED, S_STACK, S_FIRST, S_COLUMNS };

static const struct column stacks_columns[S_COLUMNS] = {
    [S_COUNT] = {.id = COL_COUNT, .total = true},
    [S_STATE] = {.id = COL_STATE},
    [S_WAITS_FOR] = {.id = COL_WAITS_FOR},
    [S_RETAINED] = {.id = COL_RETAINED, .hidden = true, .total = true},
    [S_STACK] = {.id = COL_STACK},
    [S_FIRST] = {.id = COL_FIRST},
};
static const struct shape stacks_shape = {.form = "-by stack", SHAPE_COLUMNS(stacks_columns)};

static int by_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Threads of one state and one stack stand together; within, as they are. */
static int by_stack(const void *x, const void *y, void *heap)
{
	const struct heap *h = heap;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct heap_thread *a = &h->threads[i], *b = &h->threads[k];
	int order = (a->n_frames > b->n_frames) - (a->n_frames < b->n_frames);
	for (uint32_t f = 0; a->frames != b->frames && !order && f < a->n_frames; f++)
		order = a->frames[f] == b->frames[f] ? 0 : strcmp(a->frames[f], b->frames[f]);
	order = order ? order : by_text(a->state, b->state);
	return order ? order : by_text(a->waits_for, b->waits_for);
}

static int by_stack_then_number(const void *x, const void *y, void *heap)
{
	int order = by_stack(x, y, heap);
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	return order ? order : (i > k) - (i < k);
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

/* The threads of each row. */
struct stacks {
	uint32_t *thread; /* all, those of one row together */
	size_t *begin;    /* by row, and one more */
	size_t n;         /* rows */
	struct retained_sum *retained; /* by row; NULL: not summed yet */
};

/* What the objects of the threads of each row retain. */
static int sum_stacks(struct result *r, const struct retained *known, struct progress *progress,
    struct err *err)
{
	struct stacks *s = result_rows_data(r);
	const struct heap *h = r->heap;
	(void)progress;
	if (!s->retained && !(s->retained = big_alloc(s->n, sizeof *s->retained, err)))
		return ERR_NOMEM;
	for (size_t row = 0; row < s->n; row++) {
		struct retained_sum sum = {.joint = true};
		for (size_t i = s->begin[row]; i < s->begin[row + 1]; i++) {
			uint32_t object = h->threads[s->thread[i]].object;
			if (object != HEAP_NONE)
				retained_sum_add(known, &sum, object);
		}
		s->retained[row] = sum;
	}
	return 0;
}

static struct cell stack_retained(const struct result *r, void *data, size_t row)
{
	const struct stacks *s = data;
	if (!result_known(r))
		return cell_unknown(REASON_NOT_FOUND_YET);
	return s->retained[row].topmost ? command_retained_sum(r->opened, &s->retained[row]) : cell_none();
}

static int stack_members(const struct result *r, void *data, const struct bits *rows, struct bits *to,
    struct err *err)
{
	const struct stacks *s = data;
	struct implied implied;
	int code = implied_begin(&implied, r->heap, to, err);
	for (size_t row = 0; !code && row < r->n_source; row++) {
		for (size_t i = s->begin[row]; bits_get(rows, row) && i < s->begin[row + 1]; i++)
			implied_add(&implied,
			    &(struct target){.kind = TARGET_THREAD, .id = s->thread[i]});
	}
	implied_end(&implied);
	return code;
}

static void stacks_release(void *data)
{
	struct stacks *s = data;
	big_free(s->thread);
	big_free(s->begin);
	big_free(s->retained);
	free(s);
}

static void add_group(struct result *r, const struct heap *h, const uint32_t *thread, size_t n)
{
	const struct heap_thread *first = &h->threads[*thread];
	struct text stack = TEXT_INIT;
	add_stack(&stack, first);
	result_add_row(r, (struct cell[S_COLUMNS]){
	    [S_COUNT] = cell_count(heap_counted(h, n)),
	    [S_STATE] = cell_text(first->state),
	    [S_WAITS_FOR] = text_or_blank(first->waits_for),
	    [S_RETAINED] = cell_blank(), /* when looked at */
	    [S_STACK] = cell_text(stack.s),
	    [S_FIRST] = cell_plain(thread_number(h, *thread))},
	    &(struct target){.kind = TARGET_THREAD, .id = *thread});
	text_release(&stack);
}

static int group_by_stack(const struct opened *o, struct result **out, struct err *err)
{
	const struct heap *h = o->heap;
	uint32_t *thread = big_alloc(h->n_threads, sizeof *thread, err);
	struct stacks *s = xcalloc(1, sizeof *s);
	s->thread = thread;
	s->begin = big_alloc((uint64_t)h->n_threads + 1, sizeof *s->begin, err);
	if (!s->thread || !s->begin) {
		stacks_release(s);
		return ERR_NOMEM;
	}
	struct result *r = result_new_rows("threads by stack", o, &stacks_shape);
	result_rows_members(r, stack_members, stacks_release, s);
	result_rows_late(r, COL_RETAINED, stack_retained);
	for (uint32_t t = 0; t < h->n_threads; t++)
		thread[t] = t;
	sort_array_with(thread, h->n_threads, sizeof *thread, by_stack_then_number, (void *)(uintptr_t)h);
	for (size_t i = 0, n; i < h->n_threads; i += n) {
		for (n = 1; i + n < h->n_threads && !by_stack(&thread[i], &thread[i + n], (void *)(uintptr_t)h); n++)
			;
		add_group(r, h, thread + i, n);
		s->begin[r->n_source] = i + n;
	}
	s->n = r->n_source;
	r->later = sum_stacks;
	result_sort_new(r, COL_COUNT, true);
	*out = r;
	return 0;
}

/* --- with what the stack holds ------------------------------------------------------------------- */

/* An object of a thread: its own, or one that its stack holds.  from: its place in the dominator tree. */
struct stack_object {
	uint32_t thread, from, id;
};

static int by_thread_and_place(const void *x, const void *y)
{
	const struct stack_object *a = x, *b = y;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

/* Of the objects of a thread those that do not hang below another one. */
static void sum_topmost(struct stacks *s, const struct retained *known, const struct what_if *cut,
    const struct stack_object *object, size_t n)
{
	uint32_t thread = HEAP_NONE, last = 0;
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		if (object[i].thread == thread && object[i].from <= last)
			continue;
		thread = object[i].thread;
		last = cut->span[object[i].id].to;
		retained_sum_add(known, &s->retained[thread], object[i].id);
	}
}

/* result_later */
static int sum_locals(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct stacks *s = result_rows_data(r);
	const struct heap *h = r->heap;
	const uint32_t *immediate = known->dominators.immediate;
	struct stack_object *object = big_alloc((uint64_t)h->n_roots + h->n_threads, sizeof *object, err);
	struct what_if cut = {.retained = NULL};
	size_t n = 0;
	(void)progress;
	if (!s->retained)
		s->retained = big_alloc(s->n, sizeof *s->retained, err);
	int code = object && s->retained ? what_if_init(&cut, known, err) : ERR_NOMEM;
	if (!code)
		code = what_if_number(&cut, err);
	for (size_t i = 0; !code && i < h->n_roots + h->n_threads; i++) {
		bool root = i < h->n_roots;
		uint32_t thread = root ? h->roots[i].thread : (uint32_t)(i - h->n_roots);
		uint32_t id = root ? h->roots[i].object : h->threads[thread].object;
		if (thread != HEAP_NONE && id != HEAP_NONE && immediate[id] != NOT_REACHABLE)
			object[n++] = (struct stack_object){thread, cut.span[id].from, id};
	}
	if (!code) {
		memset(s->retained, 0, s->n * sizeof *s->retained);
		sort_array(object, n, sizeof *object, by_thread_and_place);
		sum_topmost(s, known, &cut, object, n);
		code = progress_check(progress_own(), err);
	}
	what_if_release(&cut);
	big_free(object);
	return code;
}

/* The rows are the threads themselves. */
static int add_locals(struct result *r, struct err *err)
{
	const struct heap *h = r->heap;
	struct stacks *s = xcalloc(1, sizeof *s);
	s->n = h->n_threads;
	s->thread = big_alloc(s->n, sizeof *s->thread, err);
	s->begin = big_alloc((uint64_t)s->n + 1, sizeof *s->begin, err);
	if (!s->thread || !s->begin) {
		stacks_release(s);
		return ERR_NOMEM;
	}
	for (uint32_t t = 0; t < h->n_threads; t++) {
		s->thread[t] = t;
		s->begin[t + 1] = (size_t)t + 1;
	}
	result_rows_members(r, stack_members, stacks_release, s);
	result_rows_late(r, COL_WITH_LOCALS, stack_retained);
	r->later = sum_locals;
	return 0;
}

static int run_threads(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	if (!h->n_threads)
		return command_no_threads(h, err);
	int code = command_retained(s, call, err);
	if (code)
		return code;
	if (call_has(call, DASH_BY)) {
		code = group_by_stack(s->dump, out, err);
		if (!code)
			command_show_retained(*out);
		return code;
	}
	struct result *r =
	    result_new_rows("threads", s->dump, &threads_shape);
	uint64_t newest = heap_newest_wait(h);
	uint32_t oom = java_oom_thread(h);
	result_rows_late(r, COL_RETAINED, row_retained_cell);
	for (uint32_t t = 0; t < h->n_threads; t++)
		add_thread(r, h, t, newest, t == oom);
	choose_columns(r, h);
	result_show(r, T_OOM, oom != HEAP_NONE);
	command_show_retained(r);
	result_show(r, T_WITH_LOCALS, opened_retained(s->dump) != NULL);
	code = add_locals(r, err);
	if (code)
		result_free(r);
	else
		*out = r;
	return code;
}

static const struct option_spec threads_options[] = {
    {DASH_BY, OPT_CHOICE, "stack", "group threads with the same stack"},
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_threads = {
    .name = "threads",
    .options = threads_options,
    .group = "browse",
    .summary = "list threads or goroutines with state, frames and roots",
    .shapes = SHAPES(&threads_shape, &stacks_shape),
    .description = "One row per thread. PHD and classic dumps need a javacore for threads.\n"
	"address\tthread object\n"
	"tid, native_id\tnumber of the thread in Java and in the system\n"
	"id\tnumber of the row for bt; of a goroutine its number in Go\n"
	"waits_for\tmonitor or lock that the thread is blocked on, waits for or is parked on, with its owner; of a "
	"goroutine the reason\n"
	"waited\tseconds a goroutine has waited at least\n"
	"retained\tretained size of the thread object with its stack; only with -retained, or once retained sizes "
	"are known\n"
	"with_locals\tthe same with all objects on its stack, also those that others hold\n"
	"oom\tthe thread that ran out of memory\n"
	"In a deadlock each thread owns a lock that another one waits for (locks -deadlock). -by stack groups "
	"threads with the same stack.",
    .examples = {{"threads", ON_ANY, "all threads with their state"},
	{"threads -retained", ON_ANY, "the same with what each thread retains"},
	{"threads | grep waiting", ON_GO, "goroutines that wait"},
	{"threads -by stack", ON_GO, "how many threads have the same stack?"}},
    .key = "t",
    .run = run_threads,
};
