/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_index.c - fuzz target: any bytes as an index file, as they are, with the checksums that they would need, and as
 * what a packed one is unsqueezed.
 */
#include "forged.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum how { AS_IT_IS, FORGED, SQUEEZED };

static void open_bytes(const uint8_t *data, size_t size, enum how how)
{
	char path[40];
	int fd = memfd_create("index", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!f)
		abort();
	bool there = how == AS_IT_IS ? fwrite(data, 1, size, f) == size : forged_write(data, size, how == SQUEEZED, f);
	fflush(f);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (there)
		forged_opens(path);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	open_bytes(data, size, AS_IT_IS);
	open_bytes(data, size, FORGED);
	open_bytes(data, size, SQUEEZED);
	return 0;
}
