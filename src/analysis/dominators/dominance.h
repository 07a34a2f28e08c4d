/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominance.h - how the files that find dominators work together; private to src/analysis.
 *
 * Objects are numbered 1 … n in the order of a depth-first walk, 0 is the virtual root.  An object
 * that only one object refers to, once or more often, is dominated by that one, its parent in the
 * walk: nothing is to be found out about it.  All others are *junctions*, numbered 1 … m in the same
 * order: between a tenth and a quarter of a heap.  A *group* is a junction with what hangs below it
 * in the walk up to the next junctions; group 0 belongs to the virtual root and is empty.
 */
#ifndef CAIRN_ANALYSIS_DOMINATORS_DOMINANCE_H
#define CAIRN_ANALYSIS_DOMINATORS_DOMINANCE_H

#include "analysis/dominators/dominators.h"

#include "base/bits.h"
#include "heap/weak.h"

/* An edge that no array of references holds. */
struct edge {
	uint32_t from, to;
};

/* What is known of a number. */
struct place {
	uint32_t up;    /* its parent in the walk; later an ancestor of the same group */
	uint32_t group; /* its junction; while the walk is below it: its place among the references */
};

struct junction {
	uint32_t above;     /* the junction of its parent's group; linked: one further up */
	uint32_t parent;    /* number; linked: of the topmost junction that label stands for */
	uint32_t label;     /* linked: which junction has the least semidominator on the way from here up to
	                       above.  0: none of them, an object between two junctions has it; then that
	                       semidominator is the dominator sought */
	uint32_t least;     /* linked: that least semidominator, as a number; before: this junction's own,
	                       as far as it is known */
	uint32_t dominator; /* a number, or the junction with the same (as_label); before: the next in its
	                       bucket */
};

/*
 * Instances of a class whose object is no root: they hold it.  The numbers of those met before the last
 * one ascend in blocks of a common list, each as its distance from the one before, in groups of seven
 * bits from the lowest, the highest bit of a byte saying that another follows; 0 ends a block.
 */
struct instances {
	bool hold;
	uint8_t fill;     /* bytes used in the last block */
	uint32_t first;   /* the first number, met before the class object has one; 0: none */
	uint32_t last;    /* of those met afterwards the last one, not in a block yet; 0: none */
	uint32_t group;   /* its */
	uint32_t written; /* the last one in a block */
	uint32_t block;   /* that block; 0: none */
};
struct instance_block {
	uint32_t before; /* the block before, 0: none */
	uint32_t first;
	uint8_t further[56];
};

struct dominance {
	const struct heap *h;
	const struct weak_references *left_out; /* NULL: all references count */
	struct progress *progress;
	uint32_t n;             /* objects numbered so far */
	uint32_t m;             /* junctions among them */
	uint32_t size;          /* of the arrays: objects + 1 */
	uint32_t most;          /* junctions there can be, + 1 */
	uint32_t *number;       /* by id: its number, 0 not reached */
	uint32_t *object;       /* by number: its id; the first of its bucket while it has one */
	struct place *place;    /* by number */
	struct junction *junction;
	struct bits meets;      /* by id: a junction; until the walk is over */
	struct bits at;         /* by number: a junction */
	struct bits has_bucket; /* by number: junctions with this semidominator wait; after the walk */
	struct bits ends;       /* by junction: the last in its bucket, which keeps the object */
	struct bits as_label;   /* by junction: dominator is a junction that has the same dominator */

	bool *is_root;          /* by index in h->roots: no thread's object holds it instead */
	struct edge *edges;     /* ids, by from: class to superclass and loader, loader to classes, thread
	                           to what its stack holds */
	size_t n_edges;
	bool *has_edges;        /* by class: some instance may have such edges */
	struct instances *instances; /* by class */
	struct instance_block *block; /* the list; its first block is not used */
	uint32_t n_blocks, cap_blocks;
};

/* dominators_walk.c: edges and junctions; then numbers, places, the junctions' above and parent. */
MUST_CHECK int dominance_prepare(struct dominance *d, struct err *err);
MUST_CHECK int dominance_walk(struct dominance *d, struct err *err);

/* dominators_semi.c: the dominators of the junctions, as numbers. */
MUST_CHECK int dominance_of_junctions(struct dominance *d, struct err *err);

#endif
