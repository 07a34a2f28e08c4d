/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminals.h - descriptions of terminals, for hosts whose terminfo lacks the user's terminal: a server's database
 * may be older than the terminal, and a container may have none.
 *
 *     terminals.c        which description stands in, and how it is handed to curses
 *     terminals_table.c  what the terminals can do
 */
#ifndef CAIRN_VIEW_TERM_TERMINALS_H
#define CAIRN_VIEW_TERM_TERMINALS_H

#include "base/text.h"

/* One type.  Each of can is a flag ("am"), a number ("colors#8") or a string ("bel=\007") by terminfo's name, or
 * takes one of the base away ("km@"); NULL at the end. */
struct terminal_type {
	const char *name, *base; /* base: NULL, or what is true of this one, too */
	const char *const *can;
};

/* All that there are, the last one without a name. */
extern const struct terminal_type terminal_types[];

/* The one of terminal_types that is most like name, never NULL. */
const struct terminal_type *terminal_nearest(const char *name);

/* Append what the variable TERMINFO says where type is meant and TERM is name. */
void terminal_compile(struct text *out, const struct terminal_type *type, const char *name);

#endif
