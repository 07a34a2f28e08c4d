/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phd_dump.h - what the files of the PHD reader share: phd.c reads the header and makes the facts,
 * phd_read.c and phd_large.c read the records (phd_walk.h).
 */
#ifndef CAIRN_DUMP_PHD_PHD_DUMP_H
#define CAIRN_DUMP_PHD_PHD_DUMP_H

#include "base/err.h"
#include "dump/phd/phd.h"
#include "dump/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct part;
struct sink;

struct phd {
	struct dump dump; /* first: what the others see */
	unsigned version; /* 4, 5, 6 */
	uint32_t flags;   /* of the header, as stored */
	unsigned word_code; /* size code of a word: 2 (4 bytes) or 3 (8 bytes) */
	unsigned shift;   /* gaps and reference offsets count 1 << shift bytes */
	uint64_t mask;    /* of an address */
	bool j9;          /* written by a J9 VM, not by its predecessor */
	bool all_hashed;  /* 16 bits of hash in every record */
	bool has_size;    /* arrays carry their size */
	bool narrow_code3; /* size code 3 of a short primitive array means 4 bytes ("0917" defect) */
	bool body_marked; /* the byte between header and body was there */
	bool lengths_wrong; /* short primitive arrays have the width of their length in its place (jdmpview) */
	bool class_first; /* instances have their class as first reference (phd_look) */
	bool array_class_first; /* the same of object arrays and the class that their records name */
	uint64_t body;    /* offset of the first record */
	bool has_totals;
	uint32_t total_objects, total_references;
};

/* Flags of the header (OpenJ9 documentation, Portable Heap Dump file format). */
enum phd_flag { PHD_64_BIT = 1, PHD_ALL_HASHED = 2, PHD_J9 = 4 };

/*
 * Find out from the first records how the dump was written, and fill class_first, array_class_first and
 * lengths_wrong.  Some J9 releases wrote an object's class as first reference of every object, others of none, where a
 * true reference may lead to the object's class.  What is damaged ends the look.
 */
void phd_look(struct phd *phd);

/* Bytes of a part: PART_BYTES, but tests want many parts of small dumps. */
extern uint64_t phd_part_bytes;

MUST_CHECK int phd_read(const struct dump *dump, const struct part *part, struct sink *sink,
    struct err *err);

#endif
