/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_hprof_bench.h - an HPROF dump written as it comes, in constant memory, for "mkdump bench".
 *
 * First every class (stream_class, which also fixes what its instances look like: so many references, then
 * ints), then stream_classes_end, then objects.
 */
#ifndef CAIRN_TESTS_MKDUMP_HPROF_BENCH_H
#define CAIRN_TESTS_MKDUMP_HPROF_BENCH_H

#include "mkdump.h"

struct hprof_stream {
	struct out *out;
	unsigned char *segment; /* sub-records of the heap dump segment at hand */
	size_t used;
	uint32_t n_classes, n_threads;
	unsigned char *classes; /* class dumps, which follow the names of all */
	size_t n_class_bytes;
};

void stream_begin(struct hprof_stream *s, struct out *out);
/* references and ints: fields of an instance, none for arrays; loader: address or 0 */
void stream_class(struct hprof_stream *s, uint64_t address, uint64_t super, uint64_t loader, const char *name,
    unsigned references, unsigned ints);
void stream_classes_end(struct hprof_stream *s);
/* n of the references are not null; the ints are drawn from a hash of the address. */
void stream_instance(struct hprof_stream *s, uint64_t address, uint64_t class, const uint64_t *references, uint32_t n,
    unsigned n_fields, unsigned ints);
void stream_array(struct hprof_stream *s, uint64_t address, uint64_t class, const uint64_t *references, uint32_t n,
    uint32_t length);
void stream_primitives(struct hprof_stream *s, uint64_t address, enum element element, uint32_t length);
void stream_root(struct hprof_stream *s, unsigned tag, uint64_t address); /* tag: 0x05 a class, 0x08 a thread */
void stream_end(struct hprof_stream *s);

#endif
