/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes.h - shallow sizes where the dump leaves them open, and their sums by class; the door of
 * heap/sizes.  Only what builds a heap settles sizes; all other code asks heap_shallow.
 */
#ifndef CAIRN_HEAP_SIZES_SIZES_H
#define CAIRN_HEAP_SIZES_SIZES_H

#include "base/err.h"

#include <stdbool.h>

struct err;
struct heap;

/* Will sizes_settle look at the values of some objects?  Then heap->places must be there before. */
bool sizes_need_values(const struct heap *h);

/* Find the shallow size of every object, and the sums of each class and of the heap.  as_mat: go by
 * the rules of Eclipse MAT instead of those of the VM.  Returns 0 or ERR_NOMEM. */
MUST_CHECK int sizes_settle(struct heap *h, bool as_mat, struct err *err);

/* Count the objects of each class and make the sums again, after objects were given other classes.
 * Returns 0 or ERR_NOMEM. */
MUST_CHECK int sizes_again(struct heap *h, struct err *err);

#endif
