/* SPDX-License-Identifier: GPL-3.0-or-later */
/* facts.c - see facts.h. */
#include "dump/facts.h"

#include <stdio.h>
#include <string.h>
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

static bool number_in(const char *s, int digits, int least, int most, int *value)
{
	*value = 0;
	for (int i = 0; i < digits; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		*value = 10 * *value + (s[i] - '0');
	}
	return *value >= least && *value <= most;
}

void dump_created_from_name(char *to, size_t room, const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (const char *dot = strchr(base, '.'); dot; dot = strchr(dot + 1, '.')) {
		const char *s = dot + 1;
		int year, month, day, hour, minute, second;
		if (strlen(s) < 16 || s[8] != '.' || s[15] != '.')
			continue;
		if (number_in(s, 4, 1995, 9999, &year) && number_in(s + 4, 2, 1, 12, &month) &&
		    number_in(s + 6, 2, 1, 31, &day) && number_in(s + 9, 2, 0, 23, &hour) &&
		    number_in(s + 11, 2, 0, 59, &minute) && number_in(s + 13, 2, 0, 60, &second)) {
			snprintf(to, room, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, hour,
			    minute, second);
			return;
		}
	}
}
