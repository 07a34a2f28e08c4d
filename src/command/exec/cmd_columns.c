/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_columns.c - columns: which of them tables show.
 *
 * What is chosen is an order of the eye: the columns stay where they are, and machine formats print all of
 * them, so no script depends on it.
 */
#include "command/args/args.h"
#include "command/commands.h"
#include "command/parse/parse.h"
#include "command/exec/exec.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct column list_columns[] = {
    {.id = COL_NAME},
    {.id = COL_SHOWN},
    {.id = COL_MEANING},
};
static const struct shape list_shape = {SHAPE_COLUMNS(list_columns)};

/* --- choosing ----------------------------------------------------------------------------------- */

bool columns_stays(const struct result *r, unsigned column)
{
	return column == 0 || r->columns[column].id == r->named_by || (int)column == r->sorted_by;
}

/* Is it one of the names, each with a tab behind it? */
static bool is_named(const char *names, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = names; *at; at += strcspn(at, "\t") + 1) {
		if (strcspn(at, "\t") == n && !strncmp(at, word, n))
			return true;
		if (!at[strcspn(at, "\t")])
			break;
	}
	return false;
}

static void show_chosen(struct result *r, const char *names)
{
	if (!r->unchosen)
		r->unchosen = r->columns;
	for (unsigned c = 0; c < r->n_columns; c++)
		result_show(r, c, !*names || columns_stays(r, c) || is_named(names, column_word(&r->columns[c])));
	r->chosen = true;
}

static void show_unchosen(struct result *r)
{
	if (!r->unchosen)
		return;
	r->columns = r->unchosen;
	r->unchosen = NULL;
	r->chosen = false;
	command_show_retained(r);
}

void columns_choose(struct result *r, struct opened *dump, const char *names)
{
	if (r->kind && dump)
		opened_choose_columns(dump, r->kind, names);
	if (names)
		show_chosen(r, names);
	else
		show_unchosen(r);
}

void columns_arrange(struct result *r)
{
	const char *names = opened_columns(r->opened, r->kind);
	if (names && !r->chosen)
		show_chosen(r, names);
}

/* --- the list ----------------------------------------------------------------------------------- */

/* As help of the command has it, which may mean more by the word than other tables do; the list's. */
static const char *meaning_of(const struct result *about, const struct column *column, struct result *list)
{
	const struct command *c = about->kind ? command_named(about->kind, strcspn(about->kind, " ")) : NULL;
	struct text own = TEXT_INIT;
	const char *meaning = column->name ? "a field of the objects" : column_kinds[column->id].meaning;
	if (!column->name && c && command_defines(c, column_word(column), &own))
		meaning = arena_strndup(&list->arena, own.s, own.len);
	text_release(&own);
	return meaning;
}

struct list_row {
	const char *name, *meaning; /* in the result's arena, or the catalogue's */
	bool shown;
};

static void list_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct list_row *l = &((const struct list_row *)r->data)[row];
	(void)scratch;
	enum column_id what = r->shape->columns[column].id;
	*out = what == COL_SHOWN ? cell_flag(l->shown) : cell_text(what == COL_NAME ? l->name : l->meaning);
}

static const struct result_ops list_ops = {.cell = list_cell, .release = free};

struct result *columns_list(const struct result *about)
{
	struct list_row *rows = xcalloc(about->n_columns + 1, sizeof *rows);
	struct text title = TEXT_INIT;
	text_addf(&title, "columns of %s", about->title);
	struct result *r = result_new(title.s, about->opened, &list_shape, &list_ops, rows, about->n_columns);
	text_release(&title);
	result_mark(r, RESULT_EXPLAINS, true); /* asked again it is about the same table */
	for (unsigned c = 0; c < about->n_columns; c++) {
		const struct column *column = &about->columns[c];
		const char *word = column_word(column);
		rows[c] = (struct list_row){.name = arena_strndup(&r->arena, word, strlen(word)),
		    .meaning = meaning_of(about, column, r), .shown = !column->hidden};
	}
	return r;
}

void columns_mark(struct result *list, unsigned row, bool shown)
{
	((struct list_row *)list->data)[row].shown = shown;
}

/* --- the command -------------------------------------------------------------------------------- */

/* "id, total" and "id total" name the same; words as the table has them. */
static int add_names(const struct result *about, const char *word, struct text *to, struct err *err)
{
	int code = 0;
	for (char *name; !code && (name = line_next_name(&word));) {
		int column = result_column(about, name);
		if (column < 0)
			code = pipe_no_column(about, name, err);
		else
			text_addf(to, "%s\t", column_word(&about->columns[column]));
		free(name);
	}
	return code;
}

static void say_chosen(struct session *s, const struct result *about, const char *names)
{
	const char *kind = about->kind ? about->kind : "this table", *kept = about->kind ? "" : ", and no other";
	if (!names) {
		session_say(s, "%s: as many columns as fit%s", kind, kept);
		return;
	}
	unsigned n = 0;
	for (unsigned c = 0; c < about->n_columns; c++)
		n += !about->columns[c].hidden;
	session_say(s, "%s: %u of %u columns are shown%s", kind, n, about->n_columns, kept);
}

static int run_columns(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct result *about = session_explained(s);
	struct text names = TEXT_INIT;
	int code = 0;

	if (!about || !about->n_columns || result_is(about, RESULT_PLAIN_TEXT))
		return err_set(err, ERR_USAGE, "no table to choose columns of");
	bool all = call_has(call, DASH_ALL), fit = call_has(call, DASH_FIT);
	if (all + fit + (call->n_words > 0) > 1)
		return err_set(err, ERR_USAGE, "use only one of names, -all and -fit");
	text_add(&names, "");
	for (size_t i = 0; !code && i < call->n_words; i++)
		code = add_names(about, call->words[i], &names, err);
	bool chooses = call->n_words || all || fit;
	if (!code && chooses) {
		columns_choose(about, s->dump, fit ? NULL : names.s);
		say_chosen(s, about, fit ? NULL : names.s);
	}
	if (!code && !(chooses && s->interactive)) /* the screen shows it where one stands */
		*out = columns_list(about);
	if (*out && chooses) {
		result_add_note(*out, s->lines.said.s);
		text_clear(&s->lines.said);
	}
	text_release(&names);
	return code;
}

const struct command cmd_columns = {
    .name = "columns",
    .arguments = {{ARG_WORDS, "NAME", true}},
    .options = OPTIONS({DASH_FIT, OPT_FLAG, NULL, "as many columns as fit (default)"},
	{DASH_ALL, OPT_FLAG, NULL, "all columns"}),
    .flags = COMMAND_NO_DUMP | COMMAND_EARLY | COMMAND_ARRANGES | COMMAND_SAVED,
    .group = "session",
    .summary = "choose the columns of tables like the last one",
    .shapes = SHAPES(&list_shape),
    .description = "Without arguments it lists the columns of the last table; on the screen, W opens this list, and "
	"Enter or Space shows or hides a column. With names it shows just these, the first column, the sort column "
	"and the name column: in all tables of this command, or all lists of this class. They keep the table's order; "
	"} scrolls to those that do not fit. The screen keeps the choice with the dump, as marks and notes; it "
	"overrides the configuration. csv, json and jsonl have all columns; | cut selects columns of one table.",
    .examples = {{"histo", ON_ANY}, {"columns class shallow", ON_ANY, "show only these columns"},
	{"columns -fit", ON_ANY, "back to the default"}},
    .run = run_columns,
};
