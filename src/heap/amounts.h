/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * amounts.h - what the heap knows to say of how sure its numbers are.
 *
 * The dump may have been read in part, its sizes may be assumed, the sizes of some objects unknown, its
 * roots inferred.  What that means for a number depends on how the number came about, so whoever
 * counted passes it through the door that fits.  Any thread.
 */
#ifndef CAIRN_HEAP_AMOUNTS_H
#define CAIRN_HEAP_AMOUNTS_H

#include "base/amount.h"
#include "heap/heap.h"

/* --- numbers that the heap has ------------------------------------------------------------------ */

/* Shallow size of an object in bytes. */
struct amount heap_size(const struct heap *h, uint32_t id);
/* Elements of an array; of anything else unknown. */
struct amount heap_elements(const struct heap *h, uint32_t id);
/* Shallow sizes of these very objects together. */
struct amount heap_size_of(const struct heap *h, const uint32_t *ids, size_t n);
struct amount heap_size_of_marked(const struct heap *h, const struct bits *objects);

/* Instances of exactly this class, and their shallow sizes together. */
struct amount class_objects(const struct heap *h, const struct heap_class *c);
struct amount class_shallow(const struct heap *h, const struct heap_class *c);
/* The same as part of a sum over all classes of that name, which is not in doubt where names are shared. */
struct amount class_objects_by_name(const struct heap *h, const struct heap_class *c);
struct amount class_shallow_by_name(const struct heap *h, const struct heap_class *c);
/* Shallow sizes of all objects together. */
struct amount heap_size_of_all(const struct heap *h);

/* --- numbers that somebody counted -------------------------------------------------------------- */

/* Of things among all that the dump holds: at least n where it was read in part. */
struct amount heap_counted(const struct heap *h, uint64_t n);
/* Of what the roots reach: at least n where the dump was read in part. */
struct amount heap_reached(const struct heap *h, uint64_t n);
/* Of what no root reaches, of who dominates whom, and of what would be freed: in a dump that was read in
 * part neither too small nor too large can be excluded, since a reference or root may be missing. */
struct amount heap_held(const struct heap *h, uint64_t n);
/* Bytes that are held or would be freed. */
struct amount heap_held_bytes(const struct heap *h, uint64_t bytes);
/* Of the references, or roots, that lead to no object of the dump: it may be in the part not read. */
struct amount heap_lost(const struct heap *h, uint64_t n);
/* How many objects these are: a set of several is taken for what the dump has of some kind. */
struct amount heap_count_of(const struct heap *h, const uint32_t *ids, size_t n);
/* Bytes that n_unknown objects should have added to, whose sizes are not known. */
struct amount heap_sized(const struct heap *h, struct amount bytes, uint64_t n_unknown);

/* Is any root there by inference? */
bool heap_roots_inferred(const struct heap *h);

#endif
