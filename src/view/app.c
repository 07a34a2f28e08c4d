/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app.c - the loop, the stack of pages, and running command lines.
 *
 * One turn of the loop: wait for keys, signals, or the loading thread; take in all that is there;
 * draw once.  Nothing sleeps and nothing polls, except that progress is looked at ten times a second
 * while there is any.
 */
#include "view/app.h"

#include "base/mem.h"
#include "command/commands.h"
#include "command/words/words.h"
#include "view/history.h"
#include "view/prompt.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOPPABLE_ROWS 200000 /* fewer are looked through before a key could be waited for */
#define PAGES_MOST 100       /* the oldest but the first goes then */
#define FIRST_FRAME_MS 80    /* a dump that is read by then never shows a progress bar */
#define PROGRESS_MS 100
#define GROUP_FROM 200       /* so many referrers are grouped by class */

/* --- the stack --------------------------------------------------------------------------------- */

struct page *app_page(struct app *a)
{
	return a->n_pages > 0 ? a->page[a->at] : NULL;
}

void app_say(struct app *a, enum role role, const char *sentence)
{
	text_clear(&a->message);
	text_add(&a->message, sentence);
	a->message_role = role;
	a->dirty = true;
}

void app_back(struct app *a)
{
	if (a->n_pages > 0 && a->at > 0)
		a->at--;
	else
		app_say(a, ROLE_NOTE, "this is the first view; q quits");
}

void app_forward(struct app *a)
{
	if (a->at + 1 < a->n_pages)
		a->at++;
	else
		app_say(a, ROLE_NOTE, "this is the last view");
}

static void drop_pages(struct app *a, size_t from)
{
	a->session.shown = NULL;
	while (a->n_pages > from)
		page_free(a->page[--a->n_pages]);
	a->at = a->n_pages > 0 ? a->n_pages - 1 : 0;
}

bool app_stop_typed(void)
{
	enum { CTRL_C = 3, ESCAPE = 27 };
	struct input in;
	bool stop = false;

	while (term_read(&in, false)) {
		if (in.pasted || (in.key != CTRL_C && in.key != ESCAPE)) {
			term_keep(&in);
			continue;
		}
		term_drop_kept();
		stop = true;
	}
	return stop;
}

/* Is a key waiting that stops what goes on? */
static bool stop_wanted(void *context)
{
	struct app *a = context;
	struct pollfd fd = {.fd = term_fd(), .events = POLLIN};

	a->looking = true;
	app_take_signals(a);
	a->looking = false;
	if (a->stopping || a->quit)
		return true;
	if (poll(&fd, 1, 0) <= 0 || !(fd.revents & POLLIN))
		return false;
	a->stopping = app_stop_typed();
	return a->stopping;
}

void app_push(struct app *a, struct page *p)
{
	struct result *r = page_result(p);

	if (r && r->n_source >= STOPPABLE_ROWS) {
		r->stop = stop_wanted;
		r->stop_context = a;
	}
	if (a->n_pages > 0)
		drop_pages(a, a->at + 1);
	if (a->n_pages == PAGES_MOST) {
		page_free(a->page[1]);
		memmove(a->page + 1, a->page + 2, (PAGES_MOST - 2) * sizeof *a->page);
		a->n_pages--;
	}
	VEC_PUSH(a->page, a->n_pages, a->cap_pages) = p;
	a->at = a->n_pages - 1;
	a->dirty = true;
}

/* --- running ----------------------------------------------------------------------------------- */

bool app_references_ready(const struct app *a)
{
	return a->session.dump && a->session.dump->own;
}

void app_find_retained(struct app *a)
{
	if (a->finding.running || opened_retained(a->session.dump) ||
	    session_heap(&a->session)->no_references)
		return;
	if (finding_start(&a->finding, &a->session.dump->model, a->loader.wake[1]))
		app_say(a, ROLE_ERROR, a->finding.job.err.message);
}

/* Does it ask for the dominator tree, and that is not there yet? */
static bool wants_retained(struct app *a, const char *word)
{
	const struct command *c = command_find(word, NULL);

	if (!c || !(c->flags & COMMAND_NEEDS_RETAINED) || opened_retained(a->session.dump))
		return false;
	app_find_retained(a);
	return a->finding.running;
}

/* Can the line be answered now?  While references are read only what asks for classes and their
 * objects can: the loading thread writes the rest. */
static bool must_wait(struct app *a, const char *line)
{
	char word[64];
	size_t n;

	line += strspn(line, " \t");
	n = strcspn(line, " \t|>");
	if (n == 0 || n >= sizeof word)
		return n != 0 && !app_references_ready(a);
	memcpy(word, line, n);
	word[n] = '\0';
	if (app_references_ready(a))
		return wants_retained(a, word);
	/* an object, a row, or a set: only the session knows what is done with it */
	if (strchr("#%$0123456789", word[0]))
		return true;
	const struct command *c = command_find(word, NULL);
	if (!c || (c->flags & COMMAND_NO_DUMP))
		return false;
	if (!session_heap(&a->session) || (c->flags & COMMAND_NEEDS_REFERENCES))
		return true;
	return c != &cmd_histo && c != &cmd_ls;
}

static void wait_with(struct app *a, const char *line)
{
	char *kept = xstrdup(line);

	free(a->pending);
	a->pending = kept;
	text_clear(&a->message); /* chrome.c says what is waited for */
}

/* What references the object, by class when there are many; NULL with a message. */
static struct result *referrers_of(struct app *a, uint64_t address)
{
	struct result *out = NULL;
	struct err err = ERR_INIT;
	char line[64];

	snprintf(line, sizeof line, "refs 0x%" PRIx64 " -in", address);
	if (session_run(&a->session, line, &out, &err) || !out)
		return NULL;
	if (out->n_rows < GROUP_FROM)
		return session_take(&a->session);
	struct result *all = session_take(&a->session);
	snprintf(line, sizeof line, "refs 0x%" PRIx64 " -in -by class", address);
	if (session_run(&a->session, line, &out, &err) || !out)
		return all;
	result_free(all);
	return session_take(&a->session);
}

/* The result of x, whole: its head begins with the object's address. */
static bool is_object(const struct result *r, const char *line)
{
	return !strpbrk(line, "|>") && r->n_columns > 0 && r->n_head > 1 &&
	       r->head[0].column == COL_ADDRESS && r->head[0].cell.type == CELL_ADDRESS;
}

/* The same question again: its answer takes the place of the one shown.  What a line with %N or $_
 * means depends on the view, so that one is never the same. */
static bool asked_again(struct app *a, const char *line)
{
	struct page *p = app_page(a);

	return p && strcmp(p->line, line) == 0 && !strpbrk(line, "%$");
}

static void show(struct app *a, struct result *r, const char *line)
{
	if (asked_again(a, line))
		drop_pages(a, a->at);
	if (r->plain_text || r->n_columns == 0) {
		app_push(a, page_new_text(r, line));
		return;
	}
	if (is_object(r, line) && app_references_ready(a)) {
		size_t n_history = a->session.n_history;
		struct result *in = referrers_of(a, r->head[0].cell.amount.n);
		/* these two were not asked for by name */
		while (a->session.n_history > n_history)
			free(a->session.history[--a->session.n_history]);
		if (in) {
			uint32_t id = heap_find(session_heap(&a->session), r->head[0].cell.amount.n);
			app_push(a, page_new_object(r, in, id, line));
			return;
		}
	}
	app_push(a, page_new_table(r, line));
}

/* The last word of the line that the message repeats is the one it means. */
static size_t meant(const char *line, const char *message)
{
	size_t at = 0, found = 0;

	while (line[at]) {
		at += strspn(line + at, " \t");
		size_t n = strcspn(line + at, " \t");
		if (n > 0) {
			char *word = xstrndup(line + at, n);
			if (strstr(message, word))
				found = at;
			free(word);
		}
		at += n;
	}
	return found;
}

static void failed(struct app *a, const char *line, const struct err *err, bool typed)
{
	if (typed && (err->code == ERR_USAGE || err->code == ERR_NOT_FOUND)) {
		text_clear(&a->prompt_error);
		text_add(&a->prompt_error, err->message);
		a->prompt_error_at = meant(line, err->message);
		prompt_open(PROMPT_COMMAND, line, SIZE_MAX);
		a->prompt_again = true;
		a->dirty = true;
		return;
	}
	app_say(a, ROLE_ERROR, err->message);
}

/* The nearest table before the page shown: what %N means on a page without rows. */
static struct result *rows_below(const struct app *a)
{
	for (size_t i = a->at; i-- > 0;) {
		struct result *r = page_result(a->page[i]);
		if (r && result_has_sets(r))
			return r;
	}
	return NULL;
}

void app_run(struct app *a, const char *line, bool typed)
{
	struct result *out = NULL;
	struct err err = ERR_INIT;
	struct page *p = app_page(a);

	if (must_wait(a, line)) {
		wait_with(a, line);
		return;
	}
	text_clear(&a->message);
	a->session.shown = p ? page_result(p) : NULL;
	a->session.shown_rows = rows_below(a);
	a->session.print.width = (unsigned)COLS;
	char *kept = xstrdup(line);
	int rc = session_run(&a->session, kept, &out, &err);
	a->session.shown = a->session.shown_rows = NULL;
	if (session_must_wait(&a->session) && rc) {
		/* it will be run again when they are there */
		app_find_retained(a);
		if (a->finding.running)
			wait_with(a, kept);
		else
			failed(a, kept, &err, typed);
	} else if (rc) {
		failed(a, kept, &err, typed);
	} else if (a->session.quit) {
		a->quit = true;
	} else if (out) {
		show(a, session_take(&a->session), kept);
	} else if (a->model_changed) {
		a->model_changed = false;
		app_say(a, ROLE_NOTE, opened_counts_weak(a->session.dump) ?
		    "weak on: sizes are found anew; the views of the old tree are closed" :
		    "weak off: sizes are found anew; the views of the old tree are closed");
	} else if (kept[strspn(kept, " ")]) {
		struct text said = TEXT_INIT;
		text_addf(&said, "%s: done", kept);
		app_say(a, ROLE_NOTE, said.s);
		text_release(&said);
	}
	free(kept);
	a->dirty = true;
}

/* A shell pipe needs the terminal for itself. */
static void shell(void *context, bool begins)
{
	struct app *a = context;

	if (begins) {
		term_pause();
		return;
	}
	term_wait_for_enter();
	while (signals_take())
		continue; /* ^C and ^Z were meant for the other program */
	term_resume();
	a->dirty = true;
}

/* Nothing beside the screen may look at what changes; pages with rows from the old tree go. */
static bool model(void *context, bool begins)
{
	struct app *a = context;

	if (!app_references_ready(a))
		return false;
	if (begins) {
		finding_stop(&a->finding);
		follow_stop(&a->follow);
		return true;
	}
	drop_pages(a, a->n_pages > 0);
	app_find_retained(a);
	a->model_changed = a->dirty = true;
	return true;
}

/* --- loading ----------------------------------------------------------------------------------- */

static void first_page(struct app *a)
{
	const char *line = a->options->first_command;

	app_run(a, line ? line : "histo", false);
	/* whatever was asked for, there is something to stand on */
	if (a->n_pages == 0 && line && !a->pending)
		app_run(a, "histo", false);
}

static void say_damage(struct app *a)
{
	const struct heap *h = session_heap(&a->session);
	struct text t = TEXT_INIT;

	if (h->no_references) {
		text_addf(&t, "the references are left out: %s", h->shortage.message);
		app_say(a, ROLE_ERROR, t.s);
		a->status = 4;
	} else if (h->damaged) {
		text_addf(&t, "%s%s", h->damage.message,
		    h->damage.has_offset ? "; what came before is shown" : "");
		app_say(a, ROLE_ERROR, t.s);
		a->status = 4;
	} else if (h->n_warnings > 0) {
		text_add_count(&t, h->n_warnings);
		text_addf(&t, " warning%s about the dump: i tells", h->n_warnings == 1 ? "" : "s");
		app_say(a, ROLE_NOTE, t.s);
	}
	text_release(&t);
}

void app_run_pending(struct app *a)
{
	char *line = a->pending;

	a->pending = NULL;
	if (line)
		app_run(a, line, false);
	free(line);
}

static void loaded(struct app *a)
{
	if (!a->loader.heap) {
		a->quit = true;
		a->status = a->loader.job.result == ERR_CANCELLED ? 130 : 3;
		return;
	}
	if (!a->session.dump)
		session_open(&a->session, a->loader.heap);
	opened_own(a->session.dump, a->loader.heap);
	a->loader.heap = NULL;
	if (a->n_pages == 0 && !a->pending)
		first_page(a);
	say_damage(a);
	app_find_retained(a);
	app_run_pending(a);
}

static void loading_events(struct app *a)
{
	unsigned events = loader_poll(&a->loader);

	if (events & LOADER_EARLY && !(events & (LOADER_GONE | LOADER_DONE))) {
		session_open(&a->session, atomic_load(&a->loader.early));
		first_page(a);
	}
	if (events & LOADER_GONE) {
		drop_pages(a, 0);
		session_close(&a->session, a->session.dump);
		loader_let_go(&a->loader);
	}
	if (events & LOADER_DONE)
		loaded(a);
	if (events)
		a->dirty = true;
}

/* --- the loop ---------------------------------------------------------------------------------- */

void app_take_signals(struct app *a)
{
	int signal;

	while ((signal = signals_take()) != 0) {
		a->dirty = true;
		switch (signal) {
		case SIGWINCH:
			term_check_size();
			prompt_resize();
			break;
		case SIGINT:
			app_cancel(a);
			break;
		case SIGTSTP:
			term_suspend();
			break;
		case SIGCONT:
			term_continued();
			break;
		default:
			a->quit = true;
			a->status = 128 + signal;
			break;
		}
	}
}

static int wait_ms(struct app *a, bool more_work)
{
	if (more_work)
		return 0;
	if (a->loader.finished)
		return a->finding.running ? PROGRESS_MS : -1;
	uint64_t age = loader_age_ms(&a->loader);
	return age < FIRST_FRAME_MS ? (int)(FIRST_FRAME_MS - age) : PROGRESS_MS;
}

static bool may_draw(struct app *a)
{
	return a->dirty && (a->n_pages > 0 || a->loader.finished ||
	    loader_age_ms(&a->loader) >= FIRST_FRAME_MS);
}

static bool work_on(struct app *a)
{
	struct page *p = app_page(a);
	struct table *t = p ? p->ops->table(p) : NULL;

	if (!t || t->summed >= t->result->n_rows)
		return false;
	bool more = table_work(t);
	a->dirty = a->dirty || !more;
	return more;
}

/* Does it act before there is anything to see?  Behind others a letter may belong to a prompt. */
static bool acts_early(const struct input *in, bool first)
{
	enum action action = in->pasted ? ACTION_NONE : key_action(in->key);

	return action == ACTION_CANCEL || action == ACTION_SUSPEND || action == ACTION_REDRAW ||
	       (action == ACTION_QUIT && first);
}

/* All that were typed, in their order; before the first page they wait for it. */
static void take_keys(struct app *a)
{
	struct input in;
	bool early = a->n_pages == 0;

	while (!a->quit) {
		if ((early || !term_read_kept(&in)) && !term_read(&in, prompt_is_open()))
			return;
		a->dirty = true;
		if (early && !acts_early(&in, !a->kept_early)) {
			a->kept_early = true;
			term_keep(&in);
		} else {
			app_input(a, &in);
		}
	}
}

static void turn(struct app *a)
{
	struct pollfd fds[3] = {
	    {.fd = term_fd(), .events = POLLIN},
	    {.fd = signals_fd(), .events = POLLIN},
	    {.fd = loader_fd(&a->loader), .events = POLLIN},
	};

	app_find_late(a);
	if (may_draw(a)) {
		a->dirty = false;
		app_draw(a);
	}
	int n = poll(fds, 3, wait_ms(a, work_on(a)));
	if (n < 0 && errno != EINTR)
		a->quit = true;
	if (!a->loader.finished || a->finding.running)
		a->dirty = true;
	if (n > 0 && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
		a->quit = true; /* the terminal is gone */
		a->status = 128 + SIGHUP;
	}
	app_take_signals(a);
	loading_events(a);
	app_take_retained(a);
	take_keys(a);
	if (!a->quit)
		app_follow(a);
}

/* --- life -------------------------------------------------------------------------------------- */

static char **complete(
    void *context, const char *line, size_t end, size_t limit, size_t *start, size_t *n)
{
	struct app *a = context;

	*n = 0;
	*start = end;
	return session_complete(&a->session, line, end, limit, start, n);
}

static void bring_history(struct app *a)
{
	size_t n;
	char **line = history_read(&n);

	prompt_init(complete, a, line, n);
	for (size_t i = 0; i < n; i++)
		VEC_PUSH(a->session.history, a->session.n_history, a->session.cap_history) = line[i];
	free(line);
}

static void say_how_it_ended(const struct app *a)
{
	if (a->status == 3)
		fprintf(stderr, "cairn: %s\n", a->loader.job.err.message);
}

static int browse(struct app *a, struct err *err)
{
	struct term_options options = {
	    .ascii = a->options->ascii, .mouse = a->options->mouse};
	int rc = term_open(&options, err);

	if (rc)
		return rc;
	theme_init(a->options->color);
	bring_history(a);
	rc = loader_start(&a->loader, a->options->heap, err);
	while (!rc && !a->quit)
		turn(a);
	prompt_release();
	term_drop_kept();
	follow_stop(&a->follow);
	drop_pages(a, 0);
	session_drop_results(&a->session);
	/* the terminal first: closing a large heap is not to be waited for in front of a dead screen */
	term_close();
	return rc;
}

int view_run(const struct view_options *options)
{
	struct app a = {.options = options, .message = TEXT_INIT, .dirty = true};
	struct err err = ERR_INIT;

	setlocale(LC_CTYPE, "");
	follow_stop(&a.follow);
	session_init(&a.session);
	a.session.interactive = a.session.finds_beside = true;
	a.session.work = working_run;
	a.session.work_context = &a;
	a.session.shell = shell;
	a.session.shell_context = &a;
	a.session.model = model;
	a.session.model_context = &a;
	int rc = browse(&a, &err);
	if (rc) {
		fprintf(stderr, "cairn: %s\n", err.message);
		a.status = rc == ERR_UNSUPPORTED ? 2 : 3;
	} else {
		say_how_it_ended(&a);
	}
	finding_stop(&a.finding);
	loader_close(&a.loader);
	session_release(&a.session);
	free(a.page);
	free(a.pending);
	text_release(&a.message);
	text_release(&a.prompt_error);
	return a.status;
}
