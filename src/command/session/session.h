/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - what commands work on: the open dumps, the last table, settings, history.
 *
 * Main thread only.
 */
#ifndef CAIRN_COMMAND_SESSION_SESSION_H
#define CAIRN_COMMAND_SESSION_SESSION_H

#include "command/session/loading.h"
#include "result/print.h"
#include "result/result.h"
#include "opened/opened.h"

struct session {
	struct opened *dump;     /* the one that commands are about; NULL: none yet */
	struct opened **dumps;   /* all that are open, in the order of opening; owned */
	size_t n_dumps, cap_dumps;
	struct result *last;     /* of the last command, for save and why; owned */
	struct result *rows;     /* the last one before it whose rows are sets, where last has none (size,
	                            help, settings), for %N and $_; owned, or NULL */
	struct result *shown;    /* instead of last while set: the page on the screen; borrowed, not freed
	                            or replaced by commands */
	struct result *shown_rows; /* and instead of rows: the nearest page before it, or NULL */
	char **history;          /* command lines, oldest first */
	size_t n_history, cap_history;
	struct print_options print;
	bool quit;               /* the quit command was given */
	bool interactive;        /* a person types: source prints, shell pipes reach the terminal */
	bool mat_sizes;          /* --sizes mat */
	bool finds_beside;       /* retained sizes are found beside this thread: nobody waits for them */
	enum progress_wish progress;
	FILE *output;            /* where source prints; NULL on the screen, which shows the last result */
	size_t n_printed;        /* results on output so far */
	size_t screenful;        /* rows that output shows of a text result unless --top says so; 0: all */
	unsigned depth;          /* of scripts within scripts */
	bool placed;             /* the error at hand names its file and line already */
	int status;              /* worst exit status of the lines of scripts */
	/* The screen steps aside for a shell pipe (begins) and comes back; NULL: nothing to do. */
	void (*shell)(void *context, bool begins);
	void *shell_context;
	/* The screen runs a long work beside itself (session_work); NULL: standard error tells how far it
	 * is. */
	int (*work)(void *context, long_work *work, void *argument, struct err *err);
	void *work_context;
	struct progress *now;    /* of the job that runs the command at hand; NULL: none, or unwatched */
	/* What keeps objects alive is about to change (begins), and has: nothing found about it may be in
	 * use in between.  False: not now, the dump is still being read.  NULL: nothing to do. */
	bool (*model)(void *context, bool begins);
	void *model_context;
};

void session_init(struct session *s);
void session_release(struct session *s);

/*
 * Run one command line, pipes and redirection included.
 *
 * *out gets the result to show or print, owned by the session until the next call (also reachable
 * as s->last); NULL when the command prints nothing or its output went to a file or a shell command.
 * 0, or: ERR_USAGE, ERR_NOT_FOUND (exit 1), ERR_UNSUPPORTED (exit 1), ERR_IO …, with err->message
 * naming the command and the word, and the nearest names.
 */
int session_run(struct session *s, const char *line, struct result **out, struct err *err);

/* Open a dump: commands are about it from now on.  It stays the session's. */
struct opened *session_open(struct session *s, const struct heap *heap);
/* Commands are about this one of the open dumps from now on. */
void session_use(struct session *s, struct opened *o);
/* Close one, and drop the last results, which may be of it. */
void session_close(struct session *s, struct opened *o);

/* The heap that commands are about, or NULL. */
static inline const struct heap *session_heap(const struct session *s)
{
	return s->dump ? s->dump->heap : NULL;
}

/* The progress of the command at hand, for loops that tell how far they are; may be NULL. */
static inline struct progress *session_progress(const struct session *s)
{
	return s->now;
}

/* Run a long work and wait for its end, which the user can see coming and stop. */
int session_work(const struct session *s, long_work *work, void *argument, struct err *err);
/* What goes through the rows of a result, likewise where these are many. */
typedef int rows_task(struct result **r, const void *context, struct err *err);
int session_on_rows(const struct session *s, struct result **r, rows_task *task, const void *context,
    struct err *err);

/* Did the last line fail for want of retained sizes that are found elsewhere?  Asked once: it may be run
 * again when they are there. */
bool session_must_wait(struct session *s);

/* opened_count_weak for the dump at hand, while the screen looks away.  The same codes; ERR_USAGE
 * without a dump. */
int session_count_weak(struct session *s, bool counts, struct err *err);

/* Drop the last results: the heap goes. */
void session_drop_results(struct session *s);

/* Move the last result out of the session: the caller's from now on (result_free).  NULL: none. */
struct result *session_take(struct session *s);

/* Print a result where the session's output goes, apart from the one before it.  0 or ERR_IO. */
int session_print(struct session *s, struct result *r, struct err *err);

/* Write a result to a file, its format by the extension.  0 or ERR_IO. */
int session_save(struct session *s, struct result *r, const char *path, struct err *err);

/* Run the lines of a script ("-": standard input), printing results to s->output; stops at the first
 * error, which then names file and line.  *out gets the last result. */
int session_source(struct session *s, const char *path, struct result **out, struct err *err);

/* Exit status of a command's outcome, as the contract has it. */
int session_exit_status(int code, const struct result *r);

/*
 * Candidates for the word of line that ends at byte end: command names, options, class names,
 * addresses, columns, set names.  At most limit strings, each with the text that replaces the word;
 * *start gets where the word begins.  The array and its strings are the caller's.
 */
char **session_complete(const struct session *s, const char *line, size_t end, size_t limit,
    size_t *start, size_t *n);

#endif
