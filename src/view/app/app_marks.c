/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_marks.c - places that have a letter, and what comes back when a dump is opened again.
 *
 * A mark is a view's command line and the object of a row, so it means the same next time.
 */
#include "view/app/app.h"

#include "base/mem.h"
#include "command/resolve/resolve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct mark *mark_of(struct app *a, int letter)
{
	const char *found = letter > 0 && letter < 128 ? strchr(MARK_LETTERS, letter) : NULL;

	return found ? &a->here.state.mark[found - MARK_LETTERS] : NULL;
}

/* Where one stands.  False: the view's line means something else elsewhere. */
static bool take_place(struct app *a, struct mark *to)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	struct target target;

	if (!p || !p->asked || p->asked->of_view)
		return false;
	app_target(a, &target);
	char *line = xstrdup(p->line);
	free(to->line);
	*to = (struct mark){.line = line, .id = target_object(session_heap(&a->session), &target), .row = t ? t->row : 0};
	return true;
}

static bool is_object(struct table *t, size_t row, uint32_t id)
{
	struct target target;

	result_target(t->result, row, &target);
	return target_object(t->result->heap, &target) == id;
}

static void select_place(struct page *p, const struct mark *m)
{
	struct table *t = p->ops->table(p);
	size_t row = m->row;

	if (!t || (t->has_head && m->id != HEAP_NONE && p->ops->object(p) == m->id))
		return; /* its head is selected */
	if (m->id != HEAP_NONE && (row >= t->result->n_rows || !is_object(t, row, m->id)))
		for (row = 0; row < t->result->n_rows && !is_object(t, row, m->id);)
			row++;
	if (row >= t->result->n_rows)
		return;
	t->on_head = false;
	table_select(t, row);
}

static void say_marks(struct app *a, int letter)
{
	struct text said = TEXT_INIT;
	size_t n = 0;

	if (letter > ' ' && letter < 127)
		text_addf(&said, "no mark named %c", letter);
	else
		text_add(&said, "a mark is a letter from a to z");
	for (size_t i = 0; i + 1 < MARKS; i++)
		if (a->here.state.mark[i].line)
			text_addf(&said, "%s%c", n++ ? " " : "; marks: ", MARK_LETTERS[i]);
	if (n == 0)
		text_add(&said, "; m and a letter set one");
	app_say(a, ROLE_NOTE, said.s);
	text_release(&said);
}

/* "ls java.lang.String, 0xe0000af0" */
static void add_place(const struct app *a, const struct mark *m, struct text *to)
{
	text_add_name(to, m->line);
	if (m->id != HEAP_NONE)
		text_addf(to, ", 0x%" PRIx64 ",", heap_address(session_heap(&a->session), m->id));
}

static void set_mark(struct app *a, int letter)
{
	struct mark *m = letter == '\'' ? NULL : mark_of(a, letter);
	struct text said = TEXT_INIT;

	if (!m) {
		app_say(a, ROLE_NOTE, "a mark is a letter from a to z");
	} else if (!take_place(a, m)) {
		app_say(a, ROLE_NOTE, "cannot mark this view: its line refers to rows of another view");
	} else {
		add_place(a, m, &said);
		text_addf(&said, " is marked; ' and %c return here", letter);
		app_say(a, ROLE_NOTE, said.s);
		if (a->session.dump)
			saved_state_write(&a->here.state, a->session.dump);
	}
	text_release(&said);
}

static void go_to_mark(struct app *a, int letter)
{
	struct mark *m = mark_of(a, letter);
	struct page *p;

	if (!m || !m->line) {
		say_marks(a, letter);
		return;
	}
	if (!tabs_show_line(a, m->line))
		app_run_line(a, m->line);
	p = app_page(a);
	if (p && strcmp(p->line, m->line) == 0)
		select_place(p, m);
}

void app_mark_letter(struct app *a, int key)
{
	enum action wanted = a->keys.letter_for;

	a->keys.letter_for = ACTION_NONE;
	text_clear(&a->notice.text);
	if (key == 27 || key == 3)
		app_say(a, ROLE_NOTE, "no mark set");
	else if (wanted == ACTION_MARK)
		set_mark(a, key);
	else
		go_to_mark(a, key);
}

/* Where one left: first of all stands the histogram, and the message says how to go on there. */
static void say_last_place(struct app *a, const struct mark *m)
{
	struct text said = TEXT_INIT;

	if (!m->line)
		return;
	text_add(&said, "last place: ");
	text_add_name(&said, m->line);
	if (m->id != HEAP_NONE)
		text_addf(&said, " > 0x%" PRIx64, heap_address(session_heap(&a->session), m->id));
	text_add(&said, "; '' returns there");
	app_say(a, ROLE_NOTE, said.s);
	text_release(&said);
}

void app_bring_kept(struct app *a)
{
	saved_state_read(&a->here.state, session_at_hand(&a->session)->path, a->session.dump);
	app_arrange_columns(a);
	say_last_place(a, &a->here.state.mark[MARKS - 1]);
}

void app_keep(struct app *a)
{
	if (!a->session.dump || !app_references_ready(a))
		return;
	(void)take_place(a, &a->here.state.mark[MARKS - 1]);
	saved_state_write(&a->here.state, a->session.dump);
}
