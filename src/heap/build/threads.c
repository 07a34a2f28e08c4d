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

#include "algorithms/sort.h"
#include "heap/classes.h"
#include "heap/string.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <string.h>

enum { NAME_LIMIT = 1000, THREADS_AT_ONCE = 1024 };

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

enum { VIRTUAL_STATES = sizeof virtual_states / sizeof *virtual_states };

/* The constants' values, looked up when the first virtual thread is met: there may be a million. */
struct virtual_numbers {
	bool found, told[VIRTUAL_STATES];
	uint64_t number[VIRTUAL_STATES];
};

static const char *virtual_state_of(const struct heap *h, struct virtual_numbers *n, uint64_t number)
{
	struct value constant;
	for (size_t i = 0; !n->found && i < VIRTUAL_STATES; i++) {
		n->told[i] = values_static(h, "java.lang.VirtualThread", virtual_states[i].constant,
		                 &constant) && constant.type == VALUE_INT;
		n->number[i] = n->told[i] ? constant.bits : 0;
	}
	n->found = true;
	for (size_t i = 0; i < VIRTUAL_STATES; i++)
		if (n->told[i] && n->number[i] == number)
			return virtual_states[i].state;
	return NULL;
}

/* --- where the fields are ----------------------------------------------------------------------- */

/* What is read of threads, their holders and virtual threads. */
enum { F_NAME, F_HOLDER, F_STATUS, F_PRIORITY, F_DAEMON, F_TID, F_STATE, N_FIELDS };
static const char *const field_names[N_FIELDS] = {
	"name", "holder", "threadStatus", "priority", "daemon", "tid", "state",
};

/* The classes that a thread's object may be seen as. */
enum { AS_THREAD, AS_VIRTUAL, N_VIEWS };
static const char *const view_names[N_VIEWS] = { "java.lang.Thread", "java.lang.VirtualThread" };

/* A class may have very many fields or superclasses, and very many threads.  So they are looked up once
 * for each class. */
struct class_notes {
	bool placed, there[N_FIELDS];
	struct field_place place[N_FIELDS];
	struct {
		bool known;
		uint32_t as;    /* the nearest class of that name from this one upwards, or HEAP_NONE */
		uint64_t below; /* bytes of the fields of the classes below that */
	} view[N_VIEWS];
};

struct completing {
	struct heap *heap;
	struct class_notes *notes; /* by class */
	struct virtual_numbers numbers;
	struct err lost;
};

/* Up to the first class that is known or has the name, then the same way again: superclasses do not go
 * round. */
static void find_view(struct completing *k, uint32_t class, int view)
{
	const struct heap *h = k->heap;
	uint64_t below = 0;
	uint32_t at = class, as = HEAP_NONE;
	for (; at != HEAP_NONE && !k->notes[at].view[view].known; at = h->classes[at].superclass) {
		if (!strcmp(h->classes[at].name, view_names[view]))
			break;
		below += h->classes[at].fields_size;
	}
	if (at != HEAP_NONE && k->notes[at].view[view].known) {
		as = k->notes[at].view[view].as;
		below += k->notes[at].view[view].below;
	} else if (at != HEAP_NONE) {
		as = at;
		k->notes[at].view[view].known = true;
		k->notes[at].view[view].as = at;
	}
	for (uint32_t c = class; c != at; c = h->classes[c].superclass) {
		k->notes[c].view[view].known = true;
		k->notes[c].view[view].as = as;
		k->notes[c].view[view].below = below;
		below -= h->classes[c].fields_size;
	}
}

/* An object and the class that it is seen as. */
struct seen {
	struct values values;
	const struct class_notes *notes;
	uint64_t below;
};

static const struct class_notes *notes_of(struct completing *k, uint32_t class)
{
	struct class_notes *n = &k->notes[class];
	for (int f = 0; f < N_FIELDS && !n->placed; f++)
		n->there[f] = values_place(k->heap, class, field_names[f], &n->place[f]);
	n->placed = true;
	return n;
}

/* False: the object is no instance of that class. */
static bool see_as(struct completing *k, struct seen *s, int view)
{
	const struct class_notes *own = &k->notes[s->values.class];
	if (!own->view[view].known)
		find_view(k, s->values.class, view);
	if (own->view[view].as == HEAP_NONE)
		return false;
	s->notes = notes_of(k, own->view[view].as);
	s->below = own->view[view].below;
	return true;
}

static bool field(const struct seen *s, int f, struct value *out)
{
	struct field_place place = s->notes->place[f];
	place.offset += s->below;
	return s->notes->there[f] && values_at(&s->values, &place, out);
}

/* --- threads ------------------------------------------------------------------------------------ */

/* Virtual threads are daemons of normal priority (Thread, "Virtual threads"). */
static void complete_virtual(struct completing *k, struct heap_thread *t, const struct seen *s)
{
	struct value state;
	if (!t->state && field(s, F_STATE, &state) && state.type == VALUE_INT)
		t->state = virtual_state_of(k->heap, &k->numbers, state.bits & ~(uint64_t)SUSPENDED);
	if (t->priority < 0)
		t->priority = 5;
	t->daemon = true;
}

/* A field of the thread object, or of its holder. */
static bool thread_field(const struct seen *thread, const struct seen *holder, int f, struct value *out)
{
	return field(thread, f, out) || (holder && field(holder, f, out));
}

static bool open_object(const struct heap *h, uint32_t id, struct values *out)
{
	return id != HEAP_NONE && !values_open(out, h, id, NULL) && !out->is_class && out->class != HEAP_NONE;
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

static void complete(struct completing *k, struct heap_thread *t)
{
	struct heap *h = k->heap;
	struct seen thread, holder = { .below = 0 }, as_virtual;
	struct value v;
	if (!open_object(h, t->object, &thread.values) || !see_as(k, &thread, AS_THREAD))
		return;
	as_virtual = thread;
	uint32_t held = field(&thread, F_HOLDER, &v) ? value_object_id(h, &v) : HEAP_NONE;
	const struct seen *more = open_object(h, held, &holder.values) ? &holder : NULL;
	if (more)
		holder.notes = notes_of(k, holder.values.class);
	struct text name = TEXT_INIT;
	if (!t->name && field(&thread, F_NAME, &v) && add_name(h, &v, &name))
		t->name = arena_try_strndup(&h->arena, name.s, name.len, &k->lost);
	text_release(&name);
	if (!t->state && !h->facts.other_thread_status && thread_field(&thread, more, F_STATUS, &v) && v.type == VALUE_INT)
		t->state = state_of(v.bits);
	else if (see_as(k, &as_virtual, AS_VIRTUAL))
		complete_virtual(k, t, &as_virtual);
	if (t->priority < 0 && thread_field(&thread, more, F_PRIORITY, &v) && v.type == VALUE_INT &&
	    v.bits <= 10)
		t->priority = (int)v.bits;
	if (thread_field(&thread, more, F_DAEMON, &v) && v.type == VALUE_BOOLEAN)
		t->daemon = v.bits;
	if (!t->own_id && field(&thread, F_TID, &v) && v.type == VALUE_LONG)
		t->own_id = v.bits;
}

int threads_complete(struct heap *h, struct err *err)
{
	struct completing k = { .heap = h, .lost = ERR_INIT };
	struct progress *work = progress_own();
	int code = 0;
	if (values_held(h) && h->n_threads) {
		k.notes = big_alloc(h->n_classes, sizeof *k.notes, err); /* zeroed */
		code = k.notes ? 0 : ERR_NOMEM;
	}
	for (uint32_t i = 0; code == 0 && i < h->n_threads; i++) {
		if (i % THREADS_AT_ONCE == 0 && progress_cancelled(work))
			code = err_cancelled(err);
		if (k.notes)
			complete(&k, &h->threads[i]);
		if (!h->threads[i].name)
			h->threads[i].name = THREAD_UNNAMED;
	}
	big_free(k.notes);
	if (code == 0 && k.lost.code) {
		*err = k.lost;
		code = k.lost.code;
	}
	return code;
}

static int by_object(const void *x, const void *y, void *data)
{
	const struct heap_thread *threads = data;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint32_t p = threads[a].object, q = threads[b].object;
	return p != q ? (p > q) - (p < q) : (a > b) - (a < b);
}

int threads_order(struct heap *h, struct err *err)
{
	h->threads_by_object = big_alloc(h->n_threads, sizeof *h->threads_by_object, err);
	for (uint32_t i = 0; h->threads_by_object && i < h->n_threads; i++)
		h->threads_by_object[i] = i;
	if (!h->threads_by_object)
		return ERR_NOMEM;
	sort_array_with(h->threads_by_object, h->n_threads, sizeof *h->threads_by_object, by_object, h->threads);
	return 0;
}
