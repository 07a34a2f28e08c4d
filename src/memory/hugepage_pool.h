/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hugepage_pool.h - a pool of huge pages: those of freed blocks, kept for the next ones.
 *
 * A fresh page costs a fault and a clearing by the kernel; on a virtual machine whose host takes back what is
 * free, many times what filling it costs.  Kept pages are unused and not counted; with the counted ones they must
 * never pass the peak so far: code that counts more has fewer kept (hugepage_pool_keep_at_most).
 * Any thread.
 */
#ifndef CAIRN_MEMORY_HUGEPAGE_POOL_H
#define CAIRN_MEMORY_HUGEPAGE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#define HUGEPAGE_POOL_PAGE ((uint64_t)2 << 20) /* only such pieces are kept, and only at multiples of it */

/* An anonymous mapping of whole pages that nobody uses any more: kept in part, or unmapped. */
void hugepage_pool_give(void *at, uint64_t bytes);

/*
 * Let pages that are kept take the place of the first ones of a mapping that begins at a multiple of HUGEPAGE_POOL_PAGE
 * and was not touched.  Returns their bytes, which are to be cleared.  *whole: false, if the system took pages
 * away from the mapping and gave none, so that it must not be used.
 */
uint64_t hugepage_pool_take(void *at, uint64_t bytes, bool *whole);

/* Unmap what is kept beyond so many bytes. */
void hugepage_pool_keep_at_most(uint64_t bytes);
uint64_t hugepage_pool_bytes(void);

#endif
