/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_options.h - the options that every table takes, whatever command makes it: -where, -by, -sort and -r.
 *
 * A command's options are its own (command->options) and behind them those of tables whose word it has not itself.
 */
#ifndef CAIRN_COMMAND_TABLE_OPTIONS_H
#define CAIRN_COMMAND_TABLE_OPTIONS_H

#include "command/command.h"

/* Option number i of a command, its own first; NULL behind the last. */
const struct option_spec *command_option_at(const struct command *c, size_t i);
/* Is it one that every table takes? */
bool option_is_of_tables(const struct option_spec *o);
/* Does the command make tables that take them? */
bool command_takes_table_options(const struct command *c);
extern const struct option_spec table_options[]; /* ended by DASH_NONE */

/* Are these words, with commas between them, columns of some table that the command makes? */
bool table_has_columns(const struct command *c, const char *words);

/* Does a condition say which rows are looked for? */
bool command_filters(const struct call *call);
/* Are the rows wanted as the command finds them: none of the options was given? */
bool command_as_found(const struct call *call);
/*
 * Filter, group and sort *r as the options say; *r may be replaced.  0, ERR_USAGE (no such column), ERR_NOMEM or
 * ERR_CANCELLED; *r stays the caller's.
 */
MUST_CHECK int table_options_apply(struct session *s, const struct call *call, struct result **r, struct err *err);

#endif
