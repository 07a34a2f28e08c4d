/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - what commands work on: the open dumps, the last table, settings, history.
 *
 * One thread at a time: the main one, or, while a command about a dump works, that of its job
 * (session_work); the main thread then draws what is shown and changes nothing.
 */
#ifndef CAIRN_COMMAND_SESSION_SESSION_H
#define CAIRN_COMMAND_SESSION_SESSION_H

#include "analysis/compare/compare.h"
#include "base/parallel.h"
#include "base/turns.h"
#include "opened/opened.h"
#include "result/print.h"
#include "result/result.h"

#include <stdatomic.h>

enum progress_wish { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* When may a file that exists be replaced?  The files that are read here never are. */
struct writing {
	bool force; /* --force: always */
	/* Someone is there to decide: asks, and says whether the answer was yes.  NULL: all but dumps. */
	bool (*ask)(void *context, const char *question);
	void *context;
};

struct alias; /* command/command.h */

/* What is selected on the screen, as words of a command line; each NULL: nothing of the kind is. */
struct selection {
	char *row;    /* the selected row: an object's address, a class's name, else %N */
	char *page;   /* the object that the page is about */
	size_t first, last; /* the rows that are seen, for completion: from the first to before the last */
	bool several; /* the row stands for more than one object, or may */
	bool used;    /* a line meant any of it, so it means something else elsewhere */
};
void selection_release(struct selection *selection);

/* A dump that stands before the one that is browsed. */
struct older_dump {
	const char *path;       /* borrowed */
	bool read;
	int code;               /* once it was read: 0, or why there is no profile */
	struct err err;
	struct profile profile;
};

struct session {
	struct opened *dump;     /* the one that commands are about; NULL: none yet */
	struct opened **dumps;   /* all that are open, in the order of opening; owned */
	size_t n_dumps, cap_dumps;
	const struct heap_options *how; /* these were opened with, and older dumps are; borrowed */
	struct older_dump *older; /* the oldest first; owned.  Without a dump: profiles alone */
	size_t n_older;
	struct result *last;     /* of the last command, for save and why; owned */
	struct result *rows;     /* what %N and $_ mean if the rows of last are no sets (size, help,
	                            settings): the last result before it whose rows are; owned, or
	                            NULL */
	struct result *explained; /* the one that last explains, if it does; owned */
	struct result *shown;    /* the page on the screen, which stands in for last while it is set;
	                            borrowed: commands do not free or replace it */
	struct result *shown_rows; /* likewise for rows: of the nearest page before it, or NULL */
	struct selection *selection; /* of that page: what a missing argument and "." mean; borrowed; NULL:
	                            nothing can be selected (batch) */
	char **history;          /* command lines, oldest first */
	size_t n_history, cap_history;
	/* words of other tools of which it was said what they are here */
	struct told_alias { const struct alias *alias; const char *means; } *told;
	size_t n_told, cap_told;
	struct print_options print;
	struct writing writes;
	bool quit;               /* the quit command was given */
	bool interactive;        /* a person types: source prints, shell pipes reach the terminal */
	bool mat_sizes;          /* --sizes mat */
	bool q_quits;            /* set q quit: the screen's key leaves from everywhere */
	char *copies;            /* set copy FILE: behind what it holds y and Y write; owned; NULL: to the terminal */
	bool finds_beside;       /* a job of the screen finds retained sizes: commands do not wait for
	                            it */
	enum progress_wish progress;
	FILE *output;            /* where source prints; NULL on the screen, which shows the last result */
	const char *output_name; /* of its file; NULL: standard output */
	bool output_replaces;    /* output holds something that goes when the first result comes */
	bool output_joins;       /* it is a file of its own, and what is printed there in JSON is one text */
	size_t n_printed;        /* results on output so far */
	const char *heading;     /* a line to print in front of the next one; NULL: none */
	size_t screenful;        /* rows of a text result that output shows if --top is not given; 0:
	                            all */
	unsigned depth;          /* how many scripts run within each other */
	bool placed;             /* the current error already names its file and line */
	int status;              /* worst exit status of the lines of scripts */
	struct text said;        /* what the last line did, in a sentence, where that is no result */
	/* The screen steps aside for a shell pipe (begins) and comes back; NULL: nothing to do. */
	void (*shell)(void *context, bool begins);
	void *shell_context;
	/* The screen runs a long work beside itself (session_work); NULL: standard error tells how far it
	 * is. */
	int (*work)(void *context, long_work *work, void *argument, struct err *err);
	void *work_context;
	struct turns *turns;     /* whoever reads the rows of the page on the screen works there, and draws
	                            it in between: some rows remember what was read of them last; NULL:
	                            there is no screen */
	struct result **growing; /* within turns: the result whose rows found so far may be shown, or NULL;
	                            NULL: there is no screen */
	bool grows;              /* what the command at hand finds is its answer: nothing arranges it after that */
	struct progress *now;    /* of the job that runs the command at hand; NULL: none, or unwatched */
	/* What keeps objects alive is about to change (begins), and has: nothing found about it may be in
	 * use in between.  False: not now, the dump is still being read.  NULL: nothing to do. */
	bool (*model)(void *context, bool begins);
	void *model_context;
};

void session_init(struct session *s);
void session_release(struct session *s);

/* Open a dump: commands are about it from now on.  It stays the session's. */
struct opened *session_open(struct session *s, const struct heap *heap);
/* Commands are about this one of the open dumps from now on. */
void session_use(struct session *s, struct opened *o);
/* Close one, and drop the last results, which may be of it. */
void session_close(struct session *s, struct opened *o);

/* Name older dumps, the oldest first; paths are borrowed.  Nothing is read yet. */
void session_know_older(struct session *s, const struct heap_options *how, const char *const *paths, size_t n);
void session_forget_older(struct session *s);
/* Read those that were not read yet, one after another; each leaves its profile, or why there is none.  0 or
 * ERR_CANCELLED. */
MUST_CHECK int session_read_older(struct session *s, struct err *err);
/* The profile of the dump at hand: the caller's (profile_release).  ERR_UNSUPPORTED while retained sizes are being
 * found beside the screen; ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int session_profile(struct session *s, struct profile *out, struct err *err);

/* What is said of whatever asks about objects where there are profiles alone. */
#define NO_DUMP_AT_HAND "there is no dump at hand, only profiles: cairn PROFILE... DUMP opens one beside them"

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

/* The result that `save` and `why` are about; NULL: none. */
struct result *session_table(const struct session *s);
/* The result that %N and $_ mean: the last one whose rows are sets; NULL: none. */
struct result *session_rows(const struct session *s);
/* What why is about: the last table that is no explanation itself; or NULL. */
struct result *session_explained(const struct session *s);
/* The heap's class names, built at the first call for a heap.  NULL: ERR_NOMEM. */
const struct name_index *session_names(const struct session *s, struct err *err);
/* Does the dump have references?  0, or ERR_UNSUPPORTED, and *err says why not. */
MUST_CHECK int session_references(const struct session *s, struct err *err);
/* What the roots keep; the first call for a dump walks the heap.  *out is borrowed from the
 * dump. */
MUST_CHECK int session_reachable(const struct session *s, struct reachable *out, struct err *err);
/* Which of the unreachable objects may be alive all the same; as above, and longer. */
MUST_CHECK int session_unrecorded(const struct session *s, const struct unrecorded **out, struct err *err);

/* What objects and classes retain.  ERR_UNSUPPORTED while they are being found beside the screen. */
MUST_CHECK int session_retained(const struct session *s, const struct retained **out,
    struct err *err);
/* On which ways objects are reached; the same codes. */
MUST_CHECK int session_signatures(const struct session *s, const struct signatures **out, struct err *err);
/* Sizes of objects alone, without lists of children and sums by class; the same codes. */
MUST_CHECK int session_sizes(const struct session *s, const struct retained **out, struct err *err);

/* Keep a sentence of what a line did and to what: "done" would leave that open.  People read it where lines are
 * typed; scripts do not. */
void session_say(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- long works --------------------------------------------------------------------------------- */

/* heap_open beside a progress line.  Main thread only. */
MUST_CHECK int heap_open_watched(struct heap **out, const struct heap_options *options,
    enum progress_wish wish, struct err *err);
/* Any other long work likewise. */
MUST_CHECK int work_watched(long_work *work, void *argument, enum progress_wish wish,
    struct err *err);

/* Run a long work and wait for its end, which the user can see coming and stop. */
MUST_CHECK int session_work(const struct session *s, long_work *work, void *argument,
    struct err *err);
/* What goes through the rows of a result, likewise where these are many. */
typedef int rows_task(struct result **r, const void *context, struct err *err);
MUST_CHECK int session_on_rows(const struct session *s, struct result **r, rows_task *task,
    const void *context, struct err *err);
/* The same of a result that may be on the screen, or a draft of one: within s->turns, which are offered where
 * r->stop is asked. */
MUST_CHECK int session_on_shown(const struct session *s, struct result **r, rows_task *task,
    const void *context, struct err *err);

/* The same of what only leaves rows away in their order: the screen may show those kept so far. */
MUST_CHECK int session_on_growing(const struct session *s, struct result **r, rows_task *task,
    const void *context, struct err *err);

/*
 * A command finds rows, in the order in which it answers them: until session_grown the screen may show those that r
 * has.  In between the command is within s->turns; it offers them between rows (turns_offer), and steps out for
 * long searches that do not touch r (turns_step_out).  Nothing where there is no screen, or where a pipe follows.
 */
bool session_grows(const struct session *s, struct result *r); /* false: nobody looks, and there is nothing to end */
void session_grown(const struct session *s);

/* Did the last line fail for want of retained sizes that are found elsewhere?  Asked once: it may be run
 * again when they are there. */
bool session_must_wait(struct session *s);

/* opened_count_weak for the dump at hand, while the screen looks away.  The same codes; ERR_USAGE
 * without a dump. */
MUST_CHECK int session_count_weak(struct session *s, bool counts, struct err *err);

/* Free the last results, because the heap that they are about is going to be closed. */
void session_drop_results(struct session *s);

/* Move the last result out of the session: the caller's from now on (result_free).  NULL: none. */
struct result *session_take(struct session *s);

/* Find the shortest path to an object: searches backward, and forward from the roots if that takes
 * too long.  out->n is 0 if there is none.  0: *out is the caller's (path_release); ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int command_find_path(const struct session *s, const struct path_rules *rules,
    uint32_t to, struct path *out, struct err *err);

/* The tree of shortest paths from the roots, found at the first call for a dump and kept. */
MUST_CHECK int session_path_tree(const struct session *s, bool weak, const struct path_tree **out,
    struct err *err);

#endif
