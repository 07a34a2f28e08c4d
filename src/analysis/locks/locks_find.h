/* SPDX-License-Identifier: GPL-3.0-or-later */
/* locks_find.h - what the files that find locks share; private to src/analysis/locks. */
#ifndef CAIRN_ANALYSIS_LOCKS_LOCKS_FIND_H
#define CAIRN_ANALYSIS_LOCKS_LOCKS_FIND_H

#include "algorithms/bits.h"
#include "analysis/locks/locks.h"

struct values;

struct finding {
	const struct heap *heap;
	struct locks *locks;
	struct progress *progress;
	struct bits waits;  /* by object: a thread whose lock is known; empty if there is none */
	struct err *err;    /* of the first refusal of memory */
	bool lost;          /* there was one */
};

/* A lock without owner and waiters; HEAP_NONE: no memory. */
uint32_t lock_add(struct finding *f, uint32_t object, uint32_t synchronizer, enum lock_kind kind);
void lock_add_wait(struct finding *f, const struct lock_wait *wait);
/* The index of the lock with this synchronizer among those found so far, which must not have changed since
 * lock_order; HEAP_NONE. */
struct lock_order {
	uint32_t *lock;
	size_t n;
};
MUST_CHECK int lock_order_make(struct lock_order *o, struct finding *f);
uint32_t lock_order_find(const struct lock_order *o, const struct locks *l, uint32_t synchronizer);
void lock_order_release(struct lock_order *o);

/* The thread object's index in h->threads is looked up; the object may be anything. */
struct lock_wait lock_wait_of(const struct finding *f, uint32_t lock, uint32_t thread_object);
/* Does it end by itself? */
bool lock_thread_timed(const struct heap *h, uint32_t thread);

/* The object that a field leads to, or HEAP_NONE; the number in a field, or 0. */
uint32_t lock_object_in(const struct values *v, const char *field);
int64_t lock_number_in(const struct values *v, const char *field);

/* Of Go: what has the lock at an address as a part, "main.Server.mu", appended; false: unknown. */
bool lock_part(const struct heap *h, uint64_t address, struct text *to);

MUST_CHECK int locks_find_java(struct finding *f);
MUST_CHECK int locks_find_readers(struct finding *f);
MUST_CHECK int locks_find_monitors(struct finding *f);
/* parked: what parked threads wait for, too. */
MUST_CHECK int locks_find_told(struct finding *f, bool parked);
MUST_CHECK int locks_find_go(struct finding *f);
MUST_CHECK int locks_find_sync(struct finding *f);
MUST_CHECK int locks_find_cycles(struct finding *f);

#endif
