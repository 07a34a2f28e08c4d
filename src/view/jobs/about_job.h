/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * about_job.h - what a page or a pane says of an object, a class or a row (the command about), found by a job while the
 * screen draws.
 *
 * First what is quick, then the rest.  A request for another thing cancels the current one.  Main thread only.
 */
#ifndef CAIRN_VIEW_JOBS_ABOUT_JOB_H
#define CAIRN_VIEW_JOBS_ABOUT_JOB_H

#include "algorithms/bits.h"
#include "algorithms/parallel.h"
#include "command/commands.h"
#include "result/result.h"

/* What is asked about: two are the same if all of it is. */
struct about_subject {
	enum target_kind kind; /* an object, a thread, the instances of a class, or a group: the row has members of its own;
	                          TARGET_NONE: nothing */
	uint32_t id;
	const struct result *result; /* of a group */
	uint64_t looks;              /* a hash of its cells, likewise */
};
struct about_wish {
	const struct opened *opened; /* NULL: nothing is wanted */
	uint64_t serial;             /* of the retained sizes; 0: not known */
	struct about_subject of;
	bool quick;                  /* that is enough for now */
};

struct about_job {
	struct about_wish at; /* what the job is at, or was last */
	struct job job;
	bool running, failed; /* nothing can be found of `at` */
	struct about *about;  /* of at.opened and at.serial; NULL: none */
	char *title;          /* of at; NULL: none */
	struct bits members;  /* of at, if it is a group; word NULL: none */
	struct result *found;
};

bool about_same(const struct about_subject *a, const struct about_subject *b);
/* This is wanted from now on.  True: the caller begins it. */
bool about_job_wants(struct about_job *f, const struct about_wish *wish);
/* title and members are of wish->of; takes them over.  NULL: as before, when it was last about the same.  wake_fd gets
 * a byte when the answer is there. */
void about_job_begin(struct about_job *f, const struct about_wish *wish, char *title, struct bits *members,
    int wake_fd);
/* True once, when the job has ended: f->failed, or *found answers f->at, the caller's; NULL: it was cancelled. */
bool about_job_poll(struct about_job *f, struct result **found);
/* Nothing of the dump is looked at any more. */
void about_job_stop(struct about_job *f);

#endif
