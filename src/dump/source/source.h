/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - the bytes of a dump, mapped or unpacked.
 *
 * A plain file is mapped; a packed one is unpacked into memory once.  What comes through a pipe is kept in a file
 * without a name first, and what a process dumps in memory (algorithms/packed_bytes.h).  Readers see one contiguous
 * range in any case, whose addresses no system call is given.  A mapped file may shrink or fail meanwhile: the pages
 * that are gone then read as zeros, and source_damage() gives the byte from which nothing is true any more.
 */
#ifndef CAIRN_DUMP_SOURCE_H
#define CAIRN_DUMP_SOURCE_H

#include "base/err.h"
#include "base/files.h"
#include "base/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of a source that belong together; no record goes from one piece on to the next. */
struct source_piece {
	uint64_t begin, end;
};

struct source {
	const char *path;
	const uint8_t *bytes; /* size of them; never NULL */
	uint64_t size;        /* of the (unpacked) content */
	uint64_t file_size;   /* on disk */
	bool compressed;      /* or in an archive: bytes are not counted as in the file */
	bool truncated;       /* its packed stream ends early or is damaged: bytes are what came before */
	bool broken_off;      /* it is known to be incomplete, whatever it looks like: then truncated, too */
	bool gaps;            /* between its pieces some are missing: broken_off, and no byte ends what is whole */
	const struct source_piece *pieces; /* n_pieces of them, between which there is nothing; none: it is all one */
	size_t n_pieces;
	bool doubtful;        /* a checksum is wrong: then truncated, too, and any of the bytes may be wrong */
	char remark[240];     /* truncated: why, in words; else another remark about the file, or "" */
	struct source_file *file; /* source.c's own; NULL: bytes that are simply there (tests) */
};

/*
 * Standard input as a dump has this name in place of a path, once it was taken.
 */
#define SOURCE_STANDARD_INPUT "standard input"
/* From now on standard input is a dump, and the descriptor `instead` takes its place.  Before there are other
 * threads, and once.  0, or -1 with errno. */
MUST_CHECK int source_take_standard_input(int instead);
/* It, or a member of the archive that comes through it: "standard input::heap.hprof". */
bool source_is_standard_input(const char *path);

/*
 * A running process: its heap is dumped into memory when the name that this returns, which stays, is opened for the
 * first time, and read from there later.  Each call is another dump.
 */
struct vm_process;
struct live_dump_wishes; /* attach/attach.h */
const char *source_take_process(const struct vm_process *p, const struct live_dump_wishes *w);
bool source_is_process(const char *path);
/* While such a source is open, of a Go program: the path of the program, which opens it even if its file was deleted or
 * is in another mount namespace; NULL: there is none.  And for how long the process stood still, in nanoseconds; 0:
 * unknown. */
const char *source_process_program(const char *path);
uint64_t source_process_pause(const char *path);
/* While such a source is open: what a file of its dump ends in, ".hprof" (NULL: it is none), and writing it there, as
 * packed_bytes_write.  Whoever did says so; until then it is in memory alone. */
const char *source_process_ending(const char *path);
MUST_CHECK int source_save_process(const char *path, int fd, struct progress *progress, struct err *err);
void source_saved_process(const char *path);
bool source_is_unsaved(const char *path);
/* It is not opened again: its memory is freed when nobody uses it.  Nothing of any other path. */
void source_drop_process(const char *path);
/* Is there no file of this name, since standard input or a process brings the dump? */
bool source_has_no_file(const char *path);
/* What opens the javacore that an OpenJ9 VM wrote with its dump; NULL: there is none. */
const char *source_process_javacore(const char *path);

/* A descriptor to look at the bytes of a file without waiting, the caller's; -1 with errno: it is none, or a pipe of
 * which not all came yet. */
int source_peek(const char *path);
/* file_hold_path, for standard input as well. */
MUST_CHECK file_hold source_hold(const char *path, const char *what);

/* Stop reading the pipe: what came is a truncated dump.  Any thread. */
void source_enough(void);

/*
 * Open path, which may name a member of an archive: "dumps.zip::heap.hprof", also one of an archive in it,
 * "outer.zip::inner.tar::heap.hprof".  The first bytes of a file say how it is packed.  ERR_IO with the
 * system's reason (a directory, a device, no permission: said so), ERR_FORMAT for an empty file or an archive without
 * such a member, ERR_USAGE where several members may be meant, ERR_NOMEM, ERR_CANCELLED.
 */
MUST_CHECK int source_open(struct source **out, const char *path, struct progress *progress,
    struct err *err);
void source_close(struct source *s); /* NULL is fine */

#define SOURCE_HEAD 4096 /* bytes: no reader looks at more to know its format */

/* What an unfinished dump's own file holds. */
struct source_own {
	uint64_t body; /* where its records begin */
	bool names;    /* names of classes, and no record before the objects is incomplete */
	bool objects;
};
/* How the writer of a format divides a dump: objects go to FILE.p0, FILE.p1 and so on, and in this order to the end of
 * FILE when all are written.  Each of these files is a sequence of records. */
struct source_division {
	bool (*begins_part)(const uint8_t *bytes); /* of which there is at least one */
	bool (*unfinished)(const uint8_t *bytes, uint64_t n, struct source_own *own);
	/* Where the record at this byte of n ends; more than n: it is incomplete. */
	uint64_t (*record_end)(const uint8_t *bytes, uint64_t n, uint64_t at);
};

/* Asked about the first SOURCE_HEAD bytes of what a packed file holds, before all of it is unpacked, and of each member
 * of an archive where none is named: the only one that is not refused is taken. */
struct source_look {
	/* 0, or the error that source_open_if is to end with, once the path stands in front of it. */
	int (*at)(const void *context, const uint8_t *head, size_t n, struct err *err);
	const void *context;
	uint64_t most; /* bytes that it may unpack to, else ERR_FORMAT; 0: as many as fit into memory */
	const struct source_division *division; /* parts of an unfinished dump are read with it; NULL: there are none */
};
/* source_open, unless look (or NULL) refuses a packed file.  One that holds less is not asked about. */
MUST_CHECK int source_open_if(struct source **out, const char *path, const struct source_look *look,
    struct progress *progress, struct err *err);

/*
 * A packed file that waits to be unpacked: held and watched as any other, but it has no bytes (size is 0) until
 * source_inflate makes a source of what it unpacks to.  1: it needs no unpacking, nor to wait; else as source_open.
 */
MUST_CHECK int source_open_waiting(struct source **out, const char *path, struct err *err);
/* The caller's (source_close), before the one that waited.  That one no longer watches the file, for
 * all of it is in memory.  As source_open_if, and ERR_IO where the file was written to since it was opened. */
MUST_CHECK int source_inflate(struct source **out, const struct source *waiting, const struct source_look *look,
    struct progress *progress, struct err *err);

/* How bytes are packed or archived, by the first of them ("xz", "tar"), and the program that unpacks such a file; NULL:
 * not at all, as far as is known. */
const char *source_packing(const uint8_t *head, size_t n, const char **by_hand);
/* Did a terminal (kubectl exec -t, docker exec -t) write CR LF for each LF of these bytes, which are not text?  Of the
 * many LFs in a dump, packed or not, hardly one has a CR before it.  And the sentence about that. */
bool source_newlines_changed(const uint8_t *bytes, uint64_t n);
extern const char source_changed_newlines[];
/* Are these the first bytes of an archive of files? */
bool source_is_archive(const uint8_t *head, size_t n);
/* "::" and the name of the member that was taken though none was named; "": none was. */
const char *source_inside(const struct source *s);

/* The first bytes of a file, in first; or, where it is packed and more of them are needed to tell what it unpacks to,
 * in *more, the caller's (big_free), else NULL.  Returns how many, or -1 with errno. */
ssize_t source_read_head(int fd, uint8_t first[static SOURCE_HEAD], uint8_t **more);

/* The first bytes, room at most, of what the n bytes of a packed file unpack to; returns how many: 0 for an archive,
 * and where n bytes are too few to unpack any. */
size_t source_inflate_head(const uint8_t *in, uint64_t n, uint8_t *out, size_t room);

/* What unpacks archives, for --version: "libarchive 3.6.2". */
const char *source_support(void);

/* Was the mapped file written to since it was opened?  Its bytes may then be others than were read. */
bool source_changed(const struct source *s);

/* The descriptor of the file, the source's own; -1: there is none. */
int source_fd(const struct source *s);

/* True once pages of the mapping turned out to be gone; *offset gets the first such byte. */
bool source_damage(const struct source *s, uint64_t *offset);

/* A file in an archive. */
struct source_member {
	const char *name;    /* as it stands there, any bytes: ARCHIVE::NAME is the path that opens it */
	uint64_t size;       /* of what the archive unpacks to: of heap.hprof.gz, of this file */
	int64_t written;     /* seconds since 1970; 0: unknown */
	const char *label;   /* what the caller's label() says of the first bytes; NULL: of nothing that it knows */
	char created[32];    /* what it says of the time when the dump in it was written, or "" */
	const char *archive; /* "tar": it is an archive itself (ARCHIVE::NAME lists it); else NULL */
	bool size_known;     /* a zip archive written into a pipe has the size of a file only after the file */
	bool encrypted;      /* it cannot be opened */
};

struct source_members {
	struct source_member *member; /* files only, in the order of the archive; one of several of a name: the last */
	size_t n;
	uint64_t left_out; /* files behind SOURCE_MEMBERS_MOST of them */
	char remark[240];  /* the archive is damaged or truncated, so that there may be more: why; else "" */
};
enum { SOURCE_MEMBERS_MOST = 10000 };
/* The label of a dump with these first bytes and this name, and into created when it was written; NULL: it is none. */
typedef const char *source_label(const uint8_t *head, size_t n, const char *name, char created[static 32]);

/*
 * The files in an archive, which may be packed itself ("dumps.tar.gz", then it is unpacked into memory for as long as
 * this takes) or be a member of another one ("outer.zip::inner.tar").  label (or NULL) is asked about the first
 * bytes of each file, SOURCE_HEAD at most, unpacked if they are packed, and its name: dump_label_of_member.
 * 0: *out is the caller's (source_members_free); 1: the file is not an archive, and *out NULL; else as source_open,
 * with the path.  Any thread.
 */
MUST_CHECK int source_members(struct source_members **out, const char *path,
    source_label *label, struct progress *progress, struct err *err);
void source_members_free(struct source_members *m); /* NULL is fine */

#endif
