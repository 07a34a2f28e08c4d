/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.h - how far a long work is, and whether to stop it.
 *
 * One thread or many add to it (per block, never per object); another thread reads it to draw a
 * line, and may set cancel.  All members are atomic: any thread.
 */
#ifndef CAIRN_BASE_PROGRESS_H
#define CAIRN_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
	_Atomic(const char *) phase;  /* static string: "reading objects"; NULL before the first */
	_Atomic uint64_t done, total; /* of this phase, in bytes or items; total 0: unknown */
	_Atomic uint64_t objects;     /* objects seen so far, over all phases */
	atomic_bool cancel;
};

#define PROGRESS_INIT { .phase = NULL }

/* Begin a phase.  p may be NULL in all three: nobody watches. */
void progress_phase(struct progress *p, const char *phase, uint64_t total);

/* n more done.  False: the user asked to stop; give up with ERR_CANCELLED. */
bool progress_add(struct progress *p, uint64_t n);

bool progress_cancelled(struct progress *p);

#endif
