/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.c - the counters that a worker moves and somebody else watches.  Any thread.
 */
#include "base/progress.h"

#include "base/text.h"

#include <stddef.h>
#include <time.h>

#define HELD_LOOK_NS 5000000
#define ALONE(text) {.words = text, .word = text}

/* Each line begins with words, word, work, share.  The shares were measured on Java dumps of about a
 * gigabyte, that of types on a Go dump with its program beside it. */
const struct phase_info phase_info[PHASES] = {
	[PHASE_NONE] = ALONE(""),
	[PHASE_ATTACH] = ALONE("attaching to the VM"),
	[PHASE_TAKE_DUMP] = {.words = "the VM writes its heap", .word = "the VM writes its heap", .bytes = true},
	[PHASE_AWAIT_PIPE] = {"waiting for the pipe", "waiting for the pipe", WORK_PIPE, 1},
	[PHASE_READ_PIPE] = {"reading the pipe", "reading the pipe", WORK_PIPE, 100, .bytes = true},
	[PHASE_INFLATE] = {"inflating", "inflating", WORK_INFLATE, 100, .bytes = true},
	[PHASE_READ_OBJECTS] = {"reading objects", "reading objects", WORK_TABLE, 65, .bytes = true},
	[PHASE_ORDER_OBJECTS] = {"ordering objects", "ordering objects", WORK_TABLE, 35},
	[PHASE_READ_REFERENCES] = {"reading references", "references", WORK_REST, 50, .bytes = true},
	[PHASE_FIND_TYPES] = {"inferring types", "types", WORK_REST, 150, .announced = true},
	[PHASE_TURN_REFERENCES] = {"inverting references", "referrers", WORK_REST, 40},
	[PHASE_FIND_ROOTS] = {"finding roots", "roots", WORK_REST, 10},
	[PHASE_WALK_HEAP] = {"walking the heap", "walking the heap", WORK_RETAINED, 40},
	[PHASE_FIND_DOMINATORS] = {"finding dominators", "dominators", WORK_RETAINED, 25},
	[PHASE_SUM_RETAINED] = {"summing retained sizes", "summing retained sizes", WORK_RETAINED, 10},
	[PHASE_SUM_CLASSES] = {"retained sizes of classes", "retained sizes of classes", WORK_RETAINED, 25},
	[PHASE_SUM_PACKAGES] = ALONE("retained sizes of packages"),
	[PHASE_FIND_WEAK] = ALONE("finding weak references"),
	[PHASE_FOLLOW_REFERENCES] = ALONE("following references"),
	[PHASE_FIND_UNRECORDED] = ALONE("looking for objects that may be alive"),
	[PHASE_FIND_SUSPECTS] = ALONE("looking for suspects"),
	[PHASE_FIND_PATH] = ALONE("looking for a path"),
	[PHASE_WRITE_COPY] = {.words = "writing the copy", .word = "writing the copy", .bytes = true},
	[PHASE_WRITE_HPROF] = ALONE("writing objects"),
	[PHASE_WRITE_INDEX] = {.words = "writing the index", .word = "writing the index", .bytes = true},
	[PHASE_LOOK_AT_FILES] = ALONE("looking at files"),
	[PHASE_READ_PROFILES] = ALONE("reading profiles"),
	[PHASE_FIND_HASHES] = {.words = "looking for a hash", .word = "looking for a hash", .bytes = true},
	[PHASE_FIND_NUMBERS] = ALONE("looking for a number"),
	[PHASE_READ_TEXTS] = ALONE("reading strings"),
	[PHASE_READ_VALUES] = ALONE("reading values"),
	[PHASE_COMPARE_TEXTS] = ALONE("comparing strings"),
	[PHASE_READ_COLLECTIONS] = ALONE("reading collections"),
	[PHASE_LOOK_AT_OBJECTS] = ALONE("checking objects"),
	[PHASE_COMPARE_OBJECTS] = ALONE("comparing objects"),
	[PHASE_LOOK_AT_ROWS] = ALONE("looking at rows"),
	[PHASE_SORT_ROWS] = ALONE("sorting rows"),
	[PHASE_FILTER_ROWS] = ALONE("filtering rows"),
	[PHASE_SEARCH_ROWS] = ALONE("searching rows"),
	[PHASE_CUT_REFERENCES] = ALONE("clearing references"),
	[PHASE_WEIGH_REFERENCES] = ALONE("weighing references"),
	[PHASE_NUMBER_TREE] = ALONE("numbering the tree"),
	[PHASE_ADD_UP_FIELDS] = ALONE("adding up fields"),
	[PHASE_WALK_WHAT_IS_LEFT] = ALONE("walking the remaining objects"),
	[PHASE_CHECK_GRAPH] = ALONE("checking the graph"),
	[PHASE_CHECK_PATHS] = ALONE("checking paths"),
	[PHASE_CHECK_PARENTS] = ALONE("checking parents"),
	[PHASE_CHECK_RETAINED] = ALONE("checking retained sizes"),
	[PHASE_CHECK_SIBLINGS] = ALONE("checking siblings"),
};

_Static_assert(PHASES <= 64, "struct progress keeps a bit of each phase");

void progress_reset(struct progress *p)
{
	atomic_store(&p->phase, PHASE_NONE);
	atomic_store(&p->done, 0);
	atomic_store(&p->total, 0);
	atomic_store(&p->began, 0);
	atomic_store(&p->objects, 0);
	atomic_store(&p->expected, 0);
	atomic_store(&p->begun, 0);
	atomic_store(&p->again, false);
	atomic_store(&p->until, 0);
	atomic_store(&p->cancel, false);
	atomic_store(&p->held, false);
}

void progress_objects(struct progress *p, uint64_t n)
{
	if (p)
		atomic_store(&p->objects, n);
}

void progress_expect(struct progress *p, enum phase phase)
{
	if (p)
		atomic_fetch_or(&p->expected, UINT64_C(1) << phase);
}

bool progress_expected(struct progress *p, enum phase phase)
{
	return p && atomic_load(&p->expected) >> phase & 1;
}

void progress_phase(struct progress *p, enum phase phase, uint64_t total)
{
	if (!p)
		return;
	uint64_t bit = UINT64_C(1) << phase;
	atomic_store(&p->again, atomic_fetch_or(&p->begun, bit) & bit && phase_info[phase].work == WORK_ALONE);
	atomic_store(&p->done, 0);
	atomic_store(&p->total, total);
	atomic_store(&p->began, progress_clock());
	atomic_store(&p->phase, phase);
}

#define NS_OF_SECOND UINT64_C(1000000000)

void progress_add_came(struct progress *p, struct text *to)
{
	uint64_t done = atomic_load(&p->done), began = atomic_load(&p->began), now = progress_clock();

	if (!phase_info[atomic_load(&p->phase)].bytes || atomic_load(&p->total) || !done)
		return;
	text_add(to, " ");
	text_add_bytes(to, done);
	if (now < began + NS_OF_SECOND / 2) /* too short to tell */
		return;
	text_add(to, ", ");
	text_add_bytes(to, (uint64_t)((double)done / ((double)(now - began) / NS_OF_SECOND)));
	text_add(to, "/s");
}

uint64_t progress_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static bool is_over(struct progress *p)
{
	uint64_t until = atomic_load_explicit(&p->until, memory_order_relaxed);

	return until && progress_clock() >= until;
}

bool progress_add(struct progress *p, uint64_t n)
{
	if (!p)
		return true;
	atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed);
	return !progress_cancelled(p);
}

static _Thread_local struct progress *own;

struct progress *progress_own(void)
{
	return own;
}

struct progress *progress_set_own(struct progress *p)
{
	struct progress *before = own;

	own = p;
	return before;
}

int progress_check(struct progress *p, struct err *err)
{
	return progress_cancelled(p) ? err_cancelled(err) : 0;
}

int progress_lock(pthread_mutex_t *lock, struct progress *p, struct err *err)
{
	enum { LOOK_NS = 10000000 };
	int code = 0;

	while (pthread_mutex_trylock(lock) && !(code = progress_check(p, err)))
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
	return code;
}

void progress_hold(struct progress *p, bool held)
{
	atomic_store(&p->held, held);
}

/* Somebody types: a few milliseconds more do not matter to what is held, and it has no waker to wait for. */
static void wait_while_held(struct progress *p)
{
	while (atomic_load(&p->held) && !atomic_load(&p->cancel) && !is_over(p))
		nanosleep(&(struct timespec){ .tv_nsec = HELD_LOOK_NS }, NULL);
}

bool progress_cancelled(struct progress *p)
{
	if (!p)
		return false;
	if (__builtin_expect(atomic_load_explicit(&p->held, memory_order_relaxed), 0))
		wait_while_held(p);
	return atomic_load_explicit(&p->cancel, memory_order_relaxed) || is_over(p);
}

bool progress_late(struct progress *p)
{
	return p && is_over(p) && !atomic_load_explicit(&p->cancel, memory_order_relaxed);
}
