/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * core_copy.h - a core file of a running process, in memory.
 *
 * The process stands still (ptrace_stop.h) while its pages are copied at the speed of memory; the pages that get them
 * are taken before.  Where memory is short, pages are packed meanwhile, and it stands still for longer.  All of that is
 * done on a thread of its own, with whose end the process goes on in any case.  While cairn itself is stopped (SIGSTOP;
 * a ^Z is ignored), the process waits, too.
 */
#ifndef CAIRN_ATTACH_CORE_COPY_H
#define CAIRN_ATTACH_CORE_COPY_H

#include "attach/proc.h"

struct packed_bytes;

/* May it be copied?  As live_dump_check. */
MUST_CHECK int core_copy_check(const struct vm_process *p, struct err *err);
/* *out: its only stream is the core file, all of which came; the caller's (packed_bytes_free), also on an error.
 * *pause_ns: for how long it stood still.  Errors as live_dump_take. */
MUST_CHECK int core_copy_take(struct packed_bytes **out, const struct vm_process *p, uint64_t *pause_ns, char *remark,
    size_t room, struct progress *progress, struct err *err);

#endif
