/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * javacore_threads.c - threads with their stacks and monitors, and the lock section.
 *
 * A thread block is a line 3XMTHREADINFO and the lines about that thread.  The lock section stands
 * before the threads and names owners by the VM's own address of a thread.  So the locks are kept,
 * and given to the threads at the end.
 */
#include "dump/javacore/javacore_read.h"

#include "algorithms/sort.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

#define SAME_LOOK 1024 /* monitors of a thread that are compared with a new one */

/* ---- thread blocks --------------------------------------------------------------------------- */

/* A copy of n elements in the javacore's arena; NULL when memory was refused. */
static void *keep(struct javacore_reading *r, const void *from, size_t n, size_t size)
{
	void *kept = arena_try(&r->j->arena, n, size, r->err);

	r->refused |= !kept;
	return kept && n ? memcpy(kept, from, n * size) : kept;
}

void javacore_end_thread(struct javacore_reading *r)
{
	if (r->thread != SIZE_MAX) {
		struct javacore_thread *t = &r->j->threads[r->thread];
		if (r->n_frames) {
			t->frames = keep(r, r->frames, r->n_frames, sizeof *t->frames);
			t->n_frames = t->frames ? r->n_frames : 0;
		}
		if (r->n_monitors) {
			t->monitors = keep(r, r->monitors, r->n_monitors, sizeof *t->monitors);
			t->n_monitors = t->monitors ? r->n_monitors : 0;
		}
	}
	r->thread = SIZE_MAX;
	r->n_frames = r->n_monitors = 0;
}

void javacore_current_thread(struct javacore_reading *r, struct span s)
{
	(void)s;
	javacore_end_thread(r);
	r->next_is_current = true;
}

void javacore_thread_list(struct javacore_reading *r, struct span s)
{
	(void)s;
	javacore_end_thread(r);
	r->next_is_current = false;
}

static const char *state_word(struct javacore_reading *r, struct span letters)
{
	static const struct {
		const char *letters, *word;
	} words[] = {
		{ "R", "runnable" }, { "CW", "waiting" }, { "B", "blocked" }, { "P", "parked" },
		{ "S", "suspended" }, { "Z", "zombie" },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strlen(words[i].letters) == span_size(letters) &&
		    span_starts(letters, words[i].letters))
			return words[i].word;
	}
	return javacore_string(r, letters);
}

/* What follows word in s, up to a comma, a blank or a parenthesis. */
static struct span value_after(struct span s, const char *word)
{
	const uint8_t *p = span_find(s, word);
	struct span value = { s.end, s.end };
	if (p) {
		value.p = value.end = p + strlen(word);
		while (value.end < s.end && *value.end != ',' && *value.end != ' ' && *value.end != ')')
			value.end++;
	}
	return value;
}

static int small_number(struct span s)
{
	int n = 0;
	for (; s.p < s.end && *s.p >= '0' && *s.p <= '9' && n < 100000; s.p++)
		n = n * 10 + (*s.p - '0');
	return n;
}

/* A name may hold quotes and anything else: it ends at the last quote before the thread's address. */
static const uint8_t *name_end(struct span s)
{
	static const char *const after[] = { "\" J9VMThread:", "\" TID:", "\" (TID:" };
	for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
		const uint8_t *p = span_find_last(s, after[i]);
		if (p)
			return p;
	}
	return NULL;
}

/* "NAME" J9VMThread:0x…, omrthread_t:0x…, java/lang/Thread:0x…, state:R, prio=5 */
static struct javacore_thread thread_of(struct javacore_reading *r, struct span s)
{
	struct javacore_thread t = { .name = "" };
	struct span rest = s;
	const uint8_t *end = *s.p == '"' ? name_end((struct span){ s.p + 1, s.end }) : NULL;
	if (!end) {
		/* "Anonymous native thread" */
		t.name = javacore_string(r, span_trim(s));
		t.state = "";
		return t;
	}
	t.name = javacore_string(r, (struct span){ s.p + 1, end });
	rest.p = end;
	t.vm_thread = span_hex_after(rest, "J9VMThread:");
	if (!t.vm_thread)
		t.vm_thread = span_hex_after(rest, "TID:");
	t.object = span_hex_after(rest, "java/lang/Thread:");
	if (!t.object && span_find(rest, "sys_thread_t:"))
		t.object = t.vm_thread; /* not a J9 VM: there the thread's id is the object's address */
	t.state = state_word(r, value_after(rest, "state:"));
	t.priority = small_number(value_after(rest, "prio="));
	t.native_id = span_hex_after(rest, "native ID:");
	return t;
}

void javacore_thread(struct javacore_reading *r, struct span s)
{
	javacore_end_thread(r);
	if (s.p == s.end)
		return;
	struct javacore *j = r->j;
	struct javacore_thread t = thread_of(r, s);
	bool shown_as_current = r->next_is_current;
	r->next_is_current = false;
	if (j->current != SIZE_MAX && t.vm_thread &&
	    j->threads[j->current].vm_thread == t.vm_thread) {
		/* The current thread again, in the list of all: once is enough. */
		if (j->threads[j->current].n_frames == 0)
			r->thread = j->current;
		return;
	}
	struct javacore_thread *to = BIG_PUSH(j->threads, j->n_threads, j->cap_threads, r->err);
	r->refused |= !to;
	if (!to)
		return;
	*to = t;
	r->thread = j->n_threads - 1;
	if (shown_as_current)
		j->current = r->thread;
}

static struct javacore_thread *thread_now(struct javacore_reading *r)
{
	return r->thread == SIZE_MAX ? NULL : &r->j->threads[r->thread];
}

/* (native thread ID:0x2310, native priority:0xA, …) */
void javacore_thread_native(struct javacore_reading *r, struct span s)
{
	struct javacore_thread *t = thread_now(r);
	if (t)
		t->native_id = span_hex_after(s, "native thread ID:");
}

/* (java/lang/Thread getId:0x14, isDaemon:true) */
void javacore_thread_java(struct javacore_reading *r, struct span s)
{
	struct javacore_thread *t = thread_now(r);
	if (!t)
		return;
	t->daemon = span_find(s, "isDaemon:true") != NULL;
	t->own_id = span_hex_after(s, "getId:");
}

/* The address in "CLASS@0xADDR…"; class names hold no @. */
static uint64_t object_at(struct span s)
{
	uint64_t address;
	const uint8_t *p = span_find(s, "@");
	return p && span_hex(p + 1, s.end, &address) ? address : 0;
}

static void add_monitor(struct javacore_reading *r, uint64_t address, size_t frame, bool waiting)
{
	if (!address)
		return;
	struct javacore_monitor *to = BIG_PUSH(r->monitors, r->n_monitors, r->cap_monitors, r->err);
	r->refused |= !to;
	if (to)
		*to = (struct javacore_monitor){ address, frame, waiting };
}

/* The thread address in "NAME" (J9VMThread:0x…), older "NAME" (0x…). */
static uint64_t owner_of(struct span s)
{
	uint64_t vm_thread = 0;
	const uint8_t *quote = span_find_last(s, "\" (");
	if (!quote)
		return 0;
	struct span rest = { quote + 3, s.end };
	if (span_starts(rest, "J9VMThread:"))
		rest.p += strlen("J9VMThread:");
	return span_hex(rest.p, rest.end, &vm_thread) ? vm_thread : 0;
}

/* CLASS@0xADDR in object; <unowned>, or … "NAME" (J9VMThread:0x…), in owner, which names no thread otherwise. */
static struct javacore_wait wait_of(struct javacore_reading *r, struct span object, struct span owner)
{
	struct javacore_wait wait = { .address = object_at(object) };
	if (!wait.address)
		return wait;
	const uint8_t *at = span_find(object, "@"), *quote = span_find(owner, "\"");
	const uint8_t *end = span_find_last(owner, "\" (");
	wait.class_name = javacore_string(r, span_trim((struct span){ object.p, at }));
	wait.unowned = span_starts(span_trim(owner), "<unowned>");
	if (!wait.unowned && quote && end > quote) {
		wait.owner = javacore_string(r, (struct span){ quote + 1, end });
		wait.owner_vm_thread = owner_of(owner);
	}
	return wait;
}

/* Waiting on: CLASS@0xADDR Owned by: … */
void javacore_thread_block(struct javacore_reading *r, struct span s)
{
	struct javacore_thread *t = thread_now(r);
	if (!t)
		return;
	static const char word[] = "Owned by:", on[] = " on: ";
	const uint8_t *begin = span_find(s, on), *owned = span_find(s, word);
	struct span owner = { s.end, s.end };
	if (owned) {
		owner.p = owned + sizeof word - 1;
		s.end = owned;
	}
	if (begin && begin < s.end)
		s.p = begin + sizeof on - 1;
	add_monitor(r, object_at(s), SIZE_MAX, true);
	if (!t->wait.address)
		t->wait = wait_of(r, s, owner);
}

/* at java/lang/Object.wait(Native Method) */
void javacore_frame_line(struct javacore_reading *r, struct span s)
{
	if (!thread_now(r))
		return;
	if (span_starts(s, "at "))
		s.p += 3;
	struct javacore_frame *to = BIG_PUSH(r->frames, r->n_frames, r->cap_frames, r->err);
	r->refused |= !to;
	if (to)
		*to = (struct javacore_frame){ javacore_string(r, span_trim(s)) };
}

/* (entered lock: CLASS@0xADDR, entry count: 1): the frame in the line before entered it */
void javacore_entered(struct javacore_reading *r, struct span s)
{
	if (thread_now(r) && span_find(s, "entered lock:"))
		add_monitor(r, object_at(s), r->n_frames ? r->n_frames - 1 : SIZE_MAX, false);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void add_lock(struct javacore_reading *r, uint64_t vm_thread, bool waiting)
{
	if (!r->lock_object || !vm_thread)
		return;
	struct javacore_lock *to = BIG_PUSH(r->locks, r->n_locks, r->cap_locks, r->err);
	r->refused |= !to;
	if (to)
		*to = (struct javacore_lock){ .object = r->lock_object, .vm_thread = vm_thread,
		    .waiting = waiting };
	if (!to || !waiting)
		return;
	if (!r->lock_wait.address) {
		const uint8_t *colon = span_find(r->lock_line, ": ");
		struct span owner = { colon ? colon + 2 : r->lock_line.end, r->lock_line.end };
		r->lock_wait = wait_of(r, (struct span){ r->lock_line.p, owner.p }, owner);
	}
	to->wait = r->lock_wait;
}

/* CLASS@0xADDR: owner "NAME" (J9VMThread:0x…), entry count 1 */
void javacore_monitor_object(struct javacore_reading *r, struct span s)
{
	r->lock_object = object_at(s);
	r->lock_line = s;
	r->lock_wait = (struct javacore_wait){ .address = 0 };
	add_lock(r, owner_of(s), false);
}

/* A monitor of the VM's own, or one whose object is still to be named. */
void javacore_monitor_other(struct javacore_reading *r, struct span s)
{
	(void)s;
	r->lock_object = 0;
}

void javacore_waiter(struct javacore_reading *r, struct span s)
{
	add_lock(r, owner_of(s), true);
}

struct vm_index {
	uint64_t vm_thread;
	size_t thread;
};

static int by_vm_thread(const void *a, const void *b)
{
	const struct vm_index *x = a, *y = b;
	return x->vm_thread < y->vm_thread ? -1 : x->vm_thread > y->vm_thread;
}

/* By thread, so that each one's monitors are laid out once. */
static int by_thread(const void *a, const void *b)
{
	const struct javacore_lock *x = a, *y = b;
	return x->vm_thread < y->vm_thread ? -1 : x->vm_thread > y->vm_thread;
}

static bool is_known(const struct javacore_reading *r, uint64_t object, bool waiting)
{
	for (size_t i = 0; i < r->n_monitors && i < SAME_LOOK; i++) {
		if (r->monitors[i].address == object && r->monitors[i].waiting == waiting)
			return true;
	}
	return false;
}

/* Give thread what the locks from first on say of it; returns the index after the last. */
static size_t assign_to(struct javacore_reading *r, size_t thread, size_t first)
{
	struct javacore_thread *t = &r->j->threads[thread];
	r->thread = thread;
	r->n_frames = r->n_monitors = 0;
	for (size_t i = 0; i < t->n_monitors; i++)
		add_monitor(r, t->monitors[i].address, t->monitors[i].frame, t->monitors[i].waiting);
	size_t i = first;
	for (; i < r->n_locks && r->locks[i].vm_thread == r->locks[first].vm_thread; i++) {
		if (r->locks[i].waiting && !t->wait.address)
			t->wait = r->locks[i].wait;
		if (!is_known(r, r->locks[i].object, r->locks[i].waiting))
			add_monitor(r, r->locks[i].object, SIZE_MAX, r->locks[i].waiting);
	}
	javacore_end_thread(r);
	return i;
}

void javacore_assign_locks(struct javacore_reading *r)
{
	struct javacore *j = r->j;
	javacore_end_thread(r);
	if (r->n_locks == 0 || j->n_threads == 0)
		return;
	struct vm_index *index = big_alloc(j->n_threads, sizeof *index, r->err);
	r->refused |= !index;
	if (!index)
		return;
	for (size_t i = 0; i < j->n_threads; i++)
		index[i] = (struct vm_index){ j->threads[i].vm_thread, i };
	r->refused |= sort(index, j->n_threads, sizeof *index, by_vm_thread, r->err) < 0 ||
	    sort(r->locks, r->n_locks, sizeof *r->locks, by_thread, r->err) < 0;
	for (size_t i = 0; i < r->n_locks && !r->refused;) {
		struct vm_index key = { r->locks[i].vm_thread, 0 };
		const struct vm_index *found =
		    find_sorted(&key, index, j->n_threads, sizeof *index, by_vm_thread);
		if (found)
			i = assign_to(r, found->thread, i);
		else
			i++;
	}
	big_free(index);
}
