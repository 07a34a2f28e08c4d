/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_go.c - fuzz target: any bytes as a Go heap dump. */
#include "dump/go/go_dump.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&go_reader, &go_part_bytes, data, size);
	return 0;
}
