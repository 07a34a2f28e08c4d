/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call.h - a stage's words against a command's arguments and options. */
#ifndef CAIRN_COMMAND_CALL_CALL_H
#define CAIRN_COMMAND_CALL_CALL_H

#include "command/command.h"
#include "command/line/line.h"

/*
 * Where the line begins with words of another tool (aliases), put those in their place that mean the
 * same here, and return what they were.  more: another word will follow.  NULL: there are none.
 * *means, unless NULL, gets those words of ours.
 */
const struct alias *call_expand(struct command_line *l, bool more, const char **means);

/* The alias that is spelled so, in either case; NULL. */
const struct alias *alias_named(const char *word);
/* The first alias of one word that begins so; NULL.  *other: another one that means something else. */
const struct alias *alias_begun(const char *word, const struct alias **other);

/*
 * The command that a stage begins with and the number of words its name takes; a line that begins with
 * an object (0x…, #ID, %N) calls x and takes none.
 */
const struct command *call_command(const struct stage *stage, size_t *words, struct err *err);

/* Fill *call; words and values live as long as the line and until call_release. */
MUST_CHECK int call_parse(struct call *call, const struct session *s, const struct command *c,
    struct command_line *line, const char *typed, size_t first_word, struct err *err);
void call_release(struct call *call);

/* The option that a word names, exactly or by a unique prefix; NULL. */
const struct option_spec *command_option(const struct command *c, const char *word);

#endif
