/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap_fold.h - nodes of the heap's tree that share a row, because a row for each would show nothing more.
 *
 * A node goes on in its child where that child keeps at least half of what the row does, while all else that
 * hangs on the way comes to less than a twentieth of it, and where it is no more objects than the row is: many
 * objects have a row of their own.  Of a known collection all that it is made of goes on in its row: its arrays,
 * its nodes, however many, and the collection that it wraps.  What static fields hold never does.
 *
 * The row is that of the first node: its objects, its numbers.  Below it stands what hangs on any node of
 * the way, so that no byte is missing there.
 *
 * One thread at a time.  To find where a way ends takes a look at each child of its nodes, until these tell
 * that there is none.
 */
#ifndef CAIRN_ANALYSIS_HEAP_FOLD_H
#define CAIRN_ANALYSIS_HEAP_FOLD_H

#include "analysis/heap_tree.h"

#define WAY_MOST 16 /* nodes that go on in one row */

/* Find what goes on in the row of a node, and open that.  Nothing if it was found before.  0, ERR_NOMEM or
 * ERR_CANCELLED: then nothing does, until it is asked for again. */
MUST_CHECK int heap_fold(struct heap_tree *t, uint32_t node, struct err *err);
/* The nodes in a row, as far as that was found: the first is the node itself.  Returns how many. */
uint32_t heap_fold_way(const struct heap_tree *t, uint32_t node, uint32_t way[WAY_MOST + 1]);

/* As heap_tree_open, heap_tree_opens and heap_tree_children, of all nodes in a row. */
MUST_CHECK int heap_fold_open(struct heap_tree *t, uint32_t node, struct err *err);
bool heap_fold_opens(struct heap_tree *t, uint32_t node);
uint32_t heap_fold_children(const struct heap_tree *t, uint32_t node, uint32_t *to);

/* Are the children of all nodes in a row made? */
bool heap_fold_is_open(const struct heap_tree *t, uint32_t node);

/* The nodes that share the row of a node, or did before they were taken apart (*apart).  Returns how many; 0: it
 * shares none. */
uint32_t heap_fold_turned(const struct heap_tree *t, uint32_t node, uint32_t way[WAY_MOST + 1], bool *apart);
/* Give each of them a row of its own, or one to all of them again. */
void heap_fold_turn(struct heap_tree *t, uint32_t node);

/* Is the object, below the collection in the dominator tree, one that the collection is made of (its array, its
 * nodes), by the same rule?  Any thread. */
bool heap_fold_inside(const struct retained *r, uint32_t collection, uint32_t id);

#endif
