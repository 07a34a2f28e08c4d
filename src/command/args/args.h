/* SPDX-License-Identifier: GPL-3.0-or-later */
/* args.h - a line as what it invokes, and its words against a command's arguments and options. */
#ifndef CAIRN_COMMAND_ARGS_ARGS_H
#define CAIRN_COMMAND_ARGS_ARGS_H

#include "command/command.h"
#include "command/parse/parse.h"

/*
 * A line, parsed once: made where it is typed, read or asked by a key, and passed on to what runs it, waits with it and
 * shows its answer.  It does not change; who holds one holds all of it.  Main thread only, or one thread's alone.
 */
struct invocation {
	unsigned holders;
	char *text;                    /* the line as it was typed, for titles, history and messages */
	struct command_line line;      /* its words, ours in the place of those of other tools */
	const struct alias *alias;     /* which these were; NULL: there were none */
	const char *means;             /* the words of ours */
	const struct command *command; /* NULL: none, or several could be meant */
	size_t words;                  /* of the first stage, which name the command; 0: it is implied */
	bool empty;                    /* blanks or a remark: there is nothing to run */
	bool early;                    /* answered from objects and classes alone; else it may need references, roots or
	                                  what follows from them */
	bool early_with_sums;          /* the same where what classes retain is known (opened_has_class_sums) */
	bool of_row;                   /* it may name a row of the table shown: %N */
	bool of_view;                  /* or a set: it may mean something else elsewhere */
	struct err err;                /* code 0, or why it cannot run: ERR_USAGE, ERR_NOMEM */
};

/* The invocation of a line; the caller's (invocation_drop).  What is wrong with it is in ->err. */
struct invocation *invocation_of(const char *text);
/* One more holder of it; returns it.  NULL is fine, in both. */
struct invocation *invocation_keep(struct invocation *i);
void invocation_drop(struct invocation *i);
/* Is it a command alone, without stages or a file behind it? */
bool invocation_is_plain(const struct invocation *i);

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

/* Fill *call, of the invocation's command or another one; words and values live as long as the invocation and until
 * call_release. */
MUST_CHECK int call_parse(struct call *call, const struct session *s, const struct command *c,
    const struct invocation *asked, struct err *err);
void call_release(struct call *call);

/* The option that a word names, exactly or by a unique prefix; NULL. */
const struct option_spec *command_option(const struct command *c, const char *word);

#endif
