/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classic_dump.h - what the files of the classic reader share; private to src/dump/classic.
 *
 *     classic.c          the reader: probe, open, close, parts
 *     classic_sample.c   which writer it was, from the first and last records
 *     classic_scan.c     the records of one part
 *     classic_refs.c     the references of one record
 *     classic_names.c    from the text of a type to a class handle and an object kind
 *     classic_comment.c  the lines that start with //
 *     dump/token.h       digits and line ends, eight bytes at a time
 *
 * The text is one range of bytes.  Everything that the reader looks for in it is ASCII, because
 * open translates EBCDIC.  A position is a pointer into the text; classic_offset() turns it into an
 * offset of the dump.
 *
 * A record begins where a line begins with "0x", up to 64 bytes that are not blank, blanks and "[".
 * Nothing before it can change that.  So a part may begin at any such place: N parts together announce
 * exactly what one part would announce.
 */
#ifndef CAIRN_DUMP_CLASSIC_CLASSIC_DUMP_H
#define CAIRN_DUMP_CLASSIC_CLASSIC_DUMP_H

#include "algorithms/map.h"
#include "dump/ebcdic.h"
#include "dump/classic/classic.h"
#include "dump/reader.h"

#include <stddef.h>

struct part;

#define CLASSIC_NAME_MAX (64u << 10) /* bytes of a type that are kept */
#define CLASSIC_CHUNK 4096u          /* references delivered at a time */

struct classic {
	struct dump dump;
	const uint8_t *text;          /* the source's bytes, or translated.bytes */
	uint64_t size;                /* bytes of the text */
	struct translated translated; /* owned; bytes NULL: the source is read as it is */
	bool has_bom;                 /* the text starts with a UTF-8 byte order mark */
	bool has_totals;              /* the text ends with a "// EOF" line */
	bool mixed_digits;            /* some addresses have 8 digits and some have 16 */
	bool old_style;               /* J9 2.3 to 2.5: the first reference of each record is its
	                                 class block, which is not an object */
	unsigned digits;              /* digits of an address, 8 or 16, if the writer pads them */
};

/* How a record spells its type, which stands after the size. */
enum classic_style {
	STYLE_VM,    /* "OBJ type" or "CLS type": the VM and jdmpview write this */
	STYLE_PRINT, /* "class NAME", "array of NAME" or "NAME": the DTFJ tool PrintHeapdump */
};

/* The first line of a record, taken apart.  type is borrowed from the text. */
struct classic_header {
	uint64_t address;
	uint64_t size;
	const uint8_t *type;
	size_t type_size;   /* bytes in the text; may be more than CLASSIC_NAME_MAX */
	enum classic_style style;
	bool is_class;
	bool array_of;      /* "array of": the object is an array, and type is its component */
	const uint8_t *next; /* the byte after the line end */
};

/* A type that this part has met before. */
struct classic_name {
	const uint8_t *raw; /* how the text spells it; borrowed */
	uint32_t raw_size;  /* bytes */
	uint32_t hash;
	uint32_t handle;    /* what the sink calls its class */
	uint8_t kind;       /* enum object_kind */
	uint8_t style;      /* enum classic_style, plus 2 for array_of */
};

/* The types that this part has met.  The list stops growing at NAMES_MAX
 * (classic_names.c), or when memory is refused; from then on the sink is asked for a new name each time
 * it comes. */
struct classic_names {
	struct classic_name *list; /* big memory */
	size_t n, cap;
	struct map map;
	struct classic_name last; /* the answer for a name that found no room */
};

/* One reading of one part, by one thread. */
struct classic_scan {
	const struct classic *c;
	const uint8_t *begin, *end;
	bool at_eof; /* end is the end of the dump; false: another record begins there */
	struct sink *sink;
	struct err *err;
	struct classic_names names;
	uint64_t *chunk;          /* room for CLASSIC_CHUNK references of an object */
	uint64_t *class_refs;     /* the references of a class record; grown as needed (big.h) */
	uint64_t class_refs_room; /* elements that class_refs has room for */
};

/* A walk over the references of one record (classic_refs). */
struct classic_refs {
	/* What happens when out is full: forget what it holds and go on counting; deliver it to the
	 * sink; or make it larger. */
	enum { REFS_KEEP_FIRST, REFS_DELIVER, REFS_GROW } mode;
	uint64_t *out;         /* where references go; never nulls */
	uint64_t stored, room; /* elements that out holds, and that it has room for */
	uint64_t flushed;      /* references that out held before: forgotten or delivered */
	bool drop_first;       /* leave the next reference out: it is a class block (old_style) */
	bool quiet;            /* do not warn: this is the second walk */
	bool lines_may_lack;   /* this writer leaves the reference line out when there are none */
	uint64_t lines;        /* line ends seen */
	bool whole;            /* result: false when the end of the dump cuts the record */
};

static inline uint64_t classic_offset(const struct classic *c, const uint8_t *p)
{
	return translated_offset(&c->translated, (uint64_t)(p - c->text));
}

#define CLASSIC_WARN(s, p, ...)                                                                    \
	((s)->sink->warn((s)->sink, classic_offset((s)->c, (p)), __VA_ARGS__))

/*
 * Read the references that begin at p, up to the line that ends the record.  Returns the beginning
 * of that line, or s->end.  Returns NULL if the sink refused or memory ran out: *rc gets the code
 * and s->err the words.
 */
const uint8_t *classic_refs(struct classic_scan *s, const uint8_t *p, struct classic_refs *r,
    int *rc);

/* Does the line at p begin a record, be it a good or a damaged one?  HEAD_CUT: the dump ends before
 * one can tell. */
enum classic_head { HEAD_NONE, HEAD_GOOD, HEAD_DAMAGED, HEAD_CUT };
enum classic_head classic_head_at(const uint8_t *p, const uint8_t *end);

/* Byte of the text where the first record at or after byte `at` begins; the size of the text when
 * there is none. */
uint64_t classic_snap(const struct classic *c, uint64_t at);

/* Read from s->begin to s->end and announce records to the sink.  The caller has set c, begin, end, at_eof, sink
 * and err; the other members are made and freed here.  Returns what reader.read returns. */
int classic_scan_run(struct classic_scan *s, const struct part *part);

/* Read the line at p, which begins with //, and state to the sink what it counts.  Returns the byte
 * after the line. */
const uint8_t *classic_comment(struct classic_scan *s, const uint8_t *p);
/* Does the text end with a totals line? */
bool classic_find_totals(const struct classic *c);
/* The text after "// Version:", *n bytes of it; NULL if the line at p is another one. */
const uint8_t *classic_version(const uint8_t *p, const uint8_t *end, size_t *n);

/* Find the class handle and kind of the type in a record's first line; the sink is asked if it is
 * new.  The result is valid until the next call. */
const struct classic_name *classic_names_find(struct classic_scan *s,
    const struct classic_header *h);
void classic_names_release(struct classic_names *t);
/*
 * The VM's internal spelling of a type ("[Ljava/lang/String;"); *n gets its bytes.  Of a longer
 * h->type only the first CLASSIC_NAME_MAX bytes count.  The result is h->type itself or *scratch;
 * the caller frees *scratch, which may be NULL.
 */
const uint8_t *classic_internal_name(const struct classic_header *h, size_t *n, char **scratch);

/* Look at the first and the last records and set c->digits, mixed_digits, old_style and
 * facts.word_bits.  Returns 0. */
MUST_CHECK int classic_sample(struct classic *c, struct err *err);

#endif
