/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loading.c - the loading job and how it looks.
 */
#include "view/loading.h"

#include "command/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* --- on the loading thread --------------------------------------------------------------------- */

static void wake(struct loader *l)
{
	ssize_t written = write(l->wake[1], "", 1);
	(void)written; /* a full pipe wakes as well */
}

static void objects_ready(void *context, const struct heap *heap)
{
	struct loader *l = context;

	atomic_store(&l->early, heap);
	wake(l);
}

static void objects_gone(void *context)
{
	struct loader *l = context;

	atomic_store(&l->gone, true);
	wake(l);
	while (sem_wait(&l->let_go) != 0 && errno == EINTR)
		continue;
}

static void needs(void *context, const struct heap_need *need)
{
	struct loader *l = context;

	l->need = *need;
	need_expect(need, true);
	atomic_store(&l->need_known, true);
	wake(l);
}

static int work(void *context, struct job *job)
{
	struct loader *l = context;

	return heap_open(&l->heap, &l->options, &job->progress, &job->err);
}

/* --- on the main thread ------------------------------------------------------------------------ */

int loader_start(struct loader *l, const struct heap_options *options, struct err *err)
{
	*l = (struct loader){.options = *options, .wake = {-1, -1}};
	l->watcher = (struct heap_watcher){
	    .objects_ready = objects_ready, .objects_gone = objects_gone, .context = l};
	l->options.watcher = &l->watcher;
	l->options.needs = needs;
	l->options.needs_context = l;
	l->started = eta_now();
	if (sem_init(&l->let_go, 0, 0) != 0 || pipe(l->wake) != 0)
		return err_set(err, ERR_IO, "cannot create a pipe to the loading thread: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		fcntl(l->wake[i], F_SETFL, O_NONBLOCK);
		fcntl(l->wake[i], F_SETFD, FD_CLOEXEC);
	}
	l->finished = !options->path; /* nothing is to be loaded, but others wake the loop here, too */
	int rc = l->finished ? 0 : job_start(&l->job, work, l, l->wake[1]);
	if (rc)
		*err = l->job.err;
	return rc;
}

int loader_fd(const struct loader *l)
{
	return l->wake[0];
}

unsigned loader_poll(struct loader *l)
{
	char bytes[64];
	unsigned events = 0;

	while (read(l->wake[0], bytes, sizeof bytes) > 0)
		continue;
	if (!l->told_early && atomic_load(&l->early)) {
		l->told_early = true;
		events |= LOADER_EARLY;
	}
	if (!l->told_gone && atomic_load(&l->gone)) {
		l->told_gone = true;
		events |= LOADER_GONE;
	}
	if (!l->finished && job_finished(&l->job)) {
		job_wait(&l->job);
		l->heap = l->heap ? heap_publish(l->heap) : NULL;
		l->finished = true;
		events |= LOADER_DONE;
	}
	return events;
}

void loader_let_go(struct loader *l)
{
	/* The loading thread waits: it may tell of another early heap when it goes on. */
	atomic_store(&l->early, NULL);
	atomic_store(&l->gone, false);
	l->told_early = l->told_gone = false;
	sem_post(&l->let_go);
}

bool loader_reads_pipe(struct loader *l)
{
	return !l->finished && atomic_load(&l->job.progress.phase) == PHASE_READ_PIPE;
}

void loader_close(struct loader *l)
{
	if (!l->started)
		return;
	if (!l->finished) {
		loader_let_go(l);
		job_stop(&l->job);
		l->finished = true;
	}
	heap_close(l->heap);
	l->heap = NULL;
	sem_destroy(&l->let_go);
	for (int i = 0; i < 2; i++)
		if (l->wake[i] >= 0)
			close(l->wake[i]);
}

uint64_t loader_age_ms(const struct loader *l)
{
	return (eta_now() - l->started) / 1000000;
}

/* --- how it looks ------------------------------------------------------------------------------ */

static const char *words_of(struct loader *l)
{
	enum phase phase = atomic_load(&l->job.progress.phase);
	if (phase == PHASE_NONE)
		return "opening";
	/* with a table on the screen, the place beside the breadcrumb is narrow */
	return l->told_early ? phase_info[phase].word : phase_info[phase].words;
}

void loader_word(struct loader *l, struct text *to)
{
	text_add(to, words_of(l));
	eta_add_state(&l->pace, &l->job.progress, to);
}

/* "603M of 1.0G, 13,149,843 objects" */
static void write_amount(struct loader *l, struct text *to)
{
	struct progress *p = &l->job.progress;
	uint64_t done = atomic_load(&p->done), total = atomic_load(&p->total);
	uint64_t objects = atomic_load(&p->objects);

	text_clear(to);
	if (total > 0 && phase_info[atomic_load(&p->phase)].bytes) {
		text_add_bytes(to, done < total ? done : total);
		text_add(to, " of ");
		text_add_bytes(to, total);
	}
	if (objects > 0) {
		text_add(to, to->len > 0 ? ", " : "");
		text_add_count(to, objects);
		text_add(to, " objects");
	}
}

void loader_draw(struct loader *l, struct rect at)
{
	struct text t = TEXT_INIT;
	double share = eta_share(&l->job.progress);
	int y = at.y + (at.height > 6 ? 1 : 0), x = at.x + 2, width = at.width - 4;

	if (width < 8 || at.height < 1)
		return;
	loader_word(l, &t);
	draw_text(y++, x, width, t.s, theme_role(ROLE_WORKING));
	if (share >= 0 && y < at.y + at.height)
		draw_bar(y, x, width < 60 ? width : 60, share, theme_role(ROLE_BAR));
	y++;
	write_amount(l, &t);
	if (y < at.y + at.height)
		draw_text(y++, x, width, t.s, theme_role(ROLE_TEXT));
	if (atomic_load(&l->need_known) && y < at.y + at.height) {
		text_clear(&t);
		need_add_words(&t, &l->need, true);
		y += draw_wrapped(y, x, width, at.y + at.height - y, t.s, theme_role(ROLE_TEXT));
	}
	if (y < at.y + at.height)
		draw_text(y, x, width, loader_reads_pipe(l) ?
		    "^C stops reading the pipe and shows the dump so far; Q quits cairn" : "^C quits cairn",
		    theme_role(ROLE_QUIET));
	text_release(&t);
}
