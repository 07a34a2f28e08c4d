/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_tables.h - tables for SQL that no command prints as such; private to this folder. */
#ifndef CAIRN_COMMAND_QUERY_ASK_TABLES_H
#define CAIRN_COMMAND_QUERY_ASK_TABLES_H

#include "command/command.h"

/* Those that are there in each dump, beside sql_tables. */
struct ask_table {
	const char *name, *what; /* what: its rows are, no full stop */
	const struct shape *shape;     /* NULL: that of the command */
	struct result *(*make)(const struct session *s); /* NULL: it is what the command answers */
	const struct command *command;
};
extern const struct ask_table ask_tables[]; /* ended by a NULL name */
const struct ask_table *ask_table_called(const char *name); /* NULL: none */
const struct shape *ask_table_shape(const struct ask_table *t);
/* Can the rows of this command stand behind FROM, and has the current dump any? */
bool ask_is_table(const struct session *s, const struct command *c);

#endif
