/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_threads.c - the threads of a VM, and what each holds: the objects that its J9VMThread names, JNI locals,
 * monitors, and what is on its stack.
 *
 * What the VM's own frames pushed are references, JNI locals among them.  Which other words of a stack are is not read
 * from stack maps: every word that is the address of an object counts, and such a root is inferred.  A variable that is
 * not used any more, or a number that looks like an address, may be among them; none that the program uses is missing.
 */
#include "dump/j9core/j9core_roots.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/text.h"
#include "dump/reader.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_MOST = 1 << 12, REPEATS_MOST = 1 << 10 };

/* A monitor that a thread has. */
struct held {
	uint64_t object, serial;
};

struct known {
	uint64_t vm_thread, serial;
};

/* A thread of the core. */
struct native {
	uint64_t id;
	uint32_t number;
};

struct threads {
	struct j9_roots *r;
	const struct j9core *j;
	struct j9_monitors monitors;
	struct j9_stack stack;
	struct held *held;        /* big memory */
	uint32_t n_held, cap_held;
	uint32_t first_held;      /* of the current thread */
	struct known *known;      /* big memory */
	uint32_t n, cap;
	struct native *native;    /* big memory: by id */
	uint32_t n_natives, cap_natives;
	struct text name, waits;
	const char **frame;       /* big memory: texts of the current stack */
	uint32_t n_frames, cap_frames;
	uint64_t vm_thread, serial;
};

/* --- roots of a thread ------------------------------------------------------------------------------------- */

static void send(struct threads *t, struct root_record root)
{
	struct j9_roots *r = t->r;

	root.thread_serial = t->serial;
	if (root.address && j9_step(r, 1))
		r->code = r->sink->root(r->sink, &root);
}

/* Fields of J9VMThread that lead to objects. */
static void fields(struct threads *t)
{
	const struct j9core *j = t->j;
	struct ddr_field field;
	uint64_t object = j->has[AT_THREAD_OBJECT] ? j->at[AT_THREAD_OBJECT].offset : UINT64_MAX;

	for (uint32_t i = 0; ddr_nth_field(j->ddr, "J9VMThread", i, &field); i++) {
		static const char *const types[] = {"j9object_t", "struct J9Object*", "class J9Object*"};
		bool is = false;
		for (size_t k = 0; k < sizeof types / sizeof *types && field.type; k++)
			is |= strlen(types[k]) == field.n_type && !memcmp(types[k], field.type, field.n_type);
		if (is)
			send(t, (struct root_record){.address = j9_word(j, t->vm_thread + field.offset),
			    .kind = field.offset == object ? ROOT_THREAD : ROOT_THREAD_BLOCK, .frame = UINT32_MAX});
	}
}

static void jni_locals(struct threads *t)
{
	const struct j9core *j = t->j;
	uint64_t frame = j9_get(j, t->vm_thread, AT_THREAD_LOCALS), at;
	struct j9_list list = {.mark = 0};
	struct j9_pool_walk w = {.n_seen = 0};

	for (; !j9_list_ends(&list, frame) && j9_step(t->r, 1 + w.n_seen); frame = j9_get(j, frame, AT_LOCALS_PREVIOUS))
		for (j9_pool_walk(&w, j, j9_get(j, frame, AT_LOCALS_POOL)); j9_pool_next(&w, &at);)
			send(t, (struct root_record){.address = j9_word(j, at), .kind = ROOT_JNI_LOCAL,
			    .frame = UINT32_MAX});
}

/* --- monitors ---------------------------------------------------------------------------------------------- */

static bool known_held(const struct threads *t, uint64_t object)
{
	for (uint32_t i = t->first_held; i < t->n_held && i < t->first_held + REPEATS_MOST; i++)
		if (t->held[i].object == object)
			return true;
	return false;
}

/* An object whose monitor a frame entered: it may have been let go of since, by Object.wait. */
static void entered(struct threads *t, uint64_t object, uint32_t frame, bool listed)
{
	bool owns = object && t->vm_thread && j9_owner(t->j, &t->monitors, object) == t->vm_thread;

	if (!owns && listed)
		send(t, (struct root_record){.address = object, .kind = ROOT_THREAD_BLOCK, .frame = frame});
	if (!owns || t->r->code || known_held(t, object))
		return;
	t->r->code = BIG_ADD(t->held, t->n_held, t->cap_held, t->r->err, (struct held){object, t->serial});
	send(t, (struct root_record){.address = object, .kind = ROOT_BUSY_MONITOR, .frame = frame});
}

/* Which of the frames that are shown has its first argument there; UINT32_MAX: none. */
static uint32_t frame_of(const struct threads *t, uint64_t a0)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < t->stack.n; i++) {
		if (t->stack.frame[i].a0 == a0)
			return t->stack.frame[i].text ? number : UINT32_MAX;
		number += t->stack.frame[i].text != NULL;
	}
	return UINT32_MAX;
}

/* Records name the frame by the distance of its first argument from the end of the stack, which may have moved. */
static void records(struct threads *t, enum j9_member list, uint64_t end)
{
	const struct j9core *j = t->j;
	uint64_t at = j9_get(j, t->vm_thread, list);
	struct j9_list records = {.mark = 0};

	while (!j9_list_ends(&records, at) && j9_step(t->r, 1)) {
		entered(t, j9_get(j, at, AT_ENTERED_OBJECT), frame_of(t, end - j9_get(j, at, AT_ENTERED_A0)), true);
		at = j9_get(j, at, AT_ENTERED_NEXT);
	}
}

static void synchronized(struct threads *t)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < t->stack.n && j9_step(t->r, 1); i++) {
		const struct j9_frame *f = &t->stack.frame[i];
		if (f->locked)
			entered(t, j9_word(t->j, f->locked), f->text ? number : UINT32_MAX, false);
		number += f->text != NULL;
	}
}

/* --- the stack --------------------------------------------------------------------------------------------- */

static bool in_heap(const struct j9core *j, uint64_t address)
{
	uint32_t at;

	BISECT(at, j->n_regions, j->region[at].high <= address);
	return at < j->n_regions && address >= j->region[at].low && address % j->alignment == 0;
}

/* A handle of native code is the address of a word, with a 1 where a bigger stack took over from its own. */
static uint64_t behind_handle(const struct j9core *j, uint64_t stack, uint64_t word)
{
	for (unsigned i = 0; word & 1 && i < 64; i++) {
		stack = j9_get(j, stack, AT_STACK_PREVIOUS);
		if (!stack)
			break;
		uint64_t end = j9_get(j, stack, AT_STACK_END), at = word - 1;
		if (at < end && end - at <= j9_get(j, stack, AT_STACK_SIZE))
			return j9_word(j, at);
	}
	return word;
}

/* in: the frame that has the word, and its number; NULL: none is known. */
static void word_of_stack(struct threads *t, uint64_t stack, uint64_t at, const struct j9_frame *in, uint32_t frame)
{
	const struct j9core *j = t->j;
	uint64_t word = behind_handle(j, stack, j9_word(j, at));

	if (!in_heap(j, word) || !j9_class_of(j, word))
		return;
	bool pushed = in && at < in->pushed;
	send(t, (struct root_record){.address = word, .kind = pushed && in->native ? ROOT_JNI_LOCAL : ROOT_JAVA_LOCAL,
	    .frame = frame, .slot = at, .inferred = !pushed});
	entered(t, word, frame, false);
}

/* The first word from an address on that the core has. */
static uint64_t there(const struct j9core *j, uint64_t at)
{
	uint64_t n, next = core_bytes(j->core, at, &n) ? at : core_next(j->core, at);
	return next == UINT64_MAX ? next : j9_rounded(next, j->word);
}

/* All words from `low` on.  Frames lie in the same order. */
static void words(struct threads *t, uint64_t stack, uint64_t low, uint64_t end)
{
	const struct j9core *j = t->j;
	uint32_t i = 0, number = 0;

	for (uint64_t at = there(j, low); at < end && j9_step(t->r, 1); at = there(j, at + j->word)) {
		for (; i < t->stack.n && t->stack.frame[i].high <= at; i++)
			number += t->stack.frame[i].text != NULL;
		const struct j9_frame *in = i < t->stack.n && t->stack.frame[i].low <= at ? &t->stack.frame[i] : NULL;
		word_of_stack(t, stack, at, in, in && in->text ? number : UINT32_MAX);
	}
}

/* The thread of the core that runs compiled code on this stack; NULL: none does.  Its locals are in registers as well,
 * and the stack pointer is the processor's own. */
static const struct core_thread *native_of(const struct threads *t, uint64_t os_thread, uint64_t stack)
{
	const struct j9core *j = t->j;
	uint64_t id = j9_get(j, os_thread, AT_OS_THREAD_ID), end = j9_get(j, stack, AT_STACK_END);
	uint64_t size = j9_get(j, stack, AT_STACK_SIZE);
	uint32_t at;

	BISECT(at, t->n_natives, t->native[at].id < id);
	if (at == t->n_natives || t->native[at].id != id || size > end)
		return NULL;
	const struct core_thread *native = core_threads(j->core, &(size_t){0}) + t->native[at].number;
	return native->sp >= end - size && native->sp < end && native->sp % j->word == 0 ? native : NULL;
}

static void registers(struct threads *t, const struct core_thread *native)
{
	const struct j9core *j = t->j;

	for (uint64_t at = 0; at + j->word <= native->n_registers; at += j->word) {
		uint64_t word = core_number(j->core, native->registers + at, j->word);
		if (in_heap(j, word) && j9_class_of(j, word))
			send(t, (struct root_record){.address = word, .kind = ROOT_NATIVE_STACK, .frame = UINT32_MAX,
			    .inferred = true});
	}
}

static void stack_roots(struct threads *t, uint64_t stack, const struct j9_registers *at,
    const struct core_thread *native)
{
	const struct j9core *j = t->j;
	uint64_t end = j9_get(j, stack, AT_STACK_END), size = j9_get(j, stack, AT_STACK_SIZE);
	uint64_t bottom = end - size, low = at->sp;

	if (!stack || size > end || low < bottom || low > end || low % j->word)
		return;
	if (native)
		registers(t, native);
	records(t, AT_THREAD_ENTERED, end);
	records(t, AT_THREAD_JNI_ENTERED, end);
	synchronized(t);
	words(t, stack, at->native_sp && at->native_sp < low ? at->native_sp : low, end);
}

/* --- what is said of a thread ------------------------------------------------------------------------------ */

/* As the VM's own javacore has it (getVMThreadObjectState of runtime/util/thrinfo.c).  *on: what the thread waits for,
 * 0 nothing. */
static const char *state_of(struct threads *t, uint64_t os_thread, uint64_t *on)
{
	const struct j9core *j = t->j;
	const struct j9_flags *f = &j->flags;
	uint64_t flags = j9_get(j, t->vm_thread, AT_THREAD_FLAGS), own = j9_get(j, os_thread, AT_OS_THREAD_FLAGS);
	uint64_t object = j9_get(j, t->vm_thread, AT_THREAD_BLOCKED_ON), owner;
	bool blocked = flags & f->thread_blocked, waits = flags & f->thread_waiting && own & f->waiting;

	*on = object;
	owner = (blocked || waits) && object ? j9_owner(j, &t->monitors, object) : 0;
	if (owner && owner != t->vm_thread && (blocked || own & (f->notified | f->blocked)))
		return "blocked";
	if (waits)
		return "waiting";
	if (own & f->parked)
		return "parked";
	*on = 0;
	if (own & (f->sleeping | f->dead))
		return own & f->sleeping ? "sleeping" : "zombie";
	return own & f->suspended || flags & f->thread_suspended ? "suspended" : "runnable";
}

/* The name that the VM itself keeps. */
static void add_name(const struct j9core *j, uint64_t vm_thread, struct text *to)
{
	uint64_t at = j9_get(j, j9_get(j, vm_thread, AT_THREAD_OMR), AT_OMR_THREAD_NAME), n;
	const uint8_t *p = at ? core_bytes(j->core, at, &n) : NULL;
	size_t length = p ? strnlen((const char *)p, n < NAME_MOST ? n : NAME_MOST) : 0;

	if (p)
		text_add_modified_utf8(to, p, length);
}

/* "java.lang.Object 0xe0000af0, owned by worker": the words that a javacore's threads get. */
static void add_wait(struct threads *t, uint64_t object, bool parked, struct text *to)
{
	uint64_t owner = j9_owner(t->j, &t->monitors, object);

	j9_add_class_name(t->j, j9_class_of(t->j, object), to);
	text_addf(to, " 0x%" PRIx64, object);
	if (parked)
		return;
	text_add(to, ", owned by ");
	if (owner)
		add_name(t->j, owner, to);
	else
		text_add(to, "no thread");
}

static void send_thread(struct threads *t, const struct thread_record *record)
{
	struct j9_roots *r = t->r;

	if (!r->code)
		r->code = r->sink->thread(r->sink, record);
}

static void say(struct threads *t, uint64_t os_thread)
{
	const struct j9core *j = t->j;
	uint64_t on;
	const char *state = state_of(t, os_thread, &on);

	t->n_frames = 0;
	for (uint32_t i = 0; i < t->stack.n && !t->r->code; i++)
		if (t->stack.frame[i].text)
			t->r->code = BIG_ADD(t->frame, t->n_frames, t->cap_frames, t->r->err, t->stack.frame[i].text);
	text_clear(&t->name);
	text_clear(&t->waits);
	add_name(j, t->vm_thread, &t->name);
	if (on)
		add_wait(t, on, !strcmp(state, "parked"), &t->waits);
	send_thread(t, &(struct thread_record){
		.serial = t->serial,
		.address = j9_get(j, t->vm_thread, AT_THREAD_OBJECT),
		.name = t->name.len ? t->name.s : NULL,
		.state = state,
		.waits_for = on ? t->waits.s : NULL,
		.native_id = j9_get(j, os_thread, AT_OS_THREAD_ID),
		.frames = t->frame,
		.n_frames = t->n_frames,
		.stack_unknown = t->stack.broken && !t->n_frames,
	});
}

static void thread(struct threads *t)
{
	const struct j9core *j = t->j;
	uint64_t v = t->vm_thread, os_thread = j9_get(j, v, AT_THREAD_OS), stack = j9_get(j, v, AT_THREAD_STACK);
	struct j9_registers at = {
		.sp = j9_get(j, v, AT_THREAD_SP), .pc = j9_get(j, v, AT_THREAD_PC),
		.literals = j9_get(j, v, AT_THREAD_LITERALS), .a0 = j9_get(j, v, AT_THREAD_A0),
		.j2i = j9_get(j, v, AT_THREAD_J2I), .entry = j9_get(j, v, AT_THREAD_ENTRY),
	};

	const struct core_thread *native = native_of(t, os_thread, stack);
	if (native) {
		at.native_sp = native->sp;
		at.native_pc = native->pc;
	}
	t->first_held = t->n_held;
	t->r->code = j9_read_stack(&t->stack, j, &at, j9_get(j, stack, AT_STACK_END), t->r->err);
	say(t, os_thread);
	fields(t);
	jni_locals(t);
	stack_roots(t, stack, &at, native);
}

static int by_serial(const void *x, const void *y)
{
	const struct known *a = x, *b = y;
	return (a->serial > b->serial) - (a->serial < b->serial);
}

static int by_vm_thread(const void *x, const void *y)
{
	const struct known *a = x, *b = y;
	if (a->vm_thread != b->vm_thread)
		return a->vm_thread < b->vm_thread ? -1 : 1;
	return by_serial(x, y);
}

/* In the ring's order, each once: it may lead into itself elsewhere than where it began. */
static int order_threads(struct threads *t)
{
	uint32_t n = 0;
	int code = sort(t->known, t->n, sizeof *t->known, by_vm_thread, t->r->err);

	for (uint32_t i = 0; i < t->n; i++)
		if (!n || t->known[n - 1].vm_thread != t->known[i].vm_thread)
			t->known[n++] = t->known[i];
	t->n = n;
	return code ? code : sort(t->known, t->n, sizeof *t->known, by_serial, t->r->err);
}

static int by_held(const void *x, const void *y)
{
	const struct held *a = x, *b = y;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->serial > b->serial) - (a->serial < b->serial);
}

/* --- virtual threads that do not run ----------------------------------------------------------------------- */

/* The J9VMContinuation that an object has in a field of its class: what has a stack, and points into it.  0: none. */
static uint64_t continuation_of(const struct j9core *j, uint64_t object)
{
	const struct j9_class *c = j9_class_of(j, object);
	uint64_t at;

	for (uint64_t offset = j->slot; c && !c->array && offset < c->size + j->slot; offset += 4) {
		if (!core_load(j->core, object + offset, 8, &at) || !at)
			continue;
		uint64_t stack = j9_get(j, at, AT_CONTINUATION_STACK), end = stack ? j9_get(j, stack, AT_STACK_END) : 0;
		uint64_t size = end ? j9_get(j, stack, AT_STACK_SIZE) : 0, sp = j9_get(j, at, AT_CONTINUATION_SP);
		if (size && size < end && sp >= end - size && sp < end && sp % j->word == 0)
			return at;
	}
	return 0;
}

/* While one waits its Continuation has its stack, which the collector takes for a part of that object. */
static void continuations(struct threads *t)
{
	const struct j9core *j = t->j;
	uint64_t extensions = j9_get(j, j->vm, AT_VM_EXTENSIONS);
	uint64_t list = j9_get(j, extensions, AT_EXTENSIONS_CONTINUATIONS);
	uint64_t link = j9_get(j, j9_get(j, extensions, AT_EXTENSIONS_BARRIER), AT_BARRIER_CONTINUATION_LINK);
	struct j9_list lists = {.mark = 0};

	t->vm_thread = t->serial = 0;
	t->stack.n = 0;
	for (; link && !j9_list_ends(&lists, list) && j9_step(t->r, 1); list = j9_get(j, list, AT_CONTINUATIONS_NEXT)) {
		uint64_t object = j9_get(j, list, AT_CONTINUATIONS_HEAD);
		struct j9_list objects = {.mark = 0};
		while (!j9_list_ends(&objects, object) && j9_step(t->r, 1)) {
			uint64_t at = continuation_of(j, object), stack = at ? j9_get(j, at, AT_CONTINUATION_STACK) : 0;
			if (stack)
				words(t, stack, j9_get(j, at, AT_CONTINUATION_SP), j9_get(j, stack, AT_STACK_END));
			object = j9_class_of(j, object) ? j9core_reference(j, object + link) : 0;
		}
	}
}

/* --- all of them ------------------------------------------------------------------------------------------- */

/* Monitors that a thread has though nothing on its stack says so. */
static void other_monitors(struct threads *t)
{
	struct j9_roots *r = t->r;
	uint32_t at;

	if (!r->code)
		r->code = sort(t->known, t->n, sizeof *t->known, by_vm_thread, r->err);
	if (!r->code)
		r->code = sort(t->held, t->n_held, sizeof *t->held, by_held, r->err);
	for (uint32_t i = 0; i < t->monitors.n && j9_step(r, 1); i++) {
		uint64_t object = t->monitors.monitor[i].object, owner = j9_owner(t->j, &t->monitors, object);
		BISECT(at, t->n, t->known[at].vm_thread < owner);
		if (!owner || at == t->n || t->known[at].vm_thread != owner)
			continue;
		struct held held = {object, t->known[at].serial};
		BISECT(at, t->n_held, by_held(&t->held[at], &held) < 0);
		if (at < t->n_held && by_held(&t->held[at], &held) == 0)
			continue;
		t->serial = held.serial;
		send(t, (struct root_record){.address = object, .kind = ROOT_BUSY_MONITOR, .frame = UINT32_MAX});
	}
}

static int by_id(const void *x, const void *y)
{
	const struct native *a = x, *b = y;
	return (a->id > b->id) - (a->id < b->id);
}

static int index_natives(struct threads *t)
{
	size_t n;
	const struct core_thread *native = core_threads(t->j->core, &n);
	int code = 0;

	for (uint32_t i = 0; i < n && code == 0; i++)
		code = BIG_ADD(t->native, t->n_natives, t->cap_natives, t->r->err, (struct native){native[i].id, i});
	return code ? code : sort(t->native, t->n_natives, sizeof *t->native, by_id, t->r->err);
}

void j9_threads(struct j9_roots *r)
{
	const struct j9core *j = r->image;
	struct threads t = {.r = r, .j = j, .name = TEXT_INIT, .waits = TEXT_INIT};
	uint64_t first = j9_get(j, j->vm, AT_VM_MAIN_THREAD), at = first;
	struct j9_list ring = {.mark = 0};

	if (!r->code)
		r->code = j9_read_monitors(&t.monitors, j, r->err);
	if (!r->code)
		r->code = index_natives(&t);
	while (!r->code && !j9_list_ends(&ring, at) && j9_step(r, 1)) {
		r->code = BIG_ADD(t.known, t.n, t.cap, r->err, (struct known){at, t.n + 1});
		at = j9_get(j, at, AT_THREAD_NEXT);
		at = at == first ? 0 : at;
	}
	if (!r->code)
		r->code = order_threads(&t);
	for (uint32_t i = 0; i < t.n && j9_step(r, 1 + t.stack.n + t.stack.n_looks); i++) {
		t.vm_thread = t.known[i].vm_thread;
		t.serial = t.known[i].serial;
		thread(&t);
	}
	other_monitors(&t);
	continuations(&t);
	j9_monitors_release(&t.monitors);
	j9_stack_release(&t.stack);
	big_free(t.held);
	big_free(t.known);
	big_free(t.native);
	big_free(t.frame);
	text_release(&t.name);
	text_release(&t.waits);
}
