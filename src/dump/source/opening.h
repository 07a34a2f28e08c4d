/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opening.h - a source while it is opened: from a path to a mapped file, and from its bytes to what they unpack to.
 *
 * For the files of this folder only.
 */
#ifndef CAIRN_DUMP_SOURCE_OPENING_H
#define CAIRN_DUMP_SOURCE_OPENING_H

#include "base/files.h"
#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/sigbus_guard.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

/* A file beside the dump's whose bytes belong to it. */
struct part_file {
	int number, fd;      /* fd -1: it is in an archive */
	uint64_t at, size;   /* in the source; at 0: it is not mapped there */
	bool merged;         /* the dump's file has all of it already */
	bool damaged, cut;   /* the packed stream around it */
	bool is_none;        /* it only has the name of one */
	size_t piece;        /* which of the source's it is, where it is unpacked */
	const uint8_t *unpacked; /* what it unpacks to, while it is searched; else NULL */
	struct sigbus_guard *mapping;
	struct timespec written;
	file_hold hold;
};

/* A range of bytes, in a file or in memory. */
struct stretch {
	const uint8_t *at;
	uint64_t n;
};

struct packing;
struct walk;
struct member;

struct source_parts {
	struct part_file *part;
	size_t n;
	char *name;          /* of the dump, in its archive or not: that of a part goes on with .p0 */
	const struct packing *packing; /* of the archive that has them; NULL: they are beside the file */
	struct stretch archive;
	uint8_t *memory;     /* big memory that holds it, until they are taken; NULL: it is in the mapping */
	bool damaged;        /* what it is packed in */
	bool unpacked;       /* into memory, not mapped: one of them is packed, or in an archive */
	uint64_t own;        /* bytes of the dump's file, where it is mapped */
	struct source_own holds; /* what it holds */
	uint64_t end;        /* of its bytes that no part has */
	uint64_t next;       /* parts that it has as well begin there or later; at end: it has no other */
	struct source_piece *piece;
	char words[sizeof ((struct source *)0)->remark];
};

struct source_file {
	struct source source; /* what the others see */
	char *file;           /* path of the file; the source's own names a member, too */
	char *inside;         /* which member was taken where none was named; else NULL */
	const char *member;   /* which one is named, in the source's path; NULL: none */
	int fd;
	struct timespec written; /* the last time before it was opened */
	file_hold hold;
	void *map; /* of the file; NULL once unpacked */
	uint64_t map_size;
	struct sigbus_guard *mapping;
	uint8_t *unpacked; /* big memory that holds the dump; NULL: it stands in the mapping */
	uint64_t capacity;
	const char *broken_off; /* it is known not to be whole: why, a text that stays as long; else NULL */
	const struct source_division *division; /* as in struct source_look */
	struct source_parts *parts; /* NULL: it has none */
	struct packed_bytes *packed; /* of a process, which hold its bytes; NULL: it is a file */
	bool ends_early;   /* a stream did, and what came of it before is right */
	uint64_t most;     /* bytes that it may unpack to; 0: as many as fit into memory */
	uint64_t wish;     /* bytes that may be needed there, for whoever reserves room first */
	const char *where; /* what bytes are counted in, in sentences: "the file" */
	uint8_t *copy; /* exactly of the dump's size, where memory is exact; else NULL */
	atomic_bool served; /* all that it waited with is inflated: the file does not matter any more */
};

/* --- file.c: the file as it is stored -------------------------------------------------------------- */

/* Open path into o->fd.  Waits for pipes only, which are kept first (spool.c): what else opens slowly or does something
 * on open is refused before.  ERR_IO, ERR_FORMAT for an empty file, ERR_CANCELLED. */
MUST_CHECK int stored_open(struct source_file *o, const char *path, struct progress *progress, struct err *err);
/* Map it: the source's bytes are the file's then. */
MUST_CHECK int stored_map(struct source_file *o, struct err *err);
void stored_unmap(struct source_file *o); /* once or more often */

/* --- parts.c: files that the VM had not merged yet ------------------------------------------------ */

/* The number behind ".p" at the end of a name; -1: it has none. */
int parts_number(const char *name);
/* The dump is the member of this name: its archive, of these bytes, is kept for parts_open.  memory (NULL: they are in
 * the mapping) belongs to o->parts then. */
void parts_keep_archive(struct source_file *o, const char *name, const struct packing *p, struct stretch archive,
    uint8_t *memory);
/* ERR_FORMAT: the file is a part itself. */
MUST_CHECK int parts_refuse(const struct source_file *o, struct err *err);
/* Behind stored_map and unpack: the parts beside an unfinished dump, or in its archive, become pieces of the source.
 * ERR_IO, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int parts_open(struct source_file *o, struct err *err);
void parts_unmap(struct source_file *o);
void parts_close(struct source_file *o);
/* As source_damage and source_changed. */
bool parts_damage(const struct source_file *o, uint64_t *offset);
bool parts_changed(const struct source_file *o);

/* --- parts_join.c: as one stretch of bytes ---------------------------------------------------------- */

/* What was found (o->parts) becomes the source's pieces: where it is mapped, or in memory.  ERR_IO, ERR_NOMEM,
 * ERR_CANCELLED. */
MUST_CHECK int parts_map(struct source_file *o, struct err *err);
MUST_CHECK int parts_unpack(struct source_file *o, struct err *err);
/* Before that: unpack one that is the current member of the archive. */
MUST_CHECK int parts_take_member(struct source_file *o, struct part_file *p, struct walk *w, const struct member *m,
    struct err *err);

/* --- parts_overlap.c: what a file and its parts have in common ---------------------------------------- */

/* The next part, by its number: find it in the bytes of the dump's file, from parts->next on.  Either all of it is
 * there (p->merged), or its beginning from parts->end on, or nothing.  ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int parts_overlap(struct source_file *o, const uint8_t *bytes, struct part_file *p, struct err *err);

/* --- spool.c: pipes -------------------------------------------------------------------------------- */

/* stat, for standard input as well. */
int spool_stat(const char *path, struct stat *st);
/* Is it something that is read once, and has to be kept? */
bool spool_wanted(const char *path, const struct stat *st);
/* Read all of it into a file without a name, if that was not done before, and open that as o->fd.  ERR_IO where nothing
 * of use came; more is kept, and o->broken_off then says what ended it.  ERR_FORMAT: nothing came.  ERR_CANCELLED. */
MUST_CHECK int spool_open(struct source_file *o, const char *path, const struct stat *st, struct progress *progress,
    struct err *err);
/* A descriptor of its own for standard input, which is a file; -1: errno. */
int spool_dup(const char *path);

/* --- process_dump.c: what a VM writes into memory ---------------------------------------------------- */

/* o's bytes are what its process dumped, or dumps now.  Errors as live_dump_take, and ERR_FORMAT: that is nothing. */
MUST_CHECK int process_dump_open(struct source_file *o, struct progress *progress, struct err *err);
void process_dump_close(const char *path); /* of a source that was opened so */

/* --- unpack.c: what it unpacks to, layer by layer --------------------------------------------------- */

/*
 * From the mapped bytes to the dump's: source.bytes is in the mapping where it stands there as it is (in_place allows
 * it), else in o->unpacked.  look (or NULL) is asked about the first bytes.  ERR_FORMAT, ERR_TRUNCATED if
 * there was nothing, ERR_USAGE if a member must be named, ERR_NOMEM, ERR_CANCELLED.
 */
MUST_CHECK int source_unpack(struct source_file *o, const struct source_look *look, bool in_place,
    struct progress *progress, struct err *err);

/* The same of the current member of an archive: *s is what it unpacks to, in the archive or in o->unpacked. */
MUST_CHECK int source_unpack_member(struct source_file *o, struct walk *w, const struct member *m,
    const struct packing *p, struct stretch *s, struct progress *progress, struct err *err);

/* unpack as far as to an archive of which no member is named: where its bytes stand (*s), and how it is packed.  1: it
 * is not an archive.  No single one of its members is looked at. */
MUST_CHECK int source_unpack_archive(struct source_file *o, struct stretch *s, const struct packing **p,
    struct progress *progress, struct err *err);

/* Note what opening the source showed (source.remark); a longer text is clipped. */
__attribute__((format(printf, 2, 3))) void source_mark(struct source_file *o, const char *format, ...);

/* The packed data ("gzip stream") is truncated at this byte of the file or archive: not all of it was unpacked. */
void unpacked_cut(struct source_file *o, const char *what, uint64_t at);

/* Room for at least one byte more behind those that are unpacked (o->source.size of o->capacity).  ERR_NOMEM. */
MUST_CHECK int unpacked_room(struct source_file *o, struct err *err);
/* Room for so many in all. */
MUST_CHECK int unpacked_reserve(struct source_file *o, uint64_t n, struct err *err);
/* The packed data ended at in[at]: note what follows, unless it is zeros, as tapes leave them. */
void unpacked_ends(struct source_file *o, const char *packing, const uint8_t *in, uint64_t at, uint64_t n);

/* --- packing.c ------------------------------------------------------------------------------------- */

/* How bytes are packed. */
struct packing {
	const char *name;    /* "xz" */
	const char *by_hand; /* the program that unpacks it: "unxz" */
	const char *magic;   /* the first n bytes; NULL: tar's, which have none */
	size_t n;
	/* Inflate in[0, n) into o->unpacked (NULL before), of o->source.size bytes then.  What breaks off is marked cut. */
	int (*inflate)(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
	    struct progress *progress, struct err *err); /* NULL: an archive of members */
	/* The first bytes, room at most, of what in[0, n) inflates to; returns how many. */
	size_t (*head)(const struct packing *p, const uint8_t *in, uint64_t n, uint8_t *out, size_t room);
};

const struct packing *packing_of(const uint8_t *bytes, uint64_t n); /* NULL: not packed */
bool packing_is_archive(const struct packing *p);

/* --- gzip.c, zstd.c, archive.c: inflate and head of packings --------------------------------------- */

int gzip_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err);
size_t gzip_head(const struct packing *p, const uint8_t *in, uint64_t n, uint8_t *out, size_t room);
int zstd_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err);
size_t zstd_head(const struct packing *p, const uint8_t *in, uint64_t n, uint8_t *out, size_t room);
int archive_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err);
size_t archive_head(const struct packing *p, const uint8_t *in, uint64_t n, uint8_t *out, size_t room);

/* --- archive.c: the members of an archive, in the order in which they stand ------------------------- */

struct member {
	uint64_t ordinal;  /* from 1 on */
	const char *name;  /* as bytes, until the next one */
	const char *link;  /* what it is a link to; NULL: none */
	uint64_t size;
	int64_t written;   /* seconds since 1970; 0: unknown */
	bool size_known, is_file, encrypted;
};

/* One thread, until walk_end, which wants what walk_begin made and takes NULL. */
MUST_CHECK int walk_begin(struct walk **out, const struct packing *p, struct stretch s, struct progress *progress,
    struct err *err);
/* 1: *m is the next one; 0: there is no other.  ERR_TRUNCATED: the archive is damaged, and the message what it then is
 * ("cut at byte 12, ..."); ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int walk_next(struct walk *w, struct member *m, struct err *err);
/* The first bytes of the member, once: least of them, or where they are packed as many as there is room for. */
size_t walk_head(struct walk *w, uint8_t *out, size_t least, size_t room);
/* Why walk_head gave nothing: " (…)" or "", until the next call about w; NULL: it gave something. */
const char *walk_broke(struct walk *w);
/* All bytes of the member: *s where they stand in the archive as they are, else (s->at NULL) in o->unpacked.  What
 * breaks off is marked cut. */
MUST_CHECK int walk_take(struct walk *w, const struct member *m, struct source_file *o, struct stretch *s,
    const char *packing, struct err *err);
void walk_end(struct walk *w);

/* --- members.c: which member of an archive --------------------------------------------------------- */

/* Bytes of a member that tell what it is, packed or not: the largest block of bzip2 or lz4 unpacks from them. */
enum { MEMBER_HEAD = (4 << 20) + (128 << 10) };

/*
 * The member that *rest begins with, which is moved behind it; without a name the only one that look (or NULL)
 * does not refuse.  Its number in *ordinal; its name in *name, the caller's (free).  *parts: is a member called as a
 * part is?  ERR_FORMAT, ERR_USAGE.
 */
MUST_CHECK int member_choose(const struct packing *p, struct stretch s, const char **rest,
    const struct source_look *look, uint64_t *ordinal, char **name, bool *parts, struct progress *progress,
    struct err *err);

/* A name without the "./" that tar writes when it is given a folder. */
const char *member_name(const char *name);
/* The first bytes of what a member unpacks to, SOURCE_HEAD at most, in room, of twice MEMBER_HEAD bytes; returns how
 * many.  *archive: the name of the packing where it is an archive itself, else NULL. */
size_t member_head(struct walk *w, uint8_t *room, const uint8_t **head, const char **archive);

/* New for a path, without a file yet. */
struct source_file *source_new(const char *path);

/* Close it; the error gets the path in front of it.  Returns code. */
int source_failed(struct source_file *o, int code, struct err *err);

#endif
