/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * retained_job.h - computes retained sizes as a job while the screen draws.
 *
 * Begins when the dump is read; only what needs the dominator tree waits for it.  Main
 * thread only.
 */
#ifndef CAIRN_VIEW_JOBS_RETAINED_JOB_H
#define CAIRN_VIEW_JOBS_RETAINED_JOB_H

#include "algorithms/parallel.h"
#include "analysis/dominators/dominators.h"
#include "base/text.h"
#include "view/eta.h"

struct retained_job {
	struct model model;
	struct retained found;
	struct job job;
	bool running;
	struct eta pace;
};

/* wake_fd gets a byte when it ends.  0 or ERR_NOMEM. */
int retained_job_start(struct retained_job *f, const struct model *m, int wake_fd);

/* True once, when it has ended: *result is 0 (f->found is the caller's) or the error of f->job.err. */
bool retained_job_poll(struct retained_job *f, int *result);

/* Cancel, wait, and throw away. */
void retained_job_stop(struct retained_job *f);

/* "retained: dominators 41%, 5 s left" */
void retained_job_word(struct retained_job *f, struct text *to);

#endif
