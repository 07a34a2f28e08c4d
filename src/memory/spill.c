/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spill.c - rooms in a file without a name.
 *
 * Rooms follow one another; one that is given back becomes a hole, whose bytes the disk has again, and
 * its offsets are used anew only if it was the last.  Offsets are plenty.
 */
#include "memory/spill.h"

#include "base/memory_limit.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PART_KEPT = 32 }; /* of the disk: this part of it stays free */

static const char *chosen_folder;
static bool forbidden;
static atomic_bool allowed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;           /* behind the lock, like those below */
static uint64_t end;            /* of the last room */
static _Atomic uint64_t taken;

void spill_set_folder(const char *folder)
{
	chosen_folder = folder;
}

void spill_allow(bool may)
{
	atomic_store(&allowed, may);
	memory_limit_file_takes_rest(may);
}

bool spill_allowed(void)
{
	return atomic_load(&allowed);
}

uint64_t spill_bytes(void)
{
	return atomic_load(&taken);
}

const char *spill_folder(void)
{
	const char *f = chosen_folder ? chosen_folder : getenv("TMPDIR");
	return f && *f ? f : "/var/tmp";
}

void spill_forbid(bool is)
{
	forbidden = is;
}

/* A file without a name, for reading and writing; -1 and errno. */
static int nameless_file(void)
{
#ifdef O_TMPFILE
	int direct = open(spill_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (direct >= 0)
		return direct;
#endif
	char path[4096];
	int n = snprintf(path, sizeof path, "%s/cairn-XXXXXX", spill_folder()), fd = -1;
	errno = ENAMETOOLONG;
	if (n > 0 && (size_t)n < sizeof path)
		fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int spill_open(bool *memory)
{
	int fd = forbidden ? -1 : nameless_file();
	*memory = fd < 0 && (forbidden || !chosen_folder); /* a container may have nothing that can be written to */
	return *memory ? memfd_create("cairn", MFD_CLOEXEC) : fd;
}

static int no_file(struct err *err)
{
	return err_set(err, ERR_IO, "no temporary file in %s: %s (give another --spill folder or a larger --mem)",
	    spill_folder(), strerror(errno));
}

static void close_unused(void)
{
	if (file >= 0 && !atomic_load(&taken)) {
		close(file);
		file = -1;
		end = 0;
	}
}

/* Others need the disk, too: its last part is left to them. */
static uint64_t left_for_us(const struct statvfs *v)
{
	uint64_t kept = (uint64_t)v->f_blocks / PART_KEPT * v->f_frsize, free_now = (uint64_t)v->f_bavail * v->f_frsize;
	return kept < free_now ? free_now - kept : 0;
}

bool spill_free(uint64_t *bytes)
{
	struct statvfs v;
	bool known = statvfs(spill_folder(), &v) == 0;
	if (known)
		*bytes = left_for_us(&v);
	return known;
}

static int no_room(uint64_t bytes, int code, struct err *err)
{
	char wanted[UNITS_ROOM], already[UNITS_ROOM], were[UNITS_ROOM], advice[MEMORY_LIMIT_ADVICE_ROOM];
	uint64_t in_file = spill_bytes(), there = 0;
	bool known = spill_free(&there);
	units_bytes(wanted, bytes);
	units_bytes(already, in_file);
	units_bytes(were, there + in_file);
	memory_limit_advise(memory_limit_in_use() + in_file + bytes, advice, sizeof advice);
	return err_set(err, ERR_IO, "temporary file in %.150s: no room for %s more, %s%s%s are in use: %s (%s, "
	    "or a --spill folder with more room)", spill_folder(), wanted, already, known ? " of " : "",
	    known ? were : "", strerror(code), advice);
}

bool spill_leaves_room(int fd, uint64_t bytes)
{
	struct statvfs v;
	return fstatvfs(fd, &v) < 0 || bytes <= left_for_us(&v);
}

int spill_take(uint64_t bytes, int *fd, uint64_t *offset, struct err *err)
{
	pthread_mutex_lock(&lock);
	int code = file >= 0 || (file = nameless_file()) >= 0 ? 0 : no_file(err);
	if (code == 0) {
		int refusal = spill_leaves_room(file, bytes) ? 0 : ENOSPC;
		if (!refusal)
			refusal = posix_fallocate(file, (off_t)end, (off_t)bytes);
		if (refusal) {
			code = no_room(bytes, refusal, err);
			if (ftruncate(file, (off_t)end) < 0)
				code = ERR_IO; /* what was taken of the room is lost; the refusal is reported anyway */
			close_unused();
		}
	}
	if (code == 0) {
		*fd = file;
		*offset = end;
		end += bytes;
		atomic_fetch_add(&taken, bytes);
	}
	pthread_mutex_unlock(&lock);
	return code;
}

/* Who has taken room in the file knows that it is open. */
bool spill_write(uint64_t offset, const void *from, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes;) {
		ssize_t n = pwrite(file, (const char *)from + done, bytes - done, (off_t)(offset + done));
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		done += n > 0 ? (uint64_t)n : 0;
	}
	return true;
}

bool spill_read(void *to, uint64_t offset, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes;) {
		ssize_t n = pread(file, (char *)to + done, bytes - done, (off_t)(offset + done));
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		done += n > 0 ? (uint64_t)n : 0;
	}
	return true;
}

static void punch(uint64_t offset, uint64_t bytes)
{
#ifdef FALLOC_FL_PUNCH_HOLE
	/* a file system that cannot keeps the room until the file is closed */
	int code = fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
	(void)code;
#else
	(void)offset, (void)bytes;
#endif
}

void spill_give_back(uint64_t offset, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	if (offset + bytes == end && ftruncate(file, (off_t)offset) == 0)
		end = offset;
	else
		punch(offset, bytes);
	atomic_fetch_sub(&taken, bytes);
	close_unused();
	pthread_mutex_unlock(&lock);
}
