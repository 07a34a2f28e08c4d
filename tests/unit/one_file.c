/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_file.c - see one_file.h. */
#include "one_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

char folder[256], path[300];

int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof folder, "%s/cairn-test-XXXXXX", tmp && strlen(tmp) < 200 ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/dump", folder);
	return 0;
}

int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

void write_file(const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}
