/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder.h - a sink that writes down what a reader says, and fails the test where the order of calls
 * is not the one of dump/reader.h.
 *
 * What a line of a format looks like is told by its test, in a table of functions; all that is not in
 * the table is counted or kept, but has no line.
 */
#ifndef CAIRN_TESTS_RECORDER_H
#define CAIRN_TESTS_RECORDER_H

#include "base/text.h"
#include "dump/reader.h"

#define RECORDED_CUTS 256

struct recorder;

/* What class_handle was called with; handles are numbered in the order of their first calls. */
struct recorded_class {
	enum class_naming how;
	uint64_t address;
	size_t name_at, name_size; /* in recorder.names */
};

/* Each appends lines to r->events. */
struct recorder_lines {
	void (*handle)(struct recorder *r, const char *name, size_t n);
	/* c: NULL where the reader told no class, as it may in the fill. */
	void (*object)(struct recorder *r, const struct object_record *o, const struct recorded_class *c);
	void (*class_record)(struct recorder *r, const struct class_record *c);
	void (*reference)(struct recorder *r, uint64_t target);
	void (*root)(struct recorder *r, const struct root_record *root);
	void (*thread)(struct recorder *r, const struct thread_record *thread);
	void (*warning)(struct recorder *r, const char *message);
	void (*stated)(struct recorder *r, const char *what, uint64_t count);
};

struct recorder {
	struct sink sink; /* first */
	const struct recorder_lines *lines;
	struct text events;
	struct text warnings; /* "OFFSET: message\n" */
	struct text stated;   /* "what=count\n" */
	struct text names;    /* of classes, one behind the other */
	struct recorded_class *classes;
	unsigned n_classes, cap_classes;
	struct part cuts[RECORDED_CUTS]; /* the first ones */
	unsigned n_handles, n_cuts, n_objects, n_warnings;
	uint64_t warned_at; /* the last warning's offset */
	uint64_t due;       /* references still to come for the object before */
	struct err err;
};

void recorder_init(struct recorder *r, const struct recorder_lines *lines, bool wants_references);
void recorder_release(struct recorder *r);

/* The name by which a handle was asked for: recorded_class.name_size bytes. */
const char *recorded_name(const struct recorder *r, const struct recorded_class *c);

/* Read these parts in turn, up to the first that fails; the reader's result.  After a part that was read
 * whole no reference may be missing. */
int recorder_read(struct recorder *r, const struct dump *dump, const struct part *parts, unsigned n);
/* Divide the dump into at most want parts, which must follow each other without gaps; then the same. */
int recorder_read_all(struct recorder *r, const struct dump *dump, unsigned want);

#endif
