/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classic_dump.h - what the files of the classic reader share.  Nobody else includes it.
 *
 *     classic.c          the reader: probe, open, close, parts
 *     classic_sample.c   what the first records tell of the writer
 *     classic_scan.c     the records of one part
 *     classic_refs.c     the references of one record
 *     classic_names.c    type text -> class handle and kind
 *     classic_comment.c  the lines that start with //
 *     classic_token.h    digits and line ends, eight bytes at a time
 *
 * The text is one range of bytes, ASCII where it matters: EBCDIC is translated at open.  All
 * positions are pointers into it; classic_offset() leads back to bytes of the dump.
 *
 * A record begins where a line begins with "0x", up to 64 bytes that are not blank, blanks and "[".
 * Nothing that stands before can change that, so the text can be cut at any such place and the
 * pieces read independently: the union of N parts says exactly what one part says.
 */
#ifndef CAIRN_DUMP_CLASSIC_CLASSIC_DUMP_H
#define CAIRN_DUMP_CLASSIC_CLASSIC_DUMP_H

#include "dump/ebcdic.h"
#include "dump/classic/classic.h"

#include <stddef.h>

#define CLASSIC_NAME_MAX (64u << 10) /* bytes of a type that are kept */
#define CLASSIC_CHUNK 4096u          /* references delivered at a time */

struct classic {
	struct dump dump;
	const uint8_t *text;          /* the source's bytes, or translated.bytes */
	uint64_t size;
	struct translated translated; /* bytes NULL: the source is read as it is */
	bool has_bom;                 /* the text starts with a UTF-8 byte order mark */
	bool has_totals;              /* it ends with a "// EOF" line */
	bool mixed_digits;            /* addresses of 8 and of 16 digits */
	bool old_style;               /* J9 2.3 to 2.5: the first reference of each record is its
	                                 class block, which is no object */
	unsigned digits;              /* of an address, 8 or 16, where the writer pads them */
};

/* How the text after the size is spelled. */
enum classic_style {
	STYLE_VM,    /* OBJ type, CLS type: the VM and jdmpview */
	STYLE_PRINT, /* class NAME, array of NAME, NAME: the DTFJ tool PrintHeapdump */
};

/* The first line of a record, taken apart.  type is borrowed from the text. */
struct classic_header {
	uint64_t address;
	uint64_t size;
	const uint8_t *type;
	size_t type_size;   /* as it stands there, possibly more than CLASSIC_NAME_MAX */
	enum classic_style style;
	bool is_class;
	bool array_of;      /* STYLE_PRINT: type is the component */
	const uint8_t *next; /* the byte after the line end */
};

/* A type seen before in this part. */
struct classic_name {
	const uint8_t *raw; /* in the text */
	uint32_t raw_size;
	uint32_t hash;
	uint32_t handle;
	uint8_t kind; /* enum object_kind */
	uint8_t style; /* enum classic_style, + 2 for array_of */
};

/* An open-addressed table; it stops growing at some size and then asks the sink each time. */
struct classic_names {
	struct classic_name *slot;
	size_t n_slots, n_used;
	struct classic_name last; /* the answer for a name that found no slot */
};

/* One reading of one part: one thread. */
struct classic_scan {
	const struct classic *c;
	const uint8_t *begin, *end;
	bool at_eof; /* end is the end of the dump, not the beginning of another record */
	struct sink *sink;
	struct err *err;
	struct classic_names names;
	uint64_t *chunk;          /* CLASSIC_CHUNK references */
	uint64_t *class_refs;     /* of one class record, grown as needed (big memory) */
	uint64_t class_refs_room;
};

/* The references of one record. */
struct classic_refs {
	enum { REFS_KEEP_FIRST, REFS_DELIVER, REFS_GROW } mode;
	uint64_t *out;
	uint64_t stored, room; /* in out */
	uint64_t flushed;      /* that were in out before: counted, or delivered */
	bool drop_first;
	bool quiet;            /* warnings were given the first time */
	bool lines_may_lack;   /* this writer leaves the reference line out when there are none */
	uint64_t lines;        /* line ends seen */
	bool whole;            /* result: not broken off by the end of the dump */
};

static inline uint64_t classic_offset(const struct classic *c, const uint8_t *p)
{
	return translated_offset(&c->translated, (uint64_t)(p - c->text));
}

#define CLASSIC_WARN(s, p, ...)                                                                    \
	((s)->sink->warn((s)->sink, classic_offset((s)->c, (p)), __VA_ARGS__))

/*
 * Walk over the references that begin at p, to the line that ends the record, and return that
 * line's beginning (or s->end).  NULL: the sink refused, or no memory; s->err has it.
 */
const uint8_t *classic_refs(struct classic_scan *s, const uint8_t *p, struct classic_refs *r,
    int *rc);

/* Does a line that begins at p begin a record, a good one or a damaged one?  HEAD_CUT: the dump
 * ends before that can be told. */
enum classic_head { HEAD_NONE, HEAD_GOOD, HEAD_DAMAGED, HEAD_CUT };
enum classic_head classic_head_at(const uint8_t *p, const uint8_t *end);

/* The first beginning of a record at or after byte at; size of the text when there is none. */
uint64_t classic_snap(const struct classic *c, uint64_t at);

/* Read from begin to end (s's members c, begin, end, at_eof, sink and err are set). */
int classic_scan_run(struct classic_scan *s, const struct part *part);

/* The line that begins with // at p; returns the byte after it. */
const uint8_t *classic_comment(struct classic_scan *s, const uint8_t *p);
/* Does the text end with a totals line? */
bool classic_find_totals(const struct classic *c);
/* The text after "// Version:" when the line at p is one; else NULL.  *n gets its bytes. */
const uint8_t *classic_version(const uint8_t *p, const uint8_t *end, size_t *n);

/* The handle and kind of a type.  The result is valid until the next call. */
const struct classic_name *classic_names_find(struct classic_scan *s,
    const struct classic_header *h);
void classic_names_release(struct classic_names *t);
/*
 * The VM's internal spelling of a type.  It is either h->type itself or *scratch, which is then the
 * caller's to free.
 */
const uint8_t *classic_internal_name(const struct classic_header *h, size_t *n, char **scratch);
enum object_kind classic_kind(const uint8_t *name, size_t n);

/* Look at the first records and the last: digits, mixed_digits, old_style, word_bits. */
MUST_CHECK int classic_sample(struct classic *c, struct err *err);

#endif
