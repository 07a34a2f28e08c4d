/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forged.h - index files that somebody changed who knows how their checksums are made. */
#ifndef CAIRN_TESTS_FUZZ_FORGED_H
#define CAIRN_TESTS_FUZZ_FORGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Write the chunks of this file anew, with checksums that are right.  False: it has no table of contents. */
bool forged_write(const uint8_t *bytes, size_t n, FILE *to);
/* Open the index of this path, and where that works look at all that it tells, bounds and ends: aborts where
 * something is not as any heap has it.  True: it opened. */
bool forged_opens(const char *path);

#endif
