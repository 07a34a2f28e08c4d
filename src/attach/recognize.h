/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recognize.h - what kind of program a process is, its name, version and counters. */
#ifndef CAIRN_ATTACH_RECOGNIZE_H
#define CAIRN_ATTACH_RECOGNIZE_H

#include "attach/proc.h"

/* Fill *to, which has the numbers of *from already; VM_NONE: it is neither.  The name of a process that cannot be
 * looked at is that of its program; one that is called "java" is taken for a HotSpot VM then. */
void vm_recognize(int process, const struct proc *from, struct vm_process *to);
/* Is it worth a look?  Go programs and VMs catch SIGQUIT, but for a VM with -Xrs. */
bool vm_may_be(int process, const struct proc *p);

#endif
