/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_labels.h - paths as a tree of words: chains in it are joined, and it is sorted.  For the signatures of one dump,
 * and for those of several side by side, of which only one may show that there is a chain.
 */
#ifndef CAIRN_ANALYSIS_WAYS_H
#define CAIRN_ANALYSIS_WAYS_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define PATH_LABEL_NONE UINT32_MAX

enum way_start { /* what begins in several ways begins in the first of these */
	START_NOWHERE,  /* it continues another one */
	START_CLASS,    /* a class object */
	START_LOADER,   /* a class loader */
	START_THREAD,   /* a thread */
	START_VARIABLE, /* a global variable */
	START_LOCAL,    /* what a thread's stack holds */
	START_ROOT,     /* any other kind of root */
};

/* What of two that begin so comes first its class decides, and then its words: not every dump has these. */
static inline bool path_label_start_by_class(enum way_start start)
{
	return start == START_CLASS || start == START_LOADER;
}

struct path_label {
	uint32_t parent;   /* the way that it continues, or PATH_LABEL_NONE */
	enum way_start start;
	const char *words; /* of the last step; borrowed */
	const char *class; /* of its objects; NULL: of steps that are too far away; borrowed */
	bool plain;        /* they are not arrays of references */
	bool chain;
	bool gone;         /* it has no objects and nothing continues it: left out */
	uint32_t was;      /* filled: the number that it had */
};

/*
 * Join the ways by which one holder gets into a chain: its fields, and elements of arrays in its fields, that
 * lead to objects of one class, if those of any hold each other.  They go by that of an array, or whose words come
 * first.  Then let the ways that stay follow each other, each behind its parent, siblings by their words, and give
 * them their new numbers.
 *
 * way[0 … *n - 1], with as many numbers (by the old ones: the new one, PATH_LABEL_NONE of those that were left out).
 * Parents stand before their children, before and afterwards.  0, *n are left; ERR_NOMEM or ERR_CANCELLED.
 */
MUST_CHECK int path_labels_settle(struct path_label *way, uint32_t *n, uint32_t *number, struct err *err);

/* Append a step as people read it: "static com.acme.Shop" ".INSTANCE" " > sessions" "[]".  before: how the step in
 * front of it begins; last: none follows.  words of a class: "", or which of those of its name it is. */
struct path_label_step {
	enum way_start start; /* of the first step, else START_NOWHERE */
	const char *words, *class;
};
void path_label_add_step(struct text *to, const struct path_label_step *step, enum way_start before, bool last);

#endif
