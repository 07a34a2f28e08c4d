/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * working.c - a command that takes long works on a thread of its own, while the screen says how far it
 * is and ^C or Esc stops it.
 *
 * The command waits here for its answer, so nothing else is run meanwhile: other keys wait until it is there.
 */
#include "view/app.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

enum { QUIET_MS = 200, TICK_MS = 100 };

struct working {
	long_work *task;
	void *context;
};

static int run(void *context, struct job *job)
{
	struct working *w = context;

	return w->task(w->context, &job->progress, &job->err);
}

/* "weighing references 40%, 5 s left: ^C stops it".  How many phases will follow nobody tells, so what is
 * left is that of the phase. */
static void say(struct app *a, struct job *job, struct pace *pace)
{
	struct text t = TEXT_INIT;
	enum phase phase = atomic_load(&job->progress.phase);
	double share = pace_share(&job->progress);

	text_add(&t, phase ? phase_info[phase].words : "working");
	if (share >= 0)
		text_addf(&t, " %.0f%%", share * 100);
	if (phase && !job->progress.cancel)
		pace_add_phase(pace, &job->progress, pace_now(), &t);
	text_add(&t, job->progress.cancel ? ": stopping" : ": ^C stops it");
	app_say(a, ROLE_NOTE, t.s);
	text_release(&t);
	app_draw(a);
}

static void take_keys(struct app *a, struct job *job)
{
	if (app_stop_typed(a) || a->quit)
		job_cancel(job);
}

static void watch(struct app *a, struct job *job, int wake_fd)
{
	uint64_t began = pace_now();
	struct pace pace = {.left = -1};
	struct pollfd fds[3] = {
	    {.fd = term_fd(), .events = POLLIN},
	    {.fd = signals_fd(), .events = POLLIN},
	    {.fd = wake_fd, .events = POLLIN},
	};

	while (!job_finished(job)) {
		int n = poll(fds, 3, TICK_MS);
		if (n > 0 && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			app_quit(a, 128 + SIGHUP); /* the terminal is gone */
		app_take_signals(a);
		take_keys(a, job);
		if (!job_finished(job) && (pace_now() - began) / 1000000 >= QUIET_MS)
			say(a, job, &pace);
	}
}

int working_run(void *context, long_work *task, void *argument, struct err *err)
{
	struct app *a = context;
	struct working w = {task, argument};
	struct job job = {.result = 0};
	int wake[2];

	if (pipe(wake))
		return err_set(err, ERR_IO, "no pipe to the working thread");
	int code = job_start(&job, run, &w, wake[1]);
	if (!code) {
		a->working = &job;
		watch(a, &job, wake[0]);
		a->working = NULL;
		code = job_wait(&job);
		text_clear(&a->message);
	}
	close(wake[0]);
	close(wake[1]);
	if (code && err)
		*err = job.err;
	return code;
}
