/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.h - typed command lines, kept from one run to the next.
 *
 * $XDG_STATE_HOME/cairn/history (else ~/.local/state), mode 0600, a line each, oldest first.  Several
 * programs may append at once; each holds the file's lock while it writes.  What cannot be read or
 * written is silently not kept: it is a convenience.  Main thread only.
 */
#ifndef CAIRN_VIEW_HISTORY_H
#define CAIRN_VIEW_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

/* The path of one of our files there, the caller's; with make the folders above it are made.  NULL: there is no
 * home to keep it in. */
char *state_path(const char *name, bool make);
/* Likewise that of the configuration, $XDG_CONFIG_HOME/cairn/config (else ~/.config). */
char *config_path(void);
/* The same of the layouts of collections. */
char *layouts_path(void);
#define STATE_MOST (4 * 1024 * 1024) /* bytes: a longer file is not ours */
/* All of a file, with a NUL behind it, the caller's; NULL: it is none of ours. */
char *state_read(int fd, size_t *size);

/* The lines that are kept, without doubles, the newest last; the file is cut to them when it grew
 * long.  The array and its strings are the caller's. */
char **history_read(size_t *n);
void history_append(const char *line);

#endif
