/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * finding.c - the job that finds retained sizes, and how it looks.
 */
#include "view/finding.h"

/* On the job's thread. */
static int work(void *context, struct job *job)
{
	struct finding *f = context;

	int code = retained_find(&f->found, &f->model, &job->progress, &job->err);
	if (code)
		return code;
	/* the screen shows children and classes as well: nothing must be left to its own thread */
	code = retained_complete(&f->found, &job->progress, &job->err);
	if (code)
		retained_release(&f->found);
	return code;
}

int finding_start(struct finding *f, const struct model *m, int wake_fd)
{
	*f = (struct finding){.model = *m};
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
	enum phase phase = atomic_load(&p->phase);
	double share = pace_share(p);

	text_add(to, "retained");
	if (phase == PHASE_NONE)
		return;
	text_addf(to, ": %s", phase_info[phase].word);
	if (share >= 0)
		text_addf(to, " %.0f%%", share * 100);
	pace_add_left(&f->pace, p, pace_now(), to);
}
