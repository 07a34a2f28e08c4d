/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines.h - command lines made from the table of commands, so that none can be forgotten. */
#ifndef CAIRN_TESTS_LINES_H
#define CAIRN_TESTS_LINES_H

#include "command/command.h"

/* Words that mean something in the dump at hand. */
struct words {
	char last[16], address[24]; /* an object by its rank and by its address */
	char class[256];            /* of that object, quoted; "*" where a name cannot be quoted */
	char field[600];            /* a static field or global variable; "#1" where there is none */
	char thread[256];
};
void words_find(struct words *w, const struct session *s);

/* Call `run` with every line: each command of the table with each kind of argument, each of its options
 * with each value, stages behind it, its examples.  Left out is what writes files or reaches a shell, and
 * quit. */
void lines_each(const struct words *w, void (*run)(void *context, const struct command *c,
    const char *line), void *context);

/* What is typed so far, to be completed. */
extern const char *const lines_begun[]; /* ended by NULL */

#endif
