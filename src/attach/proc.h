/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proc.h - one process, as /proc has it.
 *
 * A process is held by a descriptor of its folder /proc/PID: when its number is used again, reads through the
 * descriptor fail (ESRCH) instead of reading the other process.  pidfd_send_signal takes such a descriptor, too.
 * Descriptors are closed on exec, and the caller's (close).  Any thread.
 */
#ifndef CAIRN_ATTACH_PROC_H
#define CAIRN_ATTACH_PROC_H

#include "attach/attach.h"

struct proc {
	pid_t pid;
	pid_t inner_pid;   /* in the innermost pid namespace */
	uint64_t started;  /* clock ticks after boot */
	uid_t uid;         /* effective */
	gid_t gid;
	char state;        /* 'R' 'S' 'D', 'T' stopped, 't' traced, 'Z' zombie */
	bool catches_quit; /* SIGQUIT; else it ends a process, or is ignored */
};

/* "/proc", or what CAIRN_PROC names instead: that of a host, mounted in a container, or one that tests made. */
const char *proc_folder(void);

/* Hold a process; of a thread, its process.  -1 with errno; ENOENT: there is none. */
int proc_open(pid_t pid);
/* Hold this very process.  ERR_NOT_FOUND: it has ended. */
MUST_CHECK int proc_open_known(const struct vm_process *p, struct err *err);
/* False with errno: it has ended (ESRCH). */
bool proc_read(int process, struct proc *to);

/* The first `most` bytes of a file of /proc/PID, "cmdline", and a NUL: the caller's (free).  NULL with errno. */
char *proc_file(int process, const char *name, size_t most, size_t *n);
/* Open a file that the process knows by this path, without a leading "/".  Links of its file system are followed in
 * it; none leads out, to ours.  -1 with errno: EACCES where its files cannot be reached. */
int proc_open_file(int process, const char *path, int flags);
/* Open the folder in which its VM puts files: its own /tmp; ours where its files cannot be reached and it is this
 * user's process in this pid namespace. */
int proc_open_tmp(int process, const struct proc *p);

/* Seconds since it began, and when that was, in milliseconds since 1970. */
uint64_t proc_uptime(uint64_t started);
uint64_t proc_began(uint64_t started);
/* The name of a user, "" if /etc/passwd has none. */
void proc_user(char *to, size_t room, uid_t uid);
/* ERR_IO: it cannot be looked at, `why` is errno; and what to do. */
int proc_refused(const struct vm_process *p, int why, struct err *err);

#endif
