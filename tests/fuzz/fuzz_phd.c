/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_phd.c - fuzz target: any bytes as a PHD. */
#include "dump/phd/phd_dump.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&phd_reader, &phd_part_bytes, data, size);
	return 0;
}
