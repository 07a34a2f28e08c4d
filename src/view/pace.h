/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pace.h - how long a work in several phases still takes.
 *
 * A plan names the phases and about what share of the whole each is; the rate is what was measured
 * since the first one began.  Main thread only.
 */
#ifndef CAIRN_VIEW_PACE_H
#define CAIRN_VIEW_PACE_H

#include "base/progress.h"
#include "base/text.h"

struct pace_phase {
	const char *name; /* as progress_phase has it; NULL ends a plan */
	double weight;
};

struct pace {
	const struct pace_phase *plan; /* that the rest belongs to */
	struct pace_phase alone[2];    /* a plan of one phase */
	uint64_t began;   /* ns */
	double left;      /* seconds as told last; negative: not known */
	uint64_t told;    /* ns, when that was */
};

uint64_t pace_now(void); /* ns */

/* Add ", 5 s left" for the whole plan, or nothing while that is not known.  plans: ended by NULL; the
 * one that has the phase counts. */
void pace_add_left(struct pace *p, const struct pace_phase *const *plans, struct progress *progress,
    uint64_t now, struct text *to);

/* The same of one phase, where no plan tells what else there will be: the clock begins with each. */
void pace_add_phase(struct pace *p, const char *phase, struct progress *progress, uint64_t now,
    struct text *to);

/* How far the phase is, 0 … 1; negative: not known. */
double pace_share(struct progress *progress);

#endif
