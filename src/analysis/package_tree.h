/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package_tree.h - a tree of packages with their classes, and the sums of what each contains.
 *
 * A package that contains nothing but one other package shares a row with it: "com.acme", not "com"
 * with "acme" below.  Pure function of a heap, any thread.  Linear but for sorting; no recursion.
 */
#ifndef CAIRN_ANALYSIS_PACKAGE_TREE_H
#define CAIRN_ANALYSIS_PACKAGE_TREE_H

#include "base/amount.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct heap;

struct package_row {
	const char *name;  /* in full: "com.acme.shop", "com.acme.shop.Order[]"; the heap owns it */
	size_t n;          /* bytes of name that count: a package's name goes on with what is in it; 0: all do, of a
	                      class's */
	uint32_t label;    /* offset in name, in bytes, of the part that follows the parent's name */
	uint32_t depth;    /* 0: a row at the top */
	uint32_t class;    /* class index; HEAP_NONE: a package */
	struct amount n_classes; /* in it at any depth, with objects or without */
	struct amount objects;
	struct amount shallow; /* bytes */
};

struct package_tree {
	struct package_row *rows; /* each package before what it contains, siblings by name */
	uint32_t n;
};

/* 0, or ERR_NOMEM. */
MUST_CHECK int package_tree_make(struct package_tree *out, const struct heap *h, struct err *err);
void package_tree_release(struct package_tree *t);

#endif
