/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * eta.h - estimates how long a job of several phases still takes.
 *
 * The table of phases (base/progress.h) says which phases a job has and about what share of the
 * time each takes; the rate is measured from the beginning of the first phase.  Main thread only.
 */
#ifndef CAIRN_VIEW_ETA_H
#define CAIRN_VIEW_ETA_H

#include "base/progress.h"
#include "base/text.h"

struct eta {
	enum work work;   /* that the rest belongs to; WORK_ALONE: of one phase */
	enum phase phase; /* the last one looked at */
	uint64_t began;   /* ns */
	double left;      /* seconds as shown last; negative: not known */
	uint64_t told;    /* ns, when that was */
};

uint64_t eta_now(void); /* ns */

/* Add " 41%, 5 s left" to the words for what a job is at, and nothing where that is not known. */
void eta_add_state(struct eta *p, struct progress *progress, struct text *to);
/* The same without the time. */
void eta_add_share(struct progress *progress, struct text *to);
/* Add ", 5 s left" until the job that the phase belongs to is done; nothing while that is not known. */
void eta_add_left(struct eta *p, struct progress *progress, uint64_t now, struct text *to);

/* How far the phase is, 0 … 1; negative: not known. */
double eta_share(struct progress *progress);

#endif
