/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mappings.h - large blocks as big.c knows them, for big.c and what moves them into the file (settled.c) alone.
 */
#ifndef CAIRN_BASE_MAPPINGS_H
#define CAIRN_BASE_MAPPINGS_H

#include "base/big.h"

#include <stdbool.h>

struct mapping {
	struct mapping *next;
	void *at;
	uint64_t bytes; /* that were asked for; what is mapped are whole pages */
	enum big_owner owner;
	enum big_use use;
	uint64_t offset; /* of a spilled one: in the file */
	struct mapping *settled_next; /* if settled: behind the lock of these */
	bool settled;
};

/* Only the block's owner asks, so what is found stays true; NULL: a small block. */
struct mapping *mapping_find(const void *at);
/* Tell the kernel how it is used. */
void mapping_advise(const struct mapping *m);
uint64_t whole_pages(uint64_t bytes);

/* Move the block that settled first into the file, so that bytes more may be taken and `kept` stay free.  False: there
 * is none, no room for it, or it would not help.  Any thread. */
bool settled_move_out(uint64_t bytes, uint64_t kept);
/* It is no settled block any more, if it was one. */
void settled_leave(struct mapping *m);

#endif
