/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap_tree.h - the heap as a tree, to be browsed like the folders of a disk.
 *
 * The dominator tree (dominators.h), made readable by four rules:
 * - Siblings of one class are one node, but those that retain a large part have a node of their own.
 * - What an object that is not an array dominates of its own class belongs to its node: a chain or a tree of
 *   nodes is one row, however deep it is.
 * - Below a node of several objects is what any of them dominates.
 * - Class objects are looked through: what their static fields hold is shown next to them, on the level
 *   where they are, and they are one node of the bytes that they take themselves.  So are class loaders that hold
 *   class objects, and the lists by which they do: nobody clears these, but what static fields hold.
 * So the children of a node retain together what it retains less its own bytes.
 *
 * Of a set that is asked for the topmost members count, and of the others those that a member holds
 * directly: the top's list has them all.
 *
 * Nodes are made when they are opened; until then only their parent's list is there.  One thread at a
 * time.  Takes 4 bytes for each object in a node and 96 for each node.  Which nodes share a row: heap_fold.c.
 */
#ifndef CAIRN_ANALYSIS_HEAP_TREE_HEAP_TREE_H
#define CAIRN_ANALYSIS_HEAP_TREE_HEAP_TREE_H

#include "analysis/dominators/dominators.h"

#define HEAP_TREE_TOP 0 /* the node above the first level: it has no row */

struct heap_node {
	uint32_t parent, depth; /* depth 1: the first level */
	uint32_t class;         /* of all its objects; of the top HEAP_NONE */
	bool classes;           /* class objects, of which only their own bytes count */
	bool loaders;           /* the same of class loaders and their lists of classes, which are of several classes */
	uint32_t n;             /* objects */
	uint32_t topmost;       /* so many of them, the first ones, have no other of them above them */
	uint32_t largest;       /* the one of these that retains most; of the top HEAP_NONE */
	size_t at;              /* the first in heap_tree.member */
	uint64_t shallow;       /* bytes; n_unknown objects count 0 */
	uint32_t n_unknown;
	uint8_t doubts;         /* enum size_doubt of these */
	struct retained_sum retained;
	uint32_t first, children; /* its children are the nodes first … first + children - 1 */
	enum { NODE_CLOSED, NODE_EMPTY, NODE_FULL, NODE_OPEN } state; /* FULL: it will have children */
	bool apart;             /* its siblings stand for themselves now, in its place: */
	uint32_t single;        /* the first of their nodes, topmost of them one behind another; 0: not made */
	uint32_t group;         /* of such a node: the one whose place it takes; else 0 */
	bool sought;            /* heap_fold.c: what goes on in its row is known */
	bool unfolded;          /* and was taken apart */
	bool inside;            /* of a node that goes on in another's row: it is what that is made of */
	uint32_t end;           /* the last of the nodes that go on in its row; 0: none does */
	uint32_t way;           /* of one that goes on in another's row: the node whose row that is; else 0 */
};

struct heap_tree {
	const struct retained *retained; /* complete; borrowed */
	bool each;                       /* siblings of one class are not one node */
	bool unfolded;                   /* nothing goes on in another's row */
	bool busy;                       /* more is being made; what is there can be looked at meanwhile */
	struct heap_node *node;
	size_t n_nodes, cap_nodes;
	uint32_t *member;                /* object ids */
	size_t n_members, cap_members;
	struct bits asked;               /* by id: what the tree is about; word NULL: everything */
	struct bits loaders;             /* by id: class loaders that hold class objects, and what is between them */
	uint32_t *place;                 /* by class, for sorting and counting; 0 between two calls */
	uint64_t *weight;                /* by class, for heap_fold.c; 0 between two calls; NULL until then */
};

/* A tree of everything that is reachable, or of what n objects hold (ids ascending; those that no root
 * reaches hold nothing).  each: as in struct heap_tree.  0: *out is the caller's (heap_tree_release);
 * ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int heap_tree_make(struct heap_tree *out, const struct retained *r, const uint32_t *ids, size_t n,
    bool each, struct err *err);
void heap_tree_release(struct heap_tree *t);

/* Make the children of a node, unless they are there.  0, ERR_NOMEM or ERR_CANCELLED: then it is closed. */
MUST_CHECK int heap_tree_open(struct heap_tree *t, uint32_t node, struct err *err);
/* The children of an open node as they are shown: instead of a group that was taken apart its singles.
 * Returns how many; except: one that is left out, or 0; to: room for them, or NULL. */
uint32_t heap_tree_children(const struct heap_tree *t, uint32_t node, uint32_t except, uint32_t *to);
/* Take the siblings of a node apart, each a node of its own; or put those together again that were.  *shown gets
 * a node that is shown now: the group, or the single that retains most.  0; ERR_NOT_FOUND: the node is no
 * group and none of one; ERR_NOMEM, ERR_CANCELLED: all is as it was. */
MUST_CHECK int heap_tree_regroup(struct heap_tree *t, uint32_t node, uint32_t *shown, struct err *err);

/* Does a child in the dominator tree belong to its parent's node? */
bool heap_tree_joins(const struct heap_tree *t, uint32_t node, uint32_t id, uint32_t child);
/* Would opening the node give it any?  Looks at its objects until one says so, and remembers it. */
bool heap_tree_opens(struct heap_tree *t, uint32_t node);

/*
 * Nodes of the heap's tree that share a row, because a row for each would show nothing more (heap_fold.c).
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
#define WAY_MOST 16 /* nodes that go on in one row */

/* Find what goes on in the row of a node, and open that.  Nothing if it was found before.  0, ERR_NOMEM or
 * ERR_CANCELLED: then nothing does, until it is asked for again. */
MUST_CHECK int heap_fold(struct heap_tree *t, uint32_t node, struct err *err);
/* Was it found? */
bool heap_fold_is_found(const struct heap_tree *t, uint32_t node);
/* The nodes in a row, as far as that was found: the first is the node itself.  Returns how many. */
uint32_t heap_fold_way(const struct heap_tree *t, uint32_t node, uint32_t way[WAY_MOST + 1]);

/* As heap_tree_open, heap_tree_opens and heap_tree_children, of all nodes in a row. */
MUST_CHECK int heap_fold_open(struct heap_tree *t, uint32_t node, struct err *err);
bool heap_fold_opens(struct heap_tree *t, uint32_t node);
uint32_t heap_fold_children(const struct heap_tree *t, uint32_t node, uint32_t *to);

/* Does the last node in a row count at most so many objects, and do these dominate at most so many? */
bool heap_fold_is_small(const struct heap_tree *t, uint32_t node, uint64_t most);

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
