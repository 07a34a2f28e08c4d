/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mappings.h - the table of large blocks of memory, each with pages of its own; for big.c and big_bytes.c alone.  Any
 * thread.
 */
#ifndef CAIRN_MEMORY_MAPPINGS_H
#define CAIRN_MEMORY_MAPPINGS_H

#include "memory/big_use.h"
#include "memory/cold_blocks.h"

#include <stdbool.h>
#include <stdint.h>

struct sigbus_guard;

struct mapping {
	struct mapping *next;
	void *at;
	uint64_t bytes; /* that were asked for; what is mapped are whole pages */
	enum big_owner owner;
	enum big_use use;
	uint64_t offset; /* of a spilled one: in the file */
	struct cold_blocks settled;
	struct sigbus_guard *watch; /* of a file's; or NULL */
};

/* Bytes of a page; and of as many whole ones as that takes, at least one. */
uint64_t mapping_page(void);
uint64_t whole_pages(uint64_t bytes);

/* Only the block's owner asks, so what is found stays true; NULL: a small block. */
struct mapping *mapping_find(const void *at);
void mapping_enter(struct mapping *m);
void mapping_leave(struct mapping *m);

/* The leak checker of a sanitized build looks for pointers in what malloc gave, and in areas that are registered. */
void mapping_told(const struct mapping *m, bool is_there);
/* Tell the kernel how it is used. */
void mapping_advise(const struct mapping *m);

#endif
