/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.h - the full screen: open a dump and browse it.
 *
 * The only way into this room.  Main thread only; the dump is read on a thread of its own.
 */
#ifndef CAIRN_VIEW_VIEW_H
#define CAIRN_VIEW_VIEW_H

#include "command/run/run.h"

#include <stdbool.h>

struct view_options {
	const struct heap_options *heap; /* borrowed; its watcher is not used */
	unsigned start; /* the main page to begin with, as --start lists them; 0: the histogram */
	bool ascii, mouse;
	bool tour;                       /* say what to press next */
	bool force;                      /* files are replaced without a question */
	bool csv_raw;                    /* print_options.csv_raw of what is saved */
	int color; /* -1 never, 0 auto, 1 always */
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
int view_run_plain(const struct batch_options *options);

/* The KEYS section of the manual page, troff, from the table of keys (keys.c). */
struct text;
void view_write_man(struct text *to);

#endif
