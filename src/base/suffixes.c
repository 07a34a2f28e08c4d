/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * suffixes.c - the endings that packers and archivers give to names.
 */
#include "base/suffixes.h"

#include <string.h>
#include <strings.h>

static const char *const packers[] = { ".gz", ".zst", ".xz", ".bz2", ".lz4", ".lz", ".lzma", ".Z", NULL };
static const char *const archivers[] = { ".zip", ".jar", ".tar", ".tgz", ".7z", NULL };

size_t suffix_of(const char *name, size_t n, const char *const *endings)
{
	for (; *endings; endings++) {
		size_t length = strlen(*endings);
		if (n > length && !strncasecmp(name + n - length, *endings, length))
			return length;
	}
	return 0;
}

size_t suffix_of_packed(const char *name, size_t n)
{
	return suffix_of(name, n, packers);
}

size_t suffix_of_archive(const char *name, size_t n)
{
	size_t packed = suffix_of_packed(name, n), archive = suffix_of(name, n - packed, archivers);
	return archive ? archive + packed : 0;
}

bool suffix_is_gzip(const char *name)
{
	size_t n = strlen(name), length = suffix_of_packed(name, n);
	return length && !strcasecmp(name + n - length, ".gz") && !suffix_of_archive(name, n);
}

const char *suffix_of_other_packing(const char *name)
{
	size_t n = strlen(name), archive = suffix_of_archive(name, n);
	size_t length = archive ? archive : suffix_of_packed(name, n);
	return length && !suffix_is_gzip(name) ? name + n - length : NULL;
}
