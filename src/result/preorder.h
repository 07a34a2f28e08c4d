/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preorder.h - a tree whose nodes are numbered in the order of reading, as a source for tree.h. */
#ifndef CAIRN_RESULT_PREORDER_H
#define CAIRN_RESULT_PREORDER_H

#include "base/err.h"

#include <stdint.h>

/* The children of nodes that are numbered in the order of reading, the depth of each given. */
struct preorder {
	uint32_t *end; /* by node: the first one behind its branch */
	uint32_t n;
};
/* 0 or ERR_NOMEM; release it either way. */
int preorder_init(struct preorder *p, uint32_t n, uint32_t (*depth)(const void *data, uint32_t node),
    const void *data, struct err *err);
uint32_t preorder_children(const struct preorder *p, uint32_t node, uint32_t *to);
void preorder_release(struct preorder *p);

#endif
