/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ptrace_stop.h - all threads of a process stopped for as long as its memory is copied.
 *
 * By ptrace(2), PTRACE_SEIZE and PTRACE_INTERRUPT: the process gets no signal, its parent is not told, and system
 * calls that wait go on afterwards.  A signal that comes meanwhile is delivered afterwards.  A process that was
 * stopped stays so.  Only the thread that stops a process may let it go on or ask for its registers; when that thread
 * ends, however it does (SIGKILL, too), the kernel lets the process go on.
 */
#ifndef CAIRN_ATTACH_PTRACE_STOP_H
#define CAIRN_ATTACH_PTRACE_STOP_H

#include "attach/proc.h"

struct stopped_thread {
	pid_t tid;
	int signal;   /* to be delivered when it goes on; 0: none */
	bool stopped; /* its stop was waited for */
	bool waits;   /* instead: in the kernel, where no signal reaches it; it stops before it leaves that */
};

struct ptrace_stop {
	const struct vm_process *vm;
	int process;  /* proc.h */
	struct stopped_thread *list; /* the main thread first, then by number */
	size_t n, capacity;
	unsigned refusals;
	uint64_t began; /* by progress_clock: when the first was interrupted */
};

/* May this process be stopped?  ERR_IO, ERR_UNSUPPORTED: why not, and what to do. */
MUST_CHECK int ptrace_stop_may(const struct vm_process *p, int process, struct err *err);
/* Stop it.  On an error, too, ptrace_stop_end is to be called, and the thread to end soon.  ERR_IO: it may not be, or
 * does not stop; ERR_NOT_FOUND: it has ended; ERR_CANCELLED. */
MUST_CHECK int ptrace_stop_begin(struct ptrace_stop *s, const struct vm_process *p, int process,
    struct progress *progress, struct err *err);
/* Let it go on.  For how long it stood still, in nanoseconds. */
uint64_t ptrace_stop_end(struct ptrace_stop *s);
/* Registers of a thread, as a note of this type has them (NT_PRSTATUS); of one that waits in the kernel only where its
 * stack and its code are.  Returns how many bytes; 0: there are none. */
size_t ptrace_stop_registers(const struct ptrace_stop *s, const struct stopped_thread *t, unsigned type, void *to,
    size_t room);

#endif
