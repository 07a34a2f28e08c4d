/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app.c - the loop and the stack of pages.
 *
 * One turn of the loop: wait for keys, signals, or the loading thread; take in all that is there;
 * draw once.  Nothing sleeps and nothing polls, except that progress is looked at ten times a second
 * while there is any.
 */
#include "view/app/app.h"

#include "analysis/describe/describe.h"
#include "base/files.h"
#include "base/mem.h"
#include "dump/lazy_dump.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "view/config.h"
#include "view/history.h"
#include "view/prompt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGES_MOST 100       /* the oldest but the first goes then */
#define FIRST_FRAME_MS 80    /* a dump that is read by then never shows a progress bar */
#define PROGRESS_MS 100

/* --- the stack --------------------------------------------------------------------------------- */

struct page *app_page(struct app *a)
{
	return a->here.pages.n > 0 ? a->here.pages.page[a->here.pages.at] : NULL;
}

void app_say(struct app *a, enum role role, const char *sentence)
{
	text_clear(&a->notice.text);
	text_add_escaped(&a->notice.text, sentence, strlen(sentence));
	a->notice.role = role;
	text_clear(&a->notice.line);
	a->dirty = true;
}

void app_say_lines(struct app *a, enum role role, const char *lines)
{
	app_say(a, role, "");
	for (size_t n; *lines; lines += n, lines += *lines == '\n') {
		n = strcspn(lines, "\n");
		if (a->notice.text.len > 0)
			text_add_char(&a->notice.text, '\n');
		text_add_escaped(&a->notice.text, lines, n);
	}
}

void app_back(struct app *a)
{
	if (a->here.pages.n > 0 && a->here.pages.at > 0)
		a->here.pages.at--;
	else if (!tabs_back(a))
		app_say(a, ROLE_NOTE, "already at the first view; q quits");
}

void app_forward(struct app *a)
{
	if (a->here.pages.at + 1 < a->here.pages.n)
		a->here.pages.at++;
	else
		app_say(a, ROLE_NOTE, "already at the last view");
}

void app_drop_pages(struct app *a, size_t from)
{
	a->session.results.shown = NULL;
	while (a->here.pages.n > from)
		page_free(a->here.pages.page[--a->here.pages.n]);
	a->here.pages.at = a->here.pages.n > 0 ? a->here.pages.n - 1 : 0;
}

void app_drop_tabs(struct app *a)
{
	for (enum tab tab = 0; tab < TABS; tab++) {
		struct page_stack *s = &a->here.kept[tab];
		while (s->n > 0)
			page_free(s->page[--s->n]);
		free(s->page);
		*s = (struct page_stack){.n = 0};
	}
}

void app_leave(struct app *a)
{
	struct err err = ERR_INIT;
	if (session_may_leave(&a->session, &err))
		app_say(a, ROLE_NOTE, err.message);
	else
		app_quit(a, a->status);
}

void app_quit(struct app *a, int status)
{
	a->quit = true;
	a->status = status;
	signals_leave(status);
}

bool app_leaves(const struct app *a, enum action action)
{
	bool list = a->session.folder != NULL; /* behind all pages of its dumps that is */
	bool first = a->here.pages.at == 0 && !panes_focused(&a->panes) && (list ? a->here.tab == TAB_DUMPS :
	    a->here.tab == tabs_first(a) || a->here.kept[tabs_first(a)].n == 0);

	if (action == ACTION_LEAVE)
		return a->here.pages.n == 0 || a->session.settings.q_quits || (first && !a->pending.asked);
	return action == ACTION_QUIT;
}

/* May what is typed behind this be text? */
static bool may_open_prompt(const struct input *in)
{
	enum action action = key_action(in->key, ANYWHERE);

	return in->pasted || action == ACTION_FILTER || action == ACTION_SEARCH || action == ACTION_PROMPT ||
	       action == ACTION_ASK || action == ACTION_HELP || (action == ACTION_NONE && key_command(in->key));
}

bool app_stop_typed(struct app *a)
{
	enum { CTRL_C = 3, ESCAPE = 27 };
	struct input in;
	bool stop = false;

	while (!a->quit && term_read(&in, false)) {
		enum action action = in.pasted ? ACTION_NONE : key_action(in.key, ANYWHERE);
		bool may_leave = !prompt_is_open() && !a->box.open && !term_keeps(may_open_prompt);
		if (may_leave && app_leaves(a, action) && !session_leave_loses(&a->session)) {
			app_quit(a, a->status);
		} else if (!in.pasted && (in.key == CTRL_C || in.key == ESCAPE || (may_leave && action == ACTION_LEAVE))) {
			term_drop_kept();
			stop = true;
		} else if (in.key != SPECIAL(KEY_CLICK)) { /* what it would meet then is not what was seen */
			term_keep(&in);
		}
	}
	return stop;
}

void app_push(struct app *a, struct page *p)
{
	struct table *both[2] = {p->ops->table(p), NULL};

	tabs_arrive(a);
	p->serial = ++a->last_serial;
	p->session = &a->session;
	if (p->ops->tables)
		p->ops->tables(p, both);
	for (int i = 0; i < 2; i++) {
		if (both[i])
			both[i]->session = &a->session;
	}
	if (app_on_columns(a) && a->here.pages.at > 0)
		a->here.pages.at--; /* it is about the page below, and goes before that may */
	if (a->here.pages.n > 0)
		app_drop_pages(a, a->here.pages.at + 1);
	if (a->here.pages.n == PAGES_MOST) {
		page_free(a->here.pages.page[1]);
		memmove(a->here.pages.page + 1, a->here.pages.page + 2, (PAGES_MOST - 2) * sizeof *a->here.pages.page);
		a->here.pages.n--;
	}
	VEC_PUSH(a->here.pages.page, a->here.pages.n, a->here.pages.cap) = p;
	a->here.pages.at = a->here.pages.n - 1;
	a->dirty = true;
	tour_look(&a->tour, p->line);
}

/* --- what is there ------------------------------------------------------------------------------ */

bool app_references_ready(const struct app *a)
{
	return a->session.dump && a->session.dump->own;
}

bool app_profiles_alone(const struct app *a)
{
	return !a->options->heap->path && !a->session.dump;
}

void app_find_retained(struct app *a)
{
	if (a->finding.running || opened_retained(a->session.dump) ||
	    session_heap(&a->session)->no_references)
		return;
	if (retained_job_start(&a->finding, &a->session.dump->model, a->loader.wake[1]))
		app_say(a, ROLE_ERROR, a->finding.job.err.message);
}

/* --- loading ----------------------------------------------------------------------------------- */

void app_first_page(struct app *a)
{
	a->here.tab = tabs_first(a);
	app_run_line(a, a->here.tab == TAB_DUMPS ? "dumps" : app_profiles_alone(a) ? "trend" :
	    a->here.tab == TAB_OVERVIEW ? "overview" : "histo");
	if (a->here.tab == TAB_DUMPS) /* what was asked for is asked of a dump */
		return;
	if (a->n_left > 0 && a->options->start >= TAB_GROWTH) /* that was asked for once, of all dumps */
		return;
	/* something to stand on until the page asked for is there: it comes unless keys come before */
	if (a->options->start > TAB_HISTOGRAM && tabs_offers(a, (enum tab)a->options->start) && a->here.pages.n > 0 &&
	    !a->pending.asked)
		tabs_show(a, (enum tab)a->options->start);
}

/* "; nope.hprof cannot be opened: No such file or directory": what a comparison is going to leave out, and is found
 * without reading anything. */
static bool add_unreadable(struct text *to, struct session_dump *const *dump, size_t n)
{
	size_t lacking = 0;

	for (size_t i = 0; i < n; i++) {
		if (dump[i]->opened || source_has_no_file(dump[i]->path) || file_readable(dump[i]->path))
			continue;
		if (lacking++ > 0)
			continue;
		int error = errno;
		text_add(to, "; ");
		text_add_escaped(to, dump[i]->path, strlen(dump[i]->path));
		text_addf(to, " cannot be opened: %s", strerror(error));
	}
	if (lacking > 1)
		text_addf(to, "; %zu more cannot be opened", lacking - 1);
	return lacking > 0;
}

/* Once, and where nothing more urgent is to be said. */
static void say_older(struct app *a)
{
	struct text t = TEXT_INIT;
	size_t older = a->session.n_dumps - 1;

	if (!session_compares(&a->session) || a->notice.text.len)
		return;
	text_addf(&t, "%zu older dump%s: press 7 for growth", older, older == 1 ? "" : "s");
	bool lacks = add_unreadable(&t, a->session.dumps, older);
	app_say(a, lacks ? ROLE_ERROR : ROLE_NOTE, t.s);
	text_release(&t);
}

/* What to do, for all of it would cover the page; where the disk lacks room, which folder's, too. */
static void add_shortage(const struct heap *h, struct text *to)
{
	size_t n;
	const char *advice = err_advice(&h->shortage, &n);

	if (!advice || h->shortage.code != ERR_NOMEM) {
		text_addf(to, "references were not read: %s", h->shortage.message);
		return;
	}
	text_add(to, "no memory for references: ");
	text_add_n(to, advice, n);
}

void app_say_damage(struct app *a)
{
	const struct heap *h = session_heap(&a->session);
	struct text t = TEXT_INIT;

	a->index_told = h->index_refused;
	if (h->index_refused)
		app_say(a, ROLE_ERROR, h->index_refused);
	if (h->no_references) {
		add_shortage(h, &t);
		app_say(a, ROLE_ERROR, t.s);
		a->status = 4;
	} else if (h->damaged) {
		text_addf(&t, "%s%s", h->damage.message,
		    h->damage.has_offset ? "; cairn shows the part before it" : "");
		app_say(a, ROLE_ERROR, t.s);
		a->status = 4;
	} else if (h->dump_absent && !h->index_refused) {
		app_say(a, ROLE_NOTE, values_away(h) ? "only the index of the dump is present: values and strings are ?" :
		    "only the index of the dump is present");
	} else if (h->n_warnings > 0 && !h->index_refused) {
		text_add_count(&t, h->n_warnings);
		text_addf(&t, " warning%s about the dump: i shows them", h->n_warnings == 1 ? "" : "s");
		app_say(a, ROLE_NOTE, t.s);
	} else if (h->source) {
		exec_add_pause(h->source->path, &t);
		if (t.len)
			app_say(a, ROLE_NOTE, t.s);
	}
	text_release(&t);
}

void app_watch_file(struct app *a)
{
	struct opened *o = a->work.job ? NULL : a->session.dump;
	const char *refused = o ? o->heap->index_refused : NULL;
	enum file_fate fate = o ? opened_look(o) : FILE_SAME;

	if (refused && refused != a->index_told) {
		a->index_told = refused;
		if (fate != FILE_INDEX_LOST) /* then nothing of it is valid, which says more */
			app_say(a, ROLE_ERROR, refused);
	}
	if (!o || fate <= a->here.fate_told)
		return;
	a->here.fate_told = fate;
	app_say(a, ROLE_ERROR, o->fate_words.message);
	a->status = 4;
}

static void loaded(struct app *a)
{
	app_forget_stop(a);
	if (!a->loader.heap) {
		int code = a->loader.job.result;
		app_quit(a, code == ERR_CANCELLED ? 130 : code == ERR_USAGE ? 2 : 3);
		return;
	}
	if (!a->session.dump)
		session_open(&a->session, session_newest(&a->session), a->loader.heap);
	opened_read_class_sums(a->session.dump);
	opened_own(a->session.dump, a->loader.heap);
	a->loader.heap = NULL;
	if (a->here.pages.n == 0 && !a->pending.asked)
		app_first_page(a);
	app_restore_view(a);
	if (a->here.pages.n == 0 && !a->pending.asked) { /* keys would wait for a page for ever */
		app_quit(a, 3);
		return;
	}
	app_bring_kept(a);
	app_say_damage(a);
	a->index_due = session_heap(&a->session)->asked.index && !session_heap(&a->session)->saved;
	say_older(a);
	app_find_retained(a);
	app_run_pending(a);
	if (config_complaint(a->options->config) && !a->notice.text.len)
		app_say(a, ROLE_ERROR, config_complaint(a->options->config));
	size_t wrong;
	if (layouts_blamed(&wrong) && !a->notice.text.len)
		app_say(a, ROLE_ERROR, layouts_blamed(&wrong));
}

static void loading_events(struct app *a)
{
	unsigned events = loader_poll(&a->loader);

	if (events & LOADER_EARLY && !(events & (LOADER_GONE | LOADER_DONE))) {
		session_open(&a->session, session_newest(&a->session), atomic_load(&a->loader.early));
		opened_read_class_sums(a->session.dump);
		app_first_page(a);
	}
	if (events & LOADER_GONE) {
		app_keep_view(a);
		if (a->pending.tab == (enum tab)a->options->start)
			app_drop_pending(a); /* it is asked for once more behind the histogram */
		app_drop_tabs(a);
		app_drop_pages(a, 0);
		a->here.tab = tabs_first(a); /* what comes first once more is that */
		if (a->session.dump) /* it may be gone before it was shown */
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
			app_quit(a, 128 + signal);
			break;
		}
	}
}

static bool may_draw(struct app *a)
{
	return a->dirty && (a->here.pages.n > 0 || a->loader.finished ||
	    loader_age_ms(&a->loader) >= FIRST_FRAME_MS);
}

/* Of two times to wait, where -1 is for ever. */
static int sooner(int a, int b)
{
	return b >= 0 && (a < 0 || b < a) ? b : a;
}

static int wait_ms(struct app *a, bool more_work)
{
	if (more_work || may_draw(a)) /* drawing asks for another one where a pane fades */
		return 0;
	if (a->loader.finished) {
		int most = a->finding.running || a->inflating ? PROGRESS_MS : -1;
		most = sooner(most, app_refresh_wait_ms(a));
		return sooner(most, sooner(panes_wait_ms(&a->panes), prompt_wait_ms()));
	}
	uint64_t age = loader_age_ms(&a->loader);
	return age < FIRST_FRAME_MS ? (int)(FIRST_FRAME_MS - age) : PROGRESS_MS;
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

/* Does it act before there is anything to see?  Behind what opens a prompt a letter is text. */
static bool acts_early(const struct input *in, bool is_key)
{
	enum action action = in->pasted ? ACTION_NONE : key_action(in->key, ANYWHERE);

	return action == ACTION_CANCEL || action == ACTION_SUSPEND || action == ACTION_REDRAW ||
	       ((action == ACTION_QUIT || action == ACTION_LEAVE) && is_key);
}

/* All that were typed, in their order; before the first page they wait for it. */
static void take_keys(struct app *a)
{
	struct input in;
	bool early = a->here.pages.n == 0;

	while (!a->quit) {
		/* ^C or Esc came before its answer could be seen: it was not meant for what comes now */
		if (a->work.unseen && app_stop_typed(a))
			app_say(a, ROLE_NOTE, "already done");
		if ((early || !term_read_kept(&in)) && !term_read(&in, prompt_is_open()))
			return;
		a->dirty = true;
		if (early && !acts_early(&in, !term_keeps(may_open_prompt))) {
			text_clear(&a->notice.text);
			term_keep(&in);
		} else {
			app_input(a, &in);
		}
	}
}

/* Keys that made a job give way are heard at once; before the first page they wait for that. */
static bool keys_wait(const struct app *a)
{
	return a->here.pages.n > 0 && term_first_kept();
}

static void turn(struct app *a)
{
	struct pollfd fds[3] = {
	    {.fd = term_fd(), .events = POLLIN},
	    {.fd = signals_fd(), .events = POLLIN},
	    {.fd = loader_fd(&a->loader), .events = POLLIN},
	};

	app_find_late(a);
	app_find_alert(a);
	app_write_index(a);
	a->dirty |= theme_follow_background();
	a->dirty |= prompt_begins_list();
	if (may_draw(a)) {
		a->dirty = false;
		a->work.unseen = false;
		app_draw(a);
	}
	app_want_panes(a);
	app_find_band(a);
	if (app_refresh_overview(a) || app_refresh(a))
		return;
	int n = poll(fds, 3, wait_ms(a, work_on(a) || keys_wait(a)));
	if (n < 0 && errno != EINTR)
		app_quit(a, a->status);
	if (!a->loader.finished || a->finding.running)
		a->dirty = true;
	if (n > 0 && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		app_quit(a, 128 + SIGHUP); /* the terminal is gone */
	app_take_signals(a);
	loading_events(a);
	app_take_retained(a);
	app_inflate(a);
	take_keys(a);
	if (!a->quit)
		app_follow(a);
}

/* --- life -------------------------------------------------------------------------------------- */

struct completing {
	const struct session *session;
	const char *line;
	size_t end, limit, start, n;
	char **found;
};

static int find_candidates(void *context, struct progress *progress, struct err *err)
{
	struct completing *c = context;

	c->found = session_complete(c->session, c->line, c->end, c->limit, &c->start, &c->n);
	return progress_check(progress, err);
}

/* Behind the word that was wrong in the line before: what may have been meant. */
static void offer_nearest(const struct notice *failed, struct completing *c)
{
	const struct err *err = &failed->err;
	const char *word;
	size_t n, cap = 0;

	if (!failed->line.len || err->end != c->end || strncmp(failed->line.s, c->line, c->end) != 0)
		return;
	free(c->found);
	c->found = NULL;
	c->start = err->begin;
	for (unsigned i = 0; (word = err_nearest(err, i, &n)) != NULL; i++)
		VEC_PUSH(c->found, c->n, cap) = xstrndup(word, n);
}

/* In a large dump names may be many, so it is a job; it gives way to the next key if nobody asked. */
static char **complete(
    void *context, const char *line, size_t end, size_t limit, bool asked, size_t *start, size_t *n)
{
	struct app *a = context;
	struct page *p = app_page(a);
	struct completing c = {.session = &a->session, .line = line, .end = end, .limit = limit, .start = end};
	struct selection selection;

	app_select(a, &selection);
	a->session.results.shown = p ? page_result(p) : NULL;
	a->session.results.selection = &selection;
	a->work.gives_way = !asked;
	if (session_work(&a->session, find_candidates, &c, NULL)) {
		while (c.n > 0)
			free(c.found[--c.n]);
		free(c.found);
		c.found = NULL;
	} else if (asked && c.n == 0) {
		offer_nearest(&a->notice, &c);
	}
	a->work.gives_way = false;
	a->session.results.shown = NULL;
	a->session.results.selection = NULL;
	selection_release(&selection);
	*start = c.start;
	*n = c.n;
	return c.found;
}

static void bring_history(struct app *a)
{
	size_t n;
	char **line = history_read(&n);

	prompt_init(complete, a, line, n);
	for (size_t i = 0; i < n; i++)
		VEC_PUSH(a->session.lines.history, a->session.lines.n_history, a->session.lines.cap_history) = line[i];
	free(line);
}

static void say_how_it_ended(const struct app *a)
{
	if (a->status == 2 || a->status == 3)
		complain("%s", a->loader.job.result || !a->notice.text.s ? a->loader.job.err.message : a->notice.text.s);
	else if (!a->loader.finished && source_is_process(a->options->heap->path))
		complain("stopped; %s goes on", a->options->heap->path);
}

static void begin_with_profiles(struct app *a)
{
	bool all_read = true;

	app_tell_profiles(a);
	app_first_page(a);
	for (size_t i = 0; i < a->session.n_dumps; i++)
		all_read &= a->session.dumps[i]->read;
	if (a->here.pages.n == 0) /* nothing to stand on: none could be read, or ^C */
		app_quit(a, all_read ? 3 : 130);
	else if (a->options->line)
		app_run_line(a, a->options->line);
}

static int browse(struct app *a, struct err *err)
{
	struct term_options options = {
	    .ascii = a->options->ascii, .mouse = a->options->mouse};
	int rc = term_open(&options, err);

	if (rc)
		return rc;
	theme_init(a->options->color, (enum theme_name)a->options->theme);
	bring_history(a);
	rc = loader_start(&a->loader, a->options->heap, err);
	if (!rc && app_profiles_alone(a))
		begin_with_profiles(a);
	while (!rc && !a->quit)
		turn(a);
	/* the terminal first: nothing that goes on and no large heap is waited for in front of a dead screen */
	term_close();
	prompt_release();
	term_drop_kept();
	app_look_away(a);
	app_keep(a);
	app_drop_tabs(a);
	app_drop_pages(a, 0);
	app_release_dumps(a);
	session_drop_results(&a->session);
	return rc;
}

int view_run(const struct view_options *options)
{
	struct app a = {.options = options, .notice = {.text = TEXT_INIT}, .profiles = TEXT_INIT,
	    .profiles_when = TEXT_INIT, .dirty = true, .wanted_tab = TABS,
	    .tour = {.on = options->tour}};
	struct err err = ERR_INIT;

	path_job_stop(&a.path.job);
	session_init(&a.session);
	if (options->folder)
		session_know_folder(&a.session, options->heap, options->folder);
	else
		session_know(&a.session, options->heap, options->older, options->n_older);
	a.session.interactive = a.session.typed = a.session.finds_beside = true;
	lazy_dump_wait_never(true);
	a.main = pthread_self();
	sem_init(&a.work.asked.answered, 0, 0); /* 0 is no value that is refused */
	render_lock_init(&a.work.turns);
	a.session.hooks = (struct session_hooks){.context = &a, .shell = app_step_aside, .work = working_run,
	    .model = app_change_model, .leaves = app_leave_dump, .closes = app_close_dump, .turns = &a.work.turns,
	    .growing = &a.work.growing};
	a.session.settings.print = options->print;
	config_settings(options->config, &a.session);
	a.panes.layout = config_layout(options->config);
	a.session.settings.writes = (struct writing){.force = options->force, .ask = working_ask, .context = &a};
	int rc = browse(&a, &err);
	if (rc) {
		complain("%s", err.message);
		a.status = rc == ERR_UNSUPPORTED ? NO_SCREEN : 3;
	} else {
		say_how_it_ended(&a);
	}
	retained_job_stop(&a.finding);
	loader_close(&a.loader);
	session_release(&a.session);
	render_lock_release(&a.work.turns);
	sem_destroy(&a.work.asked.answered);
	free(a.here.pages.page);
	app_drop_pending(&a);
	invocation_drop(a.gone.asked);
	app_close_help(&a);
	saved_state_release(&a.here.state);
	app_release_alert(&a.here.alert);
	text_release(&a.notice.text);
	text_release(&a.keys.offered);
	text_release(&a.profiles);
	text_release(&a.profiles_when);
	text_release(&a.notice.line);
	return a.status;
}
