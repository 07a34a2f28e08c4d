/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * numbers.h - finds the objects, and their fields and elements, that hold a number.
 */
#ifndef CAIRN_ANALYSIS_NUMBERS_H
#define CAIRN_ANALYSIS_NUMBERS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct heap;
struct progress;
struct sought_number;

struct number_list {
	struct number_hit {
		uint32_t id;
		uint64_t place; /* for inspect_number_place */
		uint64_t bits;  /* of the number */
	} *hits; /* by id, then place; big memory */
	size_t n, cap;
};

/* Look at every object, on all threads.  0: *out is the caller's (number_list_release).  ERR_UNSUPPORTED: the
 * dump holds no values.  ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int numbers_find(struct number_list *out, const struct heap *h, const struct sought_number *sought,
    struct progress *progress, struct err *err);
void number_list_release(struct number_list *l);

#endif
