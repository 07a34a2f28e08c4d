/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe.h - an object in a few words: the text of a String, the number in a box, the name of a
 * thread.
 *
 * One table says which classes are known and how each is described (describe.c); a class that is not
 * in it is described as the nearest superclass that is.  Where nothing is known nothing is said.  All
 * text is escaped, and cut with "…".
 *
 * Any thread.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_DESCRIBE_H
#define CAIRN_ANALYSIS_DESCRIBE_DESCRIBE_H

#include "analysis/describe/collection.h"
#include "analysis/describe/reference_name.h"
#include "analysis/describe/slices.h"
#include "analysis/describe/typed_text.h"
#include "base/text.h"
#include "heap/value.h"

#define DESCRIBE_SHORT 120 /* characters of a text, for a cell of a table */

/*
 * Append what the object is, with about `limit` characters of what it holds.  Strings stand in
 * quotation marks, an array of numbers in brackets.  False: nothing is known, nothing was appended.
 */
bool describe_object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to);

/* Is there more to say of objects of this class than the length of an array? */
bool describe_knows_class(const struct heap *h, uint32_t class);

/* Append a value: a number as Java prints it, 'c', true, null, an object's description or else its
 * address. */
void describe_value(const struct heap *h, const struct value *v, uint64_t limit, struct text *to);

#endif
