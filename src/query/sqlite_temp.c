/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sqlite_temp.c - see sqlite_temp.h.
 *
 * All files are SQLite's own; only temporary ones get their folder and a look at the room of the disk here.  SQLite
 * removes their names as soon as they are open.
 */
#include "query/sqlite_temp.h"

#include "memory/spill.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ROOM_STEP = 1 << 20 /* bytes: so often it is asked whether the disk has room */, NAME_ROOM = 1024 };

/* Of a temporary file, behind what the system's has. */
struct temp_file {
	sqlite3_io_methods methods;        /* the system's, but for xWrite */
	const sqlite3_io_methods *system;
	int64_t asked;                     /* there is room up to this offset */
	char name[NAME_ROOM];
};

static sqlite3_vfs ours, *system_vfs;

static struct temp_file *temp_of(sqlite3_file *file)
{
	return (struct temp_file *)((char *)file + ours.szOsFile - sizeof(struct temp_file));
}

static int temp_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 offset)
{
	struct temp_file *f = temp_of(file);
	uint64_t room;
	if (offset + n > f->asked) {
		if (spill_free(&room) && room < (uint64_t)n + ROOM_STEP)
			return SQLITE_FULL;
		f->asked = offset + n + ROOM_STEP;
	}
	return f->system->xWrite(file, from, n, offset);
}

/* False: what does not fit stays in SQLite's memory, which is counted. */
static bool may_have_files(void)
{
	bool memory;
	int fd = spill_open(&memory);
	if (fd >= 0)
		close(fd);
	return fd >= 0 && !memory;
}

static int open_any(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened)
{
	struct temp_file *f = temp_of(file);
	uint64_t number;
	(void)vfs;
	if (name)
		return system_vfs->xOpen(system_vfs, name, file, flags, opened);
	file->pMethods = NULL;
	sqlite3_randomness(sizeof number, &number);
	int n = snprintf(f->name, NAME_ROOM, "%s/cairn-%llx", spill_folder(), (unsigned long long)number);
	int code = n < NAME_ROOM && may_have_files() ? system_vfs->xOpen(system_vfs, f->name, file, flags, opened) :
	    SQLITE_CANTOPEN;
	if (code)
		return code;
	f->asked = 0;
	f->system = file->pMethods;
	f->methods = *f->system;
	f->methods.xWrite = temp_write;
	file->pMethods = &f->methods;
	return SQLITE_OK;
}

static void add_vfs(void)
{
	enum { ALIGNED = 16 };
	system_vfs = sqlite3_vfs_find(NULL);
	if (!system_vfs)
		return;
	ours = *system_vfs;
	ours.pNext = NULL;
	ours.zName = "cairn";
	ours.xOpen = open_any;
	ours.szOsFile = (ours.szOsFile + ALIGNED - 1) / ALIGNED * ALIGNED + (int)sizeof(struct temp_file);
	(void)sqlite3_vfs_register(&ours, 1);
}

void sqlite_temp_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, add_vfs);
}

int sqlite_temp_rules(sqlite3 *db)
{
	return sqlite3_exec(db, may_have_files() ? "PRAGMA temp_store=FILE" : "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
}
