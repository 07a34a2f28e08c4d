/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_reader.h - what the fuzz targets of the readers share: a sink that trusts nobody.
 */
#ifndef CAIRN_TESTS_FUZZ_READER_H
#define CAIRN_TESTS_FUZZ_READER_H

#include "dump/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reader alone is much faster than the whole program: no graph is built and no command runs.  FUZZ_READER is in
 * the environment. */
bool fuzz_reader_alone(void);

/* The entry that libFuzzer, or the replay driver, calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Read data with one reader, as a survey and as a fill over the survey's cuts, and abort when the
 * reader breaks a promise of reader.h: order of calls, references announced and delivered, records
 * inside the part, the same words in both passes.  Then go the whole way (whole.h, which
 * explains part_bytes), unless the reader is fuzzed alone.
 */
void fuzz_reader(const struct reader *reader, uint64_t *part_bytes, const uint8_t *data, size_t size);
/* The same with these options, and with these commands alone (a list that ends with NULL; NULL: all). */
void fuzz_reader_with(const struct reader *reader, const struct dump_options *options, const char *const *only,
    uint64_t *part_bytes, const uint8_t *data, size_t size);

#endif
