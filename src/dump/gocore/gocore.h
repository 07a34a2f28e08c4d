/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore.h - the heap of a Go program in a core file.
 *
 * debug.WriteHeapDump walks the runtime's own structures and writes them as records.  This room walks the same
 * structures in the memory of a core.  What a heap dump would have beside its objects comes out as the same records
 * (dump/go/go_record.h), so that one reader has one meaning for both; it is little.  The objects stay where they are:
 * in spans, which tell sizes, which objects are allocated, and which of their words are pointers.
 *
 * The runtime's structures are known by their names in the program's DWARF: which members a release has, and where,
 * is looked up, not compiled in.
 *
 * Immutable once opened, but for types, which are noted under a lock when they are first met: any thread.
 *
 * Rules: the sources of Go 1.19 to 1.27, package runtime: mheap.go, mbitmap.go, msize*.go, malloc.go, mgcsweep.go,
 * mgcmark_greenteagc.go, heapdump.go, symtab.go, stack.go, stkframe.go, traceback.go; internal/abi/type.go.
 */
#ifndef CAIRN_DUMP_GOCORE_GOCORE_H
#define CAIRN_DUMP_GOCORE_GOCORE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct program;
struct source;
struct gocore;

/* What the runtime in a core says of its program, which must be so in the file (program_check).  False: this one has no
 * Go runtime. */
struct program_match;
bool gocore_match(const struct core *core, const struct program *program, struct program_match *out);

/* The program must have been placed (program_move) and laid under the core (core_add_file); all three outlive the
 * image.  ERR_UNSUPPORTED, with a sentence: no Go program, a release that is too old, or what is missing; ERR_NOMEM,
 * ERR_CANCELLED. */
MUST_CHECK int gocore_open(struct gocore **out, const struct core *core, const struct source *source,
    struct program *program, struct err *err);
void gocore_close(struct gocore *g); /* NULL is fine */

/* The records, parameters first, without objects; they end with an end record.  *n bytes. */
const uint8_t *gocore_records(const struct gocore *g, uint64_t *n);

/* --- spans ------------------------------------------------------------------------------------------ */

/* How the pointers of a span's objects are told. */
enum gocore_pointers_by {
	GOCORE_NO_POINTERS = 1,
	GOCORE_BY_BITMAP, /* 1.22: a bit for each word, at the end of the span */
	GOCORE_BY_HEADER, /* 1.22: each object begins with its type */
	GOCORE_BY_TYPE,   /* 1.22: the span has the type of its one object */
	GOCORE_BY_ARENA,  /* up to 1.21: a bitmap of the whole arena */
};

struct gocore_type {
	uint64_t size, pointers; /* bytes of a value; of it up to the last pointer */
	const uint8_t *mask;     /* a bit for each word of `pointers`; NULL: not known */
};

/*
 * Objects of a span in use whose bytes follow one another in the source: object i, for i from `first` on and below
 * `end`, stands at start + i * size.
 */
struct gocore_span {
	uint64_t start, size;   /* address of object 0; bytes of each */
	uint64_t offset;        /* where object `first` stands in the source */
	uint32_t first, end;
	uint32_t free_index;    /* all below are allocated */
	enum gocore_pointers_by by;
	const uint8_t *bits;    /* a bit for each object: those at free_index and behind are allocated if it is set */
	const uint8_t *bitmap;  /* GOCORE_BY_BITMAP: a bit for each word from start on */
	const struct gocore_type *type; /* GOCORE_BY_TYPE */
};

/* By ascending offset. */
const struct gocore_span *gocore_spans(const struct gocore *g, uint32_t *n);
/* The span that has a byte of the source, or NULL.  In constant time. */
const struct gocore_span *gocore_span_of(const struct gocore *g, uint64_t offset);

static inline bool gocore_allocated(const struct gocore_span *s, uint32_t i)
{
	return i < s->free_index || (s->bits[i / 8] >> i % 8 & 1);
}
static inline uint64_t gocore_offset(const struct gocore_span *s, uint32_t i)
{
	return s->offset + (i - s->first) * s->size;
}

/* --- pointers of an object ---------------------------------------------------------------------------- */

/* Which words of an object may be pointers: bits, which repeat with each value of an array.  One thread each. */
struct gocore_pointers {
	uint64_t bits, base;       /* of the words from base on (of the object), 64 at most; those that came are off */
	bool (*more)(struct gocore_pointers *p); /* gets the next bits; false: there are none */
	/* What `more` needs. */
	const void *of;
	const uint8_t *mask;       /* NULL: it is `pattern`, of up to 64 words */
	uint64_t pattern;
	uint64_t mask_words, value_words; /* of a value: those that the mask is about; all.  0: nothing is behind `bits` */
	uint64_t value, next;      /* where the current value begins, in words; words of it that were looked at */
	uint64_t last;             /* words of the object in which there may be pointers */
	uint64_t address;          /* of the object */
};

/* The next one: its offset in the object in bytes.  False: there is none. */
static inline bool gocore_pointers_next(struct gocore_pointers *p, uint64_t *offset)
{
	while (!p->bits)
		if (!p->more || !p->more(p))
			return false;
	*offset = (p->base + (uint64_t)__builtin_ctzll(p->bits)) * 8;
	p->bits &= p->bits - 1;
	return true;
}

/* The pointers of object i of a span, from a word of it on. */
void gocore_pointers_of(const struct gocore *g, const struct gocore_span *s, uint32_t i, uint64_t from,
    struct gocore_pointers *out);
/* What tells the pointers of object i apart from those of other objects of this size and span->by, if it is a word:
 * bits, or the address of a descriptor; false: nothing short does. */
bool gocore_pattern(const struct gocore *g, const struct gocore_span *s, uint32_t i, uint64_t *out);
/* Bytes before the value in the objects of a span: of a header. */
static inline uint64_t gocore_head(const struct gocore_span *s)
{
	return s->by == GOCORE_BY_HEADER ? 8 : 0;
}

/* --- the state of the runtime ---------------------------------------------------------------------------- */

struct gocore_state {
	const char *release;    /* "go1.24.4 X:…": as the runtime has it, not escaped */
	uint64_t n_release;
	const char *collector;  /* what it was doing: "marking", "sweeping", "idle" */
	uint64_t n_collections;
	uint64_t pause_last, pause_longest; /* nanoseconds, the longest of the last 256; 0 unknown */
	uint64_t n_lost;        /* spans that the heap lists and the core does not have; their objects are unknown */
	uint64_t n_not_there;   /* allocated objects whose bytes are not in the core */
	uint64_t n_unswept;     /* spans whose dead objects the collector had not yet swept; they are left out */
	uint64_t n_missing;     /* bytes of data and bss that are not in the core */
	uint64_t n_unknown;     /* objects with pointers of which the core does not tell where they are */
	uint64_t n_in_c;        /* goroutines that run C code: of their frames those in C are not told */
};
const struct gocore_state *gocore_state(const struct gocore *g);

/* The memory statistics of the runtime, by their names in runtime.MemStats; as go_memstats_name has their units.  Their
 * number: GOCORE_STATS, or 0 where a member is missing. */
enum { GOCORE_STATS = 17 };
struct gocore_stat {
	const char *name;
	uint64_t value;
};
size_t gocore_stats(const struct gocore *g, struct gocore_stat out[GOCORE_STATS]);

#endif
