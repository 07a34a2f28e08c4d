/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.c - what comes through a pipe, kept in a file without a name: a dump is read more often than once.
 *
 * A pipe is read once in a process, and whoever opens it again gets what it brought.  Reading that was stopped goes on
 * when it is opened again.  The file lives as long as the process.  Any thread.
 */
#include "dump/source/opening.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/memory_limit.h"
#include "base/text.h"
#include "base/units.h"
#include "memory/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOOK_MS = 100,        /* so often, at least, it is asked whether to stop */
	STEP = 1 << 20,       /* bytes at a time, and in the pipe */
	ROOM_STEP = 32 << 20, /* bytes until the room on the disk is asked for again */
};

struct spool {
	struct spool *next;
	bool standard;          /* it is standard input; else these identify it */
	dev_t device;
	ino_t inode;
	int in;                 /* -1: its end was seen, or it is not read any further */
	int out;                /* -1: not yet */
	bool memory;            /* out is no file but memory, which counts as such */
	bool copies;            /* the system cannot move its bytes without handing them to us */
	bool began;             /* a byte came */
	uint64_t size, granted; /* bytes in out, and up to where there was room for them */
	pthread_mutex_t lock;   /* of whoever reads it */
	char why[sizeof ((struct source *)0)->remark]; /* it was not read to its end; "": it was */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct spool *spools; /* behind the lock; none ever goes */
static struct spool standard_input = {.standard = true, .in = -1, .out = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
static bool standard_is_dump;
static struct stat standard_stat; /* valid with it */
static atomic_bool enough;

/* --- which there are ------------------------------------------------------------------------------ */

bool source_is_standard_input(const char *path)
{
	const size_t n = sizeof SOURCE_STANDARD_INPUT - 1;
	return standard_is_dump && !strncmp(path, SOURCE_STANDARD_INPUT, n) && (!path[n] || !strncmp(path + n, "::", 2));
}

int source_take_standard_input(int instead)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0 || fstat(fd, &standard_stat) < 0 || dup2(instead, STDIN_FILENO) < 0)
		return -1;
	standard_input.in = fd;
	standard_is_dump = true;
	file_name_counts(SOURCE_STANDARD_INPUT);
	return 0;
}

file_hold source_hold(const char *path, const char *what)
{
	return source_is_standard_input(path) ? file_hold_open(standard_input.in, what) : file_hold_path(path, what);
}

void source_enough(void)
{
	atomic_store(&enough, true);
}

static struct spool *spool_of(const struct stat *st)
{
	struct spool *s = spools;
	while (s && (s->device != st->st_dev || s->inode != st->st_ino))
		s = s->next;
	return s;
}

/* The spool of a path; NULL: it is none, or was not opened yet. */
static struct spool *known_spool(const char *path)
{
	struct stat st;
	struct spool *s = NULL;
	if (source_is_standard_input(path))
		return S_ISREG(standard_stat.st_mode) ? NULL : &standard_input;
	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) {
		pthread_mutex_lock(&list_lock);
		s = spool_of(&st);
		pthread_mutex_unlock(&list_lock);
	}
	return s;
}

int source_peek(const char *path)
{
	struct stat st;
	struct spool *s = known_spool(path);
	if (source_is_standard_input(path) && !s)
		return fcntl(standard_input.in, F_DUPFD_CLOEXEC, 0);
	if (s) {
		int fd = -1;
		if (pthread_mutex_trylock(&s->lock) == 0) {
			fd = s->in < 0 && s->out >= 0 ? fcntl(s->out, F_DUPFD_CLOEXEC, 0) : -1;
			pthread_mutex_unlock(&s->lock);
		}
		errno = fd < 0 ? EAGAIN : errno;
		return fd;
	}
	if (file_stat(path, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return file_open_read(path);
}

/* --- reading it ----------------------------------------------------------------------------------- */

/* It is read no further: the system signals that to the writer. */
static void end(struct spool *s)
{
	close(s->in);
	s->in = -1;
}

static void __attribute__((format(printf, 2, 3))) end_early(struct spool *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_format(s->why, sizeof s->why, format, args);
	va_end(args);
	end(s);
}

static void end_full(struct spool *s, int error)
{
	char came[UNITS_ROOM];

	units_bytes(came, s->size);
	if (s->out < 0)
		end_early(s, "cannot make a file for the pipe's data in %.60s: %s (give another --spill DIR)",
		    spill_folder(), strerror(error));
	else if (s->memory)
		end_early(s, "read the pipe to byte %" PRIu64 " (%s): --mem allows no more in memory (--spill DIR "
		    "uses a file)", s->size, came);
	else
		end_early(s, "read the pipe to byte %" PRIu64 " (%s): the file for it in %.60s is full: %s (give "
		    "--spill DIR with more room)", s->size, came, spill_folder(), strerror(error));
}

/* Is there room for a step more? */
static bool grant(struct spool *s)
{
	if (s->size + STEP <= s->granted)
		return true;
	uint64_t more = !s->memory && spill_leaves_room(s->out, ROOM_STEP) ? ROOM_STEP : STEP;
	if (s->memory ? !memory_limit_take(more, 0, NULL, 0) : more == STEP && !spill_leaves_room(s->out, more)) {
		end_full(s, ENOSPC);
		return false;
	}
	s->granted += more;
	return true;
}

static ssize_t write_all(struct spool *s, const char *bytes, ssize_t n)
{
	ssize_t done = 0;
	while (done < n) {
		ssize_t now = write(s->out, bytes + done, (size_t)(n - done));
		if (now < 0 && errno == EINTR)
			continue;
		if (now <= 0) {
			int error = now < 0 ? errno : ENOSPC;
			s->size += (uint64_t)done;
			end_full(s, error);
			return -1;
		}
		done += now;
	}
	return done;
}

/* Through our hands.  As move_step. */
static ssize_t copy_step(struct spool *s, char *room)
{
	ssize_t n = read(s->in, room, STEP);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		end_early(s, "cannot read after byte %" PRIu64 " (%s): cairn shows the part before", s->size, strerror(errno));
	return n <= 0 ? n : write_all(s, room, n);
}

/* Bytes that came, 0 at the end, -1 for none now, or with s->in closed for none any more. */
static ssize_t move_step(struct spool *s, char *room)
{
#ifdef SPLICE_F_MOVE
	if (!s->copies) {
		ssize_t n = splice(s->in, NULL, s->out, NULL, STEP, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n >= 0 || errno == EAGAIN || errno == EINTR)
			return n;
		if (errno != EINVAL && errno != ENOSYS) { /* a pipe does not fail: the file does */
			end_full(s, errno);
			return -1;
		}
		s->copies = true;
	}
#endif
	return copy_step(s, room);
}

/* Is there something to read, or the end?  Before anybody opened it to write it has no end. */
static bool waits(const struct spool *s)
{
	struct pollfd fd = {.fd = s->in, .events = POLLIN};
	return poll(&fd, 1, LOOK_MS) > 0;
}

static int read_on(struct spool *s, struct progress *progress, struct err *err)
{
	char *room = xmalloc(STEP);
	int code = 0;

	progress_phase(progress, s->began ? PHASE_READ_PIPE : PHASE_AWAIT_PIPE, 0);
	if (s->began)
		progress_add(progress, s->size);
	while (s->in >= 0 && !(code = progress_check(progress, err))) {
		if (atomic_load(&enough)) {
			end_early(s, "stopped reading the pipe at byte %" PRIu64, s->size);
			break;
		}
		if (!waits(s) || !grant(s))
			continue;
		ssize_t n = move_step(s, room);
		if (n > 0 && !s->began)
			progress_phase(progress, PHASE_READ_PIPE, 0);
		s->began |= n > 0;
		s->size += n > 0 ? (uint64_t)n : 0;
		if (n > 0)
			progress_add(progress, (uint64_t)n);
		else if (n == 0)
			end(s);
	}
	free(room);
	return code;
}

/* All of it, if not yet. */
static int fill(struct spool *s, struct progress *progress, struct err *err)
{
	int code = progress_lock(&s->lock, progress, err); /* another thread may read it */

	if (code)
		return code;
	if (s->in >= 0) {
		atomic_store(&enough, false);
		if (s->out < 0)
			s->out = spill_open(&s->memory);
#ifdef F_SETPIPE_SZ
		(void)!fcntl(s->in, F_SETPIPE_SZ, STEP);
#endif
		if (s->out < 0)
			end_full(s, errno);
		else
			code = read_on(s, progress, err);
	}
	pthread_mutex_unlock(&s->lock);
	return code;
}

/* --- for file.c ----------------------------------------------------------------------------------- */

/* A pipe by its name, which did not come before. */
static struct spool *new_spool(const char *path, const struct stat *st)
{
	/* not to be waited for: who will write is awaited where one can be stopped */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat now;
	if (fd < 0 || fstat(fd, &now) < 0 || now.st_dev != st->st_dev || now.st_ino != st->st_ino) {
		int error = fd < 0 ? errno : ESTALE;
		if (fd >= 0)
			close(fd);
		errno = error;
		return NULL;
	}
	struct spool *s = xcalloc(1, sizeof *s);
	*s = (struct spool){.next = spools, .device = st->st_dev, .inode = st->st_ino, .in = fd, .out = -1};
	pthread_mutex_init(&s->lock, NULL);
	spools = s;
	return s;
}

static struct spool *find_spool(const char *path, const struct stat *st)
{
	if (source_is_standard_input(path))
		return &standard_input;
	pthread_mutex_lock(&list_lock);
	struct spool *s = spool_of(st);
	if (!s)
		s = new_spool(path, st);
	pthread_mutex_unlock(&list_lock);
	return s;
}

int spool_stat(const char *path, struct stat *st)
{
	if (!source_is_standard_input(path))
		return stat(path, st);
	*st = standard_stat;
	return 0;
}

bool spool_wanted(const char *path, const struct stat *st)
{
	return S_ISFIFO(st->st_mode) ||
	    (source_is_standard_input(path) && (S_ISCHR(st->st_mode) || S_ISSOCK(st->st_mode)));
}

int spool_dup(const char *path)
{
	return fcntl(source_is_standard_input(path) ? standard_input.in : -1, F_DUPFD_CLOEXEC, 0);
}

int spool_open(struct source_file *o, const char *path, const struct stat *st, struct progress *progress,
    struct err *err)
{
	struct spool *s = find_spool(path, st);
	if (!s)
		return err_set(err, ERR_IO, "%s", strerror(errno));
	int code = fill(s, progress, err);
	if (code)
		return code;
	if (s->why[0] && s->size < SOURCE_HEAD) /* too little to say anything of it */
		return err_set(err, ERR_IO, "%s", s->why);
	if (!s->size)
		return err_set(err, ERR_FORMAT,
		    "the pipe is empty (0 bytes); the command before it may have failed");
	o->broken_off = s->why[0] ? s->why : NULL;
	o->fd = fcntl(s->out, F_DUPFD_CLOEXEC, 0);
	return o->fd < 0 ? err_set(err, ERR_IO, "%s", strerror(errno)) : 0;
}
