/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h - checks whether a loaded heap keeps its promises.
 *
 * The checks do not use the code that built the heap: each promise is counted again from the plain
 * arrays, in linear time.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_CHECK_CHECK_H
#define CAIRN_ANALYSIS_CHECK_CHECK_H

#include "analysis/dominators/dominators.h"

enum check_outcome { CHECK_OK, CHECK_BROKEN, CHECK_DOES_NOT_APPLY };

struct check_line {
	const char *name;
	enum check_outcome outcome;
	uint64_t milliseconds; /* how long the check took */
	char detail[200]; /* what was counted, or the first thing that breaks it */
};

struct checks {
	struct check_line *line;
	size_t n, cap;
	struct err lost; /* a line that there was no memory for */
	size_t n_broken;
	double since;  /* seconds: when the current check began */
	struct progress *progress; /* for check_tree, too; may be NULL */
	bool walkable; /* all references and roots lead to objects, so a tree can be found */
};

/* Check the promises of a heap.  0: *out is the caller's (checks_release); ERR_NOMEM or
 * ERR_CANCELLED.  A broken promise is an answer, not an error. */
MUST_CHECK int check_heap(struct checks *out, const struct heap *heap, struct progress *progress,
    struct err *err);
/* Add checks of the dominator tree: is it the dominator tree, are its sums and those by class
 * right, are the shortest paths paths?  r must be complete.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int check_tree(struct checks *to, const struct retained *r, struct err *err);
void checks_begin(struct checks *c); /* start the clock of the first check */
/* A check is done: add its line, and a step of the progress. */
void checks_add(struct checks *to, const char *name, enum check_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Is there a line too few?  0, or ERR_NOMEM. */
MUST_CHECK int checks_lost(const struct checks *c, struct err *err);
void checks_release(struct checks *c);

#endif
