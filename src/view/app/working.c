/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * working.c - what takes long jobs on a thread of its own, while the screen says how far it is and ^C or Esc
 * stops it.
 *
 * Nothing else is run meanwhile, but one may look around: as soon as the screen says that it works, keys that
 * only move are answered.  All others, those typed before, and what comes behind them wait for the answer.
 * Whatever a job uses of the page shown it uses within session.hooks.turns, and we draw in between.
 */
#include "view/app/app.h"

#include "view/prompt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

enum {
	FIRST_MS = 30, /* until the screen says that it works: at 50 one has to see it */
	TICK_MS = 100,
	FIRST_TURN_MS = 5,
	TURN_MS = 20,
	OWING_MS = 2,  /* a key waits, and no turn came */
	LINE_MOST = 32, /* columns of the command line */
};

struct working {
	long_work *task;
	void *context;
};

static int run(void *context, struct job *job)
{
	struct working *w = context;

	return w->task(w->context, &job->progress, &job->err);
}

/* --- the line ----------------------------------------------------------------------------------- */

static uint64_t ms_since(uint64_t then)
{
	return (eta_now() - then) / 1000000;
}

/* "cut * -each, 3 s: weighing references 40%; ^C stops it".  The seconds are those of the whole, the share is
 * that of what it is at: nobody knows how much will follow. */
static void write_line(const struct app *a, struct job *job, struct text *to)
{
	enum phase phase = atomic_load(&job->progress.phase);
	unsigned seconds = (unsigned)(ms_since(a->work.waiting.began) / 1000);
	const char *line = a->work.waiting.asked ? a->work.waiting.asked->text : NULL;
	size_t used;

	if (line) {
		size_t n = text_fit(line, LINE_MOST, &used);
		text_add_n(to, line, n);
		text_addf(to, "%s", line[n] ? theme_glyph(GLYPH_ELLIPSIS) : "");
		if (seconds > 0)
			text_addf(to, ", %u s", seconds);
		text_add(to, ": ");
	}
	text_add(to, phase ? phase_info[phase].words : "working");
	eta_add_share(&job->progress, to);
	if (!line && seconds > 0)
		text_addf(to, ", %u s", seconds);
	text_add(to, job->progress.cancel ? "; stopping" : "; ^C stops it");
}

/* --- keys --------------------------------------------------------------------------------------- */

static bool moves(enum action action)
{
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_UP:
	case ACTION_HALF_DOWN:
	case ACTION_FIRST:
	case ACTION_LAST:
	case ACTION_PAN_LEFT:
	case ACTION_PAN_RIGHT:
	case ACTION_SIDE:
		return true;
	default:
		return false;
	}
}

/* Does it only move, and did so?  The page is ours. */
static bool answer(struct app *a, const struct input *in)
{
	struct page *p = app_page(a);
	enum action action = in->pasted || !p ? ACTION_NONE : key_action(in->key, p->ops->place);
	const char *message = NULL;

	if (!p || prompt_is_open())
		return false;
	if (mouse_scrolls(in))
		app_mouse(a, in);
	else if (moves(action) && panes_focused(&a->panes))
		return panes_action(&a->panes, action);
	else if (moves(action))
		p->ops->action(p, action, &message);
	else if (action == ACTION_TAB && tabs_has(a, (enum tab)(in->key - '0')))
		tabs_show(a, (enum tab)(in->key - '0'));
	else
		return false;
	a->pending.moved_on = true;
	panes_look_away(&a->panes);
	a->path.moved |= a->path.wanted || action == ACTION_TAB;
	return true;
}

static bool answer_all(struct app *a)
{
	const struct input *in;
	struct input gone;
	bool any = false;

	if (!a->work.waiting.shown || a->work.waiting.ahead || a->work.gives_way) /* then keys come after the work */
		return false;
	while ((in = term_first_kept()) && answer(a, in))
		any = term_read_kept(&gone);
	return any;
}

static void take_keys(struct app *a, struct job *job)
{
	struct input in;

	while (a->work.gives_way && term_read(&in, prompt_is_open()))
		term_keep(&in);
	if (a->work.gives_way ? term_first_kept() != NULL : app_stop_typed(a))
		job_cancel(job);
	if (a->quit)
		job_cancel(job);
}

/* --- waiting ------------------------------------------------------------------------------------ */

static void show(struct app *a, struct job *job)
{
	struct waiting *w = &a->work.waiting;
	struct text t = TEXT_INIT;
	bool turn = render_lock_take(&a->work.turns, w->shown ? TURN_MS : FIRST_TURN_MS);
	bool whole = turn && so_far_look(a);
	bool due = (whole && answer_all(a)) || !w->shown || a->dirty || ms_since(w->drawn) >= TICK_MS;

	if (due) {
		write_line(a, job, &t);
		/* what nobody asked for covers nothing that was said */
		if (!a->work.gives_way || !a->notice.text.len || a->notice.role == ROLE_WORKING)
			app_say(a, ROLE_WORKING, t.s);
		a->dirty = !whole; /* of the page there may be more to draw */
		if (whole)
			app_draw(a);
		else
			app_draw_message(a);
		text_release(&t);
		if (!w->shown)
			w->ahead = term_first_kept() != NULL;
		w->shown = true;
		w->drawn = eta_now();
	}
	w->owes = !whole && term_first_kept();
	if (turn)
		render_lock_give_back(&a->work.turns);
}

/* How long nothing may happen before show is called. */
static int wait_ms(const struct waiting *w)
{
	uint64_t age = ms_since(w->began);

	if (w->shown)
		return w->owes ? OWING_MS : TICK_MS;
	return age < FIRST_MS ? (int)(FIRST_MS - age) : 0;
}

/* What is asked goes before what nobody waits for yet. */
static void hold_others(struct app *a, bool held)
{
	if (!a->loader.finished)
		progress_hold(&a->loader.job.progress, held);
	if (a->finding.running)
		progress_hold(&a->finding.job.progress, held);
	if (a->classes.running)
		progress_hold(&a->classes.job.progress, held);
}

bool working_ask(void *context, const char *question)
{
	struct app *a = context;

	if (pthread_equal(pthread_self(), a->main))
		return app_ask(a, question);
	atomic_store(&a->work.asked.question, question);
	ssize_t written = write(a->work.waiting.wake, "", 1);
	(void)written; /* the pipe is empty */
	while (sem_wait(&a->work.asked.answered) && errno == EINTR)
		continue;
	return a->work.asked.yes;
}

/* The job stands still meanwhile, and uses nothing of the page shown. */
static void put_question(struct app *a, int wake_fd)
{
	const char *question = atomic_exchange(&a->work.asked.question, NULL);
	char byte;

	if (!question || read(wake_fd, &byte, 1) != 1)
		return;
	hold_others(a, false);
	a->work.asked.yes = app_ask(a, question);
	hold_others(a, true);
	sem_post(&a->work.asked.answered);
}

static void watch(struct app *a, struct job *job, int wake_fd)
{
	struct pollfd fds[3] = {
	    {.fd = term_fd(), .events = POLLIN},
	    {.fd = signals_fd(), .events = POLLIN},
	    {.fd = wake_fd, .events = POLLIN},
	};

	while (!job_finished(job)) {
		int n = poll(fds, 3, wait_ms(&a->work.waiting));
		if (n > 0 && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			app_quit(a, 128 + SIGHUP); /* the terminal is gone */
		put_question(a, wake_fd);
		app_take_signals(a);
		take_keys(a, job);
		if (!job_finished(job) && (a->work.waiting.shown || ms_since(a->work.waiting.began) >= FIRST_MS))
			show(a, job);
	}
}

void working_begin(struct app *a, struct invocation *asked)
{
	a->work.waiting = (struct waiting){.asked = asked, .began = eta_now(), .table = asked ? NULL : app_table(a)};
}

void working_end(struct app *a)
{
	if (a->work.waiting.shown)
		a->work.unseen = a->dirty = true;
	a->work.waiting = (struct waiting){.began = 0};
}

int working_run(void *context, long_work *task, void *argument, struct err *err)
{
	struct app *a = context;
	struct working w = {task, argument};
	struct job job = {.result = 0};
	bool alone = !a->work.waiting.began;
	int wake[2];

	if (pipe(wake))
		return err_set(err, ERR_IO, "cannot create a pipe to the working thread");
	if (alone)
		working_begin(a, NULL);
	a->work.waiting.wake = wake[1];
	int code = job_start(&job, run, &w, wake[1]);
	if (!code) {
		a->work.job = &job;
		hold_others(a, true);
		watch(a, &job, wake[0]);
		hold_others(a, false);
		a->work.job = NULL;
		code = job_wait(&job);
		text_clear(&a->notice.text);
	}
	if (alone)
		working_end(a);
	close(wake[0]);
	close(wake[1]);
	if (code && err)
		*err = job.err;
	return code;
}
