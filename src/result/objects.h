/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objects.h - rows that are objects: lists of objects, references, contents.
 *
 * The rows are a sequence of stretches.  A stretch is an array of ids, borrowed from the heap's
 * graph or owned, with the direction and the field that its rows show.  Cells are made from the
 * heap on demand.
 */
#ifndef CAIRN_RESULT_OBJECTS_H
#define CAIRN_RESULT_OBJECTS_H

#include "result/result.h"

/* What a column of such a table shows of its object. */
enum object_column {
	OBJECT_UNKNOWN, /* a column that no format fills yet: always unknown */
	OBJECT_DIRECTION,
	OBJECT_FIELD,
	OBJECT_ADDRESS,
	OBJECT_CLASS,
	OBJECT_SHALLOW,
	OBJECT_RETAINED,
	OBJECT_LENGTH,
	OBJECT_CHILDREN, /* in the dominator tree */
	OBJECT_HEAP,     /* Android's heap that it is in */
	OBJECT_VALUE, /* the object in a few words; for a class object, the class that it stands for */
	OBJECT_VALUE_IF_ANY, /* as object_value_cell, but blank where the dump has none */
};

/* The cell of an object; its text points into the heap or *scratch. */
void object_cell(const struct opened *o, uint32_t id, enum object_column what, struct cell *out,
    struct text *scratch);

/* A value of the head, about one object. */
void object_head(struct result *r, uint32_t id, enum column_id column, enum object_column what);

/* Does some root reach the object?  Unknown until retained sizes are known. */
struct cell object_reachable_cell(const struct opened *o, uint32_t id);
/* What the object retains; unknown until that is known, and for HEAP_NONE. */
struct cell object_retained_cell(const struct opened *o, uint32_t id);

/* What the object or thread that a row stands for retains: pass it to result_rows_late.  It does
 * not use data. */
struct cell row_retained_cell(const struct result *r, void *data, size_t row);

/* The value of an object, or the name of a thread that only a javacore has. */
struct cell object_value_cell(const struct heap *h, uint32_t id, struct text *scratch);

/* Append its class, or of a class object "class " and the class that it is. */
void object_class_words(const struct heap *h, uint32_t id, struct text *to);

/* Is the object an array?  The length of an array may be unknown; that of other objects does not
 * apply. */
bool object_is_array(const struct heap *h, uint32_t id);

/* Which way a reference goes, from the object that was asked for. */
enum direction { NO_DIRECTION, DIRECTION_OUT, DIRECTION_IN };
const char *direction_word(enum direction direction); /* "out", "in"; NULL: none */

struct object_rows;
struct object_rows *object_rows_new(const struct opened *o);
/* Add a stretch of n ids.  field NULL: not known.  big: ids are big memory, and the rows take them
 * over; otherwise they are borrowed. */
void object_rows_add(struct object_rows *rows, enum direction direction, const char *field,
    uint32_t *ids, size_t n, bool big);
void object_rows_free(struct object_rows *rows);
/* 0, or ERR_NOMEM when memory for a stretch was refused since the rows were made: that one is missing.
 * The result over them tells it as well, by result_check. */
int object_rows_check(const struct object_rows *rows, struct err *err);

/* Add what the object references: implied references first, then the recorded ones in file
 * order. */
void object_rows_out(struct object_rows *rows, uint32_t id, enum direction direction);
/* Add what references the object: recorded holders by address, then those that the dump implies.  0
 * or ERR_NOMEM. */
MUST_CHECK int object_rows_in(struct object_rows *rows, uint32_t id, enum direction direction,
    struct err *err);

size_t object_rows_count(const struct object_rows *rows);
uint32_t object_rows_id(const struct object_rows *rows, size_t row, enum direction *direction);
/* Keep only the objects of the given classes (class indices).  0 or ERR_NOMEM. */
MUST_CHECK int object_rows_only(struct object_rows *rows, const uint32_t *classes, size_t n_classes,
    struct err *err);

struct shared_fields; /* analysis/describe/describe.h */
/* Show fields of the objects in columns behind those of the shape: `which`, n of them by their number.  The
 * rows take both over; which: by malloc. */
void object_rows_fields(struct object_rows *rows, struct shared_fields *fields, unsigned *which, unsigned n);

/* A result over the rows, which it takes over.  what: an enum object_column for each column of
 * shape. */
struct result *object_rows_result(struct object_rows *rows, const char *title,
    const struct shape *shape, const unsigned char *what);

#endif
