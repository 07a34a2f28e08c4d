/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * string_intern.h - interned strings: a number for each of many words, and each word once.
 *
 * Equal words get the same number, and the same pointer.  One thread at a time.
 */
#ifndef CAIRN_ALGORITHMS_STRING_INTERN_H
#define CAIRN_ALGORITHMS_STRING_INTERN_H

#include "algorithms/map.h"
#include "memory/arena.h"

struct string_intern {
	const char **word; /* by number; big memory */
	uint32_t n;
	size_t cap;
	struct map map;
	struct arena arena; /* has those that were copied */
};

/* The number of a word.  stays: it outlives the book, else a new one is copied.  0 or ERR_NOMEM. */
MUST_CHECK int string_intern_number(
    struct string_intern *b, const char *word, bool stays, uint32_t *number, struct err *err);
/* Will the next new word enlarge the table?  Then it takes time by the number of words. */
static inline bool string_intern_grows(const struct string_intern *b)
{
	return b->n >= b->map.n_slots / 2;
}
void string_intern_release(struct string_intern *b);

#endif
