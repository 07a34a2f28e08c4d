/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * process.h - facts about the process, from the dump or its javacore: for info.
 */
#ifndef CAIRN_COMMAND_BROWSE_PROCESS_H
#define CAIRN_COMMAND_BROWSE_PROCESS_H

#include "command/command.h"

struct process_facts;

/* The values that these three may add to a head. */
#define PROCESS_VALUES                                                                             \
	COL_CAUSE, COL_CAUSE_DATE, COL_CAUSE_THREAD, COL_SIGNAL, COL_COMMAND_LINE, COL_STARTED, COL_PROCESS_ID,          \
	    COL_JAVA_VERSION, COL_VM_VERSION, COL_OS, COL_CPUS, COL_HEAP_MAX, COL_HEAP_TOTAL,          \
	    COL_HEAP_USED, COL_OOM_THREAD, COL_OOM_KIND, COL_OOM_THROWN, COL_UPTIME, COL_EXPERIMENTS,  \
	    COL_HEAP_START, COL_HEAP_END, COL_PAUSE_LAST, COL_PAUSE_LONGEST,      \
	    COL_GC_POLICY, COL_HOST, COL_REFERENCE_BYTES

/* Add those that are known: why the dump was written, how much memory there was, and all else.  p: the heap's own
 * facts, or those that process_of found; NULL: nothing is known.  brief: threads are not known yet. */
void process_cause(struct result *r, const struct heap *h, const struct process_facts *p, bool brief);
void process_memory(struct result *r, const struct heap *h, const struct process_facts *p);
void process_head(struct result *r, const struct heap *h, const struct process_facts *p);

/* What is known of the process: from the javacore, or by the objects of the Java VM's library; NULL.  *own: the
 * caller's, or NULL (process_free). */
const struct process_facts *process_of(const struct heap *h, struct process_facts **own);

/* Which list info shows in place of its values. */
enum process_list { PROCESS_ARGUMENTS, PROCESS_LIMITS, PROCESS_VARIABLES };
extern const struct shape process_arguments_shape, process_limits_shape, process_variables_shape;

/* One row for each.  0; ERR_UNSUPPORTED: unknown, and *err says which file would have it. */
MUST_CHECK int process_list(struct result **out, const struct opened *o, enum process_list which,
    struct err *err);

#endif
