/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * texts.h - the texts of a dump that a file must not contain, and those that it may: private to this folder.
 *
 * Texts are what Strings hold, what stands in arrays of characters, arrays of bytes that read as text, and symbols of
 * the dump that name nothing.  Names, and words of this program, excuse a text that stands in one of them.
 */
#ifndef CAIRN_COMMAND_BUNDLE_TEXTS_H
#define CAIRN_COMMAND_BUNDLE_TEXTS_H

#include "base/err.h"
#include "command/bundle/sieve.h"

struct err;
struct heap;

enum text_kind { TEXT_OF_OBJECT, TEXT_OF_ARRAY, TEXT_OF_SYMBOL, TEXT_KINDS };

/* How many texts of TEXT_LEAST characters or more; those of one character over and over, for which nobody looks, apart.
 * The text of a String counts with the array that has its characters. */
struct texts_found {
	uint64_t of[TEXT_KINDS], same;
};

/* Call with each text's needles; where: the object's id, HEAP_NONE of a symbol.  Any thread.  0, or a code at which to
 * stop. */
typedef int text_use(void *context, const struct needles *needles, const struct needle_of *of, struct err *err);

/* About how many texts there are, and no more. */
uint64_t texts_most(const struct heap *h);
/* Go through all of them, on all threads.  0, what use returned, ERR_NOMEM, ERR_CANCELLED, or ERR_UNSUPPORTED where the
 * dump has texts that are not here. */
MUST_CHECK int texts_each(const struct heap *h, text_use *use, void *context, struct texts_found *found,
    struct err *err);

/* Call with what excuses, in stretches: the names of classes, fields, methods, threads and the like, in the spellings
 * of the dump and of cairn, none of which goes on in the next stretch; and whatever this program and SQLite hold
 * as constants.  0, what use returned, ERR_NOMEM, ERR_CANCELLED. */
typedef int bytes_use(void *context, const uint8_t *bytes, uint64_t n, struct err *err);
MUST_CHECK int names_each(const struct heap *h, bytes_use *use, void *context, struct err *err);
MUST_CHECK int words_each(bytes_use *use, void *context, struct err *err);

#endif
