/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loading.c - the loading job and how it looks.
 */
#include "view/loading.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

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
	l->started = now_ns();
	if (sem_init(&l->let_go, 0, 0) != 0 || pipe(l->wake) != 0)
		return err_set(err, ERR_IO, "no pipe to the loading thread: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		fcntl(l->wake[i], F_SETFL, O_NONBLOCK);
		fcntl(l->wake[i], F_SETFD, FD_CLOEXEC);
	}
	int rc = job_start(&l->job, work, l, l->wake[1]);
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

void loader_close(struct loader *l)
{
	if (!l->started)
		return;
	if (!l->finished) {
		loader_let_go(l);
		job_cancel(&l->job);
		job_wait(&l->job);
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
	return (now_ns() - l->started) / 1000000;
}

/* --- how it looks ------------------------------------------------------------------------------ */

struct state {
	const char *phase;
	uint64_t done, total, objects;
	double seconds; /* in this phase */
	double share;   /* 0 … 1; negative: not known */
	double left;    /* seconds; negative: not known yet */
};

static void look(struct loader *l, struct state *s)
{
	struct progress *p = &l->job.progress;

	*s = (struct state){.phase = atomic_load(&p->phase), .share = -1, .left = -1};
	s->done = atomic_load(&p->done);
	s->total = atomic_load(&p->total);
	s->objects = atomic_load(&p->objects);
	uint64_t now = now_ns();
	if (s->phase != l->phase) {
		l->phase = s->phase;
		l->phase_started = now;
	}
	s->seconds = (double)(now - l->phase_started) / 1e9;
	if (!s->phase)
		s->phase = "opening";
	if (s->total == 0)
		return;
	s->share = s->done < s->total ? (double)s->done / (double)s->total : 1;
	/* not before there is something to go by */
	if (s->seconds > 0.5 && s->share > 0.01)
		s->left = s->seconds * (1 - s->share) / s->share;
}

static void add_left(const struct state *s, struct text *to)
{
	if (s->left < 0)
		return;
	if (s->left < 90)
		text_addf(to, ", %.0f s left", s->left < 1 ? 1 : s->left);
	else
		text_addf(to, ", %.0f min left", s->left / 60);
}

/* The place beside the breadcrumb is narrow. */
static const char *shorter(const char *phase)
{
	static const char *const words[][2] = {
	    {"reading references", "references"},
	    {"turning references round", "referrers"},
	    {"finding roots", "roots"},
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i][0], phase) == 0)
			return words[i][1];
	return phase;
}

void loader_word(struct loader *l, struct text *to)
{
	struct state s;

	look(l, &s);
	text_add(to, l->told_early ? shorter(s.phase) : s.phase);
	if (s.share >= 0)
		text_addf(to, " %.0f%%", s.share * 100);
	add_left(&s, to);
}

void loader_draw(struct loader *l, struct rect at)
{
	struct state s;
	struct text t = TEXT_INIT;
	int y = at.y + (at.height > 6 ? 1 : 0), x = at.x + 2, width = at.width - 4;

	look(l, &s);
	if (width < 8 || at.height < 1)
		return;
	loader_word(l, &t);
	draw_text(y++, x, width, t.s, theme(ROLE_WORKING));
	if (s.share >= 0)
		draw_bar(y, x, width < 60 ? width : 60, s.share, theme(ROLE_BAR));
	y++;
	text_clear(&t);
	if (s.objects > 0) {
		text_add_count(&t, s.objects);
		text_add(&t, " objects");
		double age = (double)loader_age_ms(l) / 1e3;
		if (age > 0.5) {
			text_add(&t, ", ");
			text_add_count(&t, (uint64_t)((double)s.objects / age));
			text_add(&t, " a second");
		}
	}
	if (y < at.y + at.height)
		draw_text(y, x, width, t.s, theme(ROLE_TEXT));
	text_release(&t);
}
