/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * files.c - see files.h.
 */
#include "base/files.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *taken_name; /* NULL: none */

void file_name_counts(const char *name)
{
	taken_name = name;
}

const char *file_member(const char *path)
{
	struct stat st;
	size_t taken = taken_name ? strlen(taken_name) : 0;

	if (taken && !strncmp(path, taken_name, taken) && !strncmp(path + taken, "::", 2))
		return path + taken;
	if (!strstr(path, "::") || !lstat(path, &st))
		return NULL;
	for (const char *at = path; (at = strstr(at, "::")) != NULL; at++) {
		char *file = xstrndup(path, (size_t)(at - path));
		bool is = at > path && !stat(file, &st) && !S_ISDIR(st.st_mode);
		free(file);
		if (is)
			return at;
	}
	return NULL;
}

/* Without the member that a path names. */
static char *file_of(const char *path)
{
	const char *member = file_member(path);

	return member ? xstrndup(path, (size_t)(member - path)) : xstrdup(path);
}

int file_stat(const char *path, struct stat *st)
{
	char *file = file_of(path);
	int code = stat(file, st), why = errno;
	free(file);
	errno = why;
	return code;
}

int file_open_read(const char *path)
{
	char *file = file_of(path);
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), why = errno;
	free(file);
	errno = why;
	return fd;
}

bool file_readable(const char *path)
{
	char *file = file_of(path);
	int code = access(file, R_OK), why = errno;
	free(file);
	errno = why;
	return code == 0;
}

char *file_real_path(const char *path)
{
	const char *member = file_member(path);
	char real[PATH_MAX], *file = file_of(path), *whole;
	bool there = realpath(file, real);

	if (!there) {
		whole = xstrdup(path);
	} else {
		size_t n = strlen(real), more = member ? strlen(member) : 0;
		whole = xmalloc(n + more + 1);
		memcpy(whole, real, n);
		memcpy(whole + n, more ? member : "", more);
		whole[n + more] = '\0';
	}
	free(file);
	return whole;
}

struct held {
	file_hold hold; /* ascending; never given out twice */
	dev_t device;
	ino_t inode;
	const char *what;
};

static struct {
	pthread_mutex_t lock;
	struct held *file;
	size_t n, cap;
	file_hold last;
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

static file_hold hold(const struct stat *st, const char *what)
{
	if (!S_ISREG(st->st_mode))
		return 0;
	pthread_mutex_lock(&files.lock);
	file_hold given = ++files.last;
	VEC_PUSH(files.file, files.n, files.cap) =
	    (struct held){.hold = given, .device = st->st_dev, .inode = st->st_ino, .what = what};
	pthread_mutex_unlock(&files.lock);
	return given;
}

file_hold file_hold_open(int fd, const char *what)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : hold(&st, what);
}

file_hold file_hold_path(const char *path, const char *what)
{
	struct stat st;

	return file_stat(path, &st) ? 0 : hold(&st, what);
}

void file_let_go(file_hold given)
{
	pthread_mutex_lock(&files.lock);
	size_t at = 0;
	while (at < files.n && files.file[at].hold != given)
		at++;
	if (at < files.n) {
		memmove(files.file + at, files.file + at + 1, (--files.n - at) * sizeof *files.file);
		if (!files.n) {
			free(files.file);
			files.file = NULL;
			files.cap = 0;
		}
	}
	pthread_mutex_unlock(&files.lock);
}

static const char *held_as(const struct stat *st)
{
	const char *what = NULL;

	pthread_mutex_lock(&files.lock);
	for (size_t i = 0; i < files.n; i++)
		if (files.file[i].device == st->st_dev && files.file[i].inode == st->st_ino)
			what = files.file[i].what;
	pthread_mutex_unlock(&files.lock);
	return what;
}

const char *file_held_as(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? NULL : held_as(&st);
}

int file_open_to_write(const char *path, int flags, mode_t mode, struct err *err)
{
	int fd = open(path, (flags & ~O_TRUNC) | O_CLOEXEC | O_NOCTTY, mode);

	if (fd < 0)
		return err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	const char *what = file_held_as(fd);
	if (what) {
		close(fd);
		return err_set(err, ERR_USAGE, "%.200s is %s, which cairn is reading (choose another file)", path,
		    what);
	}
	return fd;
}

int file_open_own(const char *path, int flags)
{
	struct stat st;
	int fd = file_open_to_write(path, flags | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR, NULL);

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

int file_may_have_name(const char *path, bool (*ours)(const char *path), struct err *err)
{
	struct stat st;

	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), why = fd < 0 ? errno : 0;
	if (why == ENOENT)
		return 0;
	if (why == ELOOP)
		return err_set(err, ERR_USAGE, "%.200s: cairn does not follow a symbolic link of this name "
		    "(remove it)", path);
	int code = why || fstat(fd, &st) ? err_set(err, ERR_IO, "%.200s: %s", path, strerror(why ? why : errno)) : 0;
	const char *what = code ? NULL : file_held_as(fd);
	if (fd >= 0)
		close(fd);
	if (code)
		return code;
	if (what)
		return err_set(err, ERR_USAGE, "%.200s is %s, which cairn is reading (choose another file)", path, what);
	if (!S_ISREG(st.st_mode) || (ours && !ours(path)))
		return err_set(err, ERR_USAGE, "%.200s: another program wrote this file (move it away)", path);
	return 0;
}

int file_take_name(const char *path, const char *name, struct err *err)
{
	return rename(path, name) ? err_set(err, ERR_IO, "%s", strerror(errno)) : 0;
}

/* --- the start of a program ------------------------------------------------------------------- */

/* Of the first three descriptors those that are closed: else the dump would be opened in their place. */
static void fill_standard(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDONLY); /* what is written there fails, as it should */
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static void unheard(int signal)
{
	(void)signal;
}

/* A file that outgrows its limit fails to be written, and that is said.  A handler, for programs started
 * from here would inherit that the signal is ignored. */
static void outgrow_quietly(void)
{
	struct sigaction action = {.sa_handler = unheard, .sa_flags = SA_RESTART};
	sigaction(SIGXFSZ, &action, NULL);
}

void files_prepare(void)
{
	fill_standard();
	outgrow_quietly();
}
