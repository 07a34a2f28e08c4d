/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_writing.h - what the files of the writer share.
 *
 *   hprof_export.c   the order of the file: header, names, stacks, classes, roots, objects
 *   hprof_plan.c     identifiers and fields of classes
 *   hprof_names.c    texts, names of classes, stacks of threads
 *   hprof_classes.c  class records
 *   hprof_objects.c  objects and arrays
 *   hprof_roots.c    roots and threads
 *   hprof_out.c      records and segments
 */
#ifndef CAIRN_ANALYSIS_HPROF_EXPORT_HPROF_WRITING_H
#define CAIRN_ANALYSIS_HPROF_EXPORT_HPROF_WRITING_H

#include "algorithms/string_intern.h"
#include "analysis/hprof_export/hprof_export.h"
#include "analysis/hprof_export/hprof_out.h"
#include "analysis/hprof_export/hprof_plan.h"
#include "base/text.h"
#include "dump/reader.h"

/* A static field as it goes into a class record. */
struct class_value {
	uint32_t name; /* number of its text */
	enum value_type type;
	uint64_t bits;
};

struct hprof_writing {
	const struct heap *h;
	struct hprof_plan plan;
	struct hprof_out out;
	struct hprof_exported *done;
	const struct redaction *leave_out; /* NULL: nothing */
	struct string_intern texts;  /* each is in the file under its number + 1 */
	uint32_t *class_text;        /* number of the name of each class; big memory */
	struct text name;            /* scratch */
	struct class_value *values;  /* scratch, big memory: of one class, those of the constant pool last */
	size_t n_values, cap_values;
	uint64_t *targets;           /* scratch, big memory */
	size_t n_targets, cap_targets;
	uint32_t next_class_serial;
	uint64_t lost_loader;        /* stands for all loaders that the dump lacks; 0: there was none yet */
	struct err *err;
};

static inline enum redact_what hprof_left_out(const struct hprof_writing *w)
{
	return w->leave_out ? w->leave_out->what : REDACT_NOTHING;
}

enum { EMPTY_TRACE = 1 }; /* the serial of the stack of all objects, which has no frames */
/* The serials of a thread and of its stack. */
static inline uint32_t hprof_thread_serial(uint32_t thread)
{
	return thread + 1;
}
static inline uint32_t hprof_trace_serial(uint32_t thread)
{
	return thread + 1 + EMPTY_TRACE;
}

/* The identifier of a text, which is written before where it is new; 0: there was no memory. */
uint64_t hprof_text_id(struct hprof_writing *w, const char *text, bool stays);
/* The name of invented field i: "?3"; or of what is there for the size: "?size3". */
uint64_t hprof_invented_name(struct hprof_writing *w, bool for_size, uint32_t i);

/* All texts, names of classes, stacks: the records in front of the heap. */
MUST_CHECK int hprof_write_names(struct hprof_writing *w);
/* The texts that class records need. */
MUST_CHECK int hprof_class_texts(struct hprof_writing *w, uint32_t class);
MUST_CHECK int hprof_write_class(struct hprof_writing *w, uint32_t class);
MUST_CHECK int hprof_write_objects(struct hprof_writing *w);
MUST_CHECK int hprof_write_roots(struct hprof_writing *w);
/* The texts that say what HPROF has no place for. */
MUST_CHECK int hprof_write_extras(struct hprof_writing *w);

#endif
