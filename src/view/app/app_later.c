/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_later.c - what comes after a page is shown: retained sizes fill in, the path of the selected
 * object follows the cursor, an index that --index asked for is written.
 */
#include "view/app/app.h"

#include "base/mem.h"
#include "command/commands.h"
#include "command/resolve/resolve.h"
#include "dump/lazy_dump.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "result/objects.h"
#include "view/prompt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- the path line ------------------------------------------------------------------------------ */

/* The object whose path is to be seen: the selected row's where that was asked for, else the page's. */
static uint32_t path_of(struct app *a)
{
	struct page *p = app_page(a);
	struct table *t = p ? p->ops->table(p) : NULL;
	struct target target = {.kind = TARGET_NONE};

	a->path.of_row = false;
	if (!p || !app_references_ready(a))
		return HEAP_NONE;
	if (a->path.wanted && t && !t->on_head && t->row < t->result->n_rows)
		result_target(t->result, t->row, &target);
	if (target.kind == TARGET_OBJECT && target.id != HEAP_NONE && target.opened == a->session.dump) {
		a->path.of_row = true;
		return target_subject(&target);
	}
	return p->ops->object && a->path.wanted ? p->ops->object(p) : HEAP_NONE;
}

/* What the page of an object or class says of it besides its rows. */
static void follow_about(struct app *a)
{
	struct page *p = app_page(a);
	const struct opened *o = app_references_ready(a) ? a->session.dump : NULL;
	const struct retained *known = o ? opened_retained(o) : NULL;
	struct about_wish wish = {.serial = known ? known->serial : 0, .of.kind = TARGET_OBJECT};
	const struct about_wish *at = &a->about.at;
	struct bits none = {.word = NULL};
	struct result *found = NULL;
	uint32_t class;
	bool any = p && o && page_about(p, o, &wish.of.id, &class);

	if (any && wish.of.id == HEAP_NONE)
		wish.of = (struct about_subject){.kind = TARGET_CLASS, .id = class};
	about_job_poll(&a->about, &found);
	bool own = found && any && at->opened == o && about_same(&at->of, &wish.of);
	if (own)
		page_take_about(p, found, at->serial, at->quick);
	else
		result_free(found);
	a->dirty |= own;
	if (any && page_lacks_about(p, wish.serial, &wish.quick))
		wish.opened = o;
	if (about_job_wants(&a->about, &wish))
		about_job_begin(&a->about, &wish, xstrdup("about"), &none, a->loader.wake[1]);
}

void app_follow(struct app *a)
{
	const struct heap *h = session_heap(&a->session);
	int wake = a->loader.wake[1];

	follow_about(a);
	a->path.moved = false;
	if (path_job_poll(&a->path.job, wake))
		a->dirty = true;
	if (h && app_references_ready(a))
		path_job_want(&a->path.job, h, opened_retained(a->session.dump), path_of(a), wake);
	if (panes_poll(&a->panes)) {
		panes_note_exact(&a->panes, app_pane_table(a));
		a->dirty = true;
	}
	a->dirty |= classes_job_poll(&a->classes);
}

void app_look_away(struct app *a)
{
	path_job_stop(&a->path.job);
	panes_stop(&a->panes);
	about_job_stop(&a->about);
	classes_job_stop(&a->classes);
}

struct table *app_pane_table(struct app *a)
{
	struct page *p = app_page(a);

	return p && !app_on_columns(a) && panes_show(&a->panes, &a->drawn.page) ? p->ops->table(p) : NULL;
}

void app_want_panes(struct app *a)
{
	struct page *p = app_page(a);
	/* what the page is about it says itself */
	if (a->pane_of != p) {
		panes_leave(&a->panes);
		a->pane_of = p;
	}
	if (app_references_ready(a) && !a->work.job &&
	    panes_want(&a->panes, a->session.dump, app_pane_table(a), a->loader.wake[1]))
		a->dirty = true;
	struct table *t = p && !app_on_columns(a) ? p->ops->table(p) : NULL;
	bool idle = !a->work.job && !a->panes.find.running && !a->about.running && panes_wait_ms(&a->panes) < 0;
	if (t && idle && app_references_ready(a))
		classes_job_want(&a->classes, t, a->loader.wake[1]);
}

/* --- retained sizes ----------------------------------------------------------------------------- */

/* Fill in what tables left open; cells ask for themselves, but columns were hidden and heads are
 * made once. */
static void fill_in(struct result *r)
{
	const struct heap *h = r->heap;
	struct field *retained = NULL;
	uint32_t id = HEAP_NONE;

	if (!h)
		return;
	command_show_retained(r);
	for (size_t i = 0; i < r->n_head; i++) {
		if (r->head[i].column == COL_RETAINED)
			retained = &r->head[i];
		else if (i == 0 && r->head[i].column == COL_ADDRESS)
			id = heap_find(h, r->head[i].cell.amount.n);
	}
	if (retained && id != HEAP_NONE && retained->cell.type == CELL_NONE)
		retained->cell = object_retained_cell(r->opened, id);
}

static void fill_page(struct page *p)
{
	struct table *both[2] = {p->ops->table(p), NULL};
	struct result *r = page_result(p);

	if (p->ops->tables)
		p->ops->tables(p, both);
	for (int i = 0; i < 2; i++) {
		if (!both[i])
			continue;
		fill_in(both[i]->result);
		table_filled(both[i]);
	}
	if (r && !both[0])
		fill_in(r);
}

void app_fill_pages(struct app *a)
{
	for (size_t i = 0; i < a->here.pages.n; i++)
		fill_page(a->here.pages.page[i]);
	for (enum tab tab = 0; tab < TABS; tab++)
		for (size_t i = 0; i < a->here.kept[tab].n; i++)
			fill_page(a->here.kept[tab].page[i]);
}

void app_keep_view(struct app *a)
{
	struct page *p = app_page(a);
	bool first = a->here.pages.at == 0;

	if (!p || !p->asked || p->asked->of_view || a->pending.asked || (first && a->here.tab == tabs_first(a)))
		return;
	a->gone = (struct gone_view){invocation_keep(p->asked), first ? a->here.tab : TABS};
}

void app_restore_view(struct app *a)
{
	struct gone_view gone = a->gone;
	bool stays = a->here.pages.at == 0 && a->here.tab == tabs_first(a); /* else somebody went elsewhere meanwhile */

	a->gone.asked = NULL;
	if (gone.asked && stays && gone.tab != TABS)
		tabs_show(a, gone.tab);
	else if (gone.asked && stays)
		app_run(a, gone.asked, false);
	invocation_drop(gone.asked);
}

struct notice_kept app_keep_notice(const struct app *a)
{
	const struct text *said = &a->notice.text;

	return (struct notice_kept){said->len > 0 ? xstrdup(said->s) : NULL,
	    xstrdup(a->notice.line.len > 0 ? a->notice.line.s : ""), a->notice.role};
}

void app_restore_notice(struct app *a, struct notice_kept *kept)
{
	if (kept->words && a->notice.text.len == 0) {
		app_say_lines(a, kept->role, kept->words);
		text_add(&a->notice.line, kept->line);
	}
	free(kept->words);
	free(kept->line);
}

bool app_was_stopped(void)
{
	enum { CTRL_C = 3, ESCAPE = 27 };
	const struct input *in = term_first_kept();
	struct input gone;

	return !in || ((in->key == CTRL_C || in->key == ESCAPE) && term_read_kept(&gone));
}

/* The overview was shown with what was known then: ask again, until a key comes.  Where it stands nothing moves. */
bool app_refresh_overview(struct app *a)
{
	struct page *p = app_page(a);
	struct result *r = NULL;
	struct err err = ERR_INIT;

	if (!page_is_overview(p) || !result_is(page_result(p), RESULT_LACKS_ROWS) || a->work.job || a->pending.asked ||
	    prompt_is_open() || !opened_retained(a->session.dump) || term_first_kept())
		return false;
	struct notice_kept before = app_keep_notice(a);
	a->work.gives_way = true;
	int code = session_look(&a->session, p->line, &r, &err);
	a->work.gives_way = false;
	if (!code && r && p == app_page(a)) {
		struct page *next = page_new_overview(r, p->asked);
		next->session = p->session;
		p->ops->table(next)->session = &a->session;
		overview_go_on(next, p);
		a->here.pages.page[a->here.pages.at] = next;
		page_free(p);
	} else {
		result_free(r);
	}
	app_restore_notice(a, &before);
	a->dirty = true;
	if (code && (code != ERR_CANCELLED || app_was_stopped())) { /* not again */
		result_mark(page_result(p), RESULT_LACKS_ROWS, false);
		app_say(a, code == ERR_CANCELLED ? ROLE_NOTE : ROLE_ERROR, code == ERR_CANCELLED ?
		    "stopped; :overview finds the rest" : err.message);
	}
	return !code;
}

void app_release_alert(struct alert *alert)
{
	free(alert->sentence);
	free(alert->line);
	*alert = (struct alert){.known = false};
}

/* A key that comes meanwhile goes first; then it is looked for again. */
static void find_alert(struct app *a)
{
	struct alert *alert = &a->here.alert;
	struct err err = ERR_INIT;

	struct notice_kept before = app_keep_notice(a);
	a->work.gives_way = true;
	int code = command_alert(&a->session, &alert->sentence, &alert->line, &err);
	a->work.gives_way = false;
	alert->known = code != ERR_CANCELLED || app_was_stopped();
	app_restore_notice(a, &before);
	a->dirty |= alert->line != NULL;
}

/* Children for the lines over the heap's tree: a key that comes meanwhile goes first. */
void app_find_band(struct app *a)
{
	struct page *p = app_page(a);
	struct err err = ERR_INIT;

	if (!p || a->dirty || !page_lacks_band(p) || a->work.job || a->pending.asked || prompt_is_open() ||
	    term_first_kept())
		return;
	struct notice_kept before = app_keep_notice(a);
	a->work.gives_way = true;
	int code = page_find_band(p, &err);
	a->work.gives_way = false;
	app_restore_notice(a, &before);
	if (code && (code != ERR_CANCELLED || app_was_stopped())) /* not again */
		page_give_band_up(p);
	a->dirty = true;
}

/* The overview has it by itself. */
void app_find_alert(struct app *a)
{
	if (!a->here.alert.known && app_references_ready(a) && a->here.pages.n > 0 && !page_is_overview(app_page(a)) &&
	    !a->work.job && !prompt_is_open() && !term_first_kept())
		find_alert(a);
}

const struct alert *app_alert(struct app *a)
{
	if (!a->here.alert.known && app_references_ready(a))
		find_alert(a);
	return &a->here.alert;
}

/* Comparisons are about several dumps, and the overview has it itself. */
bool app_shows_alert(struct app *a)
{
	const struct alert *alert = &a->here.alert;

	return alert->line && !alert->dismissed && a->session.dump && a->here.pages.n > 0 && a->here.pages.at == 0 &&
	       a->here.tab < TAB_GROWTH && !page_is_overview(app_page(a));
}

static int find_late(void *result, struct progress *progress, struct err *err)
{
	return result_find_late(result, progress, err);
}

void app_find_late(struct app *a)
{
	struct page *p = app_page(a);
	struct table *both[2] = {p ? p->ops->table(p) : NULL, NULL};
	struct err err = ERR_INIT;

	if (p && p->ops->tables)
		p->ops->tables(p, both);
	for (int i = 0; i < 2; i++) {
		struct result *r = both[i] ? both[i]->result : NULL;
		if (!r || !result_is_late(r))
			continue;
		struct notice_kept before = app_keep_notice(a);
		int code = session_work(&a->session, find_late, r, &err);
		result_take_late(r, code);
		if (code)
			app_say(a, ROLE_ERROR, err.message);
		app_restore_notice(a, &before);
		table_filled(both[i]);
		a->dirty = true;
	}
}

void app_add_word(struct text *to, const char *s)
{
	for (; *s; s++) {
		if ((uint8_t)*s < 0x80 && !isalnum((unsigned char)*s) && !strchr("/._-", *s))
			text_add_char(to, '\\');
		text_add_char(to, *s);
	}
}

void app_write_index(struct app *a)
{
	if (!a->index_due || a->pending.asked || a->here.pages.n == 0 || !opened_retained(a->session.dump))
		return;
	const struct heap *h = session_heap(&a->session);
	struct text line = TEXT_INIT;
	struct err err = ERR_INIT;
	a->index_due = false;
	if (index_file_may_replace(h->asked.index, h->source->path, &err)) {
		app_say(a, ROLE_ERROR, err.message);
		return;
	}
	text_add(&line, "index ");
	app_add_word(&line, h->asked.index);
	app_run_line(a, line.s);
	text_release(&line);
}

/* Its values are ? from here on, which rows that are shown do not know. */
static void lose_values(struct app *a)
{
	app_change_model(a, true);
	opened_lose_values(a->session.dump);
	app_change_model(a, false);
	a->model_changed = false;
}

void app_inflate(struct app *a)
{
	const struct dump *dump = app_references_ready(a) ? session_heap(&a->session)->dump : NULL;

	if (a->inflating && a->inflating == dump) {
		a->dirty = true;
		if (!lazy_dump_progress(dump)) {
			a->inflating = NULL;
			app_fill_pages(a);
		}
	} else if (dump && dump != a->inflated && a->here.pages.n > 0) {
		lazy_dump_begin(dump);
		a->inflated = dump;
		a->inflating = lazy_dump_progress(dump) ? dump : NULL;
	}
	if (dump && lazy_dump_failed(dump, NULL) && values_held(session_heap(&a->session)))
		lose_values(a);
}

void app_take_retained(struct app *a)
{
	int result;

	if (!retained_job_poll(&a->finding, &result))
		return;
	a->dirty = true;
	if (result == 0) {
		app_look_away(a); /* from what may be replaced */
		opened_take_retained(a->session.dump, &a->finding.found);
		app_fill_pages(a);
		app_run_pending(a);
		return;
	}
	app_drop_pending(a);
	if (result != ERR_CANCELLED)
		app_say(a, ROLE_ERROR, a->finding.job.err.message);
}
