/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ids.h - the objects of a heap by id and address: their sizes, lengths and bytes.
 *
 * An object's id is its rank in address order, 0 … n_objects-1; nothing is a pointer to an object.
 */
#ifndef CAIRN_HEAP_IDS_H
#define CAIRN_HEAP_IDS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct heap;
struct object_view; /* dump/facts.h */
struct text;

#define HEAP_NONE UINT32_MAX /* no object, no class, no thread */

uint64_t heap_address(const struct heap *h, uint32_t id);
/* The object at exactly this address, or HEAP_NONE. */
uint32_t heap_find(const struct heap *h, uint64_t address);
/* The last object at or below this address, or HEAP_NONE. */
uint32_t heap_find_below(const struct heap *h, uint64_t address);
/* The object that covers this address, or HEAP_NONE; *start gets its first byte. */
uint32_t heap_covering(const struct heap *h, uint64_t address, uint64_t *start);
/* What a pointer of the dump leads to: the object there, or that covers it where the format has
 * pointers into objects; HEAP_NONE. */
uint32_t heap_target(const struct heap *h, uint64_t address);

/* Shallow size in bytes; 0 if unknown (heap_size_known false). */
uint64_t heap_shallow(const struct heap *h, uint32_t id);
/* Those of n objects from first on, into bytes[0] … bytes[n - 1]; SIZE_UNKNOWN if unknown. */
void heap_sizes(const struct heap *h, uint32_t first, uint32_t n, uint64_t *bytes);
bool heap_size_known(const struct heap *h, uint32_t id);
/* Elements of an array, or LENGTH_UNKNOWN. */
uint64_t heap_length(const struct heap *h, uint32_t id);

/* Bytes of an object before its value (facts.headers). */
uint64_t heap_head(const struct heap *h, uint32_t id);
/* The object that begins at this address, or whose value does: programs know only the value's. */
uint32_t heap_find_value(const struct heap *h, uint64_t address);

/* Find the bytes of an object's values in the dump.  Returns 0; that ERR_UNSUPPORTED where the
 * format holds none; ERR_NOT_FOUND for a class object (its static fields are in its heap_class);
 * ERR_IO if the file has changed; or the reader's error. */
MUST_CHECK int heap_view(const struct heap *h, uint32_t id, struct object_view *out,
    struct err *err);
/* The same for a caller that asks for many objects.  In the dump's order each costs the reader one
 * record instead of up to 16.  A walk begins zeroed and belongs to one thread. */
struct view_walk {
	uint64_t run;    /* of places */
	uint64_t next;   /* offset of a record, 0 none */
	uint32_t number; /* of that record */
	uint32_t near;   /* of the view */
};
MUST_CHECK int heap_view_along(const struct heap *h, uint32_t id, struct view_walk *walk,
    struct object_view *out, struct err *err);

/* The name of what lies at an address outside of the heap, "main.cache" or "bss+0x1a40", escaped and
 * appended.  False: the dump does not tell. */
bool heap_symbol(const struct heap *h, uint64_t address, struct text *to);

#endif
