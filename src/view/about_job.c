/* SPDX-License-Identifier: GPL-3.0-or-later */
/* about_job.c - see about_job.h. */
#include "view/about_job.h"

#include "analysis/search.h"
#include "memory/big.h"

/* --- on the job's thread ------------------------------------------------------------------------ */

static int work(void *context, struct job *job)
{
	struct about_job *f = context;
	uint32_t id = f->at.id, *ids = NULL;
	struct about_what what = {.title = "about", .ids = &id, .n = 1, .thread = HEAP_NONE};

	if (id == HEAP_NONE) {
		ids = objects_of_classes(f->at.opened->heap, &f->at.class, 1, &what.n, &job->err);
		if (!ids)
			return ERR_NOMEM;
		what.ids = ids;
	}
	int code = about_find(f->about, &what, f->at.quick, &f->found, &job->progress, &job->err);
	big_free(ids);
	return code;
}

/* --- on the main thread ------------------------------------------------------------------------- */

static bool same(const struct about_wish *a, const struct about_wish *b)
{
	return a->opened == b->opened && a->id == b->id && a->class == b->class && a->serial == b->serial &&
	       a->quick == b->quick;
}

static void begin(struct about_job *f, const struct about_wish *wish, int wake_fd)
{
	if (!f->about || f->at.opened != wish->opened || f->at.serial != wish->serial) {
		about_free(f->about);
		f->about = about_new(wish->opened);
	}
	f->at = *wish;
	f->found = NULL;
	f->job = (struct job){.result = 0};
	f->running = job_start(&f->job, work, f, wake_fd) == 0;
	f->failed = !f->running;
}

void about_job_want(struct about_job *f, const struct about_wish *wish, int wake_fd)
{
	bool is_at = same(&f->at, wish);

	if (f->running && !is_at)
		job_cancel(&f->job);
	else if (!f->running && wish->opened && !(is_at && f->failed))
		begin(f, wish, wake_fd);
}

struct result *about_job_poll(struct about_job *f, struct about_wish *of)
{
	if (!f->running || !job_finished(&f->job))
		return NULL;
	int code = job_wait(&f->job);
	f->running = false;
	f->failed = code && code != ERR_CANCELLED;
	struct result *found = f->found;
	f->found = NULL;
	*of = f->at;
	if (!code)
		return found;
	result_free(found);
	return NULL;
}

void about_job_stop(struct about_job *f)
{
	if (f->running) {
		job_stop(&f->job);
		result_free(f->found);
	}
	about_free(f->about);
	*f = (struct about_job){.running = false};
}
