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
 * Immutable once opened: any thread.
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

/* The program must have been placed (program_place) and laid under the core (core_add_file); all three outlive the
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
	GOCORE_NO_POINTERS,
	GOCORE_BY_BITMAP, /* 1.22: a bit for each word, at the end of the span */
	GOCORE_BY_HEADER, /* 1.22: each object begins with its type */
	GOCORE_BY_TYPE,   /* 1.22: the span has the type of its one object */
	GOCORE_BY_ARENA,  /* up to 1.21: a bitmap of the whole arena */
};

/* A span in use.  Objects stand at start + i * size, for i below n. */
struct gocore_span {
	uint64_t start, size;   /* address; bytes of each object */
	uint64_t offset;        /* where the first object stands in the source; GOCORE_NOT_THERE: some are missing in it */
	uint32_t n;             /* objects that have room in it */
	uint32_t free_index;    /* all below are allocated */
	const uint8_t *bits;    /* a bit for each object: those at free_index and behind are allocated if it is set */
	const uint8_t *bitmap;  /* GOCORE_BY_BITMAP */
	uint32_t type;          /* GOCORE_BY_TYPE: number of it */
	enum gocore_pointers_by by;
};
#define GOCORE_NOT_THERE UINT64_MAX

/* All spans in use by ascending offset; those that are not there come last. */
const struct gocore_span *gocore_spans(const struct gocore *g, uint32_t *n);
/* The span that has a byte of the source, or NULL.  In constant time. */
const struct gocore_span *gocore_span_of(const struct gocore *g, uint64_t offset);

static inline bool gocore_allocated(const struct gocore_span *s, uint32_t i)
{
	return i < s->free_index || (s->bits[i / 8] >> i % 8 & 1);
}

/* --- pointers of an object ---------------------------------------------------------------------------- */

/* Which words of an object may be pointers: a mask that repeats. */
struct gocore_pointers {
	const struct gocore *image;
	const uint8_t *mask;    /* bit k: word k of a value is a pointer; NULL: `word` is the mask */
	uint64_t word;          /* mask of up to 64 words */
	uint64_t mask_words, value_words; /* words of the mask; a value has so many, and the next one follows */
	uint64_t head, end;     /* words of the object where the first value begins and the last one ends */
	uint64_t address;       /* GOCORE_BY_ARENA: of the object; else 0 */
	uint64_t at;            /* next word to look at */
};

/* The pointers of object i of a span. */
void gocore_pointers_of(const struct gocore *g, const struct gocore_span *s, uint32_t i, struct gocore_pointers *out);
/* The next word that may be a pointer: its offset in the object in bytes; false: there is none. */
bool gocore_pointers_next(struct gocore_pointers *p, uint64_t *offset);
/* Bytes before the value in an object: of a header. */
uint64_t gocore_head(const struct gocore *g, const struct gocore_span *s);

/* --- the state of the runtime ---------------------------------------------------------------------------- */

struct gocore_state {
	const char *release;    /* "go1.24.4 X:…": as the runtime has it, not escaped */
	uint64_t n_release;
	const char *collector;  /* "marking", "sweeping", "idle" */
	uint64_t n_collections;
	uint64_t n_not_there;   /* allocated objects whose bytes are not in the core */
	uint64_t n_swept;       /* dead objects that the collector had not yet swept; they are left out */
	uint64_t n_unknown;     /* objects with pointers of which the core does not tell where they are */
	uint64_t n_in_c;        /* goroutines that run C code: of their frames those in C are not told */
};
const struct gocore_state *gocore_state(const struct gocore *g);

#endif
