/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_tables.h - tables for SQL that no command prints as such; private to this folder. */
#ifndef CAIRN_COMMAND_ASK_ASK_TABLES_H
#define CAIRN_COMMAND_ASK_ASK_TABLES_H

#include "command/session/session.h"

/* frames, statics, globals: the caller's (result_free; result_check tells of lost rows).  NULL: none is called so. */
struct result *ask_table(const struct session *s, const char *name);

#endif
