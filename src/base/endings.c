/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * endings.c - the endings that packers and archivers give to names.
 */
#include "base/endings.h"

#include <string.h>
#include <strings.h>

static const char *const packers[] = { ".gz", ".zst", ".xz", ".bz2", ".lz4", ".lz", ".lzma", ".Z", NULL };
static const char *const archivers[] = { ".zip", ".jar", ".tar", ".tgz", ".7z", NULL };

size_t ending_of(const char *name, size_t n, const char *const *endings)
{
	for (; *endings; endings++) {
		size_t length = strlen(*endings);
		if (n > length && !strncasecmp(name + n - length, *endings, length))
			return length;
	}
	return 0;
}

size_t packed_ending(const char *name, size_t n)
{
	return ending_of(name, n, packers);
}

size_t archive_ending(const char *name, size_t n)
{
	size_t packed = packed_ending(name, n), archive = ending_of(name, n - packed, archivers);
	return archive ? archive + packed : 0;
}

bool names_gzip(const char *name)
{
	size_t n = strlen(name), length = packed_ending(name, n);
	return length && !strcasecmp(name + n - length, ".gz") && !archive_ending(name, n);
}

const char *names_other_packing(const char *name)
{
	size_t n = strlen(name), archive = archive_ending(name, n), length = archive ? archive : packed_ending(name, n);
	return length && !names_gzip(name) ? name + n - length : NULL;
}
