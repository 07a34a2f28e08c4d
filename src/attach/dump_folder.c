/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dump_folder.c - see dump_folder.h. */
#include "attach/dump_folder.h"

#include "base/files.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PREFIX ".cairn-"
#define GONE ".gone"
#define TMPFS 0x01021994

enum {
	RANDOM_DIGITS = 32,
	PIPE_BYTES = 1 << 20,  /* what users may have; fewer turns between the VM and us */
	STOP_LOOK_MS = 500,
	GRACE_MS = 300,        /* between a VM's finding a FIFO and its opening it */
	DESCRIPTORS = 1024,    /* that the guard closes */
};

static const char *const places[] = { "tmp", "dev/shm", "var/tmp" };
static const char *const fifos[DUMP_FIFOS] = { DUMP_FILE, DUMP_FILE ".p0" };

/* --- taking it away: by system calls alone, for the guard is a fork of a program with threads ---------- */

static void remove_files(int folder)
{
#ifdef SYS_getdents64
	struct entry {
		uint64_t inode, offset;
		uint16_t size;
		uint8_t type;
		char name[];
	};
	_Alignas(8) char bytes[4096];
	long n;

	(void)lseek(folder, 0, SEEK_SET);
	while ((n = syscall(SYS_getdents64, folder, bytes, sizeof bytes)) > 0)
		for (long at = 0; at < n;) {
			const struct entry *e = (const void *)(bytes + at);
			(void)unlinkat(folder, e->name, 0);
			at += e->size;
		}
#else
	(void)folder;
#endif
}

/* The name first: then the VM finds none of the files, and makes none. */
static void take_away(const struct dump_folder *f)
{
	char gone[DUMP_NAME + sizeof GONE];
	size_t n = strlen(f->name);

	memcpy(gone, f->name, n);
	memcpy(gone + n, GONE, sizeof GONE);
	(void)renameat(f->parent, f->name, f->parent, gone);
	remove_files(f->fd);
	(void)unlinkat(f->parent, gone, AT_REMOVEDIR);
}

static void wait_grace(void)
{
	struct timespec t = { .tv_nsec = GRACE_MS * 1000000L };
	(void)nanosleep(&t, NULL);
}

/* Is the process of this folder of /proc? */
static bool is_stopped(int process)
{
	char stat[512];
	int fd = openat(process, "stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);

	if (fd >= 0)
		close(fd);
	stat[n > 0 ? n : 0] = '\0';
	const char *name_end = strrchr(stat, ')'); /* "4711 (cairn) T" */
	return name_end && name_end[1] == ' ' && name_end[2] == 'T';
}

/* Read instead of a cairn that is stopped (^Z): the VM would stand still as long.  It is told before the first byte. */
static void read_instead(const struct dump_folder *f, int control, int cairn)
{
	static char bytes[64 << 10];

	for (bool told = false; is_stopped(cairn); told = true) {
		struct pollfd p[] = { { f->fifo[0], POLLIN, 0 }, { f->fifo[1], POLLIN, 0 } };
		(void)poll(p, DUMP_FIFOS, STOP_LOOK_MS);
		if (!told)
			(void)send(control, "", 1, MSG_NOSIGNAL);
		for (unsigned i = 0; i < DUMP_FIFOS; i++)
			if (p[i].revents & POLLIN)
				(void)!read(f->fifo[i], bytes, sizeof bytes);
	}
}

_Noreturn static void guard(const struct dump_folder *f, int control, int cairn)
{
	char done;
	ssize_t n = -1;

	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (fd != control && fd != cairn && fd != f->parent && fd != f->fd && fd != f->fifo[0] && fd != f->fifo[1])
			close(fd);
	for (bool stopped = false; n < 0;) {
		struct pollfd p = { .fd = control, .events = POLLIN };
		if (poll(&p, 1, STOP_LOOK_MS) > 0)
			n = read(control, &done, 1) == 1;
		else if (stopped)
			read_instead(f, control, cairn);
		stopped = is_stopped(cairn);
	}
	if (n == 0) {
		take_away(f);
		wait_grace();
	}
	_exit(0);
}

/* As a child of nobody: it may outlive us, and leaves no zombie.  No signal but SIGKILL reaches it. */
static bool begin_guard(struct dump_folder *f)
{
	int control[2], status = -1;
	sigset_t all, before;

	/* a pipe would send SIGPIPE if the guard was killed */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int cairn = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* without it no stop is seen */
	pid_t child = fork();
	if (child == 0) {
		close(control[1]);
		setsid();
		pid_t grandchild = fork();
		if (grandchild == 0)
			guard(f, control[0], cairn);
		_exit(grandchild < 0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(control[0]);
	if (cairn >= 0)
		close(cairn);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || (status > 0 && WEXITSTATUS(status))) {
		close(control[1]);
		errno = EAGAIN;
		return false;
	}
	f->guard = control[1];
	return true;
}

/* --- making it ------------------------------------------------------------------------------------------ */

static bool name_it(struct dump_folder *f, const char *place)
{
	uint64_t random[2];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return false;
	snprintf(f->name, sizeof f->name, PREFIX "%ld-%016" PRIx64 "%016" PRIx64, (long)f->vm->inner_pid, random[0],
	    random[1]);
	snprintf(f->path, sizeof f->path, "/%s/%s", place, f->name);
	return true;
}

/* Open the folder of this name and lock it.  False: it is not that user's, or somebody has it. */
static bool hold(struct dump_folder *f)
{
	struct stat st;
	f->fd = openat(f->parent, f->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd >= 0 && !fstat(f->fd, &st) && st.st_uid == f->vm->uid && !flock(f->fd, LOCK_EX | LOCK_NB))
		return true;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	return false;
}

/* O_RDWR never waits for the other end. */
static int open_fifo(int folder, const char *name)
{
	char path[LINK_PATH];
	struct stat st;
	int fd = file_open_to_write(vm_link_path(path, folder, name), O_RDWR | O_NONBLOCK | O_NOFOLLOW, 0, NULL);
	if (fd < 0 || (!fstat(fd, &st) && S_ISFIFO(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

static bool make_fifos(struct dump_folder *f)
{
	for (unsigned i = 0; i < DUMP_FIFOS; i++) {
		if (mkfifoat(f->fd, fifos[i], 0600) || (f->fifo[i] = open_fifo(f->fd, fifos[i])) < 0)
			return false;
#ifdef F_SETPIPE_SZ
		(void)fcntl(f->fifo[i], F_SETPIPE_SZ, PIPE_BYTES);
#endif
	}
	return true;
}

/* As the VM's user: neither name nor file needs our rights, and the kernel sees to the rest. */
static bool make_here(struct dump_folder *f, const char *place, bool with_fifos)
{
	struct own_user own;

	if (!name_it(f, place) || own_user_become(&own, f->vm, NULL))
		return false;
	bool made = mkdirat(f->parent, f->name, 0700) == 0;
	bool whole = made && hold(f) && (!with_fifos || make_fifos(f)) && begin_guard(f);
	int why = errno;
	if (made && !whole && f->fd >= 0)
		take_away(f);
	else if (made && !whole)
		(void)unlinkat(f->parent, f->name, AT_REMOVEDIR);
	own_user_return(&own);
	errno = why;
	return whole;
}

static void close_all(struct dump_folder *f)
{
	int *const fds[] = { &f->fifo[0], &f->fifo[1], &f->fd, &f->parent, &f->guard };
	for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static int open_place(const struct vm_link *l, unsigned i)
{
	return i == 0 ? fcntl(l->tmp, F_DUPFD_CLOEXEC, 0) : proc_open_file(l->process, places[i], O_RDONLY | O_DIRECTORY);
}

/* A file in memory would be the VM's memory, of which its container may have no more. */
static bool has_room(int folder, uint64_t room, uint64_t *most)
{
	struct statvfs v;
	struct statfs kind;
	if (!room)
		return true;
	if (fstatvfs(folder, &v) || fstatfs(folder, &kind) || kind.f_type == TMPFS || (v.f_flag & ST_RDONLY))
		return false;
	uint64_t free_now = (uint64_t)v.f_bavail * v.f_frsize;
	*most = free_now > *most ? free_now : *most;
	return free_now >= room;
}

int dump_folder_make(struct dump_folder *f, const struct vm_link *l, uint64_t room, struct err *err)
{
	char name[VM_TITLE], need[UNITS_ROOM], most_words[UNITS_ROOM];
	uint64_t most = 0;
	bool has = false;
	int why = ENOSPC;

	*f = (struct dump_folder){ .vm = l->vm, .parent = -1, .fd = -1, .fifo = { -1, -1 }, .guard = -1 };
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		f->parent = open_place(l, i);
		if (f->parent >= 0 && has_room(f->parent, room, &most)) {
			has = true;
			if (make_here(f, places[i], !room))
				return 0;
			why = errno;
		}
		close_all(f);
	}
	vm_process_title(l->vm, name);
	units_bytes(need, room);
	units_bytes(most_words, most);
	if (!most && room)
		return err_set(err, ERR_IO, "%s: no disk for its dump of up to %s: its /tmp and /var/tmp are in memory, "
		    "read-only or missing (mount a volume there)", name, need);
	if (!has && room)
		return err_set(err, ERR_IO, "%s: no room for its dump of up to %s in its /tmp or /var/tmp (%s free on disk)",
		    name, need, most_words);
	return err_set(err, ERR_IO, "%s: cannot make a folder in its /tmp, /dev/shm or /var/tmp: %s", name, strerror(why));
}

bool dump_folder_lost(const struct dump_folder *f)
{
	char byte;
	return f->guard >= 0 && recv(f->guard, &byte, 1, MSG_DONTWAIT) == 1;
}

void dump_folder_end(struct dump_folder *f, bool whole)
{
	struct own_user own;

	if (f->fd >= 0 && own_user_become(&own, f->vm, NULL) == 0) {
		take_away(f);
		own_user_return(&own);
	}
	char byte;
	bool guarded = f->guard >= 0 && recv(f->guard, &byte, 1, MSG_DONTWAIT) != 0; /* 0: somebody killed it */
	if (whole && guarded)
		(void)send(f->guard, "", 1, MSG_NOSIGNAL);
	else if (f->guard >= 0 && !guarded)
		wait_grace();
	close_all(f);
}

/* --- what was left behind ------------------------------------------------------------------------------- */

/* ".cairn-4711-" and digits, and maybe ".gone". */
static bool is_ours(const char *name)
{
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	const char *number = name + strlen(PREFIX), *digits = number + strspn(number, "0123456789");
	if (digits == number || *digits++ != '-' || strspn(digits, "0123456789abcdef") != RANDOM_DIGITS)
		return false;
	return !digits[RANDOM_DIGITS] || !strcmp(digits + RANDOM_DIGITS, GONE);
}

static void clean_one(int parent, const char *name, const struct vm_process *vm)
{
	struct dump_folder f = { .vm = vm, .parent = fcntl(parent, F_DUPFD_CLOEXEC, 0), .fd = -1, .fifo = { -1, -1 },
		.guard = -1 };

	snprintf(f.name, sizeof f.name, "%.*s", DUMP_NAME - 1, name);
	if (f.parent >= 0 && hold(&f)) {
		for (unsigned i = 0; i < DUMP_FIFOS; i++)
			f.fifo[i] = open_fifo(f.fd, fifos[i]);
		take_away(&f);
		(void)unlinkat(parent, name, AT_REMOVEDIR);
		if (f.fifo[0] >= 0 || f.fifo[1] >= 0)
			wait_grace();
	}
	close_all(&f);
}

void dump_folder_clean(const struct vm_link *l)
{
	struct own_user own;

	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		int parent = open_place(l, i), fd = parent < 0 ? -1 : openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *dir = fd < 0 ? NULL : fdopendir(fd);
		if (!dir && fd >= 0)
			close(fd);
		for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
			if (is_ours(e->d_name) && own_user_become(&own, l->vm, NULL) == 0) {
				clean_one(parent, e->d_name, l->vm);
				own_user_return(&own);
			}
		if (dir)
			closedir(dir);
		if (parent >= 0)
			close(parent);
	}
}
