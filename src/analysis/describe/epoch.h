/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * epoch.h - numbers that are plausible times: counted since 1970 in seconds, milliseconds, microseconds or nanoseconds.
 *
 * Such a number lies between 2000 and ten years after the dump.  The four units have ranges that do not meet, so the
 * number says its unit, and a name that speaks of another one denies it.  Seconds and nanoseconds are dates only of
 * a field whose name speaks of time: 2^30 and hash codes lie in their ranges.  Pure functions, any thread.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_EPOCH_H
#define CAIRN_ANALYSIS_DESCRIBE_EPOCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instant {
	int64_t seconds; /* since 1970 in UTC, without leap seconds */
	uint32_t nanos;  /* below 1,000,000,000 */
};

enum { EPOCH_UNITS = 4 };

/* The last second that is plausible in a dump of this time ("2026-11-21T10:15:00Z"): ten years later.  Of a time that
 * is unknown ("") or implausible itself the end of 2049. */
int64_t epoch_end(const char *created);
/* The time that the number is; name: of its field, or "".  False: it is no plausible one. */
bool epoch_of(int64_t number, const char *name, int64_t end, struct instant *out);
/* "2026-11-21T09:12:40Z", also with a blank for the T, a fraction, or without Z: always UTC.  False: no such time. */
bool epoch_parse(const char *word, struct instant *out);
/* The numbers that mean this time exactly, one for each unit that can; returns how many. */
unsigned epoch_numbers(const struct instant *time, int64_t end, uint64_t out[EPOCH_UNITS]);

#endif
