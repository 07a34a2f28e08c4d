/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sieve.h - are any of very many texts in a file?
 *
 * Texts are gone through twice, and so is the file; nothing is kept of a text of which the file has no eight bytes:
 *     sieve_new
 *     sieve_learn    of each needle: a few bits are set
 *     sieve_catch    of each stretch of the file: those eight bytes that a needle may have are remembered
 *     sieve_keep     of each needle anew: those whose eight bytes were caught are kept
 *     sieve_match    of each stretch anew, and of each stretch that excuses: which needles stand there is marked
 *     sieve_next     what was found
 * The next file begins with sieve_catch.  Each step may be run on several threads at once (of sieve_catch and
 * sieve_match one call, which uses all threads), and must be over before the next one.
 */
#ifndef CAIRN_COMMAND_BUNDLE_SIEVE_H
#define CAIRN_COMMAND_BUNDLE_SIEVE_H

#include "base/err.h"
#include "command/bundle/needles.h"

struct err;
struct sieve;
/* For about n texts.  0: the caller's (sieve_free).  Less memory than it would like makes it slower; ERR_NOMEM where
 * there is next to none. */
MUST_CHECK int sieve_new(struct sieve **out, uint64_t n, struct err *err);
void sieve_free(struct sieve *s); /* NULL is fine */

/* What a kept needle is recorded with, as sieve_next returns it. */
struct needle_of {
	uint32_t where; /* the caller's: an object's id */
	uint8_t kind;   /* the caller's */
	bool numeric, binary;
};

void sieve_learn(struct sieve *s, const struct needles *needles);
/* Forget what was caught and kept. */
void sieve_begin(struct sieve *s);
MUST_CHECK int sieve_catch(struct sieve *s, const uint8_t *bytes, uint64_t n, struct err *err);
/* Any thread. */
MUST_CHECK int sieve_keep(struct sieve *s, const struct needles *needles, const struct needle_of *of, struct err *err);
/* MARK_AMONG_NUMBERS: found, where there is nothing but numbers as bytes. */
enum sieve_mark { MARK_FOUND = 1, MARK_EXCUSED = 2, MARK_AMONG_NUMBERS = 4 };
MUST_CHECK int sieve_match(struct sieve *s, const uint8_t *bytes, uint64_t n, enum sieve_mark mark, struct err *err);
/* A needle that has a mark, from number *i on, which moves behind it; false: there are no more.  *needle is the
 * sieve's. */
bool sieve_next(const struct sieve *s, uint64_t *i, const struct needle **needle, struct needle_of *of,
    unsigned *marks);

#endif
