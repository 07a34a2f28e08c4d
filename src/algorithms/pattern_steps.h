/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pattern_steps.h - what a regular expression is compiled to; only for pattern.c and pattern_match.c. */
#ifndef CAIRN_ALGORITHMS_PATTERN_STEPS_H
#define CAIRN_ALGORITHMS_PATTERN_STEPS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step {
	enum step_does {
		STEP_CHARACTER, /* a: the code point; this and the next four take a character */
		STEP_ANY,
		STEP_CLASS,
		STEP_WORD,      /* a character of a word */
		STEP_BLANK,
		STEP_BEGIN,     /* this and the next four take none, and hold at some places only */
		STEP_END,
		STEP_EDGE,      /* of a word */
		STEP_WORD_BEGINS,
		STEP_WORD_ENDS,
		STEP_GO,        /* to the step at distance a */
		STEP_FORK,      /* to those at distance a and b */
		STEP_FOUND,
	} does;
	bool negated;
	int32_t a, b;
	const char *class; /* CLASS: behind its bracket */
	uint64_t ascii[2]; /* CLASS: which of these its text, negated or not, names */
};

struct pattern {
	char *expression;
	bool any_case;
	struct step *step;
	size_t n;
	/* Every match begins with one of these bytes; all: it may begin anywhere. */
	bool begins[256], anywhere;
	uint64_t work;
	/* Lists of step numbers, n each: that are looked at in this character, that come with the next
	 * one, that are still to be followed; and when (which character) a step was last met. */
	uint32_t *list, *now, *next, *stack;
	uint32_t *met, round;
};

/* Does the class name a character?  Whether it is negated does not count. */
bool pattern_class_has(const char *class, int32_t point, bool any_case);
/* What is wrong with the class, in words; NULL: nothing. */
const char *pattern_class_wrong(const char *class);
/* Make what matching needs, once the steps are there.  0 or ERR_NOMEM. */
MUST_CHECK int pattern_prepare(struct pattern *p, struct err *err);

#endif
