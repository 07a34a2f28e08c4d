/* SPDX-License-Identifier: GPL-3.0-or-later */
/* histogram.h - objects and bytes per class, package, loader or superclass.  Any thread. */
#ifndef CAIRN_ANALYSIS_HISTOGRAM_H
#define CAIRN_ANALYSIS_HISTOGRAM_H

#include "base/arena.h"
#include "heap/amounts.h"

enum histogram_by { BY_CLASS, BY_PACKAGE, BY_LOADER, BY_SUPERCLASS };

struct histogram_row {
	const char *name;    /* of the class, package or superclass; by loader: the loader's class, or
	                        NULL when no loader is known.  Owned by the histogram or the heap */
	uint32_t class;      /* by class, by superclass: its index, or HEAP_NONE */
	uint32_t loader;     /* by class, by loader: id of the loader object, or HEAP_NONE */
	uint32_t n_classes;
	struct amount objects;
	struct amount shallow; /* bytes */
};

struct histogram {
	struct histogram_row *rows; /* by class: in class order; else by name, then loader */
	size_t n;
	struct arena arena;
};

/* What is counted. */
struct histogram_scope {
	const uint32_t *classes; /* only these class indices; NULL: all */
	size_t n_classes;
	const uint32_t *objects; /* only these object ids, each once; NULL: all */
	size_t n_objects;
	bool empty;              /* classes without objects too */
	/* How sure the choice of these objects is (heap_reached, heap_held); NULL: heap_counted. */
	struct amount (*chosen)(const struct heap *h, uint64_t n);
};

/* 0, or ERR_NOMEM. */
MUST_CHECK int histogram_make(struct histogram *out, const struct heap *heap, enum histogram_by by,
    const struct histogram_scope *scope, struct err *err);
/* For every class the row that counts its objects, or HEAP_NONE; by and scope as they made it.  Big
 * memory: big_free(group); NULL and ERR_NOMEM. */
MUST_CHECK uint32_t *histogram_groups(struct histogram *h, const struct heap *heap,
    enum histogram_by by, const struct histogram_scope *scope, struct err *err);
/* The objects that rows (a bit for each) count: those of the classes that group puts there, of those in
 * only where that is not NULL.  Sets bits in to.  0 or ERR_NOMEM. */
MUST_CHECK int histogram_members(const struct heap *heap, const uint32_t *group,
    const struct bits *rows, const struct bits *only, struct bits *to, struct err *err);
void histogram_release(struct histogram *h);

/* "java.util" of "java.util.Map$Entry[]", "<primitive>", "<default>"; length in *n. */
const char *package_of(const struct heap_class *c, size_t *n);

#endif
