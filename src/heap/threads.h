/* SPDX-License-Identifier: GPL-3.0-or-later */
/* threads.h - the threads of a heap (heap->threads) and their frames. */
#ifndef CAIRN_HEAP_THREADS_H
#define CAIRN_HEAP_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct heap;

#define THREAD_UNNAMED "<unnamed>" /* its name, once the heap is built, where the dump tells none */
/* How the frames of a thread are known: the dump records them; not at all, though it may have some; by the order of
 * threads and stacks. */
enum stack_known { STACK_RECORDED, STACK_UNKNOWN, STACK_BY_ORDER };
struct heap_thread {
	const char *name;     /* escaped; NULL: the dump does not tell */
	const char *state;    /* or NULL */
	const char *waits_for; /* "chan receive", or NULL */
	const char *creator;  /* escaped; what started it, or NULL */
	uint64_t waits_since; /* nanoseconds of the machine's own clock, 0 unknown */
	bool system;          /* the runtime's own */
	uint32_t object;      /* id of the thread object, or HEAP_NONE */
	uint64_t address;     /* of that object as the companion says; 0 unknown */
	uint64_t native_id;   /* 0 unknown */
	int priority;         /* -1 unknown */
	bool daemon;
	bool ran_out;         /* for its OutOfMemoryError the VM wrote the dump, as the companion says */
	uint64_t own_id;      /* Thread.getId(), a goroutine's number; 0 unknown */
	const char **frames;  /* escaped, innermost first; threads of one trace share them */
	uint32_t n_frames;
	enum stack_known stack;
	uint32_t n_roots;     /* roots it holds */
};

/* The thread that this object stands for; HEAP_NONE: it is not a thread object. */
uint32_t heap_thread_of(const struct heap *h, uint32_t id);

#endif
