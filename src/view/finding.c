/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * finding.c - the job that finds retained sizes, and how it looks.
 */
#include "view/finding.h"

#include <string.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* On the job's thread. */
static int work(void *context, struct job *job)
{
	struct finding *f = context;

	return retained_find(&f->found, f->heap, &job->progress, &job->err);
}

int finding_start(struct finding *f, const struct heap *h, int wake_fd)
{
	*f = (struct finding){.heap = h};
	int rc = job_start(&f->job, work, f, wake_fd);
	f->running = rc == 0;
	return rc;
}

bool finding_poll(struct finding *f, int *result)
{
	if (!f->running || !job_finished(&f->job))
		return false;
	*result = job_wait(&f->job);
	f->running = false;
	return true;
}

void finding_stop(struct finding *f)
{
	if (!f->running)
		return;
	job_cancel(&f->job);
	if (job_wait(&f->job) == 0)
		retained_release(&f->found);
	f->running = false;
}

void finding_word(struct finding *f, struct text *to)
{
	struct progress *p = &f->job.progress;
	const char *phase = atomic_load(&p->phase);
	uint64_t done = atomic_load(&p->done), total = atomic_load(&p->total), now = now_ns();

	if (phase != f->phase) {
		f->phase = phase;
		f->phase_started = now;
	}
	text_add(to, "retained");
	if (!phase)
		return;
	text_addf(to, ": %s", strcmp(phase, "finding dominators") == 0 ? "dominators" : phase);
	if (total == 0)
		return;
	double share = done < total ? (double)done / (double)total : 1;
	double seconds = (double)(now - f->phase_started) / 1e9;
	text_addf(to, " %.0f%%", share * 100);
	/* not before there is something to go by */
	if (seconds > 0.5 && share > 0.01) {
		double left = seconds * (1 - share) / share;
		text_addf(to, ", %.0f s left", left < 1 ? 1 : left);
	}
}
