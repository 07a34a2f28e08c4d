/* SPDX-License-Identifier: GPL-3.0-or-later */
/* batch.h - run command lines on a dump and print what they answer; no screen. */
#ifndef CAIRN_COMMAND_SESSION_BATCH_H
#define CAIRN_COMMAND_SESSION_BATCH_H

#include "command/session/loading.h"
#include "result/print.h"

struct batch_line {
	const char *text;
	bool script; /* the file whose lines to run, not a line itself */
};

struct batch_options {
	const struct heap_options *heap; /* path NULL: no dump, commands that need none */
	const struct batch_line *lines;  /* none: the overview and the largest classes */
	size_t n_lines;
	struct print_options print;
	const char *output;              /* NULL: standard output */
	enum progress_wish progress;
};

/* The exit status, as the contract has it; all messages are on standard error by then. */
int batch_run(const struct batch_options *options);

#endif
