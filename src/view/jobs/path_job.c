/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_job.c - see path_job.h.  There is one job at most; rules and cutter stay from one to the next.
 */
#include "view/jobs/path_job.h"

#include "command/commands.h"

#include <string.h>

#define EFFORT (64 << 20) /* references looked at: a second or two */

/* --- on the job's thread ---------------------------------------------------------------------- */

/* What clearing the last reference of the path would free. */
static void find_cut(struct path_job *f, const struct path *p)
{
	if (!f->retained || p->n == 0)
		return;
	if (!f->cuts && what_if_init(&f->cutter, f->retained, NULL) != 0)
		return;
	f->cuts = true;
	uint32_t holder = p->n > 1 ? p->step[p->n - 2] : HEAP_NONE;
	struct what_if_figure figure = what_if_one(&f->cutter, holder, p->step[p->n - 1]);
	struct cell freed = cell_bytes(figure.freed);
	text_add(&f->found_cut, "cut frees ");
	cell_print(&freed, &f->found_cut);
}

static int work(void *context, struct job *job)
{
	struct path_job *f = context;
	struct path p = {.n = 0};
	int code = 0;

	text_clear(&f->found);
	text_clear(&f->found_cut);
	if (!f->ready)
		code = path_rules_init(&f->rules, f->heap, false, &job->err);
	if (!code && !f->ready && (code = path_plumbing_init(&f->plumbing, f->heap, &job->err)))
		path_rules_release(&f->rules);
	if (code)
		return code;
	f->ready = true;
	code = path_search(&p, &f->rules, f->at, EFFORT, &job->progress, &job->err);
	if (!code && p.n == 1) {
		text_add(&f->found, "a root: ");
		path_root_words(f->heap, f->at, &f->found);
		find_cut(f, &p);
	} else if (!code && p.n > 0) {
		bool named;
		code = path_fold_line(&named, &f->plumbing, &f->rules, &p, &f->found, &job->err);
		find_cut(f, &p);
	} else if (!code) {
		text_add(&f->found, p.gave_up ? "far from every root; p: find the path"
		    : "none: unreachable by strong references");
	}
	path_release(&p);
	return code;
}

/* --- on the main thread ----------------------------------------------------------------------- */

static void begin(struct path_job *f, int wake_fd)
{
	f->at = f->wanted;
	f->running = job_start(&f->job, work, f, wake_fd) == 0;
}

void path_job_want(struct path_job *f, const struct heap *h, const struct retained *retained, uint32_t id,
    int wake_fd)
{
	if (f->heap != h || f->retained != retained) {
		path_job_stop(f);
		f->heap = h;
		f->retained = retained;
	}
	f->wanted = id;
	if (f->running && f->at != id)
		job_cancel(&f->job);
	else if (!f->running && id != HEAP_NONE && f->known != id)
		begin(f, wake_fd);
}

bool path_job_poll(struct path_job *f, int wake_fd)
{
	if (!f->running || !job_finished(&f->job))
		return false;
	int code = job_wait(&f->job);
	f->running = false;
	if (code != ERR_CANCELLED) {
		f->known = f->at;
		text_clear(&f->line);
		text_clear(&f->cut);
		text_add(&f->line, code ? f->job.err.message : f->found.s);
		text_add(&f->cut, code ? "" : f->found_cut.s);
	}
	if (f->wanted != HEAP_NONE && f->known != f->wanted)
		begin(f, wake_fd);
	return true;
}

bool path_job_known(const struct path_job *f)
{
	return f->wanted != HEAP_NONE && f->known == f->wanted;
}

void path_job_stop(struct path_job *f)
{
	if (f->running)
		job_stop(&f->job);
	if (f->ready) {
		path_rules_release(&f->rules);
		path_plumbing_release(&f->plumbing);
	}
	if (f->cuts)
		what_if_release(&f->cutter);
	text_release(&f->line);
	text_release(&f->cut);
	text_release(&f->found);
	text_release(&f->found_cut);
	*f = (struct path_job){.wanted = HEAP_NONE,
	    .at = HEAP_NONE,
	    .known = HEAP_NONE,
	    .line = TEXT_INIT,
	    .cut = TEXT_INIT,
	    .found = TEXT_INIT,
	    .found_cut = TEXT_INIT};
}
