/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.c - see session.h.
 *
 * Main thread only.
 */
#include "command/session/session.h"

#include "attach/attach.h"
#include "base/mem.h"
#include "heap/heap.h"
#include "query/sql/sql.h"
#include "result/tree.h"

#include <stdarg.h>
#include <stdlib.h>

void session_init(struct session *s)
{
	*s = (struct session){.dump = NULL};
}

void session_release(struct session *s)
{
	session_drop_results(s);
	for (size_t i = 0; i < s->n_dumps; i++) {
		sql_close(s->dumps[i]->sql);
		opened_free(s->dumps[i]->opened);
		profile_release(&s->dumps[i]->profile);
		free(s->dumps[i]->path);
		free(s->dumps[i]);
	}
	free(s->dumps);
	for (size_t i = 0; i < s->lines.n_history; i++)
		free(s->lines.history[i]);
	free(s->lines.history);
	free(s->lines.told);
	free(s->settings.copies);
	for (size_t i = 0; i < s->settings.n_views; i++)
		sql_view_release(&s->settings.views[i]);
	free(s->settings.views);
	text_release(&s->lines.said);
	sql_close(s->sql);
	vm_watch_free(s->watch);
	*s = (struct session){.dump = NULL};
}

void selection_release(struct selection *selection)
{
	free(selection->row);
	free(selection->page);
	*selection = (struct selection){.row = NULL};
}

void session_say(struct session *s, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	text_clear(&s->lines.said);
	text_addv(&s->lines.said, format, args);
	va_end(args);
}

struct result *session_table(const struct session *s)
{
	return s->results.shown ? s->results.shown : s->results.last;
}

struct result *session_explained(const struct session *s)
{
	struct result *r = session_table(s);
	if (!r || !result_is(r, RESULT_EXPLAINS))
		return r;
	return s->results.shown ? s->results.shown_rows : s->results.explained;
}

struct result *session_rows(const struct session *s)
{
	struct result *r = session_table(s), *before = s->results.shown_rows ? s->results.shown_rows : s->results.rows;
	return r && (!before || result_has_sets(r)) ? r : before;
}

/* --- what was found of the dump, or is now ------------------------------------------------------- */

struct wanted {
	struct opened *opened;
	enum finding what;
};

static int find(void *context, struct progress *progress, struct err *err)
{
	const struct wanted *w = context;
	return opened_find(w->opened, w->what, progress, err);
}

int session_find(const struct session *s, enum finding what, struct err *err)
{
	struct opened *o = s->dump;
	if (opened_found(o, what))
		return 0;
	/* on the screen they are found beside it, and a line that asks too early is run again */
	if (s->finds_beside && what != FIND_CLASS_SUMS && opened_needs(what, FIND_SIZES) && !opened_sizes(o) &&
	    !o->heap->no_references) {
		o->refused = true;
		return err_set(err, ERR_UNSUPPORTED, "retained sizes are not ready yet");
	}
	return session_work(s, find, &(struct wanted){o, what}, err);
}

bool session_folds(const struct session *s)
{
	return s->folds && !s->asks;
}

bool session_must_wait(struct session *s)
{
	bool refused = s->dump && s->dump->refused;
	if (refused)
		s->dump->refused = false;
	return refused;
}

int session_count_weak(struct session *s, bool counts, struct err *err)
{
	if (!s->dump)
		return session_no_dump(s, err);
	int code = s->hooks.model ? 0 : session_find(s, FIND_REFERENCES, err); /* they may wait in an index */
	if (!code && counts != opened_counts_weak(s->dump))
		code = opened_may_count_weak(s->dump, err);
	if (code || counts == opened_counts_weak(s->dump))
		return code;
	if (s->hooks.model && !s->hooks.model(s->hooks.context, true))
		return err_set(err, ERR_UNSUPPORTED, "references are not loaded yet");
	code = opened_count_weak(s->dump, counts, err);
	if (!code && s->hooks.model)
		s->hooks.model(s->hooks.context, false);
	return code;
}

int session_work(const struct session *s, long_work *work, void *argument, struct err *err)
{
	if (s->now) /* a command is a job already */
		return work(argument, s->now, err);
	return s->hooks.work ? s->hooks.work(s->hooks.context, work, argument, err)
	               : work_watched(work, argument, s->settings.progress, err);
}

void session_drop_results(struct session *s)
{
	result_free(s->results.last);
	result_free(s->results.rows);
	result_free(s->results.explained);
	s->results.last = s->results.rows = s->results.explained = NULL;
}

struct result *session_take(struct session *s)
{
	struct result *r = s->results.last;
	s->results.last = NULL;
	return r;
}

/* --- rows --------------------------------------------------------------------------------------- */

/* What looks at so many rows is a long job. */
enum { LONG_ROWS = 4096 };

struct on_rows {
	struct render_lock *turns;
	struct result **growing;
	struct result **r;
	rows_task *task;
	const void *context;
};

static bool stop_rows(void *progress)
{
	render_lock_offer();
	return !progress_add(progress, RESULT_STOP_EVERY);
}

static int watch_rows(void *context, struct progress *progress, struct err *err)
{
	struct on_rows *o = context;
	struct result *r = *o->r;
	progress_phase(progress, PHASE_LOOK_AT_ROWS, r->n_rows);
	render_lock_enter(o->turns);
	if (o->growing)
		*o->growing = r;
	r->stop = stop_rows;
	r->stop_context = progress;
	int code = o->task(o->r, o->context, err);
	r->stop = NULL; /* it lives on, within another one perhaps */
	if (o->growing)
		*o->growing = NULL;
	render_lock_leave(o->turns);
	return code;
}

static int on_rows(const struct session *s, struct on_rows *o, struct err *err)
{
	if ((*o->r)->n_rows >= LONG_ROWS || tree_is(*o->r)) /* of a tree nobody knows how many rows it looks at */
		return session_work(s, watch_rows, o, err);
	render_lock_enter(o->turns);
	int code = o->task(o->r, o->context, err);
	render_lock_leave(o->turns);
	return code;
}

int session_on_rows(const struct session *s, struct result **r, rows_task *task, const void *context,
    struct err *err)
{
	return on_rows(s, &(struct on_rows){.r = r, .task = task, .context = context}, err);
}

int session_on_shown(const struct session *s, struct result **r, rows_task *task, const void *context,
    struct err *err)
{
	return on_rows(s, &(struct on_rows){.turns = s->hooks.turns, .r = r, .task = task, .context = context}, err);
}

int session_on_growing(const struct session *s, struct result **r, rows_task *task, const void *context,
    struct err *err)
{
	return on_rows(s, &(struct on_rows){.turns = s->hooks.turns, .growing = s->hooks.growing, .r = r, .task = task,
	    .context = context}, err);
}

bool session_grows(const struct session *s, struct result *r)
{
	if (!s->hooks.growing || !s->grows)
		return false;
	render_lock_enter(s->hooks.turns);
	*s->hooks.growing = r;
	return true;
}

void session_grown(const struct session *s)
{
	*s->hooks.growing = NULL;
	render_lock_leave(s->hooks.turns);
}
