/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - what commands work on: the dumps, the last table, settings, history.
 *
 * One thread at a time: the main one, or, while a command about a dump works, that of its job
 * (session_work); the main thread then draws what is shown and changes nothing.
 */
#ifndef CAIRN_COMMAND_SESSION_SESSION_H
#define CAIRN_COMMAND_SESSION_SESSION_H

#include "algorithms/parallel.h"
#include "analysis/compare/compare.h"
#include "base/render_lock.h"
#include "opened/opened.h"
#include "result/print.h"
#include "result/result.h"

#include <stdatomic.h>
#include <sys/types.h>

struct heap_need;
struct vm_watch;
struct heap_options;

enum progress_wish { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* When may a file that exists be replaced?  The files that are read here never are. */
struct writing {
	bool force; /* --force: always */
	/* Asks the user; true: the answer was yes.  NULL: there is no user, and all but dumps may be replaced. */
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

/* --- the dumps in a folder or an archive (folder.c, archived.c) ------------------------------------ */

/* A file that is a dump or a profile by its first bytes, or claims to be a dump by its name. */
struct folder_file {
	char *path;          /* the folder's and the name, or the archive's, "::" and the name; owned */
	const char *label;   /* its format, "PHD"; NULL: a profile, or unknown */
	char created[32];    /* when it was written, as its first bytes or its name tell, or else the file's time, UTC */
	bool by_file;        /* that is the file's own time */
	int64_t order;       /* the same in nanoseconds since 1970; what is local time as if it were ours */
	int64_t written;     /* the file's own time, in nanoseconds since 1970 */
	uint64_t size;       /* of the file, in bytes; in an archive, unpacked */
	bool sized;          /* it is known: it is a file */
	dev_t device;        /* which file it is, whatever its name */
	ino_t inode;
	bool told;           /* these are known: its objects and their bytes, of a dump as its index has them, inferred */
	struct amount objects, shallow;
	bool is_profile, is_archive; /* no dump, then */
	bool grows;          /* it was written to while one looked */
	char *cause;         /* why it was written, in few words, escaped; owned; NULL: nothing of that is known */
	bool cause_by_name;  /* that is what a VM calls such a file; else its javacore says so */
	struct err why;      /* code 0, or why it cannot be opened, without its path */
};

struct folder {
	char *path;               /* as it was named; owned */
	char *shown;              /* the same, but of the current directory where that is; owned */
	struct folder_file *file; /* the oldest first; owned */
	size_t n, cap;
	size_t n_dumps;           /* of them no profiles */
	size_t n_others;          /* files and folders that are neither */
	bool here;                /* the current directory, which nobody named: it may have no dump */
	size_t n_archives;        /* of these */
	uint64_t n_unseen;        /* files of an archive that were not looked at, for it has too many */
	bool is_archive;
	char remark[240];         /* why there may be more of them in an archive, or "" */
};

/* Is this the path of a folder? */
bool folder_is(const char *path);
/* Look at the first bytes of the files of a folder, not of folders in it: a long job, which waits for nothing.  FIFOs
 * and the like are not opened.  how: how dumps will be opened, for indexes are of that.  0: *out is the caller's
 * (folder_free); ERR_IO: it cannot be read; ERR_NOT_FOUND:
 * no dump is in it; ERR_CANCELLED.  The message names the folder. */
MUST_CHECK int folder_read(struct folder **out, const char *path, const struct heap_options *how,
    enum progress_wish wish, struct err *err);
/* The same of the current directory; without a dump it is an empty folder. */
MUST_CHECK int folder_read_here(struct folder **out, const struct heap_options *how, enum progress_wish wish,
    struct err *err);
/* The same of an archive.  1: it is none, or has one dump or none, and opening it is all there is to do; or it is
 * packed as a whole and so large that looking into it takes as long as opening a dump in it. */
MUST_CHECK int folder_of_archive(struct folder **out, const char *path, const struct heap_options *how,
    enum progress_wish wish, struct err *err);
void folder_free(struct folder *f); /* NULL is fine */
/* Say of the others how many are archives, and how to look into one: "; 2 are archives: ..", or nothing. */
void folder_add_archives(const struct folder *f, struct text *to);
/* For folder.c: find the causes of its dumps.  javacore: names of files in it that may be javacores, in any order; they
 * are sorted. */
void folder_find_causes(struct folder *f, char **javacore, size_t n);
/* For archived.c: does the name of a file say that it is a dump? */
bool folder_claims(const char *name);
/* One more, which is moved there; then all of them in their order. */
void folder_add(struct folder *to, const struct folder_file *f);
void folder_sort(struct folder *f);

/*
 * A dump of the session: one that is open, one of which only its profile is kept, or a profile that stands for it.
 * It stays one of the session's to the end, for comparisons borrow its profile.
 */
struct session_dump {
	size_t number;          /* by which lines name it; stays what it is: 1 is the first of the command line */
	char *path;             /* owned */
	struct opened *opened;  /* while it is in memory; owned; NULL: it is not */
	struct sql *sql;        /* questions about it, with the tables that they made; owned; NULL: none was asked */
	dev_t device;           /* which file it was when it was named, under whatever name; 0 and 0: none */
	ino_t inode;
	const struct folder_file *listed; /* what is known of it without reading it, the folder's; NULL: nothing */
	bool tagged;            /* it is one of those that comparisons are about */
	bool was_open;          /* then these are known of it: its objects and their bytes */
	struct amount objects, shallow;
	bool is_profile;        /* its file is a profile: there are no objects */
	bool read;              /* its profile was read or made, or cannot be */
	int code;               /* then: 0, or why there is no profile */
	struct err err;
	struct profile profile;
};

/* The last answers, which %N, $_, save and why are about. */
struct session_results {
	struct result *last;     /* of the last command; owned */
	struct result *rows;     /* the last result before it whose rows are sets, if those of last are none (size, help,
	                            settings); owned, or NULL */
	struct result *explained; /* the one that last explains, if it does; owned */
	struct result *shown;    /* the page on the screen, which stands in for last while it is set;
	                            borrowed: commands do not free or replace it */
	struct result *shown_rows; /* likewise for rows: of the nearest page before it, or NULL */
	struct selection *selection; /* of that page: what a missing argument and "." mean; borrowed; NULL:
	                            nothing can be selected (batch) */
};

/* Where results are printed. */
struct session_output {
	FILE *stream;            /* NULL on the screen, which shows the last result */
	const char *name;        /* of its file; NULL: standard output */
	bool replaces;           /* the file holds something that goes when the first result comes */
	bool joins;              /* it is a file of its own, and what is printed there in JSON is one text */
	size_t n_printed;        /* results so far */
	const char *heading;     /* a line to print in front of the next one; NULL: none */
	size_t screenful;        /* rows of a text result if --top is not given; 0: all */
};

/* The lines that were run. */
struct session_lines {
	char **history;          /* oldest first */
	size_t n_history, cap_history;
	/* words of other tools that were explained already */
	struct told_alias { const struct alias *alias; const char *means; } *told;
	size_t n_told, cap_told;
	unsigned depth;          /* how many scripts run within each other */
	bool placed;             /* the current error already names its file and line */
	int status;              /* worst exit status of the lines of scripts */
	struct text said;        /* what the last line did, in a sentence, where that is not a result */
};

/* What the user wants, by options, set and the configuration. */
struct session_settings {
	struct print_options print;
	struct writing writes;
	enum progress_wish progress;
	bool mat_sizes;          /* --sizes mat */
	bool q_quits;            /* set q quit: the screen's key leaves from everywhere */
	char *copies;            /* set copy FILE: behind what it holds y and Y write; owned; NULL: to the terminal */
	struct sql_view *views;  /* that questions about each dump may name (command/query); owned */
	size_t n_views, cap_views;
};

/* What the screen does for commands; all of it NULL without one. */
struct session_hooks {
	void *context;
	/* Steps aside for a shell pipe (begins) and comes back. */
	void (*shell)(void *context, bool begins);
	/* Runs a long job on a thread of its own (session_work); NULL: standard error has its progress. */
	int (*work)(void *context, long_work *work, void *argument, struct err *err);
	/* What keeps objects alive is about to change (begins), and has: nothing found about it may be in
	 * use in between.  False: not now, the dump is still being read. */
	bool (*model)(void *context, bool begins);
	/* Commands are going to be about another dump; `dump` is still the one before it, or NULL. */
	void (*leaves)(void *context, struct opened *next);
	/* An open dump is about to be closed: nothing of it may be shown or looked at any more. */
	void (*closes)(void *context, struct opened *o);
	struct render_lock *turns; /* whoever reads the rows of the page on the screen works there, and draws
	                            it in between: some rows remember what was read of them last */
	struct result **growing; /* within turns: the result whose rows found so far may be shown, or NULL */
};

struct session {
	struct opened *dump;     /* the one that commands are about; NULL: none yet */
	struct session_dump **dumps; /* all that it knows, the oldest first; owned */
	size_t n_dumps, cap_dumps;
	const struct heap_options *how; /* how dumps are opened: path is that of the one named last, which alone has the
	                            javacore; borrowed; NULL: with nothing in particular */
	const struct folder *folder; /* its dumps are what it knew at first; borrowed; NULL: dumps were named one by one */
	bool part;               /* a dump was opened that is damaged, lacks references, or changed meanwhile */
	bool interactive;        /* a person types: source prints, shell pipes reach the terminal */
	bool typed;              /* as it does at a prompt without a screen, too: what a line did is said, not shown */
	bool finds_beside;       /* a job of the screen finds retained sizes: commands do not wait for
	                            it */
	bool folds;              /* people read the answer of the current line: see session_folds */
	bool asks;               /* a command asks another one (session_ask): that writes no file */
	bool grows;              /* what the current command finds is its answer: nothing arranges it after that */
	bool quit;               /* the quit command was given */
	bool leave_asked;        /* session_may_leave said why not, and nothing else was done since */
	struct progress *now;    /* of the job that runs the current command; NULL: none, or unwatched */
	struct session_results results;
	struct session_output output;
	struct session_lines lines;
	struct session_settings settings;
	struct session_hooks hooks;
	struct vm_watch *watch;  /* of the VM that live was last about; owned; NULL: none */
	struct sql *sql;         /* questions without a dump, about what live answers; owned; NULL: none was asked */
};

void session_init(struct session *s);
void session_release(struct session *s);

/* --- the dumps of the session (series.c) --------------------------------------------------------- */

/* Name the dumps of the command line: these paths, the oldest first, and behind them how->path unless it is NULL.
 * Nothing is read yet. */
void session_know(struct session *s, const struct heap_options *how, const char *const *paths, size_t n);
/* The same of the dumps in a folder, which must outlive the session. */
void session_know_folder(struct session *s, const struct heap_options *how, const struct folder *folder);
/* Know one more, behind all others. */
struct session_dump *session_add(struct session *s, const char *path);
/* Know this one no more: the last that was added, which could not be read. */
void session_forget(struct session *s, struct session_dump *d);
/* Move it to where its time says it belongs: in front of those at the end that are known to be younger. */
void session_sort_in(struct session *s, struct session_dump *d);
/* The one at hand, which commands are about; NULL: none. */
struct session_dump *session_at_hand(const struct session *s);
/* The last one: what comparisons tell of, as rows and amounts.  NULL: there is none. */
struct session_dump *session_newest(const struct session *s);
/* Those that comparisons are about, in their order, the caller's (free): all, or where two or more are tagged these;
 * of a folder none but these. */
size_t session_series(const struct session *s, struct session_dump ***dumps);
/* Is there anything to compare: several of them, or a profile? */
bool session_compares(const struct session *s);
struct session_dump *session_numbered(const struct session *s, uint64_t number);
/* The one whose file this is, under whatever name; NULL: none. */
struct session_dump *session_same_file(const struct session *s, const char *path);
/* The first of these n dumps that has the same file as the last of them; NULL: none. */
struct session_dump *session_first_same(struct session_dump *const *dump, size_t n);
/* When it was written, as far as that is known by now; "". */
const char *session_created(const struct session_dump *d);
/* ERR_NOT_FOUND: this ("the last table") is not of the current dump; says of which one it is, and how to go there. */
MUST_CHECK int session_not_of_other(const struct session *s, const struct opened *o, const char *word,
    const char *what, struct err *err);

/* This heap is now what d has in memory; commands are about it from now on.  d NULL: a dump without a file, which is
 * added.  The heap is closed by others, unless opened_own says otherwise. */
struct opened *session_open(struct session *s, struct session_dump *d, const struct heap *heap);
/* Read a dump into memory, beside those that are there, and be about it from now on: a long job.  An error of
 * heap_open: then nothing has changed. */
MUST_CHECK int session_load(struct session *s, struct session_dump *d, struct err *err);
/* Commands are about this one of the open dumps from now on. */
void session_use(struct session *s, struct opened *o);
/* Give its memory back, and drop the last results, which may be of it.  Where it was current the last one that is
 * open is current now, or none. */
void session_close(struct session *s, struct opened *o);

/* A dump that no file has, the current one before others, unless the user was told; NULL: there is none. */
const struct session_dump *session_leave_loses(const struct session *s);
/* Before the user leaves: ERR_USAGE, once, where what a process dumped is in no file yet, and what to do. */
MUST_CHECK int session_may_leave(struct session *s, struct err *err);

/* The code of a dump that cannot be read, for the exit status 3: ERR_IO is of a result that cannot be written. */
int session_dump_error(int code, struct err *err);
/* Read the profile of a dump, unless it was read; of it stays its profile, or why there is none.  What is open is not
 * read again.  0 or ERR_CANCELLED. */
MUST_CHECK int session_read_profile(struct session *s, struct session_dump *d, struct err *err);
/* The profile of an open dump as it is now: the caller's (profile_release).  ERR_UNSUPPORTED while retained sizes are
 * being found beside the screen; ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int session_profile(struct session *s, struct opened *o, struct profile *out, struct err *err);

/* Set that no dump is open, and what to do: ERR_USAGE. */
int session_no_dump(const struct session *s, struct err *err);
/* What is said of whatever asks about objects where there are profiles alone. */
#define NO_DUMP_AT_HAND "no dump is open, only profiles: open FILE opens one"

/* The heap that commands are about, or NULL. */
static inline const struct heap *session_heap(const struct session *s)
{
	return s->dump ? s->dump->heap : NULL;
}

/* The progress of the current command, for loops that tell how far they are; may be NULL. */
static inline struct progress *session_progress(const struct session *s)
{
	return s->now;
}

/* The result that `save` and `why` are about; NULL: none. */
struct result *session_table(const struct session *s);
/* The result that %N and $_ mean: the last one whose rows are sets; NULL: none. */
struct result *session_rows(const struct session *s);
/* What why is about: the last table that is not an explanation itself; or NULL. */
struct result *session_explained(const struct session *s);
/* Find something of the current dump, unless it is known, as opened_find; ERR_UNSUPPORTED also while the screen finds
 * retained sizes beside it. */
MUST_CHECK int session_find(const struct session *s, enum finding what, struct err *err);

/* Keep a sentence of what a line did and to what: "done" would leave that open.  People read it where lines are
 * typed; scripts do not. */
void session_say(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- long jobs --------------------------------------------------------------------------------- */

/* Append "needs ~614M of memory, 20G allowed; ~1.1G with retained sizes", and what becomes of what does not fit, and
 * of that what the disk has no room for; need_expect was called before.
 * references: false where only objects and their sizes will be asked for. */
void need_add_words(struct text *to, const struct heap_need *need, bool references);
/* From now on refusals advise what is needed. */
void need_expect(const struct heap_need *need, bool references);
/* Is it more than the limit? */
bool need_passes(const struct heap_need *need, bool references);

/* heap_open beside a progress line, which says before what it will take; without such a line only where that is more
 * than the limit.  Main thread only. */
MUST_CHECK int heap_open_watched(struct heap **out, const struct heap_options *options,
    enum progress_wish wish, struct err *err);
/* Any other long job likewise. */
MUST_CHECK int work_watched(long_work *work, void *argument, enum progress_wish wish,
    struct err *err);

/* Run a long job and wait for its end, which the user can see coming and stop. */
MUST_CHECK int session_work(const struct session *s, long_work *work, void *argument,
    struct err *err);
/* What goes through the rows of a result, likewise where these are many. */
typedef int rows_task(struct result **r, const void *context, struct err *err);
MUST_CHECK int session_on_rows(const struct session *s, struct result **r, rows_task *task,
    const void *context, struct err *err);
/* The same of a result that may be on the screen, or a draft of one: within s->hooks.turns, which are offered where
 * r->stop is asked. */
MUST_CHECK int session_on_shown(const struct session *s, struct result **r, rows_task *task,
    const void *context, struct err *err);

/* The same of what only leaves rows away in their order: the screen may show those kept so far. */
MUST_CHECK int session_on_growing(const struct session *s, struct result **r, rows_task *task,
    const void *context, struct err *err);

/*
 * A command finds rows, in the order in which it answers them: until session_grown the screen may show those that r
 * has.  In between the command is within s->hooks.turns; it offers them between rows (render_lock_offer), and steps out
 * for long searches that do not touch r (render_lock_step_out).  Nothing where there is no screen, or where a pipe
 * follows.
 */
bool session_grows(const struct session *s, struct result *r); /* false: nobody looks, and there is nothing to end */
void session_grown(const struct session *s);

/* Did the last line fail for want of retained sizes that are found elsewhere?  Asked once: it may be run
 * again when they are there. */
bool session_must_wait(struct session *s);
/* Is the plumbing of paths folded in the answer that is being made?  People read it; other programs, files of theirs
 * and questions in SQL get each step. */
bool session_folds(const struct session *s);

/* opened_count_weak for the current dump, while the screen looks away.  The same codes; ERR_USAGE
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

#endif
