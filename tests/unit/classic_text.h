/* SPDX-License-Identifier: GPL-3.0-or-later */
/* classic_text.h - classic dumps written as strings, read, and what the reader says, a line for each call. */
#ifndef CAIRN_TESTS_CLASSIC_TEXT_H
#define CAIRN_TESTS_CLASSIC_TEXT_H

#include "dump/classic/classic.h"
#include "recorder.h"

/* The last line of a dump; whoever reads counts does not mind these. */
#define END "// EOF:  Total 'Objects',Refs(null) : 1,1(0)\n"

struct classic_reading {
	struct recorder r;
	struct dump_facts facts;
	int rc; /* of the reader: 0 or an err_code */
};

/* These bytes as a file; they are borrowed. */
struct source classic_source(const void *bytes, size_t n);

/* Read the dump in at most so many parts, for the survey and for the fill, which must say the same.  The
 * caller releases out->r. */
void read_classic(struct classic_reading *out, const void *bytes, size_t n, unsigned parts);

/* Read it in one part: these lines, so many warnings. */
void expect_classic(const char *text, const char *events, unsigned warnings);

#endif
