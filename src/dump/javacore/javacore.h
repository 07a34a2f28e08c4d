/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * javacore.h - what the javacore beside an OpenJ9 heap dump adds: class loaders and threads.
 *
 * Text, line by line; unknown lines are skipped, damage is never fatal.
 */
#ifndef CAIRN_DUMP_JAVACORE_JAVACORE_H
#define CAIRN_DUMP_JAVACORE_JAVACORE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct javacore_loader {
	uint64_t address; /* of the loader object */
	const char *name; /* "sun/misc/Launcher$AppClassLoader", "*System*" */
	uint64_t parent;  /* 0: none */
	bool system;      /* the boot loader */
};

struct javacore_class {
	uint64_t loader;
	const char *name; /* internal spelling */
};

struct javacore_frame {
	const char *text; /* "java/lang/Object.wait(Native Method)" */
};

/* An object that a thread holds: a monitor it entered or waits for. */
struct javacore_monitor {
	uint64_t address;
	size_t frame;   /* index among the thread's frames, or SIZE_MAX */
	bool waiting;   /* blocked on, waiting on, parked on: not owned */
};

struct javacore_thread {
	const char *name;
	uint64_t object;   /* java/lang/Thread object, 0 unknown (J9 <= 2.5) */
	uint64_t vm_thread;
	const char *state; /* "runnable", "waiting", "blocked", "parked", "suspended", "zombie", or the
	                      letters themselves */
	uint64_t native_id;
	int priority;
	bool daemon;
	struct javacore_frame *frames;
	size_t n_frames;
	struct javacore_monitor *monitors;
	size_t n_monitors;
};

struct javacore {
	struct arena arena; /* owns every string below */
	const char *path;
	const char *java_version; /* 1CIJAVAVERSION */
	const char *date;         /* ISO 8601 local time as printed ("2016-04-04T08:39:09"), or "" */
	bool compressed_references;
	unsigned word_bits; /* 0 unknown */
	struct javacore_loader *loaders;
	size_t n_loaders, cap_loaders;
	struct javacore_class *classes; /* in file order */
	size_t n_classes, cap_classes;
	struct javacore_thread *threads;
	size_t n_threads, cap_threads;
};

/* Read path, or, when path is NULL, the javacore that belongs to the dump at dump_path (its name
 * with the sequence number +0, +1, -1).  *out is NULL and the result 0 when there is none beside it. */
MUST_CHECK int javacore_open(struct javacore **out, const char *path, const char *dump_path,
    struct err *err);
void javacore_close(struct javacore *j);

#endif
