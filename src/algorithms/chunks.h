/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chunks.h - a file of named chunks of bytes, which are mapped and not read.
 *
 * Large ones begin at multiples of 64 KB, so that they can be mapped on any machine; small ones are read.
 * Each has a checksum, which only chunks_check computes: so a file of any size opens at once, and unused
 * chunks cost nothing.  Numbers are little-endian; a big-endian machine neither writes nor opens such a file.
 *
 * A packed file has the same chunks, squeezed in blocks that are read when they are taken (algorithms/zstd_blocks.h).
 *
 * It is written from its beginning to its end, where the table of contents is: a truncated file has none.
 * The writer names the file only then, and never writes into a file that has a name: what others have mapped
 * does not change.  A checksum finds accidents, not forgery: the code that takes a chunk checks all that it
 * relies on.
 */
#ifndef CAIRN_ALGORITHMS_CHUNKS_H
#define CAIRN_ALGORITHMS_CHUNKS_H

#include "algorithms/zstd_blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CHUNKS_MAGIC "\x93" "cairn\r\n" /* the first 8 bytes: nothing else begins so */
#define CHUNK_NAME 16   /* bytes of a name at most, its NUL included */
#define CHUNKS_MOST 64  /* in a file */

struct chunks;

/* Open a file.  ERR_IO; ERR_FORMAT or ERR_TRUNCATED where it is none or its table of contents is damaged;
 * ERR_UNSUPPORTED on a big-endian machine.  Messages do not name the file. */
MUST_CHECK int chunks_open(struct chunks **out, const char *path, struct err *err);
void chunks_close(struct chunks *c); /* NULL is fine; what was taken stays */

/* Is it a packed file? */
bool chunks_packed(const struct chunks *c);
/* The name of chunk number i; NULL behind the last. */
const char *chunks_name(const struct chunks *c, uint32_t i);
/* Bytes of a chunk, UINT64_MAX: there is none of this name. */
uint64_t chunks_bytes(const struct chunks *c, const char *name);
/* Was the file truncated or written to since it was opened, and is some of it mapped?  Then what was taken is no
 * longer what was checked, and no answer made of it is valid. */
bool chunks_changed(const struct chunks *c);
/* Can another user write to the file while it is mapped?  The user root does not count, nor does a group. */
bool chunks_exposed(const struct chunks *c);
/* Take a chunk: the caller's to free (big_free), and read only.  Its bytes are not checked yet, and its length is what
 * the file says: who knows better looks at chunks_bytes first.  ERR_FORMAT where there is none, or where what was
 * packed is damaged; ERR_NOMEM, ERR_IO, ERR_CANCELLED. */
MUST_CHECK int chunks_take(const struct chunks *c, const char *name, const void **bytes, uint64_t *n,
    struct err *err);

/*
 * Look at taken chunks, all threads together, each byte once: is the checksum right, and does `holds` say yes
 * of each stretch?  It gets stretches of CHUNK_STRETCH bytes (the last one: what is left), on any
 * thread and in any order, and may look at all of its chunk.  0, ERR_FORMAT, ERR_CANCELLED.
 */
#define CHUNK_STRETCH (1u << 18)
struct chunk_look {
	const char *name;
	const void *bytes; /* as taken */
	bool (*holds)(void *context, uint64_t from, uint64_t n); /* NULL: the checksum is enough */
	void *context;
};
MUST_CHECK int chunks_check(const struct chunks *c, const struct chunk_look *looks, size_t n, struct err *err);

/* Write a file: begin, add, end.  The stream is the caller's and empty; names are strings that stay, and each is
 * added once.  0, ERR_IO in the system's words, ERR_CANCELLED, or ERR_UNSUPPORTED on a big-endian machine. */
struct chunk_entry {
	char name[CHUNK_NAME];
	uint64_t offset, bytes, sum;
};
struct chunks_writer {
	FILE *to;
	uint64_t at; /* bytes written */
	struct chunk_entry entry[CHUNKS_MOST];
	uint32_t n;
	bool packed;
};
MUST_CHECK int chunks_begin(struct chunks_writer *w, FILE *to, bool packed, struct err *err);
MUST_CHECK int chunks_add(struct chunks_writer *w, const char *name, const void *bytes, uint64_t n,
    struct err *err);
/* The same of an array of `count` numbers of `width` bytes, 1, 2, 4 or 8, which pack better so.  ascending: each is not
 * far from the one before it. */
MUST_CHECK int chunks_add_numbers(struct chunks_writer *w, const char *name, const void *numbers, uint64_t count,
    unsigned width, bool ascending, struct err *err);
MUST_CHECK int chunks_end(struct chunks_writer *w, struct err *err);

/* The file behind it, the container's own. */
int chunks_fd(const struct chunks *c);

#endif
