/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_info.h - what the VM in a core says of itself, its process and the core.
 */
#ifndef CAIRN_DUMP_J9CORE_J9CORE_INFO_H
#define CAIRN_DUMP_J9CORE_J9CORE_INFO_H

#include "base/err.h"
#include "dump/process.h"

#include <stdbool.h>
#include <stdint.h>

struct j9core;

/* What its threads did when the core was written. */
struct j9_state {
	bool exclusive;     /* one of them had stopped all others */
	bool collecting;    /* one was in the garbage collector */
	uint64_t n_running; /* threads that could change objects */
};
void j9core_state(const struct j9core *j, struct j9_state *out);

/* Does the core lack memory of the VM?  0, or ERR_TRUNCATED with a sentence; refused: which file does not have it, or
 * NULL. */
MUST_CHECK int j9core_missing(const struct j9core *j, const char *refused, struct err *err);

/* Milliseconds since 1970 when the VM began to write the core; 0: another program wrote it. */
uint64_t j9core_dumped_at(const struct j9core *j);

/* The caller's (process_free).  What the VM or the core does not have is left out.  0 or ERR_NOMEM. */
MUST_CHECK int j9core_process(const struct j9core *j, struct process_facts **out, struct err *err);

#endif
