/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forged.h - index files that somebody changed who knows how their checksums are made. */
#ifndef CAIRN_TESTS_FUZZ_FORGED_H
#define CAIRN_TESTS_FUZZ_FORGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Write the chunks of this file anew, with checksums that are right.  False: it has no table of contents.  pack:
 * make a packed file of a plain one, the bytes of each chunk squeezed as they are; false of a packed file.
 */
bool forged_write(const uint8_t *bytes, size_t n, bool pack, FILE *to);
/* The other way: of a packed file (of this path, with these bytes) a plain one with what its chunks are unsqueezed,
 * from which forged_write makes a packed one.  Chunks must have no more than one block. */
bool forged_unsqueeze(const char *path, const uint8_t *bytes, size_t n, FILE *to);
/* Open the index of this path, and where that works look at all that it tells, bounds and ends: aborts where
 * something is not as any heap has it.  True: it opened. */
bool forged_opens(const char *path);

#endif
