/* SPDX-License-Identifier: GPL-3.0-or-later */
/* histogram.h - objects and bytes per class, package, loader or superclass.  Any thread. */
#ifndef CAIRN_ANALYSIS_HISTOGRAM_H
#define CAIRN_ANALYSIS_HISTOGRAM_H

#include "base/amount.h"
#include "memory/arena.h"

struct bits;
struct heap;

enum histogram_by { BY_CLASS, BY_PACKAGE, BY_LOADER, BY_SUPERCLASS };

struct histogram_row {
	const char *name;    /* of the class, package or superclass; BY_LOADER: of the loader's class.
	                        NULL: there is none.  Owned by the histogram or the heap */
	uint32_t class;      /* BY_CLASS, BY_SUPERCLASS: the class index; else, or if there is none,
	                        HEAP_NONE */
	uint32_t loader;     /* BY_CLASS, BY_LOADER: id of the loader object; HEAP_NONE: none is
	                        known */
	bool loader_lost;    /* BY_LOADER: of classes whose loader is recorded but is not an object of the dump */
	uint32_t order;      /* equal for rows that are summed: rank of the name */
	uint32_t n_classes;
	struct amount objects;
	struct amount shallow; /* bytes */
};

struct histogram {
	struct histogram_row *rows; /* BY_CLASS: in the order of class indices; else by name, then
	                               loader */
	size_t n;
	struct arena arena;
};

/* What is counted. */
struct histogram_scope {
	const uint32_t *classes; /* only these class indices; NULL: all */
	size_t n_classes;
	const uint32_t *objects; /* only these object ids, each once; NULL: all */
	size_t n_objects;
	bool empty;              /* also list classes without objects */
	/* Makes an amount of a number of these objects, as sure as their choice (heap_reached,
	 * heap_held); NULL: heap_counted. */
	struct amount (*chosen)(const struct heap *h, uint64_t n);
	/* Of the objects that roots reach, or of all others: how many unreachable ones there are.  Counts of classes that
	 * have some are no surer.  Zeroed: of other objects. */
	struct amount unreachable;
	bool reached;            /* of the former */
};

/* 0: *out is the caller's (histogram_release); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int histogram_make(struct histogram *out, const struct heap *heap, enum histogram_by by,
    const struct histogram_scope *scope, struct err *err);
/* For every class index the row that counts the class's objects, or HEAP_NONE.  Pass the same `by` and
 * `scope` that h was made with.  The caller's (big_free).  NULL: ERR_NOMEM. */
MUST_CHECK uint32_t *histogram_groups(struct histogram *h, const struct heap *heap,
    enum histogram_by by, const struct histogram_scope *scope, struct err *err);
/* Set the bits in `to` of the objects that these rows count (rows: a bit for each).  group: from
 * histogram_groups.  only: the objects that were counted; NULL: all.  0 or ERR_NOMEM. */
MUST_CHECK int histogram_members(const struct heap *heap, const uint32_t *group,
    const struct bits *rows, const struct bits *only, struct bits *to, struct err *err);
void histogram_release(struct histogram *h);

#endif
