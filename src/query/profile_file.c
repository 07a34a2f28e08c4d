/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_file.c - is a file a profile?  Builds without SQLite know that, too. */
#include "query/profile_file.h"

#include "base/files.h"
#include "dump/source/source.h"

#include <string.h>
#include <unistd.h>

bool profile_is_file(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	uint8_t head[SOURCE_HEAD], inflated[sizeof magic];
	int fd = file_member(path) ? -1 : source_peek(path);
	if (fd < 0)
		return false;
	ssize_t n = pread(fd, head, sizeof head, 0);
	close(fd);
	if (n >= (ssize_t)sizeof magic && !memcmp(head, magic, sizeof magic))
		return true;
	return n > 0 && source_inflate_head(head, (uint64_t)n, inflated, sizeof inflated) == sizeof magic &&
	    !memcmp(inflated, magic, sizeof magic);
}
