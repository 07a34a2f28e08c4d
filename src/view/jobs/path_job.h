/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_job.h - the path of one object in one line, found by a job while the screen draws.
 *
 * A request for another object cancels the current one, so that a cursor can run through a list.
 * Main thread only.
 */
#ifndef CAIRN_VIEW_JOBS_PATH_JOB_H
#define CAIRN_VIEW_JOBS_PATH_JOB_H

#include "algorithms/parallel.h"
#include "analysis/paths/paths.h"
#include "analysis/what_if/what_if.h"

struct path_job {
	const struct heap *heap;
	const struct retained *retained; /* NULL: not known, so there is no word about cuts */
	uint32_t wanted;       /* id; HEAP_NONE: none */
	uint32_t at, known;    /* what the job is at, and what line belongs to; HEAP_NONE: nothing */
	struct job job;
	bool running;
	struct text line, cut; /* "… > table > [17] > this", "cut frees 8.1K" or nothing */
	/* the job's own */
	struct path_plumbing plumbing; /* with rules */
	struct path_rules rules;
	struct what_if cutter;
	bool ready, cuts;      /* these were made */
	struct text found, found_cut;
};

/* The object whose path is wanted from now on; wake_fd gets a byte when it is there. */
void path_job_want(struct path_job *f, const struct heap *h, const struct retained *retained, uint32_t id,
    int wake_fd);
/* True once, when a line has come (or the next search begun): the screen is to be drawn. */
bool path_job_poll(struct path_job *f, int wake_fd);
/* The line and what a cut frees are those of the object that is wanted. */
bool path_job_known(const struct path_job *f);
/* Nothing of the heap is looked at any more; it can be asked again. */
void path_job_stop(struct path_job *f);

#endif
