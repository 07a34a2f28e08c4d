/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominance.h - the data that the dominators_*.c files share; private to this folder.
 *
 * A depth-first walk numbers the objects 1 … n; 0 is the virtual root.  An object that only one
 * other object refers to, once or more often, is dominated by that other one, which is its parent
 * in the walk, so its dominator is known.  All other objects are *junctions*: between a tenth
 * and a quarter of a heap.  A *group* is a junction and what hangs below it in the walk, down to the
 * next junctions; it has its junction's number.  Group 0 belongs to the virtual root and is empty.
 *
 * An object that is not a junction and leads nowhere, or to such objects only, is *closed*: it makes no difference
 * to any other, so it gets no number.  Two levels of these are found.
 *
 * "Number" means an object's number in the walk, and nearly everything is stored by number: what lies near
 * in the walk lies near in memory, too.  The algorithm looks at the junctions from the last to the
 * first; those that it is done with are *linked* (see dominators_semi.c).
 */
#ifndef CAIRN_ANALYSIS_DOMINATORS_DOMINANCE_H
#define CAIRN_ANALYSIS_DOMINATORS_DOMINANCE_H

#include "analysis/dominators/dominators.h"
#include "heap/heap.h"

#include "algorithms/bits.h"
#include "algorithms/buckets.h"
#include "heap/weak.h"
#include "memory/readahead.h"

/* A reference that stands in no array of heap->out: see dominance.edges. */
struct edge {
	uint32_t from, to;
};

/* What is known of the object with this number.  "value" of an object that is not a junction is its group. */
struct place {
	uint32_t up;    /* number of its parent in the walk.  No junction: once that was asked for (path
	                   halving), maybe a higher ancestor in the same group.  A linked junction: maybe
	                   the parent of a junction further up, where a shortened way goes on.  At last:
	                   the number of its dominator */
	uint32_t value; /* of a junction: the least semidominator on the way from it up to there, as far
	                   as it is known.  At last: a junction further up in the tree of dominators */
};

/* What is kept by junction, in the order of their numbers. */
struct junction {
	uint32_t semi;  /* its semidominator, then its dominator */
	uint32_t above; /* its parent in the walk, then the length of its jump (dominators_semi.c) */
};

/*
 * The instances of one class.  If the class's object is not a root, each instance holds it, so the
 * numbers of the instances are kept, except those that cannot make a difference (note_instance).
 *
 * They ascend, and stand in a chain of blocks.  A block has its first number in full and each
 * further one as the distance from the number before: seven bits a byte, the lowest first, the
 * highest bit set if another byte follows.  A byte 0 ends a block that is not full.
 */
struct instances {
	bool hold;        /* the class has an object that is not a root: its instances count */
	bool top;         /* it has one that is none, but the virtual root dominates it: they do not */
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

/* Where the arrays that are jumped through all the same are looked at next: see memory/readahead.h. */
struct whereabouts {
	struct readahead out_offset, out_target, class_low, class_high, object, place;
};

/* References to junctions, partitioned: see dominators_partition.c. */
struct partition {
	struct buckets buckets; /* by id: id of the junction << 32 | number of the referrer; then by number, of both */
	unsigned shift;     /* of ids and numbers: the rest is the bucket */
	uint64_t window;    /* so many ids of number[] are filled at a time: those of whole buckets */
	uint32_t *parent;   /* by number: place.up as the walk left it */
	/* of the numbers from begin on, one bucket's: */
	uint32_t begin;
	uint64_t *end;      /* holders of begin + i: holder[end[i + 1]] … holder[end[i + 2] - 1] */
	uint32_t *least;    /* the least number that refers to begin + i; that itself: no smaller one */
	uint32_t *holder;   /* the greater numbers that refer */
};

/* What there may be of an instance of a class besides its references. */
enum leads {
	LEADS_BY_EDGES = 1,    /* some instance may be the "from" of an edge */
	LEADS_TO_CLASS = 2,    /* the class has an object, which may have no number yet */
	HELD_BY_INSTANCES = 4, /* instances.hold */
};

struct dominance {
	const struct heap *h;
	struct whereabouts *near; /* NULL: all is in memory */
	struct partition *partition;      /* NULL: referrers are looked up in heap->in */
	const struct weak_references *left_out; /* NULL: all references count */
	struct progress *progress;
	uint32_t n;             /* objects numbered so far */
	uint32_t m;             /* junctions among them */
	uint32_t size;          /* entries of number: n_objects + 1 */
	uint32_t room;          /* entries of object and place */
	uint32_t *number;       /* by id: its number; 0: not reached.  With a partition, of a closed object the only one
	                           that references it, plus 1 */
	uint32_t *object;       /* by number: its id */
	struct place *place;    /* by number */
	struct junction *junction; /* only after the walk */
	struct bits meets;      /* by id: it is a junction.  Only until the walk is over */
	struct bits seen;       /* by id: it has a number, or is closed.  Until dominators have ids */
	struct bits leaf;       /* by id: it is closed and leads nowhere */
	struct bits closed;     /* by id */
	uint32_t n_closed;
	struct bits inner;      /* by number: it may dominate others that have one */
	struct bits at;         /* by number: it is a junction.  Sealed after the walk */

	bool *is_root;          /* by index in h->roots: the virtual root holds it, not a thread's
	                           object */
	struct edge *edges;     /* class to superclass and to loader, loader to classes, thread to what
	                           its stack holds.  Ids, sorted by "from"; after the walk numbers,
	                           sorted by "to", the last first */
	size_t n_edges;
	uint8_t *leads;         /* by class, of enum leads */
	struct instances *instances; /* by class */
	struct instance_block *block; /* the blocks of all classes; block[0] is not used */
	uint32_t n_blocks, cap_blocks;
};

/* An element of one of the arrays in whereabouts is about to be looked at. */
#define LOOK(d, array, index)                                                                      \
	do {                                                                                       \
		if (__builtin_expect((d)->near != NULL, 0))                                        \
			readahead_look(&(d)->near->array, (index));                                     \
	} while (0)

/* The number of the junction in whose group the object with number k is. */
static inline uint32_t group_of(const struct dominance *d, uint32_t k)
{
	return k == 0 || bits_get(&d->at, k) ? k : d->place[k].value;
}

/*
 * The three steps, in this order; each returns 0 or an error (ERR_NOMEM, ERR_CANCELLED).
 *
 * dominance_prepare (dominators_prepare.c) lists the edges and marks junctions and closed objects: edges, is_root,
 * leads, instances, meets, closed, seen.  dominance_walk (dominators_walk.c) numbers the objects: n, m,
 * number, object, place, at.  dominance_of_junctions (dominators_semi.c) gives every junction the number of
 * its dominator (junction.semi).
 */
MUST_CHECK int dominance_prepare(struct dominance *d, struct err *err);
MUST_CHECK int dominance_walk(struct dominance *d, struct err *err);
MUST_CHECK int dominance_of_junctions(struct dominance *d, struct err *err);

/* Dealing, for heaps that live in the file.  partition_init before the walk, which leaves
 * number[] as it is; partition_by_number behind it, which fills that; partition_take before the
 * junction w is looked at.  Each returns 0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int partition_init(struct dominance *d, struct err *err);
MUST_CHECK int partition_by_number(struct dominance *d, struct err *err);
MUST_CHECK int partition_take(struct dominance *d, uint32_t w, struct err *err);
void partition_release(struct dominance *d);

/* At last, with the junctions' dominators known: retained sizes, sums, and the immediate dominators, which stand where
 * the numbers were (dominators_partition_sum.c).  The same errors. */
MUST_CHECK int partition_sum(struct dominance *d, struct dominators *out, struct err *err);

/* Piles of ids come first, behind them those of numbers. */
static inline size_t partition_buckets(const struct dominance *d)
{
	return (size_t)(d->size >> d->partition->shift) + 1;
}

/* The only one that references this object, which is not a junction.  Not with a partition. */
static inline uint32_t dominance_referrer(const struct dominance *d, uint32_t id)
{
	return d->h->in.target[adjacency_start(&d->h->in, id)];
}

/* The object with number k references the junction with this id. */
MUST_CHECK static inline int partition_note(struct dominance *d, uint32_t id, uint32_t k, struct err *err)
{
	return buckets_add(&d->partition->buckets, id >> d->partition->shift, (uint64_t)id << 32 | k, err);
}

#endif
