/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packed_bytes.h - bytes that come faster than they can be read, kept in memory, and packed where that is short.
 *
 * What comes is moved straight to where it stays.  When memory is short (memory_limit.h), the blocks that came first
 * are packed by zstd on other threads, and their pages given back.  A load from a packed block unpacks it there (a
 * fault, handled on the thread that loads), and one that was unpacked before goes.  So a dump of 4 GB takes 4 GB
 * where these are free, and some 1.3 GB where they are not: other memory that asks the limit comes first.  Packed
 * blocks that take more than half of the limit, or are in the way of other memory, go to the spill file
 * (memory/spill.h), if there may be one; without zstd, blocks go there as they are.
 *
 * One thread adds to a stream; any thread reads after packed_bytes_end.  A system call must not be given addresses
 * of these bytes: the kernel does not run the handler (EFAULT); copy them first (memcpy).  A forked process must not
 * read them.
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

enum { PACKED_STREAMS = 16, PACKED_ZEROS = 64 << 10 };

/* For n streams.  memory: bytes that unpacked blocks may take; 0: what the limit of memory leaves.  ERR_NOMEM. */
MUST_CHECK int packed_bytes_new(struct packed_bytes **out, unsigned n, uint64_t memory, struct err *err);
void packed_bytes_free(struct packed_bytes *p); /* NULL is fine */

/* Read what a descriptor has now, at most some MB, to the end of a stream; from a pipe it does not wait.  Bytes
 * read; 0: its end; -1 with errno (EAGAIN: nothing now; ENOMEM: no room for more in memory or in a file). */
ssize_t packed_bytes_read(struct packed_bytes *p, unsigned stream, int fd);
uint64_t packed_bytes_size(const struct packed_bytes *p, unsigned stream);
unsigned packed_bytes_streams(const struct packed_bytes *p); /* that it is for */
/* When all of a stream came: drop its last bytes, a few; add some.  False: there is no room for them. */
void packed_bytes_drop(struct packed_bytes *p, unsigned stream, uint64_t n);
MUST_CHECK bool packed_bytes_add(struct packed_bytes *p, unsigned stream, const void *bytes, uint64_t n);

/*
 * Bytes that the caller puts there himself, fast.  packed_bytes_expect: so many will come in all; returns how many of
 * them may be prepared now, so that memory does not get short, 0 where that cannot be.  packed_bytes_prepare takes
 * the pages of some, on any threads, so that no time is lost when they come.  packed_bytes_room: where the next n go,
 * which read as zeros until they are written; NULL: there is no room.  They belong to the stream after
 * packed_bytes_came.
 */
uint64_t packed_bytes_expect(struct packed_bytes *p, unsigned stream, uint64_t size);
void packed_bytes_prepare(struct packed_bytes *p, unsigned stream, uint64_t begin, uint64_t end);
void *packed_bytes_room(struct packed_bytes *p, unsigned stream, uint64_t n);
void packed_bytes_came(struct packed_bytes *p, unsigned stream, uint64_t n);
/* n zeros, which take no memory: n and what came before are multiples of PACKED_ZEROS.  False: there is no room. */
MUST_CHECK bool packed_bytes_zeros(struct packed_bytes *p, unsigned stream, uint64_t n);

/* All came: from now on it is read.  The streams, in order, become one range of *size bytes, each from a page on.
 * What is between two of them is of no use.  NULL: the system has no addresses or memory for it.  Once or more often.
 */
const uint8_t *packed_bytes_end(struct packed_bytes *p, uint64_t *size);
/* Where the bytes of a stream begin in it. */
uint64_t packed_bytes_begin(const struct packed_bytes *p, unsigned stream);
/* Blocks that could not be brought back (the spill file fails) read as zeros: *offset gets the first such byte. */
bool packed_bytes_lost(const struct packed_bytes *p, uint64_t *offset);

/* Bytes of memory in use: blocks that are there, and packed ones; and bytes in the spill file. */
uint64_t packed_bytes_memory(struct packed_bytes *p, uint64_t *in_file);
/* Write all of a stream to a descriptor, zeros as holes where it is an empty file; ends them (packed_bytes_end).  0,
 * ERR_IO, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int packed_bytes_write(struct packed_bytes *p, unsigned stream, int fd, struct progress *progress,
    struct err *err);

#endif
