/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_reading.h - one reading of one part, which hprof_read.c and hprof_other.c share. */
#ifndef CAIRN_DUMP_HPROF_HPROF_READING_H
#define CAIRN_DUMP_HPROF_HPROF_READING_H

#include "dump/hprof/hprof_dump.h"
#include "memory/arena.h"

enum { CACHED_CLASSES = 2048, BUFFERED = 512, PRIMITIVE_TYPES = 12 };

struct cached_class {
	uint64_t id;
	const struct hprof_class *class; /* NULL: the slot is empty */
	uint32_t handle;
};

/* A TRACE record in names. */
struct hprof_stack {
	size_t n;
	const char *frames[];
};

struct reading {
	const struct hprof *h;
	struct sink *sink;
	bool survey;
	const uint8_t *bytes; /* of the whole file */
	struct part here;     /* given to sink->cut, with its begin set to the cut */
	uint64_t next_cut;    /* offset from which on the next cut is due */
	struct err *err;      /* the first damage, or why the sink refused */
	int result;           /* its code */
	struct hprof_classes *classes;
	uint32_t primitive_handles[PRIMITIVE_TYPES];
	struct field_record *fields; /* big memory: of one class record, statics first */
	size_t cap_fields;
	uint64_t *class_references; /* big memory */
	size_t cap_class_references;
	struct text name;
	struct arena stacks;  /* of threads: what the next two lead to */
	struct idmap traces;  /* stack serial -> struct hprof_stack */
	struct idmap texts;   /* frame id -> its text */
	bool stacks_told;     /* those whose threads the dump does not name */
	struct idmap told; /* classes whose instances had a wrong size, or that are missing */
	struct cached_class cache[CACHED_CLASSES];
	struct object_record gathered[SINK_OBJECTS]; /* for the sink; what HPROF does not record is set once */
	unsigned n_gathered, most_gathered;
	uint64_t targets[BUFFERED]; /* references of the objects gathered */
	size_t n_targets;
};

/* Leave out the record at p, whose identifier is 0, and warn: nothing can refer to it.  Returns 0. */
int hprof_nameless(struct reading *r, const uint8_t *p);

/* The sub-record at p, of size bytes, that is not an object: a class, a root, a thread.  The sink's code. */
int hprof_other(struct reading *r, const uint8_t *p, uint64_t size);

#endif
