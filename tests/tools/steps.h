/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps.h - work counted instead of timed.
 *
 * The counted library (libcounted.a) is all of src/ compiled with -fsanitize-coverage=trace-pc: every
 * basic block calls into steps.c before it runs, and that is a step.  So no loop of ours can hide.
 * What libraries do for us is wrapped at link (counted_ldflags in Makefile.am) and counts a step for
 * 16 bytes.  A look at the cancel flag (progress_add, _cancelled, _check) ends a stretch of steps; a
 * look at no progress at all (NULL) does not, because nobody can cancel that.
 *
 * Counters belong to the thread that reads them: count with parallel_set_threads(1).
 *
 * With CAIRN_SLOW=PHASE:NANOSECONDS in the environment every step waits so long while the phase that
 * the screen calls PHASE is at work ("reading objects:1000"; ":1000" for works before their first
 * phase).  The main thread waits only in phases that it began itself, so that a screen stays quick.
 */
#ifndef CAIRN_TESTS_STEPS_H
#define CAIRN_TESTS_STEPS_H

#include "base/progress.h"

#include <stdbool.h>
#include <stdint.h>

/* Steps between two looks at the cancel flag, and where they were: offsets in the program's file, as
 * addr2line takes them. */
struct stretch {
	uint64_t steps;
	uint64_t from, within, to; /* one look, a place in the second half of the stretch, the next look */
};

struct counted {
	uint64_t steps;
	struct stretch longest;
};

#define OUTSIDE_WORKS PHASES /* instead of a phase: what nobody could cancel anyway */

/* Begin to count anew, outside of works. */
void steps_reset(void);
/* A long job begins or ends on this thread.  Either ends a stretch. */
void steps_work(bool begins);
/* What this thread has done in a phase since steps_reset, or OUTSIDE_WORKS. */
struct counted steps_in(unsigned phase);

#endif
