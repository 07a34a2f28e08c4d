/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_parts.h - the heaviest children of the nodes of a tree (tree.h), whether they have rows or not: for a
 * picture of the tree.
 *
 * Nodes are the source's numbers; TREE_TOP is the node above the first level.  One thread at a time, as the tree.
 */
#ifndef CAIRN_RESULT_TREE_PARTS_H
#define CAIRN_RESULT_TREE_PARTS_H

#include "result/tree.h"

/* Of more children none is looked at: a picture is made for each frame. */
enum { TREE_PARTS_FROM = 50000 };

struct tree_part {
	uint32_t node;
	uint64_t weight; /* the source's column of weight */
};

/* Is what takes long to find of the node itself found (tree_source.ready); and are its children made? */
bool tree_part_is_ready(const struct result *r, uint32_t node);
bool tree_parts_known(const struct result *r, uint32_t node);
/* Find that of the node, make its children unless they are more than `most` (0: do not), and find that of the heaviest
 * of these.  0; ERR_CANCELLED, ERR_NOMEM: as tree_source.open. */
MUST_CHECK int tree_parts_make(const struct result *r, uint32_t node, uint32_t most, struct err *err);
/* The heaviest of the children that are made, heaviest first; to: room for `most`.  *all: the weight of all of them.
 * Returns how many: 0 as well where there are more than TREE_PARTS_FROM. */
size_t tree_heaviest(const struct result *r, uint32_t node, struct tree_part *to, size_t most, uint64_t *all);

/* A cell of a node, as of its row. */
void tree_part_cell(const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch);

/* The nodes of the row and of those above it, from the first level on, in to: TREE_TOP for a row that is the rest of
 * its siblings.  Returns how many levels these are; if more than `most`, there are the first of them. */
size_t tree_nodes_to(const struct result *r, size_t row, uint32_t *to, size_t most);
/* The row of a node among those below this one (SIZE_MAX: of the first level); SIZE_MAX: it has none that is shown. */
size_t tree_row_of(const struct result *r, size_t parent, uint32_t node);

#endif
