/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exec.h - runs invocations: the command, its result through the pipe, then kept or printed.
 *
 * Main thread only; a command about a dump works on a thread of its own meanwhile (session_work).
 */
#ifndef CAIRN_COMMAND_EXEC_EXEC_H
#define CAIRN_COMMAND_EXEC_EXEC_H

#include "analysis/hprof_export/hprof_export.h"
#include "algorithms/chunks.h"
#include "command/session/session.h"
#include "dump/reader.h"

struct invocation; /* command/args/args.h */

/*
 * Run one invocation, pipes and redirection included.
 *
 * *out gets the result to show or print, owned by the session until the next call (also reachable
 * as s->results.last); NULL when the command prints nothing or its output went to a file or a shell command.
 * 0, or: ERR_USAGE, ERR_NOT_FOUND (exit 1), ERR_UNSUPPORTED (exit 1), ERR_IO …, with err->message
 * naming the command and the word, and the nearest names.
 */
MUST_CHECK int session_run(struct session *s, const struct invocation *asked, struct result **out,
    struct err *err);
/* The same of the text of a line. */
MUST_CHECK int session_run_line(struct session *s, const char *line, struct result **out, struct err *err);

/* What the text of a line answers, where nobody asked for it by name: *out is the caller's (result_free), or NULL.
 * Neither history nor last results know of it.  The same codes. */
MUST_CHECK int session_look(struct session *s, const char *line, struct result **out, struct err *err);

/* The same for a command that needs it while it works.  Nothing else of the session changes, and no file is written.
 * ERR_USAGE for commands that do more than look at the dump. */
MUST_CHECK int session_ask(struct session *s, const struct invocation *asked, struct result **out, struct err *err);
MUST_CHECK int session_ask_line(struct session *s, const char *line, struct result **out, struct err *err);

/* Print a result where the session's output goes, apart from the one before it.  0 or ERR_IO. */
MUST_CHECK int session_print(struct session *s, struct result *r, struct err *err);

/* Write a result to a file, its format by the extension.  0 or ERR_IO. */
MUST_CHECK int session_save(struct session *s, struct result *r, const char *path, struct err *err);

/* A file that is to be written.  Where the user did not name it, it replaces only what cairn wrote, and never goes
 * through a link. */
struct new_file {
	const char *path;
	bool secret;                    /* only the user may read it, whoever may read the dump */
	bool own_name;                  /* the program chose the name */
	bool (*ours)(const char *path); /* did cairn write the file of this name?  NULL: any may be replaced */
	uint64_t *bytes;                /* gets how many were written; NULL: nobody asks */
};

/* Write what is good only whole to a file that exists or not, as the session's rules allow: write puts it into `to`, an
 * empty file of this path beside the one that it will replace (NULL: it has no name, and is written in its place).  A
 * new file is readable for nobody who may not read the dump.  0, what write returned, or ERR_USAGE, ERR_CANCELLED,
 * ERR_IO; then the file is as it was, and the message says so. */
typedef int file_writer(void *context, FILE *to, const char *path, struct err *err);
MUST_CHECK int session_write_whole(struct session *s, const struct new_file *file, file_writer *write, void *context,
    struct err *err);
/* Who may read a new file about the dump, before the umask: nobody who may not read the dump. */
mode_t session_new_mode(const struct session *s);
/* Would a file be replaced by these rules, if it is there?  Asks as it would.  ERR_USAGE, ERR_CANCELLED. */
MUST_CHECK int writing_may_replace(const struct writing *rules, const char *path, struct err *err);
/* Would it be allowed?  Asks as it would; also 0 where no such file is there. */
MUST_CHECK int session_may_replace(const struct session *s, const struct new_file *file, struct err *err);
/* The same of so many files in a folder, once where somebody is there to ask.  *agreed: that was so, and the answer
 * yes.  ERR_CANCELLED: it was no. */
MUST_CHECK int session_may_replace_all(const struct session *s, const char *folder, size_t n, bool *agreed,
    struct err *err);
/* As session_write_whole, of a file in a folder that the user named, which is made with those above it: none of these
 * stays if it is not written.  file->path is below that folder, and the program chose all of it. */
MUST_CHECK int session_write_in(struct session *s, const char *folder, const struct new_file *file, file_writer *write,
    void *context, struct err *err);

/* What an index has. */
struct index_wish {
	bool packed;
	bool stranger;   /* neither path nor properties of the dump are in it, so it is not an index of the dump itself */
	const char *map; /* the file of names for which numbers stand in the index; NULL: it has the names */
};

/*
 * What index, profile and redact write, for who writes it elsewhere: a struct is begun, the function that writes is a
 * file_writer of it.  profile_end, copy_end: in any case.  To begin may fail as the commands do: ERR_UNSUPPORTED where
 * the dump has nothing of the kind, and *err says why.
 */
struct index_writing {
	struct session *s;
	const struct index_wish *wish; /* borrowed */
	bool without_retained;         /* there is no memory to find them */
	struct chunks_writer chunks;   /* what was written */
};
MUST_CHECK int index_begin(struct index_writing *w, struct session *s, const struct index_wish *wish, struct err *err);
MUST_CHECK int index_write(void *index_writing, FILE *to, const char *path, struct err *err);
/* Both, into a file with this name, as session_write_whole does; retained sizes included. */
MUST_CHECK int index_write_whole(struct index_writing *w, struct session *s, const struct new_file *file,
    const struct index_wish *wish, struct err *err);

struct profile_writing {
	struct session *s;
	struct profile profile;
	bool compressed;
};
MUST_CHECK int profile_may(struct err *err);
MUST_CHECK int profile_begin(struct profile_writing *w, struct session *s, bool compressed, struct err *err);
MUST_CHECK int profile_into(void *profile_writing, FILE *to, const char *path, struct err *err);
void profile_end(void *profile_writing);

#define COPY_HOLDS "objects, references, sizes, stacks, names" /* without options, in words */
#define COPY_LEAVES_OUT "values (zeros), so texts and names of threads; other symbols"
struct copy_writing {
	struct session *s;
	const char *map;         /* the file of names; NULL: they stay */
	struct text names;
	struct redaction wanted; /* of all, unless copy_begin's caller says otherwise before it is written */
	bool compressed;
	uint64_t bytes;
	struct hprof_exported exported; /* of a dump whose reader writes no such copies */
};
/* Is the file a dump, which may be an older copy? */
bool copy_is_dump(const char *path);
MUST_CHECK int copy_may(const struct session *s, struct err *err);
MUST_CHECK int copy_begin(struct copy_writing *w, struct session *s, bool compressed, struct err *err);
MUST_CHECK int copy_write(void *copy_writing, FILE *to, const char *path, struct err *err);
void copy_end(void *copy_writing);

/* The table of files that a command wrote: at a prompt, a sentence says it instead (session_say).  title
 * stays; words that are NULL or "" are unknown, and so is a number of 0 bytes. */
extern const struct shape files_shape;
struct result *files_table(const struct session *s, const char *title);
/* The table of one file that was written, of so many bytes; NULL at a prompt, where a sentence says so. */
extern const struct shape file_shape, file_by_option_shape;
struct result *file_written(const struct session *s, const struct shape *shape, const char *title, const char *file,
    uint64_t bytes);
void files_table_add(struct result *r, const char *file, uint64_t bytes, const char *holds, const char *leaves_out);

/* Run the lines of a script ("-": standard input), printing results to s->output.stream; stops at the first
 * error, which then names file and line.  *out gets the last result. */
MUST_CHECK int session_source(struct session *s, const char *path, struct result **out,
    struct err *err);

/*
 * Which columns of a table a user chose to see; kept for its kind (result->kind) by its dump.
 *
 * names: as chosen_columns.names; NULL: as at first.  The first column, what names the rows and what they are
 * sorted by are always shown.
 */
void columns_choose(struct result *r, struct opened *dump, const char *names);
/* Show what was chosen for tables of this kind; nothing if nothing was. */
void columns_arrange(struct result *r);
/* May this column not be hidden? */
bool columns_stays(const struct result *r, unsigned column);
/* The columns of a table as rows (name, shown, meaning); the caller's. */
struct result *columns_list(const struct result *about);
/* Change what the row of such a list, counted as in its source, says of its column. */
void columns_mark(struct result *list, unsigned row, bool shown);

/* Add a dump to the session, unless it has it, and be about it from now on: the command open.  Errors as heap_open. */
MUST_CHECK int command_open(struct session *s, const char *path, struct err *err);

/* Add to what is said: a dump was written to this file, and its size. */
void session_say_dump(struct session *s, const char *file);

/* Exit status of a command's outcome, as the contract has it. */
int session_exit_status(int code, const struct result *r);

/* Say on standard error what is wrong with a dump that was just opened, if anything is.  exe: --exe was given. */
void say_opened(const struct heap *h, bool exe);
/* Append "the process paused for 84 ms" of a process that was copied, by the path of its dump; nothing of others. */
void exec_add_pause(const char *path, struct text *to);

/* "cairn: ", a sentence and a line end on standard error, the sentence escaped as texts of dumps are. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- without a screen --------------------------------------------------------------------------- */

struct batch_line {
	struct invocation *asked; /* NULL: a script */
	const char *script;       /* the file whose lines to run */
};

struct batch_options {
	const struct heap_options *heap; /* path NULL: no dump, commands that need none */
	const char *const *older;        /* paths of older dumps, the oldest first, or without a dump of profiles */
	size_t n_older;
	const struct folder *folder;     /* instead of both: the dumps in it; borrowed; NULL: none was named */
	const struct batch_line *lines;  /* none: the overview and the largest classes */
	size_t n_lines;
	struct print_options print;
	const char *output;              /* NULL: standard output */
	struct writing writes;
	enum progress_wish progress;
	/* At a prompt: the text of the next line, borrowed until the next call; NULL: there will be none.  How a
	 * line ended is said, and no part of the exit status.  NULL: nobody does. */
	const char *(*next)(void *context, struct session *s);
	void *next_context;
	bool next_must; /* but the first of these lines that fails is the last, and its status is the run's */
};

/* The exit status, as the contract has it; all messages are on standard error by then. */
int batch_run(const struct batch_options *options);

#endif
