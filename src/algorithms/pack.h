/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.h - structs as a stream of small numbers and texts, written and read back by the same functions.
 *
 * pack_number(p, &n, most) appends n, or reads it and makes sure that it is at most `most`: so what is
 * written and what is read have the same order, and every number is checked.  The first that does not fit
 * is remembered (p->bad), and everything read after it is 0 or NULL.  Texts stand in a
 * second stream, each once (long ones that stand in two places may be there twice); what is read must be as
 * text_add_escaped would leave it.  One thread.
 */
#ifndef CAIRN_ALGORITHMS_PACK_H
#define CAIRN_ALGORITHMS_PACK_H

#include "algorithms/map.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack {
	bool reading, bad;
	/* reading: both outlive what was read */
	const uint8_t *at, *end;
	const char *texts;
	uint64_t n_texts;
	/* writing: big memory */
	uint8_t *out;
	uint64_t n, cap;
	char *text;
	uint64_t n_text, cap_text;
	struct packed_text {
		uint64_t at;      /* its offset */
		const char *from; /* a long one: where it came from; else NULL */
	} *packed;
	uint64_t n_texts_out, cap_packed;
	struct map map;
	struct err lost; /* no memory */
};

/* Write: begin with a zeroed struct; then p->out and p->text are the streams.  0 or ERR_NOMEM. */
MUST_CHECK int pack_written(const struct pack *p, struct err *err);
void pack_release(struct pack *p);

/* Read these streams.  False: the texts are none that were written. */
bool pack_open(struct pack *p, const void *numbers, uint64_t n, const void *texts, uint64_t n_texts);
/* All was read, and held. */
bool pack_ends(const struct pack *p);

void pack_number(struct pack *p, uint64_t *n, uint64_t most);
void pack_text(struct pack *p, const char **text); /* may be NULL; read ones stand in the texts */
/* A count of things of which each takes at least a byte of the stream: never more than it has. */
void pack_count(struct pack *p, uint64_t *n, uint64_t most);
/* A number below n, or UINT32_MAX. */
void pack_id(struct pack *p, uint32_t *id, uint64_t n);

/* The same for a member of any unsigned type. */
#define PACK(p, member, most) PACK_BY(pack_number, p, member, most)
#define PACK_COUNT(p, member, most) PACK_BY(pack_count, p, member, most)
#define PACK_BY(how, p, member, most)                                                              \
	do {                                                                                       \
		uint64_t packed = (uint64_t)(member);                                              \
		how((p), &packed, (most));                                                         \
		if ((p)->reading)                                                                  \
			(member) = (__typeof__(member))packed;                                     \
	} while (0)

#endif
