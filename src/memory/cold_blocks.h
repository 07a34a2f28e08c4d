/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cold_blocks.h - blocks that are not written any more, and move into the file of spill.h when memory is short.
 *
 * Their addresses stay the same: pages of the file replace theirs.  Without it `top` in a small control group may take
 * 1.3 to 1.5 times the processor time (doc/performance.md).  Only big.c uses it.  Any thread.
 */
#ifndef CAIRN_MEMORY_COLD_BLOCKS_H
#define CAIRN_MEMORY_COLD_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct cold_blocks {
	struct cold_blocks *next;
	char *at;
	uint64_t bytes;  /* whole pages */
	uint64_t offset; /* once it moved: in the file */
	bool is;
};

/* The block of this struct, which must stay, is written no more. */
void cold_blocks_enter(struct cold_blocks *s, void *at, uint64_t bytes);
/* It may be written again, or be given back; it may have moved. */
void cold_blocks_leave(struct cold_blocks *s);
/* Move the block that settled first, so that `wanted` bytes may be taken and `kept` stay free; moved is called while
 * nobody can give it back.  False: there is none, no room for it, or it would not be enough. */
bool cold_blocks_move_out(uint64_t wanted, uint64_t kept, void (*moved)(struct cold_blocks *s));

#endif
