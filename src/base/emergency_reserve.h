/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * emergency_reserve.h - a reserve of memory, for the moment when the system has none left.
 *
 * Small allocations that cannot fail (mem.h) come from it then, so that a command can end with a
 * sentence; afterwards the reserve is filled again.
 */
#ifndef CAIRN_BASE_EMERGENCY_RESERVE_H
#define CAIRN_BASE_EMERGENCY_RESERVE_H

#include <stddef.h>

/* Fill the reserve as far as the system gives memory.  Cheap if it is full.  Any thread. */
void emergency_reserve_fill(void);

/* At least so many zeroed bytes, to be given back with free; NULL when none that large is left. */
void *emergency_reserve_take(size_t bytes) __attribute__((malloc, warn_unused_result));

#endif
