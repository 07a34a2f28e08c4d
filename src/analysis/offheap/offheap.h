/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offheap.h - the door of this folder: memory outside of the heap that objects own.
 *
 * An *owner* is the object whose end frees the memory.  Of the buffers that share memory that is the one with a
 * cleaner, not its slices and duplicates; of memory segments it is their session.  If the dump has no such object
 * (native code lent the memory, or Unsafe allocated it), the largest object that refers to the memory counts as the
 * owner, inferred.
 *
 * Owners are found through fields of the JDK, as its releases 5 to 28 and Android have them.  In a dump without values
 * they follow from references, and sizes are unknown.  Sizes that no field has are unknown, or inferred from what
 * zlib takes by its defaults.
 *
 * Pure functions of a heap, any thread.  Takes 56 bytes an owner, 40 a memory segment and some bits an object.
 */
#ifndef CAIRN_ANALYSIS_OFFHEAP_OFFHEAP_H
#define CAIRN_ANALYSIS_OFFHEAP_OFFHEAP_H

#include "base/amount.h"
#include "base/err.h"

#include <stddef.h>

struct err;
struct heap;
struct progress;

enum offheap_kind {
	OFFHEAP_DIRECT,     /* a direct buffer with a cleaner */
	OFFHEAP_MAPPED,     /* a mapped file */
	OFFHEAP_SEGMENT,    /* a memory segment */
	OFFHEAP_NETTY,      /* a buffer without a cleaner, held by Netty, which frees it itself */
	OFFHEAP_LENT,       /* another buffer without a cleaner, of JNI or Unsafe */
	OFFHEAP_CLEANER,    /* what another cleaner frees, of known size */
	OFFHEAP_REGISTERED, /* of Android's NativeAllocationRegistry */
	OFFHEAP_DEFLATER, OFFHEAP_INFLATER,
	OFFHEAP_ZIP,        /* a ZIP file that is open, whose directory native code keeps (JDK 8 and before) */
	OFFHEAP_STACK,      /* of a thread that runs */
	OFFHEAP_KINDS
};
const char *offheap_kind_name(enum offheap_kind kind); /* "direct", "mapped", … */

struct offheap_owner {
	uint32_t object;         /* its id */
	enum offheap_kind kind;
	struct amount capacity;  /* bytes */
	uint64_t limit;          /* of a buffer, bytes; OFFHEAP_NO_LIMIT: it is none */
	uint64_t address;        /* of the memory, 0 unknown */
	bool reserved;           /* java.nio.Bits counts it */
};
#define OFFHEAP_NO_LIMIT UINT64_MAX

struct offheap {
	struct offheap_owner *owner; /* by kind, then object; big memory */
	size_t n, cap;
	uint64_t views;   /* buffers and segments that share another's memory */
	uint64_t lost;    /* such that lead to no owner in the dump */
	uint64_t freed;   /* owners whose memory was given back: ended, closed, cleaned */
	uint64_t broken;  /* objects left out because their values are impossible */
	bool told_by_references; /* the dump has no values: no sizes, and owners are inferred */
};

/* 0: *out is the caller's (offheap_release).  ERR_UNSUPPORTED: the dump has nothing about it, and why.  ERR_NOMEM,
 * ERR_CANCELLED. */
MUST_CHECK int offheap_find(struct offheap *out, const struct heap *h, struct progress *progress, struct err *err);
void offheap_release(struct offheap *o);

/* The program's own counters of such memory. */
struct offheap_count {
	const char *name;      /* "java.nio.Bits", "mapped files", "Netty" */
	enum offheap_counter { COUNTS_DIRECT, COUNTS_MAPPED, COUNTS_SYNC, COUNTS_NETTY, COUNTS_OPTION } which;
	struct amount count, capacity, reserved, limit; /* each may be unknown */
};
enum { OFFHEAP_COUNTS = 4 };
/* Read the counters; returns how many. */
unsigned offheap_counts(const struct heap *h, struct offheap_count to[OFFHEAP_COUNTS]);
/* The owners that java.nio.Bits counts, or the mappings that FileChannelImpl does, and their bytes. */
void offheap_sum(const struct offheap *o, bool mapped, uint64_t *n, uint64_t *bytes);

#endif
