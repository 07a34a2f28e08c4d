/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes.h - how the files that settle shallow sizes work together; private to src/heap.
 *
 * The rule of the dump says what instances of each class take and how arrays follow from their
 * lengths; then one pass over all objects counts them by class and lists the few that the rule wants
 * to look at; then it mends what these show, and the sums are made.
 */
#ifndef CAIRN_HEAP_SIZES_SIZES_H
#define CAIRN_HEAP_SIZES_SIZES_H

#include "heap/build/build.h"

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
	struct build *build;
	struct tally *tallies; /* by class */
	uint8_t *watch;        /* enum watch by class */
	uint32_t *watched;     /* ids, ascending */
	size_t n_watched;
};

/* The rules; each calls sizes_count once it knows what arrays take. */
int sizes_recorded(struct sizes *s, struct err *err); /* SIZES_RECORDED: OpenJ9 PHD, classic */
int sizes_hprof(struct sizes *s, struct err *err);    /* SIZES_HPROF */

/* The pass over all objects (sizes.c). */
int sizes_count(struct sizes *s, struct err *err);

/* Distance from an object to the next one, or UINT64_MAX for the last. */
uint64_t sizes_distance(const struct heap *h, uint32_t id);

#endif
