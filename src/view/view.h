/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.h - the full screen: open a dump and browse it.
 *
 * The only way into this room.  Main thread only; the dump is read on a thread of its own.
 */
#ifndef CAIRN_VIEW_VIEW_H
#define CAIRN_VIEW_VIEW_H

#include "command/help/help.h"
#include "command/exec/exec.h"

#include <stdbool.h>

/*
 * The user's configuration (config.c), the caller's.  Errors in the file are reported on standard error, and its other
 * lines hold.
 */
struct config *config_read(void);
/* Read the user's layouts of collections (doc/layouts.md), before any dump; faults of the file are reported. */
void layouts_file_read(void);
void config_free(struct config *c); /* NULL: nothing */
/* Option number i of the program that it gives, and the option's value ("on" and "off" of flags), borrowed; false
 * behind the last. */
bool config_option(const struct config *c, size_t i, const struct program_option **o, const char **value);
/* The defaults, as a configuration with remarks. */
void config_write(struct text *to);

struct view_options {
	const struct heap_options *heap; /* borrowed; its watcher is not used */
	const char *const *older; /* paths of older dumps, the oldest first; borrowed */
	size_t n_older;
	const struct folder *folder; /* instead of both: the dumps in it; borrowed; NULL: none was named */
	const char *line; /* to run once the list of these dumps is shown; NULL: none */
	unsigned start; /* the main page to begin with, as --start lists them; 0: the overview */
	bool ascii, mouse;
	bool tour;                       /* say what to press next */
	bool force;                      /* files are replaced without a question */
	struct print_options print;      /* of what is saved */
	const struct config *config;     /* borrowed; NULL: none */
	int color; /* -1 never, 0 auto, 1 always */
	unsigned theme; /* as --theme lists them; 0: by the terminal */
};

/*
 * Open the dump with the screen alive, browse until quit.  Returns an exit status: 0, 3 (the dump
 * cannot be read, or there is no terminal), 4 (it was read in part), 130 (the loading was stopped).
 * What went wrong is said on standard error, after the screen is gone.  NO_SCREEN: this terminal
 * cannot show one, which is said, and nothing was done.
 */
enum { NO_SCREEN = -1 };
int view_run(const struct view_options *options);

/*
 * Open the dump, then ask for command lines at a prompt and print what they answer, without a screen.  Returns the
 * exit status: 0, 3 or 4 as above, 2 for what could not be written.
 */
int view_run_plain(const struct batch_options *options, const struct config *config);

/* The KEYS section of the manual page, troff, from the table of keys (keys.c), and CONFIGURATION. */
void config_write_man(struct text *to);
void view_write_man(struct text *to);
/* The text of help keys: definitions, from the same table. */
void view_write_keys(struct text *to);

#endif
