/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_process.c - fuzz target: any bytes as what a process publishes: counters, OpenJ9's attachInfo, a Go binary. */
#include "attach/go_binary.h"
#include "attach/hsperf.h"
#include "attach/openj9_info.h"
#include "promise.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t length(const char *s)
{
	return s ? strlen(s) : 0;
}

static void read_counters(const uint8_t *data, size_t size)
{
	struct hsperf h;
	bool is = hsperf_parse(data, size, &h);
	PROMISE(is || (!h.command && !h.version && !h.vm_name));
	PROMISE(length(h.command) <= size && length(h.version) <= size && length(h.vm_name) <= size);
	PROMISE(h.release <= UINT16_MAX && h.counters.heap_max % 4096 == 0);
	hsperf_release(&h);
	PROMISE(!h.command);
}

static void read_info(const uint8_t *data, size_t size)
{
	struct openj9_info i;
	bool is = openj9_info_parse((const char *)data, size, &i);
	PROMISE(is == (i.pid != 0));
	PROMISE(length(i.command) <= size); /* \uXXXX takes more bytes than the character */
	openj9_info_release(&i);
}

static void read_binary(const uint8_t *data, size_t size)
{
	struct go_binary g;
	int fd = memfd_create("binary", MFD_CLOEXEC);
	PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	bool is = go_binary_read(fd, &g);
	PROMISE(is || (!g.version && !g.package));
	PROMISE(length(g.version) <= size && length(g.package) <= size);
	go_binary_release(&g);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_counters(data, size);
	read_info(data, size);
	read_binary(data, size);
	return 0;
}
