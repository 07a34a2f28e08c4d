/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preorder.h - a tree whose nodes are numbered in the order of reading, as a source for tree.h. */
#ifndef CAIRN_RESULT_PREORDER_H
#define CAIRN_RESULT_PREORDER_H

#include "base/err.h"

#include <stdint.h>

/* Tells the children of nodes of which only the depths are known.  The nodes are numbered from top
 * to bottom: each one stands before what is below it. */
struct preorder {
	uint32_t *end; /* by node: the first node after it that is not below it */
	uint32_t n;
};
/* 0 or ERR_NOMEM; call preorder_release in either case. */
MUST_CHECK int preorder_init(struct preorder *p, uint32_t n,
    uint32_t (*depth)(const void *data, uint32_t node), const void *data, struct err *err);
uint32_t preorder_children(const struct preorder *p, uint32_t node, uint32_t *to);
void preorder_release(struct preorder *p);

#endif
