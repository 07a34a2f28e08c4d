/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_keys.c - what a key does.
 *
 * A key that asks something becomes a command line; everything else moves in what is shown.
 */
#include "view/app.h"

#include "base/mem.h"
#include "command/words/words.h"
#include "result/why.h"
#include "view/history.h"
#include "view/prompt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct table *current_table(struct app *a)
{
	struct page *p = app_page(a);

	return p ? p->ops->table(p) : NULL;
}

static bool selected(struct app *a, struct target *out)
{
	struct table *t = current_table(a);

	*out = (struct target){.kind = TARGET_NONE};
	if (!t || t->result->n_rows == 0)
		return false;
	result_target(t->result, t->row, out);
	return out->kind != TARGET_NONE;
}

/* --- a row as a word of a command line --------------------------------------------------------- */

/* A class by its address: two loaders may have one of this name each.  Else quoted by name. */
static void add_class(struct text *to, const struct heap_class *class)
{
	if (class->address && class->object != HEAP_NONE)
		text_addf(to, "0x%" PRIx64, class->address);
	else
		text_addf(to, "'%s'", class->name);
}

/* The row as an object: itself, a class's class object, a thread's thread object. */
static bool add_object(struct app *a, struct text *to, const struct target *target)
{
	const struct heap *h = session_heap(&a->session);
	uint32_t id = target->id;

	if (target->kind == TARGET_CLASS)
		id = h->classes[target->id].object;
	else if (target->kind == TARGET_THREAD)
		id = h->threads[target->id].object;
	else if (target->kind != TARGET_OBJECT)
		return false;
	if (id == HEAP_NONE)
		return false;
	text_addf(to, "0x%" PRIx64, heap_address(h, id));
	return true;
}

static void open_row(struct app *a)
{
	struct target target;
	struct text line = TEXT_INIT;
	const struct heap *h = session_heap(&a->session);
	const struct heap_class *class;

	if (!selected(a, &target)) {
		app_say(a, ROLE_NOTE, "there is nothing behind this row");
		return;
	}
	if (target.part && !target.command) {
		text_addf(&line, "ls %%%zu", current_table(a)->row + 1);
		app_run(a, line.s, false);
		text_release(&line);
		return;
	}
	switch (target.command ? TARGET_COMMAND : target.kind) {
	case TARGET_GROUP:
		text_addf(&line, "histo %%%zu", current_table(a)->row + 1);
		break;
	case TARGET_CLASS: /* one without objects is looked at itself: it may hold much */
		class = &h->classes[target.id];
		text_add(&line, class->n_objects || class->object == HEAP_NONE ? "ls " : "x ");
		add_class(&line, &h->classes[target.id]);
		break;
	case TARGET_THREAD:
		text_addf(&line, "bt %" PRIu64, thread_number(h, target.id));
		break;
	case TARGET_COMMAND:
		text_add(&line, target.command);
		break;
	default:
		text_add(&line, "x ");
		add_object(a, &line, &target);
		break;
	}
	app_run(a, line.s, false);
	text_release(&line);
}

static void referrers(struct app *a)
{
	struct target target;
	struct text line = TEXT_INIT;

	text_add(&line, "refs ");
	if (selected(a, &target) && add_object(a, &line, &target)) {
		text_add(&line, " -in");
		app_run(a, line.s, false);
	} else {
		app_say(a, ROLE_NOTE, "the selected row is no object of the dump");
	}
	text_release(&line);
}

/* --- keys of commands -------------------------------------------------------------------------- */

static bool add_argument(struct app *a, struct text *line, enum argument_kind kind)
{
	struct target target;

	if (!selected(a, &target))
		return false;
	switch (kind) {
	case ARG_SET:
	case ARG_WORDS:
		if (target.kind != TARGET_OBJECT || target.part) {
			text_addf(line, "%%%zu", current_table(a)->row + 1);
			return target.kind != TARGET_COMMAND;
		}
		return add_object(a, line, &target);
	case ARG_OBJECT:
		return add_object(a, line, &target);
	case ARG_CLASS:
		if (target.part || target.kind == TARGET_GROUP) {
			text_addf(line, "%%%zu", current_table(a)->row + 1);
			return true;
		}
		if (target.kind == TARGET_CLASS)
			add_class(line, &session_heap(&a->session)->classes[target.id]);
		else if (target.kind == TARGET_OBJECT)
			add_class(line, heap_class_of(session_heap(&a->session), target.id));
		return target.kind == TARGET_CLASS || target.kind == TARGET_OBJECT;
	case ARG_THREAD:
		if (target.kind == TARGET_THREAD)
			text_addf(line, "%" PRIu64, thread_number(session_heap(&a->session), target.id));
		return target.kind == TARGET_THREAD;
	default:
		return false;
	}
}

static void run_key(struct app *a, const struct command *c)
{
	struct text line = TEXT_INIT;
	struct target target;
	const struct argument *first = &c->arguments[0];

	text_add(&line, c->name);
	if (first->kind == ARG_OBJECT && first->optional && selected(a, &target) &&
	    target.kind == TARGET_OBJECT) {
		text_add(&line, " ");
		add_object(a, &line, &target);
		app_run(a, line.s, false);
	} else if (first->kind == ARG_END || (first->optional && first->kind != ARG_WORDS)) {
		app_run(a, line.s, false);
	} else {
		text_add(&line, " ");
		if (add_argument(a, &line, first->kind)) {
			app_run(a, line.s, false);
		} else if (first->kind == ARG_OBJECT || first->kind == ARG_SET || first->kind == ARG_WORDS) {
			app_say(a, ROLE_NOTE, "the selected row is no object of the dump");
		} else {
			/* the rest is to be typed */
			text_clear(&a->prompt_error);
			prompt_open(PROMPT_COMMAND, line.s, SIZE_MAX);
		}
	}
	text_release(&line);
}

/* --- single actions ---------------------------------------------------------------------------- */

/* OSC 52: the terminal's own clipboard, also through ssh and tmux. */
static void clipboard(const char *s)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct text t = TEXT_INIT;
	size_t n = strlen(s);

	text_add(&t, "\033]52;c;");
	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = 0;
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < n ? (unsigned char)s[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			text_add_char(&t, i + k > n ? '=' : digits[bits >> (18 - 6 * k) & 63]);
	}
	text_add(&t, "\a");
	term_write(t.s, t.len);
	text_release(&t);
}

/* A thread whose object is not in the dump: the address that a companion tells, else its name. */
static void add_thread(struct text *to, const struct heap_thread *thread)
{
	if (thread->address)
		text_addf(to, "0x%" PRIx64, thread->address);
	else if (thread->name)
		text_add(to, thread->name);
}

static void copy(struct app *a)
{
	struct target target;
	struct text t = TEXT_INIT, said = TEXT_INIT;

	text_clear(&t);
	selected(a, &target);
	if (target.kind == TARGET_CLASS)
		text_add(&t, session_heap(&a->session)->classes[target.id].name);
	else if (!add_object(a, &t, &target) && target.kind == TARGET_THREAD)
		add_thread(&t, &session_heap(&a->session)->threads[target.id]);
	if (t.len > 0) {
		clipboard(t.s);
		text_addf(&said, "copied %s", t.s);
	} else {
		text_add(&said, "nothing to copy in this row");
	}
	app_say(a, ROLE_NOTE, said.s);
	text_release(&t);
	text_release(&said);
}

/* In the lines above the prompt, or, where it would cover the rows it speaks of, as a page. */
static void explain(struct app *a)
{
	struct page *p = app_page(a);
	struct table *t = current_table(a);
	struct result *r = p ? page_result(p) : NULL;
	struct text said = TEXT_INIT;

	if (!r || r->plain_text || (r->n_head == 0 && r->n_rows == 0)) {
		app_say(a, ROLE_NOTE, "there are no numbers here");
		return;
	}
	why(r, t && r->n_rows > 0 ? t->row : WHY_NO_ROW, t && t->wide, &said);
	size_t room = (size_t)COLS * (size_t)(LINES / 3);
	if (text_width_most(said.s, room) < room)
		app_say(a, ROLE_NOTE, said.s);
	else
		app_push(a, page_new_lines("why", said.s));
	text_release(&said);
}

static void help(struct app *a)
{
	struct text t = TEXT_INIT;
	struct page *p = app_page(a);

	if (p && !*p->line && strcmp(p->title, "help") == 0)
		return;
	keys_write_help(&t);
	app_push(a, page_new_lines("help", t.s));
	text_release(&t);
}

void app_cancel(struct app *a)
{
	if (a->looking) {
		a->stopping = true;
	} else if (a->working) {
		job_cancel(a->working);
	} else if (prompt_is_open()) {
		prompt_close();
	} else if (a->pending) {
		free(a->pending);
		a->pending = NULL;
		app_say(a, ROLE_NOTE, "dropped");
	} else if (!a->loader.finished && a->pages.n == 0) {
		app_quit(a, 130); /* there is nothing to stand on */
	} else if (!a->loader.finished && !a->stop_asked) {
		a->stop_asked = true;
		app_say(a, ROLE_NOTE, "the references are still being read; ^C again ends cairn");
	} else if (!a->loader.finished) {
		app_quit(a, 130);
	} else if (a->finding.running) {
		job_cancel(&a->finding.job);
		app_say(a, ROLE_NOTE, "retained sizes stay unknown until dom or top asks for them");
	} else {
		app_say(a, ROLE_NOTE, "nothing is going on; q quits");
	}
}

static void ask(struct app *a, enum prompt_kind kind)
{
	struct table *t = current_table(a);
	const char *text = "";

	if (kind == PROMPT_FILTER && !t) {
		app_say(a, ROLE_NOTE, "there are no rows to filter here");
		return;
	}
	if (kind == PROMPT_FILTER && t->filter)
		text = t->filter;
	text_clear(&a->prompt_error);
	text_clear(&a->message);
	a->prompt_again = false;
	prompt_open(kind, text, SIZE_MAX);
}

/* Actions of the page itself, and what they mean where it knows none. */
static void act_in_page(struct app *a, enum action action)
{
	struct page *p = app_page(a);
	const char *message = NULL;

	if (p && p->ops->action(p, action, &message))
		;
	else if (action == ACTION_OPEN || action == ACTION_INTO)
		open_row(a); /* a branch has opened where it stands */
	else if (action == ACTION_OUT)
		app_back(a);
	else if (action == ACTION_DROP)
		message = "this is no tree (d shows one)";
	else if (p)
		message = "that key does nothing in this view";
	if (a->stopping)
		message = "stopped";
	if (message)
		app_say(a, ROLE_NOTE, message);
}

void app_act(struct app *a, enum action action)
{
	switch (action) {
	case ACTION_REFERRERS:
		referrers(a);
		return;
	case ACTION_BACK:
		if (a->pending)
			app_cancel(a);
		else
			app_back(a);
		return;
	case ACTION_FORWARD:
		app_forward(a);
		return;
	case ACTION_FILTER:
		ask(a, PROMPT_FILTER);
		return;
	case ACTION_SEARCH:
		ask(a, PROMPT_SEARCH);
		return;
	case ACTION_PROMPT:
		ask(a, PROMPT_COMMAND);
		return;
	case ACTION_WHY:
		explain(a);
		return;
	case ACTION_PATH:
		a->path_wanted = !a->path_wanted;
		return;
	case ACTION_COPY:
		copy(a);
		return;
	case ACTION_HELP:
		help(a);
		return;
	default:
		act_in_page(a, action);
		return;
	}
}

/* Actions that need no page. */
static bool act_always(struct app *a, enum action action)
{
	switch (action) {
	case ACTION_QUIT:
		app_quit(a, a->status);
		return true;
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

/* Before something that looks at very many rows: say so, as nothing is drawn meanwhile. */
static void announce(struct app *a, const char *what, const struct table *t)
{
	struct text said = TEXT_INIT;

	if (!t || table_filters_live(t))
		return;
	text_addf(&said, "%s ", what);
	text_add_count(&said, t->result->n_source);
	text_add(&said, " rows: Esc stops it");
	app_say(a, ROLE_WORKING, said.s);
	app_draw(a);
	text_clear(&a->message);
	text_release(&said);
}

static void search_for(struct app *a, const char *words, bool here)
{
	struct page *p = app_page(a);
	struct table *t = current_table(a);
	bool found;

	if (!*words)
		return;
	announce(a, "searching", t);
	if (t)
		found = table_search(t, words, here, false);
	else
		found = p->ops->search && p->ops->search(p, words, here, false);
	if (!found && a->stopping)
		app_say(a, ROLE_NOTE, "stopped");
	else if (!found)
		app_say(a, ROLE_NOTE, t && tree_is(t->result) ? "no open row has that" : "no row has that");
	else
		text_clear(&a->message);
}

static void prompt_changed(struct app *a)
{
	struct table *t = current_table(a);

	text_clear(&a->prompt_error);
	if (prompt_kind() == PROMPT_FILTER && t && table_filters_live(t))
		table_filter(t, prompt_text());
}

static void prompt_accepted(struct app *a)
{
	struct table *t = current_table(a);
	char *line = xstrdup(prompt_text());

	text_clear(&a->prompt_error);
	switch (prompt_kind()) {
	case PROMPT_FILTER:
		announce(a, "filtering", t);
		if (t)
			table_filter(t, line);
		if (a->stopping)
			app_say(a, ROLE_NOTE, "stopped: all rows are shown");
		break;
	case PROMPT_SEARCH:
		/* nothing typed: what was searched for before */
		if (*line && t) {
			char *kept = xstrdup(line);
			free(t->search);
			t->search = kept;
		}
		if (*line)
			search_for(a, line, true);
		else
			app_act(a, ACTION_SEARCH_NEXT);
		break;
	default:
		if (line[strspn(line, " ")]) {
			history_append(line);
			app_run(a, line, true);
		}
		break;
	}
	free(line);
}

static void prompt_key(struct app *a, const struct input *in)
{
	/* a filter that is given up is as it was before the prompt: that text is still in the table
	 * only while nothing was typed, so giving up means all rows */
	struct table *t = current_table(a);
	bool filter = prompt_kind() == PROMPT_FILTER, again = a->prompt_again;

	a->prompt_again = false;
	if (again && !in->pasted && !in->alt && in->key == ':') {
		ask(a, PROMPT_COMMAND); /* Up brings the line that failed */
		return;
	}
	if (in->key == 26 && !in->pasted) {
		term_suspend();
		return;
	}
	/* rows can be walked while one types a filter or a search */
	if (!in->pasted && prompt_kind() != PROMPT_COMMAND && t &&
	    (in->key == SPECIAL(KEY_NPAGE) || in->key == SPECIAL(KEY_PPAGE))) {
		const char *message = NULL;
		table_action(t, in->key == SPECIAL(KEY_NPAGE) ? ACTION_PAGE_DOWN : ACTION_PAGE_UP, &message);
		return;
	}
	switch (prompt_feed(in)) {
	case PROMPT_CHANGED:
		prompt_changed(a);
		break;
	case PROMPT_ACCEPTED:
		prompt_accepted(a);
		break;
	case PROMPT_CANCELLED:
		text_clear(&a->prompt_error);
		if (filter && t)
			table_filter(t, NULL);
		break;
	default:
		break;
	}
}

/* --- dispatch ---------------------------------------------------------------------------------- */

void app_input(struct app *a, const struct input *in)
{
	a->stopping = false;
	a->looked = pace_now();
	a->moved_on = true;
	if (in->key == SPECIAL(KEY_MOUSE)) {
		app_mouse(a, &in->mouse);
		return;
	}
	if (prompt_is_open()) {
		prompt_key(a, in);
		return;
	}
	if (in->pasted) {
		/* text belongs into a prompt; nothing of it is a key */
		if (a->pages.n > 0) {
			ask(a, PROMPT_COMMAND);
			prompt_feed(in);
		}
		return;
	}
	enum action action = key_action(in->key);
	const struct command *command = action == ACTION_NONE ? key_command(in->key) : NULL;
	if (action != ACTION_CANCEL)
		a->stop_asked = false;
	if (act_always(a, action) || a->pages.n == 0)
		return;
	text_clear(&a->message);
	if (action == ACTION_TAB)
		tabs_show(a, (enum tab)(in->key - '1'));
	else if (action != ACTION_NONE)
		app_act(a, action);
	else if (command)
		run_key(a, command);
}
