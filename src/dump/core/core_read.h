/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * core_read.h - what the files of src/dump/core share; private to them.
 *
 *   core.c        opening: header and segments
 *   core_notes.c  threads, mapped files, the auxiliary vector
 *   core_file.c   files under the core
 *   core_space.c  which bytes lie at an address
 */
#ifndef CAIRN_DUMP_CORE_CORE_READ_H
#define CAIRN_DUMP_CORE_CORE_READ_H

#include "dump/core/core.h"

/* Bytes at an address. */
/* No machine gives a program addresses from 2^48 on; what the kernel maps there is its own. */
#define ADDRESSES (UINT64_C(1) << 48)

struct core_extent {
	uint64_t begin, end;
	const uint8_t *bytes;
};

struct core_extents {
	struct core_extent *list; /* big memory; by address once settled: then no two overlap */
	size_t n, cap;
};

struct core_file {
	const uint8_t *bytes; /* big_map */
	uint64_t size;
};

/* Arrays are big memory. */
struct core {
	const struct source *source;
	enum core_machine machine;
	unsigned word;
	bool big_endian;
	struct core_extents own;   /* of the core itself, for good */
	struct core_extents all;   /* with those of files */
	uint64_t cut;              /* bytes that stand behind the end of the file */
	uint32_t *top;             /* by address / GB: number of a region and 1, or 0 */
	uint32_t *first;           /* REGION_PARTS for each region: the first of `all` that ends behind it */
	struct core_thread *thread;
	size_t n_threads, cap_threads;
	struct core_mapping *mapping;
	size_t n_mappings, cap_mappings;
	unsigned signal;           /* of the first thread */
	uint64_t created;          /* milliseconds since 1970, 0 unknown */
	const uint8_t *auxiliary;
	uint64_t n_auxiliary;
	struct core_file *file;
	size_t n_files, cap_files;
};

/* An ELF header's parts that cairn reads, of 32 and of 64 bits. */
struct elf_head {
	unsigned word;
	bool big_endian;
	unsigned type, machine;
	uint64_t entry, programs, sections; /* offsets */
	uint64_t n_programs, program_bytes;
};
struct elf_segment {
	unsigned type, flags;
	uint64_t offset, address, in_file, in_memory;
};
/* ERR_FORMAT: it is none. */
MUST_CHECK int elf_head_read(struct elf_head *out, const uint8_t *bytes, uint64_t size, struct err *err);
/* Program header i, which is below n_programs; false: it lies behind the end of the file. */
bool elf_segment_read(const struct elf_head *h, const uint8_t *bytes, uint64_t size, uint64_t i,
    struct elf_segment *out);
uint64_t elf_number(const uint8_t *p, unsigned size, bool big_endian);

/* A list of notes: call take for each, with its name (no NUL) and contents; it stops when take does not return 0.
 * Returns what take returned. */
struct elf_note {
	const uint8_t *name, *bytes;
	uint64_t n_name, n_bytes;
	unsigned type;
};
int elf_each_note(const uint8_t *bytes, uint64_t n, bool big_endian, int (*take)(void *context,
    const struct elf_note *note), void *context);

/* ERR_NOMEM.  What a note has not, or has wrong, is left out. */
MUST_CHECK int core_read_notes(struct core *c, const uint8_t *bytes, uint64_t n, struct err *err);

MUST_CHECK int core_add_extent(struct core_extents *to, uint64_t begin, uint64_t end, const uint8_t *bytes,
    struct err *err);
/* Sort by address, clip what overlaps, join what is one. */
MUST_CHECK int core_settle_extents(struct core_extents *e, struct err *err);
/* Make the index of `all`. */
MUST_CHECK int core_index(struct core *c, struct err *err);

#endif
