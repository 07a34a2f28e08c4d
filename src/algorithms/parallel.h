/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parallel.h - work on several threads, and one job on a thread of its own.
 */
#ifndef CAIRN_ALGORITHMS_PARALLEL_H
#define CAIRN_ALGORITHMS_PARALLEL_H

#include "base/err.h"
#include "base/progress.h"

#include <stdbool.h>
#include <stddef.h>

/* One piece of work.  Returns 0 or a negative err_code with *err filled. */
typedef int parallel_task(void *context, unsigned task, struct err *err);

/*
 * Run task(context, 0 … n_tasks-1) on at most n_threads threads (0: parallel_threads()), the
 * caller's among them.  Tasks are started in ascending order.  All started tasks are waited for.
 * Returns 0, or the error of the lowest-numbered task that failed; after a failure no further task
 * starts, nor after the job of the calling thread was cancelled (progress_own): ERR_CANCELLED.
 */
MUST_CHECK int parallel_run(unsigned n_threads, unsigned n_tasks, parallel_task *task,
    void *context, struct err *err);

/* The same for a task that cannot fail, on parallel_threads() threads. */
void parallel_each(unsigned n_tasks, parallel_task *task, void *context);

/* The number of threads to use: what was set (--threads), else the processors available. */
unsigned parallel_threads(void);
void parallel_set_threads(unsigned n);

/* A long job: it adds to progress, gives up with ERR_CANCELLED, and fills err when it fails. */
typedef int long_work(void *context, struct progress *progress, struct err *err);

/* A job on a thread of its own: started, watched through its progress, cancelled, waited for. */
struct job {
	struct progress progress;
	struct err err;           /* filled when result < 0 */
	int result;               /* valid once job_finished() */
	struct job_thread *thread;
};

/*
 * Run work on a thread of its own, with the signals blocked that parallel.c blocks for workers.
 * wake_fd (or -1) gets one byte when it ends.  The caller keeps *job until job_wait.  Returns 0 or
 * ERR_NOMEM.
 */
int job_start(struct job *job, int (*work)(void *context, struct job *job), void *context,
    int wake_fd);
bool job_finished(const struct job *job);
void job_cancel(struct job *job);
int job_wait(struct job *job); /* joins; returns result */
int job_stop(struct job *job); /* cancels and joins; the same */

#endif
