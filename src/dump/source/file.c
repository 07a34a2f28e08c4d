/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - a dump's file, opened and mapped.
 *
 * Every mapping is watched (memory/sigbus_guard.h): pages that the file no longer backs are replaced by zeros, so a
 * reader meets an end of data and not the end of the program.
 */
#include "dump/source/opening.h"

#include "memory/big.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *not_a_file(mode_t mode)
{
	if (S_ISDIR(mode))
		return "is a directory (name the dump file in it)";
	if (S_ISSOCK(mode))
		return "is a socket, not a dump file";
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return "is a device, not a dump file";
	return S_ISREG(mode) ? NULL : "is not a regular file";
}

static const char *system_reason(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "no permission to read it";
	case ENOENT:
		return "no such file";
	default:
		return strerror(error);
	}
}

/* By their names, which is all that a hint takes. */
static bool holds_dumps(const char *folder)
{
	static const char *const ends[] = {".hprof", ".profile", ".phd", ".dump", ".hprof.gz", ".profile.gz"};
	DIR *d = opendir(folder);
	bool found = false;
	for (struct dirent *e; d && !found && (e = readdir(d));) {
		size_t length = strlen(e->d_name);
		for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
			found |= length > strlen(ends[i]) && !strcmp(e->d_name + length - strlen(ends[i]), ends[i]);
	}
	if (d)
		closedir(d);
	return found;
}

static int refuse(const char *path, mode_t mode, struct err *err)
{
	size_t length = strlen(path);
	if (S_ISDIR(mode) && holds_dumps(path))
		return err_set(err, ERR_IO, "is a directory (name a dump in it, or all of them as %.60s%s*)", path,
		    length && path[length - 1] == '/' ? "" : "/");
	return err_set(err, ERR_IO, "%s", not_a_file(mode));
}

int stored_open(struct source_file *o, const char *path, struct progress *progress, struct err *err)
{
	struct stat st;

	if (spool_stat(path, &st) < 0)
		return err_set(err, ERR_IO, "%s", system_reason(errno));
	bool spooled = spool_wanted(path, &st);
	if (!spooled && not_a_file(st.st_mode))
		return refuse(path, st.st_mode, err);
	int code = spooled ? spool_open(o, path, &st, progress, err) : 0;
	if (code)
		return code;
	if (!spooled)
		o->fd = source_is_standard_input(path) ? spool_dup(path) :
		    open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (o->fd < 0 || fstat(o->fd, &st) < 0)
		return err_set(err, ERR_IO, "%s", system_reason(errno));
	if (not_a_file(st.st_mode))
		return refuse(path, st.st_mode, err);
	if (st.st_size == 0)
		return err_set(err, ERR_FORMAT,
		    "empty file (0 bytes); a full disk often causes this");
	o->source.file_size = (uint64_t)st.st_size;
	o->written = st.st_mtim;
	o->hold = file_hold_open(o->fd, "the dump");
	return 0;
}

int stored_map(struct source_file *o, struct err *err)
{
	if (o->source.file_size > PTRDIFF_MAX)
		return err_set(err, ERR_NOMEM, "%" PRIu64 " bytes do not fit into the address space",
		    o->source.file_size);
	void *map = mmap(NULL, o->source.file_size, PROT_READ, MAP_PRIVATE, o->fd, 0);
	if (map == MAP_FAILED && errno == ENOMEM)
		return big_refused(o->source.file_size, 1, err);
	if (map == MAP_FAILED)
		return err_set(err, ERR_IO, "cannot be mapped: %s", strerror(errno));
	o->map = map;
	o->map_size = o->source.file_size;
	o->mapping = sigbus_guard_watch(map, o->map_size, o->fd, 0);
	if (!o->mapping)
		return err_set(err, ERR_NOMEM, "too many open dumps (at most %d)", SIGBUS_GUARD_MOST);
	o->source.bytes = map;
	o->source.size = o->map_size;
	return 0;
}

void stored_unmap(struct source_file *o)
{
	sigbus_guard_forget(o->mapping);
	parts_unmap(o);
	if (o->map)
		munmap(o->map, o->map_size);
	o->mapping = NULL;
	o->map = NULL;
}
