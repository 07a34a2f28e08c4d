/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vm_link.c - see vm_link.h. */
#include "attach/vm_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum {
	ANSWER_MOST = 256 << 20, /* a histogram of a million classes has less */
	HALT_LOOK_SECONDS = 1,   /* a debugger that looks at it stops it for less */
	PATH_MOST = 4096,
	ENDING_MS = 500,         /* between the end of its sockets and its own */
};

const char *vm_link_path(char to[LINK_PATH], int folder, const char *name)
{
	snprintf(to, LINK_PATH, "/proc/self/fd/%d/%s", folder, name);
	return to;
}

/* --- the user of a process --------------------------------------------------------------------------- */

/* The C library changes the user of all threads; the system that of one. */
static bool set_effective(uid_t uid, gid_t gid, bool user_first)
{
#ifdef __linux__
#ifdef SYS_setresuid32
	enum { SET_UID = SYS_setresuid32, SET_GID = SYS_setresgid32 };
#else
	enum { SET_UID = SYS_setresuid, SET_GID = SYS_setresgid };
#endif
	return (user_first && syscall(SET_UID, -1, uid, -1)) || syscall(SET_GID, -1, gid, -1) ||
	    (!user_first && syscall(SET_UID, -1, uid, -1)) ? false : true;
#else
	(void)uid, (void)gid, (void)user_first;
	errno = ENOSYS;
	return false;
#endif
}

int own_user_become(struct own_user *own, const struct vm_process *p, struct err *err)
{
	*own = (struct own_user){ .uid = geteuid(), .gid = getegid() };
	if (own->uid == p->uid && own->gid == p->gid)
		return 0;
	own->changed = true;
	/* As the same user of another group it is tried: older VMs check both, newer ones let root in. */
	if (set_effective(p->uid, p->gid, false) || own->uid == p->uid)
		return 0;
	int why = errno;
	own_user_return(own);
	if (own->uid == 0)
		return err_set(err, ERR_IO, "process %ld (%s): cannot act as user %s: %s (run cairn as this user: docker run "
		    "--user %lu:%lu, or with the capabilities SETUID and SETGID)", (long)p->pid, p->name, p->user,
		    strerror(why), (unsigned long)p->uid, (unsigned long)p->gid);
	return proc_refused(p, why, err);
}

void own_user_return(const struct own_user *own)
{
	int why = errno;
	if (own->changed)
		(void)set_effective(own->uid, own->gid, true);
	errno = why;
}

/* --- a link -------------------------------------------------------------------------------------------- */

int vm_process_is_vm(const struct vm_process *p, struct err *err)
{
	if (p->kind == VM_HOTSPOT || p->kind == VM_OPENJ9)
		return 0;
	if (p->kind == VM_GO)
		return err_set(err, ERR_UNSUPPORTED, "process %ld (%.100s) is a Go program, which counts no objects by class "
		    "(open a copy of it: cairn %ld)", (long)p->pid, p->name, (long)p->pid);
	return err_set(err, ERR_UNSUPPORTED, "process %ld is not a JVM: it runs %.100s (cairn without arguments lists "
	    "JVMs)", (long)p->pid, *p->command ? p->command : p->name);
}

/* Does a file of its control group say so?  Where groups are mounted elsewhere, or are those of a container, no. */
static bool group_says(int process, const char *line, const char *place, const char *file, const char *words)
{
	size_t n;
	char path[PATH_MOST], *groups = proc_file(process, "cgroup", PATH_MOST, &n), *says = NULL;
	const char *group = groups ? strstr(groups, line) : NULL;

	if (group) {
		group += strlen(line);
		snprintf(path, sizeof path, "%s%.*s/%s", place, (int)strcspn(group, "\n"), group, file);
		says = proc_file(process, path, PATH_MOST, &n); /* an absolute path */
	}
	bool is = says && strstr(says, words);
	free(groups);
	free(says);
	return is;
}

static bool is_frozen(int process)
{
	return group_says(process, "0::", "/sys/fs/cgroup", "cgroup.events", "frozen 1") ||
	    group_says(process, "0::", "/sys/fs/cgroup/unified", "cgroup.events", "frozen 1") ||
	    group_says(process, ":freezer:", "/sys/fs/cgroup/freezer", "freezer.state", "FROZEN");
}

/* What keeps it from answering: 'T', 't' as its state, 'F' frozen; 0: nothing. */
static char halted_by(const struct vm_link *l)
{
	char state = l->proc.state;
	return state == 'T' || state == 't' ? state : is_frozen(l->process) ? 'F' : 0;
}

static int cannot_answer(const struct vm_link *l, char why, struct err *err)
{
	char name[VM_TITLE];
	vm_process_title(l->vm, name);
	if (why == 'T')
		return err_set(err, ERR_IO, "%s is stopped and cannot answer (let it go on: kill -CONT %ld)", name,
		    (long)l->vm->pid);
	if (why == 't')
		return err_set(err, ERR_IO, "%s is stopped by a debugger and cannot answer (let it go on there)", name);
	return err_set(err, ERR_IO, "%s is paused and cannot answer (let it go on: docker unpause %s)", name,
	    *l->vm->container ? l->vm->container : "CONTAINER");
}

int vm_link_open(struct vm_link *l, const struct vm_process *p, struct progress *progress, struct err *err)
{
	char name[VM_TITLE];
	struct own_user own;

	*l = (struct vm_link){ .vm = p, .progress = progress, .process = -1, .tmp = -1, .socket = -1,
		.answer = TEXT_INIT };
	int code = vm_process_is_vm(p, err);
	if (code)
		return code;
	vm_process_title(p, name);
	if ((l->process = proc_open_known(p, err)) < 0)
		return l->process;
	if (!proc_read(l->process, &l->proc) || l->proc.state == 'Z' || l->proc.state == 'X')
		return err_set(err, ERR_NOT_FOUND, "%s has ended", name);
	char why = halted_by(l);
	if (why)
		return cannot_answer(l, why, err);
	if ((l->tmp = proc_open_tmp(l->process, &l->proc)) < 0)
		return errno == ENOENT ? err_set(err, ERR_UNSUPPORTED, "%s has no folder /tmp, so it opens no socket (mount a "
		    "volume there)", name) : proc_refused(p, errno, err);
	if ((code = own_user_become(&own, p, err)) == 0)
		own_user_return(&own);
	return code;
}

static void end_request(struct vm_link *l)
{
	if (l->socket >= 0)
		close(l->socket);
	l->socket = -1;
	l->answered = false;
	text_release(&l->answer);
}

void vm_link_close(struct vm_link *l)
{
	end_request(l);
	if (l->tmp >= 0)
		close(l->tmp);
	if (l->process >= 0)
		close(l->process);
	l->tmp = l->process = -1;
}

int vm_link_request(struct vm_link *l, const char *command, const char *const argument[3], struct err *err)
{
	end_request(l);
	return l->vm->kind == VM_OPENJ9 ? openj9_request(l, command, argument, err) :
	    hotspot_request(l, command, argument, err);
}

int vm_link_read(struct vm_link *l, struct err *err)
{
	char bytes[16 << 10], name[VM_TITLE];
	ssize_t n;

	while (!l->answered) {
		n = recv(l->socket, bytes, sizeof bytes, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n > 0)
			text_add_n(&l->answer, bytes, (size_t)n);
		l->answered = n <= 0 || (l->vm->kind == VM_OPENJ9 && openj9_complete(&l->answer));
		if (l->answer.len > ANSWER_MOST) {
			vm_process_title(l->vm, name);
			return err_set(err, ERR_IO, "%s answers without end", name);
		}
	}
	return 0;
}

int vm_link_look(struct vm_link *l, struct err *err)
{
	char name[VM_TITLE];
	int code = progress_check(l->progress, err);

	if (code)
		return code;
	if (!proc_read(l->process, &l->proc) || l->proc.state == 'Z' || l->proc.state == 'X') {
		vm_process_title(l->vm, name);
		return err_set(err, ERR_NOT_FOUND, "%s ended meanwhile", name);
	}
	if (progress_clock() < l->next_look)
		return 0;
	l->next_look = progress_clock() + HALT_LOOK_SECONDS * SECOND;
	char why = halted_by(l);
	bool again = why && l->halted;
	l->halted = why != 0;
	return again ? cannot_answer(l, why, err) : 0;
}

bool vm_link_ended(const struct vm_link *l)
{
	bool lives = vm_process_lives(l->vm);
	for (unsigned ms = 0; lives && ms < ENDING_MS; ms += LINK_LOOK_MS) {
		(void)poll(NULL, 0, LINK_LOOK_MS);
		lives = vm_process_lives(l->vm);
	}
	return !lives;
}

int vm_link_result(struct vm_link *l, const char **text, struct err *err)
{
	return l->vm->kind == VM_OPENJ9 ? openj9_result(l, text, err) : hotspot_result(l, text, err);
}
