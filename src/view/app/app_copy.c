/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_copy.c - what is selected to the terminal's clipboard.
 */
#include "view/app/app.h"

#include "base/files.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "heap/threads.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a text: in base64 that is the 100,000 characters of a sequence that common terminals take at least. */
#define CLIPBOARD_MOST 74994
#define TOO_LONG "too long for a clipboard (save FILE writes it)"

/* Behind what the file of "set copy" holds. */
static void copy_to_file(const char *path, const struct text *t, struct text *said)
{
	struct err err = ERR_INIT;
	int fd = file_open_to_write(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0666, &err);
	bool ends = t->s[t->len - 1] == '\n';
	bool written = fd >= 0 && write(fd, t->s, t->len) == (ssize_t)t->len && (ends || write(fd, "\n", 1) == 1);

	if (fd >= 0)
		close(fd);
	if (fd < 0)
		text_add(said, err.message);
	else
		text_addf(said, written ? "copied to %s" : "%s: not all could be written", path);
}

/* To the file of "set copy", or to the clipboard, and say what was done.  what: what is copied; more: said after it. */
static void copy_text(struct app *a, const struct text *t, const char *what, const char *more)
{
	static const char *const how[] = {[COPIED] = "", [COPIED_TO_TMUX] = " to the buffer of tmux",
	    [COPIED_IF_ALLOWED] = ", if the terminal allows it"};
	const char *path = a->session.settings.copies;
	struct text said = TEXT_INIT;

	if (path) {
		copy_to_file(path, t, &said);
	} else {
		enum term_copied copied = term_copy(t->s, t->len);
		if (copied == COPIED_NOT)
			text_add(&said, "not copied: this terminal has no clipboard (set copy FILE writes to a file)");
		else
			text_addf(&said, "copied %s%s%s", what, how[copied], more);
	}
	app_say(a, ROLE_NOTE, said.s);
	text_release(&said);
}

/* A thread whose object is not in the dump: the address that a companion tells, else its name. */
static void add_thread(struct text *to, const struct heap_thread *thread)
{
	if (thread->address)
		text_addf(to, "0x%" PRIx64, thread->address);
	else if (thread->name)
		text_add(to, thread->name);
}

/* --- what the row is called ---------------------------------------------------------------------- */

/* Of a line of a pane: the object that it stands for, else its value, or what it says. */
static void add_pane_name(const struct panes *p, uint32_t id, struct text *to)
{
	static const enum column_id columns[] = {COL_VALUE, COL_NAME};

	if (id != HEAP_NONE)
		text_addf(to, "0x%" PRIx64, heap_address(p->shown->heap, id));
	for (size_t i = 0; i < 2 && !to->len; i++) {
		struct cell cell;
		result_cell(p->shown, p->row, (unsigned)result_column_of(p->shown, columns[i]), &cell);
		if (cell.type == CELL_TEXT)
			cell_print_plain(&cell, to);
	}
}

/* On the page of an object a row is a field, so what it holds is asked for; elsewhere rows are called by
 * their address or class, others as the table calls them. */
static void add_name(struct app *a, struct text *to)
{
	const struct heap *h = session_heap(&a->session);
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	struct target target;
	struct cell cell;

	if (panes_focused(&a->panes) && about_line(a->panes.shown, a->panes.row)) {
		text_add(to, about_line(a->panes.shown, a->panes.row));
		return;
	}
	app_target(a, &target);
	uint32_t id = h ? target_object(h, &target) : HEAP_NONE;
	if (panes_focused(&a->panes)) {
		add_pane_name(&a->panes, id, to);
		return;
	}
	int value = t && !t->on_head && p->ops->object ? result_column_of(t->result, COL_VALUE) : -1;
	if (value >= 0 && t->row < t->result->n_rows) {
		result_cell(t->result, t->row, (unsigned)value, &cell);
		if (cell.type == CELL_TEXT && (id == HEAP_NONE || cell.text[0] == '"'))
			cell_print_plain(&cell, to); /* a number, a text: what else there is has an address */
	}
	if (to->len > 0)
		return;
	if (target.kind == TARGET_CLASS && !target.part)
		text_add(to, h->classes[target.id].name);
	else if (id != HEAP_NONE)
		text_addf(to, "0x%" PRIx64, heap_address(h, id));
	else if (target.kind == TARGET_THREAD)
		add_thread(to, &h->threads[target.id]);
	else if (t && t->row < t->result->n_rows)
		row_title(t->result, t->row, to);
}

void app_copy(struct app *a)
{
	struct text t = TEXT_INIT;

	text_clear(&t);
	bool sentence = app_add_sentence(a, &t);
	if (!sentence)
		add_name(a, &t);
	if (t.len > CLIPBOARD_MOST)
		app_say(a, ROLE_NOTE, TOO_LONG);
	else if (t.len > 0)
		copy_text(a, &t, sentence ? "the sentence" : t.s, "");
	else
		app_say(a, ROLE_NOTE, "nothing to copy in this row");
	text_release(&t);
}

/* --- rows ---------------------------------------------------------------------------------------- */

/* Whole numbers, for programs; but one that is not exact says so. */
static void add_cell(const struct cell *cell, struct text *to)
{
	if (cell->type != CELL_NONE && cell->amount.certainty == INFERRED)
		text_add(to, "~");
	else if (cell->type != CELL_NONE && cell->amount.certainty == LOWER_BOUND)
		text_add(to, ">=");
	if (cell->amount.certainty == UNKNOWN)
		text_add(to, "?");
	else
		cell_print_plain(cell, to);
}

static bool is_copied(const struct table *t, unsigned c)
{
	return (int)c != t->hidden && !t->result->columns[c].hidden;
}

/* A line of the columns that are shown, tabs between them. */
static void add_row(const struct table *t, size_t row, struct text *to)
{
	const char *between = "";

	for (unsigned c = 0; c < t->result->n_columns; c++) {
		struct cell cell;
		if (!is_copied(t, c))
			continue;
		result_cell(t->result, row, c, &cell);
		text_add(to, between);
		add_cell(&cell, to);
		between = "\t";
	}
}

static void add_header(const struct table *t, struct text *to)
{
	const char *between = "";

	for (unsigned c = 0; c < t->result->n_columns; c++) {
		if (!is_copied(t, c))
			continue;
		text_addf(to, "%s%s", between, column_word(&t->result->columns[c]));
		between = "\t";
	}
	text_add(to, "\n");
}

/* As many whole rows as a clipboard takes. */
static size_t add_rows(const struct table *t, struct text *to)
{
	size_t row = 0;

	for (; row < t->result->n_rows; row++) {
		size_t before = to->len;
		add_row(t, row, to);
		text_add(to, "\n");
		if (to->len > CLIPBOARD_MOST) {
			to->len = before;
			to->s[before] = '\0';
			break;
		}
	}
	return row;
}

static void add_head(const struct result *r, struct text *to)
{
	for (size_t i = 0; i < r->n_head && to->len < CLIPBOARD_MOST; i++) {
		text_addf(to, "%s\t", r->head[i].name);
		add_cell(&r->head[i].cell, to);
		text_add(to, "\n");
	}
}

/* The table, as far as a clipboard takes it.  Returns what is to be said after it. */
static const char *add_table(const struct table *t, struct text *lines, struct text *what)
{
	add_header(t, lines);
	size_t all = t->result->n_rows, n = add_rows(t, lines);

	text_add_count(what, n);
	if (n < all) {
		text_add(what, " of ");
		text_add_count(what, all);
	}
	text_addf(what, " row%s%s", all == 1 ? "" : "s", n < all ? "" : " with the header");
	return n < all ? "; the clipboard is full (save FILE writes all)" : "";
}

void app_copy_rows(struct app *a, bool all)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	struct result *r = p ? page_result(p) : NULL;
	struct text lines = TEXT_INIT, what = TEXT_INIT;
	const char *more = "";

	text_clear(&lines);
	if (panes_focused(&a->panes)) {
		const struct table pane = {.result = a->panes.shown, .hidden = -1};
		add_row(&pane, a->panes.row, &lines);
		text_add(&what, "the line");
	} else if (t && all && t->result->n_rows > 0) {
		more = add_table(t, &lines, &what);
	} else if (t && !t->on_head && t->row < t->result->n_rows) {
		add_row(t, t->row, &lines);
		text_add(&what, "the row");
		more = "; Y again: copy the table";
	} else if (r && r->n_head > 0) {
		add_head(r, &lines);
		text_add(&what, "the values");
	}
	if (lines.len == 0)
		app_say(a, ROLE_NOTE, "no rows to copy here");
	else if (lines.len > CLIPBOARD_MOST)
		app_say(a, ROLE_NOTE, TOO_LONG);
	else
		copy_text(a, &lines, what.s, more);
	text_release(&lines);
	text_release(&what);
}
