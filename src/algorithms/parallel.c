/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parallel.c - threads: many for one job, or one beside the screen.
 *
 * Workers block every signal but those that a fault of their own raises.  A SIGBUS from a mapped
 * file that shrank must reach its handler; if it were blocked, it would kill the process.
 */
#include "algorithms/parallel.h"

#include "base/assert.h"
#include "base/mem.h"
#include "memory/big.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_THREADS 256

static _Atomic unsigned chosen_threads;

unsigned parallel_threads(void)
{
	unsigned n = atomic_load(&chosen_threads);

	if (n)
		return n;
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0) {
		n = (unsigned)CPU_COUNT(&set);
	} else {
		long online = sysconf(_SC_NPROCESSORS_ONLN);
		n = online > 0 ? (unsigned)online : 1;
	}
	if (!n)
		return 1;
	return n > MOST_THREADS ? MOST_THREADS : n;
}

void parallel_set_threads(unsigned n)
{
	atomic_store(&chosen_threads, n > MOST_THREADS ? MOST_THREADS : n);
}

/* Start a thread that no signal from outside interrupts. */
static int start_thread(pthread_t *thread, void *(*body)(void *), void *context)
{
	sigset_t quiet, before;

	sigfillset(&quiet);
	sigdelset(&quiet, SIGBUS);
	sigdelset(&quiet, SIGSEGV);
	sigdelset(&quiet, SIGFPE);
	sigdelset(&quiet, SIGILL);
	pthread_sigmask(SIG_SETMASK, &quiet, &before);
	int failed = pthread_create(thread, NULL, body, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

/* --- many threads, one job -------------------------------------------------------------------- */

struct crew {
	parallel_task *task;
	void *context;
	unsigned n_tasks;
	struct progress *work; /* that the tasks belong to; it is looked at between them */
	_Atomic unsigned next;
	atomic_bool stop;

	pthread_mutex_t lock; /* of the three below */
	unsigned failed_task;
	int result;
	struct err err;
};

static int run_task(struct crew *crew, unsigned task, struct err *err)
{
	if (progress_cancelled(crew->work))
		return err_cancelled(err);
	return crew->task(crew->context, task, err);
}

static void *crew_body(void *context)
{
	struct crew *crew = context;

	while (!atomic_load_explicit(&crew->stop, memory_order_relaxed)) {
		unsigned task = atomic_fetch_add(&crew->next, 1);
		if (task >= crew->n_tasks)
			break;
		struct err err = ERR_INIT;
		int result = run_task(crew, task, &err);
		if (result >= 0)
			continue;
		atomic_store(&crew->stop, true);
		pthread_mutex_lock(&crew->lock);
		if (!crew->result || task < crew->failed_task) {
			crew->failed_task = task;
			crew->result = result;
			crew->err = err;
		}
		pthread_mutex_unlock(&crew->lock);
	}
	return NULL;
}

static void *hired_body(void *context)
{
	struct crew *crew = context;

	progress_set_own(crew->work);
	return crew_body(crew);
}

int parallel_run(unsigned n_threads, unsigned n_tasks, parallel_task *task, void *context,
    struct err *err)
{
	struct crew crew = {
		.task = task,
		.context = context,
		.n_tasks = n_tasks,
		.work = progress_own(),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	pthread_t thread[MOST_THREADS];
	unsigned started = 0;

	if (!n_threads)
		n_threads = parallel_threads();
	if (n_threads > n_tasks)
		n_threads = n_tasks;
	if (n_threads > MOST_THREADS)
		n_threads = MOST_THREADS;
	/* the caller is one of them; fewer threads than wished do the same work */
	while (started + 1 < n_threads && start_thread(&thread[started], hired_body, &crew) == 0)
		started++;
	crew_body(&crew);
	for (unsigned i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	pthread_mutex_destroy(&crew.lock);
	if (crew.result < 0 && err)
		*err = crew.err;
	return crew.result;
}

void parallel_each(unsigned n_tasks, parallel_task *task, void *context)
{
	/* nobody would tell that some were left out */
	struct progress *work = progress_set_own(NULL);
	int result = parallel_run(0, n_tasks, task, context, NULL);

	progress_set_own(work);
	cairn_assert(result == 0);
	(void)result;
}

/* --- one job beside the main thread ----------------------------------------------------------- */

struct job_thread {
	pthread_t id;
	int (*work)(void *context, struct job *job);
	void *context;
	struct job *job;
	int wake_fd;
	atomic_bool finished;
};

static void *job_body(void *context)
{
	struct job_thread *t = context;
	int wake_fd = t->wake_fd;

	progress_set_own(&t->job->progress);
	t->job->result = t->work(t->context, t->job);
	atomic_store(&t->finished, true);
	if (wake_fd >= 0) {
		ssize_t n = write(wake_fd, "", 1); /* a full pipe wakes as well */
		(void)n;
	}
	return NULL;
}

int job_start(struct job *job, int (*work)(void *context, struct job *job), void *context,
    int wake_fd)
{
	progress_reset(&job->progress);
	job->err = (struct err)ERR_INIT;
	job->result = 0;
	struct job_thread *t = xcalloc(1, sizeof *t);
	t->work = work;
	t->context = context;
	t->job = job;
	t->wake_fd = wake_fd;
	job->thread = t;
	int failed = start_thread(&t->id, job_body, t);
	if (failed) {
		job->thread = NULL;
		free(t);
		job->result = err_set(
		    &job->err, ERR_NOMEM, "cannot start a thread: %s", strerror(failed));
		return job->result;
	}
	return 0;
}

bool job_finished(const struct job *job)
{
	return !job->thread || atomic_load(&job->thread->finished);
}

void job_cancel(struct job *job)
{
	atomic_store(&job->progress.cancel, true);
}

int job_wait(struct job *job)
{
	if (job->thread) {
		pthread_join(job->thread->id, NULL);
		free(job->thread);
		job->thread = NULL;
	}
	return job->result;
}

int job_stop(struct job *job)
{
	job_cancel(job);
	return job_wait(job);
}
