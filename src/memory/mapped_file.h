/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mapped_file.h - files that are mapped while another program may write to them in place.
 *
 * What was checked once in a mapping may be another number later.  So its reader asks before and after each answer
 * whether the file changed, and gives none if it did.  Until then such a number may lead outside of an array: a fault
 * that follows ends the program with a sentence and status 3, not as a crash.
 */
#ifndef CAIRN_MEMORY_MAPPED_FILE_H
#define CAIRN_MEMORY_MAPPED_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

enum { MAPPED_FILES_MOST = 64 /* guarded at a time */ };

/* Fill *was for mapped_file_changed, before the first byte of the file is read.  Waits some milliseconds for a file
 * that was changed just now: times of change have the resolution of a clock tick.  False: there is no such file. */
bool mapped_file_stat(int fd, struct stat *was);
/* Was the file written to, or truncated, since then?  Other links, owners and permissions do not count. */
bool mapped_file_changed(int fd, const struct stat *was);

/* Turn faults into a sentence if this open file was changed by then.  Does nothing beyond MAPPED_FILES_MOST files. */
void mapped_file_guard(int fd, const struct stat *was);
void mapped_file_release(int fd);

/* In a handler of a fault: was a guarded file changed?  Then standard error has the sentence, and the program has to
 * end with MAPPED_FILE_STATUS. */
bool mapped_file_is_cause(void);
enum { MAPPED_FILE_STATUS = 3 };

#endif
