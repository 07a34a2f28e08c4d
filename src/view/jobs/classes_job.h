/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classes_job.h - finds exactly what the classes on the screen retain, while nothing else is to be done.
 *
 * A table has a lower bound where objects of a class may free more together than one by one.  This job notes in the
 * retained sizes what they free (retained_note_class), so every table shows it.  It begins once a row on the screen is
 * such a class, and finds up to WHAT_IF_CLASSES from there on in one walk, which stands still while a command works.  A
 * walk that takes too many steps is given up, and no other begins.  Main thread only.
 */
#ifndef CAIRN_VIEW_JOBS_CLASSES_JOB_H
#define CAIRN_VIEW_JOBS_CLASSES_JOB_H

#include "algorithms/parallel.h"
#include "analysis/what_if/what_if.h"
#include "view/table/table.h"

struct classes_job {
	struct job job;
	bool running;
	const struct retained *of;   /* what it looks at */
	uint64_t given_up;           /* serial of the retained sizes for which a walk failed; 0: none */
	struct what_if_class class[WHAT_IF_CLASSES];
	unsigned n;
};

/* The rows of this table are on the screen, as drawn last, and nothing else is to be done.  wake_fd gets a byte when a
 * walk ends. */
void classes_job_want(struct classes_job *f, const struct table *t, int wake_fd);
/* True once, when classes were noted: the screen is to be drawn. */
bool classes_job_poll(struct classes_job *f);
/* Nothing of the retained sizes is looked at any more. */
void classes_job_stop(struct classes_job *f);

#endif
