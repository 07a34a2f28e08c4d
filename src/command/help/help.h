/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * help.h - all text about commands and options, made from their tables: help, completion,
 * the manual, the completions of shells, the schema of results.
 */
#ifndef CAIRN_COMMAND_HELP_HELP_H
#define CAIRN_COMMAND_HELP_HELP_H

#include "command/command.h"

struct help_page {
	const char *name, *summary;
	const char *text; /* paragraphs and definitions ("WORD\tMEANING"), a line each; NULL: write makes it */
	void (*write)(struct text *to);
};
extern const struct help_page help_pages[]; /* ended by a NULL name */

/* Append the page's text, which may be empty. */
void help_page_text(const struct help_page *p, struct text *to);
/* Has the manual a section of its own for it? */
bool help_page_apart(const struct help_page *p);
/* The text of the page keys is the caller's, who has the table of keys.  Before the first command. */
void help_set_keys(void (*write)(struct text *to));

/* " on data/shop.hprof", or "" for what works on each sample: what follows the word example. */
const char *help_sample(enum sample on);

/* --- the program's options: one table for getopt_long, --help, the manual, and shells ------------ */

enum program_option_key {
	OPTION_COMMAND = 'x', OPTION_FILE = 'f', OPTION_BATCH = 'n', OPTION_OUTPUT = 'o',
	OPTION_PROCESS = 'p', OPTION_YES = 'y', OPTION_THREADS = 't', OPTION_VERSION = 'V', OPTION_HELP = 'h',
	OPTION_FORMAT = 256, OPTION_TOP, OPTION_EXE, OPTION_JAVACORE, OPTION_SIZES, OPTION_DUMP,
	OPTION_PROGRESS, OPTION_MEM, OPTION_SPILL, OPTION_COLOR, OPTION_ASCII, OPTION_MOUSE, OPTION_TOUR, OPTION_DUMP_DOCS,
	OPTION_FORCE, OPTION_CSV, OPTION_START, OPTION_PLAIN, OPTION_THEME, OPTION_NO_CONFIG, OPTION_DUMP_CONFIG,
	OPTION_INDEX, OPTION_NO_INDEX, OPTION_NO_MOUSE, OPTION_LIVE, OPTION_KEEP, OPTION_GC,
};

struct program_option {
	int key;              /* below 256: the short option's letter */
	const char *name;     /* long, without the dashes */
	const char *argument; /* "FILE", "text|csv|json|jsonl|md|html"; NULL: none */
	const char *summary;  /* one line of at most 50 columns; NULL: not shown */
	const char *more;     /* what the man page adds, or NULL */
};
extern const struct program_option program_options[]; /* ended by a NULL name */

void options_write_help(struct text *to);
/* Append the option of this name as a definition; NULL: all.  False: there is none. */
bool options_write_one(const char *name, struct text *to);
void options_write_man(struct text *to); /* troff: OPTIONS section */

/* "man": the sections that are made from tables; "bash", "zsh", "fish": completion (docs.c);
 * "schema", "commands": for programs (schema.c). */
void docs_write(const char *what, struct text *to);

/* Troff text: backslashes, leading dots and quotes, and dashes made safe. */
void troff_add(struct text *to, const char *s);

/* --- the palette: commands as they are typed ------------------------------------------------------ */

/* How well typed words match, the best first. */
enum palette_match {
	NAME_BEGINS, NAME_CONTAINS, OTHER_NAME_BEGINS, OTHER_NAME_CONTAINS, MEANING_SAYS, NAME_HAS_LETTERS
};
/* What typed words may mean.  All strings are of the tables of commands and aliases. */
struct palette_row {
	const char *line;              /* what to type for it: a command, or what the alias means */
	const struct command *command; /* of that line */
	const struct alias *alias;     /* another name that matches; NULL: none */
	enum palette_match match;
};
#define PALETTE_MOST 100

/*
 * The commands that the first n bytes of words may mean; of no word all.  First those whose name begins with the
 * words, then names that contain them, other tools' names, meanings; letters in the same order where there is nothing
 * else.  Returns how many, at most `most`.  Looks at tables alone; any thread.
 */
size_t palette_find(const char *words, size_t n, struct palette_row *row, size_t most);
/* Does each of the words begin a word of the text or of the name? */
bool palette_says(const char *text, const char *name, const char *words, size_t n);
/* "MAT duplicate_classes": append the other name and its tool; nothing if there is none. */
void palette_add_other_name(const struct palette_row *row, struct text *to);

/* --- completion --------------------------------------------------------------------------------- */

/*
 * Candidates for the word of line that ends at byte end: command names, options, class names,
 * addresses, columns, set names.  At most limit strings, each with the text that replaces the word;
 * *start gets where the word begins.  The array and its strings are the caller's.
 */
/* Stopped as a long job is (progress_own), it returns what it has. */
char **session_complete(const struct session *s, const char *line, size_t end, size_t limit,
    size_t *start, size_t *n);

#endif
