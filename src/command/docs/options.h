/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.h - the program's options: one table for getopt_long, --help, the man page and the
 * completions of shells.
 */
#ifndef CAIRN_COMMAND_DOCS_OPTIONS_H
#define CAIRN_COMMAND_DOCS_OPTIONS_H

#include "base/text.h"

enum program_option_key {
	OPTION_COMMAND = 'x', OPTION_FILE = 'f', OPTION_BATCH = 'n', OPTION_OUTPUT = 'o',
	OPTION_THREADS = 't', OPTION_VERSION = 'V', OPTION_HELP = 'h',
	OPTION_FORMAT = 256, OPTION_TOP, OPTION_EXE, OPTION_JAVACORE, OPTION_SIZES, OPTION_DUMP,
	OPTION_PROGRESS, OPTION_MEM, OPTION_COLOR, OPTION_ASCII, OPTION_MOUSE, OPTION_DUMP_DOCS,
};

struct program_option {
	int key;              /* below 256: the short option's letter */
	const char *name;     /* long, without the dashes */
	const char *argument; /* "FILE", "text|csv|json|jsonl"; NULL: none */
	const char *summary;  /* one line of at most 50 columns; NULL: not shown */
	const char *more;     /* what the man page adds, or NULL */
};
extern const struct program_option program_options[]; /* ended by a NULL name */

void options_write_help(struct text *to);
void options_write_man(struct text *to); /* troff: OPTIONS section */

/* "man": the sections that are made from tables; "bash", "zsh", "fish": completion (docs.c). */
void docs_write(const char *what, struct text *to);

/* Troff text: backslashes, leading dots and quotes, and dashes made safe. */
void troff_add(struct text *to, const char *s);

#endif
