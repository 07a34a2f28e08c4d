/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packed_blocks.h - the blocks of packed_bytes.h: which are there as they are, which are packed, and where.
 *
 * A stream is a file in memory (memfd).  A block that is not there is a hole in it, and its packed form is kept for
 * good: it goes again at no cost.  So blocks are of two kinds.  Those that came and stayed were never packed; the
 * first of them are packed when memory is short.  Those that were brought back go in the order in which they were.
 *
 * For packed_bytes.c alone.
 */
#ifndef CAIRN_ALGORITHMS_PACKED_BLOCKS_H
#define CAIRN_ALGORITHMS_PACKED_BLOCKS_H

#include "algorithms/parallel.h"
#include "algorithms/zstd_block.h"
#include "memory/page_faults.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	PACKED_BLOCK = 64 << 10,
	/* Each of them may divide a mapping in three, and the system allows a process some 65,000. */
	PACKED_BACK_MOST = 16384,
	PACKED_JOBS = 2,    /* that pack while bytes come */
	PACKED_UNPACKERS = 16,
};

struct packed_block {
	void *packed;     /* NULL: it has no packed form, or that is in the spill file */
	uint64_t offset;  /* there */
	uint32_t size;    /* of the packed form; PACKED_BLOCK: as it is; 0: it has none */
	bool in_file;
	bool there;       /* its bytes are in the stream's file */
	bool zeros;       /* it is there as a hole, counts nothing and stays so */
	bool busy;        /* a thread brings it back */
};

struct packed_stream {
	int fd;
	int between[2];   /* a pipe, for what is on its way; -1: not yet */
	uint8_t *room;    /* bytes from room_begin to room_end of its file, to be written to; NULL: none */
	uint64_t room_begin, room_end;
	uint64_t size;    /* bytes that came */
	uint64_t begin;   /* byte in the range of all */
	struct packed_block *block; /* n of them */
	uint64_t n, capacity;
	uint64_t oldest;  /* of its blocks those before it were packed, or cannot be */
	uint64_t filed;   /* and those before it are not packed in memory, or stay there */
};

struct packed_at {
	uint32_t stream, block;
};

/* What a thread packs with; in and out have zstd_block_room. */
struct packed_desk {
	struct zstd_packer *zstd; /* NULL: this build has none */
	uint8_t *in, *out;
};

struct packed_unpacker {
	struct zstd_unpacker *zstd;
	uint8_t *in, *out;
	bool taken;
};

struct packed_bytes {
	struct packed_bytes *next; /* in the list of all */
	pthread_mutex_t lock;      /* nobody who has it loads from the range, or takes memory of the limit */
	pthread_cond_t changed;
	struct packed_stream *stream; /* n of them */
	unsigned n;
	unsigned zero_runs;        /* ranges of zeros, each a mapping of its own */
	uint64_t most;             /* blocks that may be there; UINT64_MAX: as the limit of memory allows */
	uint64_t there, packed;    /* blocks that are there, bytes of packed forms in memory */
	uint64_t in_file;          /* bytes of the spill file */
	uint64_t counted;          /* bytes that the limit of memory counts */
	bool any_packed, ended, stop;
	uint8_t *range;            /* of size bytes, whole blocks; NULL: before the end */
	uint64_t range_size, size;
	struct page_faults *faults;
	struct packed_at *back;    /* PACKED_BACK_MOST of them, a ring: those brought back */
	uint64_t back_first, n_back, back_least;
	struct packed_unpacker unpacker[PACKED_UNPACKERS];
	struct packed_desk desk;   /* of whoever relieves the limit, behind the list's lock */
	struct job job[PACKED_JOBS];
	struct packed_desk job_desk[PACKED_JOBS];
	unsigned n_jobs;
	_Atomic uint64_t lost;     /* first byte of the range that could not be brought back; UINT64_MAX: none */
};

bool packed_desk_open(struct packed_desk *d);
void packed_desk_close(struct packed_desk *d);

/* All of these under the lock, which blocks_pack releases while it packs. */

/* Pack one that was never packed, and let it go.  False: there is none. */
bool packed_blocks_pack(struct packed_bytes *p, struct packed_desk *d);
/* Let the one go that was brought back first.  False: only as many are there as readers need. */
bool packed_blocks_let_go(struct packed_bytes *p);
/* Move the packed form of one from memory to the spill file.  False: none can be. */
bool packed_blocks_to_file(struct packed_bytes *p);
/* Have the limit count what is in use now. */
void packed_blocks_count(struct packed_bytes *p);
/* Throw away all blocks of a stream from this one on. */
void packed_blocks_drop(struct packed_bytes *p, struct packed_stream *s, uint64_t from);

/* For page_faults_watch; without the lock. */
enum page_brought packed_blocks_bring(void *context, uint64_t offset);

#endif
