/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed_contents.h - what the walks over contents share; private to typed_contents.c, typed_maps.c (maps
 * of Go before 1.24) and typed_swiss.c (since).
 */
#ifndef CAIRN_HEAP_TYPED_TYPED_CONTENTS_H
#define CAIRN_HEAP_TYPED_TYPED_CONTENTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct type;
struct typed;
struct typed_contents;

/* The i-th of a row of values that begins at `first`.  The row's memory is looked up once: the dump finds an
 * object's end by reading all that the record says of it.  *row begins zeroed. */
bool contents_element(const struct typed_contents *c, struct typed *row, uint64_t i, uint64_t first,
    uint32_t type, struct typed *out);
/* Keys and values that are too large for their place in a map stand elsewhere, and there is a pointer to them.
 * Settle which do, by the types that the places have and those that the map is said to hold. */
void contents_settle(struct typed_contents *c, const struct type *owner);
/* Count the entry whose places key and value are, and follow such pointers; one that leads to nothing stays. */
void contents_take(struct typed_contents *c);

/* The memory of a map, whose type is owner.  0; ERR_NOT_FOUND where its types are not those known here. */
MUST_CHECK int map_open(struct typed_contents *c, const struct typed *v, const struct type *owner,
    struct err *err);
bool map_next(struct typed_contents *c);
MUST_CHECK int swiss_open(struct typed_contents *c, const struct typed *v, const struct type *owner,
    struct err *err);
bool swiss_next(struct typed_contents *c);

#endif
