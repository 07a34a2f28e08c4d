/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes_rules.h - how the files that settle shallow sizes work together; private to heap/sizes.
 *
 * There are two rules, one for each enum size_rule.  In order:
 *   1. the rule says how many bytes an instance of each class takes, and how the size of an array
 *      follows from its length;
 *   2. one pass over all objects (sizes_count) counts them by class and lists the few that the rule
 *      asked to see (watch);
 *   3. the rule mends the sizes of these;
 *   4. the sums are made.
 */
#ifndef CAIRN_HEAP_SIZES_SIZES_RULES_H
#define CAIRN_HEAP_SIZES_SIZES_RULES_H

#include "base/err.h"
#include "base/text.h"

struct err;

/* What the pass counts of one class. */
struct tally {
	uint64_t sized_bytes; /* bytes of its objects that have a size of their own (heap.sized) */
	uint32_t n, n_plain;  /* all objects; those of the size that the class says */
	uint32_t n_unknown;   /* objects of heap.sized whose size nobody knows */
};

/* How many plain instances of a class the pass lists: none, the first WATCHED_SOME that each thread
 * meets, or all. */
enum watch { WATCH_NONE, WATCH_SOME, WATCH_ALL };
enum { WATCHED_SOME = 64 };

struct sizes {
	struct heap *heap;
	bool as_mat;           /* go by Eclipse MAT's rules */
	struct tally *tallies; /* one for each class */
	uint8_t *watch;        /* enum watch of each class */
	uint32_t *watched;     /* the ids listed, ascending */
	size_t n_watched;
	uint64_t mebibytes;    /* of the objects with a size of their own, roughly */
};

/* The rules.  Each calls sizes_count once it knows what arrays take, and mends the sizes of the
 * watched objects.  Return 0 or ERR_NOMEM. */
MUST_CHECK int sizes_recorded(struct sizes *s, struct err *err);    /* for SIZES_RECORDED */
MUST_CHECK int sizes_from_fields(struct sizes *s, struct err *err); /* for SIZES_FROM_FIELDS */

/* The class of stack chunks: the size of such an instance follows from a field that it holds.
 * HEAP_NONE: the dump has no such class (sizes_fields.c). */
uint32_t sizes_stack_chunks(const struct heap *h);

/* The pass over all objects (sizes.c).  Returns 0 or ERR_NOMEM. */
MUST_CHECK int sizes_count(struct sizes *s, struct err *err);

/* --- the net of distances (sizes_net.c) ---------------------------------------------------------- */

/* More room than this is not the VM's doing: its padding is at most 8192 bytes wide. */
enum { NET_ROOM_MAX = 4 * 8192 };

/* Sizes of classes that the distances to the next objects refute. */
struct net {
	struct sizes *sizes;
	uint64_t least;      /* bytes of the smallest object: a smaller gap holds none */
	unsigned alignment;  /* of objects, in bytes */
	uint64_t chunk;      /* bytes that the collector gives to smaller objects; 0: it adds nothing */
	uint64_t *measured;  /* by class: what its instances take by the distances, 0: the rules are not refuted */
	uint8_t *refused;    /* by class: measured once, and then an instance was found to be smaller */
	struct seen *seen;   /* by class */
	uint32_t gaps[NET_ROOM_MAX / 8]; /* of each size, in units of 8 bytes */
	bool gapless;        /* objects follow each other without room for omitted ones */
	uint32_t n_measured;
};
struct layout_model;
/* Returns 0 or ERR_NOMEM; end with net_close. */
MUST_CHECK int net_open(struct net *n, struct sizes *s, const struct layout_model *m, struct err *err);
/* Does an object of so many bytes end where the next one begins, but for what the collector adds? */
static inline bool net_fits(const struct net *n, uint64_t size, uint64_t distance)
{
	return size == distance || (size < n->chunk && distance == n->chunk);
}
/* Hold the distances behind the watched objects against instance_size of all classes, and add to
 * measured.  *more: something was added, so that sizes are to be computed again.  Returns 0, ERR_NOMEM
 * or ERR_CANCELLED. */
MUST_CHECK int net_cast(struct net *n, bool *more, struct err *err);
/* Mark the classes whose sizes come from distances, and note which are not sure. */
void net_tell(struct net *n);
void net_close(struct net *n);

/* A list of classes: some of their names and how many there are; the text is released, the list is the heap's.  NULL:
 * there are none. */
void sizes_add_name(struct text *to, uint32_t *n, const char *name);
const char *sizes_keep_names(struct heap *h, struct text *names, uint32_t n);

/* Keep of heap->odd, hashed objects without a size, those that are larger than their class says, with their size
 * (sizes_hashed.c).  Returns 0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int sizes_hashed(struct heap *h, struct err *err);

/* Bytes from an object's address to the next object's; UINT64_MAX for the last object. */
uint64_t sizes_distance(const struct heap *h, uint32_t id);

#endif
