/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominance.h - the data that the dominators_*.c files share; private to this folder.
 *
 * A depth-first walk numbers the objects 1 … n; 0 is the virtual root.  An object that only one
 * other object refers to, once or more often, is dominated by that other one, which is its parent
 * in the walk, so there is nothing to find out.  All other objects are *junctions*: between a tenth
 * and a quarter of a heap.  They are numbered 1 … m in the same order.  A *group* is a junction and
 * what hangs below it in the walk, down to the next junctions; it has its junction's number.  Group
 * 0 belongs to the virtual root and is empty.
 *
 * "Number" below means an object's number in the walk, "junction" the number of a junction.  The
 * algorithm looks at the numbers from the last to the first; the junctions that it is done with are
 * *linked* (see dominators_semi.c).  To save memory, several members change their meaning on the
 * way.
 */
#ifndef CAIRN_ANALYSIS_DOMINATORS_DOMINANCE_H
#define CAIRN_ANALYSIS_DOMINATORS_DOMINANCE_H

#include "analysis/dominators/dominators.h"

#include "base/bits.h"
#include "base/near.h"
#include "heap/weak.h"

/* A reference that stands in no array of heap->out: see dominance.edges. */
struct edge {
	uint32_t from, to;
};

/* What is known of the object with this number. */
struct place {
	uint32_t up;    /* number of its parent in the walk.  Once that is asked for (path halving), it
	                   may be a higher ancestor in the same group */
	uint32_t group; /* its junction.  While the walk is below the object: which of its references
	                   the walk takes next */
};

/* Each member has one meaning until the junction is linked, and another one from then on. */
struct junction {
	uint32_t above;     /* junction of the group that its parent is in.  Linked: that, or a junction
	                       further up, where a shortened way goes on */
	uint32_t parent;    /* number of its parent in the walk.  Linked: parent of the topmost junction
	                       on the way from here up to above (above not included) */
	uint32_t label;     /* linked only: the junction on that way whose semidominator is the least.
	                       0: no junction has it, but an object between two junctions; then this
	                       least semidominator is itself the dominator that is looked for */
	uint32_t least;     /* number: this junction's own semidominator, as far as it is known.
	                       Linked: the least semidominator on that way */
	uint32_t dominator; /* the next junction in its bucket.  Once the bucket is emptied: the number
	                       of its dominator, or (bit in as_label) a junction that has the same
	                       dominator */
};

/*
 * The instances of one class.  If the class's object is no root, each instance holds it, so the
 * numbers of the instances are kept, except those that cannot make a difference (note_instance).
 *
 * They ascend, and stand in a chain of blocks.  A block has its first number in full and each
 * further one as the distance from the number before: seven bits a byte, the lowest first, the
 * highest bit set if another byte follows.  A byte 0 ends a block that is not full.
 */
struct instances {
	bool hold;        /* the class has an object that is no root: its instances count */
	uint8_t fill;     /* bytes used of "further" in the last block */
	uint32_t first;   /* the first instance met before the class object was; 0: none */
	uint32_t last;    /* the last instance met after the class object, not in a block yet; 0:
	                     none */
	uint32_t group;   /* the group of last */
	uint32_t written; /* the last number that is in a block */
	uint32_t block;   /* index of the last block; 0: none */
};
struct instance_block {
	uint32_t before; /* index of the block before; 0: none */
	uint32_t first;
	uint8_t further[56];
};

/* Where the arrays that the steps jump through are looked at next: see base/near.h. */
struct whereabouts {
	struct near out_offset, out_target, class_of, in_offset, in_target, number, object, place, junction;
};

struct dominance {
	const struct heap *h;
	struct whereabouts *near; /* NULL: all is in memory */
	const struct weak_references *left_out; /* NULL: all references count */
	struct progress *progress;
	uint32_t n;             /* objects numbered so far */
	uint32_t m;             /* junctions among them */
	uint32_t size;          /* entries of number, object and place: n_objects + 1 */
	uint32_t most;          /* entries of junction: the junctions there can be, + 1 */
	uint32_t *number;       /* by id: its number; 0: not reached */
	uint32_t *object;       /* by number: its id.  While junctions wait in the number's bucket: the
	                           first of these, and the last one's "dominator" keeps the id */
	struct place *place;    /* by number */
	struct junction *junction; /* by junction; [0] stands for the virtual root */
	struct bits meets;      /* by id: it is a junction.  Only until the walk is over */
	struct bits at;         /* by number: it is a junction */
	struct bits has_bucket; /* by number: junctions whose semidominator it is wait in its bucket.
	                           Only after the walk */
	struct bits ends;       /* by junction: it is the last one in its bucket */
	struct bits as_label;   /* by junction: "dominator" names a junction with the same dominator */

	bool *is_root;          /* by index in h->roots: the virtual root holds it, not a thread's
	                           object */
	struct edge *edges;     /* class to superclass and to loader, loader to classes, thread to what
	                           its stack holds.  Ids, sorted by "from"; after the walk numbers,
	                           sorted by "to", the last first */
	size_t n_edges;
	bool *has_edges;        /* by class: some instance may be the "from" of an edge */
	struct instances *instances; /* by class */
	struct instance_block *block; /* the blocks of all classes; block[0] is not used */
	uint32_t n_blocks, cap_blocks;
};

/* An element of one of the arrays in whereabouts is about to be looked at. */
#define LOOK(d, array, index)                                                                      \
	do {                                                                                       \
		if (__builtin_expect((d)->near != NULL, 0))                                        \
			near_look(&(d)->near->array, (index));                                     \
	} while (0)

/*
 * The three steps, in this order; each returns 0 or an error (ERR_NOMEM, ERR_CANCELLED).
 *
 * dominance_prepare (dominators_walk.c) lists the edges and marks the junctions: edges, is_root,
 * has_edges, instances, meets, most.  dominance_walk (dominators_walk.c) numbers the objects:
 * number, object, place, at, and "above" and "parent" of each junction.  dominance_of_junctions
 * (dominators_semi.c) gives every junction the number of its dominator.
 */
MUST_CHECK int dominance_prepare(struct dominance *d, struct err *err);
MUST_CHECK int dominance_walk(struct dominance *d, struct err *err);
MUST_CHECK int dominance_of_junctions(struct dominance *d, struct err *err);

#endif
