/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_index.c - fuzz target: any bytes as an index file, as they are and with the checksums that they would need. */
#include "forged.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void open_bytes(const uint8_t *data, size_t size, bool forged)
{
	char path[40];
	int fd = memfd_create("index", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!f)
		abort();
	bool there = forged ? forged_write(data, size, f) : fwrite(data, 1, size, f) == size;
	fflush(f);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (there)
		forged_opens(path);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	open_bytes(data, size, false);
	open_bytes(data, size, true);
	return 0;
}
