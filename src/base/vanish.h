/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vanish.h - mapped files that are truncated while they are mapped.
 *
 * A load from a page that the file no longer has would end the program (SIGBUS).  In watched mappings such pages are
 * replaced, and the load is tried again.  Any thread; the handler itself looks only at the table.
 */
#ifndef CAIRN_BASE_VANISH_H
#define CAIRN_BASE_VANISH_H

#include <stdint.h>

struct vanish;
enum { VANISH_MOST = 512 }; /* mappings at a time */

/* Watch a mapping of so many bytes, of an open file from an offset on.  NULL: there are too many. */
struct vanish *vanish_watch(const void *begin, uint64_t size, int fd, uint64_t offset);
void vanish_forget(struct vanish *v); /* NULL is fine */
/* Pages that are gone read as zeros; or as ones from now on. */
void vanish_as_ones(struct vanish *v);
/* The file's first byte that is known to be gone; UINT64_MAX: none is. */
uint64_t vanish_lost(const struct vanish *v);
/* Remember that the file's bytes from there on are gone. */
void vanish_tell(struct vanish *v, uint64_t offset);

#endif
