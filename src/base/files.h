/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * files.h - the files that the program reads, and the only functions that open a file to write.
 *
 * Code that reads a file which must outlive this program holds it: a dump, the javacore and the program
 * beside it, a script.  Files are identified by device and inode, so a link, another name or a
 * redirection of the shell is the same file.  Any thread.
 */
#ifndef CAIRN_BASE_FILES_H
#define CAIRN_BASE_FILES_H

#include "base/err.h"

#include <sys/stat.h>
#include <sys/types.h>

/*
 * A path names a file, or a member of an archive: "dumps.zip::heap.hprof".  Where there is a file of the whole name, it
 * is that file; else the first "::" behind the name of a file ends that name.  Returns where it stands; NULL: no member
 * is named.
 */
const char *file_member(const char *path);
/* From now on this name, a text that stays, counts as a file's there, whatever stands at that path: of standard input.
 * Before there are other threads. */
void file_name_counts(const char *name);
/* stat() of the file that is named, or of the archive. */
int file_stat(const char *path, struct stat *st);

/* Open it to read: a descriptor, or -1 with errno.  Never waits. */
int file_open_read(const char *path);
bool file_readable(const char *path);
/* Its absolute path without links, the member behind it: the caller's (free).  Of one that is not there: as it is. */
char *file_real_path(const char *path);

/* Stands for a file that is held; 0: none. */
typedef uint64_t file_hold;

/* Hold the regular file behind a descriptor; what it is ("the dump") is a string that stays.  0 for
 * anything but a regular file. */
MUST_CHECK file_hold file_hold_open(int fd, const char *what);
/* The same for a file that will be opened later, or the archive of a member. */
MUST_CHECK file_hold file_hold_path(const char *path, const char *what);
void file_let_go(file_hold hold); /* 0 is fine */

/* What the file of a descriptor is held as ("the dump"); NULL: it is not held. */
const char *file_held_as(int fd);

/*
 * Open a file to write to it.  Its bytes stay as they are: O_TRUNC is left to the caller, who may
 * look at the file first.  flags are open()'s, mode is for O_CREAT.  Returns a descriptor, or ERR_USAGE
 * for a file that is held, or ERR_IO; the message names the file.
 */
MUST_CHECK int file_open_to_write(const char *path, int flags, mode_t mode, struct err *err);

/*
 * Open a file whose name the program chose: the history, the marks of a dump.  It is a regular file of this user, and
 * made for this user alone (0600) where flags have O_CREAT.  A link is not followed: another user may have made it.
 * As file_open_to_write; -1 for a file of another kind, too.
 */
MUST_CHECK int file_open_own(const char *path, int flags);

/*
 * May a file get this name, which the program chose?  0 where nothing is there, or a regular file that `ours` knows
 * (NULL: any).  Else ERR_USAGE: a link, which is never followed, another kind of file, one that is held, or one that
 * is not ours; or ERR_IO.
 */
MUST_CHECK int file_may_have_name(const char *path, bool (*ours)(const char *path), struct err *err);

/* Give a file that was written the name of another one, which it replaces.  0 or ERR_IO, in the system's words. */
MUST_CHECK int file_take_name(const char *path, const char *name, struct err *err);

/* When a program starts: closed standard descriptors are filled, so no file is opened in their place, and a file that
 * outgrows its limit fails to be written instead of ending the program. */
void files_prepare(void);

#endif
