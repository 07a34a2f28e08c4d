/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vm_link.h - the connection to a VM while it is asked something.
 *
 * It holds the process and the folder of its files by descriptors, so nothing that happens to their names leads
 * elsewhere.  What needs the VM's user (its socket checks who connects; files are made in its folder) is done as this
 * user, by the calling thread alone.  One thread.
 */
#ifndef CAIRN_ATTACH_VM_LINK_H
#define CAIRN_ATTACH_VM_LINK_H

#include "attach/proc.h"

struct vm_link {
	const struct vm_process *vm;
	struct progress *progress;
	int process;       /* proc.h */
	struct proc proc;
	int tmp;           /* the folder of its files */
	int socket;        /* of the request on its way; -1: none */
	struct text answer; /* what came of it */
	bool answered;     /* all came, or the VM closed it */
	uint64_t next_look; /* for whether it is stopped, by progress_clock */
	bool halted;        /* it was when it was looked at last */
};

/* Errors as vm_ask.  Either way vm_link_close ends it. */
MUST_CHECK int vm_link_open(struct vm_link *l, const struct vm_process *p, struct progress *progress, struct err *err);
void vm_link_close(struct vm_link *l);

/* Send a request; arguments as vm_ask.  Its answer comes by vm_link_read, and is looked at by vm_link_result. */
MUST_CHECK int vm_link_request(struct vm_link *l, const char *command, const char *const argument[3],
    struct err *err);
/* Read what the VM has answered by now.  ERR_IO: it answers without end. */
MUST_CHECK int vm_link_read(struct vm_link *l, struct err *err);
/* To be called every LINK_LOOK_MS: is there a reason to stop waiting?  ERR_CANCELLED; ERR_IO: the process is stopped;
 * ERR_NOT_FOUND: it has ended. */
enum { LINK_LOOK_MS = 50 };
MUST_CHECK int vm_link_look(struct vm_link *l, struct err *err);
/* It closed the connection before it had answered: has it ended?  It may be about to. */
bool vm_link_ended(const struct vm_link *l);
/* The text of the answer, until the next request.  ERR_IO: the VM refused, or gave none. */
MUST_CHECK int vm_link_result(struct vm_link *l, const char **text, struct err *err);

/* "/proc/self/fd/7/NAME": a file of a folder that is held, for calls that want a path. */
enum { LINK_PATH = 320 };
const char *vm_link_path(char to[LINK_PATH], int folder, const char *name);

/* --- the user of a process --------------------------------------------------------------------------- */

struct own_user {
	uid_t uid;
	gid_t gid;
	bool changed;
};

/* Make this thread act as the user of a process, until own_user_return.  ERR_IO: it may not.  Only system calls may
 * come between. */
MUST_CHECK int own_user_become(struct own_user *own, const struct vm_process *p, struct err *err);
void own_user_return(const struct own_user *own);

/* --- protocols ---------------------------------------------------------------------------------------- */

MUST_CHECK int hotspot_request(struct vm_link *l, const char *command, const char *const argument[3],
    struct err *err);
MUST_CHECK int hotspot_result(struct vm_link *l, const char **text, struct err *err);
/* Remove a trigger that a killed run left behind. */
void hotspot_clean(const struct vm_link *l);

MUST_CHECK int openj9_request(struct vm_link *l, const char *command, const char *const argument[3], struct err *err);
/* Has all of the answer come? */
bool openj9_complete(const struct text *answer);
MUST_CHECK int openj9_result(struct vm_link *l, const char **text, struct err *err);

#endif
