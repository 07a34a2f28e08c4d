/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile_file.h - profiles in files, which outlive their dumps; doc/profile-format.md describes them.
 *
 * A file is an SQLite database.  Whoever made it is not trusted: it is mapped, read without its triggers, views
 * and functions, and each number of it is checked before anybody works with it.  Without libsqlite3 a file is
 * still recognized.
 *
 * Any thread.
 */
#ifndef CAIRN_QUERY_PROFILE_FILE_H
#define CAIRN_QUERY_PROFILE_FILE_H

#include "analysis/compare/compare.h"

#include <stdio.h>

/* Is the file an SQLite database, maybe compressed, so that only profile_read can tell what is wrong with it?
 * False, too, where it cannot be read. */
bool profile_is_file(const char *path);

/* Write a profile behind what stands in the stream, as it is or as gzip compresses it.  0; ERR_UNSUPPORTED in a
 * build without SQLite, ERR_NOMEM, ERR_IO, or ERR_CANCELLED. */
MUST_CHECK int profile_write(const struct profile *p, FILE *to, bool compressed, struct progress *progress,
    struct err *err);

/* Read one.  0: *out is the caller's (profile_release), without of_class; its title is "profile of " and the
 * dump's format.  ERR_FORMAT: it is not a profile, of a newer version, or its rows cannot be true; ERR_UNSUPPORTED in a
 * build without SQLite; ERR_IO, ERR_NOMEM, ERR_CANCELLED.  The message names the file. */
MUST_CHECK int profile_read(struct profile *out, const char *path, struct progress *progress, struct err *err);

/* What it says of its dump at once: when that was written ("": it does not tell), how many objects, and their bytes, no
 * surer than inferred, for the rest of it is not looked at.  False: it cannot be read. */
bool profile_glance(const char *path, char created[static 32], struct amount *objects, struct amount *shallow);

/* "SQLite 3.40.1", or NULL in a build without it. */
const char *profile_support(void);

#endif
