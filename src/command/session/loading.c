/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loading.c - long jobs on a thread of their own, with a line on standard error meanwhile.
 *
 * On a terminal the line is written over; elsewhere (--progress always) there is one a second.
 */
#include "command/session/session.h"

#include "algorithms/parallel.h"
#include "base/text.h"
#include "heap/open.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TICK_MS 100
#define QUIET_TICKS 5 /* half a second before the first line */

struct loading {
	struct heap *heap;
	struct heap_options options;
	struct heap_need need; /* set by the thread that loads, before known */
	atomic_bool known;
	struct job job;
};

static void say_need(const struct loading *l)
{
	struct text line = TEXT_INIT;
	need_add_words(&line, &l->need, !l->options.references_later);
	fprintf(stderr, "cairn: %s\n", line.s);
	text_release(&line);
}

static void keep_need(void *context, const struct heap_need *need)
{
	struct loading *l = context;
	l->need = *need;
	need_expect(need, !l->options.references_later);
	atomic_store(&l->known, true);
}

static void say_shortage(void *context, const struct heap_need *need)
{
	struct loading *l = context;
	l->need = *need;
	need_expect(need, !l->options.references_later);
	if (need_passes(need, !l->options.references_later))
		say_need(l);
}

static int load(void *context, struct job *job)
{
	struct loading *l = context;
	return heap_open(&l->heap, &l->options, &job->progress, &job->err);
}

static void show(const struct progress *p, bool terminal, size_t *width)
{
	enum phase phase = p->phase;
	uint64_t done = p->done, total = p->total, objects = p->objects;
	struct text line = TEXT_INIT;
	if (!phase)
		return;
	text_addf(&line, "cairn: %s", phase_info[phase].words);
	if (total)
		text_addf(&line, " %u%%", (unsigned)(done >= total ? 100 : (double)done * 100 / (double)total));
	progress_add_came((struct progress *)(uintptr_t)p, &line);
	if (objects) {
		text_add(&line, ", ");
		text_add_count(&line, objects);
		text_add(&line, " objects");
	}
	size_t now = text_width(line.s);
	if (terminal)
		fprintf(stderr, "\r%s%*s", line.s, *width > now ? (int)(*width - now) : 0, "");
	else
		fprintf(stderr, "%s\n", line.s);
	*width = now;
	text_release(&line);
}

/* Start the job and show how far it is until it ends.  loading: what it loads, or NULL. */
static int watch(struct job *job, int (*task)(void *context, struct job *job), void *context,
    struct loading *loading, enum progress_wish wish, struct err *err)
{
	bool terminal = isatty(STDERR_FILENO);
	size_t width = 0;
	int wake[2];

	if (pipe(wake))
		return err_set(err, ERR_IO, "cannot create a pipe to the worker thread");
	int code = job_start(job, task, context, wake[1]);
	if (!code) {
		struct pollfd fd = {.fd = wake[0], .events = POLLIN};
		unsigned every = terminal ? 1 : 1000 / TICK_MS;
		for (unsigned tick = 0; !job_finished(job); tick++) {
			poll(&fd, 1, TICK_MS);
			if (progress_cancelled(progress_own())) /* who waits for it was stopped */
				job_cancel(job);
			if ((tick < QUIET_TICKS && wish != PROGRESS_ALWAYS) || tick % every)
				continue;
			if (loading && atomic_load(&loading->known)) {
				if (terminal && width)
					fprintf(stderr, "\r%*s\r", (int)width, "");
				say_need(loading);
				loading = NULL;
			}
			show(&job->progress, terminal, &width);
		}
		code = job_wait(job);
		if (terminal && width)
			fprintf(stderr, "\r%*s\r", (int)width, "");
	}
	close(wake[0]);
	close(wake[1]);
	if (code && err)
		*err = job->err;
	return code;
}

static bool wants_progress(enum progress_wish wish)
{
	return wish == PROGRESS_ALWAYS || (wish == PROGRESS_AUTO && isatty(STDERR_FILENO));
}

int heap_open_watched(struct heap **out, const struct heap_options *options,
    enum progress_wish wish, struct err *err)
{
	struct loading l = {.options = *options};
	l.options.needs_context = &l;
	l.options.needs = wants_progress(wish) ? keep_need : wish == PROGRESS_NEVER ? NULL : say_shortage;
	if (!wants_progress(wish))
		return heap_open(out, &l.options, NULL, err);
	int code = watch(&l.job, load, &l, &l, wish, err);
	*out = l.heap;
	return code;
}

struct watched {
	long_work *work;
	void *argument;
	struct job job;
};

static int run(void *context, struct job *job)
{
	struct watched *w = context;
	return w->work(w->argument, &job->progress, &job->err);
}

int work_watched(
    long_work *work, void *argument, enum progress_wish wish, struct err *err)
{
	struct watched w = {.work = work, .argument = argument};
	if (!wants_progress(wish))
		return work(argument, progress_own(), err);
	return watch(&w.job, run, &w, NULL, wish, err);
}
