/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * about_job.h - what the page of an object or of a class says of it besides its rows (the command about), found by a
 * job while the screen draws.
 *
 * First what is quick, then the rest.  A request for another thing cancels the current one.  Main thread only.
 */
#ifndef CAIRN_VIEW_ABOUT_JOB_H
#define CAIRN_VIEW_ABOUT_JOB_H

#include "algorithms/parallel.h"
#include "command/commands.h"

/* What is asked about; the same if all of it is. */
struct about_wish {
	const struct opened *opened; /* NULL: nothing is */
	uint32_t id;                 /* an object; HEAP_NONE: the instances of the class */
	uint32_t class;
	uint64_t serial;             /* of the retained sizes; 0: not known */
	bool quick;                  /* that is enough for now */
};

struct about_job {
	struct about_wish at; /* what the job is at, or was last */
	struct job job;
	bool running, failed; /* nothing can be found of `at` */
	struct about *about;  /* of at.opened and at.serial; NULL: none */
	struct result *found;
};

/* This is wanted from now on, unless wish->opened is NULL; wake_fd gets a byte when it is there. */
void about_job_want(struct about_job *f, const struct about_wish *wish, int wake_fd);
/* The answer, once, and what it answers: the caller's.  NULL: there is none yet. */
struct result *about_job_poll(struct about_job *f, struct about_wish *of);
/* Nothing of the dump is looked at any more. */
void about_job_stop(struct about_job *f);

#endif
