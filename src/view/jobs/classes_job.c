/* SPDX-License-Identifier: GPL-3.0-or-later */
/* classes_job.c - see classes_job.h. */
#include "view/jobs/classes_job.h"

#include "opened/opened.h"

#define EFFORT (UINT64_C(1) << 26) /* steps of a walk: some ten seconds */
enum { ROWS_LOOKED = 500 };        /* below the first one on the screen */

static int work(void *context, struct job *job)
{
	struct classes_job *f = context;

	return what_if_classes(f->class, f->n, f->of, EFFORT, &job->progress, &job->err);
}

/* The class of a row that has only a lower bound; HEAP_NONE: it is another row. */
static uint32_t inexact_class(const struct table *t, size_t row, const struct retained *known)
{
	struct target target;

	result_target(t->result, row, &target);
	if (target.kind != TARGET_CLASS || target.part || target.command)
		return HEAP_NONE;
	struct retained_sum sum = retained_of_class(known, target.id);
	return retained_sum_exact(known, &sum) ? HEAP_NONE : target.id;
}

/* Of the rows on the screen, and if there is one, of those below. */
static void choose(struct classes_job *f, const struct table *t)
{
	size_t height = t->at.height > 0 ? (size_t)t->at.height : 0, end = t->result->n_rows;

	f->n = 0;
	for (size_t row = t->top; row < end && row - t->top < ROWS_LOOKED && f->n < WHAT_IF_CLASSES; row++) {
		if (!f->n && row - t->top >= height)
			return;
		uint32_t class = inexact_class(t, row, f->of);
		if (class != HEAP_NONE)
			f->class[f->n++].class = class;
	}
}

static bool shows_retained(const struct table *t)
{
	int column = result_column_of(t->result, COL_RETAINED);

	return column >= 0 && !t->result->columns[column].hidden;
}

void classes_job_want(struct classes_job *f, const struct table *t, int wake_fd)
{
	const struct retained *known = opened_retained(t->result->opened);

	if (f->running || !known || f->given_up == known->serial || !shows_retained(t))
		return;
	f->of = known;
	choose(f, t);
	if (!f->n)
		return;
	f->job = (struct job){.result = 0};
	f->running = job_start(&f->job, work, f, wake_fd) == 0;
	if (!f->running)
		f->given_up = known->serial;
}

bool classes_job_poll(struct classes_job *f)
{
	if (!f->running || !job_finished(&f->job))
		return false;
	int code = job_wait(&f->job);
	f->running = false;
	if (code)
		f->given_up = f->of->serial;
	for (unsigned i = 0; !code && i < f->n; i++) /* here: nothing sorts by it meanwhile */
		retained_note_class(f->of, f->class[i].class, f->class[i].bytes, f->class[i].doubts);
	return !code;
}

void classes_job_stop(struct classes_job *f)
{
	if (f->running)
		job_stop(&f->job);
	f->running = false;
}
