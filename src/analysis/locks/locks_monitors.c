/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locks_monitors.c - who wants which monitor, and who has it, where the dump records no owners (HPROF).
 *
 * A thread that is blocked wants an object that its innermost frame holds: `this` of a synchronized method, or the
 * local in which javac keeps the operand of `synchronized`, which comes behind all locals that the frame had before.
 * Whoever has the monitor holds it in a frame, too, unless it was compiled code that forgot it.  So:
 *
 *   1. one object alone in that frame is what the thread wants;
 *   2. of several those count that another thread holds and does not wait for itself, and of these the last one;
 *   3. a monitor that a thread wants belongs to the only other thread that holds it in a frame, and neither wants it
 *      nor has let go of it in Object.wait; where several do, nobody is named.
 *
 * Up to JDK 8 the VM lists all monitors that somebody waits for: then only those count.  A static synchronized method
 * has no local for what it locks, so all of this is inferred.
 */
#include "analysis/locks/locks_find.h"

#include "base/big.h"
#include "base/bisect.h"
#include "base/sort.h"

#include <string.h>

enum { MOST_LOOK = 1 << 12 }; /* roots of one object that are looked at */

/* An object that a frame of a thread holds. */
struct local {
	uint32_t thread, frame, order, object;
};

struct monitors {
	struct finding *f;
	const struct heap *h;
	struct local *local; /* by thread, frame and order */
	size_t n, cap;
	uint32_t *wanted;    /* by thread: the object whose monitor it is blocked on, or HEAP_NONE */
	uint32_t *notified;  /* the one on which it is in Object.wait */
	bool lists;          /* the VM lists the monitors that somebody waits for */
};

static int by_place(const void *x, const void *y)
{
	const struct local *a = x, *b = y;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

static int collect(struct monitors *m)
{
	const struct heap *h = m->h;
	for (size_t i = 0; i < h->n_roots && !progress_stops(m->f->progress, i); i++) {
		const struct heap_root *root = &h->roots[i];
		m->lists |= root->kind == ROOT_BUSY_MONITOR && root->thread == HEAP_NONE;
		if (root->thread == HEAP_NONE || root->frame == HEAP_NONE ||
		    (root->kind != ROOT_JAVA_LOCAL && root->kind != ROOT_JNI_LOCAL))
			continue;
		struct local *to = BIG_PUSH(m->local, m->n, m->cap, m->f->err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct local){ root->thread, root->frame, root->offset, root->object };
	}
	return sort(m->local, m->n, sizeof *m->local, by_place, m->f->err);
}

/* What a frame of a thread holds: *n from the one that is returned on. */
static const struct local *locals_of(const struct monitors *m, uint32_t thread, uint32_t frame, size_t *n)
{
	size_t at, end;
	struct local first = { thread, frame, 0, 0 }, last = { thread, frame, UINT32_MAX, UINT32_MAX };
	BISECT(at, m->n, by_place(&m->local[at], &first) < 0);
	BISECT(end, m->n, by_place(&m->local[end], &last) < 0);
	*n = end > at ? end - at : 0;
	return m->local + at;
}

static bool state_begins(const struct heap *h, uint32_t thread, const char *with)
{
	const char *state = h->threads[thread].state;
	return state && !strncmp(state, with, strlen(with));
}

static bool in_wait(const struct heap *h, uint32_t thread)
{
	return state_begins(h, thread, "WAITING (on object monitor)") ||
	    state_begins(h, thread, "TIMED_WAITING (on object monitor)");
}

/* May its monitor be one that somebody waits for? */
static bool is_listed(const struct monitors *m, uint32_t object)
{
	size_t first, n = heap_roots_of(m->h, object, &first);
	for (size_t i = first; m->lists && i < first + n && i < first + MOST_LOOK; i++)
		if (m->h->roots[i].kind == ROOT_BUSY_MONITOR)
			return true;
	return !m->lists;
}

/* Another thread that holds the object in a frame, and neither wants its monitor nor let go of it; HEAP_NONE: none.
 * *only: there is no third one.  *frame: the innermost of its frames that do. */
static uint32_t holder_of(const struct monitors *m, uint32_t object, uint32_t but, bool *only, uint32_t *frame)
{
	const struct heap *h = m->h;
	uint32_t holder = HEAP_NONE;
	size_t first, n = heap_roots_of(h, object, &first);
	*only = n <= MOST_LOOK;
	*frame = HEAP_NONE;
	for (size_t i = first; i < first + n && i < first + MOST_LOOK; i++) {
		const struct heap_root *root = &h->roots[i];
		uint32_t t = root->thread;
		if (t == HEAP_NONE || t == but || root->frame == HEAP_NONE || m->wanted[t] == object ||
		    m->notified[t] == object || state_begins(h, t, "TERMINATED"))
			continue;
		*only &= holder == HEAP_NONE || holder == t;
		if (holder == HEAP_NONE || holder == t)
			*frame = root->frame < *frame ? root->frame : *frame;
		holder = holder == HEAP_NONE ? t : holder;
	}
	return holder;
}

/* --- what a thread wants ------------------------------------------------------------------------ */

static bool is_wait_frame(const struct heap_thread *t, uint32_t frame)
{
	return frame < t->n_frames && t->frames[frame] && !strncmp(t->frames[frame], "java.lang.Object.wait", 21);
}

/* `this` of the method Object.wait that a thread is in, or HEAP_NONE: it is in a native one, which holds nothing.
 * *frame: the first one outside of it. */
static uint32_t waited_on(const struct monitors *m, uint32_t thread, uint32_t *frame)
{
	uint32_t found = HEAP_NONE;
	for (*frame = 0; is_wait_frame(&m->h->threads[thread], *frame); ++*frame) {
		size_t n;
		const struct local *l = locals_of(m, thread, *frame, &n);
		if (n && found == HEAP_NONE && (n == 1 || l->order))
			found = l->object;
	}
	return found;
}

/* How many objects of a frame may be the one; *last: of these the last.  held: only those that another thread holds. */
static unsigned choose(const struct monitors *m, uint32_t thread, uint32_t frame, bool held, uint32_t *last)
{
	size_t n;
	const struct local *l = locals_of(m, thread, frame, &n);
	unsigned count = 0;
	bool ordered = true;
	*last = HEAP_NONE;
	for (size_t i = 0; i < n && i < MOST_LOOK; i++) {
		bool only;
		uint32_t at;
		if (l[i].object == *last || !is_listed(m, l[i].object) ||
		    (held && holder_of(m, l[i].object, thread, &only, &at) == HEAP_NONE))
			continue;
		ordered &= l[i].order != 0;
		*last = l[i].object;
		count++;
	}
	return count > 1 && !ordered ? (*last = HEAP_NONE, 0) : count;
}

static void find_alone(struct monitors *m)
{
	const struct heap *h = m->h;
	for (uint32_t t = 0; t < h->n_threads && !progress_stops(m->f->progress, t); t++) {
		uint32_t frame, object;
		m->wanted[t] = m->notified[t] = HEAP_NONE;
		bool waits = in_wait(h, t);
		if (!waits && !state_begins(h, t, "BLOCKED"))
			continue;
		uint32_t in = waited_on(m, t, &frame); /* a thread that was notified is blocked there, too */
		if (in == HEAP_NONE && choose(m, t, frame, false, &object) >= (waits ? 1 : 2) && !waits)
			continue;
		*(waits ? &m->notified[t] : &m->wanted[t]) = in == HEAP_NONE ? object : in;
	}
}

/* Of several what another thread holds; one after another, because what one wants it does not have. */
static void find_among(struct monitors *m)
{
	const struct heap *h = m->h;
	for (uint32_t t = 0; t < h->n_threads && !progress_stops(m->f->progress, t); t++) {
		uint32_t frame, object;
		if (m->wanted[t] != HEAP_NONE || !state_begins(h, t, "BLOCKED"))
			continue;
		(void)waited_on(m, t, &frame);
		(void)choose(m, t, frame, true, &object);
		m->wanted[t] = object;
		m->f->locks->n_unplaced += object == HEAP_NONE;
	}
}

/* --- what comes of it --------------------------------------------------------------------------- */

struct wish {
	uint32_t object, thread;
};

static int by_object(const void *x, const void *y)
{
	const struct wish *a = x, *b = y;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void add_monitor(struct monitors *m, const struct wish *wish, size_t n)
{
	struct finding *f = m->f;
	uint32_t at = lock_add(f, wish->object, wish->object, LOCK_MONITOR);
	bool wanted = false;
	if (at == HEAP_NONE)
		return;
	for (size_t i = 0; i < n; i++) {
		uint32_t t = wish[i].thread;
		wanted |= m->wanted[t] == wish->object;
		lock_add_wait(f, &(struct lock_wait){ .lock = at, .thread = t, .object = m->h->threads[t].object,
		    .how = m->wanted[t] == wish->object ? WAIT_TO_ENTER : WAIT_TO_BE_NOTIFIED,
		    .timed = m->wanted[t] != wish->object && lock_thread_timed(m->h, t), .certainty = INFERRED });
	}
	struct lock *lock = &f->locks->lock[at];
	bool only = false;
	uint32_t frame = HEAP_NONE, holder = wanted ? holder_of(m, wish->object, HEAP_NONE, &only, &frame) : HEAP_NONE;
	if (holder == HEAP_NONE || !only)
		return;
	lock->owner = holder;
	lock->owner_object = m->h->threads[holder].object;
	lock->owner_frame = frame;
	lock->owner_is = INFERRED;
}

static int add_all(struct monitors *m)
{
	struct wish *wish = NULL;
	size_t n = 0, cap = 0;
	for (uint32_t t = 0; t < m->h->n_threads && !progress_stops(m->f->progress, t); t++) {
		uint32_t object = m->wanted[t] == HEAP_NONE ? m->notified[t] : m->wanted[t];
		struct wish *to = object == HEAP_NONE ? NULL : BIG_PUSH(wish, n, cap, m->f->err);
		m->f->lost |= object != HEAP_NONE && !to;
		if (to)
			*to = (struct wish){ object, t };
	}
	int code = m->f->lost ? ERR_NOMEM : sort(wish, n, sizeof *wish, by_object, m->f->err);
	for (size_t i = 0, end; !code && i < n && !progress_stops(m->f->progress, i); i = end) {
		for (end = i + 1; end < n && wish[end].object == wish[i].object; end++)
			;
		add_monitor(m, wish + i, end - i);
	}
	big_free(wish);
	return code;
}

int locks_find_monitors(struct finding *f)
{
	const struct heap *h = f->heap;
	struct monitors m = { .f = f, .h = h };
	m.wanted = big_alloc(h->n_threads, sizeof *m.wanted, f->err);
	m.notified = big_alloc(h->n_threads, sizeof *m.notified, f->err);
	int code = m.wanted && m.notified ? collect(&m) : ERR_NOMEM;
	if (!code) {
		find_alone(&m);
		find_among(&m);
		code = progress_check(f->progress, f->err);
	}
	if (!code)
		code = add_all(&m);
	big_free(m.local);
	big_free(m.wanted);
	big_free(m.notified);
	return code;
}
