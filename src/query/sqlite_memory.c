/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sqlite_memory.c - see sqlite_memory.h. */
#include "query/sqlite_memory.h"

#include "memory/big.h"
#include "query/sqlite_temp.h"

#include <pthread.h>
#include <sqlite3.h>

static _Thread_local struct err refused;
static _Thread_local struct progress *watched;
static _Thread_local uint64_t rounds;

static void *sql_malloc(int n)
{
	return progress_stops(watched, rounds++) ? NULL : big_alloc(1, (uint64_t)n, &refused);
}

static void *sql_realloc(void *old, int n)
{
	return progress_stops(watched, rounds++) ? NULL : big_resize(old, 1, (uint64_t)n, &refused);
}

static void sql_free(void *p)
{
	big_free(p);
}

static int sql_size(void *p)
{
	return (int)big_bytes(p);
}

static int sql_roundup(int n)
{
	return (n + 7) & ~7;
}

static int sql_init(void *nothing)
{
	(void)nothing;
	return SQLITE_OK;
}

static void sql_shutdown(void *nothing)
{
	(void)nothing;
}

/* Before the first of SQLite's functions. */
static void configure(void)
{
	static const sqlite3_mem_methods memory = {sql_malloc, sql_free, sql_realloc, sql_size, sql_roundup, sql_init,
	    sql_shutdown, NULL};
	/* where somebody has begun already, the memory is the library's: all works as well */
	(void)sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

void sqlite_memory_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	refused.message[0] = '\0';
	pthread_once(&once, configure);
	sqlite_temp_begin();
}

struct progress *sqlite_memory_watch(struct progress *progress)
{
	struct progress *before = watched;
	watched = progress;
	return before;
}

const char *sqlite_memory_refusal(void)
{
	return refused.message;
}
