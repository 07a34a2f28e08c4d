/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * finding.h - computes retained sizes as a job while the screen draws.
 *
 * Begins when the dump is read; only what needs the dominator tree waits for it.  Main
 * thread only.
 */
#ifndef CAIRN_VIEW_FINDING_H
#define CAIRN_VIEW_FINDING_H

#include "algorithms/parallel.h"
#include "analysis/dominators/dominators.h"
#include "base/text.h"
#include "view/pace.h"

struct finding {
	struct model model;
	struct retained found;
	struct job job;
	bool running;
	struct pace pace;
};

/* wake_fd gets a byte when it ends.  0 or ERR_NOMEM. */
int finding_start(struct finding *f, const struct model *m, int wake_fd);

/* True once, when it has ended: *result is 0 (f->found is the caller's) or the error of f->job.err. */
bool finding_poll(struct finding *f, int *result);

/* Cancel, wait, and throw away. */
void finding_stop(struct finding *f);

/* "retained: dominators 41%, 5 s left" */
void finding_word(struct finding *f, struct text *to);

#endif
