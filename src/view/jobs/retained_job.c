/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * retained_job.c - the job that finds retained sizes, and how it looks.
 */
#include "view/jobs/retained_job.h"

/* On the job's thread. */
static int work(void *context, struct job *job)
{
	struct retained_job *f = context;

	int code = retained_find(&f->found, &f->model, &job->progress, &job->err);
	if (code)
		return code;
	/* the screen shows children and classes as well: nothing must be left to its own thread */
	code = retained_complete(&f->found, &job->progress, &job->err);
	if (code)
		retained_release(&f->found);
	return code;
}

int retained_job_start(struct retained_job *f, const struct model *m, int wake_fd)
{
	*f = (struct retained_job){.model = *m};
	int rc = job_start(&f->job, work, f, wake_fd);
	f->running = rc == 0;
	return rc;
}

bool retained_job_poll(struct retained_job *f, int *result)
{
	if (!f->running || !job_finished(&f->job))
		return false;
	*result = job_wait(&f->job);
	f->running = false;
	return true;
}

void retained_job_stop(struct retained_job *f)
{
	if (!f->running)
		return;
	if (job_stop(&f->job) == 0)
		retained_release(&f->found);
	f->running = false;
}

void retained_job_word(struct retained_job *f, struct text *to)
{
	struct progress *p = &f->job.progress;
	enum phase phase = atomic_load(&p->phase);

	text_add(to, "retained");
	if (phase == PHASE_NONE)
		return;
	text_addf(to, ": %s", phase_info[phase].word);
	eta_add_state(&f->pace, p, to);
}
