/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phd_bytes.h - PHD dumps written as hexadecimal digits with <names> (two bytes of length, then the text),
 * read, and what the reader says, a line for each record.
 */
#ifndef CAIRN_TESTS_PHD_BYTES_H
#define CAIRN_TESTS_PHD_BYTES_H

#include "dump/phd/phd_dump.h"
#include "recorder.h"

#define PATH "x/heapdump.20160404.083909.9480.0002.phd"
#define MAGIC "<portable heap dump>"

/* Version and flags, then the shortest header. */
#define V6_64 "00000006 00000005 01 02 02 "
#define V6_32 "00000006 00000004 01 02 02 "
#define V6_64_HASHED "00000006 00000007 01 02 02 "
#define V5_32_HASHED "00000005 00000006 01 02 02 "
#define V4_J9_32 "00000004 00000004 01 02 02 "
#define V4_OLD_32 "00000004 00000000 01 02 02 "
#define END " 03"

/* What one reading of a dump said. */
struct phd_reading {
	int opened, result; /* 0 or an err_code: of opening, of reading */
	struct err err;
	struct dump_facts facts;
	struct recorder r;
};

extern const struct recorder_lines phd_lines;

/* Open the n bytes and read them as one part; references: as the fill does, else as the survey. */
void read_phd(struct phd_reading *out, const char *bytes, size_t n, bool references);
void release_phd(struct phd_reading *r);

#endif
