/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_files.h - files that have what a core of an OpenJ9 VM lacks.
 *
 * The VM copies its description of structures from the file j9ddr.dat next to libj9vm (runtime/vm/jvminit.c,
 * initializeDDR), byte for byte.  Classes of a shared class cache are in a mapped file, which coredump_filter may
 * have left out.  A file is looked for at the path that the core names, in the core's folder and its archive, and
 * under each folder above it, as an unpacked archive of jpackcore has it.  The description is taken if all that
 * the core has of it is the same and J9RAS fits it; a file of classes, if it is as long as what was mapped and its
 * classes name the superclasses that they have in the core.
 */
#ifndef CAIRN_DUMP_J9CORE_J9CORE_FILES_H
#define CAIRN_DUMP_J9CORE_J9CORE_FILES_H

#include "base/err.h"
#include "base/text.h"

struct core;
struct dump_options;
struct j9core;
struct source;

enum { J9_FILES_MOST = 8 };

struct j9_files {
	struct j9_file {
		struct source *source;
		uint64_t begin, offset, n; /* n bytes of it from `offset` on are at address `begin` */
	} file[J9_FILES_MOST];
	unsigned n;
	struct text laid;    /* "; ... is read from PATH", of each; or empty */
	struct text refused; /* "PATH is of another VM", of the first one; or empty */
};

/* j9core_open, with the files that it needs under the core.  They stay open until j9_files_close, which comes after
 * core_close. */
MUST_CHECK int j9_files_open(struct j9core **out, struct core *core, const struct source *dump,
    const struct dump_options *options, struct j9_files *files, struct err *err);
void j9_files_close(struct j9_files *files);

#endif
