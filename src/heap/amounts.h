/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * amounts.h - how sure the numbers of a heap are.
 *
 * The dump may have been read in part, its sizes may be assumed, the sizes of some objects unknown,
 * its roots inferred.  What that means for a number depends on how it was counted.  So code that counts
 * something in a heap makes an amount of it with the function for that kind of count.  Any thread.
 */
#ifndef CAIRN_HEAP_AMOUNTS_H
#define CAIRN_HEAP_AMOUNTS_H

#include "base/amount.h"
#include "heap/classes.h"

/* --- numbers that the heap has ------------------------------------------------------------------ */

/* Shallow size of an object in bytes. */
struct amount heap_size(const struct heap *h, uint32_t id);
/* Elements of an array; unknown for other objects. */
struct amount heap_elements(const struct heap *h, uint32_t id);
/* Shallow sizes of exactly these objects together: of n ids, or of the objects whose bits are set. */
struct amount heap_size_of(const struct heap *h, const uint32_t *ids, size_t n);
struct amount heap_size_of_marked(const struct heap *h, const struct bits *objects);

/* Instances of exactly this class, and their shallow sizes together. */
struct amount class_objects(const struct heap *h, const struct heap_class *c);
struct amount class_shallow(const struct heap *h, const struct heap_class *c);
/* The same for a sum over all classes of that name.  If several classes share the name, it is
 * unknown which of them an object belongs to (heap_class.name_shared); that makes a class's own
 * numbers inferred, but not their sum. */
struct amount class_objects_by_name(const struct heap *h, const struct heap_class *c);
struct amount class_shallow_by_name(const struct heap *h, const struct heap_class *c);
/* Shallow sizes of all objects together. */
struct amount heap_size_of_all(const struct heap *h);

/* --- numbers that a caller counted -------------------------------------------------------------- */

/* n counts things that the dump holds: a lower bound if the dump was read in part.  This and every other
 * number of what was read is inferred if a checksum is wrong. */
struct amount heap_counted(const struct heap *h, uint64_t n);
/* n counts roots: inferred if some are. */
struct amount heap_roots_counted(const struct heap *h, uint64_t n);
/* Seconds that a thread has waited at least.  It began at `since` (heap_thread.waits_since, not 0); `newest` is when
 * another began to wait, since the dump does not record its own time. */
uint64_t heap_newest_wait(const struct heap *h); /* 0: unknown for all threads */
struct amount heap_waited(uint64_t since, uint64_t newest);
/* n counts what the roots reach: a lower bound if the dump was read in part, inferred if roots are. */
struct amount heap_reached(const struct heap *h, uint64_t n);
/* n counts what no root reaches, what an object dominates, or what would be freed.  Inferred if the
 * dump was read in part, because a reference or root may be missing: n may be too small or too
 * large.  Inferred if roots are. */
struct amount heap_held(const struct heap *h, uint64_t n);
/* The same for bytes, by the doubts about the sizes that they add: those of any objects of the heap, or these.  A lower
 * bound if the heap has objects of unknown size. */
struct amount heap_held_bytes(const struct heap *h, uint64_t bytes);
struct amount heap_held_sized(const struct heap *h, uint64_t bytes, unsigned doubts);
/* n counts references or roots that lead to no object of the dump.  Inferred if the dump was read
 * in part, because such an object may be in the part that was not read. */
struct amount heap_lost(const struct heap *h, uint64_t n);
/* The number of these objects.  One object is exact; several count as all that the dump holds
 * of some kind, and so are as sure as heap_counted and the names of their classes. */
struct amount heap_count_of(const struct heap *h, const uint32_t *ids, size_t n);
/*
 * A sum of sizes is exact only if each size is.  Why sizes are unsure is a set of bits: a sum collects those of all
 * objects that it adds, and is inferred if there are any.
 */
enum size_doubt {
	SIZE_ASSUMED = 1,  /* by a model that nothing confirms, or of a class with heap_class.size_doubtful */
	SIZE_MEASURED = 2, /* of a class with heap_class.size_measured */
	SIZE_DOUBTS = SIZE_ASSUMED | SIZE_MEASURED,
};
unsigned class_size_doubts(const struct heap *h, const struct heap_class *c);
static inline unsigned heap_size_doubts(const struct heap *h, uint32_t id)
{
	return h->size_doubts ? class_size_doubts(h, heap_class_of(h, id)) : 0;
}
/* Set h->size_doubts; whoever has made the classes and counted their objects calls it. */
void heap_find_size_doubts(struct heap *h);
/* Find roots_missing of a heap that has its roots and knows its damage.  A VM writes system classes last among the
 * roots, a Go program its variables: a dump that was read in part and has neither lacks most of its roots. */
void heap_find_missing_roots(struct heap *h);

/* Weaken a sum of bytes by such bits; a lower bound if it lacks the unknown sizes of n_unknown objects. */
struct amount heap_sized(const struct heap *h, struct amount bytes, unsigned doubts, uint64_t n_unknown);
/* The same for a sum over objects of one class, and for one over objects that may be any of the heap's. */
struct amount class_sized(
    const struct heap *h, const struct heap_class *c, struct amount bytes, uint64_t n_unknown);
struct amount heap_sized_any(const struct heap *h, struct amount bytes, uint64_t n_unknown);

/* Is some root inferred, not recorded? */
bool heap_roots_inferred(const struct heap *h);

#endif
