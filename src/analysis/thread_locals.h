/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thread_locals.h - ThreadLocal values by thread of a Java heap, and the class loaders that they hold.
 *
 * A thread, virtual and carrier ones too, has its values in maps (ThreadLocal$ThreadLocalMap) that fields of
 * java.lang.Thread hold: threadLocals, inheritableThreadLocals, and whatever a release adds.  The entries of a map
 * refer to their ThreadLocal weakly and to the value strongly.  Once the ThreadLocal was collected the entry is
 * stale: its value stays until the thread ends, or until the map removes it.  Android had ThreadLocal$Values
 * before, with keys and values side by side.
 */
#ifndef CAIRN_ANALYSIS_THREAD_LOCALS_H
#define CAIRN_ANALYSIS_THREAD_LOCALS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct heap;
struct progress;

struct thread_local_value {
	uint32_t thread; /* the thread's object */
	const char *field; /* of Thread, that holds the map */
	uint32_t entry;  /* or the map's table where it has no entries */
	uint32_t key;    /* the ThreadLocal, HEAP_NONE: it was collected */
	uint32_t value;  /* HEAP_NONE: null */
	uint32_t loader; /* of the value's class, or one that the value holds: see thread_locals_loader; HEAP_NONE: none */
	bool own_loader; /* and that is not one of the VM's own */
};

struct thread_locals {
	struct thread_local_value *at; /* by thread */
	uint64_t n;
	uint64_t n_shared;  /* tables that a thread or field has after another one: each is read once */
	uint64_t n_broken;  /* maps and entries that are not laid out so, which are left out */
};

/* 0: *out is the caller's (thread_locals_release); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int thread_locals_find(struct thread_locals *out, const struct heap *h, struct progress *progress,
    struct err *err);
void thread_locals_release(struct thread_locals *t);

/* The loader that an object keeps: itself, that of its class, or one that an object which it refers to is, or whose
 * class that one loaded; first those that are not the VM's own (*own).  HEAP_NONE: none. */
uint32_t thread_locals_loader(const struct heap *h, uint32_t id, bool *own);

#endif
