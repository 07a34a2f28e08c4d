/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.h - how far a long job is, and whether to stop it.
 *
 * One thread or many add to it (per block, never per object); another thread reads it to draw a
 * line, and may set cancel.  A job may have a time at which it is stopped as if that was set.  All
 * members are atomic: any thread.
 */
#ifndef CAIRN_BASE_PROGRESS_H
#define CAIRN_BASE_PROGRESS_H

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The phases of long jobs.  progress.c has a line about each; a test wants it complete. */
enum phase {
	PHASE_NONE, /* before the first */
	/* a dump that a process makes */
	PHASE_ATTACH, PHASE_TAKE_DUMP,
	/* opening a dump, in this order */
	PHASE_AWAIT_PIPE, PHASE_READ_PIPE,
	PHASE_INFLATE, PHASE_READ_OBJECTS, PHASE_ORDER_OBJECTS, PHASE_READ_REFERENCES, PHASE_FIND_TYPES,
	PHASE_TURN_REFERENCES, PHASE_FIND_ROOTS,
	/* retained sizes, in this order */
	PHASE_WALK_HEAP, PHASE_FIND_DOMINATORS, PHASE_SUM_RETAINED, PHASE_SUM_CLASSES,
	/* questions */
	PHASE_SUM_PACKAGES, PHASE_FIND_WEAK, PHASE_FOLLOW_REFERENCES, PHASE_FIND_UNRECORDED, PHASE_FIND_SUSPECTS,
	PHASE_FIND_PATH,
	PHASE_WRITE_INDEX, PHASE_WRITE_COPY, PHASE_WRITE_HPROF,
	PHASE_LOOK_AT_FILES, PHASE_READ_PROFILES, PHASE_FIND_HASHES, PHASE_FIND_NUMBERS, PHASE_READ_TEXTS,
	PHASE_READ_VALUES, PHASE_COMPARE_TEXTS, PHASE_READ_COLLECTIONS,
	PHASE_LOOK_AT_OBJECTS, PHASE_COMPARE_OBJECTS,
	PHASE_LOOK_AT_ROWS, PHASE_SORT_ROWS, PHASE_FILTER_ROWS, PHASE_SEARCH_ROWS,
	PHASE_CUT_REFERENCES, PHASE_WEIGH_REFERENCES, PHASE_NUMBER_TREE,
	PHASE_ADD_UP_FIELDS, PHASE_WALK_WHAT_IS_LEFT, PHASE_CHECK_GRAPH, PHASE_CHECK_PATHS,
	PHASE_CHECK_PARENTS, PHASE_CHECK_RETAINED, PHASE_CHECK_SIBLINGS,
	PHASES
};

/* Works of several phases, each with a table or a mark on the screen at its end. */
enum work {
	WORK_ALONE,    /* of no such job: the next phases are unknown */
	WORK_PIPE,     /* until all of a pipe is read; its length is unknown */
	WORK_INFLATE,  /* until a compressed dump can be read */
	WORK_TABLE,    /* until the first table */
	WORK_REST,     /* until all of the dump is there */
	WORK_RETAINED, /* until retained sizes are known */
};

struct phase_info {
	const char *words; /* "reading references" */
	const char *word;  /* where room is short: "references"; never NULL */
	enum work work;
	unsigned share;    /* part of its job's time in an ordinary heap, in proportion to the
	                      shares of the other phases; 0: it belongs to no job */
	bool bytes;        /* done and total are bytes of the dump, else things of whatever kind */
	bool announced;    /* takes time in some dumps only: it counts after progress_expect */
};
extern const struct phase_info phase_info[PHASES];

struct progress {
	_Atomic(enum phase) phase;
	_Atomic uint64_t done, total; /* of this phase, in bytes or things; total 0: unknown */
	_Atomic uint64_t began;       /* this phase, by progress_clock */
	_Atomic uint64_t objects;     /* objects seen so far, over all phases */
	_Atomic uint64_t expected;    /* a bit for each phase that progress_expect named */
	_Atomic uint64_t begun;       /* a bit for each phase that began */
	atomic_bool again;            /* this phase is one of several of its kind, so its share says nothing of them all */
	_Atomic uint64_t until;       /* by progress_clock; 0: for as long as it takes */
	atomic_bool cancel;
	atomic_bool held;             /* by progress_hold */
};

#define PROGRESS_INIT { .phase = PHASE_NONE }

/* Begin anew, before any other thread knows of p. */
void progress_reset(struct progress *p);

/* Begin a phase.  p may be NULL in all of these: progress is not reported. */
void progress_phase(struct progress *p, enum phase phase, uint64_t total);

/* " 1.2G, 85M/s" of a phase that counts bytes and does not know how many will come: how many did, and how fast.
 * Nothing of another. */
struct text;
void progress_add_came(struct progress *p, struct text *to);

/* The true number of objects: of those counted while reading, some may have come twice, or without a record. */
void progress_objects(struct progress *p, uint64_t n);

/* An announced phase will come, and take time. */
void progress_expect(struct progress *p, enum phase phase);
bool progress_expected(struct progress *p, enum phase phase);

/* n more done.  False: the user asked to stop; give up with ERR_CANCELLED. */
bool progress_add(struct progress *p, uint64_t n);

/* Did the user ask to stop, or is the time over? */
bool progress_cancelled(struct progress *p);
/* Is it only that the time is over? */
bool progress_late(struct progress *p);
/* Another job goes first: until `held` is false again, a thread that checks for cancel waits there, unless it is
 * cancelled.  So a thread must not check while it has a lock that the other job may want. */
void progress_hold(struct progress *p, bool held);
/* Nanoseconds since some time before the program began. */
uint64_t progress_clock(void);
/* The same as a result: ERR_CANCELLED if so, else 0. */
MUST_CHECK int progress_check(struct progress *p, struct err *err);

/* Take a lock that another long job may have.  ERR_CANCELLED: it is not taken. */
MUST_CHECK int progress_lock(pthread_mutex_t *lock, struct progress *p, struct err *err);

/* The progress of the calling thread's job, for loops that do not get it as an argument; NULL: none.  The code
 * that begins a job on a thread sets it (and restores it afterwards), and parallel_run gives it to its
 * threads. */
struct progress *progress_own(void);
struct progress *progress_set_own(struct progress *p);

/* The same for loops whose rounds are tiny: look in one round of so many.  round counts them, a larger one
 * as several.  True: give up with ERR_CANCELLED. */
#define PROGRESS_ROUNDS 16384
static inline bool progress_stops(struct progress *p, uint64_t round)
{
	return __builtin_expect(round % PROGRESS_ROUNDS == 0, 0) && progress_cancelled(p);
}

/* The same before n rounds, of which this one is the first. */
static inline bool progress_stops_in(struct progress *p, uint64_t round, uint64_t n)
{
	return __builtin_expect(-round % PROGRESS_ROUNDS < n, 0) && progress_cancelled(p);
}

/* The same for the job that the calling thread is at.  A command may just leave its loop: when it is done,
 * run_call throws away what was cancelled. */
static inline bool progress_own_stops(uint64_t round)
{
	return __builtin_expect(round % PROGRESS_ROUNDS == 0, 0) && progress_cancelled(progress_own());
}

#endif
