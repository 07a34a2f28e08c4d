/* SPDX-License-Identifier: GPL-3.0-or-later */
/* facts.c - see facts.h. */
#include "dump/facts.h"

#include <time.h>

void dump_write_created(char *to, size_t room, uint64_t milliseconds)
{
	time_t seconds = (time_t)(milliseconds / 1000);
	struct tm t;

	/* Behind the year 9999 it is no date but damage. */
	if (milliseconds == 0 || milliseconds / 1000 > UINT64_C(253402300799) || !gmtime_r(&seconds, &t))
		return;
	strftime(to, room, "%Y-%m-%dT%H:%M:%SZ", &t);
}
