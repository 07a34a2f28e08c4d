/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * class_tree.h - a tree of classes below their superclasses, with the sums of each branch.
 *
 * Pure function of a heap, any thread.  Linear but for sorting; no recursion.
 */
#ifndef CAIRN_ANALYSIS_CLASS_TREE_H
#define CAIRN_ANALYSIS_CLASS_TREE_H

#include "base/amount.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct heap;

struct class_tree_row {
	uint32_t class;
	uint32_t depth;        /* 0: the superclass is unknown */
	struct amount n_subclasses; /* at any depth */
	struct amount n_objects;    /* of the class and all its subclasses */
	struct amount shallow;      /* bytes of these objects */
};

struct class_tree {
	struct class_tree_row *rows; /* a class before its subclasses, the largest branch first */
	uint32_t n;                  /* all classes */
};

/* 0, or ERR_NOMEM. */
MUST_CHECK int class_tree_make(struct class_tree *out, const struct heap *h, struct err *err);
void class_tree_release(struct class_tree *t);

/* Add to n classes (ascending, big memory, *classes may move) all that are below one of them.  0 or ERR_NOMEM. */
MUST_CHECK int class_tree_add_below(const struct heap *h, uint32_t **classes, size_t *n, struct err *err);

#endif
