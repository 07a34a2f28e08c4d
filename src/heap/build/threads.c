/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * threads.c - what thread objects say of their threads.
 *
 * HotSpot's records tell a thread's object and its frames.  The name, the state and the rest are
 * fields of java.lang.Thread; since Java 19 some of them are in its `holder` (Thread$FieldHolder).
 * A virtual thread has a state of its own, a number whose meaning changed with every release: the
 * static constants of its class in the dump say which number has which name.
 */
#include "heap/build/build.h"
#include "heap/string.h"

#include <string.h>

enum { NAME_LIMIT = 1000 };

/* JVMTI, GetThreadState: the bits of threadStatus. */
enum {
	ALIVE = 0x1, TERMINATED = 0x2, RUNNABLE = 0x4, WAITING_INDEFINITELY = 0x10,
	WAITING_WITH_TIMEOUT = 0x20, SLEEPING = 0x40, IN_OBJECT_WAIT = 0x100, PARKED = 0x200,
	BLOCKED = 0x400,
};

/* As jstack words it. */
static const char *state_of(uint64_t bits)
{
	bool timed = bits & WAITING_WITH_TIMEOUT;
	if (bits & RUNNABLE)
		return "RUNNABLE";
	if (bits & BLOCKED)
		return "BLOCKED (on object monitor)";
	if (bits & SLEEPING)
		return "TIMED_WAITING (sleeping)";
	if (bits & IN_OBJECT_WAIT)
		return timed ? "TIMED_WAITING (on object monitor)" : "WAITING (on object monitor)";
	if (bits & PARKED)
		return timed ? "TIMED_WAITING (parking)" : "WAITING (parking)";
	if (timed || bits & WAITING_INDEFINITELY)
		return timed ? "TIMED_WAITING" : "WAITING";
	if (bits & TERMINATED)
		return "TERMINATED";
	return bits & ALIVE ? "RUNNABLE" : "NEW";
}

/* java.lang.VirtualThread's constants, and what Thread.getState makes of them. */
static const struct {
	const char *constant, *state;
} virtual_states[] = {
	{ "NEW", "NEW" }, { "STARTED", "RUNNABLE" }, { "RUNNABLE", "RUNNABLE" },
	{ "UNPARKED", "RUNNABLE" }, { "RUNNING", "RUNNABLE" }, { "PARKING", "RUNNABLE" },
	{ "TIMED_PARKING", "RUNNABLE" }, { "YIELDING", "RUNNABLE" }, { "YIELDED", "RUNNABLE" },
	{ "BLOCKING", "RUNNABLE" }, { "UNBLOCKED", "RUNNABLE" }, { "WAITING", "RUNNABLE" },
	{ "TIMED_WAITING", "RUNNABLE" }, { "PARKED", "WAITING (parking)" },
	{ "PINNED", "WAITING (parking)" }, { "TIMED_PARKED", "TIMED_WAITING (parking)" },
	{ "TIMED_PINNED", "TIMED_WAITING (parking)" }, { "WAIT", "WAITING (on object monitor)" },
	{ "TIMED_WAIT", "TIMED_WAITING (on object monitor)" },
	{ "BLOCKED", "BLOCKED (on object monitor)" }, { "TERMINATED", "TERMINATED" },
};
enum { SUSPENDED = 1 << 8 };

static const char *virtual_state_of(const struct heap *h, uint64_t number)
{
	struct value constant;
	for (size_t i = 0; i < sizeof virtual_states / sizeof *virtual_states; i++) {
		if (values_static(h, "java.lang.VirtualThread", virtual_states[i].constant, &constant) &&
		    constant.type == VALUE_INT && constant.bits == number)
			return virtual_states[i].state;
	}
	return NULL;
}

/* Virtual threads are daemons of normal priority (Thread, "Virtual threads"). */
static void complete_virtual(struct heap_thread *t, const struct values *v)
{
	struct value state;
	if (!t->state && values_field(v, "state", &state) && state.type == VALUE_INT)
		t->state = virtual_state_of(v->heap, state.bits & ~(uint64_t)SUSPENDED);
	if (t->priority < 0)
		t->priority = 5;
	t->daemon = true;
}

/* A field of the thread object, or of its holder. */
static bool thread_field(const struct values *thread, const struct values *holder, const char *name,
    struct value *out)
{
	return values_field(thread, name, out) || (holder && values_field(holder, name, out));
}

/* The Java name: a String, before Java 9 a char[]. */
static bool add_name(const struct heap *h, const struct value *name, struct text *to)
{
	struct values array;
	struct string_view chars;
	if (heap_add_string(h, name, NAME_LIMIT, to))
		return true;
	uint32_t id = value_object_id(h, name);
	if (id == HEAP_NONE || values_open(&array, h, id, NULL) || !heap_array_string(&array, &chars))
		return false;
	string_add(&chars, 0, NAME_LIMIT, to);
	return true;
}

static void complete(struct heap *h, struct heap_thread *t, struct err *lost)
{
	struct values thread, holder, as_virtual;
	struct value v;
	if (t->object == HEAP_NONE || values_open(&thread, h, t->object, NULL) ||
	    !values_as_named(&thread, "java.lang.Thread"))
		return;
	as_virtual = thread;
	uint32_t held = values_field(&thread, "holder", &v) ? value_object_id(h, &v) : HEAP_NONE;
	bool has_holder = held != HEAP_NONE && !values_open(&holder, h, held, NULL);
	const struct values *more = has_holder ? &holder : NULL;
	struct text name = TEXT_INIT;
	if (!t->name && values_field(&thread, "name", &v) && add_name(h, &v, &name))
		t->name = arena_try_strndup(&h->arena, name.s, name.len, lost);
	text_release(&name);
	if (!t->state && thread_field(&thread, more, "threadStatus", &v) && v.type == VALUE_INT)
		t->state = state_of(v.bits);
	else if (values_as_named(&as_virtual, "java.lang.VirtualThread"))
		complete_virtual(t, &as_virtual);
	if (t->priority < 0 && thread_field(&thread, more, "priority", &v) && v.type == VALUE_INT &&
	    v.bits <= 10)
		t->priority = (int)v.bits;
	if (thread_field(&thread, more, "daemon", &v) && v.type == VALUE_BOOLEAN)
		t->daemon = v.bits;
	if (!t->own_id && values_field(&thread, "tid", &v) && v.type == VALUE_LONG)
		t->own_id = v.bits;
}

int threads_complete(struct heap *h, struct err *err)
{
	struct err lost = ERR_INIT;
	for (uint32_t i = 0; i < h->n_threads; i++) {
		if (values_held(h))
			complete(h, &h->threads[i], &lost);
		if (!h->threads[i].name)
			h->threads[i].name = "<unnamed>";
	}
	if (lost.code)
		*err = lost;
	return lost.code;
}
