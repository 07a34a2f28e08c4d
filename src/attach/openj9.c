/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * openj9.c - the attach protocol of OpenJ9: the VM connects to us, after a semaphore told it to look for a reply.
 *
 * All VMs of a host wait for one semaphore, and each looks in its own folder for replyInfo: a key and a port of
 * loopback.  Locks keep other tools away (_attachlock) and each VM from taking two posts (attachNotificationSync).  VM
 * and cairn then send texts ended by a NUL (jcl, com.ibm.tools.attach.target: Attachment, Reply, CommonDirectory).
 */
#include "attach/openj9_info.h"
#include "attach/vm_link.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define REPLY "replyInfo"

enum {
	WAIT_SECONDS = 10,    /* for a lock, and for the VM; tools of the JDK wait as long */
	GREETING_MS = 1000,   /* for what whoever connected says first */
	GREETING = 35,        /* "ATTACH_CONNECTED ", the key, a space, a NUL */
	VMS_MOST = 256,
	SEMAPHORE = 0xa1,     /* project number of its key */
};

struct attaching {
	struct vm_link *link;
	int folder, vm;         /* of all VMs, and of this one */
	int lock, sync[VMS_MOST];
	unsigned n_sync;
	int semaphore;
	unsigned posted;
	int listening[2];       /* 127.0.0.1, ::1 */
	uint16_t port;
	uint64_t key;
	bool replied;
};

static int failed(const struct attaching *a, const char *what, struct err *err)
{
	char name[VM_TITLE];
	int why = errno;
	vm_process_title(a->link->vm, name);
	return err_set(err, ERR_IO, "%s: cannot attach: %s: %s", name, what, strerror(why));
}

/* --- namespaces ----------------------------------------------------------------------------------------- */

static bool is_same(int a, int b)
{
	struct stat x, y;
	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Let this thread see the network or the semaphores of a process.  *back: what leave() gets, -1: it sees them already.
 * False with errno. */
static bool enter(int process, const char *name, int type, int *back)
{
#ifdef __linux__
	char path[64];
	snprintf(path, sizeof path, "/proc/thread-self/%s", name);
	int theirs = openat(process, name, O_RDONLY | O_CLOEXEC), ours = open(path, O_RDONLY | O_CLOEXEC);
	bool same = theirs >= 0 && ours >= 0 && is_same(theirs, ours);
	bool seen = same || (theirs >= 0 && ours >= 0 && !setns(theirs, type));
	int why = errno;
	if (theirs >= 0)
		close(theirs);
	if (ours >= 0 && (same || !seen))
		close(ours);
	*back = seen && !same ? ours : -1;
	errno = why;
	return seen;
#else
	(void)process, (void)name, (void)type, (void)back;
	errno = ENOSYS;
	return false;
#endif
}

static void leave(int back, int type)
{
#ifdef __linux__
	int why = errno;
	if (back >= 0 && !setns(back, type))
		close(back);
	errno = why;
#else
	(void)back, (void)type;
#endif
}

static int elsewhere(const struct attaching *a, const char *what, struct err *err)
{
	char name[VM_TITLE];
	int why = errno;
	vm_process_title(a->link->vm, name);
	return err_set(err, ERR_IO, "%s: cannot enter its %s namespace: %s (run cairn in its container, or as root: "
	    "nsenter -t %ld -n -i cairn %ld)", name, what, strerror(why), (long)a->link->vm->pid, (long)a->link->vm->pid);
}

/* --- locks and semaphore ---------------------------------------------------------------------------------- */

/* Open a file that is locked, or make it, for VMs of all users.  -1 with errno. */
static int open_lock(int folder, const char *name, bool make)
{
	char path[LINK_PATH];
	struct stat st;
	const char *file = vm_link_path(path, folder, name);
	int fd = file_open_to_write(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0, NULL);

	if (fd < 0 && errno == ENOENT && make &&
	    (fd = file_open_to_write(file, O_RDWR | O_CREAT | O_EXCL, 0666, NULL)) >= 0)
		(void)fchmod(fd, 0666); /* the umask takes some away */
	if (fd < 0 && (errno == EACCES || errno == EEXIST))
		fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* VMs and the tools of their JDK lock the first byte, jattach all of the file, and neither sees the other's lock.
 * False: it is locked; another errno: it cannot be. */
static bool lock(int fd)
{
#ifdef F_OFD_SETLK
	enum { SET = F_OFD_SETLK }; /* not gone when another thread closes the file */
#else
	enum { SET = F_SETLK };
#endif
	struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	if (fcntl(fd, SET, &byte) && errno != EBADF) { /* it may only be read */
		errno = errno == EACCES ? EWOULDBLOCK : errno;
		return false;
	}
	return !flock(fd, LOCK_EX | LOCK_NB);
}

static int busy(const struct attaching *a, struct err *err)
{
	char name[VM_TITLE];
	vm_process_title(a->link->vm, name);
	return err_set(err, ERR_IO, "%s: another tool has been attaching for %d s (end it, or try again)", name,
	    WAIT_SECONDS);
}

static int take_lock(struct attaching *a, struct err *err)
{
	uint64_t began = progress_clock();
	int code = (a->lock = open_lock(a->folder, "_attachlock", true)) < 0 ? failed(a, "its lock _attachlock", err) : 0;

	while (code == 0 && !lock(a->lock)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			code = failed(a, "its lock _attachlock", err);
		else if (progress_clock() - began > WAIT_SECONDS * SECOND)
			code = busy(a, err);
		(void)poll(NULL, 0, LINK_LOOK_MS);
		code = code ? code : vm_link_look(a->link, err);
	}
	return code;
}

/* Each VM waits for its own lock after a post, so that it does not take a second one. */
static void lock_vms(struct attaching *a)
{
	int fd = openat(a->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *e; dir && a->n_sync < VMS_MOST && (e = readdir(dir)) != NULL;) {
		int vm = *e->d_name == '.' ? -1 : openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (vm < 0)
			continue;
		int sync = open_lock(vm, "attachNotificationSync", false);
		close(vm);
		if (sync >= 0 && !lock(sync)) {
			close(sync);
			sync = -1;
		}
		a->sync[a->n_sync++] = sync;
	}
	if (dir)
		closedir(dir);
}

static void unlock_vms(struct attaching *a)
{
	for (unsigned i = 0; i < a->n_sync; i++)
		if (a->sync[i] >= 0)
			close(a->sync[i]);
	a->n_sync = 0;
}

/* If cairn is killed, the kernel takes the posts back (SEM_UNDO).  It does so, too, when a thread goes to another
 * namespace, as it does after it has posted in one. */
static bool post(struct attaching *a, short by, unsigned times, bool same_namespace)
{
	struct sembuf op = { .sem_op = by,
		.sem_flg = (short)((by < 0 ? IPC_NOWAIT : 0) | (same_namespace ? SEM_UNDO : 0)) };
	bool done = true;
	for (unsigned i = 0; i < times; i++)
		done = !semop(a->semaphore, &op, 1) && done;
	return done;
}

static int wake_vms(struct attaching *a, struct err *err)
{
	struct stat st;
	int back;

	if (fstatat(a->folder, "_notifier", &st, AT_SYMLINK_NOFOLLOW))
		return failed(a, "its file _notifier", err);
	/* as ftok() makes it of the file's path */
	unsigned device = (unsigned)(st.st_dev & 0xff), inode = (unsigned)(st.st_ino & 0xffff);
	key_t key = (key_t)((unsigned)SEMAPHORE << 24 | device << 16 | inode);
	if (!enter(a->link->process, "ns/ipc", CLONE_NEWIPC, &back))
		return elsewhere(a, "IPC", err);
	a->semaphore = semget(key, 1, 0);
	a->posted = a->n_sync ? a->n_sync : 1;
	int code = a->semaphore < 0 || !post(a, 1, a->posted, back < 0) ? failed(a, "its semaphore", err) : 0;
	leave(back, CLONE_NEWIPC);
	return code;
}

/* Posts that no VM took would wake one later, for nothing. */
static void take_posts_back(struct attaching *a)
{
	int back;
	if (a->posted && a->semaphore >= 0 && enter(a->link->process, "ns/ipc", CLONE_NEWIPC, &back)) {
		(void)post(a, -1, a->posted, back < 0);
		leave(back, CLONE_NEWIPC);
	}
	a->posted = 0;
}

/* --- the connection ----------------------------------------------------------------------------------------- */

static int listen_at(struct sockaddr *at, socklen_t n)
{
	int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	if (fd >= 0 && at->sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	if (fd < 0 || (!bind(fd, at, n) && !listen(fd, 4)))
		return fd;
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}

static bool listen_on_loopback(struct attaching *a)
{
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	socklen_t n = sizeof four, n6 = sizeof six;

	a->listening[0] = listen_at((struct sockaddr *)&four, sizeof four);
	if (a->listening[0] >= 0 && !getsockname(a->listening[0], (struct sockaddr *)&four, &n))
		six.sin6_port = four.sin_port;
	a->listening[1] = listen_at((struct sockaddr *)&six, sizeof six);
	if (a->listening[0] < 0 && a->listening[1] >= 0)
		(void)getsockname(a->listening[1], (struct sockaddr *)&six, &n6);
	a->port = ntohs(six.sin6_port);
	return a->port;
}

static int open_listening(struct attaching *a, struct err *err)
{
	int back;
	if (!enter(a->link->process, "ns/net", CLONE_NEWNET, &back))
		return elsewhere(a, "network", err);
	bool listens = listen_on_loopback(a);
	leave(back, CLONE_NEWNET);
	return listens ? 0 : failed(a, "a port of loopback", err);
}

static int write_reply(struct attaching *a, struct err *err)
{
	char path[LINK_PATH], text[32];

	if (getrandom(&a->key, sizeof a->key, 0) != sizeof a->key)
		return failed(a, "a random key", err);
	int n = snprintf(text, sizeof text, "%016" PRIx64 "\n%u\n", a->key, (unsigned)a->port);
	(void)unlinkat(a->vm, REPLY, 0); /* of a tool that was killed: we have the lock */
	int fd = file_open_to_write(vm_link_path(path, a->vm, REPLY), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, NULL);
	a->replied = fd >= 0;
	bool written = fd >= 0 && write(fd, text, (size_t)n) == n;
	int code = written ? 0 : failed(a, "its file replyInfo", err);
	if (fd >= 0)
		close(fd);
	return code;
}

/* Does whoever connected know the key? */
static bool knows_key(const struct attaching *a, int fd)
{
	char got[GREETING], want[GREETING + 1];
	size_t n = 0;

	snprintf(want, sizeof want, "ATTACH_CONNECTED %016" PRIx64 " ", a->key);
	for (uint64_t began = progress_clock(); n < sizeof got && progress_clock() - began < SECOND * GREETING_MS / 1000;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t more = poll(&p, 1, LINK_LOOK_MS) > 0 ? recv(fd, got + n, sizeof got - n, MSG_DONTWAIT) : -1;
		if (more == 0)
			return false;
		n += more > 0 ? (size_t)more : 0;
	}
	return n == sizeof got && !memcmp(got, want, sizeof got);
}

static int await_vm(struct attaching *a, struct err *err)
{
	char name[VM_TITLE];
	uint64_t began = progress_clock();
	int code = 0;

	while (code == 0 && progress_clock() - began < WAIT_SECONDS * SECOND) {
		struct pollfd p[2] = { { a->listening[0], POLLIN, 0 }, { a->listening[1], POLLIN, 0 } };
		(void)poll(p, 2, LINK_LOOK_MS);
		for (int i = 0; i < 2; i++) {
			int fd = p[i].revents & POLLIN ? accept(p[i].fd, NULL, NULL) : -1;
			if (fd < 0)
				continue;
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
			if (knows_key(a, fd)) {
				a->link->socket = fd;
				return 0;
			}
			close(fd);
		}
		code = vm_link_look(a->link, err);
	}
	if (code)
		return code;
	vm_process_title(a->link->vm, name);
	return err_set(err, ERR_IO, "%s did not connect within %d s (try again when it is less busy)", name, WAIT_SECONDS);
}

static void end_attaching(struct attaching *a)
{
	struct own_user own;

	if (a->replied && own_user_become(&own, a->link->vm, NULL) == 0) {
		(void)unlinkat(a->vm, REPLY, 0);
		own_user_return(&own);
	}
	for (int i = 0; i < 2; i++)
		if (a->listening[i] >= 0)
			close(a->listening[i]);
	unlock_vms(a);
	take_posts_back(a);
	int fds[] = { a->lock, a->vm, a->folder };
	for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int open_folders(struct attaching *a, struct err *err)
{
	struct openj9_info info;
	char name[VM_TITLE];

	a->folder = openj9_open_folder(a->link->process, a->link->tmp);
	a->vm = a->folder < 0 ? -1 : openj9_open_vm(a->folder, &a->link->proc, &info);
	if (a->folder >= 0)
		openj9_info_release(&info);
	if (a->vm >= 0)
		return 0;
	vm_process_title(a->link->vm, name);
	return err_set(err, ERR_UNSUPPORTED, "%s: cannot attach: it has no folder in /tmp/.com_ibm_tools_attach (start it "
	    "with -Dcom.ibm.tools.attach.enable=yes)", name);
}

int openj9_request(struct vm_link *l, const char *command, const char *const argument[3], struct err *err)
{
	struct attaching a = { .link = l, .folder = -1, .vm = -1, .lock = -1, .semaphore = -1, .listening = { -1, -1 } };
	struct own_user own;
	struct text request = TEXT_INIT;
	int code = open_folders(&a, err);

	code = code ? code : open_listening(&a, err);
	code = code ? code : own_user_become(&own, l->vm, err);
	if (code == 0) {
		code = take_lock(&a, err);
		code = code ? code : write_reply(&a, err);
		if (code == 0)
			lock_vms(&a);
		own_user_return(&own);
	}
	code = code ? code : wake_vms(&a, err);
	code = code ? code : await_vm(&a, err);
	end_attaching(&a);
	if (code)
		return code;
	text_add(&request, command);
	if (argument && argument[0])
		text_addf(&request, ":%s", argument[0]);
	if (send(l->socket, request.s, request.len + 1, MSG_NOSIGNAL) != (ssize_t)request.len + 1)
		code = failed(&a, "its connection", err);
	text_release(&request);
	return code;
}

/* --- its answer --------------------------------------------------------------------------------------------- */

bool openj9_complete(const struct text *answer)
{
	return answer->len && !answer->s[answer->len - 1];
}

static int refused(const struct vm_link *l, const char *why, struct err *err)
{
	char name[VM_TITLE];
	vm_process_title(l->vm, name);
	return err_set(err, ERR_IO, "%s refused: %.200s", name, why);
}

/* It has no property that is a result. */
static int no_result(const struct vm_link *l, struct err *err)
{
	static const char invalid[] = "ATTACH_ERR command invalid";
	char name[VM_TITLE];

	if (strncmp(l->answer.s, invalid, strlen(invalid)) != 0)
		return refused(l, l->answer.s, err);
	vm_process_title(l->vm, name);
	return err_set(err, ERR_UNSUPPORTED, "%s has no diagnostic commands: its OpenJ9 is from before 2019 (kill -QUIT "
	    "%ld writes a javacore, which cairn reads)", name, (long)l->vm->pid);
}

/* Properties, of which one is the text; or what went wrong. */
int openj9_result(struct vm_link *l, const char **text, struct err *err)
{
	static const char is_error[] = "openj9_diagnostics.error", reason[] = "openj9_diagnostics.errormsg",
	    result[] = "openj9_diagnostics.string_result";
	struct text value = TEXT_INIT;
	char name[VM_TITLE];
	int code = 0;

	vm_process_title(l->vm, name);
	if (!openj9_complete(&l->answer))
		return vm_link_ended(l) ? err_set(err, ERR_NOT_FOUND, "%s ended meanwhile", name) :
		    err_set(err, ERR_IO, "%s closed the connection", name);
	(void)send(l->socket, "ATTACH_DETACHED", sizeof "ATTACH_DETACHED", MSG_NOSIGNAL);
	if (openj9_property(l->answer.s, l->answer.len - 1, is_error, &value) && !strcmp(value.s, "true")) {
		text_clear(&value);
		code = refused(l, openj9_property(l->answer.s, l->answer.len - 1, reason, &value) ? value.s : "", err);
	} else {
		text_clear(&value);
		if (!openj9_property(l->answer.s, l->answer.len - 1, result, &value))
			code = no_result(l, err);
	}
	if (code == 0) {
		text_release(&l->answer);
		l->answer = value;
		value = (struct text)TEXT_INIT;
		*text = l->answer.s;
	}
	text_release(&value);
	return code;
}
