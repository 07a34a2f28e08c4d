/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zstd_blocks.h - bytes in a file as compressed blocks (zstd_block.h): the form of a chunk of a packed file (chunks.h).
 *
 * The blocks are one after the other, then an entry for each, then a tail.  A block has a checksum of its own,
 * which is checked before its bytes are unpacked; entries and tail have one together.  Blocks are independent, so
 * that all threads can work on them.
 */
#ifndef CAIRN_ALGORITHMS_ZSTD_BLOCKS_H
#define CAIRN_ALGORITHMS_ZSTD_BLOCKS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct block_entry {
	uint32_t squeezed, bytes; /* how many bytes a block takes, and becomes */
	uint64_t sum;
};
struct zstd_blocks_tail {
	uint32_t n_blocks;
	uint8_t width; /* of its numbers, whose bytes stand apart: all lowest ones first; 1: these are not numbers */
	uint8_t steps; /* 1: they are differences, each to the one before it in the block */
	uint16_t zero;
};

/* Where squeezed bytes stand in a file: how many they are, and the checksum of entries and tail. */
struct zstd_blocks_place {
	uint64_t offset, bytes, sum;
};

struct zstd_blocks {
	struct block_entry *block;
	uint64_t *at;   /* where each block stands in the file */
	uint64_t bytes; /* of all, unsqueezed */
	struct zstd_blocks_tail tail;
	int fd;
};

/* Write n bytes, numbers of `width` (1, 2, 4 or 8); ascending: each is not far from the one before it.  *place gets
 * bytes and sum.  0, ERR_IO in the system's words, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int zstd_blocks_write(FILE *to, struct zstd_blocks_place *place, const void *numbers, uint64_t n,
    unsigned width, bool ascending, struct err *err);

/* Read the entries of what stands there.  0: the caller's (zstd_blocks_release), as long as the file is open. */
MUST_CHECK int zstd_blocks_open(struct zstd_blocks *s, int fd, const struct zstd_blocks_place *place, struct err *err);
void zstd_blocks_release(struct zstd_blocks *s);
/* Read all, s->bytes, into `to`, on all threads.  0, ERR_FORMAT, ERR_IO, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int zstd_blocks_read(const struct zstd_blocks *s, void *to, struct err *err);

/* The checksum of a stretch of bytes. */
uint64_t stretch_sum(const uint8_t *p, uint64_t n, uint64_t number);
/* Read exactly n bytes from there.  0 or ERR_IO. */
MUST_CHECK int stretch_read(int fd, void *to, uint64_t n, uint64_t offset, struct err *err);

#endif
