/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_run.c - running command lines: which must wait for what is still being read or found, what is
 * shown of an answer, and what the session asks of the screen.
 */
#include "view/app/app.h"

#include "base/mem.h"
#include "command/args/args.h"
#include "command/commands.h"
#include "heap/heap.h"
#include "view/config.h"
#include "view/prompt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_FROM 200 /* so many referrers are grouped by class */

/* Does it ask for the dominator tree, and that is not there yet? */
static bool wants_retained(struct app *a, const struct command *c)
{
	if (!(c->flags & COMMAND_NEEDS_RETAINED) || opened_retained(a->session.dump))
		return false;
	app_find_retained(a);
	return a->finding.running;
}

/* Can it be answered now?  While references are read only what asks for classes and their objects can: the loading
 * thread writes the rest. */
static bool must_wait(struct app *a, const struct invocation *asked)
{
	const struct command *c = asked->command;
	const struct heap *h = session_heap(&a->session);

	if (!c || asked->empty) /* that it says at once */
		return false;
	if (!a->loader.finished && c->flags & COMMAND_SWITCHES)
		return true; /* one after the other */
	if (app_profiles_alone(a))
		return false;
	if (app_references_ready(a))
		return wants_retained(a, c);
	if (asked->line.keep)
		return true; /* what is kept is the session's */
	if (c->flags & COMMAND_NO_DUMP)
		return false;
	if (!h || (c->flags & COMMAND_NEEDS_REFERENCES))
		return true;
	if (c->flags & COMMAND_COUNTS_VALUES && !h->settled)
		return true; /* values come with the references */
	return !asked->early;
}

static void wait_with(struct app *a, struct invocation *asked, struct selection *selection)
{
	invocation_keep(asked);
	app_drop_pending(a);
	a->pending.asked = asked;
	a->pending.selection = *selection;
	*selection = (struct selection){.row = NULL};
	a->pending.tab = a->wanted_tab;
	a->pending.moved_on = false;
	text_clear(&a->notice.text); /* chrome.c says what is waited for */
}

void app_drop_pending(struct app *a)
{
	invocation_drop(a->pending.asked);
	a->pending.asked = NULL;
	selection_release(&a->pending.selection);
}

/* What references the object, by class when there are many; NULL with a message. */
static struct result *referrers_of(struct app *a, uint64_t address)
{
	struct result *all, *by_class;
	struct err err = ERR_INIT;
	char line[64];

	snprintf(line, sizeof line, "refs 0x%" PRIx64 " -in", address);
	if (session_look(&a->session, line, &all, &err) || !all || all->n_rows < GROUP_FROM)
		return all;
	snprintf(line, sizeof line, "refs 0x%" PRIx64 " -in -by class", address);
	if (session_look(&a->session, line, &by_class, &err) || !by_class)
		return all;
	result_free(all);
	return by_class;
}

/* What a collection contains; NULL: it is none that is known, or nothing is in it. */
static struct result *entries_of(struct app *a, uint32_t id)
{
	const struct heap *h = session_heap(&a->session);
	struct collection_size size;
	struct result *out;
	struct err err = ERR_INIT;
	char line[64];

	if (id == HEAP_NONE || !inspect_size(h, id, &size))
		return NULL;
	snprintf(line, sizeof line, "entries 0x%" PRIx64, heap_address(h, id));
	if (session_look(&a->session, line, &out, &err) || !out || out->n_rows)
		return out;
	result_free(out);
	return NULL;
}

/* The result of x, whole: its head begins with the object's address. */
static bool is_object(const struct result *r, const struct invocation *asked)
{
	return invocation_is_plain(asked) && r->n_columns > 0 && r->n_head > 1 &&
	       r->head[0].column == COL_ADDRESS && r->head[0].cell.type == CELL_ADDRESS;
}

/* The same question again: its answer takes the place of the one shown.  What a line with %N or $_
 * means depends on the view, so that one is never the same. */
bool app_asked_again(struct app *a, const struct invocation *asked)
{
	struct page *p = app_page(a);

	return p && asked && strcmp(p->line, asked->text) == 0 && !asked->of_view;
}

struct page *app_new_table(struct app *a, struct result *r, struct invocation *asked)
{
	config_columns(a->options->config, asked, r);
	return page_new_table(r, asked);
}

static struct page *new_class(struct app *a, struct result *r, struct invocation *asked)
{
	config_columns(a->options->config, asked, r);
	return page_new_class(r, asked);
}

/* used: the selection was, so that the answer's page is no invocation's. */
static void show(struct app *a, struct result *r, struct invocation *asked, bool used, bool typed)
{
	struct invocation *as = used ? NULL : asked;
	enum tab tab = a->here.tab;
	size_t at = a->here.pages.at;

	if (asked->command->flags & COMMAND_ARRANGES && result_is(r, RESULT_EXPLAINS)) {
		result_free(r);
		app_choose_columns(a);
		return;
	}
	if (app_asked_again(a, as))
		app_drop_pages(a, a->here.pages.at);
	if (result_is(r, RESULT_PLAIN_TEXT) || r->n_columns == 0) {
		app_push(a, page_new_text(r, as));
		return;
	}
	if (asked->command->flags & COMMAND_IN_PARTS && r->sorted_by < 0) {
		app_push(a, page_new_overview(r, as));
		return;
	}
	if (is_object(r, asked) && app_references_ready(a)) {
		uint32_t id = heap_find(session_heap(&a->session), r->head[0].cell.amount.n);
		struct result *in = referrers_of(a, r->head[0].cell.amount.n);
		struct result *entries = in && !typed ? entries_of(a, id) : NULL; /* x, typed, asks for fields */
		if (in) {
			tabs_return(a, tab, at);
			app_push(a, page_new_object(r, in, entries, id, as));
			return;
		}
	}
	tabs_return(a, tab, at);
	if (asked->command->flags & COMMAND_LISTS_OBJECTS && invocation_is_plain(asked) && app_references_ready(a) &&
	    r->opened == a->session.dump && r->all_of)
		app_push(a, new_class(a, r, as));
	else
		app_push(a, app_new_table(a, r, as));
}

/* The prompt is closed: keys act again, and Up in the next one brings the line. */
static void failed(struct app *a, const struct invocation *asked, const struct err *err, bool typed)
{
	app_say(a, ROLE_ERROR, err->message);
	if (!typed)
		return;
	text_add(&a->notice.line, asked->text);
	a->notice.err = *err;
}

/* The nearest table before the page shown: what %N means on a page without rows. */
static struct result *rows_below(const struct app *a)
{
	for (size_t i = a->here.pages.at; i-- > 0;) {
		struct result *r = page_result(a->here.pages.page[i]);
		if (r && result_has_sets(r))
			return r;
	}
	return NULL;
}

/* Is the answer a page that one came through?  Then its place is kept.  What is shown of the session changes
 * meanwhile, and values that are read from another file than was loaded. */
static bool gone_back(struct app *a, const struct invocation *asked)
{
	const struct command *c = asked->command;
	const struct opened *o = a->session.dump;

	if (!c || asked->of_view || !invocation_is_plain(asked) || (!o && !app_profiles_alone(a)) ||
	    (o && o->fate != FILE_SAME) || c->flags & (COMMAND_NO_DUMP | COMMAND_LISTS_DUMPS | COMMAND_OF_SESSION))
		return false;
	for (size_t i = 0; i < a->here.pages.at; i++) {
		struct result *r = page_result(a->here.pages.page[i]);
		if (strcmp(a->here.pages.page[i]->line, asked->text) != 0 || !r || result_is(r, RESULT_EXPLAINS))
			continue;
		a->here.pages.at = i;
		a->dirty = true;
		return true;
	}
	return false;
}

/* Other dumps are open than before, or at hand.  added: the session has one more. */
static void switched(struct app *a, bool added)
{
	if (a->came)
		app_come_to_dump(a);
	app_series_changed(a, added);
}

static void run(struct app *a, struct invocation *asked, bool typed, struct selection *selection)
{
	struct result *out = NULL;
	struct err err = ERR_INIT;
	struct page *p = app_page(a);
	struct table left;
	enum tab tab = a->here.tab;
	size_t at = a->here.pages.at, n_dumps = a->session.n_dumps;

	if (must_wait(a, asked)) {
		wait_with(a, asked, selection);
		return;
	}
	if (gone_back(a, asked)) {
		app_say(a, ROLE_NOTE, "returned to the open view");
		return;
	}
	text_clear(&a->notice.text);
	a->session.results.selection = selection;
	a->session.results.shown = p ? page_result(p) : NULL;
	a->session.results.shown_rows = rows_below(a);
	a->session.settings.print.width = (unsigned)COLS;
	working_begin(a, asked);
	a->came = false;
	bool leave_asked = a->session.leave_asked && typed;
	int rc = session_run(&a->session, asked, &out, &err);
	a->session.leave_asked &= !leave_asked;
	bool looked = so_far_end(a, &left);
	a->session.results.shown = a->session.results.shown_rows = NULL;
	a->session.results.selection = NULL;
	if (!a->model_changed && !a->came) /* one may have looked at other pages meanwhile */
		tabs_return(a, tab, at);
	struct result *answer = !rc && out ? session_take(&a->session) : NULL;
	unsigned flags = asked->command ? asked->command->flags : 0;
	if (a->came || a->session.n_dumps != n_dumps || flags & COMMAND_SWITCHES)
		switched(a, a->session.n_dumps != n_dumps || flags & COMMAND_TAGS);
	if (!rc && a->session.dump && flags & COMMAND_SAVED)
		saved_state_write(&a->here.state, a->session.dump);
	if (session_must_wait(&a->session) && rc) {
		/* it will be run again when they are there */
		app_find_retained(a);
		if (a->finding.running)
			wait_with(a, asked, selection);
		else
			failed(a, asked, &err, typed);
	} else if (rc) {
		failed(a, asked, &err, typed);
	} else if (a->session.quit) {
		result_free(answer);
		app_quit(a, a->status);
	} else if (answer) {
		show(a, answer, asked, selection->used, typed);
		if (looked && app_table(a))
			table_go_on(app_table(a), &left);
		if (a->session.lines.said.len > 0)
			app_say(a, ROLE_NOTE, a->session.lines.said.s);
	} else if (a->model_changed) {
		a->model_changed = false;
		app_say(a, ROLE_NOTE, opened_counts_weak(a->session.dump) ?
		    "weak on: retained sizes are computed again; views of the old tree are closed" :
		    "weak off: retained sizes are computed again; views of the old tree are closed");
	} else if (a->session.lines.said.len > 0) {
		app_say(a, ROLE_NOTE, a->session.lines.said.s);
	} else if (asked->text[strspn(asked->text, " ")]) {
		struct text said = TEXT_INIT;
		text_addf(&said, "%s: done", asked->text);
		app_say(a, ROLE_NOTE, said.s);
		text_release(&said);
	}
	working_end(a);
	a->dirty = true;
}

void app_run(struct app *a, struct invocation *asked, bool typed)
{
	struct selection selection;

	app_select(a, &selection);
	run(a, asked, typed, &selection);
	selection_release(&selection);
}

void app_run_line(struct app *a, const char *line)
{
	struct invocation *asked = invocation_of(line);

	app_run(a, asked, false);
	invocation_drop(asked);
}

/* Rows are counted as they stood when the line was asked for. */
static bool means_row(const struct invocation *asked, const struct selection *selection)
{
	return asked->of_row || (selection->row && selection->row[0] == '%');
}

void app_run_pending(struct app *a)
{
	struct invocation *asked = a->pending.asked;
	struct selection selection = a->pending.selection;
	enum tab shown = a->here.tab, wanted = a->pending.tab;
	bool moved_on = a->pending.moved_on;

	if (!asked)
		return;
	a->pending.asked = NULL;
	a->pending.selection = (struct selection){.row = NULL};
	a->wanted_tab = wanted;
	if (wanted == TABS && moved_on && means_row(asked, &selection)) /* main pages mean no row */
		app_say(a, ROLE_NOTE, "dropped the waiting command: its row may have changed");
	else
		run(a, asked, false, &selection);
	a->wanted_tab = TABS;
	selection_release(&selection);
	if (a->pending.asked)
		a->pending.moved_on = moved_on; /* it waits on, for retained sizes now */
	else if (wanted != TABS && moved_on && a->here.tab != shown)
		tabs_leave_ready(a, shown);
	invocation_drop(asked);
}

/* A shell pipe needs the terminal for itself. */
void app_step_aside(void *context, bool begins)
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
bool app_change_model(void *context, bool begins)
{
	struct app *a = context;

	if (!app_references_ready(a))
		return false;
	if (begins) {
		retained_job_stop(&a->finding);
		app_look_away(a);
		return true;
	}
	tabs_back(a);
	app_drop_tabs(a);
	app_drop_pages(a, a->here.pages.n > 0);
	app_forget_pages(a, a->session.dump);
	app_find_retained(a);
	a->model_changed = a->dirty = true;
	return true;
}

