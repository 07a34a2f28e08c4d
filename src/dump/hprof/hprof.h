/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof.h - the reader of HPROF files, and what a writer of them must know.  The other headers of this folder are
 * private.
 */
#ifndef CAIRN_DUMP_HPROF_HPROF_H
#define CAIRN_DUMP_HPROF_HPROF_H

#include "dump/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

extern const struct reader hprof_reader;
/* Files of a dump that HotSpot writes in parallel (heapDumper.cpp of JDK 17 and later). */
extern const struct source_division hprof_division;

enum hprof_tag {
	HPROF_UTF8 = 0x01, HPROF_LOAD_CLASS = 0x02, HPROF_UNLOAD_CLASS = 0x03, HPROF_FRAME = 0x04,
	HPROF_TRACE = 0x05, HPROF_ALLOC_SITES = 0x06, HPROF_HEAP_SUMMARY = 0x07,
	HPROF_START_THREAD = 0x0A, HPROF_END_THREAD = 0x0B, HPROF_HEAP_DUMP = 0x0C,
	HPROF_CPU_SAMPLES = 0x0D, HPROF_CONTROL_SETTINGS = 0x0E, HPROF_HEAP_SEGMENT = 0x1C,
	HPROF_HEAP_END = 0x2C, HPROF_ANDROID_CLOCK = 0xA0,
};

enum hprof_sub_tag {
	SUB_JNI_GLOBAL = 0x01, SUB_JNI_LOCAL = 0x02, SUB_JAVA_FRAME = 0x03, SUB_NATIVE_STACK = 0x04,
	SUB_STICKY_CLASS = 0x05, SUB_THREAD_BLOCK = 0x06, SUB_MONITOR = 0x07, SUB_THREAD_OBJECT = 0x08,
	SUB_CLASS = 0x20, SUB_INSTANCE = 0x21, SUB_OBJECT_ARRAY = 0x22, SUB_PRIMITIVE_ARRAY = 0x23,
	SUB_INTERNED = 0x89, SUB_FINALIZING = 0x8A, SUB_DEBUGGER = 0x8B, SUB_REFERENCE_CLEANUP = 0x8C,
	SUB_VM_INTERNAL = 0x8D, SUB_JNI_MONITOR = 0x8E, SUB_UNREACHABLE = 0x90,
	SUB_ARRAY_WITHOUT_DATA = 0xC3, SUB_HEAP_INFO = 0xFE, SUB_UNKNOWN = 0xFF,
};

#define RECORD_HEAD 9 /* tag, time, length of a top-level record */

/*
 * What the first UTF8 record of a file that cairn exported (export -hprof) says of the dump that it was made of.
 * Other readers pass such a text over, as it names nothing.
 */
struct hprof_origin {
	char format[16];          /* "phd" */
	enum redact_what left_out; /* values that are zeros in the file and mean nothing */
	bool fields_invented;     /* fields whose names begin with ? */
	bool roots_inferred;
	bool locals_inferred;
	bool damaged;
	bool superclasses_recorded; /* false: each is java.lang.Object in the file */
	bool loaders_hold_classes; /* facts.h has these three */
	bool array_classes_kept;
	bool class_fields_missing;
	bool instance_sizes;      /* facts.has_instance_sizes */
	bool sizes_recorded;      /* class records have the true size of instances */
	bool sizes_inferred;      /* not of each object */
	unsigned word_bits;       /* of the VM */
	struct recorded_arrays arrays;
};
void hprof_origin_add(const struct hprof_origin *o, struct text *to);
/* Read such a text.  False: it is another. */
bool hprof_origin_read(struct hprof_origin *out, const uint8_t *bytes, size_t n);

struct process_facts;
/* What HPROF has no place for: the texts behind that one (hprof_extras.c).  Serials are those of the file. */
struct hprof_extra_thread {
	uint32_t serial;
	uint64_t native_id;
	const char *state, *waits_for; /* or NULL */
};
struct hprof_extra_root {
	uint64_t address;
	enum root_kind kind;
	uint32_t thread, frame; /* 0 and UINT32_MAX: none */
};
/* Append the text of fact i of a process, or nothing if that is unknown; false behind the last. */
bool hprof_extra_process(struct process_facts *p, size_t i, struct text *to);
void hprof_extra_owners(struct text *to); /* facts.owners_recorded */
void hprof_extra_thread(const struct hprof_extra_thread *t, struct text *to);
/* Nothing of a kind of which the root's own record says all. */
void hprof_extra_root(const struct hprof_extra_root *r, struct text *to);

#endif
