/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whole.h - the whole way of an input: a heap is built of it, and every command is run on that. */
#ifndef CAIRN_TESTS_WHOLE_H
#define CAIRN_TESTS_WHOLE_H

#include "dump/reader.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Load data as a file with these options, with one thread and with two, which read many small parts; abort when that
 * is not the same, or not consistent in itself.  part_bytes: where the reader keeps the size of its parts, or NULL.
 * Run the lines of lines.h, of these commands alone (NULL: of all), print what they answer, complete words; abort when
 * something is said without a word, or printed that its format does not allow.
 */
void fuzz_whole(const struct reader *reader, const struct dump_options *options, const char *const *only,
    uint64_t *part_bytes, const uint8_t *data, size_t size);

/* The same for the dump at this path, with data as the javacore beside it. */
void fuzz_javacore(const char *dump, const uint8_t *data, size_t size);

/* An error says something, in one line and without a full stop. */
void check_message(int code, const struct err *err);

#endif
