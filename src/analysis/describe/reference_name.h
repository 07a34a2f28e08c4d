/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reference_name.h - the fields by which an object references others: "next", "[17]",
 * "static INSTANCE"; of objects that are memory with what is between the object's start and where the
 * pointer leads, "Stock+16".
 *
 * The graph knows that an object references another, its values know where.  Names are found by
 * walking the holder's values, so asking for one after another costs one walk in all.
 *
 * Any thread, each with its own struct reference_names.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_REFERENCE_NAME_H
#define CAIRN_ANALYSIS_DESCRIBE_REFERENCE_NAME_H

#include "base/text.h"
#include "heap/typed.h"
#include "heap/value.h"

struct reference_names {
	struct values holder;
	bool open;          /* the holder's values can be read */
	struct field_walk walk;
	uint64_t element;   /* the next to look at */
	struct typed_object memory; /* the holder, where objects are memory */
	struct slot_walk slots;
};

/* Begin with the first reference of an object. */
void reference_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder);

/* Go on to the next reference to this object.  False: there is none behind the last one.  The name is
 * appended unless to is NULL. */
bool reference_names_next(struct reference_names *n, uint32_t target, struct text *to);

/* The next reference of an object that is memory, whatever it leads to.  False: there is none. */
bool reference_names_any(struct reference_names *n, uint32_t *target, struct text *to);

#endif
