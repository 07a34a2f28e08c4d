/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.c - see units.h. */
#include "base/units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

void units_bytes(char to[UNITS_ROOM], uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1000) {
		snprintf(to, UNITS_ROOM, "%" PRIu64, bytes);
		return;
	}
	while (value >= 999.5 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	snprintf(to, UNITS_ROOM, value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}
