/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waits.h - what a goroutine waits for, and what it sends, from the runtime's own structs.
 *
 * A goroutine's g.waiting leads to a list of sudogs, one for each channel of its select, or one alone
 * (runtime/runtime2.go).  sudog.c is the channel; sudog.elem is where the value to be sent lies, mostly on
 * the stack, or where the one that is received shall go.  That needs the program's types: without them no
 * goroutine waits.  Any thread.
 */
#ifndef CAIRN_HEAP_WAITS_H
#define CAIRN_HEAP_WAITS_H

#include "heap/typed/typed.h"

struct wait {
	uint64_t channel;   /* address of the channel */
	enum { WAIT_EITHER, WAIT_SENDS, WAIT_RECEIVES } how; /* EITHER: unknown which */
	struct typed sent;  /* what is sent, with its type; bytes NULL: nothing is, or it is unknown */
};

/* Go on to the next channel that a thread (index in h->threads) waits for; false: there are no more.  A walk
 * begins zeroed; a list that runs in a circle ends. */
struct waits_walk {
	uint64_t next; /* address of a sudog */
	uint64_t mark; /* one met before, moved on ever more seldom: where it is met again is a circle */
	uint32_t n;    /* met so far */
};
bool waits_next(const struct heap *h, uint32_t thread, struct waits_walk *walk, struct wait *out);

/* What the runtime queues a goroutine by: for a channel, a semaphore or a sync.Cond. */
struct sudog {
	uint64_t address;
	uint64_t goroutine; /* address of its g */
	uint64_t elem;      /* of a semaphore its address */
	uint64_t channel;   /* 0: it waits for none */
	uint64_t next;      /* behind it at a sync.Cond */
};
/* Are the program's types known, which say what goroutines wait for? */
bool waits_told(const struct heap *h);
/* False: there is no sudog at the address, or its type is unknown. */
bool sudog_at(const struct heap *h, uint64_t address, struct sudog *out);

#endif
