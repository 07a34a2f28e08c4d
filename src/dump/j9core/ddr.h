/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ddr.h - what an OpenJ9 VM says of its own structures: their sizes, the offsets of their members, constants.
 *
 * The VM keeps the description in memory ("the DDR blob"), so a core file has that of the very build that wrote it.
 * Members are asked for by name, and a reader that does so needs no knowledge of releases.  Everything in it is
 * hostile.
 *
 * Format: runtime/ddr/j9ddr.c and omr/ddr/lib/ddr-blobgen (genBinaryBlob) of OpenJ9, which write it; integers in the
 * core's byte order.
 */
#ifndef CAIRN_DUMP_J9CORE_DDR_H
#define CAIRN_DUMP_J9CORE_DDR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core;
struct ddr;

/* A member of a structure. */
struct ddr_field {
	uint32_t offset;  /* bytes from the beginning of the structure */
	uint32_t size;    /* bytes of a number or a pointer; 0: it is something else */
	const char *type; /* "struct J9Class*", n_type bytes without a NUL, borrowed from the description */
	uint16_t n_type;
};

/* Read the description at an address of the core, which stays open.  ERR_FORMAT: what is there is none; ERR_TRUNCATED:
 * the core does not have all of it; ERR_NOMEM.  The caller closes it. */
MUST_CHECK int ddr_open(struct ddr **out, const struct core *core, uint64_t address, struct err *err);
void ddr_close(struct ddr *d); /* NULL is fine */

/* Bytes of a description that begins with these n; 0: it is none. */
uint64_t ddr_bytes(const struct core *core, const uint8_t *bytes, uint64_t n);

unsigned ddr_word(const struct ddr *d); /* bytes of UDATA: 4 or 8 */
/* Bytes of a structure; 0: there is none of this name. */
uint32_t ddr_size(const struct ddr *d, const char *structure);
/* A member of a structure or of one that it derives from; false: there is none. */
bool ddr_field(const struct ddr *d, const char *structure, const char *field, struct ddr_field *out);
/* The members that a structure itself has, in its order; false: there is no i-th. */
bool ddr_nth_field(const struct ddr *d, const char *structure, uint32_t i, struct ddr_field *out);
/* A constant of a structure ("J9BuildFlags", "J9VM_ENV_DATA64"); false: there is none. */
bool ddr_constant(const struct ddr *d, const char *structure, const char *name, uint64_t *out);

#endif
