/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_export.h - a heap as an HPROF 1.0.2 file, which other programs read.
 *
 * A heap whose dump holds values is written with these: classes with their fields, objects with the values of them,
 * arrays with their elements.  Where the dump holds none (PHD, classic dumps) HPROF still wants a value for each
 * field that a class declares.  So fields are invented: as many references ?0, ?1, ... as an instance of the class
 * holds at most, null where one holds fewer, and numbers ?size0, ... that are 0.  These make an object as large as
 * the dump says for programs that add up fields.  References of a class object become static fields in the same way.
 * Elements of an array of objects come one after another, nulls after them; elements of other arrays are 0.  The
 * first record of the file says what of it is invented (struct hprof_origin).
 *
 * The file is written in one pass in the order of addresses; memory is needed for classes and names only.
 */
#ifndef CAIRN_ANALYSIS_HPROF_EXPORT_HPROF_EXPORT_H
#define CAIRN_ANALYSIS_HPROF_EXPORT_HPROF_EXPORT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct heap;
struct redaction; /* dump/reader.h */
struct text;      /* base/text.h */

/* What was written, and what of the heap has no place in such a file. */
struct hprof_exported {
	uint64_t bytes, objects;
	bool invented;             /* fields and their order: the heap has no values */
	uint64_t references_lost;  /* of no field, beyond 65,535 fields, or where an array is cut off */
	uint64_t arrays_clipped;   /* to 4 GB, the most that a record holds */
	uint64_t sizes_lost;       /* of objects, where the dump has sizes: those that class and length do not say */
	uint64_t lengths_unknown;  /* of arrays; made of the size, if the dump has that */
	uint32_t threads_lost;     /* without an object */
	uint32_t classes_made;     /* that have instances and no class object in the heap */
};

/* Can it be written?  ERR_UNSUPPORTED, and why not: a Go heap, an index without references. */
MUST_CHECK int hprof_export_may(const struct heap *h, struct err *err);
/* Write it; the heap has its references.  leave_out: contents that are zeros in the file, as reader.redact has it, but
 * names stay; NULL: none.  0, ERR_IO, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int hprof_export(const struct heap *h, const struct redaction *leave_out, FILE *to,
    struct hprof_exported *done, struct err *err);
/* Append "3 objects" behind what is there and a semicolon; nothing for 0.  Likewise all that has no place in it. */
void hprof_add_count(struct text *to, uint64_t n, const char *one, const char *several);
void hprof_add_lost(const struct hprof_exported *done, struct text *to);

#endif
