/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sigbus_guard.h - mapped files that are truncated while they are mapped.
 *
 * A load from a page that the file no longer has would end the program (SIGBUS).  In watched mappings such pages are
 * replaced, and the load is tried again.  Any thread; the handler itself looks only at the table.
 */
#ifndef CAIRN_MEMORY_SIGBUS_GUARD_H
#define CAIRN_MEMORY_SIGBUS_GUARD_H

#include <stdint.h>

struct sigbus_guard;
enum { SIGBUS_GUARD_MOST = 512 }; /* mappings at a time */

/* Watch a mapping of so many bytes, of an open file from an offset on.  NULL: there are too many. */
struct sigbus_guard *sigbus_guard_watch(const void *begin, uint64_t size, int fd, uint64_t offset);
void sigbus_guard_forget(struct sigbus_guard *v); /* NULL is fine */
/* Pages that are gone read as zeros; or as ones from now on. */
void sigbus_guard_as_ones(struct sigbus_guard *v);
/* The file's first byte that is known to be gone; UINT64_MAX: none is. */
uint64_t sigbus_guard_lost(const struct sigbus_guard *v);
/* Remember that the file's bytes from there on are gone. */
void sigbus_guard_tell(struct sigbus_guard *v, uint64_t offset);

#endif
