/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_dump.h - what the files of the HPROF reader share.
 *
 *   hprof.c         header, facts, the reader's table, division into parts
 *   hprof_top.c     the top-level records: strings, class names, stacks; where the heap lies
 *   hprof_dumps.c   which dump of a file that holds several, and which of its heaps
 *   hprof_class.c   the layout of instances, from the class records
 *   hprof_read.c    the heap: objects, to a sink
 *   hprof_other.c   the rest of the heap: classes, roots, threads
 *   hprof_name.c    names and stack frames in the spelling the rest of the program uses
 *   hprof_hubs.c    class objects of native images
 *   hprof_sites.c   where objects were allocated
 *   hprof_locate.c  one object record, for looking at values
 *   hprof_redact.c  a copy without contents
 *   hprof_origin.c  of which dump a file was made that cairn exported
 *   hprof_extras.c  what that dump said and HPROF has no place for
 *
 * Format: the comment at the head of OpenJDK's heapDumper.cpp, "HPROF binary format"; for Android,
 * ART's hprof.cc.  All numbers are big-endian.  Offsets count from the start of the (inflated) file.
 *
 * Immutable once opened, but for the class table, which is replaced at most once, and for known gaps,
 * both under a lock: any thread.
 */
#ifndef CAIRN_DUMP_HPROF_HPROF_DUMP_H
#define CAIRN_DUMP_HPROF_HPROF_DUMP_H

#include "base/text.h"
#include "dump/cursor.h"
#include "dump/hprof/hprof.h"
#include "dump/idmap.h"
#include "dump/reader.h"
#include "memory/arena.h"

#include <pthread.h>
#include <stdio.h>

struct object_view;
struct part;
struct sink;
struct site_sink;
struct source;

/* A stretch of sub-records. */
struct hprof_segment {
	uint64_t begin, end;
	bool truncated; /* the file ends in it */
};

/*
 * How an instance of a class is laid out in the dump: its own fields, then those of its superclass,
 * and so on.  up is the nearest class above that declares references, up_offset the distance from
 * this class's first field to that class's first; so a walk costs nothing for classes without any.
 */
enum { HPROF_FLAT = 8, HPROF_NOT_FLAT = UINT8_MAX };
struct hprof_class {
	uint64_t id, superclass;
	const uint32_t *references; /* offsets from the class's first field */
	uint32_t n_references;
	uint32_t own_size;   /* bytes of the fields declared here */
	uint32_t stated_size; /* of an instance, as the class record says */
	const struct hprof_class *up;
	uint64_t up_offset;
	uint64_t chain_size; /* bytes of all fields; UINT64_MAX: a superclass is not known */
	/* The same in short, of a known class with few references: the offsets of all of them from an instance's first
	 * field, then some to the identifier in front of it, which is not a reference and not 0. */
	int16_t flat[HPROF_FLAT];
	uint8_t n_flat;      /* without those; HPROF_NOT_FLAT: look at the above */
	bool known;          /* the dump defines the class and all of its superclasses */
	bool settled;        /* the members above are computed */
};

struct hprof_classes {
	struct hprof_class *list; /* big memory */
	uint32_t n, cap;
	struct idmap by_id;
	uint32_t *offsets;  /* the big memory that all `references` point into */
	uint64_t n_offsets, cap_offsets;
	bool whole;         /* the list has all class records, not only those before the first object */
	struct hprof_classes *older; /* the table before, which threads may still read; freed with this */
};

struct hprof_note {
	uint64_t offset;
	char text[160];
};

struct hprof {
	struct dump dump; /* first: what the others see */
	unsigned id_size; /* 4 or 8 */
	bool android;
	bool agent;       /* the old agent wrote it, not the VM itself */
	uint64_t alloc_sites; /* offset of the last ALLOC SITES record, 0: there is none */
	uint64_t begin, body, end; /* offsets of the header, of its first record, and behind its last: other dumps may
	                              precede and follow in the file */
	uint64_t created; /* milliseconds since 1970, of the header */
	uint32_t delay;   /* microseconds from created to the record of the chosen heap */

	struct idmap strings;  /* id -> offset of the UTF8 record */
	struct idmap names;    /* class id -> string id */
	struct idmap serials;  /* class serial -> class id */
	struct idmap frames;   /* id -> offset of the FRAME record */
	struct idmap traces;   /* stack serial -> offset of the TRACE record */
	struct idmap starts;   /* thread serial -> offset of the START THREAD record */

	struct hprof_segment *segments; /* big memory: of the chosen heap, in the dump's order */
	uint32_t n_segments;

	struct idmap extra_threads; /* thread serial -> offset of the record (hprof_extras.c) */
	struct idmap replaced;      /* address -> bits of its roots' records, in place of which are */
	struct root_record *extra_root; /* these: big memory */
	uint64_t n_extra_roots, cap_extra_roots;
	char exported[200];   /* of a file that cairn exported: what it lacks, a sentence */
	struct hprof_note notes[8]; /* warnings of the walk over the top-level records */
	unsigned n_notes;
	bool damaged;
	struct err damage; /* what broke, and where, if damaged */

	bool has_hubs;        /* identifiers of classes are the address of their class object and 1 (hprof_hubs.c) */
	struct idmap hubs;    /* address of a class object -> offset of its instance record */
	struct hprof_hub_field {
		const char *name; /* "<classLoader>", in the arena */
		size_t name_size;
		unsigned type;    /* as in the file */
		uint32_t offset;  /* bytes from the first field's */
	} *hub_fields;        /* big memory: of java.lang.Class */
	uint32_t n_hub_fields;

	pthread_mutex_t lock; /* makes the whole class table once; guards the gaps and the names */
	struct idmap class_names; /* string id -> struct hprof_name *: of the classes asked for */
	struct arena arena;   /* of these names */
	struct idmap gaps;    /* where a long gap between objects begins -> where the next object is */
	_Atomic(struct hprof_classes *) classes;
};

extern uint64_t hprof_part_bytes; /* of a part: PART_BYTES, but tests want many */

static inline uint64_t hprof_id(const uint8_t *p, unsigned id_size)
{
	return id_size == 8 ? load_be64(p) : load_be32(p);
}

/* The address of the class object of a class with this identifier. */
static inline uint64_t hprof_class_object(const struct hprof *h, uint64_t class_id)
{
	return h->has_hubs ? class_id & ~UINT64_C(1) : class_id;
}

/* Bytes of a value, 0 when there is no such type. */
static inline unsigned hprof_type_size(unsigned type, unsigned id_size)
{
	static const uint8_t sizes[12] = { [4] = 1, 2, 4, 8, 1, 2, 4, 8 };
	return type == 2 || type == 1 ? id_size : type < 12 ? sizes[type] : 0;
}

/*
 * Bytes of the sub-record at p, of which `left` bytes are there.  0: no such sub-record can be, and
 * *why says so; UINT64_MAX: it is longer than what is left.  (hprof_class.c)
 */
uint64_t hprof_sub_size(const struct hprof *h, const uint8_t *p, uint64_t left, const char **why);
/*
 * The same for a class record, of which at most so many entries (constants and fields) are looked at:
 * HPROF_UNSEEN where that does not do.  *seen: bytes up to where the looking ended.
 */
#define HPROF_UNSEEN (UINT64_MAX - 1)
uint64_t hprof_class_size(const struct hprof *h, const uint8_t *p, uint64_t left, unsigned most,
    uint64_t *seen);
/* Where in the whole class record at p, of `left` bytes, the list of its instances' fields begins. */
uint64_t hprof_class_fields(const struct hprof *h, const uint8_t *p, uint64_t left);
const char *hprof_sub_name(unsigned tag); /* "an instance record", … */

/* What a dump begins with. */
struct hprof_header {
	char version[9];
	unsigned id_size;
	uint64_t created, body; /* as in struct hprof */
};
/* The header at this offset of the file.  ERR_FORMAT or ERR_TRUNCATED: there is none; err may be NULL. */
MUST_CHECK int hprof_header(struct hprof_header *out, const struct source *s, uint64_t at, struct err *err);

/* Read the header at this offset and walk the top-level records of its dump; what other dumps of the file left in h is
 * replaced.  wanted: which of its heaps to take; 0: the last, or the largest where the dump is damaged; UINT_MAX: none.
 * Damage is noted, not returned.  Errors of the header; ERR_NOMEM, ERR_CANCELLED.  (hprof_top.c) */
struct hprof_walked {
	unsigned n_heaps;
	uint64_t next;    /* where the next dump of the file begins; 0: there is none */
	uint64_t in_vain; /* in and out: bytes walked for stated ends that were wrong, in all dumps of the file */
};
MUST_CHECK int hprof_walk(struct hprof *h, uint64_t begin, unsigned wanted, struct hprof_walked *out, struct err *err);
/* Walk the dump of the file that has the heap of this number, of all dumps; 0 as above.  ERR_USAGE: no heap has it;
 * else as hprof_walk.  (hprof_dumps.c) */
MUST_CHECK int hprof_choose(struct hprof *h, unsigned heap_number, struct err *err);
uint64_t hprof_heap_bytes(const struct hprof *h); /* of the segments of the chosen heap */
void hprof_note(struct hprof *h, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Make the class table: first of the class records before the first object, then, once an object needs
 * another class, of all.  0 or ERR_NOMEM. */
MUST_CHECK int hprof_classes_first(struct hprof *h, struct err *err);
MUST_CHECK int hprof_classes_whole(struct hprof *h, struct err *err);
void hprof_classes_free(struct hprof_classes *c);
const struct hprof_class *hprof_class_of(const struct hprof_classes *c, uint64_t id);

/* Does the dump have hubs?  If so note where they are.  After the facts are stated.  0, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int hprof_hubs_find(struct hprof *h, struct err *err);
/* The fields of the class object at this address, *n bytes; NULL: there is no record of them. */
const uint8_t *hprof_hub(const struct hprof *h, uint64_t address, uint32_t *n);

MUST_CHECK int hprof_read(const struct dump *dump, const struct part *part, struct sink *sink,
    struct err *err);
MUST_CHECK int hprof_locate(const struct dump *dump, uint64_t offset, uint32_t steps,
    struct object_view *out, struct err *err);

MUST_CHECK int hprof_sites(const struct dump *dump, struct site_sink *sink, struct err *err);

/* What the file says was left out of it, when it was copied. */
enum redact_what hprof_redacted(const struct hprof *h);
/* The same and what the dump says of the one that it was exported from.  The offset behind that; 0: cairn did not
 * export it. */
uint64_t hprof_exported(const struct hprof *h, struct hprof_origin *out);
/* The record at this offset if it is the one that says so; or NULL. */
const uint8_t *hprof_origin_record(const struct hprof *h, uint64_t at, struct hprof_origin *out);
/* Note the texts from this offset on.  Then complete what records say of a thread (texts for it are the caller's).
 * extra_root are roots that records of the file say less of; is this such a record's? */
MUST_CHECK int hprof_extras_read(struct hprof *h, uint64_t at, struct err *err);
void hprof_thread_extra(const struct hprof *h, struct thread_record *to, struct text *state, struct text *waits);
bool hprof_root_replaced(const struct hprof *h, const struct root_record *root);
MUST_CHECK int hprof_redact(const struct dump *dump, const struct redaction *r, FILE *to, uint64_t *written,
    struct err *err);
MUST_CHECK int hprof_symbols(const struct dump *dump, symbol_take *take, void *context, struct err *err);

/* The bytes of a string (modified UTF-8, borrowed from the file); NULL when there is none. */
const uint8_t *hprof_string(const struct hprof *h, uint64_t id, size_t *n);
/* The same, but a long string is clipped between characters; *cut says whether it is. */
const uint8_t *hprof_shown_string(const struct hprof *h, uint64_t id, size_t *n, bool *cut);
/* A class's name in the VM's internal spelling, modified UTF-8, "<unknown 0x…>" without one.  It stays
 * until the dump is closed; classes whose name is the same string have the same bytes.  Any thread.  0 or
 * ERR_NOMEM. */
struct hprof_name {
	const uint8_t *bytes;
	size_t n;
};
MUST_CHECK int hprof_class_name(struct hprof *h, uint64_t class_id, struct hprof_name *out,
    struct err *err);
/* Is this the class's name, in the VM's or the language's spelling? */
bool hprof_is_class(const struct hprof *h, uint64_t class_id, const char *internal);
/* A class's name as people read it, plain UTF-8, clipped likewise. */
void hprof_add_shown_name(const struct hprof *h, struct text *to, uint64_t class_id);
/* A stack frame as Java prints it, plain UTF-8.  Of a name beyond 1000 bytes the rest is left out: a
 * dump can have many frames that share one. */
void hprof_add_frame(const struct hprof *h, struct text *to, uint64_t frame_id);

#endif
