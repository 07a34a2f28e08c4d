/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_keys.c - what a key does.
 *
 * A key that asks something becomes a command line; everything else moves in what is shown.
 */
#include "view/app/app.h"

#include "base/mem.h"
#include "command/commands.h"
#include "dump/lazy_dump.h"
#include "dump/source/source.h"
#include "result/why.h"
#include "view/config.h"
#include "view/history.h"
#include "view/prompt.h"

#include <stdlib.h>
#include <string.h>

/* --- single actions ---------------------------------------------------------------------------- */

/* In the lines above the prompt, or, where it would cover the rows it speaks of, as a page. */
static void explain(struct app *a)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	struct result *r = p ? page_result(p) : NULL;
	struct text said = TEXT_INIT;

	bool pane = panes_focused(&a->panes);
	if (pane)
		r = a->panes.shown;
	if (!r || result_is(r, RESULT_PLAIN_TEXT) || (r->n_head == 0 && r->n_rows == 0)) {
		app_say(a, ROLE_NOTE, "no numbers here");
		return;
	}
	bool of_row = !pane && t && r->n_rows > 0 && !t->on_head;
	struct why_value beside[TABLE_COLUMNS + 3];
	size_t n = of_row ? table_beside(t, beside) : 0;
	if (!pane && a->here.tab == TAB_HEAP && command_live(a->session.dump, &beside[n].cell, &beside[n + 1].cell)) {
		beside[n++].name = "live"; /* in the first line */
		beside[n++].name = "garbage";
	}
	why_explain(r, pane ? a->panes.row : of_row ? t->row : WHY_NO_ROW, beside, n, &said);
	bool covered = of_row && r == t->result && table_sentence(t) >= 0; /* by what the row says */
	if (!pane && r->note && (covered || text_width_most(r->note, (size_t)COLS) > (size_t)COLS))
		text_addf(&said, "\nthe note %ssays: %s", covered ? "" : "below ", r->note);
	if (draw_count_lines(said.s, (size_t)COLS) <= LINES / 3)
		app_say_lines(a, ROLE_NOTE, said.s);
	else
		app_push(a, page_new_lines("why", said.s));
	text_release(&said);
}

static const char still_read[] = "still reading references; ^C again quits cairn";

void app_forget_stop(struct app *a)
{
	if (a->keys.stop_asked && a->notice.text.s && strcmp(a->notice.text.s, still_read) == 0)
		text_clear(&a->notice.text);
	a->keys.stop_asked = false;
}

void app_cancel(struct app *a)
{
	if (a->work.asking) {
		a->work.refused = true;
	} else if (a->work.job) {
		job_cancel(a->work.job);
	} else if (prompt_is_open()) {
		prompt_close();
	} else if (a->pending.asked) {
		app_drop_pending(a);
		app_say(a, ROLE_NOTE, "dropped");
	} else if (!a->loader.finished && a->here.pages.n == 0 && term_first_kept()) {
		term_drop_kept();
		app_say(a, ROLE_NOTE, "dropped; ^C again quits cairn");
	} else if (!a->loader.finished && loader_reads_pipe(&a->loader)) {
		source_enough();
		app_say(a, ROLE_NOTE, "stopped reading the pipe; this is the dump so far; ^C again quits cairn");
	} else if (!a->loader.finished && a->here.pages.n == 0) {
		app_quit(a, 130); /* there is nothing to stand on */
	} else if (!a->loader.finished && !a->keys.stop_asked) {
		a->keys.stop_asked = true;
		app_say(a, ROLE_NOTE, still_read);
	} else if (!a->loader.finished) {
		app_quit(a, 130);
	} else if (a->finding.running) {
		job_cancel(&a->finding.job);
		app_say(a, ROLE_NOTE, "retained sizes stay unknown until dom or top computes them");
	} else if (a->inflating && lazy_dump_stop(a->inflating)) {
		a->inflating = NULL;
		app_say(a, ROLE_NOTE, "values stay unknown until a command needs them");
	} else {
		app_say(a, ROLE_NOTE, "nothing to stop; Q quits");
	}
}

/* Open the prompt; text: what stands in it. */
static void ask(struct app *a, enum prompt_kind kind, const char *text)
{
	struct table *t = app_table(a);

	if (kind == PROMPT_FILTER && !t) {
		app_say(a, ROLE_NOTE, "no rows to filter here");
		return;
	}
	if (kind == PROMPT_FILTER && t->filter)
		text = t->filter;
	text_clear(&a->notice.text);
	prompt_open(kind, text, SIZE_MAX);
}

/* What was found may stand where there is no room for it; which match it is, where no sentence of the row would be
 * covered. */
static void tell_match(struct app *a, struct table *t)
{
	struct text said = TEXT_INIT;

	table_tell_match(t, t->search, &said);
	if (t->matches && table_sentence(t) < 0) {
		text_add(&said, said.len ? "   match " : "match ");
		text_add_count(&said, t->match);
		text_add_char(&said, '/');
		text_add_count(&said, t->matches);
	}
	if (said.len > 0)
		app_say(a, ROLE_NOTE, said.s);
	text_release(&said);
}

/* Of cards there are no columns to choose among before they are seen; not kept, so the next answer has cards again. */
static void choose_columns(struct app *a)
{
	struct table *t = app_table(a);

	if (t && table_has_cards(t)) {
		columns_choose(t->result, NULL, "");
		app_say(a, ROLE_NOTE, "a table with all columns; } and { scroll sideways; W W: cards again");
	} else {
		app_choose_columns(a);
	}
}

/* Actions of the page itself, and what they mean where it knows none. */
static void act_in_page(struct app *a, enum action action)
{
	struct page *p = app_page(a);
	const char *message = NULL;

	bool done = p && p->ops->action(p, action, &message);
	if (done && a->session.dump && app_on_columns(a) && (action == ACTION_WIDE || action == ACTION_OPEN))
		saved_state_write(&a->here.state, a->session.dump);
	if (done)
		;
	else if (action == ACTION_WIDE)
		choose_columns(a);
	else if (action == ACTION_INTO && app_abilities(a) & CAN_DUMP)
		message = "Enter dumps the heap of this process";
	else if (action == ACTION_OPEN || action == ACTION_INTO)
		app_open_row(a); /* a branch has opened where it stands */
	else if (action == ACTION_OUT)
		app_back(a);
	else if (p)
		message = "this key does nothing in this view";
	if (message)
		app_say(a, ROLE_NOTE, message);
	else if (done && (action == ACTION_SEARCH_NEXT || action == ACTION_SEARCH_BACK) && app_table(a))
		tell_match(a, app_table(a));
}

/* From half to half of an object, into the panes and out of them.  False: there is but the one table. */
static bool next_side(struct app *a)
{
	struct page *p = app_page(a);
	struct table *both[2] = {NULL, NULL};
	const char *message = NULL;

	if (p && p->ops->tables)
		p->ops->tables(p, both);
	bool was_in_pane = panes_focused(&a->panes), last = !both[1] || p->ops->table(p) == both[1];
	last &= !p || !p->ops->on_words || !p->ops->on_words(p);
	/* there will be rows, so nothing else is meant */
	bool late = app_abilities(a) & CAN_PANE && !panes_know(&a->panes);
	if ((was_in_pane || last) && app_pane_table(a) && (panes_next_side(&a->panes) || late))
		return true;
	/* behind the panes comes what was first */
	return (p && p->ops->action(p, ACTION_SIDE, &message)) || was_in_pane;
}

/* What keys do while a pane has the keyboard; false: the same as ever. */
static bool act_in_pane(struct app *a, enum action action)
{
	struct panes *p = &a->panes;

	switch (action) {
	case ACTION_BACK:
	case ACTION_LEAVE:
	case ACTION_OUT:
		panes_leave(p);
		return true;
	case ACTION_OPEN:
	case ACTION_INTO:
		app_open_row(a);
		return true;
	case ACTION_SEARCH_NEXT:
	case ACTION_SEARCH_BACK:
		if (!p->search)
			app_say(a, ROLE_NOTE, "no earlier search; / searches");
		else if (!panes_search(p, p->search, false, action == ACTION_SEARCH_BACK))
			app_say(a, ROLE_NOTE, "no match in the panes");
		return true;
	default:
		return panes_action(p, action);
	}
}

/* And on to the next row, so that several are tagged in a row. */
static void tag(struct app *a)
{
	const char *message = NULL;
	struct target target;
	struct text line = TEXT_INIT;

	if (!(app_abilities(a) & CAN_TAG) || !app_target(a, &target)) {
		app_say(a, ROLE_NOTE, "T tags dumps for comparison in the list of dumps (9)");
		return;
	}
	text_addf(&line, "tag %s", target.command + strcspn(target.command, "0123456789"));
	app_run_line(a, line.s);
	if (app_table(a))
		table_action(app_table(a), ACTION_DOWN, &message);
	text_release(&line);
}

static void watch(struct app *a)
{
	struct target target;
	struct text line = TEXT_INIT;

	if (!(app_abilities(a) & CAN_WATCH) || !app_target(a, &target)) {
		app_say(a, ROLE_NOTE, "H watches the heap of a process in a list of processes");
		return;
	}
	text_addf(&line, "live %ld", (long)target.process);
	app_run_line(a, line.s);
	text_release(&line);
}

/* What goes first: what waits, a filter, the alert above the page. */
static void escape(struct app *a)
{
	struct table *t = app_table(a);

	if (a->pending.asked)
		app_cancel(a);
	else if (t && t->filter)
		act_in_page(a, ACTION_CLEAR_FILTER);
	else if (app_shows_alert(a))
		a->here.alert.dismissed = true;
	else
		app_back(a);
}

static void show_cause(struct app *a)
{
	static const char none[] = "no OutOfMemoryError, deadlock or damage is known";
	const struct alert *alert = app_alert(a);
	struct text said = TEXT_INIT;

	if (alert->line)
		app_run_line(a, alert->line);
	else if (a->session.dump && !alert->known)
		app_say(a, ROLE_NOTE, "the cause is looked for once references are read");
	else if (alert->sentence)
		text_addf(&said, "a user asked for this dump: %s; %s", alert->sentence, none);
	else
		text_add(&said, none);
	if (said.len)
		app_say(a, ROLE_NOTE, said.s);
	text_release(&said);
}

static void side(struct app *a)
{
	bool panes = panes_show(&a->panes, &a->drawn.page);

	if (next_side(a))
		return;
	if (!panes && a->here.pages.at + 1 < a->here.pages.n)
		app_forward(a);
	else
		app_say(a, ROLE_NOTE, panes ? "the pane has no details for this row"
		    : "no pane is shown: v shows them, from 100 columns or 30 lines on");
}

/* Of paths: all rows anew, each with the steps folded into it, or these within again. */
static void fold(struct app *a)
{
	struct text line = TEXT_INIT;

	if (app_unfolding(a, &line))
		app_run_line(a, line.s);
	else if (app_place(a) == PLACE_TREE)
		act_in_page(a, ACTION_FOLD);
	else
		app_say(a, ROLE_NOTE, "a shows each step of a path; in the heap's tree (2) it splits a row");
	text_release(&line);
}

void app_act(struct app *a, enum action action)
{
	if (panes_focused(&a->panes) && act_in_pane(a, action))
		return;
	switch (action) {
	case ACTION_SIDE:
		side(a);
		return;
	case ACTION_REFERRERS:
		app_referrers(a);
		return;
	case ACTION_BACK:
	case ACTION_LEAVE:
		if (a->pending.asked)
			app_cancel(a);
		else
			app_back(a);
		return;
	case ACTION_ESCAPE:
		escape(a);
		return;
	case ACTION_FORWARD:
		app_forward(a);
		return;
	case ACTION_CAUSE:
		show_cause(a);
		return;
	case ACTION_FILTER:
		ask(a, PROMPT_FILTER, "");
		return;
	case ACTION_SEARCH:
		ask(a, PROMPT_SEARCH, "");
		return;
	case ACTION_PROMPT:
		ask(a, PROMPT_COMMAND, "");
		return;
	case ACTION_ASK:
		ask(a, PROMPT_COMMAND, "sql ");
		return;
	case ACTION_WHY:
		explain(a);
		return;
	case ACTION_PATH:
		a->path.wanted = !a->path.wanted;
		return;
	case ACTION_COPY:
		app_copy(a);
		return;
	case ACTION_TICKET:
		app_ticket(a);
		return;
	case ACTION_COPY_ROW:
		app_copy_rows(a, a->keys.copied_row);
		a->keys.copied_row = !a->keys.copied_row;
		return;
	case ACTION_LAYOUT:
		app_say(a, ROLE_NOTE, panes_next_layout(&a->panes, &a->drawn.page));
		return;
	case ACTION_TAG:
		tag(a);
		return;
	case ACTION_WATCH:
		watch(a);
		return;
	case ACTION_MARK:
	case ACTION_GO_TO_MARK:
		a->keys.letter_for = action;
		app_say(a, ROLE_NOTE, action == ACTION_MARK ? "mark this place: type a letter"
		    : "go to a mark: type its letter; ' returns to the last place");
		return;
	case ACTION_HELP:
		app_help(a);
		return;
	case ACTION_FOLD:
		fold(a);
		return;
	default:
		act_in_page(a, action);
		return;
	}
}

/* Actions that need no page. */
static bool act_always(struct app *a, enum action action)
{
	if (app_leaves(a, action)) {
		app_leave(a);
		return true;
	}
	switch (action) {
	case ACTION_CANCEL:
		app_cancel(a);
		return true;
	case ACTION_SUSPEND:
		term_suspend();
		return true;
	case ACTION_REDRAW:
		clearok(curscr, TRUE);
		return true;
	default:
		return false;
	}
}

/* --- the prompt -------------------------------------------------------------------------------- */

/* As a regular expression of find: without special characters but *, and in any case where the search is. */
static void offer_find(struct app *a, const char *words, const char *failed)
{
	struct text re = TEXT_INIT, said = TEXT_INIT;
	bool capital = false;

	for (const char *s = words; *s; s++) {
		capital |= *s >= 'A' && *s <= 'Z';
		if (*s == '*')
			text_add_char(&re, '.');
		else if (strchr("\\[](){}+?|^$", *s))
			text_add_char(&re, '\\');
		text_add_char(&re, *s);
	}
	text_clear(&a->keys.offered);
	text_add(&a->keys.offered, capital ? "find " : "find -i ");
	app_add_word(&a->keys.offered, re.s);
	text_addf(&said, "%s; Enter: find in the whole dump", failed);
	app_say(a, ROLE_NOTE, said.s);
	text_release(&re);
	text_release(&said);
}

static void search_for(struct app *a, const char *words, bool here)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	const char *trouble = NULL;
	bool found;

	if (!*words)
		return;
	if (panes_focused(&a->panes)) {
		if (!panes_search(&a->panes, words, here, false))
			app_say(a, ROLE_NOTE, "no match in the panes");
		return;
	}
	if (t)
		found = table_search(t, words, here, false);
	else
		found = p->ops->search && p->ops->search(p, words, here, false, &trouble);
	if ((t && table_trouble(t, &trouble)) || trouble)
		app_say(a, ROLE_NOTE, trouble);
	else if (!found && t && a->session.dump && *words != '-')
		offer_find(a, words, tree_is(t->result) ? "no open row matches" : "no row matches");
	else if (!found)
		app_say(a, ROLE_NOTE, "no row matches");
	else
		text_clear(&a->notice.text);
	if (t && found)
		tell_match(a, t);
}

/* False, and it is said why: that was not done. */
static bool filter_rows(struct app *a, struct table *t, const char *words)
{
	const char *trouble;

	table_filter(t, words);
	if (!table_trouble(t, &trouble))
		return true;
	app_say(a, ROLE_NOTE, trouble);
	return false;
}

static void prompt_changed(struct app *a)
{
	struct table *t = app_table(a);

	a->work.filter_late = false;
	if (prompt_kind() != PROMPT_FILTER || !t || !table_filters_live(t))
		return;
	a->work.gives_way = true;
	a->work.filter_late = !filter_rows(a, t, prompt_text());
	a->work.gives_way = false;
}

static void prompt_accepted(struct app *a)
{
	struct table *t = app_table(a);
	char *line = xstrdup(prompt_text());
	size_t n;
	bool again;

	switch (prompt_kind()) {
	case PROMPT_FILTER:
		if (t)
			filter_rows(a, t, line);
		break;
	case PROMPT_SEARCH:
		/* nothing typed: what was searched for before; the same again: its next match */
		again = t && t->search && strcmp(t->search, line) == 0 && !panes_focused(&a->panes);
		if (*line && t && !panes_focused(&a->panes)) {
			char *kept = xstrdup(line);
			free(t->search);
			t->search = kept;
		}
		if (*line)
			search_for(a, line, !again);
		else
			app_act(a, ACTION_SEARCH_NEXT);
		break;
	default:
		n = strlen(line);
		if (n && line[n - 1] == '\\') { /* it goes on */
			line[n - 1] = ' ';
			ask(a, PROMPT_COMMAND, line);
		} else if (line[strspn(line, " ")]) {
			struct invocation *asked = app_typed(line);
			history_append(line);
			app_run(a, asked, true);
			invocation_drop(asked);
		}
		break;
	}
	free(line);
}

/* Rows can be walked while one types a filter or a search. */
static bool walks(struct app *a, int key)
{
	enum action action = key == SPECIAL(KEY_UP) ? ACTION_UP : key == SPECIAL(KEY_DOWN) ? ACTION_DOWN :
	    key == SPECIAL(KEY_NPAGE) ? ACTION_PAGE_DOWN : key == SPECIAL(KEY_PPAGE) ? ACTION_PAGE_UP : ACTION_NONE;
	const char *message = NULL;

	if (action == ACTION_NONE)
		return false;
	return panes_focused(&a->panes) ? panes_action(&a->panes, action) :
	       app_page(a)->ops->action(app_page(a), action, &message);
}

static void prompt_key(struct app *a, const struct input *in)
{
	/* a filter that is given up is as it was before the prompt: that text is still in the table
	 * only while nothing was typed, so giving up means all rows */
	struct table *t = app_table(a);
	bool filter = prompt_kind() == PROMPT_FILTER;

	if (in->key == 26 && !in->pasted) {
		term_suspend();
		return;
	}
	if (in->key == SPECIAL(KEY_F(1)) && !in->pasted && prompt_kind() == PROMPT_COMMAND) {
		app_help_of_line(a);
		return;
	}
	if (!in->pasted && prompt_kind() != PROMPT_COMMAND && walks(a, in->key))
		return;
	switch (prompt_feed(in)) {
	case PROMPT_CHANGED:
		prompt_changed(a);
		break;
	case PROMPT_ACCEPTED:
		prompt_accepted(a);
		break;
	case PROMPT_CANCELLED:
		if (filter && t)
			filter_rows(a, t, NULL);
		break;
	default:
		if (a->work.filter_late)
			prompt_changed(a);
		break;
	}
}

/* --- dispatch ---------------------------------------------------------------------------------- */

/* Enter, where the last search found nothing.  Any key drops the offer. */
static bool takes_offer(struct app *a, const struct input *in)
{
	bool takes = a->keys.offered.len > 0 && (in->key == '\r' || in->key == '\n' || in->key == SPECIAL(KEY_ENTER));

	if (takes)
		app_run_line(a, a->keys.offered.s);
	text_clear(&a->keys.offered);
	return takes;
}

void app_input(struct app *a, const struct input *in)
{
	a->pending.moved_on = true;
	if (mouse_is(in)) {
		app_mouse(a, in);
		return;
	}
	if (prompt_is_open()) {
		prompt_key(a, in);
		return;
	}
	if (a->box.open && app_help_key(a, in))
		return;
	if (in->pasted) {
		/* text belongs into a prompt; nothing of it is a key */
		if (a->here.pages.n > 0) {
			ask(a, PROMPT_COMMAND, "");
			prompt_feed(in);
		}
		return;
	}
	if (a->keys.letter_for != ACTION_NONE) {
		app_mark_letter(a, in->key);
		return;
	}
	struct page *p = app_page(a);
	struct invocation *own = p ? config_key(a->options->config, in->key) : NULL;
	enum action action = own ? ACTION_NONE : key_action(in->key, app_place(a));
	const struct command *command = action == ACTION_NONE ? key_command(in->key) : NULL;
	if (action != ACTION_CANCEL)
		a->keys.stop_asked = false;
	if (action != ACTION_LEAVE && action != ACTION_QUIT && action != ACTION_PROMPT)
		a->session.leave_asked = false;
	if (action != ACTION_COPY_ROW)
		a->keys.copied_row = false;
	if (act_always(a, action) || a->here.pages.n == 0)
		return;
	if (takes_offer(a, in))
		return;
	if (!a->work.unseen) /* a key that came before it was drawn is no answer to it */
		text_clear(&a->notice.text);
	if (own)
		app_run(a, own, false);
	else if (action == ACTION_TAB)
		tabs_show(a, (enum tab)(in->key - '0'));
	else if (action != ACTION_NONE)
		app_act(a, action);
	else if (command)
		app_run_key(a, command);
	else
		app_say(a, ROLE_NOTE, panes_focused(&a->panes) && key_action(in->key, p->ops->place) != ACTION_NONE ?
		    "this key works in the list; Esc returns to it" : key_elsewhere(in->key));
}
