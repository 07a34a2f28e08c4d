/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sqlite_memory.h - SQLite's memory is big memory: files and statements decide how much it takes, so --mem limits it.
 * Private to src/query.
 */
#ifndef CAIRN_QUERY_SQLITE_MEMORY_H
#define CAIRN_QUERY_SQLITE_MEMORY_H

#include "base/progress.h"

/* Before the first of SQLite's functions, and before each job of the calling thread: forgets what was refused. */
void sqlite_memory_begin(void);
/* What the last refusal of the calling thread said, which SQLite does not hand on; "": nothing was refused. */
const char *sqlite_memory_refusal(void);

/* From now on the calling thread is refused memory once this work is stopped; NULL: none is watched.  SQLite looks at
 * nothing else while it prepares a statement, and a few lines can name more than there is time for.  Returns what was
 * watched before. */
struct progress *sqlite_memory_watch(struct progress *progress);

#endif
