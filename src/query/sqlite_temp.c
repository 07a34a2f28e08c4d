/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sqlite_temp.c - see sqlite_temp.h.
 *
 * Files of a name are the system's, as SQLite opens them.  A temporary one is a file without a name in the folder of
 * --spill (memory/spill.h), which is written and read here: SQLite would look for a folder itself.
 */
#ifdef HAVE_SQLITE3

#include "query/sqlite_temp.h"

#include "memory/spill.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { ROOM_STEP = 1 << 20 }; /* bytes: so often it is asked whether the disk has room */

struct temp_file {
	sqlite3_file base; /* first */
	int fd;
	int64_t asked; /* there is room up to this offset */
};

static sqlite3_vfs ours, *system_vfs;

static int temp_close(sqlite3_file *file)
{
	close(((struct temp_file *)file)->fd);
	return SQLITE_OK;
}

static int temp_read(sqlite3_file *file, void *to, int n, sqlite3_int64 offset)
{
	size_t done = 0, all = n > 0 ? (size_t)n : 0;
	while (done < all) {
		ssize_t got = pread(((struct temp_file *)file)->fd, (char *)to + done, all - done, offset + (off_t)done);
		if (got < 0 && errno != EINTR)
			return SQLITE_IOERR_READ;
		if (!got)
			break;
		done += got > 0 ? (size_t)got : 0;
	}
	memset((char *)to + done, 0, all - done); /* as SQLite wants it */
	return done < all ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int temp_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 offset)
{
	struct temp_file *f = (struct temp_file *)file;
	if (offset + n > f->asked) {
		if (!spill_leaves_room(f->fd, (uint64_t)n + ROOM_STEP))
			return SQLITE_FULL;
		f->asked = offset + n + ROOM_STEP;
	}
	for (int done = 0; done < n;) {
		ssize_t put = pwrite(f->fd, (const char *)from + done, (size_t)(n - done), offset + done);
		if (put <= 0 && !(put < 0 && errno == EINTR))
			return put < 0 && errno != ENOSPC && errno != EFBIG ? SQLITE_IOERR_WRITE : SQLITE_FULL;
		done += put > 0 ? (int)put : 0;
	}
	return SQLITE_OK;
}

static int temp_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return ftruncate(((struct temp_file *)file)->fd, size) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int temp_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = lseek(((struct temp_file *)file)->fd, 0, SEEK_END);
	return *size < 0 ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int temp_nothing(sqlite3_file *file, int how)
{
	(void)file, (void)how;
	return SQLITE_OK;
}

static int temp_is_locked(sqlite3_file *file, int *is)
{
	(void)file;
	*is = 0;
	return SQLITE_OK;
}

static int temp_control(sqlite3_file *file, int what, void *with)
{
	(void)file, (void)what, (void)with;
	return SQLITE_NOTFOUND;
}

static int temp_sector(sqlite3_file *file)
{
	enum { SECTOR = 4096 };
	(void)file;
	return SECTOR;
}

static int temp_can(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static int open_any(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened)
{
	static const sqlite3_io_methods methods = {1, temp_close, temp_read, temp_write, temp_truncate, temp_nothing,
	    temp_size, temp_nothing, temp_nothing, temp_is_locked, temp_control, temp_sector, temp_can, NULL, NULL, NULL,
	    NULL, NULL, NULL};
	struct temp_file *f = (struct temp_file *)file;
	bool memory;
	(void)vfs;
	if (name)
		return system_vfs->xOpen(system_vfs, name, file, flags, opened);
	*f = (struct temp_file){.fd = spill_open(&memory)};
	if (f->fd >= 0 && memory) { /* that is SQLite's own, which is counted */
		close(f->fd);
		f->fd = -1;
	}
	if (f->fd < 0)
		return SQLITE_CANTOPEN;
	f->base.pMethods = &methods;
	if (opened)
		*opened = flags;
	return SQLITE_OK;
}

static void add_vfs(void)
{
	system_vfs = sqlite3_vfs_find(NULL);
	if (!system_vfs)
		return;
	ours = *system_vfs;
	ours.pNext = NULL;
	ours.zName = "cairn";
	ours.xOpen = open_any;
	if (ours.szOsFile < (int)sizeof(struct temp_file))
		ours.szOsFile = (int)sizeof(struct temp_file);
	(void)sqlite3_vfs_register(&ours, 1);
}

void sqlite_temp_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, add_vfs);
}

int sqlite_temp_rules(sqlite3 *db)
{
	bool memory;
	int fd = spill_open(&memory);
	if (fd >= 0)
		close(fd);
	return sqlite3_exec(db, fd < 0 || memory ? "PRAGMA temp_store=MEMORY" : "PRAGMA temp_store=FILE", NULL, NULL, NULL);
}

#endif
