/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * processes.h - running processes on the command line: `cairn PID`.
 *
 * Main thread.
 */
#ifndef CAIRN_COMMAND_PROCESSES_PROCESSES_H
#define CAIRN_COMMAND_PROCESSES_PROCESSES_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cell;
struct live_dump_wishes;
struct result;
struct session;
struct vm_process;
struct writing;

/* Does a name on the command line mean a process: a number, and no file has that name? */
bool process_is_named(const char *name);

/* Is there no such file, but a process that -p finds by this? */
bool process_has_name(const char *name);

/* The VM that these words mean.  One that cannot be read is ERR_FORMAT, as a dump is: one exit status. */
MUST_CHECK int process_find_vm(struct vm_process *to, const char *words, struct err *err);
/* The same of the error of asking it. */
int process_error(int code, struct err *err);

/*
 * Name a process as a dump: *path opens it, and stays.  ask is told before what is going to be done.  Nothing happens
 * to the process before the dump is opened.  rules: of the file to keep.  0; ERR_CANCELLED: the answer was no; else as
 * process_find_vm, live_dump_check and writing_may_replace.
 */
MUST_CHECK int process_take(const char **path, const char *words, const struct live_dump_wishes *w,
    const struct writing *rules, bool (*ask)(void *context, const char *sentence), void *context, struct err *err);
/* For it, before there is a screen: waits for a yes, unless that was given (*context, a bool) or nobody is there. */
bool process_ask_terminal(void *context, const char *sentence);

/* --live: the process that these words mean, found once; with --gc it collects.  Errors as process_find_vm. */
MUST_CHECK int process_watch(const char *words, bool collect, struct err *err);
pid_t process_watched(bool *collect); /* its pid; 0: none is watched */
/* Then the line that asks it; NULL: none is watched. */
const char *process_watch_line(void);
/* For batch_options: that line every two seconds, as long as it lives. */
const char *process_watch_next(void *context, struct session *s);

struct result *processes_result(void); /* as the command processes lists them; the caller's */

/* --- in words (process_words.c) -------------------------------------------------------------------- */

/* Append the command line that opens a process. */
void process_add_line(const struct vm_process *p, struct text *to);
/* A number of bytes that a VM publishes: at its last collection, most of them. */
struct cell process_published(const struct vm_process *p, uint64_t bytes);
/* Append "3d 4h", of seconds. */
void process_add_uptime(uint64_t seconds, struct text *to);
/* Append "37 young, 1 full, 1.06s"; nothing where it publishes no counters. */
void process_add_collections(const struct vm_process *p, struct text *to);
/* Append how it is read, if it cannot be: "no permission (user shop)"; else nothing. */
void process_add_obstacle(const struct vm_process *p, struct text *to);

#endif
