/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locks.h - monitors, locks and whatever else threads wait for: owners, waiting threads, deadlocks.
 *
 * java.util.concurrent keeps its owners and queues in objects, so those are exact (locks_java.c,
 * locks_readers.c).  HPROF does not record the owner of a monitor: a blocked thread's innermost frame has the monitor
 * that it wants among its locals, and so has some frame of the owner; what follows from that is inferred
 * (locks_monitors.c).  A javacore and a system dump of OpenJ9 have both (locks_told.c), Go what
 * goroutines wait for (locks_go.c, locks_sync.c).
 *
 * Found for one question, then immutable; any thread.
 */
#ifndef CAIRN_ANALYSIS_LOCKS_LOCKS_H
#define CAIRN_ANALYSIS_LOCKS_LOCKS_H

#include "base/amount.h"
#include "base/err.h"
#include "base/text.h"

struct err;
struct heap;
struct progress;

enum lock_kind {
	LOCK_MONITOR,
	LOCK_EXCLUSIVE,    /* ReentrantLock */
	LOCK_READ,         /* ReentrantReadWriteLock with readers in it */
	LOCK_WRITE,        /* with a writer, or nobody */
	LOCK_STAMPED,
	LOCK_SEMAPHORE,
	LOCK_LATCH,
	LOCK_CONDITION,
	LOCK_SYNCHRONIZER, /* another AbstractQueuedSynchronizer */
	LOCK_FUTURE,       /* FutureTask: its owner is the thread that runs it */
	LOCK_PARKED,       /* what parked threads name as their blocker, of whatever class */
	LOCK_MUTEX,        /* Go; its RWMutex is LOCK_READ or LOCK_WRITE, its Cond a condition */
	LOCK_GROUP,        /* its WaitGroup */
	LOCK_CHANNEL,
	LOCK_KINDS
};
const char *lock_kind_name(enum lock_kind kind);

struct lock {
	uint64_t address;
	uint32_t object;       /* the object that the program uses as the lock; HEAP_NONE: the dump does not have it */
	uint32_t synchronizer; /* the object with the queue of threads: the same, or one that it holds */
	enum lock_kind kind;
	uint32_t owner;        /* index in h->threads; HEAP_NONE: none, or none that is known */
	uint32_t owner_object; /* a thread's object that is not a thread of the dump, where the lock names one */
	enum certainty owner_is; /* EXACT with an owner of HEAP_NONE: it is known that there is none */
	uint32_t owner_frame;  /* the owner's frame that holds it, or HEAP_NONE */
	struct amount holds;   /* entries of the owner, readers, permits, or the count that is left */
	uint32_t first_reader, n_readers; /* in readers: all of a read lock, where that is known and owner names none */
	uint32_t first_wait, n_waits; /* in waits, in the order of the queue */
	uint32_t cycle;        /* number from 1 on of the deadlock it is in; 0: none */
};

enum wait_for {
	WAIT_TO_ENTER, WAIT_TO_BE_NOTIFIED, WAIT_TO_READ, WAIT_TO_WRITE, WAIT_TO_SEND, WAIT_TO_RECEIVE, WAIT_FOR_EITHER
};
struct lock_wait {
	uint32_t lock;
	uint32_t thread; /* index in h->threads; HEAP_NONE: the dump has no record of it */
	uint32_t object; /* its object, or HEAP_NONE */
	enum wait_for how;
	bool timed;      /* it goes on by itself */
	enum certainty certainty;
};

/* Threads each of which waits for what the next one owns, and the last for what the first one does. */
struct lock_cycle {
	uint32_t first, n; /* in cycle_wait: indices of waits */
	enum certainty certainty;
};

struct locks {
	struct lock *lock; /* in deadlocks, then those that threads wait for to enter; big memory as all here */
	size_t n, cap;
	struct lock_wait *wait; /* by lock */
	size_t n_waits, cap_waits;
	uint32_t *reader;  /* objects of threads */
	size_t n_readers, cap_readers;
	struct lock_cycle *cycle;
	size_t n_cycles, cap_cycles;
	uint32_t *cycle_wait;
	size_t n_cycle_waits, cap_cycle_waits;
	uint64_t broken;       /* queues that are circles or lead to something that is not a node: read up to there */
	uint32_t n_unplaced;   /* threads that are blocked on an unknown monitor */
};

/* Does this dump have anything about locks?  Otherwise ERR_UNSUPPORTED and a sentence. */
MUST_CHECK int locks_told(const struct heap *h, struct err *err);
/* 0: *out is the caller's (locks_release); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int locks_find(struct locks *out, const struct heap *h, struct progress *progress, struct err *err);
void locks_release(struct locks *l);

/* "com.acme.Shop.stock": a static field that holds a lock, or else a field that does, and its class, appended; false:
 * none is known.  Of JDK classes no field is named. */
bool lock_field(const struct heap *h, const struct lock *lock, struct text *to);
/* Append the name of a thread that waits, or owns. */
void lock_thread_name(const struct heap *h, uint32_t thread, uint32_t object, struct text *to);
/* Append the sentence of a deadlock, without a full stop. */
void lock_sentence(const struct heap *h, const struct locks *l, const struct lock_cycle *cycle, struct text *to);

#endif
