/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prefixes.c - what the heap says of a dump that was cut, at every length that it can have.
 *
 *     prefixes [-s STEP] DUMP    a line for each number of bytes that is left, from the whole file down
 *                                to 1: the number, the exit status that the program would end with, the
 *                                byte up to which all is true ("-": none is named), the objects that
 *                                were read, and why
 *
 * One process for all of them: thousands of cuts take seconds.
 */
#include "base/err.h"
#include "heap/heap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A copy of the file in memory that only we know; its descriptor, or -1. */
static int copy_of(const char *path)
{
	static char bytes[1 << 16];
	int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("prefix", MFD_CLOEXEC);
	ssize_t n = from < 0 || to < 0 ? -1 : 1;
	while (n > 0) {
		n = read(from, bytes, sizeof bytes);
		if (n > 0 && write(to, bytes, (size_t)n) != n)
			n = -1;
	}
	if (from >= 0)
		close(from);
	return n < 0 ? -1 : to;
}

static void tell(off_t length, const char *path)
{
	struct heap_options options = { .path = path, .dump.no_companion = true };
	struct err err = ERR_INIT;
	struct heap *h;
	if (heap_open(&h, &options, NULL, &err)) {
		printf("%jd 3 - 0 %s\n", (intmax_t)length, err.message);
		return;
	}
	printf("%jd %d ", (intmax_t)length, h->damaged || h->no_references ? 4 : 0);
	if (h->damaged && h->damage.has_offset)
		printf("%" PRIu64, h->damage.offset);
	else
		printf("-");
	printf(" %u %s\n", h->n_objects, h->damaged ? h->damage.message : "");
	heap_close(h);
}

int main(int argc, char **argv)
{
	off_t step = argc == 4 && !strcmp(argv[1], "-s") ? strtol(argv[2], NULL, 10) : argc == 2;
	char path[32];
	struct stat st;
	if (step < 1) {
		fprintf(stderr, "prefixes [-s STEP] DUMP\n");
		return 2;
	}
	int fd = copy_of(argv[argc - 1]);
	if (fd < 0 || fstat(fd, &st)) {
		perror(argv[argc - 1]);
		return 2;
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	for (off_t length = st.st_size; length > 0; length -= step) {
		if (ftruncate(fd, length)) {
			perror("ftruncate");
			return 2;
		}
		tell(length, path);
	}
	close(fd);
	return 0;
}
