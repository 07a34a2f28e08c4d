/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_options.c - the options that every table takes: which rows, grouped by what, in which order.
 *
 * A command makes its rows in its own order and knows nothing of these options.  A command that has an option of the
 * same word means something of its own by it (histo -by package, ls -where), and that goes first.
 */
#include "command/table_options.h"

#include "base/mem.h"
#include "command/commands.h"
#include "command/parse/parse.h"

#include <stdlib.h>
#include <string.h>

const struct option_spec table_options[] = {
    {DASH_WHERE, OPT_WORDS, "COND", "keep rows with this condition on columns: shallow > 1000"},
    {DASH_BY, OPT_COLUMN, "COL", "group rows with the same value; of several columns: COL,COL"},
    {DASH_SORT, OPT_COLUMN, "COL", "sort by a column, numbers largest first; +COL smallest first"},
    {DASH_R, OPT_FLAG, NULL, "reverse order"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};
enum { TABLE_OPTIONS = sizeof table_options / sizeof *table_options - 1 };

/* A question has ORDER BY and the like of its own, and what takes the rest of the line would swallow them. */
bool command_takes_table_options(const struct command *c)
{
	for (size_t i = 0; i < COMMAND_ARGUMENTS && c->arguments[i].kind != ARG_END; i++)
		if (c->arguments[i].kind == ARG_REST)
			return false;
	for (size_t i = 0; c->shapes && c->shapes[i]; i++)
		if (c->shapes[i]->n_columns && !(c->flags & COMMAND_WRITES))
			return true;
	return false;
}

/* Are fields of the dump's objects columns, too? */
static bool has_fields(const struct command *c)
{
	for (size_t i = 0; c->shapes && c->shapes[i]; i++)
		if (c->shapes[i]->fields)
			return true;
	return false;
}

static bool has_own(const struct command *c, enum option_word word)
{
	for (const struct option_spec *o = c->options; o && o->word; o++)
		if (o->word == word)
			return true;
	return false;
}

const struct option_spec *command_option_at(const struct command *c, size_t i)
{
	for (const struct option_spec *o = c->options; o && o->word; o++)
		if (!i--)
			return o;
	for (size_t t = 0; t < TABLE_OPTIONS && command_takes_table_options(c); t++)
		if (!has_own(c, table_options[t].word) && !i--)
			return &table_options[t];
	return NULL;
}

bool option_is_of_tables(const struct option_spec *o)
{
	return o >= table_options && o < table_options + TABLE_OPTIONS;
}

bool table_has_columns(const struct command *c, const char *words)
{
	bool found = command_takes_table_options(c) && *words;
	for (char *word; found && (word = line_next_name(&words));) {
		found = false;
		for (size_t k = 0; !found && c->shapes[k]; k++)
			found = column_find(c->shapes[k]->columns, c->shapes[k]->n_columns, word) >= 0;
		free(word);
	}
	return found;
}

/* What an option of tables was given; NULL: it was not, or the command's own option of this word was. */
static const char *given(const struct call *call, enum option_word word)
{
	int i = call_option(call, word);
	const struct option_spec *o = i < 0 ? NULL : command_option_at(call->command, (size_t)i);
	if (word == DASH_BY && call->by)
		return call->by;
	if (!o || !option_is_of_tables(o) || !call->option[i].given)
		return NULL;
	return o->kind == OPT_FLAG ? "" : call->option[i].word;
}

bool command_as_found(const struct call *call)
{
	for (size_t t = 0; t < TABLE_OPTIONS; t++)
		if (given(call, table_options[t].word))
			return false;
	return true;
}

bool command_filters(const struct call *call)
{
	return given(call, DASH_WHERE);
}

/* --- applying them -------------------------------------------------------------------------------- */

static int find_column(struct session *s, struct result *r, const char *name, unsigned *column, struct err *err)
{
	int at = result_column(r, name);
	if (at < 0)
		return pipe_no_column(r, name, err);
	*column = (unsigned)at;
	return r->columns[at].id == COL_RETAINED && r->opened ? command_find_retained(s, r, err) : 0;
}

struct keys {
	unsigned *column;
	unsigned n;
};

static bool is_among(const struct keys *keys, unsigned column)
{
	for (unsigned k = 0; k < keys->n; k++)
		if (keys->column[k] == column)
			return true;
	return false;
}

static int group_rows(struct result **r, const void *context, struct err *err)
{
	const struct keys *keys = context;
	return result_group_by(r, keys->column, keys->n, err);
}

static int group(struct session *s, struct result **r, const char *words, struct err *err)
{
	struct keys keys = {.column = xcalloc(strlen(words) + 1, sizeof *keys.column)};
	int code = 0;
	for (char *name; !code && (name = line_next_name(&words));) {
		code = find_column(s, *r, name, &keys.column[keys.n], err);
		keys.n += !is_among(&keys, keys.column[keys.n]);
		free(name);
	}
	if (!code && !keys.n)
		code = err_set(err, ERR_USAGE, "-by needs a column (-by class)");
	if (!code)
		code = session_on_rows(s, r, group_rows, &keys, err);
	if (!code && (*r)->opened && opened_tree((*r)->opened) && result_column_of(*r, COL_RETAINED) >= 0)
		code = command_find_retained(s, *r, err); /* what single objects retain is known */
	free(keys.column);
	return code;
}

struct order {
	unsigned column;
	bool descending;
};

static int order_rows(struct result **r, const void *context, struct err *err)
{
	const struct order *o = context;
	int code = result_sort(*r, o->column, o->descending, err);
	if (!code)
		pipe_warn_order(*r, o->column);
	return code;
}

static int reverse_rows(struct result **r, const void *context, struct err *err)
{
	(void)context;
	return result_reverse(*r, err);
}

static int sort_by(struct session *s, struct result **r, const char *word, bool reverse, struct err *err)
{
	const char *name = word + (*word == '-' || *word == '+');
	struct order order = {.column = 0};
	if (!*name)
		return err_set(err, ERR_USAGE, "-sort needs a column (-sort shallow)");
	int code = find_column(s, *r, name, &order.column, err);
	if (code)
		return code;
	order.descending = name != word ? *word == '-' : cell_is_number(column_type(&(*r)->columns[order.column]));
	order.descending ^= reverse;
	return session_on_rows(s, r, order_rows, &order, err);
}

int table_options_apply(struct session *s, const struct call *call, struct result **r, struct err *err)
{
	const char *where = given(call, DASH_WHERE), *by = given(call, DASH_BY), *sort = given(call, DASH_SORT);
	bool reverse = given(call, DASH_R);
	int code = 0;
	if (!*r || command_as_found(call))
		return 0;
	if ((*r)->n_columns && !(*r)->n_rows && has_fields(call->command)) /* of no object no field is missing */
		return 0;
	if (!(*r)->n_columns || result_is(*r, RESULT_PLAIN_TEXT))
		return err_set(err, ERR_USAGE, "the answer is no table (-where, -by, -sort and -r are for rows)");
	if (where)
		code = command_keep_rows(s, *r, where, err);
	if (!code && by)
		code = group(s, r, by, err);
	if (!code && sort)
		return sort_by(s, r, sort, reverse, err);
	if (!code && reverse && (*r)->sorted_by >= 0)
		code = session_on_rows(s, r, order_rows,
		    &(struct order){(unsigned)(*r)->sorted_by, !(*r)->descending}, err);
	else if (!code && reverse)
		code = session_on_rows(s, r, reverse_rows, NULL, err);
	return code;
}
