/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_tell.c - announce goroutines, roots and counts of a Go heap dump to a sink.
 *
 * The records of a goroutine's frames, defers and panics follow its own.  Roots that lead out of
 * the heap are announced as well; the heap counts and drops them.
 */
#include "dump/go/go_reading.h"

#include "base/mem.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- goroutines ------------------------------------------------------------------------------------- */

enum { FUNCTION_LIMIT = 4096 };

static bool starts_with(const char *s, const char *what)
{
	return !strncmp(s, what, strlen(what));
}

/* Bytes of a function's name that are its package: "net/http.(*conn).serve" has 8. */
static size_t package_bytes(const char *function)
{
	const char *slash = strrchr(function, '/');
	return (size_t)(slash ? slash - function : 0) + strcspn(slash ? slash : function, ".");
}

/* A closure, which the compiler called f.func1. */
static bool is_closure(const char *function)
{
	const char *last = strrchr(function, '.');
	size_t n = last ? strspn(last, ".func0123456789") : 0;
	if (last && strspn(last + 1, "0123456789") == strcspn(last + 1, "+"))
		return true; /* f.func1.2 */
	return last && n > 4 && (!last[n] || last[n] == '+');
}

static bool same_package(const char *a, const char *b)
{
	size_t n = package_bytes(a);
	return package_bytes(b) == n && !strncmp(a, b, n);
}

/*
 * The function that the goroutine is for: the outermost that is not the runtime's.  Of a closure, as
 * `go f(x)` makes one, what it called, if that is of the same package.
 */
static const char *function_of(const struct go_reading *r)
{
	const char *outermost = NULL;
	for (size_t i = r->n_frames; i-- > 0;) {
		const char *here = r->frames[i];
		if (starts_with(here, "runtime.")) {
			outermost = outermost || starts_with(here, "runtime.goexit") ? outermost : here;
			continue;
		}
		while (i-- > 0 && is_closure(here) && same_package(here, r->frames[i]))
			here = r->frames[i];
		return here;
	}
	return outermost;
}

/* runtime/runtime2.go; some are in cores alone. */
enum { WAITING = 4, PREEMPTED = 9, LEAKED = 10 };

static const char *state_of(uint64_t status)
{
	switch (status) {
	case 0: return "idle";
	case 1: return "runnable";
	case 2: return "running";
	case 3: return "syscall";
	case WAITING: return "waiting";
	case 6: return "dead";
	case 8: return "running"; /* its stack is being moved to a larger one */
	case PREEMPTED: return "preempted";
	case LEAKED: return "leaked"; /* the collector found that nothing can wake it */
	default: return "unknown";
	}
}

int go_tell_goroutine(struct go_reading *r)
{
	if (!r->in_goroutine)
		return 0;
	const struct go_record *g = &r->goroutine;
	const char *function = function_of(r);
	char *reason = NULL;
	struct text name = TEXT_INIT;

	text_addf(&name, "goroutine %" PRIu64 "%s", g->u[GOROUTINE_ID], function ? " " : "");
	text_add_n(&name, function ? function : "", function ? strcspn(function, "+") : 0);
	/* The reason stays behind when the waiting is over. */
	if ((g->u[GOROUTINE_STATUS] == WAITING || g->u[GOROUTINE_STATUS] == LEAKED) && g->s[0].n)
		reason = xstrndup((const char *)g->s[0].p, g->s[0].n < 200 ? g->s[0].n : 200);
	struct thread_record thread = {
		.serial = g->offset,
		.address = g->u[GOROUTINE_ADDRESS],
		.name = name.s,
		.state = state_of(g->u[GOROUTINE_STATUS]),
		.waits_for = reason,
		.created_at = g->u[GOROUTINE_CREATED_PC],
		.id = g->u[GOROUTINE_ID],
		.waits_since = g->u[GOROUTINE_SINCE],
		.system = g->u[GOROUTINE_SYSTEM],
		.frames = (const char *const *)r->frames,
		.n_frames = r->n_frames,
	};
	int code = r->sink->thread(r->sink, &thread);
	for (size_t i = 0; i < r->n_frames; i++)
		big_free(r->frames[i]);
	r->n_frames = 0;
	r->in_goroutine = false;
	text_release(&name);
	free(reason);
	return code;
}

/* --- roots ------------------------------------------------------------------------------------------ */

static int root(struct go_reading *r, enum root_kind kind, uint64_t address)
{
	struct root_record root = { .address = address, .kind = kind, .frame = UINT32_MAX };
	return address ? r->sink->root(r->sink, &root) : 0;
}

/* A root of the current goroutine, if `goroutine` is its address or 0. */
static int thread_root(struct go_reading *r, enum root_kind kind, uint64_t address, uint64_t goroutine)
{
	bool ours = r->in_goroutine && (!goroutine || goroutine == r->goroutine.u[GOROUTINE_ADDRESS]);
	struct root_record root = {
		.address = address,
		.kind = kind,
		.thread_serial = ours ? r->goroutine.offset : 0,
		.frame = UINT32_MAX,
	};
	return address ? r->sink->root(r->sink, &root) : 0;
}

struct slots {
	struct go_reading *r;
	struct root_record root;
	uint64_t base; /* address of the contents */
	int code;
};

static bool take_slot(void *context, uint64_t offset, uint64_t value)
{
	struct slots *s = context;
	s->root.address = value;
	s->root.slot = s->base + offset;
	if (value)
		s->code = s->r->sink->root(s->r->sink, &s->root);
	return s->code == 0;
}

static int slots(struct go_reading *r, const struct go_record *record, enum root_kind kind,
    uint64_t base)
{
	struct slots s = { .r = r, .root = { .kind = kind, .frame = UINT32_MAX }, .base = base };
	if (kind == ROOT_STACK_FRAME && r->in_goroutine) {
		s.root.thread_serial = r->goroutine.offset;
		s.root.frame = (uint32_t)r->n_frames - 1;
	}
	uint64_t n_bad = go_each_pointer(r->go, record, take_slot, &s);
	if (n_bad)
		r->sink->warn(r->sink, record->offset, "%s lists %" PRIu64 " pointer%s outside of it or not "
		    "aligned: ignored", go_tag_name(record->tag), n_bad, n_bad == 1 ? "" : "s");
	return s.code;
}

static int frame(struct go_reading *r, const struct go_record *record)
{
	uint64_t n = record->s[1].n < FUNCTION_LIMIT ? record->s[1].n : FUNCTION_LIMIT;
	if (!r->in_goroutine) {
		r->sink->warn(r->sink, record->offset, "a stack frame without a goroutine");
		return slots(r, record, ROOT_STACK_FRAME, record->u[FRAME_SP]);
	}
	text_clear(&r->text);
	text_add_n(&r->text, (const char *)record->s[1].p, strnlen((const char *)record->s[1].p, n));
	if (record->u[FRAME_PC] > record->u[FRAME_ENTRY])
		text_addf(&r->text, "+0x%" PRIx64, record->u[FRAME_PC] - record->u[FRAME_ENTRY]);
	char *name = big_alloc(r->text.len + 1, 1, r->err);
	char **to = name ? BIG_PUSH(r->frames, r->n_frames, r->cap_frames, r->err) : NULL;
	if (!to) {
		big_free(name);
		return ERR_NOMEM;
	}
	*to = memcpy(name, r->text.s, r->text.len);
	return slots(r, record, ROOT_STACK_FRAME, record->u[FRAME_SP]);
}

static int goroutine(struct go_reading *r, const struct go_record *record)
{
	int code = go_tell_goroutine(r);
	r->goroutine = *record;
	r->in_goroutine = true;
	if (code == 0)
		code = thread_root(r, ROOT_THREAD, record->u[GOROUTINE_ADDRESS], 0);
	/* What a goroutine that has not run yet will run. */
	if (code == 0)
		code = thread_root(r, ROOT_STACK_FRAME, record->u[GOROUTINE_CONTEXT], 0);
	return code;
}

static int finalizer(struct go_reading *r, const struct go_record *record)
{
	struct root_record fields = {
		.address = record->u[FINALIZER_OBJECT],
		.kind = ROOT_FINALIZER_FIELD,
		.frame = UINT32_MAX,
		.fields_only = true,
	};
	int code = root(r, ROOT_FINALIZER, record->u[FINALIZER_CLOSURE]);
	return code < 0 ? code : r->sink->root(r->sink, &fields);
}

static int queued(struct go_reading *r, const struct go_record *record)
{
	int code = root(r, ROOT_FINALIZABLE, record->u[FINALIZER_OBJECT]);
	return code < 0 ? code : root(r, ROOT_FINALIZABLE, record->u[FINALIZER_CLOSURE]);
}

static int defer(struct go_reading *r, const struct go_record *record)
{
	const uint64_t *u = record->u;
	int code = thread_root(r, ROOT_DEFER, u[DEFER_ADDRESS], u[DEFER_GOROUTINE]);
	return code < 0 ? code : thread_root(r, ROOT_DEFER, u[DEFER_CLOSURE], u[DEFER_GOROUTINE]);
}

static int panic(struct go_reading *r, const struct go_record *record)
{
	const uint64_t *u = record->u;
	int code = thread_root(r, ROOT_PANIC, u[PANIC_ADDRESS], u[PANIC_GOROUTINE]);
	return code < 0 ? code : thread_root(r, ROOT_PANIC, u[PANIC_DATA], u[PANIC_GOROUTINE]);
}

/* --- all -------------------------------------------------------------------------------------------- */

static int memstats(struct go_reading *r, const struct go_record *record)
{
	enum stated_unit unit;
	const char *name;
	for (unsigned i = 0; (name = go_memstats_name(i, &unit)); i++)
		r->sink->stated(r->sink, name, unit, record->u[i]);
	if (!record->u[MEMSTATS_N_GC])
		return 0;
	uint64_t last, longest;
	go_pauses(record, &last, &longest);
	r->sink->stated(r->sink, STATED_PAUSE_LAST, STATED_THINGS, last);
	r->sink->stated(r->sink, STATED_PAUSE_LONGEST, STATED_THINGS, longest);
	return 0;
}

/* What the innermost frame of the goroutine has in a register: only cores tell. */
static int register_root(struct go_reading *r, const struct go_record *record)
{
	struct root_record root = {
		.address = record->u[ROOT_POINTER],
		.kind = ROOT_STACK_FRAME,
		.thread_serial = r->goroutine.offset,
		.frame = r->n_frames ? 0 : UINT32_MAX,
	};
	return r->sink->root(r->sink, &root);
}

/* Roots of the runtime's own, which it describes; of no release that is known. */
static int other_root(struct go_reading *r, const struct go_record *record)
{
	if (r->go->elsewhere && r->in_goroutine)
		return register_root(r, record);
	struct root_record root = {
		.address = record->u[ROOT_POINTER],
		.kind = ROOT_VM_INTERNAL,
		.frame = UINT32_MAX,
		.slot = record->s[0].n ? record->offset : 0,
	};
	return root.address ? r->sink->root(r->sink, &root) : 0;
}

/* Of the system.  In a core no more of the last goroutine follows, and roots behind are not its own. */
static int thread(struct go_reading *r, const struct go_record *record)
{
	int code = r->go->elsewhere ? go_tell_goroutine(r) : 0;
	return code < 0 ? code : root(r, ROOT_THREAD, record->u[THREAD_ADDRESS]);
}

static int params(struct go_reading *r, const struct go_record *record)
{
	if (record->offset != r->go->params)
		r->sink->warn(r->sink, record->offset, "parameters occur twice: the first are used");
	else if (record->offset != r->go->body)
		r->sink->warn(r->sink, record->offset, "parameters are not the first record");
	return 0;
}

int go_tell(struct go_reading *r, const struct go_record *record)
{
	switch (record->tag) {
	case GO_ROOT: return other_root(r, record);
	case GO_GOROUTINE: return goroutine(r, record);
	case GO_FRAME: return frame(r, record);
	case GO_PARAMS: return params(r, record);
	case GO_FINALIZER: return finalizer(r, record);
	case GO_QUEUED: return queued(r, record);
	case GO_THREAD: return thread(r, record);
	case GO_MEMSTATS: return memstats(r, record);
	case GO_DATA: return slots(r, record, ROOT_DATA, record->u[SEGMENT_ADDRESS]);
	case GO_BSS: return slots(r, record, ROOT_BSS, record->u[SEGMENT_ADDRESS]);
	case GO_DEFER: return defer(r, record);
	case GO_PANIC: return panic(r, record);
	default: return 0;
	}
}
