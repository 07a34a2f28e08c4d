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
 * A static synchronized method locks the object of its class, which no local holds.  The dump does not record which
 * methods are synchronized.  So:
 *
 *   4. a thread that is blocked in a frame without such an object wants the object of the class of that frame;
 *   5. it belongs to the thread that is in the same method, for only one can be;
 *   6. else each thread in a method of the class may have it, as those of rule 3 may.
 *
 * Up to JDK 8 the VM lists all monitors that a thread waits for: then only those count.  All of this is inferred.
 */
#include "analysis/locks/locks_find.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <string.h>

enum {
	MOST_LOOK = 1 << 12,   /* roots of one object that are looked at */
	MOST_FRAMES = 1 << 24, /* frames and names of classes: threads of one stack share it */
};

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
	uint32_t looks;      /* frames and names of classes that were looked at */
};

/* A thread that may have a monitor. */
struct holder {
	uint32_t thread; /* HEAP_NONE: there is none */
	uint32_t frame;  /* the innermost of its frames that says so */
	bool only;       /* no other thread may have it */
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

/* Neither does it want the monitor, nor has it let go of it. */
static bool may_have(const struct monitors *m, uint32_t thread, uint32_t object)
{
	return m->wanted[thread] != object && m->notified[thread] != object && !state_begins(m->h, thread, "TERMINATED");
}

static void add_holder(struct holder *to, uint32_t thread, uint32_t frame)
{
	to->only &= to->thread == HEAP_NONE || to->thread == thread;
	if (to->thread == HEAP_NONE)
		to->thread = thread;
	if (to->thread == thread && frame < to->frame)
		to->frame = frame;
}

/* How long the name of the class is in "acme.A.run(A.java:12)"; 0: the method is not one that can be static and
 * synchronized.  *method: how long it is with the method's. */
static size_t class_in(const char *frame, size_t *method)
{
	size_t n = *method = strcspn(frame, "(");
	while (n && frame[n - 1] != '.')
		n--;
	return !n || frame[n] == '<' || !strncmp(frame + n, "lambda$", 7) ? 0 : n - 1;
}

static bool is_in_class(const char *frame, const char *class, size_t *method)
{
	size_t n = frame ? class_in(frame, method) : 0;
	return n && !strncmp(frame, class, n) && !class[n];
}

/* Of an object of a class: the threads that are in its methods, or in the method that a text of n bytes names. */
static void add_static(struct monitors *m, uint32_t object, uint32_t but, const char *method, size_t n,
    struct holder *to)
{
	const struct heap *h = m->h;
	uint32_t class = heap_class_mirrored(h, object);
	for (uint32_t t = 0; class != HEAP_NONE && t < h->n_threads; t++) {
		const struct heap_thread *thread = &h->threads[t];
		if (t == but || !may_have(m, t, object))
			continue;
		for (uint32_t i = 0; i < thread->n_frames; i++) {
			size_t own;
			if (m->looks++ >= MOST_FRAMES) {
				m->looks = MOST_FRAMES;
				to->only = false;
				return;
			}
			if (!is_in_class(thread->frames[i], h->classes[class].name, &own) ||
			    (method && (own != n || strncmp(thread->frames[i], method, n))))
				continue;
			add_holder(to, t, i);
			break;
		}
	}
}

/* Another thread that may have the monitor. */
static struct holder holder_of(struct monitors *m, uint32_t object, uint32_t but)
{
	const struct heap *h = m->h;
	size_t first, n = heap_roots_of(h, object, &first);
	struct holder found = { HEAP_NONE, HEAP_NONE, n <= MOST_LOOK };
	for (size_t i = first; i < first + n && i < first + MOST_LOOK; i++) {
		const struct heap_root *root = &h->roots[i];
		if (root->thread != HEAP_NONE && root->thread != but && root->frame != HEAP_NONE &&
		    may_have(m, root->thread, object))
			add_holder(&found, root->thread, root->frame);
	}
	add_static(m, object, but, NULL, 0, &found);
	return found;
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
static unsigned choose(struct monitors *m, uint32_t thread, uint32_t frame, bool held, uint32_t *last)
{
	size_t n;
	const struct local *l = locals_of(m, thread, frame, &n);
	unsigned count = 0;
	bool ordered = true;
	*last = HEAP_NONE;
	for (size_t i = 0; i < n && i < MOST_LOOK; i++) {
		if (l[i].object == *last || !is_listed(m, l[i].object) ||
		    (held && holder_of(m, l[i].object, thread).thread == HEAP_NONE))
			continue;
		ordered &= l[i].order != 0;
		*last = l[i].object;
		count++;
	}
	if (count > 1 && !ordered)
		*last = HEAP_NONE;
	return count;
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

/* What a static synchronized method of this frame locks: the only class of its name.  HEAP_NONE: it cannot be one. */
static uint32_t static_monitor(struct monitors *m, uint32_t thread, uint32_t frame)
{
	const struct heap *h = m->h;
	const struct heap_thread *t = &h->threads[thread];
	uint32_t found = HEAP_NONE;
	size_t method;
	for (uint32_t c = 0; frame < t->n_frames && c < h->n_classes; c++) {
		uint32_t object = h->classes[c].object;
		if (m->looks++ >= MOST_FRAMES) {
			m->looks = MOST_FRAMES;
			return HEAP_NONE;
		}
		if (object == HEAP_NONE || !is_in_class(t->frames[frame], h->classes[c].name, &method) || !is_listed(m, object))
			continue;
		if (found != HEAP_NONE)
			return HEAP_NONE;
		found = object;
	}
	return found;
}

static bool is_of_class(const struct heap *h, uint32_t id, uint32_t class)
{
	enum { MOST_ABOVE = 1 << 10 };
	uint32_t c = heap_class_index(h, id);
	for (unsigned i = 0; c != HEAP_NONE && c != class && i < MOST_ABOVE; i++)
		c = h->classes[c].superclass;
	return c == class;
}

/* An object that nobody else holds, alone in a frame, is an argument of a static synchronized method rather than what
 * the thread wants, where another thread is in the same method: it is not `this`. */
static void find_static(struct monitors *m)
{
	const struct heap *h = m->h;
	for (uint32_t t = 0; t < h->n_threads && !progress_stops(m->f->progress, t); t++) {
		uint32_t frame, object;
		if (m->wanted[t] == HEAP_NONE || waited_on(m, t, &frame) != HEAP_NONE ||
		    (object = static_monitor(m, t, frame)) == HEAP_NONE ||
		    is_of_class(h, m->wanted[t], heap_class_mirrored(h, object)) ||
		    holder_of(m, m->wanted[t], t).thread != HEAP_NONE)
			continue;
		struct holder same = { HEAP_NONE, HEAP_NONE, true };
		const char *method = h->threads[t].frames[frame];
		add_static(m, object, t, method, strcspn(method, "("), &same);
		if (same.thread != HEAP_NONE)
			m->wanted[t] = object;
	}
}

/* Of several what another thread holds; one after another, because what one wants it does not have. */
static void find_among(struct monitors *m)
{
	const struct heap *h = m->h;
	for (uint32_t t = 0; t < h->n_threads && !progress_stops(m->f->progress, t); t++) {
		uint32_t frame, object, none;
		if (m->wanted[t] != HEAP_NONE || !state_begins(h, t, "BLOCKED"))
			continue;
		(void)waited_on(m, t, &frame);
		if (!choose(m, t, frame, true, &object) && !choose(m, t, frame, false, &none))
			object = static_monitor(m, t, frame);
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

/* Does the frame in which a thread is blocked hold the object? */
static bool holds_wanted(const struct monitors *m, uint32_t thread, uint32_t object, uint32_t *frame)
{
	size_t n;
	bool waited = waited_on(m, thread, frame) != HEAP_NONE;
	const struct local *l = locals_of(m, thread, *frame, &n);
	for (size_t i = 0; i < n && i < MOST_LOOK; i++)
		waited |= l[i].object == object;
	return waited || n > MOST_LOOK;
}

/* Who has a monitor that these threads want. */
static struct holder owner_of(struct monitors *m, const struct wish *wish, size_t n)
{
	struct holder same = { HEAP_NONE, HEAP_NONE, true };
	uint32_t frame;
	size_t i = 0;
	while (i < n && (m->wanted[wish[i].thread] != wish->object ||
	    holds_wanted(m, wish[i].thread, wish->object, &frame)))
		i++;
	if (i < n) { /* a static synchronized method, for no local has what it wants */
		const char *method = m->h->threads[wish[i].thread].frames[frame];
		add_static(m, wish->object, HEAP_NONE, method, strcspn(method, "("), &same);
	}
	return same.thread != HEAP_NONE ? same : holder_of(m, wish->object, HEAP_NONE);
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
	struct holder holder = { HEAP_NONE, HEAP_NONE, false };
	if (wanted)
		holder = owner_of(m, wish, n);
	if (holder.thread == HEAP_NONE || !holder.only)
		return;
	lock->owner = holder.thread;
	lock->owner_object = m->h->threads[holder.thread].object;
	lock->owner_frame = holder.frame;
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
		find_static(&m);
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
