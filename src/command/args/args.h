/* SPDX-License-Identifier: GPL-3.0-or-later */
/* args.h - a stage's words against a command's arguments and options. */
#ifndef CAIRN_COMMAND_ARGS_ARGS_H
#define CAIRN_COMMAND_ARGS_ARGS_H

#include "command/command.h"
#include "command/parse/parse.h"

/*
 * Where the line begins with words of another tool (aliases), put those in their place that mean the
 * same here, and return what they were.  more: another word will follow.  NULL: there are none.
 * *means, unless NULL, gets those words of ours.
 */
const struct alias *call_expand(struct command_line *l, bool more, const char **means);

/* The command whose name these n bytes are; NULL. */
const struct command *command_named(const char *word, size_t n);
/* The alias that is spelled so, in either case; NULL. */
const struct alias *alias_named(const char *word);
/* Append what it means: "size, histo -retained with more words". */
void alias_add_meaning(const struct alias *a, struct text *to);
/* The first alias of one word that begins so, and is no tool's; NULL.  *other: another one with another meaning. */
const struct alias *alias_begun(const char *word, const struct alias **other);

/* A command that a word may have meant, and the line for that: "tree -by package". */
struct near_command {
	const char *line;
	const struct command *command;
};
enum { NEAR_MOST = 3 };
/* The commands nearest to a word that is none, the nearest first; how many.  Few are better than far ones. */
unsigned nearest_commands(const char *word, struct near_command found[NEAR_MOST]);

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
