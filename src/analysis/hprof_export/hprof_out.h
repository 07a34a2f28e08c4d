/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_out.h - records into an HPROF file: numbers big-endian, sub-records gathered into segments.
 *
 * A failed write is remembered, and what follows is dropped: hprof_out_end reports it.
 */
#ifndef CAIRN_ANALYSIS_HPROF_EXPORT_HPROF_OUT_H
#define CAIRN_ANALYSIS_HPROF_EXPORT_HPROF_OUT_H

#include "base/err.h"
#include "dump/hprof/hprof.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { HPROF_ROOM = 1 << 20 };

struct hprof_out {
	FILE *to;
	unsigned ids;       /* bytes of an identifier: 4 or 8 */
	uint64_t written;
	int failed;         /* errno of the first write that failed, else 0 */
	bool open;          /* room begins with a segment's head */
	bool large;         /* of that one the length is written: it has one sub-record, larger than room */
	size_t n;           /* bytes in room */
	uint8_t *room;      /* HPROF_ROOM bytes */
};

MUST_CHECK int hprof_out_begin(struct hprof_out *o, FILE *to, unsigned ids, struct err *err);
/* code: what became of the rest; 0, that, or ERR_IO in the system's words. */
MUST_CHECK int hprof_out_end(struct hprof_out *o, int code, struct err *err);

void hprof_put(struct hprof_out *o, const void *bytes, uint64_t n);
void hprof_put_zeros(struct hprof_out *o, uint64_t n);
/* A number of n bytes, at most 8. */
void hprof_put_number(struct hprof_out *o, uint64_t number, unsigned n);
static inline void hprof_put_id(struct hprof_out *o, uint64_t id)
{
	hprof_put_number(o, id, o->ids);
}

/* Begin a top-level record of so many bytes, or a sub-record of so many with its tag, at most HPROF_SUB_MOST. */
#define HPROF_SUB_MOST (UINT32_MAX - 1)
void hprof_begin_record(struct hprof_out *o, enum hprof_tag tag, uint32_t n);
void hprof_begin_sub(struct hprof_out *o, enum hprof_sub_tag tag, uint64_t n);

#endif
