/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locks_java.c - the locks of java.util.concurrent, as their objects tell.
 *
 * An AbstractQueuedSynchronizer has `state`, the thread that owns it (exclusiveOwnerThread, of its superclass) and a
 * queue of nodes from `tail` back by `prev`; the first node is a dummy, or that of the thread which was let in last.
 * A node's thread is `thread` and its status `waitStatus` (above 0: cancelled) up to JDK 13; since JDK 14 `waiter` and
 * `status` (below 0: cancelled).  A ConditionObject has a list of nodes from `firstWaiter` on by `nextWaiter`.  Other
 * parked threads name what they wait for in Thread.parkBlocker.  Sources: OpenJDK 6 to 28.
 */
#include "analysis/locks/locks_find.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "heap/threads.h"
#include "heap/value.h"
#include "memory/big.h"

#include <string.h>

enum family {
	NOT_KNOWN_YET, NOTHING, QUEUED, QUEUED_LONG, CONDITION, OUTER, THREAD, FAMILIES
};
#define LOCKS "java.util.concurrent.locks."
static const struct {
	const char *name;
	enum family family;
} bases[] = {
	{ LOCKS "AbstractQueuedSynchronizer", QUEUED },
	{ LOCKS "AbstractQueuedLongSynchronizer", QUEUED_LONG },
	{ LOCKS "AbstractQueuedSynchronizer$ConditionObject", CONDITION },
	{ LOCKS "AbstractQueuedLongSynchronizer$ConditionObject", CONDITION },
	{ LOCKS "ReentrantLock", OUTER },
	{ LOCKS "ReentrantReadWriteLock", OUTER },
	{ "java.util.concurrent.Semaphore", OUTER },
	{ "java.util.concurrent.CountDownLatch", OUTER },
	{ "java.lang.Thread", THREAD },
};

/* A parked thread, and what it names. */
struct park {
	uint32_t blocker, thread;
};

struct reading {
	struct finding *f;
	const struct heap *h;
	uint8_t *family; /* by class */
	struct view_walk walk;
	struct park *park;
	size_t n_parks, cap_parks;
	uint64_t steps; /* along queues: no more than there are objects */
};

/* --- classes ------------------------------------------------------------------------------------ */

static enum family named(const char *name)
{
	for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
		if (!strcmp(bases[i].name, name))
			return bases[i].family;
	return NOT_KNOWN_YET;
}

/* Up to a class that is known, or one of the bases, then the same way again: superclasses do not go round. */
static void find_family(struct reading *r, uint32_t class)
{
	const struct heap *h = r->h;
	uint32_t at = class;
	enum family found = NOT_KNOWN_YET;
	while (at != HEAP_NONE && !(found = (enum family)r->family[at]) && !(found = named(h->classes[at].name)))
		at = h->classes[at].superclass;
	found = found ? found : NOTHING;
	for (uint32_t c = class; c != at; c = h->classes[c].superclass)
		r->family[c] = (uint8_t)found;
	if (at != HEAP_NONE)
		r->family[at] = (uint8_t)found;
}

static bool is_interesting(const struct reading *r, uint32_t class)
{
	enum family family = (enum family)r->family[class];
	return family == QUEUED || family == QUEUED_LONG || family == CONDITION || family == THREAD;
}

/* --- fields ------------------------------------------------------------------------------------- */

static bool open_object(const struct heap *h, uint32_t id, struct values *out)
{
	return id != HEAP_NONE && !values_open(out, h, id, NULL) && !out->is_class;
}

static bool is_thread(const struct reading *r, uint32_t object)
{
	return object != HEAP_NONE && r->family[heap_class_index(r->h, object)] == THREAD;
}

/* --- queues ------------------------------------------------------------------------------------- */

/* The thread that waits at a node, or HEAP_NONE: nobody does (any more). */
static uint32_t thread_at(const struct reading *r, const struct values *node)
{
	struct value waiter;
	bool since_14 = values_field(node, "waiter", &waiter);
	uint32_t thread = lock_object_in(node, since_14 ? "waiter" : "thread");
	bool cancelled = since_14 ? lock_number_in(node, "status") < 0 : lock_number_in(node, "waitStatus") > 0;
	return cancelled || !is_thread(r, thread) ? HEAP_NONE : thread;
}

static void add_waiter(struct reading *r, uint32_t lock, uint32_t thread, enum wait_for how)
{
	struct lock_wait wait = lock_wait_of(r->f, lock, thread);
	wait.how = how;
	lock_add_wait(r->f, &wait);
	bits_set(&r->f->waits, thread);
}

/* The queue from a node on; it ends at one that was met before. */
static void follow(struct reading *r, uint32_t lock, uint32_t node, const char *next, enum wait_for how)
{
	struct values v;
	uint32_t mark = HEAP_NONE;
	for (uint64_t n = 1; node != HEAP_NONE; n++) {
		if (node == mark || r->steps++ >= r->h->n_objects || !open_object(r->h, node, &v)) {
			r->f->locks->broken++;
			return;
		}
		if (!(n & (n - 1))) /* the 1st, 2nd, 4th, 8th ... */
			mark = node;
		uint32_t thread = thread_at(r, &v);
		if (thread != HEAP_NONE && !bits_get(&r->f->waits, thread))
			add_waiter(r, lock, thread, how);
		if (progress_stops(r->f->progress, n))
			return;
		node = lock_object_in(&v, next);
	}
}

/* What was added last, the other way round: a queue is followed from its end. */
static void turn(struct locks *l, size_t first)
{
	for (size_t a = first, b = l->n_waits; a + 1 < b; a++) {
		struct lock_wait wait = l->wait[a];
		l->wait[a] = l->wait[--b];
		l->wait[b] = wait;
	}
}

/* --- synchronizers ------------------------------------------------------------------------------ */

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static enum lock_kind kind_of(const char *class)
{
	return begins(class, LOCKS "ReentrantLock$") ? LOCK_EXCLUSIVE :
	    begins(class, LOCKS "ReentrantReadWriteLock$") ? LOCK_WRITE :
	    begins(class, "java.util.concurrent.Semaphore$") ? LOCK_SEMAPHORE :
	    begins(class, "java.util.concurrent.CountDownLatch$") ? LOCK_LATCH : LOCK_SYNCHRONIZER;
}

/* The lock that has this synchronizer in its field `sync`: what the program knows. */
static uint32_t outer_of(const struct reading *r, uint32_t synchronizer)
{
	enum { MOST_HOLDERS = 256 };
	const struct heap *h = r->h;
	struct values v;
	if (h->no_references)
		return synchronizer;
	uint64_t begin = adjacency_start(&h->in, synchronizer), n = adjacency_degree(&h->in, synchronizer);
	for (uint64_t k = 0; k < n && k < MOST_HOLDERS; k++) {
		uint32_t holder = h->in.target[begin + k];
		if (r->family[heap_class_index(h, holder)] == OUTER && open_object(h, holder, &v) &&
		    lock_object_in(&v, "sync") == synchronizer)
			return holder;
	}
	return synchronizer;
}

/* Readers stand in the upper half of the state, what the writer entered in the lower one; the state is a long since
 * JDK 28. */
static void read_write(struct lock *lock, const struct value *state)
{
	unsigned half = state->type == VALUE_LONG ? 32 : 16;
	uint64_t bits = state->type == VALUE_LONG ? state->bits : (uint32_t)state->bits;
	uint64_t readers = bits >> half;
	lock->kind = readers ? LOCK_READ : LOCK_WRITE;
	lock->holds = amount_exact(readers ? readers : bits & ((UINT64_C(1) << half) - 1));
}

static void set_owner(const struct reading *r, struct lock *lock, uint32_t owner)
{
	lock->owner_is = EXACT;
	if (owner == HEAP_NONE)
		return;
	lock->owner = heap_thread_of(r->h, owner);
	lock->owner_object = owner;
}

/* A read-write lock keeps no list of its readers, but knows one of them and how often that one entered: perhaps all. */
static void set_reader(const struct reading *r, struct lock *lock, const struct values *v)
{
	uint32_t first = lock_object_in(v, "firstReader");
	int64_t holds = lock_number_in(v, "firstReaderHoldCount");
	lock->owner_is = UNKNOWN;
	if (is_thread(r, first) && holds > 0 && (uint64_t)holds == lock->holds.n)
		set_owner(r, lock, first);
}

static void set_state(const struct reading *r, struct lock *lock, const struct values *v, const struct value *state)
{
	if (lock->kind == LOCK_WRITE)
		read_write(lock, state);
	else if (lock->kind != LOCK_SYNCHRONIZER) /* whose state means what its class likes */
		lock->holds = (int64_t)state->bits < 0 ? amount_unknown(REASON_SILENT) : amount_exact(state->bits);
	if (lock->kind == LOCK_READ && lock->owner == HEAP_NONE && lock->owner_object == HEAP_NONE)
		set_reader(r, lock, v);
}

/* Free ones are left out: there are thousands. */
static void take_synchronizer(struct reading *r, struct values *v, bool is_long)
{
	struct locks *l = r->f->locks;
	struct value state = {VALUE_INT, 0};
	const struct values whole = *v; /* seen as its own class */
	if (!values_as_named(v, is_long ? bases[QUEUED_LONG - QUEUED].name : bases[0].name))
		return;
	bool known = values_field(v, "state", &state) && (state.type == VALUE_INT || state.type == VALUE_LONG);
	uint32_t owner = lock_object_in(v, "exclusiveOwnerThread"), tail = lock_object_in(v, "tail");
	enum lock_kind kind = kind_of(heap_class_of(r->h, v->id)->name);
	bool held = kind == LOCK_EXCLUSIVE || kind == LOCK_WRITE ? owner != HEAP_NONE || (known && state.bits) : false;
	if (!held && tail == HEAP_NONE)
		return;
	size_t n = l->n, first = l->n_waits;
	uint32_t lock = lock_add(r->f, outer_of(r, v->id), v->id, kind);
	if (lock == HEAP_NONE)
		return;
	set_owner(r, &l->lock[lock], owner);
	if (known)
		set_state(r, &l->lock[lock], &whole, &state);
	follow(r, lock, tail, "prev", WAIT_TO_ENTER);
	turn(l, first);
	if (!held && l->n_waits == first)
		l->n = n;
}

static void take_condition(struct reading *r, const struct values *v)
{
	struct locks *l = r->f->locks;
	uint32_t first_waiter = lock_object_in(v, "firstWaiter");
	size_t n = l->n, first = l->n_waits;
	uint32_t lock = first_waiter == HEAP_NONE ? HEAP_NONE : lock_add(r->f, v->id, v->id, LOCK_CONDITION);
	if (lock == HEAP_NONE)
		return;
	l->lock[lock].owner_is = EXACT; /* nobody owns a condition */
	follow(r, lock, first_waiter, "nextWaiter", WAIT_TO_BE_NOTIFIED);
	if (l->n_waits == first)
		l->n = n;
}

static void take_thread(struct reading *r, struct values *v)
{
	uint32_t blocker = values_as_named(v, "java.lang.Thread") ? lock_object_in(v, "parkBlocker") : HEAP_NONE;
	struct park *park = blocker == HEAP_NONE ? NULL : BIG_PUSH(r->park, r->n_parks, r->cap_parks, r->f->err);
	r->f->lost |= blocker != HEAP_NONE && !park;
	if (park)
		*park = (struct park){ blocker, v->id };
}

static void take(struct reading *r, uint32_t id)
{
	struct values v;
	enum family family = (enum family)r->family[heap_class_index(r->h, id)];
	if (values_open_along(&v, r->h, id, &r->walk, NULL) || v.is_class)
		return;
	if (family == THREAD)
		take_thread(r, &v);
	else if (family == CONDITION)
		take_condition(r, &v);
	else
		take_synchronizer(r, &v, family == QUEUED_LONG);
}

/* --- parked threads ----------------------------------------------------------------------------- */

static int by_blocker(const void *x, const void *y)
{
	const struct park *a = x, *b = y;
	if (a->blocker != b->blocker)
		return a->blocker < b->blocker ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* The lowest seven bits count readers, as far as they can, and the next one is the writer's (JDK 8 to 28).  Who they
 * are stands nowhere. */
static void set_stamped(struct lock *lock, const struct values *v)
{
	enum { READERS = 127, WRITER = 128, MOST_READERS = 126 };
	struct value state;
	if (!values_field(v, "state", &state) || state.type != VALUE_LONG)
		return;
	uint64_t readers = state.bits & READERS, beyond = (uint64_t)lock_number_in(v, "readerOverflow");
	lock->holds = amount_exact(state.bits & WRITER ? 1 : readers < MOST_READERS ? readers : MOST_READERS + beyond);
	lock->owner_is = lock->holds.n ? UNKNOWN : EXACT;
}

/* What stands in a lock's own fields: a StampedLock's state, the thread that runs a task. */
static uint32_t add_blocker(struct reading *r, uint32_t blocker)
{
	const char *class = heap_class_of(r->h, blocker)->name;
	bool stamped = !strcmp(class, LOCKS "StampedLock"), task = !strcmp(class, "java.util.concurrent.FutureTask");
	uint32_t lock = lock_add(r->f, blocker, blocker, stamped ? LOCK_STAMPED : task ? LOCK_FUTURE : LOCK_PARKED);
	struct values v;
	if (lock == HEAP_NONE)
		return lock;
	if (stamped && open_object(r->h, blocker, &v))
		set_stamped(&r->f->locks->lock[lock], &v);
	uint32_t runner = task && open_object(r->h, blocker, &v) ? lock_object_in(&v, "runner") : HEAP_NONE;
	if (runner != HEAP_NONE && is_thread(r, runner))
		set_owner(r, &r->f->locks->lock[lock], runner);
	return lock;
}

static int take_parks(struct reading *r)
{
	struct lock_order known;
	int code = sort(r->park, r->n_parks, sizeof *r->park, by_blocker, r->f->err);
	if (!code)
		code = lock_order_make(&known, r->f);
	if (code)
		return code;
	uint32_t lock = HEAP_NONE;
	for (size_t i = 0; i < r->n_parks && !r->f->lost && !progress_stops(r->f->progress, i); i++) {
		const struct park *p = &r->park[i];
		if (bits_get(&r->f->waits, p->thread))
			continue;
		if (lock == HEAP_NONE || r->f->locks->lock[lock].synchronizer != p->blocker)
			lock = lock_order_find(&known, r->f->locks, p->blocker);
		if (lock == HEAP_NONE)
			lock = add_blocker(r, p->blocker);
		if (lock != HEAP_NONE)
			add_waiter(r, lock, p->thread, WAIT_TO_ENTER);
	}
	lock_order_release(&known);
	return 0;
}

int locks_find_java(struct finding *f)
{
	const struct heap *h = f->heap;
	struct reading r = { .f = f, .h = h };
	r.family = big_alloc(h->n_classes, sizeof *r.family, f->err); /* zeroed */
	int code = r.family ? 0 : ERR_NOMEM;
	for (uint32_t c = 0; !code && c < h->n_classes && !progress_stops(f->progress, c); c++)
		if (!r.family[c])
			find_family(&r, c);
	for (uint32_t id = 0; !code && id < h->n_objects && !f->lost && !progress_stops(f->progress, id); id++)
		if (is_interesting(&r, heap_class_index(h, id)))
			take(&r, id);
	code = code ? code : f->lost ? ERR_NOMEM : progress_check(f->progress, f->err);
	if (!code)
		code = take_parks(&r);
	big_free(r.park);
	big_free(r.family);
	return code;
}
