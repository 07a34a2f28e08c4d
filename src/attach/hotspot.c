/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hotspot.c - the attach protocol of HotSpot: a socket in its folder, which it opens when it is asked to.
 *
 * A file .attach_pidN and SIGQUIT ask for the socket .java_pidN (hotspot/os/posix/attachListener_posix.cpp; N is the
 * number in the VM's own namespace).  A process that does not catch SIGQUIT dies of it, so none gets it.  The request
 * is "1", the command and three arguments, each ended by a NUL; the answer a line with a number, and text to its end.
 */
#include "attach/vm_link.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum {
	SOCKET_SECONDS = 10, /* as long as jcmd waits */
	CATCH_SECONDS = 2,   /* a VM that has just begun catches the signal soon */
	TRIGGER_AGE = 60,    /* seconds after which nobody waits for a socket */
	ARGUMENTS_MOST = 1 << 20,
	REQUEST_MOST = 4096,
};

static void trigger_name(char to[40], const struct proc *p)
{
	snprintf(to, 40, ".attach_pid%ld", (long)p->inner_pid);
}

static void socket_name(char to[40], const struct proc *p)
{
	snprintf(to, 40, ".java_pid%ld", (long)p->inner_pid);
}

/* Is there something else of this name, or that of another user?  Root may make a trigger for others. */
static bool in_the_way(const struct vm_link *l, const char *name, mode_t kind)
{
	struct stat st;
	return !fstatat(l->tmp, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    ((st.st_mode & S_IFMT) != kind || (st.st_uid != l->proc.uid && (st.st_uid || kind == S_IFSOCK)));
}

/* -1 with errno.  ENOENT, ECONNREFUSED: there is no socket, or that of a VM that has ended. */
static int connect_socket(const struct vm_link *l)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct stat st;
	char name[40];

	socket_name(name, &l->proc);
	snprintf(to.sun_path, sizeof to.sun_path, "/proc/self/fd/%d/%s", l->tmp, name);
	if (fstatat(l->tmp, name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (!S_ISSOCK(st.st_mode)) {
		errno = ECONNREFUSED;
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || !connect(fd, (struct sockaddr *)&to, sizeof to))
		return fd;
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}

/* Whoever may write to the folder can put a socket there. */
static bool is_of_process(int fd, const struct proc *p)
{
	struct ucred peer;
	socklen_t n = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.pid == p->pid;
}

static bool says(int process, const char *file, const char *option)
{
	size_t n, len = strlen(option);
	char *text = proc_file(process, file, ARGUMENTS_MOST, &n);
	bool found = text && memmem(text, n, option, len);
	free(text);
	return found;
}

static int forbidden(const struct vm_link *l, struct err *err)
{
	static const char option[] = "-XX:+DisableAttachMechanism";
	char name[VM_TITLE];

	if (!says(l->process, "cmdline", option) && !says(l->process, "environ", option))
		return 0;
	vm_process_title(l->vm, name);
	return err_set(err, ERR_UNSUPPORTED, "%s was started with %s, so cairn cannot attach (use jhsdb jmap "
	    "--binaryheap --pid %ld)", name, option, (long)l->vm->pid);
}

static int send_quit(const struct vm_link *l)
{
#ifdef SYS_pidfd_send_signal
	long code = syscall(SYS_pidfd_send_signal, l->process, SIGQUIT, NULL, 0);
	if (code == 0 || (errno != ENOSYS && errno != EPERM)) /* EPERM: older container engines forbid the call, too */
		return (int)code;
#endif
	return vm_process_lives(l->vm) ? kill(l->proc.pid, SIGQUIT) : 0;
}

/* A VM looks at the trigger's owner.  With that of another user it writes a thread dump instead. */
static int pull_trigger(const struct vm_link *l)
{
	char name[40], path[LINK_PATH];

	trigger_name(name, &l->proc);
	if (in_the_way(l, name, S_IFREG) && unlinkat(l->tmp, name, 0)) {
		errno = EEXIST;
		return -1;
	}
	int fd = file_open_to_write(vm_link_path(path, l->tmp, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, NULL);
	if (fd < 0 && errno != EEXIST) /* another tool attaches, too, or was killed as it did */
		return -1;
	if (fd >= 0)
		close(fd);
	return send_quit(l);
}

static void remove_trigger(const struct vm_link *l)
{
	struct own_user own;
	char name[40];

	trigger_name(name, &l->proc);
	if (own_user_become(&own, l->vm, NULL))
		return;
	(void)unlinkat(l->tmp, name, 0);
	own_user_return(&own);
}

static int no_socket(const struct vm_link *l, int why, bool asked, struct err *err)
{
	char name[VM_TITLE], file[40];

	vm_process_title(l->vm, name);
	socket_name(file, &l->proc);
	if (why == EEXIST)
		trigger_name(file, &l->proc);
	if (why == EEXIST || ((asked || why == EACCES) && in_the_way(l, file, S_IFSOCK)))
		return err_set(err, ERR_IO, "%s: cannot attach: a file of another user is in the way (remove /tmp/%s)",
		    name, file);
	if (why != ENOENT && why != ECONNREFUSED && why != EAGAIN)
		return err_set(err, ERR_IO, "%s: cannot attach in its folder /tmp: %s%s", name, strerror(why),
		    why == EROFS ? " (mount a volume there)" : "");
	if (!asked)
		return err_set(err, ERR_UNSUPPORTED, "%s does not catch SIGQUIT, which would end it, so cairn cannot attach "
		    "(started with -Xrs, and its socket in /tmp was removed? use jhsdb jmap --binaryheap --pid %ld)", name,
		    (long)l->vm->pid);
	return err_set(err, ERR_IO, "%s did not open its socket within %d s (try again when it is less busy; "
	    "-XX:+DisableAttachMechanism forbids it)", name, SOCKET_SECONDS);
}

/* Once, as the VM's user.  *why: errno, 0 when *fd is connected. */
static int attempt(const struct vm_link *l, bool ask, int *fd, int *why, bool *asked, struct err *err)
{
	struct own_user own;
	int code = own_user_become(&own, l->vm, err);

	if (code)
		return code;
	*fd = connect_socket(l);
	*why = *fd < 0 ? errno : 0;
	if (ask && (*why == ENOENT || *why == ECONNREFUSED)) {
		*asked = true;
		if (pull_trigger(l))
			*why = errno;
	}
	own_user_return(&own);
	return 0;
}

static int wait_for_socket(struct vm_link *l, bool *asked, struct err *err)
{
	uint64_t began = progress_clock();
	bool may_ask = false;
	int code = 0, fd = -1, why = 0;

	for (unsigned ms = 20; code == 0; ms = ms < 100 ? ms + 20 : ms) {
		code = attempt(l, may_ask && !*asked && l->proc.catches_quit, &fd, &why, asked, err);
		if (code || fd >= 0)
			break;
		if (!may_ask && (why == ENOENT || why == ECONNREFUSED)) {
			may_ask = true;
			if ((code = forbidden(l, err)) == 0)
				continue;
			break;
		}
		uint64_t most = *asked || why == EAGAIN ? SOCKET_SECONDS : CATCH_SECONDS;
		if ((why != ENOENT && why != ECONNREFUSED && why != EAGAIN) || progress_clock() - began > most * SECOND)
			code = no_socket(l, why, *asked, err);
		struct timespec pause = { .tv_nsec = (long)ms * 1000000 };
		if (code == 0)
			(void)nanosleep(&pause, NULL);
		if (code == 0)
			code = vm_link_look(l, err);
	}
	return code ? code : fd;
}

static bool has_socket(const struct vm_link *l)
{
	char name[40];
	socket_name(name, &l->proc);
	return faccessat(l->tmp, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int hotspot_request(struct vm_link *l, const char *command, const char *const argument[3], struct err *err)
{
	char request[REQUEST_MOST], name[VM_TITLE];
	size_t n = 0;
	bool asked = false;

	vm_process_title(l->vm, name);
	for (int i = -2; i < 3; i++) {
		const char *s = i == -2 ? "1" : i == -1 ? command : argument && argument[i] ? argument[i] : "";
		size_t len = strlen(s) + 1;
		if (len > sizeof request - n)
			return err_set(err, ERR_USAGE, "%s: the request is too long", name);
		memcpy(request + n, s, len);
		n += len;
	}
	int fd = wait_for_socket(l, &asked, err);
	if (asked)
		remove_trigger(l);
	if (fd < 0)
		return fd;
	l->socket = fd;
	if (!is_of_process(fd, &l->proc))
		return err_set(err, ERR_IO, "%s: another process opened its socket /tmp/.java_pid%ld (remove it)", name,
		    (long)l->proc.inner_pid);
	if (send(fd, request, n, MSG_NOSIGNAL) != (ssize_t)n)
		return err_set(err, ERR_IO, "%s closed the connection: %s", name, strerror(errno));
	return 0;
}

int hotspot_result(struct vm_link *l, const char **text, struct err *err)
{
	char name[VM_TITLE], *end;
	const char *s = l->answer.s;

	vm_process_title(l->vm, name);
	if (!l->answer.len && vm_link_ended(l))
		return err_set(err, ERR_NOT_FOUND, "%s ended meanwhile", name);
	if (!l->answer.len)
		return err_set(err, ERR_IO, "%s closed the connection (it answers root, and user %lu of group %lu)", name,
		    (unsigned long)l->vm->uid, (unsigned long)l->vm->gid);
	long result = strtol(s, &end, 10);
	if (end == s || *end != '\n')
		return err_set(err, ERR_IO, "%s: not an answer of the attach protocol", name);
	*text = end + 1;
	if (result)
		return err_set(err, ERR_IO, "%s refused: %.*s", name, (int)strcspn(*text, "\n") < 200 ?
		    (int)strcspn(*text, "\n") : 200, *text);
	return 0;
}

void hotspot_clean(const struct vm_link *l)
{
	struct stat st;
	char name[40];

	trigger_name(name, &l->proc);
	if (fstatat(l->tmp, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || st.st_size)
		return;
	if (has_socket(l) || st.st_mtime < time(NULL) - TRIGGER_AGE) /* then nobody waits for it */
		remove_trigger(l);
}
