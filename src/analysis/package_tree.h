/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package_tree.h - packages below packages, classes below their package, with what each adds up to.
 *
 * A package that holds nothing but one other package stands in one row with it: "com.acme", not "com"
 * and below it "acme".  Pure function of a heap, any thread.  Linear but for sorting; no recursion.
 */
#ifndef CAIRN_ANALYSIS_PACKAGE_TREE_H
#define CAIRN_ANALYSIS_PACKAGE_TREE_H

#include "base/arena.h"
#include "heap/amounts.h"

struct package_row {
	const char *name;  /* in full: "com.acme.shop", "com.acme.shop.Order[]" */
	uint32_t label;    /* byte of name where the part begins that its parent's does not have */
	uint32_t depth;
	uint32_t class;    /* HEAP_NONE: a package */
	struct amount n_classes; /* with objects or without, at any depth */
	struct amount objects;
	struct amount shallow; /* bytes */
};

struct package_tree {
	struct package_row *rows; /* a package before what it holds, by name */
	uint32_t n;
	struct arena arena;
};

/* 0, or ERR_NOMEM. */
MUST_CHECK int package_tree_make(struct package_tree *out, const struct heap *h, struct err *err);
void package_tree_release(struct package_tree *t);

#endif
