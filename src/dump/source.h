/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - the bytes of a dump, mapped read-only.
 *
 * A plain file is mapped; a gzip file is inflated into memory once.  Readers see one contiguous
 * range either way.  A mapped file may shrink or fail under us: the pages that are gone then read
 * as zeros and source_damage() tells from which byte on nothing is true any more.
 */
#ifndef CAIRN_DUMP_SOURCE_H
#define CAIRN_DUMP_SOURCE_H

#include "base/err.h"
#include "base/progress.h"

#include <stdbool.h>
#include <stdint.h>

struct source {
	const char *path;
	const uint8_t *bytes; /* size of them; never NULL */
	uint64_t size;        /* of the (inflated) content */
	uint64_t file_size;   /* on disk */
	bool compressed;
	bool cut;             /* the gzip stream ends early or is damaged: bytes are what came before */
	bool doubtful;        /* a checksum is wrong: then cut, too, and any of the bytes may be wrong */
	char cut_reason[120]; /* then: why, in words; without cut: a remark, "" when there is none */
	struct source_file *file; /* source.c's own; NULL: bytes that are simply there (tests) */
};

/*
 * Open path.  ERR_IO with the system's reason (a directory, a FIFO, no permission: said so),
 * ERR_FORMAT for an empty file, ERR_NOMEM, ERR_CANCELLED.
 */
MUST_CHECK int source_open(struct source **out, const char *path, struct progress *progress,
    struct err *err);
void source_close(struct source *s); /* NULL is fine */

/* True once pages of the mapping turned out to be gone; *offset gets the first such byte. */
bool source_damage(const struct source *s, uint64_t *offset);

#endif
