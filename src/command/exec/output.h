/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.h - opening the files that results go to; private to src/command/exec. */
#ifndef CAIRN_COMMAND_EXEC_OUTPUT_H
#define CAIRN_COMMAND_EXEC_OUTPUT_H

#include "command/exec/exec.h"

#include <stdio.h>

struct output {
	FILE *stream; /* the caller's to close */
	bool behind;  /* something stands in the file already, and this comes behind it */
	off_t end;     /* where it began to be written */
	bool replaces; /* something stands in the file already: output_begin before the first byte */
	char *path, *aside; /* of session_write_whole: what is written to instead until all is there; else NULL */
};

/*
 * Open path for results: append to it, or replace what it holds where that may be replaced.  0, or:
 * ERR_USAGE (it is read here, or it is a dump and --force is missing), ERR_CANCELLED (the answer was
 * no), ERR_IO.  mode: who may read a new file, before the umask.  The message names the file.  What the file
 * holds is as it was: a line that turns out to be wrong must not cost what an earlier one found.
 */
MUST_CHECK int output_open(struct output *out, const char *path, bool append, mode_t mode,
    const struct writing *rules, struct err *err);

/* Something will be written to stream: what it replaces goes, once.  0 or ERR_IO. */
MUST_CHECK int output_begin(FILE *stream, bool *replaces, struct err *err);

/*
 * Several JSON texts are none: in a file the second one makes them the elements of an array.  Call this
 * before each text, of which n stand there already, and output_joined behind the last of n.  0 or ERR_IO.
 */
MUST_CHECK int output_join(FILE *stream, size_t n, struct err *err);
void output_joined(FILE *stream, size_t n);
/* Is it a file, in which what was written can be joined? */
bool output_can_join(FILE *stream);

/* Writing failed or was cancelled, as *err says: leave what stood there before, or an empty file, and say
 * so in *err. */
void output_take_back(struct output *out, struct err *err);

/* False, and it was said where it can be, if the shell made standard output or standard error one of
 * the files that are read. */
bool output_standard_is_free(void);

#endif
