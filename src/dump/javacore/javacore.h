/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * javacore.h - what the javacore of an OpenJ9 heap dump adds: class loaders, threads, facts about the process.
 *
 * A javacore is text.  It is read line by line; lines that the reader does not know are skipped,
 * and damage is never fatal.  What was read does not change afterwards: any thread.
 */
#ifndef CAIRN_DUMP_JAVACORE_JAVACORE_H
#define CAIRN_DUMP_JAVACORE_JAVACORE_H

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "memory/arena.h"

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
	uint64_t loader;   /* address of the loader object */
	uint64_t vm_class; /* address of the VM's own class, which is not an object */
	const char *name;  /* internal spelling: "java/lang/String" */
};

struct javacore_frame {
	const char *text; /* "java/lang/Object.wait(Native Method)" */
};

/* An object whose monitor a thread has entered, or which it waits for. */
struct javacore_monitor {
	uint64_t address;
	size_t frame;   /* the frame that entered it: index in frames; SIZE_MAX: unknown */
	bool waiting;   /* the thread is blocked, waits or is parked on it, and does not own it */
};

/* The one object that a thread is blocked on, waits for or is parked on. */
struct javacore_wait {
	uint64_t address;       /* 0: the javacore names none */
	const char *class_name; /* internal spelling */
	const char *owner;      /* name of the thread that owns its monitor; NULL: unknown */
	uint64_t owner_vm_thread; /* the VM's own address of that thread; 0 unknown */
	bool unowned;           /* the javacore says that nobody owns it */
};

struct javacore_thread {
	const char *name;
	uint64_t object;   /* address of the java/lang/Thread object; 0 unknown (J9 up to 2.5) */
	uint64_t vm_thread; /* the VM's own address of the thread; 0 unknown */
	const char *state; /* "runnable", "waiting", "blocked", "parked", "suspended",
	                      "zombie"; else the letters that the file has */
	uint64_t native_id; /* of the operating system; 0 unknown */
	uint64_t own_id;    /* Thread.getId(); 0 unknown */
	int priority;
	bool daemon;
	struct javacore_frame *frames;
	size_t n_frames;
	struct javacore_monitor *monitors;
	size_t n_monitors;
	struct javacore_wait wait;
};

struct javacore {
	struct arena arena; /* owns every string below */
	const char *path;
	file_hold hold;           /* of the file, which is read and closed by now */
	const char *java_version; /* 1CIJAVAVERSION */
	const char *date;         /* ISO 8601 local time as printed ("2016-04-04T08:39:09"), or "" */
	bool compressed_references;
	unsigned word_bits; /* 0 unknown */
	struct process_facts *process; /* owned; the code that takes it over sets it to NULL */
	struct javacore_loader *loaders; /* big memory, as the next two */
	size_t n_loaders, cap_loaders;
	struct javacore_class *classes; /* in file order */
	size_t n_classes, cap_classes;
	struct javacore_thread *threads;
	size_t n_threads, cap_threads;
	size_t current;        /* index of the thread in which the event was raised; SIZE_MAX: none is named */
	bool out_of_memory;    /* the event is an OutOfMemoryError */
};

/*
 * *out gets the path of the javacore that belongs to the dump at dump_path, which the caller frees, or
 * NULL when there is no file with any of the names that it may have (see javacore_find.c).  Then *passed gets the
 * path of a javacore that the same process wrote at another time, which the caller frees, or NULL; passed may be NULL.
 * ERR_IO when the system does not say whether there is one.
 */
MUST_CHECK int javacore_find(char **out, char **passed, const char *dump_path, struct err *err);

/*
 * Read the javacore at path; if path is NULL, the one that belongs to the dump at dump_path, if a
 * file beside it has one of the names that javacore_find tries.  Returns 0; *out is then the
 * caller's to close, or NULL if there is no such file; passed as javacore_find has it.  On failure (ERR_IO, ERR_NOMEM,
 * ERR_UNSUPPORTED, ERR_FORMAT for a file that is not a javacore) *out is NULL; ERR_IO also when the system
 * does not say whether there is such a file.
 */
MUST_CHECK int javacore_open(struct javacore **out, char **passed, const char *path, const char *dump_path,
    struct err *err);
void javacore_close(struct javacore *j);

/* Why the javacore at path was written, as its first bytes say ("Dump Event ..."), secrets masked: appended to cause,
 * or nothing where the file is none or cannot be read.  Waits for no pipe. */
void javacore_glance(const char *path, struct text *cause);
/* By the cause: did a person want the dump?  Then no trouble caused it. */
bool javacore_was_wanted(const struct process_facts *p);

#endif
