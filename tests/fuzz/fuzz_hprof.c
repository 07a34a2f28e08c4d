/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_hprof.c - fuzz target: any bytes as an HPROF dump. */
#include "dump/hprof/hprof_dump.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&hprof_reader, &hprof_part_bytes, data, size);
	return 0;
}
