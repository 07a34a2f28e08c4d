/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pattern.h - the regular expressions that users type: POSIX extended, with \w \s \b and their like.
 *
 * The C library's own matcher takes hours for some expressions, and it cannot be stopped.  This one follows all
 * alternatives at once: each character of a text costs at most as many steps as the expression has, and a search
 * can be cancelled.  Back-references are impossible that way; they are refused.
 */
#ifndef CAIRN_ALGORITHMS_PATTERN_H
#define CAIRN_ALGORITHMS_PATTERN_H

#include "base/err.h"

enum {
	PATTERN_BYTES = 1000, /* of a pattern, at most */
	PATTERN_PARTS = 1000, /* characters, classes and groups once its repeats are written out */
	PATTERN_STEPS = 8000, /* of what it is compiled to */
};

struct pattern;

/* Compile an expression, only to ask whether it matches.  0: *to is the caller's (pattern_free).
 * ERR_USAGE: it is none, or one that is refused; ERR_NOMEM. */
MUST_CHECK int pattern_compile(struct pattern **to, const char *expression, bool any_case, struct err *err);
void pattern_free(struct pattern *p); /* NULL is fine */

/* Does it match somewhere in this text (UTF-8)?  One thread at a time.  Once the thread's own work is
 * cancelled (progress_own) the answer means nothing. */
bool pattern_matches(struct pattern *p, const char *text);

/* The steps of the compiled expression, and those that all matching took so far. */
uint64_t pattern_steps(const struct pattern *p);
uint64_t pattern_work(const struct pattern *p);

#endif
