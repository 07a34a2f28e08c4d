/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stock.h - memory laid by, for the moment when the system has none left.
 *
 * The small things that callers cannot do without (mem.h) come from it then, so that a command can
 * end with a sentence; what it said before is released, and the stock is filled again.
 */
#ifndef CAIRN_BASE_STOCK_H
#define CAIRN_BASE_STOCK_H

#include <stddef.h>

/* Lay by what is missing, as far as the system gives it.  Cheap when nothing is.  Any thread. */
void stock_fill(void);

/* At least so many zeroed bytes, to be given back with free; NULL when none that large is left. */
void *stock_take(size_t bytes) __attribute__((malloc, warn_unused_result));

#endif
