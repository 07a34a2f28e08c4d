/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * processes.h - running processes on the command line: `cairn PID`.
 *
 * Main thread.
 */
#ifndef CAIRN_COMMAND_PROCESSES_PROCESSES_H
#define CAIRN_COMMAND_PROCESSES_PROCESSES_H

#include "base/err.h"

#include <stdbool.h>

struct live_dump_wishes;
struct session;

/* Does a name on the command line mean a process: a number, and no file has that name? */
bool process_is_named(const char *name);

/*
 * Name a process as a dump: *path opens it, and stays.  Says before what is going to be done: on a terminal it waits
 * for a yes, unless that was given.  Nothing happens to the process before the dump is opened.  0; ERR_CANCELLED: the
 * answer was no; else as vm_process_find.
 */
MUST_CHECK int process_take(const char **path, const char *words, const struct live_dump_wishes *w, bool yes,
    struct err *err);

/* --live: the process that these words mean, found once.  Errors as vm_process_find. */
MUST_CHECK int process_watch(const char *words, struct err *err);
/* Then the line that asks it; NULL: none is watched. */
const char *process_watch_line(void);
/* For batch_options: that line every two seconds, as long as the process lives. */
const char *process_watch_next(void *context, struct session *s);

#endif
