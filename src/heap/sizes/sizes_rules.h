/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes_rules.h - how the files that settle shallow sizes work together; private to heap/sizes.
 *
 * The rule of the dump says how many bytes an instance of each class takes and how the size of an
 * array follows from its length.  Then one pass over all objects counts them by class and lists the
 * few that the rule asked to see (watch).  The rule mends the sizes of these, and the sums are made.
 */
#ifndef CAIRN_HEAP_SIZES_SIZES_RULES_H
#define CAIRN_HEAP_SIZES_SIZES_RULES_H

#include "heap/index.h"
#include "heap/sizes/sizes.h"

/* The objects of a class. */
struct tally {
	uint64_t sized_bytes; /* of those whose size is their own: arrays */
	uint32_t n, n_plain;  /* all; those that take what the class says */
	uint32_t n_unknown;   /* sized ones whose size nobody knows */
};

/* How many plain instances of a class to list. */
enum watch { WATCH_NONE, WATCH_SOME, WATCH_ALL };
enum { WATCHED_SOME = 64 }; /* by each of the threads */

struct sizes {
	struct heap *heap;
	bool as_mat;           /* by Eclipse MAT's rules */
	struct tally *tallies; /* by class */
	uint8_t *watch;        /* enum watch by class */
	uint32_t *watched;     /* ids, ascending */
	size_t n_watched;
};

/* The rules; each calls sizes_count once it knows what arrays take.  0 or ERR_NOMEM. */
/* SIZES_RECORDED: records carry sizes. */
MUST_CHECK int sizes_recorded(struct sizes *s, struct err *err);
/* SIZES_FROM_FIELDS: sizes follow from fields. */
MUST_CHECK int sizes_from_fields(struct sizes *s, struct err *err);

/* The class of which instances have a size that stands in a field; HEAP_NONE: there is none
 * (sizes_fields.c). */
uint32_t sizes_stack_chunks(const struct heap *h);

/* The pass over all objects (sizes.c).  0 or ERR_NOMEM. */
MUST_CHECK int sizes_count(struct sizes *s, struct err *err);

/* Bytes from an object to the next one, or UINT64_MAX for the last. */
uint64_t sizes_distance(const struct heap *h, uint32_t id);

#endif
