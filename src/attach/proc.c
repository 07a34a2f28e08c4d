/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proc.c - see proc.h. */
#include "attach/proc.h"

#include "base/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef O_PATH
#define O_PATH 0
#endif

enum { STATUS_MOST = 64 << 10 };

const char *proc_folder(void)
{
	const char *chosen = getenv("CAIRN_PROC");
	return chosen && *chosen ? chosen : "/proc";
}

char *proc_file(int process, const char *name, size_t most, size_t *n)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	size_t len = 0, room = 0;
	ssize_t got;

	if (fd < 0)
		return NULL;
	do {
		if (len == room) {
			room = room ? 2 * room : 4096;
			text = xrealloc(text, room + 1, 1);
		}
		got = read(fd, text + len, room - len < most - len ? room - len : most - len);
		len += got > 0 ? (size_t)got : 0;
	} while ((got > 0 && len < most) || (got < 0 && errno == EINTR));
	int why = errno;
	close(fd);
	if (got < 0) {
		free(text);
		errno = why;
		return NULL;
	}
	text[len] = '\0';
	*n = len;
	return text;
}

/* What follows a name in the lines of status; NULL: there is no such line. */
static const char *status_value(const char *status, const char *name)
{
	size_t n = strlen(name);
	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n) && line[n] == ':')
			return line + n + 1;
	}
	return NULL;
}

static uint64_t number_at(const char *s, int base)
{
	return s ? strtoull(s, NULL, base) : 0;
}

/* The second number of four: the effective one. */
static uint32_t effective(const char *ids)
{
	char *end = NULL;
	if (!ids)
		return UINT32_MAX;
	(void)strtoull(ids, &end, 10);
	return (uint32_t)strtoull(end, NULL, 10);
}

/* The last of the numbers of a line; 0: there is none. */
static uint64_t last_number(const char *line)
{
	uint64_t last = 0;
	while (line && (*line == '\t' || *line == ' ')) {
		char *end;
		last = strtoull(line, &end, 10);
		line = end;
	}
	return last;
}

/* Kernels before 4.1 do not say the inner number.  But the first line of "sched", "java (4711, #threads: 20)", has
 * the outer one even in the /proc of a container. */
static pid_t search_inner(int process, pid_t pid)
{
	int fd = proc_open_file(process, "proc", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	pid_t found = pid;

	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *e; dir && found == pid && (e = readdir(dir)) != NULL;) {
		char path[sizeof e->d_name + 8], *sched, *at;
		size_t n;
		if (!isdigit((unsigned char)*e->d_name))
			continue;
		snprintf(path, sizeof path, "%s/sched", e->d_name);
		sched = proc_file(dirfd(dir), path, 200, &n);
		at = sched ? strchr(sched, '\n') : NULL;
		if (at)
			*at = '\0';
		at = at ? strrchr(sched, '(') : NULL;
		if (at && number_at(at + 1, 10) == (uint64_t)pid)
			found = (pid_t)number_at(e->d_name, 10);
		free(sched);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool read_status(int process, const char *status, struct proc *to)
{
	const char *pid = status_value(status, "Tgid"), *state = status_value(status, "State");
	const char *inner = status_value(status, "NStgid");

	if (!pid || !state)
		return false;
	to->pid = (pid_t)number_at(pid, 10);
	to->state = state[strspn(state, " \t")];
	to->uid = (uid_t)effective(status_value(status, "Uid"));
	to->gid = (gid_t)effective(status_value(status, "Gid"));
	to->catches_quit = number_at(status_value(status, "SigCgt"), 16) >> (SIGQUIT - 1) & 1;
	to->inner_pid = inner ? (pid_t)last_number(inner) : search_inner(process, to->pid);
	return to->pid > 0 && to->inner_pid > 0;
}

/* Field 22 of stat: after the command, which ends with the last parenthesis. */
static bool read_started(const char *stat, uint64_t *to)
{
	const char *at = strrchr(stat, ')');
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	*to = at ? number_at(at, 10) : 0;
	return at;
}

bool proc_read(int process, struct proc *to)
{
	size_t n;
	char *status = proc_file(process, "status", STATUS_MOST, &n);
	char *stat = status ? proc_file(process, "stat", STATUS_MOST, &n) : NULL;
	int why = errno;
	bool read = false;

	*to = (struct proc){ 0 };
	if (stat) {
		read = read_status(process, status, to) && read_started(stat, &to->started);
		why = ESRCH;
	}
	free(status);
	free(stat);
	if (!read)
		errno = why == ENOENT ? ESRCH : why;
	return read;
}

int proc_open(pid_t pid)
{
	for (int i = 0; i < 2; i++) {
		struct proc p;
		char path[512];
		snprintf(path, sizeof path, "%.480s/%ld", proc_folder(), (long)pid);
		int fd = pid > 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : (errno = ENOENT, -1);
		if (fd < 0)
			return -1;
		if (proc_read(fd, &p) && p.pid == pid)
			return fd;
		int why = errno == ESRCH ? ENOENT : errno;
		close(fd);
		errno = why;
		if (p.pid <= 0)
			return -1;
		pid = p.pid; /* it was a thread */
	}
	errno = ENOENT;
	return -1;
}

int proc_open_known(const struct vm_process *p, struct err *err)
{
	struct proc now;
	int fd = proc_open(p->pid);

	if (fd >= 0 && proc_read(fd, &now) && now.pid == p->pid && now.started == p->started)
		return fd;
	if (fd >= 0)
		close(fd);
	return err_set(err, ERR_NOT_FOUND, "process %ld (%s) has ended", (long)p->pid, p->name);
}

/* --- its files ----------------------------------------------------------------------------------- */

/* The kernel resolves the path, with `root` as "/" (Linux 5.6). */
static int open_in_root(int root, const char *path, int flags)
{
#if defined __linux__ && defined SYS_openat2
	enum { NO_MAGICLINKS = 0x02, IN_ROOT = 0x10 };
	struct { uint64_t flags, mode, resolve; } how = { (uint64_t)flags, 0, IN_ROOT | NO_MAGICLINKS };
	return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
#else
	(void)root, (void)path, (void)flags;
	errno = ENOSYS;
	return -1;
#endif
}

/* Folder by folder, where none may be a link. */
static int open_by_steps(int root, const char *path, int flags)
{
	char name[256];
	int at = dup(root);

	for (const char *end; at >= 0 && (end = strchr(path, '/')) != NULL; path = end + 1) {
		int next = -1;
		errno = ENAMETOOLONG;
		if ((size_t)(end - path) < sizeof name) {
			snprintf(name, sizeof name, "%.*s", (int)(end - path), path);
			next = !*name || !strcmp(name, "..") ? (errno = EINVAL, -1) :
			    openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		}
		int why = errno;
		close(at);
		errno = why;
		at = next;
	}
	if (at < 0)
		return -1;
	int fd = openat(at, path, flags | O_NOFOLLOW), why = errno;
	close(at);
	errno = why;
	return fd;
}

int proc_open_file(int process, const char *path, int flags)
{
	int root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open_in_root(root, path, flags);
	/* EPERM: older container engines forbid the call, because they do not know it */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open_by_steps(root, path, flags);
	int why = errno;
	close(root);
	errno = why;
	return fd;
}

int proc_open_tmp(int process, const struct proc *p)
{
	int fd = proc_open_file(process, "tmp", O_RDONLY | O_DIRECTORY);
	if (fd < 0 && errno == EACCES && p->inner_pid == p->pid && p->uid == geteuid())
		fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

/* --- people and time ------------------------------------------------------------------------------- */

static uint64_t clock_ms(clockid_t id)
{
	struct timespec now = { 0 };
	(void)clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t age_ms(uint64_t started)
{
	long ticks = sysconf(_SC_CLK_TCK);
#ifdef CLOCK_BOOTTIME
	uint64_t now = clock_ms(CLOCK_BOOTTIME);
#else
	uint64_t now = clock_ms(CLOCK_MONOTONIC);
#endif
	uint64_t then = started * 1000 / (ticks > 0 ? (uint64_t)ticks : 100);
	return now > then ? now - then : 0;
}

uint64_t proc_uptime(uint64_t started)
{
	return age_ms(started) / 1000;
}

uint64_t proc_began(uint64_t started)
{
	return clock_ms(CLOCK_REALTIME) - age_ms(started);
}

/* The file, not the host's service of names: a static binary has no such, and it may wait for a network. */
void proc_user(char *to, size_t room, uid_t uid)
{
	static const char users[] = "/etc/passwd";
	FILE *f = fopen(users, "re");
	char *line = NULL;
	size_t cap = 0;

	*to = '\0';
	while (f && getline(&line, &cap, f) > 0) {
		char *name_end = strchr(line, ':'), *id = name_end ? strchr(name_end + 1, ':') : NULL, *end;
		if (!id || strtoull(id + 1, &end, 10) != uid || *end != ':')
			continue;
		*name_end = '\0';
		text_escape(to, room, line);
		break;
	}
	free(line);
	if (f)
		fclose(f);
}

int proc_refused(const struct vm_process *p, int why, struct err *err)
{
	char user[64];
	if (why != EACCES && why != EPERM)
		return err_set(err, ERR_IO, "process %ld (%s) cannot be read: %s", (long)p->pid, p->name,
		    strerror(why));
	proc_user(user, sizeof user, p->uid);
	if (geteuid() == 0 || geteuid() == p->uid)
		return err_set(err, ERR_IO, "process %ld (%s) cannot be read: permission denied (run cairn with the "
		    "capability SYS_PTRACE: help containers)", (long)p->pid, p->name);
	if (p->uid && !*user)
		return err_set(err, ERR_IO, "process %ld (%s) cannot be read: it belongs to user %s (run the "
		    "same command with sudo; in a container as this user: docker run --user %s)", (long)p->pid, p->name,
		    p->user, p->user);
	if (p->uid == 0)
		return err_set(err, ERR_IO, "process %ld (%s) cannot be read: it belongs to user root (run the "
		    "same command with sudo)", (long)p->pid, p->name);
	return err_set(err, ERR_IO, "process %ld (%s) cannot be read: it belongs to user %s (run the same "
	    "command with sudo -u %s)", (long)p->pid, p->name, user, user);
}
