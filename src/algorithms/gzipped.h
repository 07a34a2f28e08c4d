/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gzipped.h - bytes into a gzip file on all threads.
 *
 * What is written are independent blocks, as "jcmd GC.heap_dump -gz" writes them (RFC 1952, a
 * member for each block, with the block's size as a comment of the first): tools inflate several at once, or only
 * those that they need.
 */
#ifndef CAIRN_ALGORITHMS_GZIPPED_H
#define CAIRN_ALGORITHMS_GZIPPED_H

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>

/*
 * A stream: what is written to it is compressed and written to another one, which must stay open.  Compressing takes
 * place in writes to the stream, on all threads.  0: *stream is to be ended.  ERR_NOMEM.
 */
struct gzip_out;
MUST_CHECK int gzip_begin(struct gzip_out **out, FILE **stream, FILE *to, struct err *err);
/* Write what waits, close the stream, and free *out.  code: what became of the writing; 0 or that, ERR_IO in the
 * system's words, ERR_NOMEM, ERR_CANCELLED.  *written: bytes of the file. */
MUST_CHECK int gzip_end(struct gzip_out *out, FILE *stream, int code, uint64_t *written, struct err *err);

#endif
