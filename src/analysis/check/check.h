/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h - does a loaded heap keep its promises.
 *
 * Written without the code that built the heap: each promise is counted again from the plain
 * arrays, in linear time.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_CHECK_CHECK_H
#define CAIRN_ANALYSIS_CHECK_CHECK_H

#include "analysis/dominators/dominators.h"
#include "heap/heap.h"

#include <stdarg.h>

enum check_outcome { CHECK_OK, CHECK_BROKEN, CHECK_DOES_NOT_APPLY };

struct check_line {
	const char *name;
	enum check_outcome outcome;
	uint64_t milliseconds; /* that it took */
	char detail[200]; /* what was counted, or the first thing that breaks it */
};

struct checks {
	struct check_line *line;
	size_t n, cap;
	size_t n_broken;
	double since;  /* seconds; when the promise at hand was begun */
	struct progress *progress; /* of check_tree, too; may be NULL */
	bool walkable; /* references and roots lead to objects: a tree can be found */
};

/* 0, ERR_NOMEM or ERR_CANCELLED.  Broken promises are an answer, not an error. */
MUST_CHECK int check_heap(struct checks *out, const struct heap *heap, struct progress *progress,
    struct err *err);
/* Is this the dominator tree, does it sum up, also by class, are shortest paths paths?  Adds to
 * checks; r is complete.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int check_tree(struct checks *to, const struct retained *r, struct err *err);
void checks_begin(struct checks *c); /* the clock of the first promise */
void checks_add(
    struct checks *to, const char *name, enum check_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void checks_add_list(struct checks *to, const char *name, enum check_outcome outcome,
    const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));
void checks_release(struct checks *c);

#endif
