/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_palette.c - the commands that a typed word may mean, or other candidates, above the prompt; the hints below
 * it; what Enter makes of a word that only the list knows.
 */
#include "view/app/app.h"

#include "heap/classes.h"
#include "heap/heap.h"
#include "heap/threads.h"
#include "result/tree.h"
#include "view/prompt.h"

#include <inttypes.h>
#include <string.h>

enum { MARGIN = 2, SUMMARY_LEAST = 16, LISTED_MOST = 5 };

/* --- the selected row -------------------------------------------------------------------------- */

void app_add_row_count(struct app *a, struct text *to)
{
	struct table *t = app_table(a);
	struct cell cell = cell_none();
	int column = t ? result_column_of(t->result, COL_OBJECTS) : -1;

	if (column < 0 || t->on_head || panes_focused(&a->panes) || t->row >= t->result->n_rows)
		return;
	result_cell(t->result, t->row, (unsigned)column, &cell);
	if (cell.type != CELL_COUNT)
		return;
	cell_print(&cell, to);
	text_add(to, cell.amount.n == 1 ? " object" : " objects");
}

/* What stands in the column that names the rows. */
static void add_name_of_row(struct table *t, struct text *to)
{
	int named = result_column_of(t->result, t->result->named_by);
	struct cell cell;

	result_cell(t->result, t->row, tree_is(t->result) ? tree_column(t->result) : named >= 0 ? (unsigned)named : 0,
	    &cell);
	cell.indent = 0;
	cell_print(&cell, to);
}

void app_add_row(struct app *a, bool count, struct text *to)
{
	const struct heap *h = session_heap(&a->session);
	struct table *t = app_table(a);
	struct target target;
	struct text n = TEXT_INIT;

	if (!app_target(a, &target))
		return;
	uint32_t id = target_subject(&target);
	if (h && target.kind == TARGET_OBJECT)
		text_addf(to, "%s 0x%" PRIx64, heap_class_of(h, id)->name, heap_address(h, id));
	else if (h && target.kind == TARGET_CLASS)
		text_add(to, h->classes[target.id].name);
	else if (h && target.kind == TARGET_THREAD && h->threads[target.id].name)
		text_addf(to, "thread %s", h->threads[target.id].name);
	else if (t && !panes_focused(&a->panes) && t->row < t->result->n_rows)
		add_name_of_row(t, to);
	if (count && to->len > 0)
		app_add_row_count(a, &n);
	if (n.len > 0)
		text_addf(to, " (%s)", n.s);
	text_release(&n);
}

/* --- the list ---------------------------------------------------------------------------------- */

/* So wide that no name of a command moves what stands beside it, while one types. */
static int name_width(int width)
{
	size_t widest = 0;

	for (size_t i = 0; commands[i]; i++)
		widest = strlen(commands[i]->name) > widest ? strlen(commands[i]->name) : widest;
	return (int)widest < width / 2 ? (int)widest : width / 2;
}

static void draw_row(int y, int width, const struct palette_row *row, bool chosen)
{
	struct text other = TEXT_INIT;
	int x = MARGIN, end = width - 1;
	attr_t quiet = theme_role(ROLE_QUIET);

	draw_blank(y, 0, width, theme_role(ROLE_TEXT));
	draw_clipped(y, 0, 1, chosen ? ">" : " ", theme_role(ROLE_TEXT));
	int used = draw_text(y, x, width - x, row->line, theme_role(chosen ? ROLE_CHOSEN : ROLE_TEXT));
	x += (used > name_width(width) ? used : name_width(width)) + 2;
	draw_blank(y, x, width - x, quiet); /* from one text to the next nothing changes */
	palette_add_other_name(row, &other);
	int needed = other.len ? (int)text_width(other.s) : 0;
	if (needed && end - needed - 2 - x >= SUMMARY_LEAST) {
		end -= needed;
		draw_text(y, end, needed, other.s, quiet);
		end -= 2;
	}
	if (end - x >= SUMMARY_LEAST)
		draw_text(y, x, end - x, row->command->summary, quiet);
	text_release(&other);
}

void app_draw_palette(int bottom, int height, int width)
{
	size_t n;
	int chosen;
	const struct palette_row *row = prompt_commands(&n, &chosen);

	if (n == 0 || height < 1 || width < 8)
		return;
	/* as many lines however few there are: what is below would be sent again with each letter */
	size_t shown = height < LISTED_MOST ? (size_t)height : LISTED_MOST;
	size_t first = chosen < 0 ? 0 : (size_t)chosen / shown * shown;
	for (size_t i = 0; i < shown; i++) {
		int y = bottom - (int)shown + (int)i;
		if (first + i < n)
			draw_row(y, width, &row[first + i], (int)(first + i) == chosen);
		else
			draw_blank(y, 0, width, theme_role(ROLE_TEXT));
	}
	if (first + shown < n)
		draw_right(bottom - 1, width - 1, 1, "+", theme_role(ROLE_QUIET));
}

/* Of other words: as many in a line as there is room for. */
void app_draw_candidates(int bottom, int height, int width)
{
	size_t n;
	int chosen;
	char *const *candidate = prompt_candidates(&n, &chosen);
	size_t widest = 0;

	if (n == 0 || height < 1 || width < 8)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t w = text_width_most(candidate[i], (size_t)width);
		widest = w > widest ? w : widest;
	}
	int cell = (int)(widest < (size_t)width - 2 ? widest : (size_t)width - 2) + 2;
	size_t across = (size_t)(width - 2) / (size_t)cell;
	across = across ? across : 1;
	size_t lines = (n + across - 1) / across;
	size_t shown = lines < (size_t)height ? lines : (size_t)height;
	/* page so that the chosen one is seen */
	size_t first = 0;
	if (chosen >= 0)
		first = (size_t)chosen / across / shown * shown;
	for (size_t l = 0; l < shown; l++) {
		int y = bottom - (int)shown + (int)l;
		draw_blank(y, 0, width, theme_role(ROLE_TEXT));
		for (size_t c = 0; c < across; c++) {
			size_t i = (first + l) * across + c;
			if (i >= n)
				break;
			draw_text(y, 2 + (int)c * cell, cell - 2, candidate[i],
			    theme_role((int)i == chosen ? ROLE_CHOSEN : ROLE_QUIET));
		}
		if (l + 1 == shown && first + shown < lines)
			draw_right(y, width - 2, 2, "+", theme_role(ROLE_KEY));
	}
}

/* --- a word of it --------------------------------------------------------------------------------- */

/* A line of one word of small letters that is not a command, nor the beginning of several. */
static bool is_unknown_word(const struct invocation *asked)
{
	for (const char *at = asked->text; *at; at++)
		if (!(*at >= 'a' && *at <= 'z'))
			return false;
	return !asked->command && asked->err.reason == ERR_NO_COMMAND;
}

struct invocation *app_typed(const char *line)
{
	const unsigned changes = COMMAND_WRITES | COMMAND_SWITCHES | COMMAND_SAVED | COMMAND_TAGS | COMMAND_OF_SESSION;
	struct palette_row row[2];
	struct invocation *asked = invocation_of(line);
	size_t length = strlen(line);

	size_t n = is_unknown_word(asked) ? palette_find(line, length, row, 2) : 0;
	bool best = n == 1 || (n > 1 && row->match < row[1].match && row->match <= OTHER_NAME_BEGINS);
	if (!best || row->command->flags & changes) /* what changes something is to be named in full */
		return asked;
	if (!row->alias && !palette_says(row->command->summary, row->command->name, line, length))
		return asked; /* its letters are in the name, in this order: a loose guess */
	invocation_drop(asked);
	return invocation_of(row->line);
}

/* --- below it ---------------------------------------------------------------------------------- */

/* "Enter leaks" where what is typed stands for a command of another name. */
static void add_enter(struct text *to)
{
	const char *typed = prompt_text();
	struct invocation *asked = app_typed(typed);
	const char *name = asked->command ? asked->command->name : NULL;
	bool whole = !name || !strncmp(typed + strspn(typed, " "), name, strlen(name));

	text_addf(to, "  Enter %s", whole ? "run" : name);
	invocation_drop(asked);
}

/* The way out is always there, and what "." and a missing argument mean where there is room for it. */
void app_draw_palette_hints(struct app *a, int y, int width)
{
	struct text row = TEXT_INIT, line = TEXT_INIT;
	bool vi = prompt_is_vi();

	app_add_row(a, true, &row);
	text_add(&line, "Tab complete");
	add_enter(&line);
	text_addf(&line, "  F1 help  %s close", vi ? "^C" : "Esc");
	int used = (int)text_width(line.s), needed = row.len ? (int)text_width(row.s) + (int)strlen("  on this row: ") : 0;
	const char *earlier = vi ? "  Esc then k earlier" : "  Up earlier";
	if (used + (int)strlen(earlier) + needed <= width || !needed)
		text_add(&line, earlier);
	used = draw_text(y, 0, width, line.s, theme_role(ROLE_QUIET));
	if (needed && (used + needed <= width || width - used > (int)strlen("  on this row: ") + SUMMARY_LEAST)) {
		used += draw_clipped(y, used, width - used, "  on this row: ", theme_role(ROLE_QUIET));
		draw_name(y, used, width - used, row.s, theme_role(ROLE_TEXT));
	}
	text_release(&row);
	text_release(&line);
}
