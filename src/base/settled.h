/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * settled.h - blocks that are not written any more, and move into the file of spill.h when memory is short.
 *
 * Their addresses stay the same: pages of the file replace theirs.  Only big.c uses it.  Any thread.
 */
#ifndef CAIRN_BASE_SETTLED_H
#define CAIRN_BASE_SETTLED_H

#include <stdbool.h>
#include <stdint.h>

struct settled {
	struct settled *next;
	char *at;
	uint64_t bytes;  /* whole pages */
	uint64_t offset; /* once it moved: in the file */
	bool is;
};

/* The block of this struct, which must stay, is written no more. */
void settled_enter(struct settled *s, void *at, uint64_t bytes);
/* It may be written again, or be given back; it may have moved. */
void settled_leave(struct settled *s);
/* Move the block that settled first, so that `wanted` bytes may be taken and `kept` stay free; moved is called while
 * nobody can give it back.  False: there is none, no room for it, or it would not be enough. */
bool settled_move_out(uint64_t wanted, uint64_t kept, void (*moved)(struct settled *s));

#endif
