/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * suffixes.h - what the ending of a file's name says: above all, how it is packed.
 *
 * A name is only a hint, for what is not opened yet, is to be written, or stands beside: how a file that is read is
 * packed its first bytes say (dump/source/packing.c).
 */
#ifndef CAIRN_BASE_SUFFIXES_H
#define CAIRN_BASE_SUFFIXES_H

#include <stdbool.h>
#include <stddef.h>

/* How many of the first n characters of a name are one of these endings, the last of which is NULL; 0: it has none, or
 * nothing before it. Upper and lower case are one. */
size_t suffix_of(const char *name, size_t n, const char *const *endings);

/* How many of the first n characters of a name are that ending, of one file that was packed: 3 of "heap.hprof.gz", 0 of
 * "heap.hprof". */
size_t suffix_of_packed(const char *name, size_t n);
/* The same of an archive, itself packed or not: 4 of "dumps.zip", 7 of "dumps.tar.gz". */
size_t suffix_of_archive(const char *name, size_t n);
/* Is it gzip that the name says? */
bool suffix_is_gzip(const char *name);
/* The ending that says any other packing or archive, in the name; NULL: it has none. */
const char *suffix_of_other_packing(const char *name);

#endif
