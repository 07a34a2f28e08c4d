/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_record.h - one record of a Go heap dump, decoded by a table.
 *
 * A decoded record holds numbers in u, strings in s, and maybe a list of fields (F below).  The
 * enums below name the places in u and say what s holds; a place that a version of the format does
 * not write is 0.  Any thread.
 */
#ifndef CAIRN_DUMP_GO_GO_RECORD_H
#define CAIRN_DUMP_GO_GO_RECORD_H

#include "base/err.h"
#include "dump/cursor.h"
#include "dump/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum go_tag {
	GO_EOF, GO_OBJECT, GO_ROOT, GO_TYPE, GO_GOROUTINE, GO_FRAME, GO_PARAMS, GO_FINALIZER, GO_ITAB,
	GO_THREAD, GO_MEMSTATS, GO_QUEUED, GO_DATA, GO_BSS, GO_DEFER, GO_PANIC, GO_BUCKET, GO_SAMPLE,
	GO_TAGS
};

/* Kinds of fields; from go1.5 on there are pointers only. */
enum go_field { GO_END, GO_POINTER, GO_STRING, GO_SLICE, GO_INTERFACE, GO_EMPTY_INTERFACE };

/* Places in u. */
enum { OBJECT_ADDRESS, OBJECT_TYPE, OBJECT_KIND }; /* the last two: go1.3; s[0] contents; F */
enum { ROOT_POINTER };                             /* s[0] description */
enum { TYPE_ADDRESS, TYPE_SIZE, TYPE_INDIRECT };   /* s[0] name, empty where go1.4 and go1.5 lost it; go1.3: F */
enum {
	GOROUTINE_ADDRESS, GOROUTINE_SP, GOROUTINE_ID, GOROUTINE_CREATED_PC, GOROUTINE_STATUS,
	GOROUTINE_SYSTEM, GOROUTINE_BACKGROUND, GOROUTINE_SINCE, GOROUTINE_CONTEXT, GOROUTINE_M,
	GOROUTINE_TOP_DEFER, GOROUTINE_TOP_PANIC        /* s[0] wait reason */
};
enum {
	FRAME_SP, FRAME_DEPTH, FRAME_CHILD_SP, FRAME_ENTRY, FRAME_PC, FRAME_CONTINUE_PC
};                                                 /* s[0] contents, s[1] function; F */
enum {
	PARAMS_BIG_ENDIAN, PARAMS_WORD, PARAMS_CHANNEL, PARAMS_START, PARAMS_END, PARAMS_ARCH_LETTER,
	PARAMS_CPUS                                     /* s[0] architecture, s[1] version */
};
enum { FINALIZER_OBJECT, FINALIZER_CLOSURE, FINALIZER_ENTRY, FINALIZER_ARGUMENT, FINALIZER_TYPE };
enum { ITAB_ADDRESS, ITAB_TYPE };                  /* go1.3: whether the data word is a pointer */
enum { THREAD_ADDRESS, THREAD_ID, THREAD_OS_ID };
enum { MEMSTATS_HEAP_ALLOC = 6, MEMSTATS_HEAP_OBJECTS = 11, MEMSTATS_N_GC = 24 }; /* s[0] pauses */
enum { SEGMENT_ADDRESS };                          /* data and bss: s[0] contents; F */
enum {
	DEFER_ADDRESS, DEFER_GOROUTINE, DEFER_SP, DEFER_PC, DEFER_CLOSURE, DEFER_ENTRY, DEFER_NEXT
};
enum { PANIC_ADDRESS, PANIC_GOROUTINE, PANIC_TYPE, PANIC_DATA, PANIC_DEFER, PANIC_NEXT };
enum { BUCKET_ID, BUCKET_SIZE, BUCKET_FRAMES, BUCKET_ALLOCS, BUCKET_FREES }; /* s[0] frames */
enum { SAMPLE_ADDRESS, SAMPLE_BUCKET };

struct go_bytes {
	const uint8_t *p; /* borrowed from the file */
	uint64_t n;
};

struct go_record {
	enum go_tag tag;
	uint64_t offset, next; /* of this record and of the next one */
	uint64_t u[26];
	struct go_bytes s[2];
	struct go_bytes fields; /* the raw list, its end included; p NULL: this record has none */
};

/*
 * Decode the record at `offset` of a file of `size` bytes.  ERR_TRUNCATED if the file ends in it,
 * ERR_FORMAT if it is impossible; the message names the byte.
 */
MUST_CHECK int go_record_decode(const uint8_t *bytes, uint64_t size, uint64_t offset,
    unsigned version, struct go_record *out, struct err *err);
const char *go_tag_name(enum go_tag tag); /* "an object record" */

/* The name of the memory statistic at a place of u; NULL behind the last. */
const char *go_memstats_name(unsigned place, enum stated_unit *unit);

/* Of a record of memory statistics: how long, in nanoseconds, the last collection stopped the program, and the
 * longest of those that the runtime keeps, the last GO_PAUSES; 0 where there was none.  The ring begins with
 * the first: runtime.MemStats, PauseNs. */
enum { GO_PAUSES = 256 };
void go_pauses(const struct go_record *r, uint64_t *last, uint64_t *longest);

/* Take the next frame from a bucket's s[0] and move *frames behind it.  False behind the last. */
struct go_site_frame {
	struct go_bytes function, file;
	uint64_t line;
};
bool go_site_next(struct go_bytes *frames, struct go_site_frame *out);

/* --- numbers ---------------------------------------------------------------------------------------- */

/* Read a number at *p and move *p behind it.  False: it does not end before `end`, or has more than
 * 64 bits; *p then stays.  go_varint does the same, quickly for most numbers. */
bool go_varint_slow(const uint8_t **p, const uint8_t *end, uint64_t *out);

/* Numbers of up to 8 bytes, where 8 can be read, without a loop: groups of 7 bits are moved together
 * in pairs. */
static inline bool go_varint(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	const uint64_t high = UINT64_C(0x8080808080808080);
	if (end - *p < 8)
		return go_varint_slow(p, end, out);
	uint64_t v = load_le64(*p), stop = ~v & high;
	if (!stop)
		return go_varint_slow(p, end, out);
	v &= (stop ^ (stop - 1)) & ~high;
	v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
	v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
	v = (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
	*out = v;
	*p += (__builtin_ctzll(stop) >> 3) + 1;
	return true;
}

/* Read the next field of a list, its kind and offset, and move *p on.  False at the end of the
 * list, with *p behind it, and where the list is broken. */
static inline bool go_field_next(const uint8_t **p, const uint8_t *end, uint64_t *kind,
    uint64_t *offset)
{
	return go_varint(p, end, kind) && *kind && go_varint(p, end, offset);
}

#endif
