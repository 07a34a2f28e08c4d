/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inspect.h - tables of what an object holds: its parts, its bytes, the entries of a collection.
 *
 * Rows are read from the dump when they are shown.  Each function returns a result that the caller
 * owns and that owns what it was made of; none of them fails.
 */
#ifndef CAIRN_COMMAND_BROWSE_INSPECT_H
#define CAIRN_COMMAND_BROWSE_INSPECT_H

#include "opened/opened.h"
#include "result/result.h"

struct entries;
struct object_bytes;
struct object_parts;
struct range;

/* The results of x, whose head cmd_inspect.c adds, and of entries. */
extern const struct shape parts_shape, parts_of_memory_shape, references_shape, bytes_shape,
    entries_shape;

/* Columns of references_shape. */
enum { R_NAME, R_TYPE, R_VALUE, R_DECLARED_IN, R_CLASS, R_SHALLOW, R_RETAINED, R_COLUMNS };

/* Fields, elements or words by name, type and value.  The result closes parts. */
struct result *parts_result(
    const struct opened *o, struct object_parts *parts, const char *title);

/* The bytes of `which` of the elements of an array, or of any object where the dump has those: 16 a
 * row, in hexadecimal and as text.  start and length count units of b->unit bytes. */
struct result *bytes_result(const struct opened *o, const char *title, const struct object_bytes *b,
    const struct range *which);

/* Index, key and value of what a collection contains; keys only of maps.  The result closes entries. */
struct result *entries_result(const struct opened *o, struct entries *entries, const char *title);

/* Add to the head of an object's table as which part of an array it is held, and of a collection its
 * size, capacity and fill. */
void collection_head(struct result *r, const struct heap *h, uint32_t id);

#endif
