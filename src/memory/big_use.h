/* SPDX-License-Identifier: GPL-3.0-or-later */
/* big_use.h - where a block of big memory (big.h) lives, and how it is used. */
#ifndef CAIRN_MEMORY_BIG_USE_H
#define CAIRN_MEMORY_BIG_USE_H

#include <stdint.h>

#define BIG_HUGE_PAGE ((uint64_t)2 << 20) /* blocks of as many bytes begin at a multiple of it */

/* Where the bytes of a block live. */
enum big_owner {
	BIG_ANONYMOUS, /* in memory alone; counts towards the limit */
	BIG_SPILLED,   /* in a file without a name that ends with the block; the kernel may write them
	                  out and forget them, so they do not count towards the limit */
	BIG_MAPPED,    /* pages of a mapped file, read only; they do not count either */
};

/* How a block is used: how the kernel is asked to treat it, and which to spill first. */
enum big_use {
	BIG_RANDOM,  /* looked up all over: huge pages are asked for */
	BIG_NEAR,    /* looked up all over; the walk announces its places (readahead.h) */
	BIG_FORWARD, /* written once and read from its beginning to its end */
	BIG_BRIEF,   /* freed after one answer: not worth a file */
};

#endif
