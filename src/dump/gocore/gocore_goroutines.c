/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_goroutines.c - goroutines with their frames, deferred calls and panics, and threads: runtime/heapdump.go,
 * dumpgs and dumpms.
 *
 * A heap dump is written by a program that stopped itself; in a core goroutines are running.  Those are found by the
 * registers of their threads: each may be on the stack of the goroutine, on that of the thread (then the goroutine's
 * own state was saved when it went there), in the system's code for the clock, or in the handler of a signal.
 */
#include "dump/gocore/gocore_stack.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <string.h>

enum {
	IDLE = 0, RUNNING = 2, SYSCALL = 3, DEAD = 6, DEAD_EXTRA = 11, /* of runtime2.go; a bit for being scanned */
	STATUS = 0xfff,
	MOST_GOROUTINES = 1 << 28,
	MOST_REASON = 200,
	STRING = 16,
	FINALIZER_RUNS = 2,      /* runtime.fingStatus, fingRunningFinalizer */
	RECORD = 64,             /* bytes of memory that a structure in a list has at least */
};

struct telling {
	struct gocore *g;
	struct gocore_records *out;
	struct gocore_unwinder unwinder;
	struct gocore_stack stack;
	const struct core_thread **thread; /* big memory, by id */
	size_t n_threads;
	uint64_t *pointer;         /* big memory: of the goroutine at hand, what the collector begins at beside frames */
	size_t n_pointers, cap_pointers;
	uint64_t reasons, n_reasons; /* runtime.waitReasonStrings */
	uint64_t finalizers;       /* runtime.fingStatus, up to 1.19 fingRunning; and bytes of it */
	unsigned n_finalizers;
	uint64_t vector_bytes;     /* of registers that are saved */
	uint64_t n_frames;
	uint64_t room;             /* bytes of memory that frames and lists may yet have: no more than there are */
	struct err *err;
};

static bool is_named(const struct gocore_function *f, const char *name)
{
	return f->n_name == strlen(name) && !memcmp(f->name, name, f->n_name);
}

/* --- where a goroutine is ------------------------------------------------------------------------------- */

/* Registers in the order of the core, those that can hold a pointer by name. */
static const char *const amd64[] = {
	"r15", "r14", "r13", "r12", NULL, "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi",
};
/* The order of a signal's context. */
static const char *const amd64_signal[] = {
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi", NULL, "rbx", "rdx", "rax", "rcx",
};
static const char *const arm64[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
	"x17", NULL, "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", NULL, NULL, NULL,
};
#define LENGTH(a) (sizeof (a) / sizeof *(a))

struct place {
	uint64_t pc, sp, lr;
	unsigned interrupted;      /* so many of the innermost frames are not where the collector would stop them */
	const uint8_t *registers;  /* that are the goroutine's own; n of these names */
	const char *const *names;
	size_t n;
};

static bool within(uint64_t address, uint64_t low, uint64_t high)
{
	return address >= low && address <= high;
}

static bool on_stack(const struct gocore *g, uint64_t goroutine, uint64_t sp)
{
	return goroutine && within(sp, gocore_get(g, goroutine, AT_G_STACK_LOW),
	    gocore_get(g, goroutine, AT_G_STACK_HIGH));
}

/* Take so many bytes of what frames and lists may have; false: it is used up. */
static bool spend(struct telling *t, uint64_t bytes)
{
	if (bytes > t->room) {
		t->room = 0;
		return false;
	}
	t->room -= bytes;
	return true;
}

/* What was saved when it last stopped running. */
static struct place saved_place(const struct gocore *g, uint64_t goroutine)
{
	uint64_t sp = gocore_get(g, goroutine, AT_G_SYSCALL_SP);

	if (sp)
		return (struct place){ .pc = gocore_get(g, goroutine, AT_G_SYSCALL_PC), .sp = sp };
	return (struct place){ .pc = gocore_get(g, goroutine, AT_G_PC), .sp = gocore_get(g, goroutine, AT_G_SP),
	    .lr = gocore_get(g, goroutine, AT_G_LR) };
}

/*
 * What a thread did before it came into the handler of a signal.  The kernel wrote a ucontext on the stack for
 * signals, which says which stack that is: it is looked for by this, from the outermost on.
 */
static bool before_signal(struct telling *t, uint64_t handler, uint64_t sp, struct place *out)
{
	enum { STACK = 16, SIZE = 16, REGISTERS_AMD64 = 40, SP_AMD64 = 15, REGISTERS_ARM64 = 184, MOST = 1 << 20 };
	const struct gocore *g = t->g;
	uint64_t low = gocore_get(g, handler, AT_G_STACK_LOW), high = gocore_get(g, handler, AT_G_STACK_HIGH);
	const uint8_t *p;

	if (high - low > MOST || !spend(t, high - low))
		return false;
	for (uint64_t at = (high - 8) & ~UINT64_C(7); at >= sp && at >= low + STACK; at -= 8) {
		if (gocore_word(g, at) != low || gocore_word(g, at + SIZE) != high - low)
			continue;
		if (g->machine == CORE_ARM64) {
			p = core_range(g->core, at - STACK + REGISTERS_ARM64, 8 * 33);
			if (!p)
				continue;
			*out = (struct place){ .lr = core_number(g->core, p + 8 * 30, 8),
			    .sp = core_number(g->core, p + 8 * 31, 8), .pc = core_number(g->core, p + 8 * 32, 8),
			    .registers = p, .names = arm64, .n = LENGTH(arm64) };
		} else {
			p = core_range(g->core, at - STACK + REGISTERS_AMD64, 8 * 17);
			if (!p)
				continue;
			*out = (struct place){ .sp = core_number(g->core, p + 8 * SP_AMD64, 8),
			    .pc = core_number(g->core, p + 8 * (SP_AMD64 + 1), 8),
			    .registers = p, .names = amd64_signal, .n = LENGTH(amd64_signal) };
		}
		out->interrupted = 1;
		return !within(out->sp, low, high);
	}
	return false;
}

static const struct core_thread *thread_of(const struct telling *t, uint64_t id)
{
	size_t i;

	BISECT(i, t->n_threads, t->thread[i]->id < id);
	return i < t->n_threads && t->thread[i]->id == id ? t->thread[i] : NULL;
}

/* Where a thread is, or was before a signal came; false: unknown. */
static bool thread_place(struct telling *t, uint64_t m, struct place *out)
{
	const struct gocore *g = t->g;
	const struct core_thread *thread = thread_of(t, gocore_get(g, m, AT_M_OS_ID));
	uint64_t handler = gocore_get(g, m, AT_M_SIGNAL_G);

	if (!thread)
		return false;
	if (on_stack(g, handler, thread->sp))
		return before_signal(t, handler, thread->sp, out);
	*out = (struct place){ .pc = thread->pc, .sp = thread->sp, .lr = thread->lr, .interrupted = 1,
	    .registers = thread->registers, .names = g->machine == CORE_ARM64 ? arm64 : amd64,
	    .n = g->machine == CORE_ARM64 ? LENGTH(arm64) : LENGTH(amd64) };
	if (thread->n_registers / 8 < out->n)
		out->n = thread->n_registers / 8;
	return true;
}

/* Where a running goroutine is; false: unknown. */
static bool running_place(struct telling *t, uint64_t goroutine, uint64_t m, struct place *out)
{
	const struct gocore *g = t->g;
	uint64_t sp = gocore_get(g, m, AT_M_VDSO_SP);
	struct gocore_function f;

	*out = saved_place(g, goroutine);
	if (gocore_get(g, goroutine, AT_G_SYSCALL_SP))
		return true;
	if (sp && on_stack(g, goroutine, sp)) {
		*out = (struct place){ .pc = gocore_get(g, m, AT_M_VDSO_PC), .sp = sp };
		return true;
	}
	struct place now;
	if (!thread_place(t, m, &now))
		return false;
	if (!on_stack(g, goroutine, now.sp)) {
		out->interrupted = 2; /* systemstack_switch, and what needs something done on the thread's stack */
		return gocore_get(g, m, AT_M_GOROUTINE) == goroutine;
	}
	/* gogo has just come to this stack, and jumps to what was saved */
	if (gocore_function_at(g, now.pc, &f) && is_named(&f, "runtime.gogo"))
		now = (struct place){ .pc = out->pc, .sp = now.sp, .lr = out->lr };
	*out = now;
	return true;
}

/* --- frames --------------------------------------------------------------------------------------------- */

static int add_pointer(struct telling *t, uint64_t pointer)
{
	return pointer ? BIG_ADD(t->pointer, t->n_pointers, t->cap_pointers, t->err, pointer) : 0;
}

/* What the collector looks at beside the frames: a closure that is yet to be called, deferred calls, the panic. */
static int find_pointers(struct telling *t, uint64_t goroutine, const struct place *p)
{
	const struct gocore *g = t->g;
	int code = add_pointer(t, gocore_get(g, goroutine, AT_G_CONTEXT));

	if (!code)
		code = add_pointer(t, gocore_get(g, goroutine, AT_G_PANIC));
	for (uint64_t d = gocore_get(g, goroutine, AT_G_DEFER); d && !code && spend(t, RECORD);
	    d = gocore_get(g, d, AT_DEFER_NEXT)) {
		code = add_pointer(t, gocore_get(g, d, AT_DEFER_FUNCTION));
		if (!code)
			code = add_pointer(t, gocore_get(g, d, AT_DEFER_NEXT));
	}
	for (size_t i = 0; i < p->n && !code; i++)
		code = add_pointer(t, p->names[i] ? core_number(g->core, p->registers + 8 * i, 8) : 0);
	return code;
}

static int tell_frames(struct telling *t, uint64_t goroutine, const struct place *p)
{
	struct gocore_unwinder *u = &t->unwinder;
	struct gocore_stack *s = &t->stack;
	int code = 0;

	gocore_stack_clear(s);
	t->n_pointers = 0;
	t->unwinder.in_c = false;
	if (!on_stack(t->g, goroutine, p->sp))
		return 0;
	bool more = gocore_unwind(u, p->pc, p->sp, p->lr, gocore_get(t->g, goroutine, AT_G_STACK_HIGH));
	for (; more && !code && spend(t, u->frame.fp - u->frame.sp + 8); more = gocore_unwind_next(u))
		code = progress_own_stops(t->n_frames++) ? err_cancelled(t->err) :
		    gocore_stack_add(s, &u->frame, s->n_frames < p->interrupted);
	if (!code && !t->g->as_heap_dump)
		code = find_pointers(t, goroutine, p);
	return code ? code : gocore_stack_tell(s, t->pointer, t->n_pointers, t->out);
}

/* A pointer of the goroutine that no frame has: a root between its records. */
static void tell_root(struct telling *t, uint64_t pointer)
{
	if (pointer < t->g->heap_start || pointer >= t->g->heap_end)
		return;
	gocore_put(t->out, TAG_ROOT);
	gocore_put_text(t->out, "");
	gocore_put(t->out, pointer);
}

static void tell_words(struct telling *t, uint64_t address, uint64_t end)
{
	for (; address < end && spend(t, 8); address += 8)
		tell_root(t, gocore_word(t->g, address));
}

/* What registers may hold alone.  Of a goroutine that a signal stopped, Go 1.26 and later save the vector registers
 * apart from its stack.  Without its thread it is unknown where a goroutine is running: then any word of the stack
 * counts. */
static void tell_registers(struct telling *t, uint64_t goroutine, const struct place *p)
{
	const struct gocore *g = t->g;
	uint64_t saved = gocore_get(g, goroutine, AT_G_VECTOR_REGISTERS);

	for (size_t i = 0; i < p->n; i++)
		if (p->names[i])
			tell_root(t, core_number(g->core, p->registers + 8 * i, 8));
	if (saved)
		tell_words(t, saved, saved + t->vector_bytes);
	if (!p->sp)
		tell_words(t, gocore_get(g, goroutine, AT_G_STACK_LOW), gocore_get(g, goroutine, AT_G_STACK_HIGH));
}

/* --- goroutines ----------------------------------------------------------------------------------------- */

/* runtime.isSystemGoroutine: by the function that it began with. */
static bool is_system(const struct telling *t, uint64_t goroutine)
{
	const struct gocore *g = t->g;
	struct gocore_function f;
	uint64_t runs;

	if (!gocore_function_at(g, gocore_get(g, goroutine, AT_G_STARTED_AT), &f) ||
	    is_named(&f, "runtime.main") || is_named(&f, "runtime.corostart") || is_named(&f, "runtime.handleAsyncEvent"))
		return false;
	if (is_named(&f, "runtime.runFinalizers") || is_named(&f, "runtime.runfinq")) {
		core_load(g->core, t->finalizers, t->n_finalizers, &runs);
		return !(t->n_finalizers == 4 ? runs & FINALIZER_RUNS : runs);
	}
	if (is_named(&f, "runtime.runCleanups"))
		return !gocore_get(g, goroutine, AT_G_RUNS_CLEANUPS);
	return f.n_name >= 8 && !memcmp(f.name, "runtime.", 8);
}

static void tell_reason(struct telling *t, uint64_t reason)
{
	struct gocore_slice s = { .n = 0 };
	const uint8_t *text;

	if (reason < t->n_reasons)
		s = gocore_slice_at(t->g, t->reasons + reason * STRING, MOST_REASON);
	text = s.n ? core_range(t->g->core, s.address, s.n) : NULL;
	if (reason >= t->n_reasons && t->n_reasons)
		gocore_put_text(t->out, "unknown wait reason");
	else
		gocore_put_bytes(t->out, text, text ? s.n : 0);
}

static void tell_head(struct telling *t, uint64_t goroutine, const struct place *p)
{
	const struct gocore *g = t->g;
	struct gocore_records *out = t->out;

	gocore_put(out, TAG_GOROUTINE);
	gocore_put(out, goroutine);
	gocore_put(out, p->sp);
	gocore_put(out, gocore_get(g, goroutine, AT_G_ID));
	gocore_put(out, gocore_get(g, goroutine, AT_G_CREATED_AT));
	gocore_put(out, gocore_get(g, goroutine, AT_G_STATUS) & STATUS);
	gocore_put(out, is_system(t, goroutine));
	gocore_put(out, 0);
	gocore_put(out, gocore_get(g, goroutine, AT_G_WAIT_SINCE));
	tell_reason(t, gocore_get(g, goroutine, AT_G_WAIT_REASON));
	gocore_put(out, gocore_get(g, goroutine, AT_G_CONTEXT));
	gocore_put(out, gocore_get(g, goroutine, AT_G_THREAD));
	gocore_put(out, gocore_get(g, goroutine, AT_G_DEFER));
	gocore_put(out, gocore_get(g, goroutine, AT_G_PANIC));
}

static void tell_defers(struct telling *t, uint64_t goroutine)
{
	const struct gocore *g = t->g;
	struct gocore_records *out = t->out;

	for (uint64_t d = gocore_get(g, goroutine, AT_G_DEFER); d && spend(t, RECORD);
	    d = gocore_get(g, d, AT_DEFER_NEXT)) {
		uint64_t function = gocore_get(g, d, AT_DEFER_FUNCTION);
		gocore_put(out, TAG_DEFER);
		gocore_put(out, d);
		gocore_put(out, goroutine);
		gocore_put(out, gocore_get(g, d, AT_DEFER_SP));
		gocore_put(out, gocore_get(g, d, AT_DEFER_PC));
		gocore_put(out, function);
		gocore_put(out, function ? gocore_word(g, function) : 0);
		gocore_put(out, gocore_get(g, d, AT_DEFER_NEXT));
	}
	for (uint64_t p = gocore_get(g, goroutine, AT_G_PANIC); p && spend(t, RECORD);
	    p = gocore_get(g, p, AT_PANIC_NEXT)) {
		uint64_t argument = p + g->at[AT_PANIC_ARGUMENT].offset;
		gocore_put(out, TAG_PANIC);
		gocore_put(out, p);
		gocore_put(out, goroutine);
		gocore_put(out, gocore_word(g, argument));
		gocore_put(out, gocore_word(g, argument + g->word));
		gocore_put(out, 0); /* the deferred call, which is not recorded */
		gocore_put(out, gocore_get(g, p, AT_PANIC_NEXT));
	}
}

static int tell_goroutine(struct telling *t, uint64_t goroutine)
{
	struct gocore *g = t->g;
	uint64_t status = gocore_get(g, goroutine, AT_G_STATUS) & STATUS, m = gocore_get(g, goroutine, AT_G_THREAD);
	struct place p = saved_place(g, goroutine);

	if (status == IDLE || status == DEAD || status == DEAD_EXTRA)
		return 0;
	if (status == RUNNING && !running_place(t, goroutine, m, &p))
		p = (struct place){ .pc = 0 };
	tell_head(t, goroutine, &p);
	int code = tell_frames(t, goroutine, &p);
	tell_defers(t, goroutine);
	if (!g->as_heap_dump)
		tell_registers(t, goroutine, &p);
	g->state.n_in_c += t->unwinder.in_c || ((status == RUNNING || status == SYSCALL) && m &&
	    gocore_get(g, m, AT_M_IN_C));
	return code;
}

static void tell_threads(struct telling *t)
{
	const struct gocore *g = t->g;

	for (uint64_t m = gocore_word(g, gocore_global(g, "runtime.allm")); m && spend(t, RECORD);
	    m = gocore_get(g, m, AT_M_ALL_NEXT)) {
		gocore_put(t->out, TAG_THREAD);
		gocore_put(t->out, m);
		gocore_put(t->out, gocore_get(g, m, AT_M_ID));
		gocore_put(t->out, gocore_get(g, m, AT_M_OS_ID));
	}
}

/* --- all of it ------------------------------------------------------------------------------------------ */

static int by_id(const void *a, const void *b)
{
	const struct core_thread *x = *(const struct core_thread *const *)a, *y = *(const struct core_thread *const *)b;
	return (x->id > y->id) - (x->id < y->id);
}

static void find_reasons(struct telling *t)
{
	size_t n;
	const struct program_variable *v = program_variables(t->g->program, &n);

	for (size_t i = 0; i < n; i++) {
		const struct type *type = &t->g->types->type[v[i].type];
		if (!strcmp(v[i].name, "runtime.waitReasonStrings") && type->kind == TYPE_ARRAY) {
			t->reasons = v[i].address;
			t->n_reasons = type->count;
		}
	}
}

static int begin(struct telling *t)
{
	struct gocore *g = t->g;
	const struct core_thread *all = core_threads(g->core, &t->n_threads);

	t->out = &g->out;
	t->unwinder.image = t->stack.image = g;
	t->stack.err = t->err;
	t->stack.stub_object = gocore_global(g, "runtime.methodValueCallFrameObjs");
	t->finalizers = gocore_global(g, "runtime.fingStatus");
	t->n_finalizers = t->finalizers ? 4 : 1;
	if (!t->finalizers)
		t->finalizers = gocore_global(g, "runtime.fingRunning");
	t->vector_bytes = gocore_size_of(g, "runtime.xRegState");
	t->room = g->source->size;
	t->unwinder.site = big_alloc(SITES, sizeof *t->unwinder.site, t->err);
	t->thread = big_alloc(t->n_threads, sizeof *t->thread, t->err);
	if (!t->unwinder.site || !t->thread)
		return ERR_NOMEM;
	for (size_t i = 0; i < t->n_threads; i++)
		t->thread[i] = &all[i];
	find_reasons(t);
	return sort(t->thread, t->n_threads, sizeof *t->thread, by_id, t->err);
}

int gocore_tell_goroutines(struct gocore *g, struct err *err)
{
	struct telling t = { .g = g, .err = err };
	struct gocore_slice all = gocore_slice_at(g, gocore_global(g, "runtime.allgs"), MOST_GOROUTINES);
	int code = begin(&t);

	for (uint64_t i = 0; i < all.n && !code && !g->out.refused; i++) {
		uint64_t goroutine;
		if (!core_load(g->core, all.address + 8 * i, 8, &goroutine))
			break;
		if (progress_own_stops(i))
			code = err_cancelled(err);
		else if (goroutine)
			code = tell_goroutine(&t, goroutine);
	}
	if (!code)
		tell_threads(&t);
	gocore_stack_release(&t.stack);
	big_free(t.unwinder.site);
	big_free(t.thread);
	big_free(t.pointer);
	return code;
}
