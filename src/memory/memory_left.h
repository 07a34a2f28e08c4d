/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_left.h - how much memory the system still allows the process.
 *
 * Four may set a bound: the machine (MemAvailable), the control groups that the process is in, and
 * the limits of ulimit -v and ulimit -d.  The lowest counts.
 */
#ifndef CAIRN_MEMORY_MEMORY_LEFT_H
#define CAIRN_MEMORY_MEMORY_LEFT_H

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_NO_BOUND UINT64_MAX

struct memory_left {
	uint64_t bytes;    /* MEMORY_NO_BOUND: there is none */
	const char *whose; /* "this machine", "its control group" …; constant */
	bool addresses;    /* it is one of addresses, which a mapped file takes as well */
};

/* proc is "/proc", or a folder made like it (tests); address_space and data are the two limits of
 * ulimit in bytes, or MEMORY_NO_BOUND.  What cannot be read sets no bound. */
struct memory_left memory_left(const char *proc, uint64_t address_space, uint64_t data);

/* The same for this process, with its own limits. */
struct memory_left memory_left_now(void);

#endif
