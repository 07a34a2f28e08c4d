/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spill.h - the unnamed file for large blocks that do not fit into memory.
 *
 * big.c, cold_blocks.c and packed_blocks.c use it; what comes through a pipe has one of its own (spill_open).
 * The file is made when the first block needs it, has no name from then on (so it is gone with the process, whatever
 * ends it), and is closed with the last block.  Room on the disk is taken before it is handed out, for a write to a
 * mapped page that finds none would end the program.  Any thread.
 */
#ifndef CAIRN_MEMORY_SPILL_H
#define CAIRN_MEMORY_SPILL_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* The folder of the file: NULL stands for $TMPDIR, else /var/tmp.  The text must stay.  Before there
 * are other threads. */
void spill_set_folder(const char *folder);

const char *spill_folder(void);

/* No file is to be made at all (--spill none).  Before there are other threads. */
void spill_forbid(bool forbidden);
/* A file of its own in the folder, without a name, that grows as it is written: the caller's (close); -1 with errno.
 * *memory: no file may be made, or the default folder cannot have one, and it is memory, which the caller counts
 * (base/memory_limit.h). */
MUST_CHECK int spill_open(bool *memory);
/* May so many bytes more be written to a file there without taking what is left to others? */
bool spill_leaves_room(int fd, uint64_t bytes);

/* May blocks that do not fit into memory go into the file?  From the start they may not. */
void spill_allow(bool may);
bool spill_allowed(void);

/* Bytes of the disk that may be taken in the folder now; false: that cannot be found out. */
bool spill_free(uint64_t *bytes);

/* Take zeroed room for bytes, a multiple of the page size.  0, *fd and *offset; ERR_IO with a sentence that names the
 * folder when there is no room or no file. */
MUST_CHECK int spill_take(uint64_t bytes, int *fd, uint64_t *offset, struct err *err);
void spill_give_back(uint64_t offset, uint64_t bytes);

/* Copy bytes to or from a place in the file.  False: not all could be. */
MUST_CHECK bool spill_write(uint64_t offset, const void *from, uint64_t bytes);
MUST_CHECK bool spill_read(void *to, uint64_t offset, uint64_t bytes);

/* Bytes taken now. */
uint64_t spill_bytes(void);

#endif
