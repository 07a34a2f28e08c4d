/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse.h - a command line taken apart: "$name = command words | stage | !shell > file"; and the stages
 * behind the command: grep, head, sort, cut.
 *
 * Words stand between blanks; '…', "…" and \ quote, and so does /…/ around a regular expression.
 * Only unquoted | > and ! at the start of a stage mean anything.  In a question ("sql SELECT a FROM t WHERE c > 1",
 * or without the sql) || is its own, and > is, too, unless a path follows ("/tmp/x", "./x") or the question has ended:
 * with a semicolon, or with the quotes around all of it.
 */
#ifndef CAIRN_COMMAND_PARSE_PARSE_H
#define CAIRN_COMMAND_PARSE_PARSE_H

#include "algorithms/pattern.h"
#include "base/err.h"
#include "memory/arena.h"
#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>

struct word {
	const char *s;     /* without its quotes; of a /regex/ with the slashes */
	size_t begin, end; /* bytes of the line it came from */
	bool quoted;       /* begins with a quote: never an option */
	bool open;         /* its quote is not closed (only in a tolerant parse) */
};

struct stage {
	struct word *words;
	size_t n, cap;
	size_t begin, end;   /* bytes of the line */
	const char *shell;   /* "!command": what stands after the !, or NULL */
};

struct command_line {
	char *text, *ours;   /* the words, each with its NUL; those that replaced another tool's; owned */
	size_t used;
	const char *keep;    /* name of the set to keep, or NULL */
	struct stage *stages;
	size_t n, cap;
	struct word file;    /* > file; .s NULL: none */
	bool append;
};

/* Is it a word with which a statement of SQL begins: SELECT, WITH …, in either case? */
bool line_states(const char *word);

/* 0 or ERR_USAGE.  Tolerant: open quotes and empty stages are fine (completion). */
MUST_CHECK int command_line_parse(struct command_line *l, const char *line, bool tolerant,
    struct err *err);
void command_line_release(struct command_line *l);

/* The rest of a line from a word on, as typed, without blanks at its ends; in the arena. */
const char *command_line_rest(struct arena *arena, const char *line, const struct stage *stage, size_t word);

/* The next name of a list with commas, which moves behind it: the caller's (free).  NULL: there are no more. */
char *line_next_name(const char **list);
/* A regular expression without the slashes around it: the caller's (free). */
char *line_bare_regex(const char *word);
/* POSIX extended, slashes around it are taken off.  0: *to is the caller's (pattern_free). */
MUST_CHECK int line_regex(const char *word, bool any_case, struct pattern **to, struct err *err);

/* --- stages ------------------------------------------------------------------------------------- */

/* What help and completion know of a stage. */
struct pipe_stage {
	const char *name, *usage, *summary;
	int (*apply)(struct result **r, const struct stage *stage, struct err *err);
	bool looks; /* for something, which may not be there */
};
extern const struct pipe_stage pipe_stages[]; /* ended by a NULL name */

/* The stage's row of the table, or NULL. */
const struct pipe_stage *pipe_stage_of(const struct stage *stage);
/* Apply one stage to *r, which may be replaced by another result.  0, ERR_USAGE, ERR_NOT_FOUND. */
MUST_CHECK int pipe_apply(struct result **r, const struct stage *stage, struct err *err);


/* Rows were sorted by a column: tell where what it holds stands in a dump that is not here. */
void pipe_warn_order(struct result *r, unsigned column);

/* ERR_USAGE: there is no such column, these are. */
MUST_CHECK int pipe_no_column(const struct result *r, const char *name, struct err *err);

#endif
