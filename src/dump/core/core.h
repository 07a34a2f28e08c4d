/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * core.h - an ELF core file as the memory of a process.
 *
 * A core has the segments of memory that the system wrote, and notes: threads with their registers, mapped files,
 * the auxiliary vector.  Pages that were mapped from a file and not written to are mostly not in it; core_add_file
 * lays the file itself under them.  What neither it nor a file brings is a hole, which is not the same as zeros.
 *
 * Bytes are borrowed from the source or from mapped files and stay until core_close.  Nothing is copied.  From the
 * last core_add_file on any thread may look.
 *
 * Format: the ELF specification, elf(5), core(5); the notes as Linux writes them (fs/binfmt_elf.c, struct
 * elf_prstatus of the machine's asm/elf.h and linux/elfcore.h).
 */
#ifndef CAIRN_DUMP_CORE_CORE_H
#define CAIRN_DUMP_CORE_CORE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core;
struct source;

enum core_machine { CORE_OTHER, CORE_AMD64, CORE_ARM64 };

/* A thread at the moment of the core.  registers: as the machine's user_regs_struct has them, n_registers bytes. */
struct core_thread {
	uint64_t id;         /* the kernel's */
	uint64_t pc, sp, fp; /* 0 unknown; fp: rbp, x29 */
	uint64_t lr;         /* arm64: x30; else 0 */
	const uint8_t *registers;
	uint64_t n_registers;
};

/* A part of a file that was mapped. */
struct core_mapping {
	uint64_t begin, end; /* addresses */
	uint64_t offset;     /* in the file, bytes */
	const char *path;    /* as the file has it, borrowed: not escaped */
};

/* Are these the first bytes of a core file? */
bool core_begins(const uint8_t *head, size_t n);

/* ERR_FORMAT, ERR_TRUNCATED with the offset: nothing can be read; ERR_NOMEM.  The caller closes it. */
MUST_CHECK int core_open(struct core **out, const struct source *source, struct err *err);
void core_close(struct core *c); /* NULL is fine */

enum core_machine core_machine(const struct core *c);
unsigned core_word(const struct core *c); /* bytes of a pointer */
bool core_big_endian(const struct core *c);
/* When cairn copied it, in milliseconds since 1970; 0: other programs wrote it and do not say. */
uint64_t core_created(const struct core *c);
/* The signal that ended the program, or its first thread got last; 0: none, or unknown. */
unsigned core_signal(const struct core *c);
const struct core_thread *core_threads(const struct core *c, size_t *n);
const struct core_mapping *core_mappings(const struct core *c, size_t *n); /* by ascending address */
/* A value of the auxiliary vector (AT_ENTRY, AT_PHDR); false: it is not there. */
bool core_auxiliary(const struct core *c, uint64_t type, uint64_t *value);

/*
 * Lay a file under the core: its loadable segments, moved by `bias`, bring what the core has not.  The file is mapped
 * read only.  Where a build id of the file stands in the core's memory it must be the file's own, else ERR_NOT_FOUND;
 * ERR_IO, ERR_FORMAT, ERR_NOMEM.
 */
MUST_CHECK int core_add_file(struct core *c, const char *path, uint64_t bias, struct err *err);

/*
 * The same of bytes that stay until core_close.  core_agrees: where the core has bytes at these addresses, are they
 * those?  core_drop_added: take away what was laid under it, also by core_add_file.
 */
MUST_CHECK int core_add_bytes(struct core *c, uint64_t begin, const uint8_t *bytes, uint64_t n, struct err *err);
bool core_agrees(const struct core *c, uint64_t begin, const uint8_t *bytes, uint64_t n);
MUST_CHECK int core_drop_added(struct core *c, struct err *err);

/* The bytes at an address, and how many follow without a gap; NULL: they are a hole, or of no mapping.  In constant
 * time. */
const uint8_t *core_bytes(const struct core *c, uint64_t address, uint64_t *n);
/* The same as one piece of n bytes; NULL: some of them are not there, or lie in two places. */
const uint8_t *core_range(const struct core *c, uint64_t address, uint64_t n);
/* Copy n bytes, from several places where need be.  False: some are missing, and `to` is undefined. */
bool core_copy(const struct core *c, uint64_t address, void *to, size_t n);
/* The first address at or behind this one that has bytes; UINT64_MAX: none has. */
uint64_t core_next(const struct core *c, uint64_t address);

/* Is it truncated?  0, or ERR_TRUNCATED with a sentence without advice: the caller may add some.  ERR_FORMAT: its
 * segments cannot be true. */
MUST_CHECK int core_missing(const struct core *c, struct err *err);
/* Bytes of memory that it has itself. */
uint64_t core_size(const struct core *c);

/* A number of `size` bytes (1, 2, 4, 8) at p in the core's byte order. */
uint64_t core_number(const struct core *c, const uint8_t *p, unsigned size);
/* A number or a pointer at an address; false: it is not there, and *out 0. */
bool core_load(const struct core *c, uint64_t address, unsigned size, uint64_t *out);

#endif
