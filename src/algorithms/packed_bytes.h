/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packed_bytes.h - bytes that come faster than they can be looked at, kept in memory, and packed where that is short.
 *
 * What comes is read straight to where it stays: one range of addresses per stream, in which pages appear as bytes
 * come.  When they take more memory than they may, blocks that came first are packed by zstd on other threads, and
 * their pages given back.  A load from a packed block unpacks it there (a fault, handled on the thread that loads), and
 * another block that was not read for long goes.  So a dump of 4 GB needs 4 GB where these are free, and some 1.3 GB
 * where they are not.  With a spill file (memory/spill.h) blocks may move there instead.
 *
 * One thread adds to a stream; any thread reads after packed_bytes_end.  A system call must not be given addresses of
 * these bytes: the kernel does not run the handler (EFAULT); copy them first (packed_bytes_copy).
 */
#ifndef CAIRN_ALGORITHMS_PACKED_BYTES_H
#define CAIRN_ALGORITHMS_PACKED_BYTES_H

#include "base/err.h"
#include "base/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct packed_bytes;

enum { PACKED_STREAMS = 16 };

/* For n streams.  memory: bytes that may be taken in unpacked pages; 0: what the limit of memory leaves.  ERR_NOMEM. */
MUST_CHECK int packed_bytes_new(struct packed_bytes **out, unsigned n, uint64_t memory, struct err *err);
void packed_bytes_free(struct packed_bytes *p); /* NULL is fine */

/* Read what a descriptor has now, at most some MB, to the end of a stream.  Bytes read; 0: its end; -1 with errno
 * (EAGAIN: nothing now; ENOMEM: there is room for no more, neither in memory nor in a file). */
ssize_t packed_bytes_read(struct packed_bytes *p, unsigned stream, int fd);
uint64_t packed_bytes_size(const struct packed_bytes *p, unsigned stream);
/* Drop the last bytes of a stream. */
void packed_bytes_drop(struct packed_bytes *p, unsigned stream, uint64_t n);

/* All came: from now on it is read.  The streams, in order, become one range: each begins at a page, with zeros before
 * it. */
const uint8_t *packed_bytes_end(struct packed_bytes *p, uint64_t *size);
/* Where the bytes of a stream begin in it. */
uint64_t packed_bytes_begin(const struct packed_bytes *p, unsigned stream);

/* Bytes of memory in use: pages that are there, and packed blocks; and bytes in a file. */
uint64_t packed_bytes_memory(const struct packed_bytes *p, uint64_t *in_file);
/* Write all of a stream to a descriptor.  0, ERR_IO. */
MUST_CHECK int packed_bytes_write(struct packed_bytes *p, unsigned stream, int fd, struct progress *progress,
    struct err *err);

#endif
