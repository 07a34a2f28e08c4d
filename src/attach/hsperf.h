/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hsperf.h - the counters that a HotSpot VM publishes in a file (-XX:+UsePerfData, the default).
 *
 * The file's layout is that of hotspot/share/runtime/perfMemory.hpp and perfData.hpp.  Its bytes are untrusted.
 */
#ifndef CAIRN_ATTACH_HSPERF_H
#define CAIRN_ATTACH_HSPERF_H

#include "attach/proc.h"

struct hsperf {
	struct vm_counters counters;
	char *command;     /* the main class or jar, and its arguments; these texts are raw, NULL if there is none */
	char *vm_name;     /* "OpenJDK 64-Bit Server VM" */
	char *version;     /* "17.0.15" */
	unsigned release;  /* 17; 0: unknown */
	uint64_t began;    /* when the VM began: milliseconds since 1970; 0: unknown */
};

/* False: these are no such counters, or not yet.  Either way hsperf_release ends it. */
bool hsperf_parse(const uint8_t *bytes, size_t n, struct hsperf *to);
/* Read those of a process.  False: it publishes none, or they cannot be reached. */
bool hsperf_read(int process, const struct proc *p, struct hsperf *to);
void hsperf_release(struct hsperf *h);

#endif
