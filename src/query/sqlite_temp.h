/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sqlite_temp.h - SQLite's temporary files go where --spill says, and take no room that is left to others.  Private to
 * src/query.
 */
#ifndef CAIRN_QUERY_SQLITE_TEMP_H
#define CAIRN_QUERY_SQLITE_TEMP_H

#include <sqlite3.h>

/* Before the first database is opened, behind sqlite_memory_begin. */
void sqlite_temp_begin(void);
/* Of each database: where no file can be made (--spill none), what does not fit stays in memory, which is counted.
 * SQLITE_OK or its code. */
int sqlite_temp_rules(sqlite3 *db);

#endif
