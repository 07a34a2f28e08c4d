/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assert.c - end the program when it finds its own data wrong. */
#include "base/assert.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

void assert_failed(const char *condition, const char *file, int line)
{
	if (mem_before_exit)
		mem_before_exit();
	fprintf(stderr, "cairn: %s:%d: assertion failed: %s\n", file, line, condition);
	abort();
}
