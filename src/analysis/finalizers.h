/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * finalizers.h - the objects of a Java heap whose finalize() was not called yet, and the threads that call it.
 *
 * Each such object is the referent of a Finalizer.  The static list Finalizer.unfinalized has all of them, linked by
 * Finalizer.next, which hides the field of that name in Reference.  Those whose referent is garbage wait in
 * Finalizer.queue, linked by Reference.next, the last one to itself; through JDK 8 before that in the static list
 * Reference.pending.  Later that list is the VM's own and not in dumps.  Android's FinalizerReference has lists of its
 * own: all by `next` from `head`, the queue by Reference.queueNext, the pending ones by Reference.pendingNext.
 */
#ifndef CAIRN_ANALYSIS_FINALIZERS_H
#define CAIRN_ANALYSIS_FINALIZERS_H

#include "analysis/dominators/dominators.h"

/* running: a thread calls finalize() of it. */
enum finalizer_state {
	FINALIZER_RUNNING, FINALIZER_QUEUED, FINALIZER_PENDING, FINALIZER_REGISTERED,
	FINALIZER_STATES
};
const char *finalizer_state_name(enum finalizer_state state);

struct finalizer {
	enum finalizer_state state;
	uint32_t class;  /* of the object; HEAP_NONE: it is gone, and `object` is the finalizer itself */
	uint32_t object;
};

/* Objects of one state and class. */
struct finalizers_row {
	enum finalizer_state state;
	uint32_t class;
	uint64_t first, end; /* of finalizers.at */
};

/* A thread that calls finalize(). */
struct finalizing {
	uint32_t thread;    /* index */
	uint32_t object;    /* whose finalize() that is; HEAP_NONE: unknown */
	uint32_t below;     /* frames of finalize() and what it called: 0 to before this one */
};

struct finalizers {
	struct finalizer *at; /* by state, class and object; each object once in a row */
	uint64_t n_at;
	struct finalizers_row *row;
	uint32_t n;
	struct finalizing *thread;
	uint32_t n_threads;
	uint32_t idle;        /* index of a thread that waits for something to finalize; HEAP_NONE: none is seen */
	uint64_t in_queue;    /* found in the queue */
	uint64_t stated;      /* what the queue says of its length; only if it does */
	bool states_length;
	bool broken;          /* a list is a circle or leads to something that is not a finalizer: the rest is missing */
	bool switched_off;    /* an option of the VM says not to finalize (JDK 18 and later) */
	uint64_t linked;      /* finalizers that a list of the VM links: pending, or found by a collection that goes on */
};

/* The class that has the lists, "java.lang.ref.Finalizer" or Android's; HEAP_NONE: none. */
uint32_t finalizers_class(const struct heap *h);

/* 0: *out is the caller's (finalizers_release); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int finalizers_find(struct finalizers *out, const struct heap *h, struct progress *progress,
    struct err *err);
void finalizers_release(struct finalizers *f);

#endif
