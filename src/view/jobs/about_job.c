/* SPDX-License-Identifier: GPL-3.0-or-later */
/* about_job.c - see about_job.h. */
#include "view/jobs/about_job.h"

#include "analysis/search.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "heap/heap.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "opened/opened.h"

#include <stdlib.h>

/* --- on the job's thread ------------------------------------------------------------------------ */

/* The objects of a class or a group; a class without instances is what its static fields hold. */
static int gather(const struct about_job *f, struct about_what *what, uint32_t *id, uint32_t **ids, struct err *err)
{
	const struct heap *h = f->at.opened->heap;
	int code = 0;

	if (f->at.of.kind != TARGET_CLASS)
		code = ids_of_bits(&f->members, ids, &what->n, err);
	else if (!(*ids = objects_of_classes(h, id, 1, &what->n, err)))
		code = ERR_NOMEM;
	what->ids = *ids;
	if (!code && !what->n && f->at.of.kind == TARGET_CLASS && h->classes[*id].object != HEAP_NONE) {
		*id = h->classes[*id].object;
		what->ids = id;
		what->n = 1;
	}
	return code;
}

static int work(void *context, struct job *job)
{
	struct about_job *f = context;
	uint32_t id = f->at.of.id, *ids = NULL;
	struct about_what what = {.title = f->title, .ids = &id, .n = 1, .thread = HEAP_NONE};
	int code = 0;

	if (f->at.of.kind == TARGET_THREAD) {
		what.thread = id;
		id = f->at.opened->heap->threads[id].object;
		what.n = id != HEAP_NONE;
	} else if (f->at.of.kind != TARGET_OBJECT) {
		code = gather(f, &what, &id, &ids, &job->err);
	}
	if (!code)
		code = about_find(f->about, &what, f->at.quick, &f->found, &job->progress, &job->err);
	big_free(ids);
	return code;
}

/* --- on the main thread ------------------------------------------------------------------------- */

bool about_same(const struct about_subject *a, const struct about_subject *b)
{
	return a->kind == b->kind && a->id == b->id && a->result == b->result && a->looks == b->looks;
}

static bool same(const struct about_wish *a, const struct about_wish *b)
{
	return a->opened == b->opened && a->serial == b->serial && a->quick == b->quick && about_same(&a->of, &b->of);
}

bool about_job_wants(struct about_job *f, const struct about_wish *wish)
{
	bool is_at = same(&f->at, wish);

	if (f->running && !is_at)
		job_cancel(&f->job);
	return !f->running && wish->opened && !(is_at && f->failed);
}

void about_job_begin(struct about_job *f, const struct about_wish *wish, char *title, struct bits *members,
    int wake_fd)
{
	if (!f->about || f->at.opened != wish->opened || f->at.serial != wish->serial) {
		about_free(f->about);
		f->about = about_new(wish->opened);
	}
	if (title) {
		free(f->title);
		bits_release(&f->members);
		f->title = title;
		f->members = *members;
	}
	f->at = *wish;
	f->found = NULL;
	f->job = (struct job){.result = 0};
	f->running = job_start(&f->job, work, f, wake_fd) == 0;
	f->failed = !f->running;
}

bool about_job_poll(struct about_job *f, struct result **found)
{
	*found = NULL;
	if (!f->running || !job_finished(&f->job))
		return false;
	int code = job_wait(&f->job);
	f->running = false;
	f->failed = code && code != ERR_CANCELLED;
	if (code)
		result_free(f->found);
	else
		*found = f->found;
	about_note(f->about);
	f->found = NULL;
	return true;
}

void about_job_stop(struct about_job *f)
{
	if (f->running) {
		job_stop(&f->job);
		result_free(f->found);
	}
	about_free(f->about);
	bits_release(&f->members);
	free(f->title);
	*f = (struct about_job){.running = false};
}
