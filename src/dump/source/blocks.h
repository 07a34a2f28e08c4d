/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.h - gzip files that can be inflated by many threads.
 *
 * "jcmd GC.heap_dump -gz=N" writes a gzip member for every block of at most HPROF BLOCKSIZE bytes,
 * as the comment of the first member says.  Members are independent, but where one ends is known only once
 * it was inflated.  So their places are guessed from their heads and stated sizes, all are inflated at
 * once, and the result counts only if each ends exactly where the next was guessed.  Any thread.
 */
#ifndef CAIRN_DUMP_BLOCKS_H
#define CAIRN_DUMP_BLOCKS_H

#include "base/err.h"
#include "base/progress.h"

#include <stdint.h>

/*
 * Inflate in[0, n).  1: *out is big memory of *size bytes, the caller's.  0: no such file, or a
 * damaged one; inflate it from front to back.  ERR_NOMEM, ERR_CANCELLED.
 */
MUST_CHECK int blocks_inflate(const uint8_t *in, uint64_t n, uint8_t **out, uint64_t *size,
    struct progress *progress, struct err *err);

#endif
