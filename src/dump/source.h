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
#include <stddef.h>
#include <stdint.h>

struct source {
	const char *path;
	const uint8_t *bytes; /* size of them; never NULL */
	uint64_t size;        /* of the (inflated) content */
	uint64_t file_size;   /* on disk */
	bool compressed;
	bool cut;             /* the gzip stream ends early or is damaged: bytes are what came before */
	bool doubtful;        /* a checksum is wrong: then cut, too, and any of the bytes may be wrong */
	char remark[120];     /* cut: why, in words; else what else is to be said of the file, or "" */
	struct source_file *file; /* source.c's own; NULL: bytes that are simply there (tests) */
};

/*
 * Open path.  ERR_IO with the system's reason (a directory, a FIFO, no permission: said so),
 * ERR_FORMAT for an empty file, ERR_NOMEM, ERR_CANCELLED.
 */
MUST_CHECK int source_open(struct source **out, const char *path, struct progress *progress,
    struct err *err);
void source_close(struct source *s); /* NULL is fine */

#define SOURCE_HEAD 4096 /* bytes: no reader looks at more to know its format */

/* Asked about the first SOURCE_HEAD bytes of what a gzip file holds, before all of it is inflated. */
struct source_look {
	/* 0, or the error that source_open_if is to end with, once the path stands in front of it. */
	int (*at)(const void *context, const uint8_t *head, size_t n, struct err *err);
	const void *context;
};
/* source_open, unless look (NULL: nobody) refuses a gzip file.  One that holds less is not asked about. */
MUST_CHECK int source_open_if(struct source **out, const char *path, const struct source_look *look,
    struct progress *progress, struct err *err);

/*
 * A gzip file that waits to be inflated: held and watched as any other, but it has no bytes (size is 0) until
 * source_inflate makes a source of what it unpacks to.  1: it is no gzip file and need not wait; else as source_open.
 */
MUST_CHECK int source_open_waiting(struct source **out, const char *path, struct err *err);
/* The caller's (source_close), before the one that waited.  That one no longer tells what becomes of the file, for
 * all of it is in memory.  As source_open, and ERR_IO where the file was written to since it was opened. */
MUST_CHECK int source_inflate(struct source **out, const struct source *waiting, struct progress *progress,
    struct err *err);

/* The first bytes, room at most, of what the n bytes of a gzip file inflate to; returns how many. */
size_t source_inflate_head(const uint8_t *in, uint64_t n, uint8_t *out, size_t room);

/* Was the mapped file written to since it was opened?  Its bytes may then be others than were read. */
bool source_changed(const struct source *s);

/* The descriptor of the file, the source's own; -1: there is none. */
int source_fd(const struct source *s);

/* True once pages of the mapping turned out to be gone; *offset gets the first such byte. */
bool source_damage(const struct source *s, uint64_t *offset);

#endif
